"""What a Light Metal binary contains, as plain data and as text: commands, programs, buffers."""

from collections import Counter

import numpy as np

from tensim.sim.cores.numerics.data_format import DataFormat
from tensim.traces.flatbuffers.tables import Node
from tensim.traces.light_metal.system import chip_names
from tensim.traces.light_metal.values import cores_of, ranges, value

MAX_WORDS = 16  # of a vector shown in a list of commands
FIDELITY = {0: "LoFi", 2: "HiFi2", 3: "HiFi3", 4: "HiFi4", 255: "Invalid"}
BUFFER_TYPES = ("DRAM", "L1", "SYSTEM_MEMORY", "L1_SMALL", "TRACE")
LAYOUTS = ("INTERLEAVED", "SINGLE_BANK", "HEIGHT_SHARDED", "WIDTH_SHARDED", "BLOCK_SHARDED")


def plain(item, limit=MAX_WORDS):
    """A node, vector or number as JSON-able data; long vectors are cut and say how long they are."""
    if isinstance(item, Node):
        fields = {key: plain(member, limit) for key, member in item.fields.items() if member is not None}
        return {"table": item.table, **fields} if item.position is not None else fields
    if isinstance(item, np.ndarray):
        if item.dtype.names:
            return [
                dict(zip(item.dtype.names, map(plain_struct, record.tolist()), strict=True)) for record in item[:limit]
            ]
        head = item[:limit].tolist()
        return head if len(item) <= limit else {"first": head, "length": len(item)}
    if isinstance(item, list):
        return [plain(element, limit) for element in item]
    if isinstance(item, str) and len(item) > 200:
        return {"text": item[:120], "length": len(item)}
    return item


def plain_struct(item):
    return (
        [plain_struct(element) for element in item]
        if isinstance(item, tuple)
        else getattr(item, "tolist", lambda: item)()
    )


def describe(binary, file):
    """The description of a file that `tensim inspect --json` prints."""
    commands, buffers, programs, kernels = [], {}, {}, {}
    names = binary.buffer_names
    for index, node in enumerate(binary.nodes()):
        if node is None:
            continue
        entry = plain(node)
        commands.append({"index": index, "command": node.table.removesuffix("Command"), **_without_table(entry)})
        _note(node, index, buffers, programs, kernels)
    for number, buffer in buffers.items():
        buffer["name"] = names.get(number)
    root = binary.root
    return {
        "file": str(file), "format": "light_metal", "numbering": binary.numbering,
        "bytes": len(binary.data), "schema_version": root.schema_version, "writer": root.writer,
        "devices": [plain(device) for device in root.devices or ()],
        "counts": dict(Counter(command["command"] for command in commands)), "commands": commands,
        "programs": list(programs.values()), "buffers": list(buffers.values()), **_recorded(binary),
    }  # fmt: skip


def _recorded(binary):
    """What recordings and saved binaries have besides commands."""
    root = binary.reader.root("spans", "binary")
    names = ("kind", "device", "queue", "label", "nbytes", "start_fs", "end_fs", "command", "program")
    return {
        "chips": chip_names(binary.root), "links": [plain(link) for link in binary.root.links or ()],
        "host_devices": [plain(host) for host in binary.root.host_devices or ()],
        "timeline": [{name: getattr(span, name) for name in names} for span in root.spans or ()],
        "binary": None if root.binary is None else plain(root.binary),
    }  # fmt: skip


def _without_table(entry):
    return {key: value for key, value in entry.items() if key != "table"}


def _note(node, index, buffers, programs, kernels):
    """Enter what a command says of buffers and programs."""
    kind = node.table
    if kind == "BufferCreateCommand":
        layout = LAYOUTS[node.buffer_layout] if node.buffer_layout < len(LAYOUTS) else str(node.buffer_layout)
        memory = BUFFER_TYPES[node.buffer_type] if node.buffer_type < len(BUFFER_TYPES) else str(node.buffer_type)
        buffers[node.global_id] = {
            "id": node.global_id, "name": None, "device": node.device_id, "memory": memory, "layout": layout,
            "size": node.large_size or node.size, "page_size": node.large_page_size or node.page_size,
            "address": node.chosen_address if node.has_chosen_address else value(node.address),
            "fixed": node.address is not None, "writes": 0, "reads": 0, "created_by": index,
        }  # fmt: skip
    elif kind in ("EnqueueWriteBufferCommand", "EnqueueReadBufferCommand") and node.buffer_global_id in buffers:
        buffers[node.buffer_global_id]["writes" if kind.startswith("EnqueueWrite") else "reads"] += 1
    elif kind == "ProgramConstructorCommand":
        programs[node.global_id] = {
            "id": node.global_id, "kernels": [], "circular_buffers": [], "semaphores": 0, "launches": 0
        }  # fmt: skip
    elif kind == "EnqueueProgramCommand" and node.program_global_id in programs:
        programs[node.program_global_id]["launches"] += 1
    elif kind == "CreateKernelCommand" and node.program_global_id in programs:
        kernels[node.global_id] = entry = _kernel(node)
        programs[node.program_global_id]["kernels"].append(entry)
    elif kind == "CreateCircularBufferCommand" and node.program_global_id in programs:
        programs[node.program_global_id]["circular_buffers"].append(_circular_buffer(node))
    elif kind == "CreateSemaphoreCommand" and node.program_global_id in programs:
        programs[node.program_global_id]["semaphores"] += 1
    elif kind.startswith("SetRuntimeArgs") and node.kernel_global_id in kernels:
        _note_args(node, kernels[node.kernel_global_id])


def _note_args(node, kernel):
    if node.table == "SetRuntimeArgsUint32VecPerCoreCommand":
        cores, counts = (
            len(node.core_spec or ()),
            {len(words.values) for words in node.args or () if words.values is not None},
        )
    else:
        cores, counts = len(cores_of(node.core_spec)), {0 if node.args is None else len(node.args)}
    kernel["args"] = max([kernel["args"], *counts])
    kernel["cores_with_args"] += cores


def _kernel(node):
    config = node.kernel_config
    unit = {"DataMovementConfig": "data movement", "ComputeConfig": "compute", "EthernetConfig": "ethernet"}
    entry = {
        "id": node.global_id, "name": node.kernel_name, "file": node.file_name, "kind": unit[config.table],
        "cores": [list(corners) for corners in ranges(node.core_spec)], "args": 0, "cores_with_args": 0,
        "compile_args": plain(config.compile_args), "has_source": node.source is not None,
        "defines": {define.key: define.value for define in config.defines or ()},
    }  # fmt: skip
    if config.table == "ComputeConfig":
        return entry | {"fidelity": FIDELITY.get(config.math_fidelity, str(config.math_fidelity))}
    return entry | {"processor": config.processor, "noc": config.noc}


def _circular_buffer(node):
    config = node.config
    formats = {} if config.data_formats is None else dict(config.data_formats.tolist())
    pages = {} if config.page_sizes is None else dict(config.page_sizes.tolist())
    names = {
        int(code): DataFormat(code).name for code in set(formats.values()) if code in DataFormat._value2member_map_
    }
    return {
        "id": node.global_id, "cores": [list(corners) for corners in ranges(node.core_spec)], "total_size": config.total_size,
        "indices": {str(i): {"format": names.get(f, f), "page_size": pages.get(i)} for i, f in formats.items()},
        "buffer": value(config.shadow_buf_global_id), "address": value(config.globally_allocated_address),
    }  # fmt: skip


def draw_program(program):
    """Lines that draw the cores of a program: a letter per set of kernels that share a core."""
    used, legend = {}, {}
    for kernel in program["kernels"]:
        for x0, y0, x1, y1 in kernel["cores"]:
            for core in ((x, y) for y in range(y0, y1 + 1) for x in range(x0, x1 + 1)):
                used.setdefault(core, []).append(kernel["id"])
    if not used:
        return ["(no kernels)"]
    for kernels in used.values():
        legend.setdefault(tuple(kernels), chr(ord("A") + len(legend) % 26))
    width, height = (max(core[axis] for core in used) + 1 for axis in (0, 1))
    lines = ["".join(legend[tuple(used[x, y])] if (x, y) in used else "." for x in range(width)) for y in range(height)]
    names = {
        kernel["id"]: kernel["name"] or (kernel["file"] or "").rpartition("/")[2] or f"kernel {kernel['id']}"
        for kernel in program["kernels"]
    }
    return lines + [f"{letter}: {', '.join(names[kernel] for kernel in kernels)}" for kernels, letter in legend.items()]
