"""Metal traces in Light Metal binaries: a `TraceDescriptor` to nodes and back, and files that hold one trace alone."""

from tensim.sim.errors import BinaryError, UsageError
from tensim.sim.host.frozen_program import FrozenCircularBuffer, FrozenKernel, FrozenProgram, FrozenSemaphore
from tensim.sim.host.trace_descriptor import SubDeviceCounters, TraceDescriptor, TraceRegion
from tensim.traces.flatbuffers.tables import Node
from tensim.traces.light_metal.kernels import file_name, kernel_fields
from tensim.traces.light_metal.values import integers
from tensim.traces.light_metal.values import kernel_config as read_config
from tensim.traces.light_metal.write import REFERENCED, core_coord, kernel_config, optional, references_of


def _coords(cores):
    return [core_coord(core) for core in cores]


def _references(b, references):
    """((index, kind, key), ...) -> structs; a file without commands does not know the objects, so its traces cannot move."""
    known = ((0, *one) for one in references if one[1] not in REFERENCED or b.knows(REFERENCED[one[1]], one[2]))
    return references_of(b, known)


def _known_buffer(b, number):
    return optional("Uint32", b.id("buffer", number) if b.knows("buffer", number) else None)


def _kernel(b, kernel):
    text, references = kernel_fields(kernel.kernel), dict(kernel.references)
    args = [
        Node("TracedArguments", {
            "core": core_coord(core), "words": words, "references": _references(b, references.get(core, ())),
        })
        for core, words in kernel.args
    ]  # fmt: skip
    return Node("TracedKernel", {
        "source": text["source"], "kernel_name": text["kernel_name"], "kernel_config": kernel_config(kernel.parameters),
        "cores": _coords(kernel.cores), "args": args, "common_args": kernel.common_args,
        "file_name": file_name(kernel.kernel), "common_references": _references(b, references.get(None, ())),
        "compile_references": _references(b, kernel.compile_references),
    })  # fmt: skip


def _circular_buffer(b, cb):
    return Node("TracedCircularBuffer", {
        "cores": _coords(cb.cores), "address": cb.address, "size": cb.size, "data_formats": list(cb.formats),
        "page_sizes": list(cb.page_sizes), "on_buffer": cb.on_buffer, "buffer": _known_buffer(b, cb.buffer),
        "tiles": [(index, ((height, width), False)) for index, height, width in cb.tiles], "offset": cb.offset,
    })  # fmt: skip


def _program(b, program):
    semaphores = [
        Node("TracedSemaphore", {"id": semaphore.id, "cores": _coords(semaphore.cores), "initial": semaphore.initial})
        for semaphore in program.semaphores
    ]
    return Node("TracedProgram", {
        "kernels": [_kernel(b, kernel) for kernel in program.kernels], "semaphores": semaphores,
        "circular_buffers": [_circular_buffer(b, cb) for cb in program.circular_buffers],
        "sub_device": program.sub_device, "program": program.program,
    })  # fmt: skip


def _region(b, region):
    return Node("TracedRegion", {
        "name": region.name, "in_dram": region.in_dram, "banks": region.banks, "address": region.address,
        "size": region.size, "buffer": _known_buffer(b, region.buffer),
    })  # fmt: skip


def add_trace(writer, number, descriptor):
    """Put a `TraceDescriptor` into a file under its trace id, with the kernels it runs."""
    writer.kernels += (kernel.kernel for program in descriptor.programs for kernel in program.kernels)
    node = Node("TraceDescriptorByTraceId", {"trace_id": number, "desc": _descriptor(writer, descriptor)})
    writer.descriptors[number] = writer.writer.node(node)


def _descriptor(b, descriptor):
    """A `TraceDescriptor` as the table of that name; `b`: the BinaryWriter."""
    mappings = [
        Node("SubDeviceDescriptorMapping", {
            "sub_device_id": counters.sub_device,
            "descriptor": Node("TraceWorkerDescriptor", {
                "num_completion_worker_cores": counters.num_completion_worker_cores,
                "num_traced_programs_needing_go_signal_multicast": counters.num_traced_programs_needing_go_signal_multicast,
                "num_traced_programs_needing_go_signal_unicast": counters.num_traced_programs_needing_go_signal_unicast,
            }),
        })
        for counters in descriptor.counters
    ]  # fmt: skip
    return Node("TraceDescriptor", {
        "sub_device_descriptors": mappings, "sub_device_ids": descriptor.sub_device_ids,
        "programs": [_program(b, program) for program in descriptor.programs], "cq_id": descriptor.queue,
        "trace_bytes": descriptor.trace_bytes, "regions": [_region(b, region) for region in descriptor.buffers],
    })  # fmt: skip


# --- and back


def _cores(nodes):
    return tuple((node.x, node.y) for node in nodes or ())


def _named(names, number, node):
    """The name of an object by its global id; BinaryError when no command makes it, as in a file of a trace alone."""
    name = names.get(number)
    if name is None:
        where = {"offset": node.position, "field": "TraceDescriptor"}
        raise BinaryError(f"the trace refers to object {number}, which no command makes", where=where)
    return name


def _read_references(structs, names, node):
    """Structs in `node` -> ((index, kind, key), ...)."""
    rows = () if structs is None else structs.tolist()
    return tuple((index, kind, _named(names, key, node) if kind in REFERENCED else key) for _, index, key, kind in rows)


def _read_kernel(node, kernels, names):
    if node.source is None or node.kernel_config is None:
        raise BinaryError("a traced kernel without its text", where={"offset": node.position, "field": "TracedKernel"})
    kernel = kernels.kernel(node.source, node.kernel_name, node.file_name)
    args = tuple(((arg.core.x, arg.core.y), integers(arg.words)) for arg in node.args or ())
    references = {(arg.core.x, arg.core.y): _read_references(arg.references, names, arg) for arg in node.args or ()}
    references[None] = _read_references(node.common_references, names, node)
    lengths = {core: len(words) for core, words in args} | {
        None: 0 if node.common_args is None else len(node.common_args)
    }
    config, compile_references = read_config(node.kernel_config), _read_references(node.compile_references, names, node)
    for known, count in [
        *((known, lengths[core]) for core, known in references.items()), (compile_references, len(config.compile_args))
    ]:  # fmt: skip
        if any(index >= count for index, _, _ in known):
            where = {"offset": node.position, "field": "TracedKernel"}
            raise BinaryError("a reference of a traced kernel does not point to an argument", where=where)
    standing = tuple((core, known) for core, known in references.items() if known)
    return FrozenKernel(
        kernel, config, _cores(node.cores), args, integers(node.common_args), standing, compile_references
    )


def _pairs(records):
    return () if records is None else tuple(map(tuple, records.tolist()))


def _read_circular_buffer(node, names):
    tiles = () if node.tiles is None else tuple((i, *map(int, shape)) for i, (shape, _) in node.tiles.tolist())
    return FrozenCircularBuffer(
        _cores(node.cores), node.address, node.size, _pairs(node.data_formats), _pairs(node.page_sizes), tiles,
        node.on_buffer, None if node.buffer is None else _named(names, node.buffer.value, node), node.offset,
    )  # fmt: skip


def _each(nodes, read):
    """What `read` makes of each node, once for nodes that stand there again."""
    nodes = nodes or ()
    found = {id(node): read(node) for node in {id(node): node for node in nodes}.values()}
    return tuple(found[id(node)] for node in nodes)


def _read_program(node, kernels, names):
    semaphores = tuple(
        FrozenSemaphore(semaphore.id, _cores(semaphore.cores), semaphore.initial) for semaphore in node.semaphores or ()
    )
    return FrozenProgram(
        node.program, _each(node.kernels, lambda kernel: _read_kernel(kernel, kernels, names)),
        tuple(_read_circular_buffer(cb, names) for cb in node.circular_buffers or ()), semaphores, node.sub_device,
    )  # fmt: skip


def _read_counters(node):
    counters = node.descriptor
    if counters is None:
        raise BinaryError(
            "no counters", where={"offset": node.position, "field": "SubDeviceDescriptorMapping.descriptor"}
        )
    return SubDeviceCounters(
        node.sub_device_id, counters.num_completion_worker_cores, counters.num_traced_programs_needing_go_signal_multicast,
        counters.num_traced_programs_needing_go_signal_unicast,
    )  # fmt: skip


def _read_region(node, names):
    buffer = None if node.buffer is None else _named(names, node.buffer.value, node)
    return TraceRegion(node.name or "", node.in_dram, integers(node.banks), node.address, node.size, buffer)


def read_descriptor(node, kernels, names):
    """The `TraceDescriptor` in its table; `kernels`: the file's `KernelReader`; `names`: records' names by global ids.

    UsageError for a trace of tt-metal's own dispatch words.
    """
    if node.programs is None and node.trace_data is not None and len(node.trace_data):
        raise UsageError(
            f"the trace holds {len(node.trace_data)} dispatch words of tt-metal's own firmware, which tensim cannot execute",
            hint="capture the workload with tensim, or as commands without a metal trace",
        )
    regions = tuple(_read_region(region, names) for region in node.regions or ())
    return TraceDescriptor(
        node.cq_id, integers(node.sub_device_ids), tuple(map(_read_counters, node.sub_device_descriptors or ())),
        _each(node.programs, lambda program: _read_program(program, kernels, names)), regions, node.trace_bytes,
    )  # fmt: skip
