"""When a port is taken: intervals of cycles, booked in any order.

Transfers are worked out one after another, and each books what it will need later on.  One that needs a port earlier finds the gap
before those bookings, as a packet that comes first goes first.
"""

from bisect import bisect_right

KEPT, PAST = 64, 5000  # intervals from which on old ones go; cycles after which nobody books any more


class Calendar:
    """Bookings of a port, none at first.  Intervals that touch are one."""

    def __init__(self):
        self._begins, self._ends = [], []

    def take(self, at, cycles):
        """Book so many cycles in a row, from a cycle on: the one at which they begin."""
        begins, ends = self._begins, self._ends
        first = last = bisect_right(ends, at - 1)
        begin = at
        while last < len(begins) and begins[last] < begin + cycles:
            if ends[last] > begin:
                begin = ends[last]
            last += 1
        self._book(begin, begin + cycles, first)
        if len(begins) > KEPT:
            self._forget(at - PAST)
        return begin

    def _book(self, begin, end, near):
        """Note an interval that no other overlaps; `near`: the first interval that ends where it may begin, or later."""
        begins, ends = self._begins, self._ends
        place = bisect_right(begins, begin, near)
        if place > 0 and ends[place - 1] == begin:
            place -= 1
            ends[place] = end
        else:
            begins.insert(place, begin)
            ends.insert(place, end)
        if place + 1 < len(begins) and begins[place + 1] == end:
            ends[place] = ends.pop(place + 1)
            begins.pop(place + 1)

    def _forget(self, before):
        count = bisect_right(self._ends, before)
        del self._begins[:count], self._ends[:count]
