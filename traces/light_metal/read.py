"""Light Metal: the commands of a binary as command records, one after the other.

Records name objects by ids of their own: `Names` maps the file's global ids to ids that are free in this process, so that
a replay can stand beside live objects and other replays.
"""

import json

from tensim.sim.arch.loader import described_arch
from tensim.sim.engine.limits import MAX_RUNTIME_ARGS
from tensim.sim.errors import BinaryError, UsageError
from tensim.sim.host import commands as c
from tensim.traces.light_metal.kernels import KernelReader, check_source
from tensim.traces.light_metal.metal_traces import read_descriptor
from tensim.traces.light_metal.values import (
    circular_buffer_tables,
    cores_of,
    integers,
    kernel_config,
    place_of,
    ranges,
    value,
)
from tensim.traces.light_metal.write import REFERENCED


class Names:
    """The objects of a file: global id -> how records name them here."""

    def __init__(self, new_id, new_trace_id=None):
        self._new_id, self._new_trace_id, self._known = new_id, new_trace_id, {}

    def create(self, global_id):
        """A new id of this process for an object of the file."""
        self._known[global_id] = self._new_id()
        return self._known[global_id]

    def create_trace(self, tid):
        """A new trace id of this process for a trace of the file."""
        self._known["trace", tid] = self._new_trace_id()
        return self._known["trace", tid]

    def set(self, global_id, name):
        """Say how records name an object whose name the executor gives (kernels, circular buffers, semaphores)."""
        self._known[global_id] = name

    def __getitem__(self, global_id):
        return self._known[global_id]

    def get(self, global_id):
        return self._known.get(global_id)


def _parameter(node):
    """The value of an ArchParameter."""
    try:
        return json.loads(node.value or "")
    except (ValueError, RecursionError) as error:
        where = {"offset": node.position, "field": "devices.parameters"}
        raise BinaryError(f"parameter {node.key!r} has the value {node.value!r}, not JSON", where=where) from error


class DescribedChip:
    """The chip of a DeviceDescription: the architecture `name` with other `values`, or a chip of one's own with all of its
    `values`.  `position`: of its table in the file.
    """

    def __init__(self, name, values, position=None):
        self.name, self.values, self.position = name, values, position

    def load(self, overrides=None):
        """Its `Arch`, with overrides of the user's; BinaryError for a description that is none, UsageError for an override."""
        try:
            described = described_arch(self.name, self.values)
        except UsageError as error:
            where = {"offset": self.position, "field": "devices.parameters"}
            raise BinaryError(f"the file describes a chip that cannot be: {error.message}", where=where) from error
        return described_arch(self.name, self.values, overrides) if overrides else described


UNNAMED_CHIP = DescribedChip("wormhole_b0", {"board": "n150_physical"})  # of files that describe no device


def described_chip(node):
    """The `DescribedChip` of a DeviceDescription.  BinaryError for other values than JSON ones."""
    values = {parameter.key or "": _parameter(parameter) for parameter in node.parameters or ()}
    if node.board:
        values["board"] = node.board
    return DescribedChip(node.arch_name or "", values, node.position)


def device_record(node):
    """The CreateDevice record of a DeviceDescription; its architecture is a `DescribedChip`."""
    chip = described_chip(node)
    return c.CreateDevice(
        node.device_id, node.num_hw_cqs, node.l1_small_size, node.trace_region_size,
        chip, node.numerics or "fast", node.noc or "packet", node.max_cycles or None, node.seed, node.minimal,
    )  # fmt: skip


class Decoder:
    """Turns the nodes of one binary into records; keeps what later commands need to know of earlier ones.

    `device`: the device that all commands are for, instead of those they name.
    """

    def __init__(self, binary, names, find_kernel, device=None):
        self.binary, self.names, self.find_kernel = binary, names, find_kernel
        self.kernels, self.created = KernelReader(binary.root.kernel_binaries), {}
        self.device = 0 if device is None and binary.is_of_one_chip else device
        self.renumbered = {}  # device id of the file -> device id here, where they differ

    def record(self, node):
        """The record of a command node."""
        if self.device is not None and "device_id" in node.fields:
            node.fields["device_id"] = self.device
        elif self.renumbered and "device_id" in node.fields:
            node.fields["device_id"] = self.renumbered.get(node.device_id, node.device_id)
        return RECORDS[node.table](self, node)

    def created_as(self, node, result):
        """Note the name that the executor gave to what the command created."""
        if node.table in ("CreateKernelCommand", "CreateCircularBufferCommand", "CreateSemaphoreCommand"):
            self.names.set(node.global_id, result)
            self.created[node.global_id] = node.program_global_id

    def kernel_handle(self, node):
        """(program record id, kernel handle) of a command about runtime arguments."""
        return self.names[self.created[node.kernel_global_id]], self.names[node.kernel_global_id]

    def kernel(self, node):
        """The kernel of a command: its own text, or what `find_kernel` makes of the file name."""
        if node.source is None:
            return self.find_kernel(node.file_name)
        check_source(node)
        return self.kernels.kernel(node.source, node.kernel_name, node.file_name)

    def references(self, structs):
        """Structs -> (core, index, kind, key)."""
        if structs is None:
            return ()
        return tuple(
            (core, index, kind, self.names[key] if kind in REFERENCED else key)
            for core, index, key, kind in structs.tolist()
        )


# --- one function per command: (decoder, node) -> record


def _shard(node):
    if node.buffer_distribution_spec is not None and node.shard_parameters is None:
        spec = node.buffer_distribution_spec
        grid = tuple((core.x, core.y, core.x, core.y) for core in spec.cores or ())
        shape = integers(spec.shard_shape_in_pages)
        return c.ShardParameters(grid, shape, True, (1,) * len(shape), integers(spec.tensor_shape_in_pages), True)
    if node.shard_parameters is None:
        return None
    buffer = node.shard_parameters
    spec = buffer.tensor_shard_spec
    shape = (spec.shape_h, spec.shape_w)
    if spec.physical_shard_shape is not None:
        shape = (spec.physical_shard_shape.height, spec.physical_shard_shape.width)
    return c.ShardParameters(
        ranges(spec.grid), shape, spec.orientation == 0, (buffer.page_shape_h, buffer.page_shape_w),
        (buffer.tensor2d_shape_in_pages_h, buffer.tensor2d_shape_in_pages_w),
    )  # fmt: skip


def _buffer_create(d, n):
    return c.CreateBuffer(
        n.device_id, d.names.create(n.global_id), n.large_size or n.size, n.large_page_size or n.page_size,
        n.buffer_type, n.buffer_layout, _shard(n), value(n.address), value(n.bottom_up), value(n.sub_device_id),
    )  # fmt: skip


def _write(d, n):
    data = d.binary.data_of(n, n.src)
    buffer = d.names[n.buffer_global_id]
    return c.WriteBuffer(n.device_id, n.cq_global_id, buffer, data, n.offset, n.blocking)


def _read(d, n):
    return c.ReadBuffer(n.device_id, n.cq_global_id, d.names[n.buffer_global_id], n.offset, n.size, n.blocking)


def _create_kernel(d, n):
    if n.kernel_config.table == "EthernetConfig":
        raise UsageError("the binary has a kernel for ethernet cores; which tensim does not model")
    program = d.names[n.program_global_id]
    config, references = kernel_config(n.kernel_config), d.references(n.references)
    if any(index >= len(config.compile_args) for _, index, _, _ in references):
        raise BinaryError("a reference does not point to a compile-time argument", where=place_of(n, "references"))
    return c.CreateKernel(program, d.kernel(n), ranges(n.core_spec), config, references)


def _args_shared(d, n):
    program, kernel = d.kernel_handle(n)
    cores, references = cores_of(n.core_spec), d.references(n.references)
    count = 0 if n.args is None else len(n.args)
    if count > MAX_RUNTIME_ARGS or len(references) > count:  # each core gets them
        why = f"{count} runtime arguments with {len(references)} references; a kernel has at most {MAX_RUNTIME_ARGS}"
        raise BinaryError(why, where=place_of(n, "args"))
    everywhere = tuple((i, *reference[1:]) for i in range(len(cores)) for reference in references)
    return c.SetRuntimeArgs(program, kernel, cores, (integers(n.args),) * len(cores), everywhere)


def _args_per_core(d, n):
    program, kernel = d.kernel_handle(n)
    cores = tuple((core.x, core.y) for core in n.core_spec or ())
    args = tuple(integers(words.values) for words in n.args or ())
    return c.SetRuntimeArgs(program, kernel, cores, args, d.references(n.references))


def _args_with_buffers(d, n):
    program, kernel = d.kernel_handle(n)
    cores, words, buffers = cores_of(n.core_spec), [], []
    for index, arg in enumerate(n.args or ()):
        member = arg.value
        is_buffer = member is not None and member.table == "BufferGlobalId"
        words.append(0 if member is None or is_buffer else member.fields["value"])
        if is_buffer:
            buffers.append((index, d.names[member.id]))
    references = tuple((i, index, 0, buffer) for i in range(len(cores)) for index, buffer in buffers)
    return c.SetRuntimeArgs(program, kernel, cores, (tuple(words),) * len(cores), references)


def _common_args(d, n):
    program, kernel = d.kernel_handle(n)
    return c.SetCommonRuntimeArgs(program, kernel, integers(n.args), d.references(n.references))


def _update_arg(d, n):
    program, kernel = d.kernel_handle(n)
    core = None if n.core is None else (n.core.x, n.core.y)
    return c.UpdateRuntimeArg(program, kernel, core, n.index, n.value, d.references(n.references))


def _create_circular_buffer(d, n):
    refuse_unsupported(n)
    shadow = value(n.config.shadow_buf_global_id)
    return c.CreateCircularBuffer(
        d.names[n.program_global_id], ranges(n.core_spec), n.config.total_size, *circular_buffer_tables(n.config),
        None if shadow is None else d.names[shadow], n.config.offset,
    )  # fmt: skip


def refuse_unsupported(n):
    """BinaryError for settings in a CreateCircularBuffer command that would be ignored."""
    config = n.config
    if config.remote_buffer_indices is not None and len(config.remote_buffer_indices):
        raise BinaryError(
            "tensim has no circular buffers that span cores", where=place_of(n, "config.remote_buffer_indices")
        )
    if config.globally_allocated_address is not None and config.shadow_buf_global_id is None:
        raise BinaryError(
            f"the circular buffer lies at the fixed address {config.globally_allocated_address.value:#x}, but the file does "
            "not name the buffer there",
            where=place_of(n, "config.globally_allocated_address"),
            hint="shadow_buf_global_id names it",
        )
    if config.tiles is not None and any(transposed for _, (_, transposed) in config.tiles.tolist()):
        raise BinaryError("tensim has no circular buffers of transposed tiles", where=place_of(n, "config.tiles"))


def _update_circular_buffer(d, n):
    buffer = value(n.buffer)
    return c.UpdateCircularBuffer(
        d.names[n.program_global_id], d.names[n.circular_buffer_global_id], value(n.total_size), value(n.index),
        value(n.page_size), None if buffer is None else d.names[buffer],
    )  # fmt: skip


def _compare(d, n):
    golden = d.binary.data_of(n, n.golden_data)
    return c.CompareBuffer(
        n.device_id, n.cq_global_id, d.names[n.buffer_global_id], golden, n.name or "", n.rtol, n.atol, n.format
    )


def _global_semaphore(d, n):
    return c.CreateGlobalSemaphore(n.device_id, d.names.create(n.global_id), ranges(n.ranges), n.initial, n.buffer_type)


def _record_event(d, n):
    event = d.names.get(n.event_global_id) or d.names.create(n.event_global_id)
    return c.RecordEvent(n.device_id, n.cq_id, event, integers(n.sub_device_ids))


def _create_manager(d, n):
    return c.CreateSubDeviceManager(
        n.device_id,
        d.names.create(n.global_id),
        tuple(ranges(sub_device) for sub_device in n.sub_devices or ()),
        n.local_l1_size,
    )


def _load_manager(d, n):
    manager = value(n.manager)
    return c.LoadSubDeviceManager(n.device_id, None if manager is None else d.names[manager])


def _load_trace(d, n):
    trace = d.names.create_trace(n.tid)
    return c.LoadTrace(n.device_id, n.cq_id, trace, read_descriptor(d.binary.trace(n.tid), d.kernels, d.names))


def _replay_trace(d, n):
    return c.ReplayTrace(n.device_id, n.cq_id, d.names["trace", n.tid], n.blocking, n.joined)


def _finish(d, n):
    return c.Finish(n.device_id, None if n.all_queues else n.cq_global_id, integers(n.sub_device_ids))


def _create_event(d, n):
    of = tuple(d.names[number] for number in integers(n.of))
    return c.CreateEvent(d.names.create(n.global_id), of, n.any)


def _wait_events(d, n):
    events = tuple(d.names[number] for number in integers(n.event_global_ids))
    return c.WaitEvents(events, n.any, n.timeout_fs if n.has_timeout else None)


def _enqueue_function(d, n):
    """Who replays puts the function in."""
    buffers = tuple(d.names[number] for number in integers(n.buffer_global_ids))
    return c.EnqueueFunction(
        n.device_id, n.cq_id, n.name or "", None, n.duration_fs, buffers, n.exclusive, n.parameters or "null"
    )


def _transfer_buffer(d, n):
    source, target = d.names[n.source_global_id], d.names[n.target_global_id]
    return c.TransferBuffer(n.device_id, n.cq_id, source, target, n.via or "auto")


def _start_fabric(d, n):
    board = integers(n.board)
    if len(board) != 3:
        raise ValueError(f"a board of {len(board)} numbers, not rows, columns and links")
    shape, packet_bytes = (n.rows, n.columns), n.packet_bytes or None
    return c.StartFabric(
        shape, n.configuration or "", board, n.links, n.torus, n.ring, n.line, packet_bytes, n.forwarding
    )


RECORDS = {
    "CreateDeviceCommand": lambda d, n: device_record(n.device),
    "StartFabricCommand": _start_fabric,
    "CloseDeviceCommand": lambda d, n: c.CloseDevice(n.device_id),
    "BufferCreateCommand": _buffer_create,
    "BufferDeallocateCommand": lambda d, n: c.DeallocateBuffer(d.names[n.global_id]),
    "BufferDeleteCommand": lambda d, n: c.DeleteBuffer(d.names[n.global_id]),
    "EnqueueWriteBufferCommand": _write,
    "EnqueueReadBufferCommand": _read,
    "WriteDirectCommand": lambda d, n: c.WriteDirect(d.names[n.buffer_global_id], d.binary.payload(n.payload)),
    "ReadDirectCommand": lambda d, n: c.ReadDirect(d.names[n.buffer_global_id]),
    "FinishCommand": _finish,
    "ProgramConstructorCommand": lambda d, n: c.CreateProgram(d.names.create(n.global_id)),
    "ProgramDeleteCommand": lambda d, n: c.DeleteProgram(d.names[n.global_id]),
    "EnqueueProgramCommand": lambda d, n: c.EnqueueProgram(
        n.device_id, n.cq_global_id, d.names[n.program_global_id], n.blocking, n.joined
    ),
    "CreateKernelCommand": _create_kernel,
    "SetRuntimeArgsUint32Command": _args_shared,
    "SetRuntimeArgsUint32VecPerCoreCommand": _args_per_core,
    "SetRuntimeArgsCommand": _args_with_buffers,
    "SetCommonRuntimeArgsCommand": _common_args,
    "UpdateRuntimeArgCommand": _update_arg,
    "CreateCircularBufferCommand": _create_circular_buffer,
    "UpdateCircularBufferCommand": _update_circular_buffer,
    "CreateSemaphoreCommand": lambda d, n: c.CreateSemaphore(
        d.names[n.program_global_id], ranges(n.ranges), n.initial, value(n.id)
    ),
    "AssignBufferToProgramCommand": lambda d, n: c.AssignBufferToProgram(
        d.names[n.program_global_id], d.names[n.buffer_global_id]
    ),
    "CompileProgramCommand": lambda d, n: c.CompileProgram(n.device_id, d.names[n.program_global_id]),
    "CreateGlobalSemaphoreCommand": _global_semaphore,
    "ResetGlobalSemaphoreCommand": lambda d, n: c.ResetGlobalSemaphore(d.names[n.global_id], n.value),
    "DeleteGlobalSemaphoreCommand": lambda d, n: c.DeleteGlobalSemaphore(d.names[n.global_id]),
    "RecordEventCommand": _record_event,
    "WaitForEventCommand": lambda d, n: c.WaitForEvent(n.device_id, n.cq_id, d.names[n.event_global_id]),
    "SynchronizeEventCommand": lambda d, n: c.SynchronizeEvent(d.names[n.event_global_id]),
    "QueryEventCommand": lambda d, n: c.QueryEvent(d.names[n.event_global_id]),
    "CreateSubDeviceManagerCommand": _create_manager,
    "LoadSubDeviceManagerCommand": _load_manager,
    "RemoveSubDeviceManagerCommand": lambda d, n: c.RemoveSubDeviceManager(n.device_id, d.names[n.manager]),
    "SetStallGroupCommand": lambda d, n: c.SetStallGroup(n.device_id, None if n.all else integers(n.sub_device_ids)),
    "LightMetalCompareCommand": _compare,
    "LoadTraceCommand": _load_trace,
    "ReplayTraceCommand": _replay_trace,
    "EnqueueTraceCommand": _replay_trace,
    "ReleaseTraceCommand": lambda d, n: c.ReleaseTrace(n.device_id, d.names["trace", n.tid]),
    "CreateHostDeviceCommand": lambda d, n: c.CreateHostDevice(n.device_id, n.num_queues),
    "CreateEventCommand": _create_event,
    "SignalEventCommand": lambda d, n: c.SignalEvent(d.names[n.event_global_id], n.error or ""),
    "WaitEventsCommand": _wait_events,
    "HostWorkCommand": lambda d, n: c.HostWork(n.duration_fs),
    "EnqueueFunctionCommand": _enqueue_function,
    "TransferBufferCommand": _transfer_buffer,
}
