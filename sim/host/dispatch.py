"""Command queues of a device: what the prefetcher and the dispatcher do, as SimPy processes.

One process per hardware queue takes commands in order, not before the host issued them.  A program's configuration (runtime
arguments, circular buffers, semaphores, binaries) is written while earlier programs still run, as far as the ring of
configuration memory and the launch ring reach; its go signal waits until its sub-device is idle
(docs/hardware/dispatch.md#program-dispatch-order and docs/hardware/dispatch.md#worker-side).  Costs come from the
`dispatch:` and `pcie:` sections of the architecture, calibrated on the published times per program
(docs/hardware/dispatch.md#published-dispatch-times) and bandwidths through the queues
(docs/hardware/dispatch.md#buffer-bandwidth).
"""

import functools

from tensim.sim.errors import CommandFault, TensimError, UsageError
from tensim.sim.host.config_ring import ConfigRing
from tensim.sim.host.knowledge import Knowledge
from tensim.sim.host.queue import Queue
from tensim.sim.lazy_dataclass import dataclass
from tensim.sim.loop.environment import FS_PER_NS

KEPT_COSTS = 256  # of programs with different arguments


@dataclass(frozen=True)
class ProgramCost:
    """What the dispatcher writes for one program, and what workers do at its start."""

    program: int = 0  # its id
    binary_bytes: int = 0
    kernel_groups: int = 0
    argument_packets: int = 0  # kernel groups with unique arguments
    argument_bytes: tuple[int, ...] = ()  # of each core that has unique arguments
    config_groups: int = 0
    config_cores: int = 0
    config_bytes: int = 0  # circular buffers, semaphores and common arguments
    ring_bytes: int = 0  # configuration memory of the core that needs most
    ring_binary_bytes: int = 0  # binaries in it
    ncrisc_bytes: int = 0  # largest binary of an NCRISC


class Costs:
    """Dispatch and PCIe times of an architecture, in femtoseconds."""

    def __init__(self, arch):
        self._ns, self._pcie = arch.section("dispatch"), arch.section("pcie")
        self._fs = {
            key.removesuffix("_ns"): round(ns * FS_PER_NS) for key, ns in self._ns.items() if key.endswith("_ns")
        }
        self._argument_writes = functools.lru_cache(KEPT_COSTS)(self._argument_writes_of)

    def __getitem__(self, name):
        return self._fs[name]

    def fetch(self, cost):
        """Time in which the prefetcher brings a program's commands over PCIe and its binaries from DRAM.

        For a trace both come from device memory, too fast to count.
        """
        return round((self._ns["fetch_ns"] + cost.binary_bytes / self._ns["fetch_bytes_per_ns"]) * FS_PER_NS)

    def configuration(self, cost, write_binaries=True):
        """Time the dispatcher is busy with one program: its packets add up; binaries, if it writes them, stream beside."""
        ns = self._ns
        total = ns["program_ns"] + max(cost.kernel_groups - 1, 0) * ns["kernel_group_ns"]
        total += self._configuration_packets(cost) + self._argument_packets(cost)
        if write_binaries:
            total = max(total, cost.binary_bytes / ns["binary_bytes_per_ns"])
        return round(total * FS_PER_NS)

    def start(self, cost):
        """Time from the go signal to the first instruction of a kernel.

        Workers of Wormhole and Grayskull copy the NCRISC's binary into its own instruction memory, beside the rest of the
        start (docs/hardware/dispatch.md#worker-side).
        """
        copy = cost.ncrisc_bytes / 1024 * self._ns["ncrisc_copy_kib_ns"] - self._ns["ncrisc_copy_hidden_ns"]
        return self["go"] + round(max(copy, 0) * FS_PER_NS)

    def _configuration_packets(self, cost):
        """ns for circular buffers, semaphores and common arguments: a packet per group of cores."""
        if not cost.config_bytes:
            return 0
        ns = self._ns
        first = ns["config_packet_ns"] if cost.config_cores > 1 else ns["config_unicast_ns"]
        groups = max(cost.config_groups - 1, 0)
        payload = (groups + 1) * cost.config_bytes / ns["config_bytes_per_ns"]
        return first + groups * ns["config_group_ns"] + payload

    def _argument_packets(self, cost):
        """ns for unique arguments: a packet per kernel group, in it one write per core, once its first one has come."""
        fill = max(cost.argument_bytes, default=0) / self._ns["argument_fill_bytes_per_ns"]
        packets = cost.argument_packets * (self._ns["argument_packet_ns"] + fill)
        return packets + self._argument_writes(cost.argument_bytes)

    def _argument_writes_of(self, sizes):
        """ns of the writes of unique arguments, by their bytes on each core."""
        ns = self._ns
        return sum(
            max(ns["argument_core_ns"], ns["argument_write_ns"] + size / ns["argument_bytes_per_ns"]) for size in sizes
        )

    def relay(self, link, n_bytes, write):
        """Time in which the dispatch kernels of two chips move a piece of a host transfer over their ethernet."""
        rate = self._ns["relay_write_bytes_per_ns" if write else "relay_read_bytes_per_ns"]
        return max(link.duration_fs(n_bytes), round((n_bytes / rate + link.latency_ns) * FS_PER_NS))

    def transfer(self, n_bytes, pages, write):
        """Time of a host transfer: the PCIe rate, or for small pages the work per page and its bytes."""
        way = "write" if write else "read"
        per_page = pages * self._pcie[f"{way}_page_ns"] + n_bytes / self._pcie[f"{way}_page_bytes_per_ns"]
        return round(max(n_bytes / self._pcie[f"{way}_bytes_per_ns"], per_page) * FS_PER_NS)


def configured(env, ring, costs, cost, host_fed):
    """SimPy process body: a program's configuration is fetched and written, once a `ConfigRing` has room for it.

    `cost`: its `ProgramCost`; `host_fed`: its commands come from the host, not from a trace.
    """
    fetched = env.now + (costs.fetch(cost) if host_fed else 0)
    write_binaries = yield from ring.reserve(cost, keep_binaries=not host_fed)
    written = env.now + costs.configuration(cost, write_binaries)
    yield env.timeout(max(fetched, written) - env.now)


class CommandQueue(Queue):
    """One hardware command queue of a chip."""

    def __init__(self, device, index):
        super().__init__(device, index, device.env)
        self.capacity = device.arch["dispatch.issue_queue_bytes"] // device.num_queues
        self.programs = {}  # sub-device -> event: end of the last program issued here
        self.ring = ConfigRing(device.arch["dispatch.config_ring_bytes"], device.arch["dispatch.launch_ring_entries"])
        self.capture = None  # tensim.sim.host.metal_trace.Capture while programs are recorded instead of run
        self.next_event_id = 1
        self.over = Knowledge()  # of programs that ran here

    def refuse_capture(self, what):
        """UsageError for something that is no part of a trace, while one is captured."""
        if self.capture is not None:
            raise UsageError(
                f"queue {self.index} of device {self.device.id} is capturing trace {self.capture.trace}, "
                f"which cannot hold {what}",
                hint="move it before begin_trace_capture or behind end_trace_capture",
            )

    # --- what commands do

    def wait_programs(self, sub_devices):
        """Stall until the programs issued here on these sub-devices have ended."""
        for sub_device in sub_devices:
            last = self.programs.get(sub_device)
            if last is not None and not last.processed:
                yield last
        self.known.join(self.over)

    def transfer(self, n_bytes, pages, write):
        """Move bytes between host and chip in pieces of one command, sharing the links with other queues and chips.

        A chip without PCIe is reached over the ethernet of one that has it, where the dispatch kernels relay: a piece
        goes over its second link while the next is on the first (their buffer holds two, docs/hardware/dispatch.md#dispatch-sizes).
        """
        piece, device = self.device.arch["dispatch.max_command_bytes"], self.device
        hops = (device.down if write else device.up).hops
        left, left_pages, relayed = n_bytes, pages, None
        while left > 0:
            count = min(left, piece)
            part = left_pages if count == left else left_pages * count // left
            steps = [(hop, self._hop_time(hop, count, part, write)) for hop in hops]
            yield from device.topology.occupy(*steps[0], count, begin=self.begin)
            if relayed is not None:
                yield relayed
            if len(steps) > 1:
                relayed = self.spawn(self._relay(steps[1:], count))
            left, left_pages = left - count, left_pages - part
        if relayed is not None:
            yield relayed

    def _hop_time(self, hop, count, pages, write):
        if hop.kind == "pcie":
            return self.device.costs.transfer(count, pages, write)
        return self.device.costs.relay(hop, count, write)

    def _relay(self, steps, count):
        """The rest of a piece's way, link after link."""
        for hop, time in steps:
            yield from self.device.topology.occupy(hop, time, count)

    def spawn(self, work):
        """Start a process that ends with the queue."""
        self._processes = [process for process in self._processes if process.is_alive]
        process = self.env.process(self._stoppable(work))
        self._processes.append(process)
        return process

    def run_program(self, bound, trace=None):
        """Write a program's configuration, then leave the go signal and the end to the subordinate dispatcher.

        `bound`: `tensim.sim.host.binding.BoundProgram`; `trace`: (id, number of the replay) of the metal trace whose buffer
        its commands come from, None: from the host.
        """
        host_fed = trace is None
        yield from configured(self.env, self.ring, self.device.costs, bound.cost, host_fed)
        self.serving.handed_over = True
        before, done = self.programs.get(bound.sub_device), self.env.event()
        self.programs[bound.sub_device] = done
        self.ring.stage(bound.cost, done, keep_binaries=not host_fed)
        self.spawn(self._go(bound, trace, self.serving, before, done, self.known.copy()))

    def run_trace(self, programs, sub_devices, trace):
        """Run bound programs from the buffer of a `trace` (docs/hardware/metal_trace.md#replay-sequence).

        `trace`: (its id, number of the replay).  The workers of its sub-devices reset their launch rings and acknowledge,
        while the prefetcher already turns to the trace buffer; behind the last program the ring of configuration memory
        counts as full.
        """
        begun = self.env.now
        yield from self.wait_programs(sub_devices)
        yield from self._reset_workers(sub_devices)
        wait = begun + self.device.costs["exec_buf"] - self.env.now
        if wait > 0:
            yield self.env.timeout(wait)
        for bound in programs:
            yield from self.run_program(bound, trace)
        self.ring.fill(self.env.all_of([program.done for program in self.ring.staged if not program.done.processed]))

    def _reset_workers(self, sub_devices):
        turns = [self.device.workers[sub_device].request() for sub_device in sub_devices]
        yield self.env.all_of(turns)
        yield self.env.timeout(self.device.costs["go"] + self.device.costs["done"])
        for sub_device, turn in zip(sub_devices, turns, strict=True):
            self.device.workers[sub_device].release(turn)

    def run_function(self, function, duration, exclusive=True):
        """Let `duration` femtoseconds pass, then call `function`: a program known by its time only.

        `exclusive`: the workers are busy with it.
        """
        yield from self.wait_programs(tuple(self.programs))
        turns = [workers.request() for workers in self.device.workers] if exclusive else []
        yield self.env.all_of(turns)
        self.begin()
        yield self.env.timeout(duration)
        for workers, turn in zip(self.device.workers, turns, strict=False):
            workers.release(turn)
        return function()

    def _over(self, known):
        """For checks: what is over for a program that starts now, `known` when its command began; None: all that is."""
        if not self.device.follows_queues:
            return None
        known.join(self.over)
        return known.of(self.device.chip.checks)

    def _go(self, bound, trace, item, before, done, known):
        device = self.device
        if before is not None and not before.processed:
            yield before
        try:
            with device.workers[bound.sub_device].request() as turn:
                yield turn
                yield self.env.timeout(device.costs.start(bound.cost))
                item.begin(self.env.now)
                ended = self.env.launch(device.clock, bound.launch, self._over(known))
                number = len(device.chip.launches) - 1
                for observer in device.observers:
                    observer.launched(number, bound.launch, item.stamp, trace)
                yield ended
                if device.follows_queues:
                    device.chip.checks.ended(number, self.over.of(device.chip.checks))
                yield self.env.timeout(device.costs["done"])
            item.end(self.env.now)
            self.check_fault(item)
        except CommandFault as fault:
            item.error = self.failure = fault
        except TensimError as error:
            device.failed = error
            raise
        done.succeed()
