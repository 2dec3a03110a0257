"""Metal traces without a device: plain data, fit to be stored and loaded elsewhere, and the size of their command streams
(docs/hardware/metal_trace.md#what-a-trace-is and docs/hardware/metal_trace.md#capture-sequence).
"""

from tensim.sim.host.allocator import round_up
from tensim.sim.host.frozen_program import FrozenProgram
from tensim.sim.lazy_dataclass import dataclass


@dataclass(frozen=True)
class SubDeviceCounters:
    """What a replay does on one sub-device: done messages it brings, and go signals by kind.

    Source: docs/hardware/metal_trace.md#capture-sequence.
    """

    sub_device: int
    num_completion_worker_cores: int
    num_traced_programs_needing_go_signal_multicast: int
    num_traced_programs_needing_go_signal_unicast: int  # to ethernet cores


@dataclass(frozen=True)
class TraceRegion:
    """Memory that a trace uses: [address, address + size) of each of `banks` of DRAM, or of L1 (worker indices).

    `buffer`: the buffer that it is, None when it is not known here.
    """

    name: str
    in_dram: bool
    banks: tuple[int, ...]
    address: int
    size: int
    buffer: int | None = None

    def overlaps(self, buffer):
        """Whether a byte belongs to a buffer too."""
        return (
            self.in_dram == buffer.in_dram
            and self.address < buffer.address + buffer.size_per_bank
            and buffer.address < self.address + self.size
            and not set(self.banks).isdisjoint(buffer.bank_banks())
        )


@dataclass(frozen=True)
class TraceDescriptor:
    """A trace without a device.  `buffers`: host buffers that its programs' arguments point into; `trace_bytes`: length
    of its command stream, without padding.
    """

    queue: int
    sub_device_ids: tuple[int, ...]
    counters: tuple[SubDeviceCounters, ...]
    programs: tuple[FrozenProgram, ...]
    buffers: tuple[TraceRegion, ...]
    trace_bytes: int


def count(programs, workers):
    """Counters of every sub-device that the programs touch.  `workers`: cores of each sub-device of the manager."""
    runs = {}
    for program in programs:
        runs[program.sub_device] = runs.get(program.sub_device, 0) + 1
    return tuple(
        SubDeviceCounters(sub_device, n * len(workers[sub_device]), n, 0) for sub_device, n in sorted(runs.items())
    )


# --- size of the command stream


def program_stream_bytes(cost, arch):
    """Bytes of one program in the stream, from what the dispatcher writes for it (`ProgramCost`).

    The commands are those of docs/hardware/dispatch.md#program-dispatch-order; binaries stay where they are and cost a
    sub-command each.
    """
    command, sub_command = arch["dispatch.command_bytes"], arch["dispatch.sub_command_bytes"]
    largest, alignment = arch["dispatch.max_packed_writes"], arch.l1_alignment

    def packed(writes, payload):
        """Packed writes, at most `largest` in a command."""
        return -(-writes // largest) * command + round_up(writes * sub_command, alignment) + payload

    arguments = sum(round_up(size, alignment) for size in cost.argument_bytes)
    config = max(cost.config_groups, 1) * round_up(cost.config_bytes, alignment)
    total = 3 * command + alignment  # write offset with its word, wait for ring space, go signal
    total += cost.kernel_groups * packed(1, arch["dispatch.launch_message_bytes"])
    total += packed(cost.kernel_groups, 0)  # binaries
    if arguments:
        total += cost.argument_packets * command + round_up(len(cost.argument_bytes) * sub_command, alignment)
        total += arguments
    if config:
        total += packed(max(cost.config_groups, 1), config)
    return total


def stream_bytes(costs, arch):
    """Bytes of a whole stream: its programs and the command that ends it."""
    return sum(program_stream_bytes(cost, arch) for cost in costs) + arch["dispatch.command_bytes"]


def page_size(n_bytes, arch):
    """Page size of a trace buffer: the power of two that pads least to whole rows of pages over the DRAM banks, the
    largest of equal ones (docs/hardware/metal_trace.md#capture-sequence).
    """
    size, best = arch["dispatch.trace_page_min_bytes"], None
    while size <= arch["dispatch.trace_page_max_bytes"]:
        padding = -n_bytes % (arch.dram_banks * size)
        if best is None or padding <= best[0]:
            best = padding, size
        size *= 2
    return best[1]
