"""Programs go by the names of the library's classes of operations, as in its own profiler's files."""

import pytest

from tensim.library.operation_names import OperationNames

KERNELS = "/lib/ttnn/cpp/ttnn/operations"
READER = f"{KERNELS}/eltwise/unary/device/kernels/dataflow/reader_unary_interleaved_start_id.cpp"
MANGLED = (
    "_ZN4ttnn4prim21MatmulDeviceOperationE _ZN4ttnn4prim24LayerNormDeviceOperationE 23BinaryNgDeviceOperation "
    "20UnaryDeviceOperation 21ReduceDeviceOperation 19CopyDeviceOperation 21ConcatDeviceOperation 23UntilizeDeviceOperation"
)


@pytest.fixture(scope="module")
def names(tmp_path_factory):
    folder = tmp_path_factory.mktemp("library")
    (folder / "build/lib").mkdir(parents=True)
    (folder / "build/lib/_ttnncpp.so").write_bytes(b"\0" + MANGLED.replace(" ", "\0").encode() + b"\0")
    return OperationNames(folder)


@pytest.mark.parametrize(
    "called, files, name",
    [
        ("ttnn.linear", [READER, f"{KERNELS}/matmul/device/kernels/compute/bmm_large_block_zm.cpp"], "Matmul"),
        ("ttnn.linear", [READER, f"{KERNELS}/eltwise/unary/device/kernels/compute/eltwise_sfpu.cpp"], "Unary"),
        ("ttnn.layer_norm", [f"{KERNELS}/normalization/layernorm/device/kernels/compute/layernorm.cpp"], "LayerNorm"),
        ("ttnn.sum", [READER, f"{KERNELS}/reduction/generic/device/kernels/compute/reduce_h.cpp"], "Reduce"),
        ("ttnn.to_layout", ["/lib/ttnn/cpp/ttnn/kernel/compute/pack_untilize.cpp"], "Untilize"),
        ("ttnn.concat", [READER], "Concat"),
        ("ttnn.to_memory_config", [READER], "Copy"),
        ("ttnn.experimental.new_thing", [READER], "NewThing"),
    ],
)
def test_the_class_of_a_program(names, called, files, name):
    assert names.of(called, files) == f"{name}DeviceOperation"


def test_a_library_without_that_binary(tmp_path):
    assert OperationNames(tmp_path).of("ttnn.matmul", []) == "MatmulDeviceOperation"
