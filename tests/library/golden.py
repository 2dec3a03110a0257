"""Operations of the vendor's library against golden cases, bit by bit: run below `tensim ttnn --library --numerics exact`.

Arguments: the folder of the cases (index.json and arrays), a file for the report, and perhaps names of operations.  A line of
JSON per case: its id, operation, whether its bits are equal (null: not comparable), how many values differ, and what was raised
or why it cannot be compared.  The cases are of release 0.78; those with NaN among the operands are not comparable, because the
library's host code writes another NaN than it was given.
"""

import json
import sys
from pathlib import Path

import numpy as np
import ttnn

FORMATS = {"bf16": "bfloat16", "fp32": "float32", "bfp8": "bfloat8_b", "bfp4": "bfloat4_b"}


class NotComparable(Exception):
    """A case that this release of the library does not compute in the same way."""


def dtype(name):
    return getattr(ttnn, FORMATS[name])


def values_of(array, name, shape):
    """float32 values of a golden array of bits."""
    if name == "bf16":
        return (array.astype(np.uint32) << 16).view(np.float32)
    if name == "fp32":
        return array.view(np.float32)
    return blocks(array, 7 if name == "bfp8" else 3, shape)


def blocks(raw, bits, shape):
    """Values of tiles of block floats: an exponent for each row of a face, then signs and magnitudes, faces in order."""
    height, width = (-(-size // 32) * 32 for size in shape)
    datums = 1024 if bits == 7 else 512
    tiles = raw.reshape(-1, 64 + datums)
    exponents = tiles[:, :64].astype(np.int32).repeat(16, axis=1)
    packed = tiles[:, 64:]
    codes = packed if bits == 7 else np.stack([packed & 15, packed >> 4], -1).reshape(len(tiles), -1)
    magnitudes = (codes & ((1 << bits) - 1)).astype(np.float64)
    found = np.where(codes >> bits, -magnitudes, magnitudes) * 2.0 ** (exponents - 127 - bits + 1)
    faces = found.reshape(height // 32, width // 32, 2, 2, 16, 16)
    return faces.transpose(0, 2, 4, 1, 3, 5).reshape(height, width).astype(np.float32)


def compute(case):
    """The compute settings that a case names."""
    return ttnn.WormholeComputeKernelConfig(
        math_fidelity=getattr(ttnn.MathFidelity, case["fid"]), math_approx_mode=False, fp32_dest_acc_en=bool(case["fp32_acc"]),
        packer_l1_acc=bool(case.get("l1_acc")),
    )  # fmt: skip


def matmul(case, a, b):
    m, k, n = case["shape"]
    if case["l1_acc"] and not case["fp32_acc"] and case["out"] == "bfp8" and k == 2 * 32 * case["bw"]:
        raise NotComparable("two blocks of K: this release keeps partial results in bfp8, that of the cases in bf16")
    config = ttnn.MatmulMultiCoreReuseMultiCast1DProgramConfig(
        compute_with_storage_grid_size=(1, 1), in0_block_w=case["bw"], out_subblock_h=1, out_subblock_w=1,
        per_core_M=m // 32, per_core_N=n // 32, fuse_batch=True, fused_activation=None, mcast_in0=True,
    )  # fmt: skip
    return ttnn.matmul(a, b, program_config=config, dtype=dtype(case["out"]), compute_kernel_config=compute(case))


def reduced(case, a):
    function = getattr(ttnn, case["op"])
    return function(a, dim=case["dim"], keepdim=True, compute_kernel_config=compute(case))


def sliced(case, a):
    begin = [size - out for size, out in zip(case["shape"], case["out_shape"], strict=True)]
    return ttnn.slice(a, begin, case["shape"])


OPERATIONS = {
    "matmul": matmul,
    "sum": reduced, "mean": reduced, "max": reduced, "slice": sliced,
    "add": lambda case, a, b: ttnn.add(a, b), "subtract": lambda case, a, b: ttnn.subtract(a, b),
    "multiply": lambda case, a, b: ttnn.multiply(a, b, fast_and_approximate_mode=True),  # the matrix unit's
    "transpose": lambda case, a: ttnn.transpose(a, -2, -1),
    "untilize": lambda case, a: ttnn.untilize(a), "typecast": lambda case, a: ttnn.typecast(a, dtype(case["out"])),
    "clone": lambda case, a: ttnn.clone(a), "concat": lambda case, a, b: ttnn.concat([a, b], dim=0),
}  # fmt: skip


def operand(device, file, case, name):
    one = case["arrays"].get(name) or case["arrays"][f"{name}_f32"]
    array = file[one["key"]]
    if array.dtype == np.float32:  # a row, a column or a scalar
        values, kind = np.atleast_2d(array), case[name]
    else:
        kind = case.get(name) or case["a"]
        shape = case["shape"] if case["op"] != "matmul" else (case["shape"][:2] if name == "a" else case["shape"][1:])
        values = values_of(array, kind, shape)
    if np.isnan(values).any():
        raise NotComparable("NaN among the operands")
    return ttnn.Tensor(values.reshape(-1).tolist(), list(values.shape), dtype(kind), ttnn.TILE_LAYOUT).to(device)


def differing(device, folder, case):
    """(values whose bits differ, values) of a case."""
    with np.load(folder / case["file"]) as file:
        operands = [
            operand(device, file, case, name)
            for name in ("a", "b")
            if any(key in case["arrays"] for key in (name, f"{name}_f32"))
        ]
        out = OPERATIONS[case["op"]](case, *operands).cpu()
        wanted = values_of(file[case["arrays"]["out"]["key"]], case["out_dtype"], case["out_padded_shape"])
    height, width = case["out_shape"]
    wanted = np.ascontiguousarray(wanted[:height, :width], np.float32)
    found = np.array(out.to_list(), np.float32).reshape(height, width)
    return int((found.view(np.uint32) != wanted.view(np.uint32)).sum()), wanted.size


def main(folder, report, *operations):
    device = ttnn.open_device(device_id=0)
    folder = Path(folder)
    with open(report, "w") as file:
        for case in json.loads((folder / "index.json").read_text()):
            if operations and case["op"] not in operations:
                continue
            line = {"id": case["id"], "op": case["op"], "equal": False, "differing": None, "raised": None}
            try:
                line["differing"], line["values"] = differing(device, folder, case)
                line["equal"] = line["differing"] == 0
            except NotComparable as why:
                line |= {"equal": None, "raised": str(why)}
            except Exception as error:
                line["raised"] = f"{type(error).__name__}: {error}"[:2000]
            file.write(json.dumps(line) + "\n")
            file.flush()
    ttnn.close_device(device)


if __name__ == "__main__":
    main(*sys.argv[1:])
