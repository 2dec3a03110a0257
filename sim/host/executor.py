"""The executor: owns every host object by its integer id and carries out command records.

A `Simulation` holds one SimPy environment and one imperative host timeline.  A call is charged host time,
stamped, and handed to a queue; a blocking call advances the environment until the awaited end.  The
environment never runs ahead of the host, so results do not depend on when Python looks
(docs/hardware/runtime.md#time).
"""

import itertools
import threading
import weakref

from simpy.core import EmptySchedule

from tensim.sim.arch.loader import Arch, load_arch
from tensim.sim.errors import CommandFault, DeadlockError, EndlessWaitError, TensimError, UsageError
from tensim.sim.host import commands as c
from tensim.sim.host import metal_trace
from tensim.sim.host.binding import bind
from tensim.sim.host.buffers import L1, L1_SMALL, check_transfer, expand, read_pages, write_pages
from tensim.sim.host.device import Device
from tensim.sim.host.host_device import HostDevice
from tensim.sim.host.knowledge import Knowledge
from tensim.sim.host.program import Program, ProgramCircularBuffer, ProgramKernel, check_semaphore_value
from tensim.sim.host.queue import failure_of, turn
from tensim.sim.host.topology import MAX_CHIPS, topology_of
from tensim.sim.loop.environment import FS_PER_NS, Environment

SEMAPHORE_BYTES = 4
DELETING = (c.DeleteBuffer, c.DeleteProgram, c.DeleteGlobalSemaphore)
WAITING_CALLS = ("sync", "poll")  # host calls that issue nothing: they see what has happened
_ids = itertools.count(1)
_turns = threading.RLock()  # a command of one thread at a time: systems share compiled code, tables and caches
_openers = weakref.WeakKeyDictionary()  # open device -> thread that has opened it


def new_id():
    """A fresh global object id."""
    return next(_ids)


def refuse_other_threads(number):
    """UsageError when another thread has devices open: calls of two threads have no order, and then neither have cycles."""
    for device, thread in _openers.items():
        if thread is not threading.current_thread() and thread.is_alive() and not device.closed:
            raise UsageError(
                f"device {number} cannot be opened in {threading.current_thread().name}: {thread.name} has device {device.id} "
                "open, and a process simulates the devices of one thread",
                hint="open all devices in one thread, or give each thread's work a process of its own (multiprocessing)",
            )


class Host:
    """The imperative host timeline; `now_fs` in femtoseconds.

    `enqueue_fs`, `sync_fs`: time spent so far in calls that issue commands (with their copies), and in waiting; `known`: what it
    has seen to be over.
    """

    def __init__(self):
        self.now_fs, self.enqueue_fs, self.sync_fs, self.costs = 0, 0, 0, {}
        self.known = Knowledge()

    def use_costs(self, arch):
        """Charge calls with the `host:` parameters of an architecture from now on."""
        self.costs = arch.section("host")

    def cost(self, name):
        """Time of one host call by the name of its parameter (`<name>_ns`), in femtoseconds; 0 before the first device."""
        return round(self.costs.get(f"{name}_ns", 0) * FS_PER_NS)

    def charge(self, name):
        """Charge one host call by the name of its parameter."""
        cost = self.cost(name)
        self.now_fs += cost
        if name in WAITING_CALLS:
            self.sync_fs += cost
        else:
            self.enqueue_fs += cost

    def copy(self, n_bytes, piece):
        """Charge a copy into device-visible memory; returns when the first `piece` bytes are there."""
        begun, rate = self.now_fs, self.costs["copy_bytes_per_ns"]
        self.compute(n_bytes / rate)
        self.enqueue_fs += self.now_fs - begun
        return begun + round(min(n_bytes, piece) / rate * FS_PER_NS)

    def compute(self, ns):
        """Let the host work for `ns` nanoseconds."""
        self.work(round(ns * FS_PER_NS))

    def work(self, fs):
        """Let the host work for `fs` femtoseconds."""
        if fs < 0:
            raise UsageError(f"the host cannot work for {fs / FS_PER_NS:g} ns")
        self.now_fs += fs

    def reach(self, fs):
        """What happened until `fs` is simulated: the host is not before that."""
        self.now_fs = max(self.now_fs, fs)

    def wait_until(self, fs):
        """The host wakes up at `fs` (or later, when it is later already) and pays for the wake-up."""
        begun = self.now_fs
        self.reach(fs)
        self.sync_fs += self.now_fs - begun
        self.charge("sync")


class Simulation:
    """One environment, one host timeline, one executor.  `programs` may come from an earlier system.

    `topology`: links between host and chips; None until the first device is opened, when every chip gets PCIe of its own.
    """

    def __init__(self, programs=None):
        self.env, self.host, self.topology = Environment(), Host(), None
        self.executor = Executor(self, programs)


class Ready:
    """A program as an enqueue made it ready.  `depends`: what would have made it another one; `frozen`: `FrozenProgram`."""

    __slots__ = ("depends", "frozen", "_bound")

    def __init__(self, depends, frozen):
        self.depends, self.frozen, self._bound = depends, frozen, None

    def bound(self, device):
        """`BoundProgram`; with checks a new one each time, which names the buffers that are there now."""
        if self._bound is None or device.chip.checks is not None:
            self._bound = bind(self.frozen, device)
        return self._bound


class RecordedEvent:
    """An event of the host API; `done`: SimPy event of its last recording, None before the first.

    `time`: femtosecond at which it happened; `error`: what it reports as failed; `needs`: events that it fails with;
    `signalled`: the host has seen to it that it happens; `known`: what is over for who waits for it.
    """

    __slots__ = ("device", "queue", "number", "done", "time", "error", "needs", "signalled", "known")

    def __init__(self):
        self.device, self.queue, self.number, self.done = None, None, 0, None
        self.time, self.error, self.needs, self.signalled, self.known = None, None, (), False, None

    def happen(self, time, error=None):
        """It happens now, at `time`."""
        self.time, self.error = time, error
        self.done.succeed()


class GlobalSemaphore:
    """A semaphore that outlives programs: one word at the same L1 address of its cores."""

    def __init__(self, device, cores, address, buffer_type):
        self.device, self.cores, self.address, self.buffer_type = device, cores, address, buffer_type


class Executor:
    """Carries out records.  `submit` returns what the host call returns."""

    def __init__(self, system, programs=None):
        self.system, self.env, self.host = system, system.env, system.host
        self.devices, self.buffers, self.events, self.global_semaphores = {}, {}, {}, {}
        self.hosts = {}  # id -> HostDevice
        self.programs = {} if programs is None else programs
        self._carried_out = None  # name of the command that is carried out
        self._under_way, self._deleted = 0, []  # commands in one another; deletions that came meanwhile
        self.rewrites = []  # each turns a record into the one that is carried out (`tensim.analysis.what_if`)
        self.observers = []  # called with (record, result) after each command
        self.orders_itself = (
            False  # who issues commands sees to their order: a command comes behind all that is over then
        )
        self.captures = []  # `check(record)` may refuse a command; `add(record, result, host time of the call)` follows it

    def submit(self, record):
        """Carry out one record.  Raises UsageError or ProgramError; see the handlers.

        Threads take turns, a record each; what calls cost is charged to the one host timeline in that order.
        Python lets go of objects at any moment and in any thread: what that deletes in the middle of a command is deleted behind
        it, for the thread that it happens in may be one that the command waits for.
        """
        deletes = isinstance(record, DELETING)
        if (deletes and self._under_way) or not _turns.acquire(blocking=not deletes):
            self._deleted.append(record)
            return None
        try:
            self._under_way += 1
            try:
                result = self._carry_out(record)
            finally:
                self._under_way -= 1
            while self._deleted and not self._under_way:
                self.submit(self._deleted.pop(0))
        finally:
            _turns.release()
        return result

    def _carry_out(self, record):
        for rewrite in self.rewrites:
            record = rewrite(record)
        for capture in self.captures:
            capture.check(record)
        called_fs = self.host.now_fs
        self._carried_out, outer = type(record).__name__, self._carried_out
        result = HANDLERS[type(record)](self, record)
        self._carried_out = outer
        self._log_call(record, called_fs)
        for observer in self.observers:
            observer(record, result)
        for capture in self.captures:
            capture.add(record, result, called_fs)
        return result

    # --- look-ups

    def device(self, number):
        """An open, working device."""
        device = self.devices.get(number)
        if device is None:
            raise UsageError(f"device {number} is not open")
        if device.failed is not None:
            raise UsageError(
                f"device {number} stopped after an error: {device.failed}", hint="close it and open it again"
            )
        return device

    def queue(self, record):
        """(device, queue) of a queue command."""
        device = self.hosts.get(record.device) or self.device(record.device)
        if not 0 <= record.queue < len(device.queues):
            raise UsageError(f"device {device.id} has no command queue {record.queue}; it has {len(device.queues)}")
        return device, device.queues[record.queue]

    def buffer(self, number):
        """A buffer that is allocated."""
        buffer = self.buffers.get(number)
        if buffer is None or not buffer.allocated:
            raise UsageError(f"buffer {number} is deallocated")
        return buffer

    def program(self, number):
        """A program by id."""
        if number not in self.programs:
            raise UsageError(f"there is no program {number}")
        return self.programs[number]

    def value_of(self, device, kind, key, otherwise):
        """What an argument that stands for something is on a device now; `otherwise` when that is gone.

        UsageError for a worker core that the device does not have.
        """
        if kind == c.Reference.BUFFER_ADDRESS and key in self.buffers:
            return self.buffers[key].address
        if kind == c.Reference.GLOBAL_SEMAPHORE_ADDRESS and key in self.global_semaphores:
            return self.global_semaphores[key].address
        if kind in (c.Reference.WORKER_X, c.Reference.WORKER_Y):
            core = key & 0xFFFF, key >> 16
            device.check_cores([core], "an argument that stands for a worker core")
            return device.arch.worker_coords[device.worker(core)][kind - c.Reference.WORKER_X]
        return otherwise

    # --- waiting

    def wait(self, device, item_done):
        """Advance the environment to an event and move the host there.  Marks the device that fails."""
        try:
            self.env.run_until(item_done)
        except EmptySchedule:
            self.host.reach(self.env.now)
            device.failed = self._stuck(device)
            device.stop()
            raise device.failed from None
        except BaseException as error:
            self._mark_failed(error, device)
            raise
        self.host.wait_until(self.env.now)

    def _mark_failed(self, error, waiting=None):
        """Stop the device that failed; whatever was to happen on it fails for the same reason.  The host knows it now."""
        self.host.reach(self.env.now)
        failed = self.env.failed_chip
        for device in self.devices.values():
            if device.chip is failed and device.failed is None:
                device.failed = error
        self.env.failed_chip = None
        if waiting is not None and not isinstance(error, TensimError):  # Ctrl-C or a defect: the state is unknown
            text = str(error) if isinstance(error, KeyboardInterrupt) and str(error) else "interrupted"
            waiting.failed = TensimError(text, kind="interrupted")
        for device in self.devices.values():
            if device.failed is not None:
                device.stop()
                self._fail_events(device)

    def _fail_events(self, device):
        for event in self.events.values():
            if event.device == device.id and event.done is not None and not event.done.triggered:
                event.happen(self.env.now, CommandFault(device.failed.message, where=device.failed.where))

    @staticmethod
    def _stuck(device):
        waiting = [f"queue {q.index}: {len(q.pending)} commands" for q in device.queues if q.pending]
        return DeadlockError(f"deadlock: the queues of device {device.id} wait for each other ({'; '.join(waiting)})")

    def catch_up(self, device=None):
        """Advance the environment to exactly the host's time, unless it is in a process of the environment, whose time is
        that already.  Marks the device that fails.
        """
        if self.env.active_process is not None:
            return
        try:
            self.env.run_to(self.host.now_fs)
        except BaseException as error:
            self._mark_failed(error, device)
            raise

    def issue(self, device, queue, work, queue_bytes=0, stamp=None, marks=False):
        """Put a command into a queue; the host blocks while the issue queue is full.

        `stamp`: when the device may start the command, if that is before the host's time; `marks`: see
        `tensim.sim.host.queue.Item`.
        """
        queue.retire()
        if queue.outstanding_bytes + queue_bytes > queue.capacity:
            self.catch_up(device)
            queue.retire()
        while queue.pending and queue.outstanding_bytes + queue_bytes > queue.capacity:
            oldest = queue.pending[0]
            self.wait(device, oldest.done)
            self.seen(oldest)
            queue.retire()
        item = queue.put(work, self.host.now_fs if stamp is None else stamp, queue_bytes, marks)
        item.known = self.known_now()
        log = getattr(device, "chip", None) and device.chip.host_log
        if log and log.on:
            log.commands.append((self._carried_out, queue.index, item))
        return item

    def log_zone(self, name, begun_fs):
        """Note a zone that the program has marked from a time of the host to now, for every chip whose log is on."""
        for device in self.devices.values():
            if device.chip.host_log.on:
                device.chip.host_log.zones.append((name, begun_fs, self.host.now_fs))

    def _log_call(self, record, called_fs):
        """Note a call that took the host time, for the chip whose log is on."""
        device = self.devices.get(getattr(record, "device", None))
        if device is not None and device.chip.host_log.on and self.host.now_fs > called_fs:
            device.chip.host_log.calls.append((type(record).__name__, called_fs, self.host.now_fs))

    def finish(self, device, queue, sub_devices):
        """Wait until everything issued to a queue has ended."""

        def work(queue):
            yield from queue.wait_programs(sub_devices)
            yield self.env.timeout(device.costs["event"])

        self.host.charge("enqueue_event")
        item = self.issue(device, queue, work)
        self.wait(device, item.done)
        self.seen(item)
        queue.retire()

    def seen(self, item):
        """The host has seen the end of a command."""
        self.host.known.join(item.known)

    def known_now(self):
        """What is over for a command that is issued now: what the host has seen; within simulated time, all that is."""
        known = self.host.known.copy()
        if self.orders_itself or self.env.active_process is not None:
            for device in self.devices.values():
                if device.follows_queues:
                    known.of(device.chip.checks)[:] = device.chip.checks.clocks_now()
        return known

    # --- devices

    def create_device(self, r):
        from tensim.sim.chip.chip import Chip

        if r.device in self.devices:
            raise UsageError(f"device {r.device} is already open")
        refuse_other_threads(r.device)
        arch = r.arch if isinstance(r.arch, Arch) else load_arch(r.arch)
        if not 1 <= r.num_hw_cqs <= arch["dispatch.max_queues"]:
            raise UsageError(f"num_hw_cqs is {r.num_hw_cqs}; a device has 1 or {arch['dispatch.max_queues']} queues")
        chip = Chip(arch, r.numerics, r.noc, r.max_cycles, r.seed, r.check)
        self.host.use_costs(arch)
        self.host.charge("call")
        self.env.run_to(self.host.now_fs)
        if self.system.topology is None:
            self.system.topology = topology_of(self.env, f"cards({MAX_CHIPS})", arch)
        device = self.devices[r.device] = Device(r, arch, chip, self.system)
        _openers[device] = threading.current_thread()
        return device

    def close_device(self, r):
        device = self.devices.get(r.device)
        if device is None:
            return False
        try:
            if device.failed is None:
                for queue in device.queues:
                    queue.capture = None
                    self.finish(device, queue, tuple(range(len(device.manager.sub_devices))))
        finally:
            device.close()
            del self.devices[r.device]
        return True

    def create_host_device(self, r):
        if r.device in self.hosts or r.device in self.devices:
            raise UsageError(f"device {r.device} is already open")
        device = self.hosts[r.device] = HostDevice(r.device, r.num_queues, self.env)
        return device

    # --- buffers

    def create_buffer(self, r):
        device = self.device(r.device)
        self.host.charge("call")
        buffer = self.buffers[r.buffer] = device.create_buffer(r)
        if buffer.owned:
            metal_trace.warn_of_allocation(device, f"buffer {r.buffer}")
        return buffer

    def deallocate_buffer(self, r):
        buffer = self.buffers.get(r.buffer)
        if buffer is not None and buffer.device in self.devices:
            self.host.charge("call")
            self.devices[buffer.device].free_buffer(buffer)

    def delete_buffer(self, r):
        buffer = self.buffers.pop(r.buffer, None)
        if buffer is not None and buffer.device in self.devices:
            self.devices[buffer.device].free_buffer(buffer, dropped=True)

    def _transfer_target(self, r, offset, size):
        device, queue = self.queue(r)
        queue.refuse_capture(f"a transfer of buffer {r.buffer}")
        buffer = self.buffer(r.buffer)
        if buffer.device != device.id:
            raise UsageError(f"buffer {buffer.id} is on device {buffer.device}, the queue on device {device.id}")
        check_region(buffer, offset, size)
        return device, queue, buffer

    def write_buffer(self, r):
        device, queue, buffer = self._transfer_target(r, r.offset, len(r.data))
        self.host.charge("enqueue_transfer")
        stamp = self.host.copy(len(r.data), device.arch["dispatch.max_command_bytes"])
        group, pages = device.manager.stall_group, len(r.data) // max(buffer.page_size, 1)

        def work(queue):
            yield from queue.wait_programs(group)
            yield from queue.transfer(len(r.data), pages, write=True)
            check_transfer(device, queue, buffer, r.offset, len(r.data), writes=True)
            write_pages(device, buffer, r.offset, r.data)

        item = self.issue(device, queue, work, len(r.data), stamp)
        if r.blocking:
            self.finish(device, queue, group)
        return item

    def read_buffer(self, r):
        """Returns the queue item whose `result` is the bytes (None if they are not wanted) once it is done."""
        device, queue, buffer = self._transfer_target(r, r.offset, r.size)
        self.host.charge("enqueue_transfer")
        group, pages = device.manager.stall_group, r.size // max(buffer.page_size, 1)

        def work(queue):
            yield from queue.wait_programs(group)
            yield from queue.transfer(r.size, pages, write=False)
            check_transfer(device, queue, buffer, r.offset, r.size, writes=False)
            return read_pages(device, buffer, r.offset, r.size) if r.fetch else None

        item = self.issue(device, queue, work)
        if r.blocking:
            self.finish(device, queue, group)
        return item

    def look_at_buffer(self, number, queue_number):
        """An event whose value is the bytes of a buffer when everything issued to a queue of its device so far has ended.

        That takes no time, neither the host's nor the device's.
        """
        buffer = self.buffer(number)
        device = self.device(buffer.device)
        queue, seen = device.queues[queue_number], self.env.event()

        def look(programs):
            for program in programs:
                if not program.processed:
                    yield program
            seen.succeed(read_pages(device, buffer, 0, buffer.size))

        def work(queue):
            queue.spawn(look(list(queue.programs.values())))
            yield from ()

        self.issue(device, queue, work, marks=True)
        return seen

    def transfer_buffer(self, r):
        device, queue = self.queue(r)
        queue.refuse_capture(f"a transfer of buffer {r.source}")
        source, target = self.buffer(r.source), self.buffer(r.target)
        if source.size != target.size:
            raise UsageError(f"buffer {source.id} has {source.size} B, buffer {target.id} {target.size} B")
        ends = self.device(source.device), self.device(target.device)
        route = self.system.topology.route(ends[0].place, ends[1].place, r.via)
        self.host.charge("enqueue_transfer")
        group = device.manager.stall_group

        def work(queue):
            yield from queue.wait_programs(group)
            yield from self.system.topology.move(route, source.size, begin=queue.begin)
            check_transfer(ends[0], queue, source, 0, source.size, writes=False)
            check_transfer(ends[1], queue, target, 0, target.size, writes=True)
            write_pages(ends[1], target, 0, read_pages(ends[0], source, 0, source.size))

        return self.issue(device, queue, work)

    def compare_buffer(self, r):
        """Read a whole buffer, blocking; returns the queue item with the bytes, who compares is the caller."""
        size = self.buffer(r.buffer).size
        return self.read_buffer(c.ReadBuffer(r.device, r.queue, r.buffer, 0, size, True))

    def write_direct(self, r):
        buffer = self.buffer(r.buffer)
        check_region(buffer, 0, len(r.data))
        device = self.device(buffer.device)
        self.catch_up(device)
        write_pages(device, buffer, 0, r.data)

    def read_direct(self, r):
        buffer = self.buffer(r.buffer)
        device = self.device(buffer.device)
        self.catch_up(device)
        return read_pages(device, buffer, 0, buffer.size)

    # --- programs

    def create_program(self, r):
        self.host.charge("call")
        self.programs[r.program] = Program(r.program)

    def delete_program(self, r):
        self.programs.pop(r.program, None)
        for device in self.devices.values():
            device.cached_programs.discard(r.program)
            device.resident.pop(r.program, None)

    def create_kernel(self, r):
        program, cores = self.program(r.program), expand(r.cores)
        if not cores:
            raise UsageError(f"kernel {r.kernel.name} has no cores")
        self.host.charge("call")
        references = tuple(tuple(reference[1:]) for reference in r.references)
        return program.add_kernel(ProgramKernel(r.kernel, cores, r.config, references))

    def set_runtime_args(self, r):
        self.host.charge("call")
        self.program(r.program).set_args(r.kernel, r.cores, r.args, r.references)

    def update_runtime_arg(self, r):
        self.program(r.program).update_arg(r.kernel, r.core, r.index, r.value, r.references)

    def set_common_runtime_args(self, r):
        self.host.charge("call")
        self.program(r.program).set_common_args(r.kernel, r.args, r.references)

    def create_circular_buffer(self, r):
        program, cores = self.program(r.program), expand(r.cores)
        if not cores:
            raise UsageError("a circular buffer needs at least one core")
        self.host.charge("call")
        buffer = None if r.buffer is None else self.buffer(r.buffer)
        tiles = {index: (height, width) for index, height, width in r.tiles}
        cb = ProgramCircularBuffer(cores, r.total_size, dict(r.formats), dict(r.page_sizes), tiles, buffer, r.offset)
        return program.add_circular_buffer(cb)

    def update_circular_buffer(self, r):
        cb = self.program(r.program).circular_buffer(r.circular_buffer)
        if r.index is not None and r.index not in cb.formats:
            raise UsageError(f"the circular buffer does not use index {r.index}")
        if (r.index is None) != (r.page_size is None):
            raise UsageError("a page size belongs to an index", hint="give both, or neither")
        if r.buffer is not None and cb.buffer is None:
            raise UsageError("the circular buffer does not lie on a buffer; its address cannot be changed")
        buffer = None if r.buffer is None else self.buffer(r.buffer)
        self.host.charge("call")
        page_size = None if r.index is None else (r.index, r.page_size)
        self.program(r.program).update_circular_buffer(r.circular_buffer, r.total_size, page_size, buffer)

    def create_semaphore(self, r):
        self.host.charge("call")
        return self.program(r.program).add_semaphore(r.cores, r.initial, r.id)

    def assign_buffer(self, r):
        self.program(r.program).buffers.append(self.buffer(r.buffer))

    def compile_program(self, r):
        self._prepare(self.device(r.device), self.program(r.program))

    def _prepare(self, device, program):
        """Check a program, compile its kernels, place its circular buffers; returns what it is then (`Ready`), None without
        kernels.  What has been done is not done again for a program that is what it was, where all that it depends on is, too.
        """
        if not program.kernels:
            return None
        depends = self._depends(device, program)
        if program.ready is None or program.ready.depends != depends:
            program.ready = Ready(depends, self._prepare_anew(device, program))
        device.cache_program(program.id)
        return program.ready

    @staticmethod
    def _depends(device, program):
        """What the placement and the binding of a program depend on."""
        buffers = [cb.buffer.allocated for cb in program.circular_buffers if cb.buffer is not None]
        room = device.allocators[L1].base, device.l1_end, device.lowest_l1(None)
        return program.changes, device.session, device.manager, room, buffers

    def _prepare_anew(self, device, program):
        """The same for one that is new or has changed; returns it, frozen."""
        for what, items in (
            ("kernel", program.kernels), ("circular buffer", program.circular_buffers), ("semaphore", program.semaphores)
        ):  # fmt: skip
            for item in items:
                device.check_cores(item.cores, what)
        sub_device = device.sub_device_of(program.cores())
        here = (device.session, device.manager.id)
        if program.manager is not None and program.manager[0] == device.session and program.manager != here:
            raise UsageError(
                f"program {program.id} ran under sub-device manager {program.manager[1]} and cannot run under {here[1]}"
            )
        program.compile(device.arch)
        self.place(device, program)
        program.manager = here
        return program.snapshot(sub_device)

    @staticmethod
    def place(device, program):
        """Give the circular buffers of a program their addresses on a device.  UsageError or ProgramError when they do not fit."""
        program.check_buffers(device.id)
        base = device.allocators[L1].base
        program.place_circular_buffers(base, device.l1_end, device.lowest_l1, device.arch.dram_alignment)

    def enqueue_program(self, r):
        device, queue = self.queue(r)
        program = self.program(r.program)
        if r.blocking:
            queue.refuse_capture("waiting for a program (blocking)")
        self.host.charge("enqueue_program")
        ready = self._prepare(device, program)
        item = None if ready is None else self._enqueue_ready(device, queue, program, ready)
        if r.blocking:
            self.finish(device, queue, device.manager.stall_group)
        return item

    def enqueue_function(self, r):
        device, queue = self.queue(r)
        queue.refuse_capture(f"the function {r.name}")
        self.host.charge("enqueue_program")

        def call():
            try:
                return r.function()
            except CommandFault:
                raise
            except Exception as error:
                raise CommandFault(f"{r.name} raised {type(error).__name__}: {error}") from error

        return self.issue(device, queue, lambda queue: queue.run_function(call, r.duration_fs, r.exclusive))

    def _enqueue_ready(self, device, queue, program, ready):
        """Hand a program to its queue, or to the trace that the queue captures."""
        if queue.capture is None:
            device.resident[program.id] = len(program.kernels)
            bound = ready.bound(device)
            return self.issue(device, queue, lambda queue: queue.run_program(bound))
        if device.resident.get(program.id) != len(program.kernels):
            raise UsageError(
                f"program {program.id} ({program.kernels[0].name}) cannot be captured in trace {queue.capture.trace}: its "
                f"binaries are not on device {device.id} yet",
                hint="enqueue it once before begin_trace_capture",
            )
        queue.capture.add(device, program, ready.frozen)
        return None

    # --- global semaphores

    def create_global_semaphore(self, r):
        device, cores = self.device(r.device), expand(r.cores)
        device.check_cores(cores, "global semaphore")
        if not cores or r.buffer_type not in (L1, L1_SMALL):
            raise UsageError("a global semaphore needs cores and lies in L1 or L1_SMALL")
        check_semaphore_value(r.initial)
        self.host.charge("call")
        address = device.allocators[r.buffer_type].allocate(SEMAPHORE_BYTES)
        semaphore = self.global_semaphores[r.semaphore] = GlobalSemaphore(device, cores, address, r.buffer_type)
        self._write_semaphore(semaphore, r.initial)
        metal_trace.warn_of_allocation(device, f"global semaphore {r.semaphore}")
        return semaphore

    def reset_global_semaphore(self, r):
        semaphore = self.global_semaphores[r.semaphore]
        self.device(semaphore.device.id)
        check_semaphore_value(r.value)
        self.host.charge("enqueue_transfer")
        self._write_semaphore(semaphore, r.value)

    def _write_semaphore(self, semaphore, value):
        device = semaphore.device
        self.catch_up(device)
        if device.follows_queues:
            device.chip.checks.host_signals()
        for core in semaphore.cores:
            device.write_l1(device.worker(core), semaphore.address, value.to_bytes(SEMAPHORE_BYTES, "little"))

    def delete_global_semaphore(self, r):
        semaphore = self.global_semaphores.pop(r.semaphore, None)
        if semaphore is not None and self.devices.get(semaphore.device.id) is semaphore.device:
            semaphore.device.allocators[semaphore.buffer_type].free(semaphore.address)

    # --- events and waiting

    def event(self, number):
        """An event that has been recorded."""
        event = self.events.get(number)
        if event is None or event.done is None:
            raise UsageError("the event has not been recorded on a queue")
        return event

    def record_event(self, r):
        device, queue = self.queue(r)
        queue.refuse_capture("an event")
        group = device.check_sub_devices(r.sub_devices)
        event = self.events.setdefault(r.event, RecordedEvent())
        self.host.charge("enqueue_event")
        done = event.done = self.env.event()
        event.time, event.error, event.needs = None, None, ()
        event.device, event.queue, event.number = device.id, queue.index, queue.next_event_id
        queue.next_event_id += 1

        def work(queue):
            yield from queue.wait_programs(group)
            yield self.env.timeout(device.costs["event"])
            error, queue.failure = queue.failure or failure_of(event.needs), None
            if event.done is done:
                event.known = queue.known.copy()
                event.happen(self.env.now, error)
            else:  # recorded once more since
                done.succeed()

        self.issue(device, queue, work, marks=True)
        return event

    def wait_for_event(self, r):
        """The queue goes on behind the event, whether that failed or not: commands name what they need themselves."""
        device, queue = self.queue(r)
        queue.refuse_capture("an event")
        event = self.event(r.event)
        done = event.done
        self.host.charge("enqueue_event")

        def work(queue):
            if not done.processed:
                yield done
            queue.known.join(event.known)

        self.issue(device, queue, work)

    def synchronize_event(self, r):
        event = self.event(r.event)
        device = self.device(event.device)
        device.queues[event.queue].refuse_capture("waiting for an event")
        self.wait(device, event.done)
        self.host.known.join(event.known)
        if event.error is not None:
            raise event.error

    def query_event(self, r):
        event = self.event(r.event)
        self.host.charge("poll")
        self.catch_up()
        if event.done.processed:
            self.host.known.join(event.known)
        return event.done.processed

    def create_event(self, r):
        parts = [self.event(number) for number in r.of]
        event = self.events[r.event] = RecordedEvent()
        event.done = self.env.event()
        if parts:
            event.signalled = True
            self.env.process(self._follow(event, parts, r.any))
        return event

    def _follow(self, event, parts, first):
        """The event happens with the first or the last of its parts, and fails as those that it needs do."""
        ends = [part.done for part in parts]
        yield self.env.any_of(ends) if first else self.env.all_of(ends)
        over = sorted((part for part in parts if part.done.processed), key=lambda part: part.time)
        event.known = Knowledge()
        for part in over[:1] if first else over:
            event.known.join(part.known)
        event.happen(over[0 if first else -1].time, failure_of(over[:1] if first else over))

    def signal_event(self, r):
        event = self.event(r.event)
        if event.device is not None or event.signalled:
            raise UsageError("an event is signalled once: by the host, by the queue that recorded it, or by its parts")
        event.signalled = True
        self.host.charge("call")
        error, event.known = CommandFault(r.error) if r.error else None, self.known_now()
        at = turn(self.env, self.host.now_fs)
        at.callbacks.append(lambda _: event.happen(self.env.now, error))

    def wait_events(self, r):
        """Returns whether what was waited for has happened by the time limit.  EndlessWaitError when it never can."""
        ends = [self.event(number).done for number in r.events]
        awaited = self.env.any_of(ends) if r.any else self.env.all_of(ends)
        if r.timeout_fs is not None:
            limit = self.env.timeout(self.host.now_fs + r.timeout_fs - self.env.now)
            awaited = self.env.any_of([awaited, limit])
        try:
            self.env.run_until(awaited)
        except EmptySchedule:
            self.host.reach(self.env.now)
            raise EndlessWaitError(f"deadlock: {self._wait_graph()}") from None
        except BaseException as error:
            self._mark_failed(error)
            raise
        happened = [end.processed for end in ends]
        for number, over in zip(r.events, happened, strict=True):
            self.host.known.join(self.event(number).known if over else None)
        self.host.wait_until(self.env.now)
        return any(happened) if r.any else all(happened)

    def _wait_graph(self):
        waiting = [
            f"queue {queue.index} of device {device.id} holds {len(queue.pending)} commands"
            for device in self.devices.values()
            for queue in device.queues
            if queue.retire() is None and queue.pending
        ]
        return "; ".join(waiting) or "no command is running, so nothing can end the wait"

    def host_work(self, r):
        self.host.work(r.duration_fs)

    def finish_queues(self, r):
        device = self.device(r.device)
        group = device.check_sub_devices(r.sub_devices)
        queues = device.queues if r.queue is None else [self.queue(r)[1]]
        for queue in queues:
            queue.refuse_capture("waiting for the queue (finish)")
        for queue in queues:
            self.finish(device, queue, group)

    # --- sub-devices

    def create_sub_device_manager(self, r):
        self.host.charge("call")
        self.device(r.device).create_manager(r)

    def load_sub_device_manager(self, r):
        device = self.device(r.device)
        for queue in device.queues:
            queue.refuse_capture("a change of the sub-device manager")
        for queue in device.queues:
            self.finish(device, queue, tuple(range(len(device.manager.sub_devices))))
        device.load_manager(r.manager)

    def remove_sub_device_manager(self, r):
        self.host.charge("call")
        self.device(r.device).remove_manager(r.manager)

    def set_stall_group(self, r):
        device = self.device(r.device)
        everyone = tuple(range(len(device.manager.sub_devices)))
        if r.sub_devices is not None and not r.sub_devices:
            raise UsageError("a stall group names at least one sub-device")
        device.manager.stall_group = everyone if r.sub_devices is None else device.check_sub_devices(r.sub_devices)


def check_region(buffer, offset, size):
    """UsageError for a region that is not made of whole pages inside the buffer."""
    page = max(buffer.page_size, 1)
    if offset % page or size % page:
        raise UsageError(
            f"region of {size} B at offset {offset} is not aligned to the page size {page} B of buffer {buffer.id}"
        )
    if offset < 0 or size < 0 or offset + size > buffer.size:
        raise UsageError(f"region of {size} B at offset {offset} is outside buffer {buffer.id} of {buffer.size} B")


HANDLERS = {
    c.CreateDevice: Executor.create_device,
    c.CloseDevice: Executor.close_device,
    c.CreateHostDevice: Executor.create_host_device,
    c.CreateBuffer: Executor.create_buffer,
    c.DeallocateBuffer: Executor.deallocate_buffer,
    c.DeleteBuffer: Executor.delete_buffer,
    c.WriteBuffer: Executor.write_buffer,
    c.ReadBuffer: Executor.read_buffer,
    c.CompareBuffer: Executor.compare_buffer,
    c.WriteDirect: Executor.write_direct,
    c.ReadDirect: Executor.read_direct,
    c.CreateProgram: Executor.create_program,
    c.DeleteProgram: Executor.delete_program,
    c.CreateKernel: Executor.create_kernel,
    c.SetRuntimeArgs: Executor.set_runtime_args,
    c.UpdateRuntimeArg: Executor.update_runtime_arg,
    c.SetCommonRuntimeArgs: Executor.set_common_runtime_args,
    c.CreateCircularBuffer: Executor.create_circular_buffer,
    c.UpdateCircularBuffer: Executor.update_circular_buffer,
    c.CreateSemaphore: Executor.create_semaphore,
    c.AssignBufferToProgram: Executor.assign_buffer,
    c.CompileProgram: Executor.compile_program,
    c.CreateGlobalSemaphore: Executor.create_global_semaphore,
    c.ResetGlobalSemaphore: Executor.reset_global_semaphore,
    c.DeleteGlobalSemaphore: Executor.delete_global_semaphore,
    c.EnqueueProgram: Executor.enqueue_program,
    c.RecordEvent: Executor.record_event,
    c.WaitForEvent: Executor.wait_for_event,
    c.SynchronizeEvent: Executor.synchronize_event,
    c.QueryEvent: Executor.query_event,
    c.CreateEvent: Executor.create_event,
    c.SignalEvent: Executor.signal_event,
    c.WaitEvents: Executor.wait_events,
    c.HostWork: Executor.host_work,
    c.EnqueueFunction: Executor.enqueue_function,
    c.TransferBuffer: Executor.transfer_buffer,
    c.Finish: Executor.finish_queues,
    c.BeginTraceCapture: metal_trace.begin_trace_capture,
    c.EndTraceCapture: metal_trace.end_trace_capture,
    c.ReplayTrace: metal_trace.replay_trace,
    c.ReleaseTrace: metal_trace.release_trace,
    c.LoadTrace: metal_trace.load_trace,
    c.CreateSubDeviceManager: Executor.create_sub_device_manager,
    c.LoadSubDeviceManager: Executor.load_sub_device_manager,
    c.RemoveSubDeviceManager: Executor.remove_sub_device_manager,
    c.SetStallGroup: Executor.set_stall_group,
}
