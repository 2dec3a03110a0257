"""`tensim validate numerics DIR`: golden cases run through real kernels, compared bit by bit.

DIR holds an index.json of either layout: bit patterns of single tile operations (`tile_ops`), or whole operations of the
vendor's library (`ops`).  A case is skipped only when it uses an operation or format that tensim does not know.
"""

import json
import time
from pathlib import Path

import numpy as np

import tensim as tt
from tensim.sim.cores.numerics.data_format import tile_size
from tensim.sim.cores.numerics.host_formats import encode
from tensim.sim.cores.numerics.tile_order import tilize, untilize
from tensim.sim.errors import TensimError, UsageError
from tensim.validation.numerics import programs
from tensim.validation.numerics.programs import ARCHS, FORMATS
from tensim.validation.rows import Skip

DTYPES = {"bf16": np.uint16, "fp16": np.uint16, "fp32": np.uint32}
BLOCK_BITS = {"bfp8": 8, "bfp4": 4, "bfp2": 2}


def read_index(folder):
    """The records of a folder's index; UsageError for another folder."""
    path = Path(folder) / "index.json"
    try:
        records = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: {error}", hint="DIR holds index.json and the arrays it names") from None
    if not isinstance(records, list) or not all(isinstance(record, dict) and "op" in record for record in records):
        raise UsageError(f"{path}: not a list of golden cases", hint="see the golden cases' own description")
    return records


def code_of(name):
    """DataFormat of a format's name in the index."""
    if name not in FORMATS:
        raise Skip(f"format {name!r} is not known")
    return FORMATS[name]


def tile_bytes(array, name):
    """Bytes of a row-major 2-D array of bit patterns as tiles; block floats are tiles already."""
    if name in BLOCK_BITS:
        return np.ascontiguousarray(array, np.uint8).tobytes()
    return np.ascontiguousarray(tilize(array.astype(DTYPES[name]), *array.shape)).tobytes()


def row_major(data, name, shape):
    """Bit patterns of tiles as a row-major array of `shape`."""
    return untilize(np.frombuffer(data, DTYPES[name]), *shape).reshape(shape)


def block_datums(data, name):
    """(exponent, sign and magnitude) of each datum of block-float tiles as one number."""
    bits = BLOCK_BITS[name]
    tiles = np.frombuffer(data, np.uint8).reshape(-1, tile_size(FORMATS[name]))
    packed = tiles[:, 64:]
    parts = [(packed >> shift) & ((1 << bits) - 1) for shift in range(0, 8, bits)]
    datums = np.stack(parts, axis=-1).reshape(len(tiles), 64, 16).astype(np.int64)
    return tiles[:, :64, None].astype(np.int64) << 8 | datums


def differing(found, expected, name):
    """(differing datums, all datums) of two byte strings of a format; all differ in an output of another size."""
    if name in BLOCK_BITS:
        a, b = block_datums(found, name), block_datums(expected, name)
    else:
        a, b = np.frombuffer(found, DTYPES[name]), np.frombuffer(expected, DTYPES[name])
    if a.shape != b.shape:
        return int(b.size), int(b.size)
    return int((a != b).sum()), int(b.size)


# --- tile_ops: one tile of output


def tile_case(folder, record, device):
    """(differing, all) datums of Dst and output together."""
    source, out = record["in_format"], record["out_format"]
    arrays = {end: np.load(folder / f"{record['name']}.{end}.npy") for end in ("in0", "in1", "dst", "out")}
    operands = [(code_of(source), b"".join(tile_bytes(tile, source) for tile in arrays[end])) for end in ("in0", "in1")]
    fidelity, wide = tt.MathFidelity[record["fidelity"]], record["dst_fp32"]
    dst = "fp32" if wide else "fp16" if source == "fp16" else "bf16"
    if record["op"] == "mm":
        inner = record["k_tiles"]
        work = programs.matmul(*operands, code_of(out), (1, inner, 1), inner, fidelity, wide, False, code_of(dst))
    elif record["op"] in programs.BINARY:
        work = programs.eltwise(record["op"], *operands, code_of(out), (1, 1), None, fidelity, wide, code_of(dst))
    else:
        raise Skip(f"operation {record['op']!r} is not known")
    found = work.run(device)
    wanted = {programs.OUT: (arrays["out"], out), programs.DST: (arrays["dst"], dst)}
    counts = [differing(found[cb], tile_bytes(array, name), name) for cb, (array, name) in wanted.items()]
    return sum(bad for bad, _ in counts), sum(total for _, total in counts)


# --- ops: whole operations


def array_of(folder, record, name):
    with np.load(folder / record["file"]) as arrays:
        return arrays[record["arrays"][name]["key"]]


def operand(folder, record, name):
    """(format, bytes of tiles) of an operand; a broadcast one arrives as float32 values that bf16 holds exactly."""
    kind = record[name]
    if name in record["arrays"]:
        return code_of(kind), tile_bytes(array_of(folder, record, name), kind)
    values = array_of(folder, record, f"{name}_f32")
    padded = np.zeros([-(-size // 32) * 32 for size in values.shape], np.float32)
    padded[: values.shape[0], : values.shape[1]] = values
    return code_of(kind), encode(padded, code_of(kind))


def whole_case(folder, record, device):
    """(differing, all) datums of the output."""
    name = record["out_dtype"]
    found = OPERATIONS.get(record["op"], unknown)(folder, record, device)
    expected = array_of(folder, record, "out")
    if record["out_layout"].endswith("ROW_MAJOR"):
        return differing(found, np.ascontiguousarray(expected).tobytes(), name)
    return differing(found, tile_bytes(expected, name), name)


def unknown(folder, record, device):
    raise Skip(f"operation {record['op']!r} is not known")


def tiles_of(shape):
    return tuple(-(-size // 32) for size in shape)


def matmul(folder, record, device):
    m, k, n = tiles_of(record["shape"])
    a, b = operand(folder, record, "a"), operand(folder, record, "b")
    work = programs.matmul(
        a, b, code_of(record["out_dtype"]), (m, k, n), record["bw"], tt.MathFidelity[record["fid"]],
        bool(record["fp32_acc"]), record["l1_acc"],
    )  # fmt: skip
    return work.run(device)[programs.OUT]


def binary(op):
    def run(folder, record, device):
        a, b = operand(folder, record, "a"), operand(folder, record, "b")
        out = code_of(record["out_dtype"])
        work = programs.eltwise(op, a, b, out, tiles_of(record["shape"]), record.get("bcast"))
        return work.run(device)[programs.OUT]

    return run


def copy(folder, record, device):
    a, out = operand(folder, record, "a"), code_of(record["out_dtype"])
    work = programs.copy(a, out, tiles_of(record["shape"]), record["op"] == "transpose")
    return work.run(device)[programs.OUT]


def layout(folder, record, device):
    tiles, out = tiles_of(record["shape"]), code_of(record["out_dtype"])
    if record["op"] == "tilize":
        array = array_of(folder, record, "a")
        a = code_of(record["a"]), np.ascontiguousarray(array, DTYPES[record["a"]]).tobytes()
    else:
        a = operand(folder, record, "a")
    return programs.layout(a, out, tiles, record["op"] == "tilize").run(device)[programs.OUT]


def move(folder, record, device):
    """clone, concat along rows of tiles, slice of the last rows."""
    data = b""
    for name in ("a", "b"):
        if name in record["arrays"]:
            code, more = code_of(record["a"]), tile_bytes(array_of(folder, record, name), record["a"])
            data += more
    rows, columns = tiles_of(record["out_padded_shape"])
    pages = len(data) // tile_size(code)
    return programs.move((code, data), pages - rows * columns, rows * columns).run(device)[0]


def reduction(folder, record, device):
    """A reduction; both dimensions: along rows first, then down the column of the results."""
    op, dim = record["op"], record["dim"]
    a, out = operand(folder, record, "a"), code_of(record["out_dtype"])
    fidelity, wide = tt.MathFidelity[record["fid"]], bool(record["fp32_acc"])
    tiles, shape = tiles_of(record["shape"]), record["shape"]
    factors = {-1: 1.0 / shape[1] if op == "mean" else 1.0, -2: 1.0 / shape[0] if op == "mean" else 1.0}
    for item in (-1, -2) if dim is None else (dim,):
        data = programs.reduction(op, item, a, out, tiles, factors[item], fidelity, wide).run(device)[programs.OUT]
        a, tiles = (out, data), (tiles[0], 1) if item == -1 else (1, tiles[1])
    return data


OPERATIONS = {
    "matmul": matmul, "add": binary("add"), "subtract": binary("sub"), "multiply": binary("mul"), "typecast": copy,
    "transpose": copy, "untilize": layout, "tilize": layout, "clone": move, "concat": move, "slice": move,
    "sum": reduction, "mean": reduction, "max": reduction,
}  # fmt: skip


# --- all cases of a folder


def case_result(folder, record, device):
    """(differing, all) datums of a case, of either layout; `Skip` for an operation or format that tensim does not know."""
    return (tile_case if "in_format" in record else whole_case)(folder, record, device)


def describe(record):
    """(name, group): what the report calls a case, and what it counts it under."""
    if "in_format" in record:
        dst = "Dst32" if record["dst_fp32"] else "Dst16"
        parts = record["arch"], record["op"], record["in_format"], dst, record["out_format"], record["fidelity"]
        return record["name"], "/".join(parts)
    formats = [record[key] for key in ("a", "b", "out") if record.get(key)]
    width = {None: (), 0: ("Dst16",), 1: ("Dst32",)}[record.get("fp32_acc")]
    parts = record["op"], *formats, *width, *([record["fid"]] if "fid" in record else [])
    return record["id"], "/".join(parts)


def validate_folder(folder, on_progress):
    """{"n", "failed", "skipped", "failures", "rows", "host_seconds"} of the cases of a folder, one simulated chip per
    architecture.  Cases with other bits have failed, and "failures": [{"id", "why"}], whose simulation raised.
    """
    folder, begun = Path(folder), time.perf_counter()
    records = read_index(folder)
    rows, skipped, failures = [], [], []
    for arch in dict.fromkeys(record.get("arch", "wh") for record in records):
        mine = [record for record in records if record.get("arch", "wh") == arch]
        if arch not in ARCHS:
            skipped += [{"id": describe(item)[0], "why": f"architecture {arch!r} is not known"} for item in mine]
            continue
        device = tt.create_device(0, arch=ARCHS[arch], numerics="exact")
        try:
            for record in mine:
                name, group = describe(record)
                try:
                    bad, total = case_result(folder, record, device)
                    rows.append({"name": name, "op": record["op"], "group": group, "mismatching": bad, "total": total})
                except Skip as why:
                    skipped.append({"id": name, "why": str(why)})
                except (UsageError, KeyError, ValueError, OSError) as error:
                    skipped.append({"id": name, "why": f"the case cannot be read: {error!r}"})
                except TensimError as error:
                    failures.append({"id": name, "why": str(error)})
                    tt.close_device(device)  # which has failed
                    device = tt.create_device(0, arch=ARCHS[arch], numerics="exact")
                on_progress((len(rows) + len(skipped) + len(failures)) / len(records))
        finally:
            tt.close_device(device)
    return {
        "n": len(rows), "failed": sum(row["mismatching"] > 0 for row in rows) + len(failures), "skipped": skipped,
        "failures": failures, "rows": rows, "host_seconds": time.perf_counter() - begun,
    }  # fmt: skip
