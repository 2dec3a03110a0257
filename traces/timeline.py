"""The timeline of a run in the Chrome trace-event format, which Perfetto opens.

One process per core: a track per thread (spans at work by operation, waits by reason, each with kernel and source line), at the
instruction level a track per unit of the coprocessor (spans by instruction, with the thread that issued it), at routers of a fabric
a track for the link (a span per packet on the line, with the bytes of its payload), zones
(`DeviceZoneScopedN`) and transfers as asynchronous events with bytes and destination, a counter per circular buffer with the
pages in it, and a flow from what pushed or popped pages to the wait that it ended.  One process for the memory system, a counter
per NoC and DRAM channel.  One for the host: its calls and zones, the commands of the queues from issue to end, and programs
from start to end.  Time stamps are microseconds of simulated time.
"""

import contextlib
import functools
import gzip
import io
import itertools
import json
from pathlib import Path

import numpy as np

from tensim.sim import state as st
from tensim.sim.chip.deadlock import reason_name
from tensim.sim.chip.zones import zone_name
from tensim.sim.cores.coprocessor.instruction_table import by_opcode
from tensim.sim.cores.coprocessor.units import UNIT_NAMES
from tensim.sim.cores.operations import Op
from tensim.sim.cores.slots import THREAD_NAMES, THREADS_PER_CORE
from tensim.sim.output_files import output_file

COUNTER_SAMPLES = 400
LINK_TRACK, FIRST_UNIT_TRACK = 9, 10  # behind those of threads
MEMORY_PROCESS, HOST_PROCESS = 1_000_000, 1_000_001
FS_PER_US = 10**9
COLOURS = {"busy": "good", "stall": "terrible"}
_compact = json.JSONEncoder(separators=(",", ":")).encode
OPERATION_NAMES = {int(op): op.name.lower() for op in Op} | {int(Op.SPEND): "plain code", -1: "start", -2: "end"}
TRANSFER_NAMES = {st.READ: "read", st.WRITE: "write"}


def _track_names(chip, entries):
    """Names and order of the cores' processes and threads."""
    grid_x = chip.arch.grid[0]
    for core in sorted({int(thread) // THREADS_PER_CORE for thread in np.unique(entries["thread"])}):
        name = f"core ({core % grid_x},{core // grid_x})" if core < chip.n_workers else chip.routers.name(core)
        yield {"ph": "M", "pid": core, "name": "process_name", "args": {"name": name}}
        yield {"ph": "M", "pid": core, "name": "process_sort_index", "args": {"sort_index": core}}
        for slot, thread in enumerate(THREAD_NAMES):
            yield {"ph": "M", "pid": core, "tid": slot, "name": "thread_name", "args": {"name": thread}}
    for thread in np.unique(entries["thread"][entries["kind"] == st.LOG_LINK]).tolist():
        core = thread // THREADS_PER_CORE
        yield {"ph": "M", "pid": core, "tid": LINK_TRACK, "name": "thread_name", "args": {"name": "link"}}
    of_units = entries[entries["kind"] >= st.LOG_UNIT]
    seen = np.unique(np.stack((of_units["thread"] // THREADS_PER_CORE, of_units["kind"] - st.LOG_UNIT), 1), axis=0)
    for core, unit in seen.tolist():
        name = {"name": UNIT_NAMES[unit]}
        yield {"ph": "M", "pid": core, "tid": FIRST_UNIT_TRACK + unit, "name": "thread_name", "args": name}
        order = {"sort_index": FIRST_UNIT_TRACK + unit}
        yield {"ph": "M", "pid": core, "tid": FIRST_UNIT_TRACK + unit, "name": "thread_sort_index", "args": order}


@functools.cache
def _span_head(kind, operation):
    """The part of a span's event that depends on what the thread did."""
    busy = kind == st.WAIT_NONE
    name = OPERATION_NAMES.get(operation, "plain code") if busy else f"wait: {reason_name(kind)}"
    cat, colour = ("busy", COLOURS["busy"]) if busy else ("wait", COLOURS["stall"])
    return f'{{"ph":"X","cat":"{cat}","name":{json.dumps(name)},"cname":"{colour}"'


class _Cores:
    """The events of the cores as text, in the order of the log: there may be millions."""

    def __init__(self, chip):
        self._chip, self._per_us, self._ids = chip, chip.arch.clock_mhz, itertools.count(1)
        self._places, self._newest = {}, {}  # (core, circular buffer, whether pushed) -> (thread, cycle)
        self._zones, self._targets = {}, self._target_names(chip)

    @staticmethod
    def _target_names(chip):
        """What a transfer goes to, by the log's number: a tile, or behind the tiles a DRAM bank."""
        width, height = chip.arch.noc_size
        names = {
            y * width + x: f"core ({i % chip.arch.grid[0]},{i // chip.arch.grid[0]})"
            for i, (x, y) in enumerate(chip.arch.worker_coords)
        }
        for x, y in () if chip.routers is None else chip.routers.places:
            names[y * width + x] = f"Ethernet tile {x}-{y}"
        return names | {width * height + bank: f"DRAM bank {bank}" for bank in range(chip.arch.dram_banks)}

    def events(self, entries):
        names = ("thread", "kind", "start", "end", "line", "operation", "line_base", "target")
        columns = (entries[name].tolist() for name in names)
        for thread, kind, start, end, line, operation, base, target in zip(*columns, strict=True):
            core, slot = divmod(thread, THREADS_PER_CORE)
            if kind < st.LOG_DRAM:
                yield self._span(core, slot, kind, start, end, line, operation, base)
                if kind < st.WAIT_READ_BARRIER:
                    yield from self._flow(core, slot, kind, end)
            elif kind >= st.LOG_UNIT:
                yield self._unit_span(core, slot, kind - st.LOG_UNIT, start, end, operation)
            elif kind == st.LOG_LINK:
                yield self._link_span(core, start, end, line, target)
            elif kind >= st.LOG_ZONE_BEGIN:
                yield from self._zone(thread, core, slot, kind, start, line, base)
            elif kind >= st.LOG_LEVEL:
                index = kind - st.LOG_LEVEL
                self._newest[core, index, target > 0] = slot, start
                yield f'{{"ph":"C","pid":{core},"name":"CB {index} pages","ts":{start / self._per_us},"args":{{"pages":{line}}}}}'
            elif kind >= st.LOG_TRANSFER:
                yield from self._transfer(core, slot, kind - st.LOG_TRANSFER, start, end, line, operation, target)

    def _place(self, base, line):
        """Kernel, file and line as the inside of a JSON object."""
        if (base, line) not in self._places:
            program = self._chip.line_programs.get(base)
            at = {"line": line}
            if program is not None:
                place = program.place(line)
                at = {
                    "line": place["line"],
                    "at": f"{Path(place['file']).name}:{place['line']}",
                    "kernel": program.name,
                }
            self._places[base, line] = _compact(at)
        return self._places[base, line]

    def _span(self, core, slot, kind, start, end, line, operation, base):
        return (
            f'{_span_head(kind, operation)},"pid":{core},"tid":{slot},"ts":{start / self._per_us},'
            f'"dur":{(end - start) / self._per_us},"args":{self._place(base, line)}}}'
        )

    def _unit_span(self, core, slot, unit, start, end, opcode):
        return (
            f'{{"ph":"X","cat":"unit","name":"{by_opcode(self._chip.arch.name)[opcode].name}","pid":{core},'
            f'"tid":{FIRST_UNIT_TRACK + unit},"ts":{start / self._per_us},"dur":{(end - start) / self._per_us},'
            f'"args":{{"thread":"{THREAD_NAMES[slot]}"}}}}'
        )

    def _link_span(self, core, start, end, size, channel):
        name = f"packet of {'workers' if channel == 0 else f'sender channel {channel}'}"
        return (
            f'{{"ph":"X","cat":"link","name":"{name}","pid":{core},"tid":{LINK_TRACK},"ts":{start / self._per_us},'
            f'"dur":{(end - start) / self._per_us},"args":{{"bytes":{size}}}}}'
        )

    def _flow(self, core, slot, kind, end):
        """From the push or pop that ended a wait for a circular buffer to the wait's last cycle."""
        is_front = kind < st.WAIT_CB_BACK
        index = kind if is_front else kind - st.WAIT_CB_BACK
        newest = self._newest.get((core, index, is_front))
        if newest is None:
            return
        other, at = newest
        number, last = next(self._ids), max(end - 1, at)
        head = f'"cat":"pages","name":"CB {index}","id":{number},"pid":{core}'
        yield f'{{"ph":"s",{head},"tid":{other},"ts":{at / self._per_us}}}'
        yield f'{{"ph":"f","bp":"e",{head},"tid":{slot},"ts":{last / self._per_us}}}'

    def _zone(self, thread, core, slot, kind, now, number, base):
        opened = self._zones.setdefault(thread, [])
        if kind != st.LOG_ZONE_BEGIN and not opened:
            return  # a binary may end what it has not begun
        if kind == st.LOG_ZONE_BEGIN:
            program = self._chip.line_programs.get(base)
            name = f"zone {number}" if program is None else zone_name(program, number)
            opened.append((next(self._ids), _compact(f"{THREAD_NAMES[slot]} {name}")))
        phase, (identity, name) = ("b", opened[-1]) if kind == st.LOG_ZONE_BEGIN else ("e", opened.pop())
        yield f'{{"ph":"{phase}","cat":"zone","name":{name},"id":{identity},"pid":{core},"tid":{slot},"ts":{now / self._per_us}}}'

    def _transfer(self, core, slot, noc, start, end, size, operation, target):
        name = f"{TRANSFER_NAMES[operation]} {self._targets[target]}"
        head = f'"cat":"transfer","name":"{name}","id":{next(self._ids)},"pid":{core},"tid":{slot}'
        yield f'{{"ph":"b",{head},"ts":{start / self._per_us},"args":{{"bytes":{size},"noc":{noc}}}}}'
        yield f'{{"ph":"e",{head},"ts":{end / self._per_us}}}'


def _counter_events(chip, entries, per_us):
    """Bytes per cycle of each NoC and DRAM channel, sampled over the run."""
    if len(entries) == 0:
        return
    begin, end = int(entries["start"].min()), int(entries["end"].max()) + 1
    width = max((end - begin) // COUNTER_SAMPLES, 1)
    yield {"ph": "M", "pid": MEMORY_PROCESS, "name": "process_name", "args": {"name": "NoC and DRAM (B/cycle)"}}
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


def _host_events(chip, per_us):
    """Calls of the host, commands of the queues and programs, as asynchronous events."""
    name = "host, queues and programs"
    yield {"ph": "M", "pid": HOST_PROCESS, "name": "process_name", "args": {"name": name}}
    yield {"ph": "M", "pid": HOST_PROCESS, "name": "process_sort_index", "args": {"sort_index": -1}}
    log, ids = chip.host_log, itertools.count()
    origin = log.origin_fs
    spans = [("host", call, begun, ended, {}) for call, begun, ended in log.calls]
    spans += [("host zone", name, begun, ended, {}) for name, begun, ended in log.zones]
    for call, queue, item in log.commands:
        if item.ended is not None:
            waited = {"issued_us": (item.stamp - origin) / FS_PER_US, "begun_us": (item.begun - origin) / FS_PER_US}
            spans.append((f"queue {queue}", call, item.stamp, item.ended, waited))
    for kind, call, begun, ended, arguments in spans:
        times = (begun - origin) / FS_PER_US, (ended - origin) / FS_PER_US
        yield from _asynchronous(ids, kind, f"{kind}: {call}", *times, arguments)
    for number, launch in chip.launches.items():
        if "ended" in launch:
            times = launch["started"] / per_us, launch["ended"] / per_us
            yield from _asynchronous(ids, "program", launch["name"], *times, {"launch": number})


def _asynchronous(ids, kind, name, begun, ended, arguments):
    event = {"cat": kind, "name": name, "id": f"h{next(ids)}", "pid": HOST_PROCESS, "tid": 0}
    yield {"ph": "b", **event, "ts": max(begun, 0), "args": arguments}
    yield {"ph": "e", **event, "ts": max(ended, 0)}


@contextlib.contextmanager
def _text_file(path):
    """The open file of an output, compressed when its name ends in .gz."""
    if not str(path).endswith(".gz"):
        with output_file(path) as file:
            yield file
        return
    with (
        output_file(path, "wb") as packed,
        gzip.GzipFile(
            "", "wb", compresslevel=5, fileobj=packed, mtime=0
        ) as content,  # the same log gives the same bytes
        io.TextIOWrapper(content, "utf-8") as file,
    ):
        yield file


def write_timeline(chip, path):
    """Write the chip's recorded log to `path` (compressed when it ends in .gz); returns the number of events."""
    log, per_us, count = chip.recordings.log(), chip.arch.clock_mhz, 0
    is_memory = (log["kind"] >= st.LOG_DRAM) & (log["kind"] < st.LOG_TRANSFER)
    cores, memory = log[~is_memory], log[is_memory]
    described = itertools.chain(
        _track_names(chip, cores), _counter_events(chip, memory, per_us), _host_events(chip, per_us)
    )
    with _text_file(path) as file:
        file.write('{"displayTimeUnit":"ns","traceEvents":[\n')
        for text in itertools.chain(map(_compact, described), _Cores(chip).events(cores)):
            file.write((",\n" if count else "") + text)
            count += 1
        file.write("\n]}\n")
    return count
