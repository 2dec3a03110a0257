"""Bookings of a port against the plain rule: the earliest cycle from which on so many are free."""

from hypothesis import given
from hypothesis import strategies as st

from tensim.sim.register_level.calendar import Calendar

BOOKINGS = st.lists(st.tuples(st.integers(0, 200), st.integers(1, 20)), max_size=60)


@given(BOOKINGS)
def test_a_booking_takes_the_first_gap_that_fits(bookings):
    calendar, taken = Calendar(), set()
    for at, cycles in bookings:
        expected = next(begin for begin in range(at, 5000) if taken.isdisjoint(range(begin, begin + cycles)))
        assert calendar.take(at, cycles) == expected
        taken.update(range(expected, expected + cycles))
