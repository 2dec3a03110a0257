"""What the threads and the circular buffers of a program that has ended did, taken out of the machine's tables in one pass.

A program on 64 cores has 320 threads with a hundred counters each, nearly all of which are zero.
"""

import numpy as np

from tensim.sim.cores import context as ctx
from tensim.sim.cores.slots import THREADS_PER_CORE, TRISC0
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.tables import table
from tensim.sim.state import (
    ENDED,
    IDLE,
    N_REASONS,
    TRAFFIC,
    WORK,
    circular_buffer_words,
    circular_buffers_of,
    cores_of,
    machine_table,
    stalls_of,
    threads_of,
    word_table,
)

WORD_BYTES = np.dtype(np.int64).itemsize
TRAFFIC_WORDS, WORK_WORDS = TRAFFIC.itemsize // WORD_BYTES, WORK.itemsize // WORD_BYTES
STALLS_OF_WORK = WORK_WORDS - N_REASONS  # its last field

# A thread of the program
ENDED_THREAD = np.dtype(
    [(name, np.int64) for name in "thread line_base started ended busy issue operations".split()], align=True
)
# A core with a compute kernel
CORE_WORK = np.dtype(
    [(name, np.int64) for name in (
        "core flops fpu_busy sfpu_busy products product_calls long_sums sensitive_functions wide_products"
    ).split()],
    align=True,
)  # fmt: skip
# A circular buffer index over its `n_cores` cores, as in `tensim.sim.chip.launch_work.BufferWork`; `producers`, `consumers`: a bit
# for each slot of a core
BUFFER_SUM = np.dtype(
    [(name, np.int64) for name in (
        "index n_cores pages page_size data_format pushed left packed producers consumers"
    ).split()]
    + [("levels", np.int64, ctx.CB_LEVELS)],
    align=True,
)  # fmt: skip
BUFFER_SUM_WORDS = BUFFER_SUM.itemsize // WORD_BYTES
LEVELS_OF_SUM = BUFFER_SUM_WORDS - ctx.CB_LEVELS  # its last field
# What is asked: the ended launch `slot`, that started at `launch_started` with `n` threads, ascending int64 at `threads_at`; totals
# of the chip, `work_at` (`state.WORK` of each thread) and `core_cycles_at` (int64 of each worker).  What is told: an ENDED_THREAD
# each at `ended_at`, a CORE_WORK each at `cores_at`, and what is not zero of their stalls and their traffic: places in arrays
# (threads, N_REASONS) and (threads, TRAFFIC_WORDS), and values.  `buffers_at`: BUFFER_SUM of its `n_buffers` circular buffers with
# `index` and `n_cores`, the rest zero; `buffer_rows_at`: their rows in the table of circular buffers, one behind the other; their
# levels end at `launch_ended`.
REQUEST = np.dtype(
    [(name, np.int64) for name in (
        "slot launch_started launch_ended threads_at n work_at core_cycles_at ended_at n_ended cores_at n_cores "
        "stall_places_at stalls_at n_stalls "
        "traffic_places_at traffic_at n_traffic buffers_at n_buffers buffer_rows_at"
    ).split()],
    align=True,
)  # fmt: skip
request_table, ended_table, work_table = map(table, (REQUEST, ENDED_THREAD, WORK))
core_work_table, sum_table = map(table, (CORE_WORK, BUFFER_SUM))


@compiled()
def take_ended(machine, request):
    """Carry out a REQUEST (its address): the threads are idle behind it, their stalls zero."""
    m, r = machine_table(machine)[0], request_table(request)[0]
    listed, found = word_table(r.threads_at), ended_table(r.ended_at)
    r.n_ended = r.n_cores = r.n_stalls = r.n_traffic = 0
    for i in range(r.n):
        thread = listed[i]
        t = threads_of(m)[thread]
        if t.launch != r.slot or t.state != ENDED or t.ended <= 0:
            continue
        one, total = found[r.n_ended], work_table(r.work_at)[thread]
        one.thread, one.line_base, one.started, one.ended = thread, t.line_base, t.started, t.ended
        one.busy, one.issue, one.operations = t.busy, t.issue_busy, t.operations
        total.busy += t.busy
        total.issue += t.issue_busy
        total.operations += t.operations
        total.time += t.ended - t.started
        total.longest = max(total.longest, t.ended - t.started)
        take_stalls(m, r, thread)
        take_traffic(m, r, thread)
        if thread % THREADS_PER_CORE == TRISC0:
            take_core(m, r, thread // THREADS_PER_CORE)
        t.state, t.launch = IDLE, -1
        r.n_ended += 1
    add_core_cycles(r)
    sum_buffers(m, r)


@compiled(inline="always")
def take_stalls(m, r, thread):
    """Add a thread's waits to its total and leave none, as a program that is loaded finds it."""
    places, values = word_table(r.stall_places_at), word_table(r.stalls_at)
    total = word_table(r.work_at)
    for reason in range(N_REASONS):
        cycles = stalls_of(m)[thread * N_REASONS + reason]
        if cycles != 0:
            places[r.n_stalls], values[r.n_stalls] = r.n_ended * N_REASONS + reason, cycles
            r.n_stalls += 1
            total[thread * WORK_WORDS + STALLS_OF_WORK + reason] += cycles
            stalls_of(m)[thread * N_REASONS + reason] = 0


@compiled(inline="always")
def take_traffic(m, r, thread):
    """What a thread moved over the NoC."""
    places, values = word_table(r.traffic_places_at), word_table(r.traffic_at)
    traffic = word_table(m.traffic_at)
    for word in range(TRAFFIC_WORDS):
        value = traffic[thread * TRAFFIC_WORDS + word]
        if value != 0:
            places[r.n_traffic], values[r.n_traffic] = r.n_ended * TRAFFIC_WORDS + word, value
            r.n_traffic += 1


@compiled(inline="always")
def take_core(m, r, core):
    """What the compute kernel of a core did."""
    one, c = core_work_table(r.cores_at)[r.n_cores], cores_of(m)[core]
    one.core, one.flops, one.fpu_busy, one.sfpu_busy = core, c.flops, c.fpu_busy, c.sfpu_busy
    one.products, one.product_calls, one.long_sums = c.products, c.product_calls, c.long_sums
    one.sensitive_functions, one.wide_products = c.sensitive_functions, c.wide_products
    r.n_cores += 1


@compiled(inline="always")
def add_core_cycles(r):
    """Add the cycles from the program's start to its end on each core."""
    found, totals = ended_table(r.ended_at), word_table(r.core_cycles_at)
    core = last = -1
    for i in range(r.n_ended):
        if found[i].thread // THREADS_PER_CORE != core:
            core, last = found[i].thread // THREADS_PER_CORE, r.launch_started
        if found[i].ended > last:
            totals[core] += found[i].ended - last
            last = found[i].ended


@compiled(inline="always")
def sum_buffers(m, r):
    """Sum up the circular buffers over their cores."""
    at = 0
    for number in range(r.n_buffers):
        total = sum_table(r.buffers_at)[number]
        levels = word_table(r.buffers_at + (number * BUFFER_SUM_WORDS + LEVELS_OF_SUM) * WORD_BYTES)
        for _ in range(total.n_cores):
            row = word_table(r.buffer_rows_at)[at]
            cb, words = circular_buffers_of(m)[row], circular_buffer_words(m, row)
            left = min(max(cb.received - cb.acked, 0), cb.pages)
            total.pages, total.page_size, total.data_format = cb.pages, cb.page_size, cb.format
            total.pushed += cb.received
            total.left += left
            total.packed += cb.tiles_packed
            if cb.producer > 0:
                total.producers |= 1 << (cb.producer - 1) % THREADS_PER_CORE
            if cb.consumer > 0:
                total.consumers |= 1 << (cb.consumer - 1) % THREADS_PER_CORE
            for level in range(ctx.CB_LEVELS):
                levels[level] += words[ctx.CB_LEVEL_CYCLES + level]
            levels[left * cb.level_scale + ctx.CB_LEVEL_ONE - 1 >> ctx.CB_LEVEL_BITS] += r.launch_ended - cb.level_at
            at += 1
