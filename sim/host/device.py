"""A device as the executor keeps it: chip and its clock, allocators, sub-devices, command queues."""

import contextlib
import itertools

import simpy

from tensim.sim.errors import CommandFault, ProgramError, UsageError
from tensim.sim.host.allocator import Allocator
from tensim.sim.host.buffers import (
    BUFFER_TYPE_NAMES,
    DRAM,
    INTERLEAVED,
    L1,
    L1_SMALL,
    LAYOUT_NAMES,
    SYSTEM_MEMORY,
    TRACE,
    Buffer,
    aligned_page,
    expand,
    shard_cores,
    shard_geometry,
)
from tensim.sim.host.dispatch import CommandQueue, Costs
from tensim.sim.host.sub_devices import SubDeviceManager
from tensim.sim.host.topology import HOST
from tensim.sim.loop.environment import FS_PER_NS

_sessions = itertools.count()
_watching = []  # called with each device when it has been opened


@contextlib.contextmanager
def watched(watch):
    """A block in which `watch` is called with each device that is opened, by whatever program: with its state, this `Device`."""
    _watching.append(watch)
    try:
        yield
    finally:
        _watching.remove(watch)


class Device:
    """State of an open device.  `failed`: the error that stopped it, or None; `fabric`: the `Fabric` of its mesh, or None."""

    def __init__(self, command, arch, chip, system):
        env = system.env
        self.id, self.arch, self.chip, self.env, self.opened_with = command.device, arch, chip, env, command
        self.fabric = None
        self.session = next(_sessions)  # tells apart two openings of the same device
        self.costs, self.failed, self.faults, self.closed = Costs(arch), None, [], False
        self.l1_small_size = command.l1_small_size
        self.clock = env.add_chip(chip, lookahead=self.costs["done"] + self.costs["go"])
        chip.host_log.origin_fs = self.clock.origin
        self.topology, self.place = system.topology, f"chip{self.id}"
        self.down, self.up = (self.topology.route(*ends) for ends in ((HOST, self.place), (self.place, HOST)))
        self._build_allocators(command)
        all_cores = set(expand([(0, 0, arch.grid[0] - 1, arch.grid[1] - 1)]))
        self.default_manager = SubDeviceManager(None, [all_cores])
        self.managers = {}
        self.activate(self.default_manager)
        self.num_queues = 0 if command.minimal else command.num_hw_cqs
        self.queues = [CommandQueue(self, index) for index in range(self.num_queues)]
        self.follows_queues = chip.checks is not None and self.num_queues > 1  # else there is one order of all commands
        self.program_cache_on, self.cached_programs = False, set()  # ids of programs finalised here
        self.resident = {}  # program id -> number of its kernels whose binaries are on the device
        self.trace_region_size = command.trace_region_size
        self.traces, self.warned_of_allocation = {}, False  # id -> tensim.sim.host.metal_trace.Trace
        self.buffers = {}  # id -> Buffer, as long as allocated
        self.freed = {}  # for checks: id -> address of buffers that the host has deallocated
        # told of every program's start, `launched(launch id, Launch, when it was issued, trace as in run_program)`, and `closing()`
        self.observers = []
        for watch in _watching:
            watch(self)

    def _build_allocators(self, command):
        arch = self.arch
        l1_end = arch.l1_size - command.l1_small_size
        dram_end = arch.dram_bank_bytes - command.trace_region_size
        workers, banks = self.chip.n_workers, arch.dram_banks
        if min(command.l1_small_size, command.trace_region_size) < 0:
            raise UsageError(
                f"l1_small_size {command.l1_small_size} and trace_region_size {command.trace_region_size} are sizes in bytes"
            )
        if l1_end <= arch.l1_user_base or dram_end <= 0:
            raise UsageError(
                f"l1_small_size {command.l1_small_size} or trace_region_size {command.trace_region_size} "
                "leaves no memory"
            )
        l1, dram = arch["alignment.l1_block"], arch.dram_alignment
        self.l1_end = l1_end
        self.chip.protect_trace_region(dram_end)
        self.allocators = {
            DRAM: Allocator("DRAM", banks, arch["dram.user_base"], dram_end, dram, bottom_up=True),
            L1: Allocator("L1", workers, arch.l1_user_base, l1_end, l1, bottom_up=False),
            L1_SMALL: Allocator("L1_SMALL", workers, l1_end, arch.l1_size, l1, bottom_up=False),
            TRACE: Allocator("TRACE", banks, dram_end, arch.dram_bank_bytes, dram, bottom_up=True),
        }

    # --- program cache

    def enable_program_cache(self):
        """Remember programs from now on."""
        self.program_cache_on = True

    def disable_program_cache(self):
        """Forget the remembered programs and remember no others."""
        self.program_cache_on = False
        self.cached_programs.clear()

    def cache_program(self, number):
        """Remember a program that is finalised, while the cache is on."""
        if self.program_cache_on:
            self.cached_programs.add(number)

    # --- traces

    def trace(self, number):
        """A trace by its id; UsageError for an unknown one."""
        if number not in self.traces:
            known = ", ".join(map(str, self.traces)) or "none"
            raise UsageError(f"device {self.id} has no trace {number}", hint=f"its traces: {known}")
        return self.traces[number]

    # --- cores

    def check_cores(self, cores, what):
        """UsageError for cores outside the logical grid."""
        width, height = self.arch.grid
        for x, y in cores:
            if not (0 <= x < width and 0 <= y < height):
                raise UsageError(f"{what}: core ({x},{y}) is outside the {width}x{height} grid of worker cores")

    def worker(self, core):
        """Worker index of a logical core."""
        return core[1] * self.arch.grid[0] + core[0]

    def write_l1(self, worker, address, data):
        """Write into the L1 of a worker core now; wakes the kernels that poll a word of it."""
        self.chip.memory.write_l1(worker, address, data, self.clock.cycle_from(self.env.now))

    def inject_fault(self, at_fs, what):
        """Let the command that the device carries out at `at_fs` fail."""
        self.faults.append((at_fs, what))

    def fault(self, begun, ended):
        """The fault that was injected into a time, once; None when there is none."""
        for at, what in self.faults:
            if begun <= at < max(ended, begun + 1):
                self.faults.remove((at, what))
                return CommandFault(f"{what} failed at {at / FS_PER_NS:.0f} ns on device {self.id} (an injected fault)")
        return None

    def close(self):
        """Forget the chip; its buffers are gone."""
        for observer in self.observers:
            observer.closing()
        self.env.remove_chip(self.chip)
        for buffer in list(self.buffers.values()):
            buffer.allocated = False
        self.chip.close()
        self.closed = True
        if self.fabric is None:
            self.chip.free()
        else:
            self.fabric.leave(self)

    def stop(self):
        """Drop everything under way after a failure; memory keeps its contents."""
        for queue in self.queues:
            queue.stop()
        self.chip.abort()

    def restart(self):
        """Go on after a failure, which has dropped what was under way and queued: it never ends.  Memory and time stay."""
        self.chip.restart()
        self.clock.waiting.clear()
        self.queues = [CommandQueue(self, index) for index in range(self.num_queues)]
        self.activate(self.manager)
        self.failed = None

    # --- sub-devices

    def activate(self, manager):
        """Make a sub-device manager the active one."""
        self.manager = manager
        self.workers = [simpy.Resource(self.env) for _ in manager.sub_devices]

    def check_sub_devices(self, sub_devices):
        """The sub-devices to wait for; () means the stall group.  UsageError for an unknown one."""
        for number in sub_devices:
            if not 0 <= number < len(self.manager.sub_devices):
                raise UsageError(f"device {self.id} has no sub-device {number}")
        return tuple(sub_devices) or self.manager.stall_group

    # --- memory

    def allocator_of(self, buffer_type, sub_device):
        """Allocator of a buffer."""
        if sub_device is None:
            return self.allocators[buffer_type]
        if not self.manager.allocators:
            raise UsageError("the active sub-device manager has no local L1 (local_l1_size 0)")
        return self.manager.allocators[sub_device]

    def create_buffer(self, command):
        """Check and allocate a buffer."""
        self._check_buffer(command)
        arch = self.arch
        in_dram = command.buffer_type in (DRAM, TRACE)
        buffer = Buffer(
            command.buffer,
            self.id,
            command.size,
            command.page_size,
            command.buffer_type,
            command.layout,
            aligned_page(command.page_size, command.buffer_type, arch),
            arch.dram_banks if in_dram else self.chip.n_workers,
            command.shard,
            sub_device=command.sub_device,
        )
        if command.shard is not None:
            self._shard(buffer, command, in_dram)
        if command.size:
            self._allocate(buffer, command)
        else:
            buffer.address, buffer.owned = 0, False
        buffer.allocated = True
        self.buffers[buffer.id] = buffer
        return buffer

    def _check_buffer(self, command):
        if command.buffer_type == SYSTEM_MEMORY or command.buffer_type not in self.allocators:
            names = ", ".join(BUFFER_TYPE_NAMES[kind] for kind in self.allocators)
            raise UsageError(f"buffers of type {command.buffer_type} cannot be allocated", hint=f"one of {names}")
        if not 0 <= command.layout < len(LAYOUT_NAMES):
            raise UsageError(f"there is no memory layout {command.layout}", hint=f"one of {', '.join(LAYOUT_NAMES)}")
        if command.size < 0 or command.page_size < 0 or (command.size and not command.page_size):
            raise UsageError(f"buffer size {command.size} B with page size {command.page_size} B")
        if command.size and command.size % command.page_size:
            raise UsageError(f"buffer size {command.size} B is not a multiple of the page size {command.page_size} B")
        if (command.layout != INTERLEAVED) != (command.shard is not None):
            need = "needs" if command.shard is None else "must not have"
            raise UsageError(f"layout {LAYOUT_NAMES[command.layout]} {need} shard parameters")
        if command.sub_device is not None and (command.shard is None or command.buffer_type != L1):
            raise UsageError("a buffer of a sub-device must be sharded and in L1")

    def _shard(self, buffer, command, in_dram):
        buffer.shard_pages, shards = shard_geometry(command, buffer.num_pages)
        buffer.cores = shard_cores(command, shards)
        if in_dram:
            for x, y in buffer.cores:
                if y or not 0 <= x < buffer.banks:
                    raise UsageError(f"DRAM shard core ({x},{y}) is not one of (0..{buffer.banks - 1}, 0)")
            buffer.shard_banks = [x for x, _ in buffer.cores]
            return
        self.check_cores(buffer.cores, "shard grid")
        buffer.shard_banks = [self.worker(core) for core in buffer.cores]
        if command.sub_device is not None:
            self.check_sub_devices((command.sub_device,))
            if not set(buffer.cores) <= self.manager.sub_devices[command.sub_device]:
                raise UsageError(f"a shard core is outside sub-device {command.sub_device}")

    def _allocate(self, buffer, command):
        if command.address is not None:
            limit = self.arch.dram_bank_bytes if buffer.in_dram else self.arch.l1_size
            if command.address < 0 or command.address + buffer.size_per_bank > limit:
                raise UsageError(
                    f"buffer of {buffer.size_per_bank} B per bank at {command.address:#x} does not fit {limit} B"
                )
            buffer.address, buffer.owned = command.address, False
            return
        allocator = self.allocator_of(command.buffer_type, command.sub_device)
        total = buffer.num_dev_pages * buffer.aligned_page_size
        buffer.address = allocator.allocate(buffer.size_per_bank, total, command.bottom_up)
        buffer.manager = self.manager.id

    def free_buffer(self, buffer, dropped=False):
        """Give the memory back; idempotent.  The address stays readable.  `dropped`: nobody asked for it, the object is gone."""
        if not buffer.allocated:
            return
        if buffer.owned:
            if buffer.sub_device is not None and buffer.manager != self.manager.id:
                raise ProgramError(
                    f"buffer {buffer.id} belongs to sub-device manager {buffer.manager}; "
                    f"manager {self.manager.id} is active"
                )
            self.allocator_of(buffer.buffer_type, buffer.sub_device).free(buffer.address)
        buffer.allocated = False
        if self.chip.checks is not None and not dropped:
            self.freed[buffer.id] = buffer.address
        self.buffers.pop(buffer.id, None)

    def lowest_l1(self, core):
        """Lowest address of an L1 buffer on a core (allocation is lock-step: the same on all), or None."""
        return self.allocators[L1].lowest()
