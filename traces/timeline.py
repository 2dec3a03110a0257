"""The timeline of a run in the Chrome trace-event format, which Perfetto opens.

One process per core with a track per thread (busy spans by kernel line, stalls by reason); one process for the memory
system with a counter per NoC and per DRAM channel.  Time stamps are microseconds of simulated time.
"""

import functools
import gzip
import itertools
import json

import numpy as np

from tensim.sim.chip.deadlock import reason_name
from tensim.sim.cores.operations import Op
from tensim.sim.cores.slots import THREAD_NAMES, THREADS_PER_CORE
from tensim.sim.engine import state as st

COUNTER_SAMPLES = 400
MEMORY_PROCESS = 1_000_000
COLOURS = {"busy": "good", "stall": "terrible"}
_compact = json.JSONEncoder(separators=(",", ":")).encode
OPERATION_NAMES = {int(op): op.name.lower() for op in Op} | {-1: "start", -2: "end"}


def _track_names(chip, entries):
    """Names and order of the cores' processes and threads."""
    grid_x = chip.arch.grid[0]
    for core in sorted({int(thread) // THREADS_PER_CORE for thread in np.unique(entries["thread"])}):
        name = f"core ({core % grid_x},{core // grid_x})"
        yield {"ph": "M", "pid": core, "name": "process_name", "args": {"name": name}}
        yield {"ph": "M", "pid": core, "name": "process_sort_index", "args": {"sort_index": core}}
        for slot, thread in enumerate(THREAD_NAMES):
            yield {"ph": "M", "pid": core, "tid": slot, "name": "thread_name", "args": {"name": thread}}


@functools.cache
def _span_head(kind, operation):
    """The part of a span's event that depends on what the thread did."""
    busy = kind == st.WAIT_NONE
    name = OPERATION_NAMES.get(operation, "plain code") if busy else f"wait: {reason_name(kind)}"
    return f'{{"ph":"X","name":{json.dumps(name)},"cname":"{COLOURS["busy" if busy else "stall"]}"'


def _spans(entries, per_us):
    """The events of the threads' spans as text: there may be millions."""
    columns = (entries[name].tolist() for name in ("thread", "kind", "start", "end", "line", "operation"))
    for thread, kind, start, end, line, operation in zip(*columns, strict=True):
        core, slot = divmod(thread, THREADS_PER_CORE)
        head = _span_head(kind, operation)
        yield (
            f'{head},"pid":{core},"tid":{slot},"ts":{start / per_us},"dur":{(end - start) / per_us},'
            f'"args":{{"line":{line}}}}}'
        )


def _counter_events(chip, entries, per_us):
    """Bytes per cycle of each NoC and DRAM channel, sampled over the run."""
    if len(entries) == 0:
        return
    begin, end = int(entries["start"].min()), int(entries["end"].max()) + 1
    width = max((end - begin) // COUNTER_SAMPLES, 1)
    yield {
        "ph": "M",
        "pid": MEMORY_PROCESS,
        "name": "process_name",
        "args": {"name": "NoC and DRAM (B/cycle)"},
    }
    for kind in np.unique(entries["kind"]):
        mine = entries[entries["kind"] == kind]
        sums = np.bincount((mine["end"] - begin) // width, weights=mine["line"], minlength=(end - begin) // width + 1)
        name = f"DRAM channel {kind - st.LOG_DRAM}" if kind < st.LOG_NOC else f"NoC {kind - st.LOG_NOC}"
        for sample, total in enumerate(sums):
            yield {
                "ph": "C",
                "pid": MEMORY_PROCESS,
                "name": name,
                "ts": (begin + sample * width) / per_us,
                "args": {"B/cycle": total / width},
            }


def write_timeline(chip, path):
    """Write the chip's recorded spans to `path` (compressed when it ends in .gz); returns the number of events."""
    log, per_us, count = chip.log(), chip.arch.clock_mhz, 0
    is_memory = log["kind"] >= st.LOG_DRAM
    threads, memory = log[~is_memory], log[is_memory]
    described = itertools.chain(_track_names(chip, threads), _counter_events(chip, memory, per_us))
    with gzip.open(path, "wt", compresslevel=5) if str(path).endswith(".gz") else open(path, "w") as file:
        file.write('{"displayTimeUnit":"ns","traceEvents":[\n')
        for text in itertools.chain(map(_compact, described), _spans(threads, per_us)):
            file.write((",\n" if count else "") + text)
            count += 1
        file.write("\n]}\n")
    return count
