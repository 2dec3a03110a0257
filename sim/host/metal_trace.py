"""Metal traces on a device: capturing, keeping, replaying and releasing them (docs/hardware/metal_trace.md#metal-trace).

The functions named like commands are handlers of the executor: they take it and a record.
"""

import warnings
from bisect import bisect_left
from dataclasses import replace

from tensim.sim.errors import ProgramError, TensimWarning, UsageError
from tensim.sim.host.allocator import round_up
from tensim.sim.host.binding import bind
from tensim.sim.host.buffers import L1, TRACE
from tensim.sim.host.program import thaw
from tensim.sim.host.program_commands import place
from tensim.sim.host.sub_devices import sub_device_of
from tensim.sim.host.trace_descriptor import TraceDescriptor, TraceRegion, count, page_size, stream_bytes


class Capture:
    """A trace that a queue is recording.  `buffers`: id -> buffer that an argument or circular buffer points into."""

    def __init__(self, trace):
        self.trace, self.programs, self.buffers = trace, [], {}

    def add(self, device, program, snapshot):
        """Record one enqueue of a program, frozen in `snapshot`."""
        self.programs.append(snapshot)
        for buffer in program.buffers:
            self.buffers[buffer.id] = buffer
        for cb in program.circular_buffers:
            if cb.buffer is not None:
                self.buffers[cb.buffer.id] = cb.buffer
        words = sorted(set(snapshot.words()))
        for buffer in device.buffers.values():
            at = bisect_left(words, buffer.address)
            if at < len(words) and words[at] < buffer.address + buffer.size_per_bank:
                self.buffers[buffer.id] = buffer


class Trace:
    """A trace on a device: its descriptor and its programs bound to the device.

    `regions`: (TraceRegion, its buffer or None) of the memory its programs use; `own`: ids of the buffers that may
    overlap it; `address`, `size`: of its buffer in the trace region, padded bytes.
    """

    def __init__(self, device, descriptor, programs, buffers, own):
        self.descriptor, self.programs, self.manager = descriptor, programs, device.manager.id
        regions = dict.fromkeys(_circular_buffer_regions(device, descriptor)) | buffers
        self.regions, self.own = list(regions.items()), own
        self.sub_devices = sorted({program.sub_device for program in programs})
        self.address, self.size = None, 0
        self.n_replays = 0
        self.replays = []  # items of replays whose end the host has not seen
        self.warned = set()  # ids of buffers named in a warning


# --- handlers


def begin_trace_capture(executor, r):
    device, queue = executor.queue(r)
    queue.refuse_capture("another capture")
    if r.trace in device.traces or any(other.capture and other.capture.trace == r.trace for other in device.queues):
        raise UsageError(f"device {device.id} already has a trace {r.trace}")
    executor.host.charge("call")
    queue.capture = Capture(r.trace)


def end_trace_capture(executor, r):
    """Returns the descriptor.  Whatever goes wrong, the queue no longer captures afterwards."""
    device, queue = executor.queue(r)
    capture = queue.capture
    if capture is None:
        raise UsageError(
            f"queue {queue.index} of device {device.id} is not capturing a trace; trace {r.trace} cannot be ended"
        )
    if capture.trace != r.trace:
        raise UsageError(f"queue {queue.index} of device {device.id} is capturing trace {capture.trace}, not {r.trace}")
    queue.capture = None
    executor.host.charge("end_trace_capture")
    programs = _bind_each(capture.programs, device)
    buffers = {_region(buffer): buffer for buffer in capture.buffers.values()}
    descriptor = _describe(device, queue, capture, programs, tuple(buffers))
    _store(executor, queue, r.trace, Trace(device, descriptor, programs, buffers, set(capture.buffers)))
    return descriptor


def load_trace(executor, r):
    device, queue = executor.queue(r)
    queue.refuse_capture("loading a trace")
    if r.trace in device.traces:
        raise UsageError(f"device {device.id} already has a trace {r.trace}")
    descriptor = r.descriptor
    if descriptor.trace_bytes <= 0:
        raise UsageError(f"trace {r.trace} has a command stream of {descriptor.trace_bytes} B")
    for program in descriptor.programs:
        _check_program(device, r.trace, program)
    executor.host.charge("call")
    programs = _bind_each(descriptor.programs, device)
    own = {
        buffer.id for buffer in device.buffers.values() if any(region.overlaps(buffer) for region in descriptor.buffers)
    }
    _store(executor, queue, r.trace, Trace(device, descriptor, programs, dict.fromkeys(descriptor.buffers), own))


def replay_trace(executor, r):
    device, queue = executor.queue(r)
    queue.refuse_capture("the replay of a trace")
    trace = device.trace(r.trace)
    if trace.manager != device.manager.id:
        raise UsageError(
            f"trace {r.trace} belongs to sub-device manager {trace.manager}; manager {device.manager.id} is active"
        )
    if not r.joined:
        executor.host.charge("replay_trace")
    _warn_of_overlaps(device, r.trace, trace)
    sub_devices = trace.sub_devices
    trace.n_replays += 1
    replay = (r.trace, trace.n_replays)
    item = executor.issue(device, queue, lambda queue: queue.run_trace(trace.programs, sub_devices, replay))
    trace.replays = [*(old for old in trace.replays if not old.done.processed), item]
    if r.blocking:
        executor.finish(device, queue, sub_devices)
    return item


def release_trace(executor, r):
    device = executor.device(r.device)
    for queue in device.queues:
        if queue.capture is not None and queue.capture.trace == r.trace:
            raise UsageError(f"trace {r.trace} is being captured on queue {queue.index}; end the capture first")
    trace = device.trace(r.trace)
    executor.host.charge("call")
    executor.catch_up(device)
    if not all(item.done.processed for item in trace.replays):
        raise UsageError(f"a replay of trace {r.trace} has not ended; finish its queue before the trace is released")
    device.allocators[TRACE].free(trace.address)
    del device.traces[r.trace]


# --- a trace for another place


def relocated(executor, device, descriptor):
    """The descriptor of the same trace on a device where buffers, circular buffers or cores lie elsewhere.

    Arguments that stand for something of the chip, circular buffers and regions get the addresses that they have here.
    UsageError or ProgramError for what the device cannot run.
    """
    programs = tuple(_relocated_program(executor, device, program) for program in descriptor.programs)
    buffers = executor.buffers
    regions = (_region(buffers[old.buffer]) if old.buffer in buffers else old for old in descriptor.buffers)
    size = stream_bytes((bind(program, device).cost for program in programs), device.arch)
    return replace(
        descriptor, programs=programs, buffers=tuple(dict.fromkeys(regions)), trace_bytes=size,
        counters=count(programs, device.manager.sub_devices),
    )  # fmt: skip


def _relocated_program(executor, device, frozen):
    program = thaw(frozen)
    for kernel, old in zip(program.kernels, frozen.kernels, strict=True):
        for core, references in old.references:
            words = kernel.common_args if core is None else kernel.args[core]
            for index, kind, key in references:
                words[index] = executor.value_of(device, kind, key, words[index])
        compile_args = list(old.parameters.compile_args)
        for index, kind, key in old.compile_references:
            compile_args[index] = executor.value_of(device, kind, key, compile_args[index])
        kernel.config = replace(old.parameters, compile_args=tuple(compile_args))
    for cb, old in zip(program.circular_buffers, frozen.circular_buffers, strict=True):
        if old.on_buffer:
            if old.buffer not in executor.buffers:
                raise UsageError(
                    f"program {frozen.program} of the trace has a circular buffer on a buffer that is not there",
                    hint="create the buffer where the trace is captured, and keep it",
                )
            cb.buffer, cb.offset = executor.buffer(old.buffer), old.offset
    place(device, program)
    return program.snapshot(frozen.sub_device)


# --- parts of them


def _bind_each(programs, device):
    """The programs bound to a device, each once that was captured several times."""
    bound = {id(program): program for program in programs}
    bound = {key: bind(program, device) for key, program in bound.items()}
    return [bound[id(program)] for program in programs]


def _describe(device, queue, capture, bound, buffers):
    """Descriptor of a capture that has ended.  `bound`: its programs bound to the device; `buffers`: regions."""
    counters = count(capture.programs, device.manager.sub_devices)
    ids = tuple(counter.sub_device for counter in counters)
    size = stream_bytes((program.cost for program in bound), device.arch)
    return TraceDescriptor(queue.index, ids, counters, tuple(capture.programs), buffers, size)


def _store(executor, queue, number, trace):
    """Put a trace into the trace region, by a blocking write.  ProgramError when it does not fit."""
    device, arch = queue.device, queue.device.arch
    page = page_size(trace.descriptor.trace_bytes, arch)
    size = round_up(trace.descriptor.trace_bytes, page)
    available = device.trace_region_size - sum(trace.size for trace in device.traces.values())
    if size > available:
        raise ProgramError(
            f"trace {number} needs {size} B of the trace region, {available} B of {device.trace_region_size} B are left",
            kind="out_of_memory",
            where={"trace": number, "needed": size, "available": available},
            hint=f"open the device with trace_region_size of at least {device.trace_region_size - available + size}",
        )
    pages = size // page
    trace.address = device.allocators[TRACE].allocate(-(-pages // arch.dram_banks) * page, size)
    trace.size = size
    device.traces[number] = trace
    executor.issue(device, queue, lambda queue: queue.transfer(size, pages, write=True), size)
    executor.finish(device, queue, device.manager.stall_group)


def _check_program(device, number, program):
    """UsageError or ProgramError when a program of a foreign descriptor does not fit the device."""
    name = f"trace {number}, program {program.program}"
    try:
        thaw(program)
    except UsageError as error:
        raise UsageError(f"{name}: {error.message}", hint=error.hint) from error
    for item in (*program.kernels, *program.circular_buffers, *program.semaphores):
        device.check_cores(item.cores, name)
    if sub_device_of(device, program.cores) != program.sub_device:
        raise UsageError(f"{name}: its cores are not those of sub-device {program.sub_device}")
    for cb in program.circular_buffers:
        base = 0 if cb.on_buffer else device.allocators[L1].base
        limit = device.arch.l1_size if cb.on_buffer else device.l1_end
        if cb.address < base or cb.address + cb.size > limit:
            raise ProgramError(
                f"{name}: a circular buffer of {cb.size} B at {cb.address:#x} is outside L1 ({base:#x} to {limit:#x})",
                kind="l1_overflow",
            )


# --- memory that replays use


def _region(buffer):
    banks = tuple(int(bank) for bank in buffer.bank_banks())
    return TraceRegion(f"buffer {buffer.id}", buffer.in_dram, banks, buffer.address, buffer.size_per_bank, buffer.id)


def _circular_buffer_regions(device, descriptor):
    for program in descriptor.programs:
        for cb in program.circular_buffers:
            if not cb.on_buffer:
                workers = tuple(device.worker(core) for core in cb.cores)
                name = f"a circular buffer of program {program.program}"
                yield TraceRegion(name, False, workers, cb.address, cb.size)


def _warn_of_overlaps(device, number, trace):
    """Warn of every live buffer in memory that the trace uses, unless it is one of the trace's own: a replay overwrites
    it, or what it holds spoils the replay (docs/hardware/metal_trace.md#constraints).
    """
    free = [region for region, buffer in trace.regions if buffer is None or not buffer.allocated]
    for buffer in device.buffers.values():
        if buffer.id in trace.own or buffer.id in trace.warned:
            continue
        other = next((region for region in free if region.overlaps(buffer)), None)
        if other is not None:
            trace.warned.add(buffer.id)
            _warn(
                f"device {device.id}: buffer {buffer.id} at {buffer.address:#x} lies where trace {number} uses "
                f"{other.name}; the replay may overwrite it"
            )


def warn_of_allocation(device, what):
    """Warn, once per device, that something was allocated while traces are live; not during a capture."""
    if not device.traces or device.warned_of_allocation or any(queue.capture for queue in device.queues):
        return
    device.warned_of_allocation = True
    names = ", ".join(f"trace {number}" for number in device.traces)
    _warn(f"device {device.id}: {what} is allocated while {names} may be replayed, which can overwrite it")


def _warn(text):
    warnings.warn(text, TensimWarning, stacklevel=2)
