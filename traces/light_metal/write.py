"""Light Metal: command records to the bytes of a binary.

Every object of the host program gets a global id, counted from 0 in the order of creation, whatever its kind
(docs/hardware/light_metal.md#capture-machinery).  Data of writes is stored once, however often it is written.
"""

import hashlib
import json
import zlib

import numpy as np

from tensim.sim.arch import architectures, load_arch
from tensim.sim.errors import UsageError
from tensim.sim.host import commands as c
from tensim.traces.flatbuffers.schema import light_metal_schema
from tensim.traces.flatbuffers.tables import Node, Writer
from tensim.traces.light_metal.kernels import binary_nodes, file_name, kernel_fields

SCHEMA_VERSION = 1
HASH_BYTES = 32
COMPRESSED_FROM = 256  # bytes: shorter data stays as it is
ARCH_NUMBERS = {"grayskull": 0, "wormhole_b0": 1, "blackhole": 2}
OTHER_ARCH = 255  # a chip of one's own
MAX_INT32 = 2**31 - 1
REFERENCED = {c.Reference.BUFFER_ADDRESS: "buffer", c.Reference.GLOBAL_SEMAPHORE_ADDRESS: "global semaphore"}

# Fields of records that name objects, with their kinds
NAMING = {
    "buffer": "buffer", "source": "buffer", "target": "buffer", "buffers": "buffer", "program": "program", "event": "event",
    "events": "event", "of": "event", "semaphore": "global semaphore", "trace": "trace",
}  # fmt: skip
# Records that make an object or take one away, by the field that names it: they may name what is not there
MAKING = {
    c.CreateBuffer: "buffer", c.DeleteBuffer: "buffer", c.CreateProgram: "program", c.DeleteProgram: "program",
    c.CreateEvent: "event", c.RecordEvent: "event", c.CreateGlobalSemaphore: "semaphore",
    c.DeleteGlobalSemaphore: "semaphore", c.BeginTraceCapture: "trace", c.LoadTrace: "trace", c.ReleaseTrace: "trace",
}  # fmt: skip


def optional(kind, value):
    """The table that stands for a number which may be absent."""
    return None if value is None else Node(f"{kind}Optional", {"value": value})


def core_coord(core):
    return Node("CoreCoord", {"x": core[0], "y": core[1]})


def core_range(corners):
    return Node("CoreRange", {"start": core_coord(corners[:2]), "end": core_coord(corners[2:])})


def range_set(ranges):
    return Node("CoreRangeSet", {"ranges": [core_range(corners) for corners in ranges]})


def core_spec(ranges):
    """The smallest member of CoreSpec that holds the ranges."""
    if len(ranges) != 1:
        return range_set(ranges)
    return core_coord(ranges[0]) if ranges[0][:2] == ranges[0][2:] else core_range(ranges[0])


def device_description(record, arch, clock_mhz):
    """What a device was opened with; parameters that differ from the named architecture's are listed one by one, of a chip of
    one's own all.
    """
    own = arch.values()
    if arch.name in architectures():
        base = load_arch(arch.name).values()
        own = {key: value for key, value in own.items() if base.get(key) != value}
    parameters = [Node("ArchParameter", {"key": key, "value": json.dumps(value)}) for key, value in sorted(own.items())]
    return Node("DeviceDescription", {
        "device_id": record.device, "arch": ARCH_NUMBERS.get(arch.name, OTHER_ARCH), "arch_name": arch.name, "board": arch.board,
        "num_hw_cqs": record.num_hw_cqs, "l1_small_size": record.l1_small_size, "numerics": record.numerics,
        "trace_region_size": record.trace_region_size, "noc": record.noc, "seed": record.seed, "clock_mhz": clock_mhz,
        "max_cycles": record.max_cycles or 0, "parameters": parameters, "arch_digest": arch.digest,
        "minimal": record.minimal,
    })  # fmt: skip


class BinaryWriter:
    """Collects command records and makes a file of them.  `compress`: pack data with zlib (it is mapped no more)."""

    def __init__(self, compress=False):
        self.compress = compress
        self.writer = Writer(light_metal_schema())
        self.commands, self.devices, self.descriptors, self.payloads = [], [], {}, []
        self.ids, self.next_id, self.names = {}, 0, {}
        self.command_bytes = self.payload_bytes = 0
        self.kernels = []  # those of the commands and traces
        self.further = {}  # fields of the root table that recordings and saved binaries have

    # --- ids

    def create(self, kind, key):
        """A new global id for an object; `key`: how the records name it."""
        number = self.ids[kind, key] = self.next_id
        self.next_id += 1
        return number

    def id(self, kind, key):
        """Global id of an object; UsageError when it was made before the capture began."""
        if (kind, key) not in self.ids:
            raise UsageError(
                f"the {kind} in use was created before the capture began, so the binary would not contain it",
                hint="begin the capture right after opening the device",
            )
        return self.ids[kind, key]

    def knows(self, kind, key):
        return (kind, key) in self.ids

    def note(self, kind, key):
        """Remember an object that the file names by no global id."""
        self.ids[kind, key] = None

    def check(self, record):
        """UsageError when a record uses an object that was made before the capture began."""
        for kind, key in used(record):
            self.id(kind, key)

    # --- commands

    def add(self, record, result):
        """Append the command of a record; `result`: what the executor returned for it."""
        node = COMMANDS[type(record)](self, record, result)
        if node is not None:
            self.commands.append(self.writer.node(Node("Command", {"cmd": node})))

    def words(self, data):
        """Fields that hold the bytes of a transfer: whole words in `src`, other lengths as a payload."""
        if len(data) % 4 == 0 and not (self.compress and len(data) >= COMPRESSED_FROM):
            return {"src": self.writer.shared(np.frombuffer(data, "<u4"), data)}
        return {"payload": self.payload(data)}

    def payload(self, data):
        """Number (from 1) of a payload; equal ones are stored once."""
        key = ("payload", data)
        if key not in self.ids:
            stored, codec = (zlib.compress(data, 6), "zlib") if self.compress else (data, "none")
            node = {"data": np.frombuffer(stored, np.uint8), "codec": codec, "size": len(data)}
            self.payloads.append(self.writer.node(Node("Payload", node)))
            self.ids[key] = len(self.payloads)
        return self.ids[key]

    def finish(self, host_start, cycles, writer_name):
        """The bytes of the file.  `host_start`: host time at the capture's begin (fs); `cycles`: of the captured run."""
        writer = self.writer
        root = {
            "commands": writer.tables(self.commands),
            "trace_descriptors": writer.tables([self.descriptors[number] for number in sorted(self.descriptors)]),
            "devices": writer.tables([writer.node(device) for device in self.devices]),
            "payloads": writer.tables(self.payloads),
            "content_hash": np.full(HASH_BYTES, 0, np.uint8),
            "schema_version": SCHEMA_VERSION, "writer": writer_name, "host_start_fs": host_start,
            "cycles": cycles,
            "buffer_names": [Node("BufferName", {"global_id": i, "name": n}) for n, i in self.names.items()],
            "kernel_binaries": binary_nodes(self.kernels), **self.further,
        }  # fmt: skip
        return sealed(writer.finish(writer.node(Node("LightMetalBinary", root))))


def sealed(data):
    """The file with its content hash (if it has room for one) put in: SHA-256 of all bytes, those of the hash taken as zeros."""
    data = data if isinstance(data, bytearray) else bytearray(data)
    place = hash_place(data)
    if place is None:
        return data
    data[place : place + HASH_BYTES] = bytes(HASH_BYTES)
    data[place : place + HASH_BYTES] = hashlib.sha256(data).digest()
    return data


def hash_place(data):
    """Offset of the 32 bytes of the content hash, or None where the file has none."""
    from tensim.traces.flatbuffers.tables import Reader

    field = Reader(light_metal_schema(), data).root("content_hash").content_hash
    if field is None or len(field) != HASH_BYTES:
        return None
    return field.__array_interface__["data"][0] - np.frombuffer(data, np.uint8).__array_interface__["data"][0]


def used(record):
    """(kind, key) of the objects that a record uses."""
    fields, made = vars(record), MAKING.get(type(record))
    for name, kind in NAMING.items():
        value = fields.get(name) if name != made else None
        for key in value if isinstance(value, tuple) else () if value is None else (value,):
            yield kind, key
    for _, _, kind, key in fields.get("references", ()):
        if kind in REFERENCED:
            yield REFERENCED[kind], key
    if isinstance(record, c.LoadSubDeviceManager | c.RemoveSubDeviceManager) and record.manager is not None:
        yield "sub-device manager", (record.device, record.manager)


# --- one function per record: (binary writer, record, result) -> Node


def _create_device(b, r, device):
    return Node("CreateDeviceCommand", {"device": device_description(r, device.arch, device.arch.clock_mhz)})


def _close_device(b, r, _):
    return Node("CloseDeviceCommand", {"device_id": r.device})


def _start_fabric(b, r, _):
    return Node("StartFabricCommand", {
        "rows": r.shape[0], "columns": r.shape[1], "configuration": r.configuration, "board": r.board, "links": r.links,
        "torus": r.torus, "ring": r.ring, "line": r.line, "packet_bytes": r.packet_bytes or 0, "forwarding": r.forwarding,
    })  # fmt: skip


def _shard(shard):
    spec = Node("ShardSpec", {
        "grid": range_set(shard.grid), "shape_h": shard.shape[0], "shape_w": shard.shape[1],
        "orientation": 0 if shard.row_major else 1,
    })  # fmt: skip
    return Node("ShardSpecBuffer", {
        "tensor_shard_spec": spec, "page_shape_h": shard.page_shape[0], "page_shape_w": shard.page_shape[1],
        "tensor2d_shape_in_pages_h": shard.tensor_pages[0], "tensor2d_shape_in_pages_w": shard.tensor_pages[1],
    })  # fmt: skip


def _distribution(shard):
    cores = [core_coord((x, y)) for x0, y0, x1, y1 in shard.grid for y in range(y0, y1 + 1) for x in range(x0, x1 + 1)]
    return Node("BufferDistributionSpec", {
        "tensor_shape_in_pages": shard.tensor_pages, "shard_shape_in_pages": shard.shape, "cores": cores,
    })  # fmt: skip


def _create_buffer(b, r, buffer):
    large = max(r.size, r.page_size) > MAX_INT32
    fields = {
        "global_id": b.create("buffer", r.buffer), "device_id": r.device, "address": optional("Uint32", r.address),
        "size": 0 if large else r.size, "page_size": 0 if large else r.page_size, "buffer_type": r.buffer_type,
        "buffer_layout": r.layout, "bottom_up": optional("Bool", r.bottom_up),
        "sub_device_id": optional("Uint8", r.sub_device), "large_size": r.size if large else 0,
        "large_page_size": r.page_size if large else 0, "chosen_address": buffer.address or 0,
        "has_chosen_address": buffer.address is not None,
    }  # fmt: skip
    if r.shard is not None and r.shard.contiguous:
        raise UsageError("a binary cannot hold a buffer with contiguous shards on a core")
    if r.shard is not None and r.shard.round_robin:
        fields["buffer_distribution_spec"] = _distribution(r.shard)
    elif r.shard is not None:
        fields["shard_parameters"] = _shard(r.shard)
    return Node("BufferCreateCommand", fields)


def _deallocate_buffer(b, r, _):
    return Node("BufferDeallocateCommand", {"global_id": b.id("buffer", r.buffer)})


def _delete_buffer(b, r, _):
    if b.knows("buffer", r.buffer):
        return Node("BufferDeleteCommand", {"global_id": b.id("buffer", r.buffer)})


def _write_buffer(b, r, _):
    return Node("EnqueueWriteBufferCommand", {
        "cq_global_id": r.queue, "buffer_global_id": b.id("buffer", r.buffer), "blocking": r.blocking,
        "device_id": r.device, "offset": r.offset, **b.words(r.data),
    })  # fmt: skip


def _read_buffer(b, r, _):
    return Node("EnqueueReadBufferCommand", {
        "cq_global_id": r.queue, "buffer_global_id": b.id("buffer", r.buffer), "blocking": r.blocking,
        "device_id": r.device, "offset": r.offset, "size": r.size,
    })  # fmt: skip


def _write_direct(b, r, _):
    return Node("WriteDirectCommand", {"buffer_global_id": b.id("buffer", r.buffer), "payload": b.payload(r.data)})


def _read_direct(b, r, _):
    return Node("ReadDirectCommand", {"buffer_global_id": b.id("buffer", r.buffer)})


def _create_program(b, r, _):
    return Node("ProgramConstructorCommand", {"global_id": b.create("program", r.program)})


def _delete_program(b, r, _):
    if b.knows("program", r.program):
        return Node("ProgramDeleteCommand", {"global_id": b.id("program", r.program)})


def kernel_config(config):
    """The kernel's settings as a member of KernelConfig."""
    common = {
        "compile_args": [value & 0xFFFFFFFF for value in config.compile_args],
        "defines": [Node("DefineEntry", {"key": key, "value": str(value)}) for key, value in config.defines],
        "named_compile_args": [Node("NamedArgument", {"name": k, "value": v}) for k, v in config.named_compile_args],
        "opt_level": config.opt_level,
    }
    if isinstance(config, c.DataMovementParameters):
        return Node("DataMovementConfig", {
            "processor": config.processor, "noc": config.noc, "noc_mode": config.noc_mode, **common,
        })  # fmt: skip
    return Node("ComputeConfig", {
        "math_fidelity": config.math_fidelity, "fp32_dest_acc_en": config.fp32_dest_acc_en,
        "dst_full_sync_en": config.dst_full_sync_en, "unpack_to_dest_mode": config.unpack_to_dest_mode,
        "bfp8_pack_precise": config.bfp8_pack_precise, "math_approx_mode": config.math_approx_mode, **common,
    })  # fmt: skip


def _create_kernel(b, r, handle):
    b.kernels.append(r.kernel)
    return Node("CreateKernelCommand", {
        "global_id": b.create("kernel", (r.program, handle)), "program_global_id": b.id("program", r.program),
        "file_name": file_name(r.kernel), "core_spec": core_spec(r.cores),
        "kernel_config": kernel_config(r.config), **kernel_fields(r.kernel), "references": references_of(b, r.references),
    })  # fmt: skip


def references_of(b, references):
    """(core, index, kind, key) -> structs, or None for none."""
    structs = [
        (core, index, b.id(REFERENCED[kind], key) if kind in REFERENCED else key, kind)
        for core, index, kind, key in references
    ]
    return structs or None


def _set_runtime_args(b, r, _):
    program, kernel = b.id("program", r.program), b.id("kernel", (r.program, r.kernel))
    fields = {"program_global_id": program, "kernel_global_id": kernel}
    standing = [set() for _ in r.cores]
    for core, *reference in r.references:
        standing[core].add(tuple(reference))
    if len(set(r.args)) == 1 and all(one == standing[0] for one in standing):
        references = [reference for reference in r.references if reference[0] == 0]
        spec = core_spec([(*core, *core) for core in r.cores])
        return Node("SetRuntimeArgsUint32Command", {
            **fields, "core_spec": spec, "args": r.args[0], "references": references_of(b, references),
        })  # fmt: skip
    return Node("SetRuntimeArgsUint32VecPerCoreCommand", {
        **fields, "core_spec": [core_coord(core) for core in r.cores],
        "args": [Node("UInt32Vector", {"values": args}) for args in r.args], "references": references_of(b, r.references),
    })  # fmt: skip


def _update_runtime_arg(b, r, _):
    return Node("UpdateRuntimeArgCommand", {
        "program_global_id": b.id("program", r.program), "kernel_global_id": b.id("kernel", (r.program, r.kernel)),
        "core": None if r.core is None else core_coord(r.core), "index": r.index, "value": r.value,
        "references": references_of(b, r.references),
    })  # fmt: skip


def _set_common_runtime_args(b, r, _):
    return Node("SetCommonRuntimeArgsCommand", {
        "program_global_id": b.id("program", r.program), "kernel_global_id": b.id("kernel", (r.program, r.kernel)),
        "args": r.args, "references": references_of(b, r.references),
    })  # fmt: skip


def _create_circular_buffer(b, r, handle):
    indices = [index for index, _ in r.formats]
    config = {
        "total_size": r.total_size, "data_formats": list(r.formats), "page_sizes": list(r.page_sizes),
        "tiles": [(index, ((height, width), False)) for index, height, width in r.tiles],
        "buffer_indices": indices, "local_buffer_indices": indices, "dynamic_cb": r.buffer is not None,
        "max_size": r.total_size, "buffer_size": r.total_size,
    }  # fmt: skip
    if r.buffer is not None:
        config |= {"shadow_buf_global_id": optional("Uint32", b.id("buffer", r.buffer)), "offset": r.offset}
    return Node("CreateCircularBufferCommand", {
        "global_id": b.create("circular buffer", (r.program, handle)), "program_global_id": b.id("program", r.program),
        "core_spec": core_spec(r.cores), "config": Node("CircularBufferConfig", config),
    })  # fmt: skip


def _update_circular_buffer(b, r, _):
    buffer = None if r.buffer is None else b.id("buffer", r.buffer)
    return Node("UpdateCircularBufferCommand", {
        "program_global_id": b.id("program", r.program),
        "circular_buffer_global_id": b.id("circular buffer", (r.program, r.circular_buffer)),
        "total_size": optional("Uint32", r.total_size), "index": optional("Uint32", r.index),
        "page_size": optional("Uint32", r.page_size), "buffer": optional("Uint32", buffer),
    })  # fmt: skip


def _create_semaphore(b, r, number):
    return Node("CreateSemaphoreCommand", {
        "global_id": b.create("semaphore", (r.program, number)), "program_global_id": b.id("program", r.program),
        "ranges": range_set(r.cores), "initial": r.initial, "id": optional("Uint32", r.id),
    })  # fmt: skip


def _assign_buffer(b, r, _):
    return Node("AssignBufferToProgramCommand", {
        "program_global_id": b.id("program", r.program), "buffer_global_id": b.id("buffer", r.buffer),
    })  # fmt: skip


def _compile_program(b, r, _):
    return Node("CompileProgramCommand", {"program_global_id": b.id("program", r.program), "device_id": r.device})


def _create_global_semaphore(b, r, _):
    return Node("CreateGlobalSemaphoreCommand", {
        "global_id": b.create("global semaphore", r.semaphore), "device_id": r.device, "ranges": range_set(r.cores),
        "initial": r.initial, "buffer_type": r.buffer_type,
    })  # fmt: skip


def _reset_global_semaphore(b, r, _):
    number = b.id("global semaphore", r.semaphore)
    return Node("ResetGlobalSemaphoreCommand", {"global_id": number, "value": r.value})


def _delete_global_semaphore(b, r, _):
    if b.knows("global semaphore", r.semaphore):
        return Node("DeleteGlobalSemaphoreCommand", {"global_id": b.id("global semaphore", r.semaphore)})


def _enqueue_program(b, r, _):
    return Node("EnqueueProgramCommand", {
        "cq_global_id": r.queue, "program_global_id": b.id("program", r.program), "blocking": r.blocking,
        "device_id": r.device, "joined": r.joined,
    })  # fmt: skip


def _record_event(b, r, _):
    number = b.id("event", r.event) if b.knows("event", r.event) else b.create("event", r.event)
    return Node("RecordEventCommand", {
        "cq_id": r.queue, "device_id": r.device, "event_global_id": number, "sub_device_ids": r.sub_devices,
    })  # fmt: skip


def _wait_for_event(b, r, _):
    number = b.id("event", r.event)
    return Node("WaitForEventCommand", {"cq_id": r.queue, "device_id": r.device, "event_global_id": number})


def _synchronize_event(b, r, _):
    return Node("SynchronizeEventCommand", {"event_global_id": b.id("event", r.event)})


def _query_event(b, r, _):
    return Node("QueryEventCommand", {"event_global_id": b.id("event", r.event)})


def _finish(b, r, _):
    return Node("FinishCommand", {
        "cq_global_id": r.queue or 0, "sub_device_ids": r.sub_devices, "device_id": r.device,
        "all_queues": r.queue is None,
    })  # fmt: skip


def _create_manager(b, r, _):
    return Node("CreateSubDeviceManagerCommand", {
        "global_id": b.create("sub-device manager", (r.device, r.manager)), "device_id": r.device,
        "sub_devices": [range_set(ranges) for ranges in r.sub_devices], "local_l1_size": r.local_l1_size,
    })  # fmt: skip


def _load_manager(b, r, _):
    number = None if r.manager is None else b.id("sub-device manager", (r.device, r.manager))
    return Node("LoadSubDeviceManagerCommand", {"device_id": r.device, "manager": optional("Uint32", number)})


def _remove_manager(b, r, _):
    number = b.id("sub-device manager", (r.device, r.manager))
    return Node("RemoveSubDeviceManagerCommand", {"device_id": r.device, "manager": number})


def _set_stall_group(b, r, _):
    return Node("SetStallGroupCommand", {
        "device_id": r.device, "sub_device_ids": r.sub_devices or (), "all": r.sub_devices is None,
    })  # fmt: skip


def _load_trace(b, r, host_at):
    """`host_at`: host time of a trace that was captured here, when it was ready to be loaded (None: of one loaded here)."""
    return Node("LoadTraceCommand", {
        "tid": r.trace, "cq_id": r.queue, "device_id": r.device, "host_at_fs": host_at or 0,
    })  # fmt: skip


def _replay_trace(b, r, _):
    return Node("ReplayTraceCommand", {
        "cq_id": r.queue, "tid": r.trace, "blocking": r.blocking, "device_id": r.device, "joined": r.joined,
    })  # fmt: skip


def _release_trace(b, r, _):
    return Node("ReleaseTraceCommand", {"tid": r.trace, "device_id": r.device})


def _compare(b, r, data):
    golden = data.result if r.golden is None else r.golden
    words = b.words(golden)
    return Node("LightMetalCompareCommand", {
        "cq_global_id": r.queue, "buffer_global_id": b.id("buffer", r.buffer), "is_user_data": r.golden is not None,
        "device_id": r.device, "golden_data": words.get("src"), "payload": words.get("payload", 0), "name": r.name,
        "rtol": r.rtol, "atol": r.atol, "format": r.format,
    })  # fmt: skip


def _create_host_device(b, r, _):
    return Node("CreateHostDeviceCommand", {"device_id": r.device, "num_queues": r.num_queues})


def _create_event(b, r, _):
    of = [b.id("event", number) for number in r.of]
    return Node("CreateEventCommand", {"global_id": b.create("event", r.event), "of": of, "any": r.any})


def _signal_event(b, r, _):
    return Node("SignalEventCommand", {"event_global_id": b.id("event", r.event), "error": r.error})


def _wait_events(b, r, _):
    return Node("WaitEventsCommand", {
        "event_global_ids": [b.id("event", number) for number in r.events], "any": r.any, "timeout_fs": r.timeout_fs or 0,
        "has_timeout": r.timeout_fs is not None,
    })  # fmt: skip


def _host_work(b, r, _):
    return Node("HostWorkCommand", {"duration_fs": r.duration_fs})


def _enqueue_function(b, r, _):
    return Node("EnqueueFunctionCommand", {
        "cq_id": r.queue, "device_id": r.device, "name": r.name, "parameters": r.parameters, "duration_fs": r.duration_fs,
        "buffer_global_ids": [b.id("buffer", number) for number in r.buffers], "exclusive": r.exclusive,
    })  # fmt: skip


def _transfer_buffer(b, r, _):
    return Node("TransferBufferCommand", {
        "cq_id": r.queue, "device_id": r.device, "source_global_id": b.id("buffer", r.source),
        "target_global_id": b.id("buffer", r.target), "via": r.via,
    })  # fmt: skip


COMMANDS = {
    c.CreateDevice: _create_device,
    c.CloseDevice: _close_device,
    c.StartFabric: _start_fabric,
    c.CreateBuffer: _create_buffer,
    c.DeallocateBuffer: _deallocate_buffer,
    c.DeleteBuffer: _delete_buffer,
    c.WriteBuffer: _write_buffer,
    c.ReadBuffer: _read_buffer,
    c.WriteDirect: _write_direct,
    c.ReadDirect: _read_direct,
    c.CreateProgram: _create_program,
    c.DeleteProgram: _delete_program,
    c.CreateKernel: _create_kernel,
    c.SetRuntimeArgs: _set_runtime_args,
    c.UpdateRuntimeArg: _update_runtime_arg,
    c.SetCommonRuntimeArgs: _set_common_runtime_args,
    c.CreateCircularBuffer: _create_circular_buffer,
    c.UpdateCircularBuffer: _update_circular_buffer,
    c.CreateSemaphore: _create_semaphore,
    c.AssignBufferToProgram: _assign_buffer,
    c.CompileProgram: _compile_program,
    c.CreateGlobalSemaphore: _create_global_semaphore,
    c.ResetGlobalSemaphore: _reset_global_semaphore,
    c.DeleteGlobalSemaphore: _delete_global_semaphore,
    c.EnqueueProgram: _enqueue_program,
    c.RecordEvent: _record_event,
    c.WaitForEvent: _wait_for_event,
    c.SynchronizeEvent: _synchronize_event,
    c.QueryEvent: _query_event,
    c.Finish: _finish,
    c.CreateSubDeviceManager: _create_manager,
    c.LoadSubDeviceManager: _load_manager,
    c.RemoveSubDeviceManager: _remove_manager,
    c.SetStallGroup: _set_stall_group,
    c.CompareBuffer: _compare,
    c.LoadTrace: _load_trace,
    c.ReplayTrace: _replay_trace,
    c.ReleaseTrace: _release_trace,
    c.CreateHostDevice: _create_host_device,
    c.CreateEvent: _create_event,
    c.SignalEvent: _signal_event,
    c.WaitEvents: _wait_events,
    c.HostWork: _host_work,
    c.EnqueueFunction: _enqueue_function,
    c.TransferBuffer: _transfer_buffer,
}
