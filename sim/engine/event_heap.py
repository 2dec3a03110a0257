"""The event heap of the compiled engine: a heap of (order, event) pairs in one int64 array, four children per pair.

`order` holds time and tie key in one integer, time << 20 | key, so that events of one cycle come in an order that does
not depend on when they were scheduled: event class, core, thread, then the thread's transaction count.  Entries behind
the last one hold `NEVER`, which lets the sift choose between children without a branch; the four of a pair fill a cache
line, and the heap is half as deep as one with two.
"""

import numpy as np

from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.memory import CACHE_LINE

KEY_BITS = 20
CLASS_NETWORK = 0  # arrivals: memory changes before any thread looks at it
CLASS_THREAD = 1
NEVER = np.int64(2**63 - 1)
CLOCK = -(1 << 40)  # the event of the flit model's clock; events of threads are -1 - thread, those of routers below it
CLOCK_KEY = (1 << 19) - 1  # behind all arrivals of its cycle, before all threads
MAX_CORES = 256
CHILDREN = 4
WORD = 8  # bytes


def new_heap(capacity):
    """An empty heap for `capacity` events and NEVER entries behind them; the first child begins a cache line."""
    words = np.full(2 * (capacity + CHILDREN) + CACHE_LINE // WORD, NEVER, np.int64)
    start = -(words.ctypes.data + 2 * WORD) % CACHE_LINE // WORD
    return words[start : start + 2 * (capacity + CHILDREN)]


@compiled(inline="always")
def make_key(event_class, core, slot, sequence):
    """Tie key: class (1 bit), core (8), thread slot (3), transaction count modulo 256."""
    return (event_class << 19) | (core << 11) | (slot << 8) | (sequence & 255)


@compiled(inline="always")
def make_order(time, key):
    return (time << KEY_BITS) | key


@compiled(inline="always")
def sift_up(heap, i, order, event):
    """Put an event into the place `i`, which is free, or above it."""
    while i > 0:
        parent = (i - 1) // CHILDREN
        if heap[2 * parent] <= order:
            break
        heap[2 * i], heap[2 * i + 1] = heap[2 * parent], heap[2 * parent + 1]
        i = parent
    heap[2 * i], heap[2 * i + 1] = order, event


@compiled()
def push(heap, size, order, event):
    """Insert an event; the caller has checked the capacity.  Returns the new size."""
    sift_up(heap, size, order, event)
    return size + 1


@compiled()
def hasten(heap, size, order, event):
    """Let an event that is in the heap come sooner: with `order`, which is smaller than the one it has.

    The one that happens now is still on top; its like may have been put in again behind it.
    """
    i = size - 1
    while i > 0 and heap[2 * i + 1] != event:
        i -= 1
    sift_up(heap, i, order, event)


@compiled()
def replace_top(heap, size, order, event):
    """Replace the earliest event by another one: one sift instead of a pop and a push."""
    i, first = 0, 1
    while first < size:
        # The orders stay in registers: no load waits for a comparison within a level
        a, b, c, d = heap[2 * first], heap[2 * first + 2], heap[2 * first + 4], heap[2 * first + 6]
        left, right = first + (1 if b < a else 0), first + (3 if d < c else 2)
        earlier_left, earlier_right = min(a, b), min(c, d)
        child = right if earlier_right < earlier_left else left
        earliest = min(earlier_left, earlier_right)
        if earliest >= order:
            break
        heap[2 * i] = earliest
        heap[2 * i + 1] = heap[2 * child + 1]
        i = child
        first = CHILDREN * i + 1
    heap[2 * i], heap[2 * i + 1] = order, event


@compiled()
def pop(heap, size):
    """Remove the earliest event; returns the new size."""
    size -= 1
    order, event = heap[2 * size], heap[2 * size + 1]
    heap[2 * size] = NEVER
    if size > 0:
        replace_top(heap, size, order, event)
    return size
