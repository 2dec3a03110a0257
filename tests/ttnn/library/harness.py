"""Programs of the kernels that ttnn's releases ship, read from unpacked wheels: nothing of them is in this repository.

A `Case` names the kernel files of one program by their path below the wheel's root and says what arguments they get, as the
library's host code would.  TENSIM_TTNN_SOURCES holds the folders of unpacked wheels, separated as in PATH; TENSIM_GOLDEN_OPS
a folder of golden cases, whose operands and results then take the place of random operands and numpy's result.
"""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace

import ml_dtypes
import numpy as np
import pytest

import tensim.ttnn as ttnn

OPS = "ttnn/cpp/ttnn/operations/"
DTYPES = {"bf16": ttnn.bfloat16, "fp32": ttnn.float32}
BITS = {"bf16": (np.uint16, ml_dtypes.bfloat16), "fp32": (np.uint32, np.float32)}
CONFIGS = {"reader": ttnn.ReaderConfigDescriptor, "writer": ttnn.WriterConfigDescriptor}


def roots(generation):
    """Roots of the unpacked wheels of a generation: "classic" has compute_kernel_api, "modern" api/compute."""
    found = []
    for folder in filter(None, os.environ.get("TENSIM_TTNN_SOURCES", "").split(os.pathsep)):
        for root in (Path(folder), Path(folder) / "ttnn"):
            if (root / "ttnn/cpp").is_dir():
                classic = (root / "tt_metal/include/compute_kernel_api").is_dir()
                found += [root] * (classic == (generation == "classic"))
    return found


# --- what a case is made of


@dataclass(frozen=True)
class Kernel:
    """A kernel file and, as functions of the case's tensors, its arguments.

    `kind`: reader, writer or compute; `named`: named compile-time arguments; `bound`: what a kernel with named bindings
    finds in its namespaces, {"args": {name: value}, "constants": {...}, "dfb": {...}, "tensor": {name: tensor}}: runtime
    arguments, compile-time arguments, circular buffers, tensors.
    """

    kind: str
    path: str
    words: Callable = lambda t: []
    args: Callable = lambda t: []
    defines: dict = field(default_factory=dict)
    named: dict = field(default_factory=dict)
    bound: Callable | None = None


@dataclass(frozen=True)
class Operand:
    """A random operand, or the shape of the result; `config` None: interleaved in DRAM."""

    shape: tuple
    dtype: str = "bf16"
    layout: object = ttnn.TILE_LAYOUT
    config: object = None
    draw: Callable = lambda rng, shape: rng.standard_normal(shape)


@dataclass(frozen=True)
class Case:
    """A program: operands `a`, `b`, ..., its result, its kernels, what the result should be.

    `buffers`: {index: (operand whose pages it holds or DataType, pages[, bytes of a page])}, or {index: operand} for a
    circular buffer that lies on a sharded tensor.  `expected`: numpy, of operands as float32; `tolerance`: of the largest
    magnitude, 0 for equal bits.  `golden`: id of a golden case.  `compute`: settings of the compute kernel.
    """

    name: str
    operands: tuple
    out: Operand
    kernels: tuple
    buffers: dict
    expected: Callable
    tolerance: float = 0.0
    golden: str | None = None
    compute: dict = field(default_factory=dict)
    cores: tuple = (1, 1)


def words(tensor):
    """Compile-time arguments of a tensor accessor."""
    return ttnn.TensorAccessorArgs(tensor).get_compile_time_args()


def at(tensor):
    return tensor.buffer_address()


def pages(tensor):
    return tensor.buffer_num_pages()


# --- running one


def run(case, root, device):
    """Run a case with the kernels below `root` and compare its result."""
    device.clear_program_cache()  # other wheels have files of the same names
    case, arrays, wanted = _golden(case) or _random(case)
    tensors = [_put(device, one, array) for one, array in zip(case.operands, arrays, strict=True)]
    config = case.out.config or ttnn.DRAM_MEMORY_CONFIG
    out = ttnn.allocate_tensor_on_device(
        ttnn.Shape(list(case.out.shape)), DTYPES[case.out.dtype], case.out.layout, device, config
    )
    t = SimpleNamespace(**dict(zip("abcd", tensors, strict=False)), out=out, device=device)
    cores = ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (case.cores[0] - 1, case.cores[1] - 1))])
    program = ttnn.ProgramDescriptor(
        kernels=[_kernel(kernel, t, cores, case) for kernel in case.kernels],
        cbs=[_buffer(index, what, t, cores) for index, what in case.buffers.items()],
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TT_METAL_HOME", str(root))
        ttnn.generic_op([*tensors, out], program)
    compare(out.to_numpy(), wanted, case)


def compare(found, wanted, case):
    found, wanted = np.asarray(found), np.asarray(wanted)
    assert found.shape == wanted.shape, f"{found.shape}, not {wanted.shape}"
    if wanted.dtype.kind == "u" or case.tolerance == 0:
        kind = BITS[case.out.dtype][0]
        np.testing.assert_array_equal(_bits(found, kind), _bits(wanted, kind))
    else:
        limit = case.tolerance * np.abs(wanted).max()
        np.testing.assert_allclose(found.astype(np.float32), wanted, rtol=0, atol=limit)


def _bits(array, kind):
    return array.view(kind) if array.dtype.itemsize == np.dtype(kind).itemsize else array


def _random(case):
    rng = np.random.default_rng(0)
    arrays = [operand.draw(rng, operand.shape).astype(BITS[operand.dtype][1]) for operand in case.operands]
    wanted = np.asarray(case.expected(*(array.astype(np.float32) for array in arrays)))
    return case, arrays, wanted if case.tolerance else wanted.astype(BITS[case.out.dtype][1])


def _golden(case):
    """The case with the operands and the result of its golden case; None without one."""
    folder = os.environ.get("TENSIM_GOLDEN_OPS")
    if not folder or case.golden is None:
        return None
    record = next(item for item in json.loads((Path(folder) / "index.json").read_text()) if item["id"] == case.golden)
    with np.load(Path(folder) / record["file"]) as file:
        arrays = {name: file[one["key"]] for name, one in record["arrays"].items()}
    wanted = arrays.pop("out")[tuple(slice(size) for size in record["out_shape"])]
    operands = [
        replace(one, shape=array.shape, dtype=record["b" if name.startswith("b") else "a"])
        for one, (name, array) in zip(case.operands, sorted(arrays.items()), strict=True)
    ]
    given = [
        array.view(BITS[one.dtype][1]) if array.dtype.kind == "u" else array.astype(BITS[one.dtype][1])
        for one, (_, array) in zip(operands, sorted(arrays.items()), strict=True)
    ]
    assert case.out.shape[-len(wanted.shape) :] == wanted.shape
    return replace(case, operands=tuple(operands)), given, wanted.reshape(case.out.shape)


def _put(device, one, array):
    config = one.config or ttnn.DRAM_MEMORY_CONFIG
    return ttnn.from_torch(array, dtype=DTYPES[one.dtype], layout=one.layout, device=device, memory_config=config)


def _buffer(index, what, t, cores):
    if isinstance(what, str):
        return ttnn.cb_descriptor_from_sharded_tensor(index, getattr(t, what))
    kind, count, *size = what
    tensor = getattr(t, kind) if isinstance(kind, str) else None
    dtype = tensor.dtype if tensor is not None else kind
    page = size[0] if size else ttnn.tile_size(dtype)
    return ttnn.CBDescriptor(count * page, cores, [ttnn.CBFormatDescriptor(index, dtype, page)])


def _kernel(one, t, cores, case):
    config = ttnn.ComputeConfigDescriptor(**case.compute) if one.kind == "compute" else CONFIGS[one.kind]()
    common = {
        "core_ranges": cores, "config": config, "defines": list(one.defines.items()),
        "named_compile_time_args": list(one.named.items()),
    }  # fmt: skip
    if one.bound is not None:
        return _bound(one, t, cores, common)
    args = one.args(t)
    per_core = args if isinstance(args, dict) else dict.fromkeys(_places(cores), args)
    return ttnn.KernelDescriptor(
        one.path, compile_time_args=one.words(t), runtime_args=list(per_core.items()), **common
    )


def _bound(one, t, cores, common):
    """A kernel that names its arguments: a text that binds the names and includes the file."""
    bound = one.bound(t)
    lines = ['#include "experimental/kernel_args.h"', "void kernel_main();", "namespace args {"]
    for number, name in enumerate(bound.get("args", {})):
        lines.append(f"constexpr RtaArg<uint32_t> {name}{{{4 * number}}};")
    lines += [f"constexpr CtaVal<uint32_t> {name}{{{value}u}};" for name, value in bound.get("constants", {}).items()]
    lines += ["}", "namespace dfb {"]
    lines += [f"constexpr DFBBindingToken<> {name}{{{index}}};" for name, index in bound.get("dfb", {}).items()]
    lines += ["}", "namespace tensor {"]
    given, addresses = [], []
    for name, tensor in bound.get("tensor", {}).items():
        lines.append(f"constexpr ::tensor_accessor::TensorBindingToken<{len(given)}, {4 * len(addresses)}> {name}{{}};")
        given += words(tensor)
        addresses.append(at(tensor))
    lines += ["}", f'#include "{one.path}"']
    args = list(bound.get("args", {}).values())
    return ttnn.KernelDescriptor(
        "\n".join([*lines, ""]), ttnn.KernelDescriptor.SourceType.SOURCE_CODE, compile_time_args=given,
        common_runtime_args=addresses, runtime_args=[(place, args) for place in _places(cores)], **common,
    )  # fmt: skip


def _places(cores):
    return [(core.x, core.y) for core in ttnn.corerange_to_cores(cores)]
