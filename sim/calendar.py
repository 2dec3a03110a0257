"""The calendar queue of the compiled lane: a binary heap of (order, event) pairs in one int64 array.

`order` holds time and tie key in one integer, time << 20 | key, so that events of one cycle come in an order that does
not depend on when they were scheduled: event class, core, thread, then the thread's transaction count.  Entries behind
the last one hold `NEVER`, which lets the sift choose between two children without a branch.
"""

import numba as nb
import numpy as np

KEY_BITS = 20
CLASS_NETWORK = 0  # arrivals: memory changes before any thread looks at it
CLASS_THREAD = 1
NEVER = np.int64(2**63 - 1)
CLOCK = -(1 << 40)  # the event of the flit model's clock; events of threads are -1 - thread
CLOCK_KEY = (1 << 19) - 1  # behind all arrivals of its cycle, before all threads
MAX_CORES = 256


def new_heap(capacity):
    """An empty heap for `capacity` events (an even number more of NEVER entries behind them)."""
    return np.full(2 * (2 * capacity + 2), NEVER, np.int64)


@nb.njit(cache=True, inline="always")
def make_key(event_class, core, slot, sequence):
    """Tie key: class (1 bit), core (8), thread slot (3), transaction count modulo 256."""
    return (event_class << 19) | (core << 11) | (slot << 8) | (sequence & 255)


@nb.njit(cache=True, inline="always")
def make_order(time, key):
    return (time << KEY_BITS) | key


@nb.njit(cache=True)
def push(heap, size, order, event):
    """Insert an event; the caller has checked the capacity.  Returns the new size."""
    i = size
    while i > 0:
        parent = (i - 1) >> 1
        if heap[2 * parent] <= order:
            break
        heap[2 * i], heap[2 * i + 1] = heap[2 * parent], heap[2 * parent + 1]
        i = parent
    heap[2 * i], heap[2 * i + 1] = order, event
    return size + 1


@nb.njit(cache=True)
def replace_top(heap, size, order, event):
    """Replace the earliest event by another one: one sift instead of a pop and a push."""
    i = 0
    child = 1
    while child < size:
        child += 1 if heap[2 * child + 2] < heap[2 * child] else 0
        if heap[2 * child] >= order:
            break
        heap[2 * i], heap[2 * i + 1] = heap[2 * child], heap[2 * child + 1]
        i = child
        child = 2 * i + 1
    heap[2 * i], heap[2 * i + 1] = order, event


@nb.njit(cache=True)
def pop(heap, size):
    """Remove the earliest event; returns the new size."""
    size -= 1
    order, event = heap[2 * size], heap[2 * size + 1]
    heap[2 * size] = NEVER
    if size > 0:
        replace_top(heap, size, order, event)
    return size
