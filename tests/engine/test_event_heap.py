"""The event heap: a heap that returns events by time and tie key, whatever the order of insertion."""

from hypothesis import given
from hypothesis import strategies as st

from tensim.sim.engine.event_heap import NEVER, make_key, make_order, new_heap, pop, push, replace_top

EVENTS = st.lists(st.tuples(st.integers(0, 50), st.integers(0, 255), st.integers(0, 4)), max_size=80, unique=True)


def filled(events):
    heap, size = new_heap(128), 0
    for number, (time, core, slot) in enumerate(events):
        size = push(heap, size, make_order(time, make_key(1, core, slot, 0)), number)
    return heap, size


@given(EVENTS)
def test_events_come_in_order(events):
    heap, size = filled(events)
    taken = []
    while size:
        taken.append(events[heap[1]])
        size = pop(heap, size)
    assert taken == sorted(events)
    assert (heap[::2] == NEVER).all()


@given(EVENTS, st.integers(0, 60))
def test_replacing_the_top_equals_pop_and_push(events, time):
    if not events:
        return
    order = make_order(time, make_key(0, 3, 1, 7))
    heap, size = filled(events)
    replace_top(heap, size, order, 1000)
    other, other_size = filled(events)
    other_size = pop(other, other_size)
    other_size = push(other, other_size, order, 1000)
    assert size == other_size
    while size:
        assert (heap[0], heap[1]) == (other[0], other[1])
        size, other_size = pop(heap, size), pop(other, other_size)
