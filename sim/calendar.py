"""The calendar queue of the compiled lane: a binary heap ordered by (time, key).

`when`, `key`, `what` are int64 arrays of equal length; `size` entries are in use.  The key makes the order of events at
one time independent of the order in which they were scheduled: event class, tile, thread, then a per-thread sequence
number (rule "integer time" of the design page).
"""

import numba as nb

CLASS_NETWORK = 0  # arrivals: memory changes before any thread looks at it
CLASS_THREAD = 1


@nb.njit(cache=True, inline="always")
def make_key(event_class, core, slot, sequence):
    """Tie key: class (4 bits), core (12), slot (4), sequence (32)."""
    return (event_class << 48) | (core << 36) | (slot << 32) | (sequence & 0xFFFFFFFF)


@nb.njit(cache=True, inline="always")
def earlier(when_a, key_a, when_b, key_b):
    return when_a < when_b or (when_a == when_b and key_a < key_b)


@nb.njit(cache=True)
def push(when, key, what, size, t, k, value):
    """Insert an event; the caller has checked that size < capacity.  Returns the new size."""
    i = size
    while i > 0:
        parent = (i - 1) >> 1
        if not earlier(t, k, when[parent], key[parent]):
            break
        when[i], key[i], what[i] = when[parent], key[parent], what[parent]
        i = parent
    when[i], key[i], what[i] = t, k, value
    return size + 1


@nb.njit(cache=True)
def replace_top(when, key, what, size, t, k, value):
    """Replace the earliest event by another one: one sift instead of a pop and a push."""
    i = 0
    child = 1
    while child < size:
        if child + 1 < size and earlier(when[child + 1], key[child + 1], when[child], key[child]):
            child += 1
        if not earlier(when[child], key[child], t, k):
            break
        when[i], key[i], what[i] = when[child], key[child], what[child]
        i = child
        child = 2 * i + 1
    when[i], key[i], what[i] = t, k, value


@nb.njit(cache=True)
def pop(when, key, what, size):
    """Remove the earliest event; returns the new size."""
    size -= 1
    if size > 0:
        replace_top(when, key, what, size, when[size], key[size], what[size])
    return size
