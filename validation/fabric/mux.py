"""A mux as a program on one chip: workers send through its channels, and a sink in the place of a router takes what it hands on.

The benchmark's own kernels are not at hand.  Its packets go to a sink, not to a router: 15 B a cycle are more than a Wormhole's
line takes.  That the sink has `SINK_SLOTS` slots, and where cores stand, is assumed.
"""

import json
from pathlib import Path

import numpy as np

import tensim as tt
from tensim.sim.arch import load_arch
from tensim.sim.cores.fabric import worker_area
from tensim.sim.cores.riscv.toolchain import toolchain
from tensim.sim.errors import UsageError
from tensim.validation.rows import Case, Skip

BOARDS = {"wormhole_b0": "n300", "blackhole": "p150_x2"}
METRIC = "Bandwidth (B/c)"
NUMBERS = {  # of a row's pattern
    "full": "Num full size channels", "headers": "Num header only channels", "slots": "Num buffers full size channel",
    "header_slots": "Num buffers header only channel", "full_turns": "Num full size channel iters",
}  # fmt: skip
PACKETS = 60  # of each worker; rows have 10,000
MAX_SLOTS = 255
CPP = Path(__file__).parent / "cpp" / "mux"
STATUS, HANDSHAKES, INFO, SLOTS = 0x30000, 0x30100, 0x30800, 0x32000  # in L1 of mux and sink
SOURCE, HEADER, CYCLES = 0x60000, 0x50000, 0x50100  # in L1 of a worker
HANDSHAKE_BYTES, INFO_BYTES, HEADER_BYTES = 16, 64, 48
SINK_SLOTS = 8
MUX, SINK, WORKERS_ROW = (0, 0), (1, 0), 1


def read(row, chip, size):
    """The case of a mux's row; ValueError for a malformed one."""
    if chip not in BOARDS:
        raise Skip(f"no board with a {chip!r} is described")
    if row["metric"] != METRIC:
        raise Skip(f"{row['metric']} of a mux is not simulated")
    numbers = _numbers(row["pattern"])
    if numbers["full"] == 0:
        raise Skip("a mux of headers alone carries no payload")
    end = SLOTS + numbers["full"] * numbers["slots"] * (size + HEADER_BYTES)
    end += numbers["headers"] * numbers["header_slots"] * HEADER_BYTES
    arch, channels = load_arch(chip), numbers["full"] + numbers["headers"]
    if channels > min(worker_area.MAX_STREAMS, arch.grid[0] * (arch.grid[1] - WORKERS_ROW)):
        raise ValueError(f"{chip} has no cores or streams for {channels} channels")
    if end > arch.l1_size:
        raise ValueError(f"a core's L1 does not hold the slots of {channels} channels")
    try:
        toolchain()
    except UsageError as error:
        if error.kind != "no_compiler":  # one that is named and wrong
            raise
        raise Skip(f"a mux's kernels are in C++, and {error.message}") from None
    group = f"{chip}/mux/{'both kinds' if numbers['headers'] else 'payloads alone'}"
    spec = ("mux", BOARDS[chip], size, *numbers.values())
    return Case(spec, group, row.number("value"), row["unit"], 2.0 * channels)


def _numbers(pattern):
    """{name of `NUMBERS`: number} of a pattern, which is JSON."""
    try:
        columns = json.loads(pattern)
        numbers = {name: int(columns[column]) for name, column in NUMBERS.items()}
    except (TypeError, ValueError, KeyError):
        raise ValueError(f"the pattern {pattern!r} lacks numbers of a mux: {', '.join(NUMBERS.values())}") from None
    if any(number < 0 for number in numbers.values()) or not numbers["full_turns"]:
        raise ValueError(f"the pattern {pattern!r} has numbers that cannot be")
    for channels, slots in (("full", "slots"), ("headers", "header_slots")):
        if numbers[channels] and not 0 < numbers[slots] <= MAX_SLOTS:
            raise ValueError(f"a mux's channel cannot have {numbers[slots]} buffers")
    return numbers


def simulate(board, size, full, headers, slots, header_slots, full_turns):
    """Payload bytes a cycle of a row's mux."""
    with tt.open_mesh_device(board, (1, 2), links=1, numerics="fast") as mesh:  # words in L1 decide
        return bytes_per_cycle(mesh, full, headers, slots, max(header_slots, 1), size, PACKETS, full_turns)


def bytes_per_cycle(mesh, full, headers, slots, header_slots, size, packets, full_turns):
    """Payload bytes a cycle while `full` workers send packets of `size` bytes, `headers` others headers alone, `packets` each."""
    device, program = mesh.devices[0], tt.create_program()
    slot_bytes = size + HEADER_BYTES
    across = device.arch.grid[0]
    workers = [(i % across, WORKERS_ROW + i // across) for i in range(full + headers)]
    for core in (*workers, MUX):
        for _ in range(2):
            tt.create_semaphore(program, tt.CoreCoord(*core), 0)
    _kernel(program, "sink", SINK, [SINK_SLOTS, INFO, HANDSHAKES, STATUS], [])
    mux_args = [full, slots, slot_bytes, headers, header_slots, SLOTS, INFO, HANDSHAKES, STATUS, full_turns, SINK_SLOTS]
    _kernel(program, "mux", MUX, mux_args, _place(device, SINK))
    first = SLOTS
    for number, core in enumerate(workers):
        payload, mine = (size, slots) if number < full else (0, header_slots)
        bytes_each = HEADER_BYTES + payload
        places = [number, first, INFO + number * INFO_BYTES, HANDSHAKES + number * HANDSHAKE_BYTES]
        compile_args = [mine, bytes_each, payload, packets, SOURCE, HEADER, CYCLES, STATUS]
        _kernel(program, "sender", core, compile_args, [*_place(device, MUX), *places, *_place(device, SINK)])
        first += mine * bytes_each
    tt.enqueue_program(device.command_queue(), program, False)
    tt.finish(device.command_queue())
    memory, state = device.chip.memory, device._state
    spans = np.array([
        np.frombuffer(memory.read_l1(state.worker(tt.CoreCoord(*core)), CYCLES, 8), np.uint32) for core in workers
    ])  # fmt: skip
    return full * size * packets / float(spans[:, 1].max() - spans[:, 0].min())


def _kernel(program, name, core, compile_args, args):
    config = tt.WriterDataMovementConfig(compile_args=compile_args)
    kernel = tt.create_kernel(program, CPP / f"{name}.cpp", tt.CoreCoord(*core), config)
    tt.set_runtime_args(program, kernel, tt.CoreCoord(*core), [int(value) for value in args])


def _place(device, core):
    place = device.worker_core_from_logical_core(core)
    return int(place.x), int(place.y)
