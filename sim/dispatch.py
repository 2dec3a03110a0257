"""Command queues of a device: what the prefetcher and the dispatcher do, as SimPy processes.

One process per hardware queue takes commands in order, not before the host issued them.  A program's
configuration (runtime arguments, circular buffers, semaphores, binaries) is written while earlier programs
still run, as far as the ring of configuration memory and the launch ring reach; its go signal waits until its
sub-device is idle (reference sections 5.5 and 5.6).  Costs come from the `dispatch:` and `pcie:` sections of
the architecture, calibrated on the published times per program (section 5.7) and bandwidths through the
queues (section 5.8).
"""

from collections import deque
from dataclasses import dataclass

import simpy

from sim.environment import FS_PER_NS
from sim.errors import ProgramError, TensimError


@dataclass
class Item:
    """A command in a queue: what to run (a generator function), when it was issued, how much queue memory it
    takes.
    """

    work: object
    stamp: int
    queue_bytes: int
    done: object
    result: object = None


@dataclass
class ProgramCost:
    """What the dispatcher writes for one program."""

    binaries: int = 0
    binary_bytes: int = 0
    kernel_groups: int = 0
    argument_cores: int = 0
    argument_bytes: int = 0
    config_groups: int = 0
    config_bytes: int = 0
    common_bytes: int = 0
    ring_bytes: int = 0  # configuration memory of the core that needs most


class Costs:
    """Dispatch and PCIe times of an architecture, in femtoseconds."""

    def __init__(self, arch):
        self.arch = arch
        self._ns = {key: value for key, value in arch.section("dispatch").items() if key.endswith("_ns")}
        self.bytes_per_ns = arch["dispatch.write_bytes_per_ns"]

    def __getitem__(self, name):
        return round(self._ns[f"{name}_ns"] * FS_PER_NS)

    def configuration(self, cost):
        """Time to write a program's configuration to the workers."""
        ns = self._ns
        total = ns["program_ns"] + max(cost.binaries - 1, 0) * ns["extra_binary_ns"]
        total += max(cost.kernel_groups - 1, 0) * ns["kernel_group_ns"]
        if cost.config_groups or cost.argument_cores or cost.common_bytes:
            total += ns["first_packet_ns"]
        total += max(cost.config_groups - 1, 0) * ns["config_group_ns"]
        total += cost.argument_cores * ns["argument_core_ns"]
        payload = cost.binary_bytes + cost.argument_bytes + cost.config_bytes + cost.common_bytes
        return round((total + payload / self.bytes_per_ns) * FS_PER_NS)

    def transfer(self, n_bytes, pages, write):
        """Time of a host transfer: the PCIe rate, or the page rate of the dispatcher when pages are small."""
        way = "write" if write else "read"
        ns = max(n_bytes / self.arch[f"pcie.{way}_bytes_per_ns"], pages * self.arch[f"pcie.{way}_page_ns"])
        return round(ns * FS_PER_NS)


class CommandQueue:
    """One hardware command queue: a SimPy process that runs its commands in order."""

    def __init__(self, device, index):
        self.device, self.index, self.env = device, index, device.env
        self.items = simpy.Store(self.env)
        self.pending = deque()  # items whose end the host has not seen
        self.programs = {}  # sub-device -> event: end of the last program issued here
        self.staged = deque()  # (bytes of configuration, end event) of programs that hold ring space
        self.outstanding_bytes = 0
        self.next_event_id = 1
        self.env.process(self._serve())

    def put(self, work, stamp, queue_bytes=0):
        """Issue a command; returns its `Item`, whose `done` event succeeds at its end."""
        item = Item(work, stamp, queue_bytes, self.env.event())
        self.pending.append(item)
        self.outstanding_bytes += queue_bytes
        self.items.put(item)
        return item

    def retire(self):
        """Forget commands that have ended."""
        while self.pending and self.pending[0].done.processed:
            self.outstanding_bytes -= self.pending.popleft().queue_bytes

    def _serve(self):
        while True:
            item = yield self.items.get()
            if item.stamp > self.env.now:
                yield self.env.timeout(item.stamp - self.env.now)
            try:
                item.result = yield from item.work(self)
            except TensimError as error:
                self.device.failed = error
                raise
            item.done.succeed(item.result)

    # --- what commands do

    def wait_programs(self, sub_devices):
        """Stall until the programs issued here on these sub-devices have ended."""
        for sub_device in sub_devices:
            last = self.programs.get(sub_device)
            if last is not None and not last.processed:
                yield last

    def transfer(self, n_bytes, pages, write):
        """Move bytes over PCIe in pieces of one command, sharing each direction with the other queue."""
        piece, costs = self.device.arch["dispatch.max_command_bytes"], self.device.costs
        link = self.device.pcie_down if write else self.device.pcie_up
        left, left_pages = n_bytes, pages
        while left > 0:
            count = min(left, piece)
            part = left_pages if count == left else left_pages * count // left
            with link.request() as turn:
                yield turn
                yield self.env.timeout(costs.transfer(count, part, write))
            left, left_pages = left - count, left_pages - part

    def run_program(self, launch, cost, sub_device):
        """Write a program's configuration, then leave the go signal and the end to the subordinate
        dispatcher.
        """
        yield from self._reserve(cost.ring_bytes)
        yield self.env.timeout(self.device.costs.configuration(cost))
        before, done = self.programs.get(sub_device), self.env.event()
        self.programs[sub_device] = done
        self.staged.append((cost.ring_bytes, done))
        self.env.process(self._go(launch, before, done, sub_device))

    def _reserve(self, size):
        ring, depth = (
            self.device.arch["dispatch.config_ring_bytes"],
            self.device.arch["dispatch.launch_ring_entries"],
        )
        if size > ring:
            raise ProgramError(
                f"a program needs {size} B of kernel configuration (binaries, arguments, circular buffers) "
                f"per core; the ring has {ring} B"
            )
        while self.staged and (len(self.staged) >= depth or sum(used for used, _ in self.staged) + size > ring):
            _, done = self.staged[0]
            if not done.processed:
                yield done
            self.staged.popleft()

    def _go(self, launch, before, done, sub_device):
        device = self.device
        if before is not None and not before.processed:
            yield before
        try:
            with device.workers[sub_device].request() as turn:
                yield turn
                yield self.env.timeout(device.costs["go"])
                yield self.env.launch(device.lane, launch)
                yield self.env.timeout(device.costs["done"])
        except TensimError as error:
            device.failed = error
            raise
        done.succeed()
