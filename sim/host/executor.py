"""The executor: owns every host object by its integer id and carries out command records.

A `Simulation` holds one SimPy environment and one imperative host timeline.  A call is charged host time,
stamped, and handed to a queue; a blocking call advances the environment until the awaited end.  The
environment never runs ahead of the host, so results do not depend on when Python looks
(docs/hardware/runtime.md#time).
"""

import itertools
import threading

from simpy.core import EmptySchedule

from tensim.sim.errors import CommandFault, DeadlockError, TensimError, UsageError
from tensim.sim.host import commands as c
from tensim.sim.host.handlers import HANDLERS
from tensim.sim.host.timeline import Host
from tensim.sim.loop.environment import Environment

DELETING = (c.DeleteBuffer, c.DeleteProgram, c.DeleteGlobalSemaphore)
_ids = itertools.count(1)
_turns = threading.RLock()  # a command of one thread at a time: systems share compiled code, tables and caches


def new_id():
    """A fresh global object id."""
    return next(_ids)


class Simulation:
    """One environment, one host timeline, one executor.  `programs` may come from an earlier system.

    `topology`: links between host and chips; None until the first device is opened, when every chip gets PCIe of its own.
    """

    def __init__(self, programs=None):
        self.env, self.host, self.topology = Environment(), Host(), None
        self.executor = Executor(self, programs)


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
        # who issues commands sees to their order: a command comes behind all that is over then
        self.orders_itself = False
        # Those of `system` follow its commands: `check(record)` may refuse one, `add(record, result, host time of the call)` notes
        # it.  Others are there because systems that follow each other have one list: what dies of an older one is none of theirs.
        self.captures = []

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
        captures = [capture for capture in self.captures if capture.system is self.system]
        for capture in captures:
            capture.check(record)
        called_fs = self.host.now_fs
        self._carried_out, outer = type(record).__name__, self._carried_out
        result = HANDLERS[type(record)](self, record)
        self._carried_out = outer
        self._log_call(record, called_fs)
        for observer in self.observers:
            observer(record, result)
        for capture in captures:
            capture.add(record, result, called_fs)
        return result

    # --- look-ups

    def device(self, number):
        """An open, working device."""
        device = self.devices.get(number)
        if device is None:
            raise UsageError(f"device {number} is not open", hint="create_device opens it")
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

    def event(self, number):
        """An event that has been recorded."""
        event = self.events.get(number)
        if event is None or event.done is None:
            raise UsageError("the event has not been recorded on a queue")
        return event

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
            self.mark_failed(error, device)
            raise
        self.host.wait_until(self.env.now)

    def mark_failed(self, error, waiting=None):
        """Stop the device that failed; whatever was to happen on it fails for the same reason.  The host knows it now."""
        self.host.reach(self.env.now)
        failed = self.env.failed_chip
        for device in self.devices.values():
            if device.chip is failed and device.failed is None:
                device.failed = error
                if len(self.devices) > 1 and isinstance(error, TensimError):
                    error.where["device"] = device.id
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
            self.mark_failed(error, device)
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
