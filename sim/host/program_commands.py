"""Commands that describe programs, make them ready and enqueue them.

The functions named like commands are handlers of the executor: they take it and a record.
"""

from tensim.sim.errors import CommandFault, UsageError
from tensim.sim.host.binding import bind
from tensim.sim.host.buffers import L1, expand
from tensim.sim.host.program import Program, ProgramCircularBuffer, ProgramKernel
from tensim.sim.host.sub_devices import sub_device_of


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


def create_program(executor, r):
    executor.host.charge("call")
    executor.programs[r.program] = Program(r.program)


def delete_program(executor, r):
    executor.programs.pop(r.program, None)
    for device in executor.devices.values():
        device.cached_programs.discard(r.program)
        device.resident.pop(r.program, None)


def create_kernel(executor, r):
    program, cores = executor.program(r.program), expand(r.cores)
    if not cores:
        raise UsageError(f"kernel {r.kernel.name} has no cores")
    executor.host.charge("call")
    references = tuple(tuple(reference[1:]) for reference in r.references)
    return program.add_kernel(ProgramKernel(r.kernel, cores, r.config, references))


def set_runtime_args(executor, r):
    executor.host.charge("call")
    executor.program(r.program).set_args(r.kernel, r.cores, r.args, r.references)


def update_runtime_arg(executor, r):
    executor.program(r.program).update_arg(r.kernel, r.core, r.index, r.value, r.references)


def set_common_runtime_args(executor, r):
    executor.host.charge("call")
    executor.program(r.program).set_common_args(r.kernel, r.args, r.references)


def create_circular_buffer(executor, r):
    program, cores = executor.program(r.program), expand(r.cores)
    if not cores:
        raise UsageError("a circular buffer needs at least one core")
    executor.host.charge("call")
    buffer = None if r.buffer is None else executor.buffer(r.buffer)
    tiles = {index: (height, width) for index, height, width in r.tiles}
    cb = ProgramCircularBuffer(cores, r.total_size, dict(r.formats), dict(r.page_sizes), tiles, buffer, r.offset)
    return program.add_circular_buffer(cb)


def update_circular_buffer(executor, r):
    cb = executor.program(r.program).circular_buffer(r.circular_buffer)
    if r.index is not None and r.index not in cb.formats:
        raise UsageError(f"the circular buffer does not use index {r.index}")
    if (r.index is None) != (r.page_size is None):
        raise UsageError("a page size belongs to an index", hint="give both, or neither")
    if r.buffer is not None and cb.buffer is None:
        raise UsageError("the circular buffer does not lie on a buffer; its address cannot be changed")
    buffer = None if r.buffer is None else executor.buffer(r.buffer)
    executor.host.charge("call")
    page_size = None if r.index is None else (r.index, r.page_size)
    executor.program(r.program).update_circular_buffer(r.circular_buffer, r.total_size, page_size, buffer)


def create_semaphore(executor, r):
    executor.host.charge("call")
    return executor.program(r.program).add_semaphore(r.cores, r.initial, r.id)


def assign_buffer(executor, r):
    executor.program(r.program).buffers.append(executor.buffer(r.buffer))


def compile_program(executor, r):
    _prepare(executor, executor.device(r.device), executor.program(r.program))


def _prepare(executor, device, program):
    """Check a program, compile its kernels, place its circular buffers; returns what it is then (`Ready`), None without
    kernels.  What has been done is not done again for a program that is what it was, where all that it depends on is, too.
    """
    if not program.kernels:
        return None
    depends = _depends(device, program)
    if program.ready is None or program.ready.depends != depends:
        program.ready = Ready(depends, _prepare_anew(executor, device, program))
    device.cache_program(program.id)
    return program.ready


def _depends(device, program):
    """What the placement and the binding of a program depend on."""
    buffers = [cb.buffer.allocated for cb in program.circular_buffers if cb.buffer is not None]
    room = device.allocators[L1].base, device.l1_end, device.lowest_l1(None)
    return program.changes, device.session, device.manager, room, buffers


def _prepare_anew(executor, device, program):
    """The same for one that is new or has changed; returns it, frozen."""
    for what, items in (
        ("kernel", program.kernels), ("circular buffer", program.circular_buffers), ("semaphore", program.semaphores)
    ):  # fmt: skip
        for item in items:
            device.check_cores(item.cores, what)
    sub_device = sub_device_of(device, program.cores())
    here = (device.session, device.manager.id)
    if program.manager is not None and program.manager[0] == device.session and program.manager != here:
        raise UsageError(
            f"program {program.id} ran under sub-device manager {program.manager[1]} and cannot run under {here[1]}"
        )
    program.compile(device.arch)
    place(device, program)
    program.manager = here
    return program.snapshot(sub_device)


def place(device, program):
    """Give the circular buffers of a program their addresses on a device.  UsageError or ProgramError when they do not fit."""
    program.check_buffers(device.id)
    base = device.allocators[L1].base
    program.place_circular_buffers(base, device.l1_end, device.lowest_l1, device.arch.dram_alignment)


def enqueue_program(executor, r):
    device, queue = executor.queue(r)
    program = executor.program(r.program)
    if r.blocking:
        queue.refuse_capture("waiting for a program (blocking)")
    if not r.joined:
        executor.host.charge("enqueue_program")
    ready = _prepare(executor, device, program)
    item = None if ready is None else _enqueue_ready(executor, device, queue, program, ready)
    if r.blocking:
        executor.finish(device, queue, device.manager.stall_group)
    return item


def enqueue_function(executor, r):
    device, queue = executor.queue(r)
    queue.refuse_capture(f"the function {r.name}")
    executor.host.charge("enqueue_program")

    def call():
        try:
            return r.function()
        except CommandFault:
            raise
        except Exception as error:
            raise CommandFault(f"{r.name} raised {type(error).__name__}: {error}") from error

    return executor.issue(device, queue, lambda queue: queue.run_function(call, r.duration_fs, r.exclusive))


def _enqueue_ready(executor, device, queue, program, ready):
    """Hand a program to its queue, or to the trace that the queue captures."""
    if queue.capture is None:
        device.resident[program.id] = len(program.kernels)
        bound = ready.bound(device)
        return executor.issue(device, queue, lambda queue: queue.run_program(bound))
    if device.resident.get(program.id) != len(program.kernels):
        raise UsageError(
            f"program {program.id} ({program.kernels[0].name}) cannot be captured in trace {queue.capture.trace}: its "
            f"binaries are not on device {device.id} yet",
            hint="enqueue it once before begin_trace_capture",
        )
    queue.capture.add(device, program, ready.frozen)
    return None
