"""Traffic on a simulated mesh: workers that send streams of packets, and how fast the busiest link takes them.

A stream is one worker that sends over one link of its chip in each direction, in turn.  All streams begin at the same cycle, as the
benchmark's do after a barrier; the rate is that of the slowest of the links with the most packets, without the first and the last
of them, so that filling and draining do not count.
"""

import math
from dataclasses import dataclass

import numpy as np

import tensim as tt
from tensim.sim.cores.fabric import layout
from tensim.sim.loop.environment import FS_PER_NS
from tensim.validation.fabric.kernels import HEADER_BYTES, HEADERS_APART, ping, pong, send_packets

SOURCE, HEADERS, TARGET, ARRIVAL, TIMES = 0x60000, 0x50000, 0x70000, 0x58000, 0x59000
BUSIEST = 0.95  # of the most packets: links with as many
LAUNCHES = 2  # host time of as many launches, which include preparations and the way to the chip
STEP_NS = 500  # between two looks at the links
BEGIN, END = 0.1, 0.98  # parts of the busiest link's packets
KINDS = {
    "NOC_UNICAST_WRITE": layout.UNICAST_WRITE, "NOC_FUSED_UNICAST_ATOMIC_INC": layout.FUSED_ATOMIC_INC,
    "NOC_UNICAST_SCATTER_WRITE": layout.SCATTER_WRITE,
}  # fmt: skip


@dataclass(frozen=True)
class Stream:
    """`flows`: up to four (direction, routes of the packets that it sends in a turn); `core`: logical core of the worker;
    `receivers`: those that get the packets of each flow; `noc`: that it writes on.
    """

    chip: int
    link: int
    flows: tuple
    core: tuple
    receivers: tuple
    noc: int = 0


def header_words(kind, size, target, route, semaphore=0, flush=True):
    """A packet header as bytes; `target`, `semaphore`: NoC addresses.  A scatter write's second half goes behind the first."""
    words = np.zeros(layout.HEADER_BYTES // 4, np.uint32)
    words[layout.PAYLOAD], words[layout.ROUTE] = size | kind << layout.TYPE_SHIFT, route
    second = target + size // 2 if kind == layout.SCATTER_WRITE else semaphore
    for place, value in ((layout.ADDRESS, target), (layout.SECOND, second)):
        words[place], words[place + 1] = value & 0xFFFFFFFF, value >> 32
    words[layout.VALUE], words[layout.FLAGS] = 1, layout.FLUSH * flush
    if kind == layout.SCATTER_WRITE:
        words[layout.SIZES], words[layout.COUNT] = size // 2, layout.TWO_WRITES << 16
    return words.tobytes()


def _noc_address(device, core, address):
    place = device.worker_core_from_logical_core(core)
    return int(place.x) << 36 | int(place.y) << 42 | address


def _config(noc):
    return tt.WriterDataMovementConfig(noc=tt.NOC(noc)) if noc else tt.ReaderDataMovementConfig(noc=tt.NOC(noc))


def _worker(mesh, stream):
    """Index of the worker core of a stream."""
    return mesh.devices[stream.chip]._state.worker(tt.CoreCoord(*stream.core))


def rate(mesh, streams, kind, size, turns, flush=True):
    """Packets per second of the busiest link, while all streams take `turns` turns each."""
    by_chip = {}
    for stream in streams:
        by_chip.setdefault(stream.chip, []).append(stream)
    start = _begin(mesh, len(by_chip))
    for chip, mine in by_chip.items():
        _launch(mesh, chip, mine, kind, size, turns, flush, start)
    return _busiest_rate(mesh)


def _begin(mesh, launches):
    """The cycle at which workers begin: when programs of so many chips have been launched, one after the other."""
    device = mesh.devices[0]
    arch, clock = device.arch, device._state.clock
    ns = launches * LAUNCHES * arch["host.enqueue_program_ns"] + device.system.host.now_fs / FS_PER_NS
    return math.ceil((ns - clock.origin / FS_PER_NS) * arch.clock_mhz / 1000)


def _launch(mesh, chip, streams, kind, size, turns, flush, start):
    device, program = mesh.devices[chip], tt.create_program()
    for noc in sorted({stream.noc for stream in streams}):
        mine = [stream for stream in streams if stream.noc == noc]
        cores = tt.CoreRangeSet([tt.CoreRange(tt.CoreCoord(*s.core), tt.CoreCoord(*s.core)) for s in mine])
        for _ in range(4):
            tt.create_semaphore(program, cores, 0)
        kernel = tt.create_kernel(program, send_packets, cores, _config(noc))
        for stream in mine:
            worker, connections = _worker(mesh, stream), []
            for flow, (direction, routes) in enumerate(stream.flows):
                receiver = stream.receivers[flow]
                target, counter = (_noc_address(device, receiver, address) for address in (TARGET, ARRIVAL))
                for number, route in enumerate(routes):
                    text = header_words(kind, size, target, route, counter)
                    at = HEADERS + HEADERS_APART * flow + HEADER_BYTES * number
                    device.chip.memory.write_l1(worker, at, text)
                connections.append(mesh.connection(chip, direction, stream.link))
            args = [*connections[0].args[2:], SOURCE, HEADERS, size, turns, int(flush), start, len(connections)]
            for one, (_, routes) in zip(connections, stream.flows, strict=True):
                args += [one.x, one.y, len(routes)]
            tt.set_runtime_args(program, kernel, tt.CoreCoord(*stream.core), args)
    tt.enqueue_program(device.command_queue(), program, False)


def _busiest_rate(mesh):
    """Packets per second: the links' counts are looked at until all programs have ended."""
    env, looks = mesh.devices[0].system.env, []
    tables = [device.chip.routers.table for device in mesh.devices]
    while True:
        env.run_to(env.now + STEP_NS * 10**6)
        looks.append((env.now, np.concatenate([table["packets"] for table in tables])))
        if env.peek() == float("inf") or (
            looks[-1][1].any() and not any(device.chip.is_running for device in mesh.devices)
        ):
            break
    for device in mesh.devices:
        tt.finish(device.command_queue())
    times, counts = np.array([time for time, _ in looks]), np.array([count for _, count in looks])
    busiest = np.flatnonzero(counts[-1] >= BUSIEST * counts[-1].max())
    return min(_steady_rate(times, counts[:, link]) for link in busiest)


def _steady_rate(times, counts):
    """Packets per second of a link, from what it had carried at some times (fs)."""
    begin, end = (int(np.searchsorted(counts, share * counts[-1])) for share in (BEGIN, END))
    return float(counts[end] - counts[begin]) / ((times[end] - times[begin]) * 1e-15)


def round_trips(mesh, chip, direction, other, back, routes, kind, size, rounds):
    """[ns] of each round trip between two chips, without what the other side's worker takes.

    `routes`: there and back; the first round, which fills caches and connections, is left out.
    """
    results = []
    core, arrival = (0, 0), TARGET + size - 4
    for here, way, kernel, route in ((other, back, pong, routes[1]), (chip, direction, ping, routes[0])):
        device, program = mesh.devices[here], tt.create_program()
        cores = tt.CoreRange(tt.CoreCoord(*core), tt.CoreCoord(*core))
        tt.create_semaphore(program, cores, 0)
        number = tt.create_kernel(program, kernel, cores, _config(1))
        text = header_words(kind, size, _noc_address(device, core, TARGET), route, _noc_address(device, core, ARRIVAL))
        device.chip.memory.write_l1(0, HEADERS, text)
        args = [*mesh.connection(here, way).args, SOURCE, HEADERS, size, rounds, arrival, TIMES]
        tt.set_runtime_args(program, number, tt.CoreCoord(*core), args)
        tt.enqueue_program(device.command_queue(), program, False)
    for here in (chip, other):
        device = mesh.devices[here]
        tt.finish(device.command_queue())
        cycles = np.frombuffer(device.chip.memory.read_l1(0, TIMES, 4 * rounds), np.uint32)
        results.append(cycles[1:] * 1000.0 / device.arch.clock_mhz)
    return results[0] - results[1]
