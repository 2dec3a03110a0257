"""db.sqlite: operations, tensors and the memory they lie in, as ttnn-visualizer's memory report reads them."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tensim.sim.host.buffers import BUFFER_TYPE_NAMES, INTERLEAVED, L1, LAYOUT_NAMES
from tensim.sim.output_files import output_path, write_output

if TYPE_CHECKING:
    from tensim.sim.arch import Arch
    from tensim.sim.chip.launch import CircularBufferLaunch
    from tensim.tool_files.operands import Described, Operands, Tensor
    from tensim.tool_files.recording import BufferPlace, DeviceRecord, Operation

FILE, CONFIG = "db.sqlite", "config.json"
SCHEMA_VERSION = "2.1"
WRITER = "tensim"
LAYOUTS = {"INTERLEAVED": 0, "SINGLE_BANK": 0, "HEIGHT_SHARDED": 1, "WIDTH_SHARDED": 2, "BLOCK_SHARDED": 3}
COMPARISON = "tensor_id int, golden_tensor_id int, matches int, desired_pcc float, actual_pcc float"
DEVICE_COLUMNS = (
    "device_id", "num_y_cores", "num_x_cores", "num_y_compute_cores", "num_x_compute_cores", "worker_l1_size", "l1_num_banks",
    "l1_bank_size", "address_at_first_l1_bank", "address_at_first_l1_cb_buffer", "num_banks_per_storage_core",
    "num_compute_cores", "num_storage_cores", "total_l1_memory", "total_l1_for_tensors", "total_l1_for_interleaved_buffers",
    "total_l1_for_sharded_buffers", "cb_limit",
)  # fmt: skip
TABLES = {
    "operations": "operation_id int unique, name text, duration float",
    "operation_arguments": "operation_id int, name text, value text",
    "tensors": "tensor_id int unique, shape text, dtype text, layout text, memory_config text, device_id int, address int, "
    "buffer_type int, size int",
    "input_tensors": "operation_id int, input_index int, tensor_id int",
    "output_tensors": "operation_id int, output_index int, tensor_id int",
    "buffers": "operation_id int, device_id int, address int, max_size_per_bank int, buffer_type int, buffer_layout int",
    "buffer_chunks": "operation_id int, device_id int, address int, bank_id int, core_x int, core_y int, chunk_address int, "
    "chunk_size int, page_size int, num_pages int, buffer_type int",
    "local_tensor_comparison_records": COMPARISON,
    "global_tensor_comparison_records": COMPARISON,
    "devices": ", ".join(f"{name} int" for name in DEVICE_COLUMNS),
    "report_metadata": "key text unique, value text",
    "captured_graph": "operation_id int, captured_graph text",
    "device_tensors": "tensor_id int, device_id int, address int",
    "stack_traces": "operation_id int, stack_trace text",
    "errors": "operation_id int, operation_name text, error_type text, error_message text, stack_trace text, timestamp text",
    "nodes": "operation_id int, unique_id int, node_operation_id int, name text",
    "edges": "operation_id int, source_unique_id int, sink_unique_id int, source_output_index int, sink_input_index int, key int",
}


def write_database(
    folder: str | Path, described: Sequence[Described], devices: Iterable[DeviceRecord], title: str
) -> None:
    """Write the database and its configuration; `described`: the operations (`operands.Described`)."""
    with output_path(Path(folder) / FILE) as path, contextlib.closing(sqlite3.connect(path)) as database, database:
        for name, columns in TABLES.items():
            database.execute(f"CREATE TABLE {name} ({columns})")
        _fill(database, described, devices)
    write_output(Path(folder) / CONFIG, json.dumps({"report_name": title, "written_by": WRITER}) + "\n")


def _fill(database: sqlite3.Connection, described: Sequence[Described], devices: Iterable[DeviceRecord]) -> None:
    rows = _Rows(database)
    for device in {device.id: device for device in devices}.values():
        rows.add("devices", *_device(device))
    for number, one in enumerate(described, 1):
        _operation(rows, number, one)
    operations = [one.operation for one in described]
    total = sum(operation.nanoseconds(operation.ended - operation.started) for operation in operations)
    begun = min((operation.issued_ns for operation in operations), default=0)
    rows.add("report_metadata", "schema_version", SCHEMA_VERSION)
    rows.add("report_metadata", "capture_timestamp_ns", str(round(begun)))
    rows.add("report_metadata", "total_duration_ns", str(round(total)))


def is_ours(folder: str | Path) -> bool:
    """Whether a report in a folder was written by tensim, so that it may be replaced."""
    try:
        found = json.loads((Path(folder) / CONFIG).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(found, dict) and found.get("written_by") == WRITER


class _Rows:
    """Rows into a database; tensors once each."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self.database, self.tensors = database, {}

    def add(self, table: str, *values: Any) -> None:
        """Insert a row."""
        self.database.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(values))})", values)

    def tensor(self, device: int, tensor: Tensor) -> int:
        """Number of a tensor on a device: one for each buffer and shape."""
        key = (device, tensor.buffer.id, tensor.buffer.address, tensor.shape)
        if key not in self.tensors:
            number = self.tensors[key] = len(self.tensors) + 1
            place = tensor.buffer
            self.add(
                "tensors", number, f"Shape({list(tensor.logical)})", f"DataType.{tensor.dtype}", f"Layout.{tensor.layout}",
                _memory_config(place), device, place.address, place.buffer_type, place.size,
            )  # fmt: skip
            self.add("device_tensors", number, device, place.address)
        return self.tensors[key]


def _memory_config(place: BufferPlace) -> str:
    layout = LAYOUT_NAMES[place.layout] if LAYOUTS[LAYOUT_NAMES[place.layout]] else LAYOUT_NAMES[INTERLEAVED]
    kind = BUFFER_TYPE_NAMES[place.buffer_type]
    return f"MemoryConfig(memory_layout=TensorMemoryLayout::{layout},buffer_type=BufferType::{kind},shard_spec=std::nullopt)"


def _device(device: DeviceRecord) -> tuple[int, ...]:
    arch = device.arch
    (columns, rows), (width, height) = arch.grid, arch.noc_size
    cores, base = columns * rows, arch.l1_user_base
    tensors = arch.l1_size - base
    return (
        device.id, height, width, rows, columns, arch.l1_size, cores, tensors, base, base, 1, cores, 0, cores * arch.l1_size,
        cores * tensors, cores * tensors, cores * tensors, arch.l1_size,
    )  # fmt: skip


def _operation(rows: _Rows, number: int, one: Described) -> None:
    """Everything of one operation."""
    operation, operands, device = one.operation, one.operands, one.operation.device
    rows.add("operations", number, one.name, operation.nanoseconds(operation.ended - operation.started) / 1e9)
    settings = operation.about.operation["settings"] if operation.about is not None else {}
    for key, value in (("program", one.title), ("run host ID", operation.run_id), *settings.items()):
        rows.add("operation_arguments", number, key, str(value))
    inputs = [rows.tensor(device.id, tensor) for tensor in operands.inputs]
    outputs = [rows.tensor(device.id, tensor) for tensor in operands.outputs]
    for table, tensors in (("input_tensors", inputs), ("output_tensors", outputs)):
        for index, tensor in enumerate(tensors):
            rows.add(table, number, index, tensor)
    told = {tensor.buffer.id: tensor.buffer for tensor in (*operands.inputs, *operands.outputs)}
    for place in operation.buffers if operation.about is None else told.values():
        layout = LAYOUTS[LAYOUT_NAMES[place.layout]]
        rows.add("buffers", number, device.id, place.address, place.size_per_bank, place.buffer_type, layout)
        for bank, pages in _pages_by_bank(place):
            x, y = _core(device.arch, place, bank)
            size = pages * place.page_stride
            rows.add(
                "buffer_chunks", number, device.id, place.address, bank, x, y, place.address, size, place.page_size, pages,
                place.buffer_type,
            )  # fmt: skip
    rows.add("captured_graph", number, json.dumps(_graph(operation, one.name, operands, inputs, outputs)))


def _pages_by_bank(place: BufferPlace) -> Iterator[tuple[int, int]]:
    """(bank, number of pages) of a buffer's part in each of its banks: pages go round."""
    whole, rest = divmod(place.pages, max(len(place.banks), 1))
    for i, bank in enumerate(place.banks):
        pages = whole + (i < rest)
        if pages:
            yield bank, pages


def _core(arch: Arch, place: BufferPlace, bank: int) -> tuple[int, int]:
    """(x, y) of a bank: of a worker on the logical grid, of a DRAM bank in one row."""
    return (bank % arch.grid[0], bank // arch.grid[0]) if place.buffer_type == L1 else (bank, 0)


def _graph(
    operation: Operation, name: str, operands: Operands, inputs: Sequence[int], outputs: Sequence[int]
) -> list[dict[str, Any]]:
    """The operation as a captured graph: its tensors, buffers and circular buffers in the order of a call."""
    nodes: list[dict[str, Any]] = []
    device = operation.device.id

    def node(kind: str, connections: Iterable[int] = (), input_tensors: Iterable[int] = (), **params: Any) -> int:
        nodes.append(
            {
                "counter": len(nodes), "id": len(nodes), "node_type": kind,
                "params": {key: str(value) for key, value in params.items()},
                "connections": list(connections), "arguments": [], "input_tensors": list(input_tensors),
                "stacking_level": 1 if kind not in ("capture_start", "capture_end") else 0,
            }
        )  # fmt: skip
        return len(nodes) - 1

    start = node("capture_start")
    tensors = [
        node(
            "tensor", tensor_id=number, shape=f"Shape({list(tensor.logical)})", dtype=f"DataType.{tensor.dtype}",
            memory_config=_memory_config(tensor.buffer), device_tensors=[],
        )
        for number, tensor in zip((*inputs, *outputs), (*operands.inputs, *operands.outputs), strict=True)
    ]  # fmt: skip
    begin = node("function_start", input_tensors=tensors[: len(inputs)], name=name, inputs=len(inputs))
    for tensor, at in zip((*operands.inputs, *operands.outputs), tensors, strict=True):
        nodes[at]["connections"].append(begin if at < tensors[0] + len(inputs) else len(nodes))
        place = tensor.buffer
        node(
            "buffer", connections=[at], address=place.address, size=place.size, type=BUFFER_TYPE_NAMES[place.buffer_type],
            layout=LAYOUT_NAMES[place.layout], page_size=place.page_size, device_id=device,
        )  # fmt: skip
    for cores, group in _circular_buffers(operation):
        cb = group[0]
        node(
            "circular_buffer_allocate", connections=[begin], address=cb.address, size=cb.size, page_size=cb.page_size,
            num_cores=len(cb.cores), type="L1", core_range_set=cores, globally_allocated=int(cb.on_buffer), device_id=device,
            max_size_per_bank=cb.size,
        )  # fmt: skip
    node("circular_buffer_deallocate_all", connections=[begin], device_id=device)
    duration = round(operation.nanoseconds(operation.ended - operation.started))
    end = node("function_end", connections=[], name=name, duration_ns=duration)
    nodes[begin]["connections"] += [end]
    nodes[start]["connections"] += [begin]
    nodes[end]["connections"] += [node("capture_end")]
    return nodes


def _circular_buffers(operation: Operation) -> Iterator[tuple[str, list[CircularBufferLaunch]]]:
    """(core ranges as text, its indices) of each circular buffer: indices at one address on the same cores are one."""
    found, columns = {}, operation.device.arch.grid[0]
    for cb in operation.launch.circular_buffers:
        found.setdefault((cb.address, cb.size, tuple(cb.cores)), []).append(cb)
    for (_, _, cores), group in found.items():
        places = [(core % columns, core // columns) for core in cores]
        (x0, y0), (x1, y1) = (tuple(f(axis) for axis in zip(*places, strict=True)) for f in (min, max))
        yield f"{{[(x={x0},y={y0}) - (x={x1},y={y1})]}}", group
