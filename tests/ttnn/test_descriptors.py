"""Descriptors: defaults, what fields take, copies and references."""

import numpy as np
import pytest

import tensim.ttnn as ttnn
from tensim.ttnn._ttnn.program_descriptor import CBIndex, VectorUInt32

CORES = ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (1, 0))])


def kernel(**changes):
    return ttnn.KernelDescriptor(
        **{"kernel_source": "k.cpp", "core_ranges": CORES, "config": ttnn.ReaderConfigDescriptor()} | changes
    )


def test_defaults():
    one = kernel()
    assert one.source_type == ttnn.KernelDescriptor.SourceType.FILE_PATH and one.opt_level is None
    assert one.compile_time_args == one.common_runtime_args == one.defines == one.named_compile_time_args == []
    assert len(one.runtime_args) == 0
    compute = ttnn.ComputeConfigDescriptor()
    assert compute.math_fidelity == ttnn.MathFidelity.HiFi4 and compute.unpack_to_dest_mode == []
    assert not (
        compute.math_approx_mode or compute.fp32_dest_acc_en or compute.dst_full_sync_en or compute.bfp8_pack_precise
    )
    mover = ttnn.DataMovementConfigDescriptor()
    assert (mover.processor.value, mover.noc.value, mover.noc_mode.value) == (0, 0, 0)
    reader, writer = ttnn.ReaderConfigDescriptor, ttnn.WriterConfigDescriptor
    assert (reader.processor.name, reader.noc.value) == ("RISCV_1", 0)
    assert (writer.processor.name, writer.noc.value) == ("RISCV_0", 1)
    assert ttnn.TileDescriptor() == ttnn.TileDescriptor(32, 32) == ttnn.TileDescriptor(ttnn.Tile([32, 32]))
    assert ttnn.ProgramDescriptor().kernels == [] and ttnn.ProgramDescriptor().custom_program_hash is None


def test_numbers_of_enumerations():
    assert [item.value for item in ttnn.UnpackToDestMode] == [0, 1] and ttnn.UnpackToDestMode.Default.value == 1
    assert [(item.name, item.value) for item in ttnn.MathFidelity][:4] == [
        ("LoFi", 0),
        ("HiFi2", 2),
        ("HiFi3", 3),
        ("HiFi4", 4),
    ]
    assert ttnn.NOC.NOC_0 != ttnn.NOC.RISCV_0_default and ttnn.NOC.NOC_0.value == ttnn.NOC.RISCV_0_default.value == 0
    assert CBIndex.c_31 == 31 and ttnn.bfloat16 != 0 and repr(ttnn.bfloat16) == "DataType.BFLOAT16"
    assert ttnn.BufferType.L1_SMALL.value == 3 and ttnn.TensorMemoryLayout.ND_SHARDED.value == 5


@pytest.mark.parametrize(
    "dtype, number",
    zip(
        "bfloat16 float32 uint32 bfloat8_b bfloat4_b uint8 uint16 int32 fp8_e4m3 int8".split(),
        (5, 0, 24, 6, 7, 30, 9, 8, 26, 14),
        strict=True,
    ),
)
def test_data_formats(dtype, number):
    one = ttnn.CBFormatDescriptor(buffer_index=3, data_format=getattr(ttnn, dtype), page_size=2048)
    assert one.data_format_as_uint8 == number and one.tile is None
    with pytest.raises(TypeError):
        one.data_format  # noqa: B018


@pytest.mark.parametrize("values", [[1, 2], (1, 2), np.array([1, 2], np.uint32), [True, 2]])
def test_words_from_any_iterable(values):
    assert kernel(compile_time_args=values).compile_time_args == [1, 2]


@pytest.mark.parametrize(
    "changes",
    [
        {"compile_time_args": [-1]},
        {"compile_time_args": [1 << 32]},
        {"compile_time_args": [1.5]},
        {"common_runtime_args": [-1]},
        {"core_ranges": ttnn.CoreRange((0, 0), (1, 0))},
        {"kernel_source": 5},
        {"defines": {"A": "1"}},
        {"defines": [("A", 1)]},
        {"named_compile_time_args": {"a": 1}},
        {"config": ttnn.CoreGrid(x=1, y=1)},
        {"opt_level": 3},
    ],
)
def test_types_that_fields_refuse(changes):
    field = next(iter(changes))
    with pytest.raises(TypeError, match=f"KernelDescriptor: {field}"):
        kernel(**changes)


@pytest.mark.parametrize("args", [[1, 2], {(0, 0): [1]}, [[[1]]]])
def test_runtime_args_of_other_forms(args):
    with pytest.raises(RuntimeError, match="runtime_args"):
        kernel(runtime_args=args)


def test_runtime_args():
    args = ttnn.RuntimeArgs()
    args[1][0] = [7, 8]
    args[1][0].append(9)
    args[0].extend(0, [1])
    args.append(ttnn.CoreCoord(0, 1), [5])
    assert args[1][0] == [7, 8, 9] and len(args) == 3
    assert args.to_list() == [((1, 0), [7, 8, 9]), ((0, 0), [1]), ((0, 1), [5])]
    args[1][0] = [3]
    assert args[1][0] == VectorUInt32([3])
    with pytest.raises(IndexError, match="core 4-4 has no arguments"):
        args[4][4]
    assert kernel(runtime_args=[((0, 0), [1]), (ttnn.CoreCoord(1, 0), [2])]).runtime_args[1][0] == [2]


def test_methods_that_append_arguments():
    one, other = kernel(runtime_args=[((0, 0), [1, 2]), ((1, 0), [3])]), kernel(runtime_args=[((1, 0), [9])])
    one.append_runtime_args_from(other)
    assert one.runtime_args.to_list() == [((0, 0), [1, 2]), ((1, 0), [3, 0, 9])]
    one.extend_runtime_args_uniform([5])
    assert one.runtime_args[0][0] == [1, 2, 5]
    fresh = kernel(common_runtime_args=[1])
    fresh.append_common_runtime_args_from(kernel(common_runtime_args=[2]))
    fresh.extend_runtime_args_uniform([4])
    assert fresh.common_runtime_args == [1, 2] and fresh.runtime_args.to_list() == [((0, 0), [4]), ((1, 0), [4])]
    fresh.clear_runtime_args()
    assert len(fresh.runtime_args) == 0


def test_programs_copy_what_they_are_given():
    one = kernel(compile_time_args=[1])
    program = ttnn.ProgramDescriptor(kernels=[one])
    one.compile_time_args = [2]
    assert program.kernels[0].compile_time_args == [1]


def test_a_programs_kernel_is_a_reference_into_it():
    program = ttnn.ProgramDescriptor(kernels=[kernel()])
    assert program.kernels[0] is program.kernels[0]
    program.kernels[0].compile_time_args.append(4)
    program.kernels[0].runtime_args[0][0] = [6]
    assert program.kernels[0].compile_time_args == [4] and program.kernels[0].runtime_args[0][0] == [6]
    program.kernels.append(kernel())
    assert len(program.kernels) == 1
    program.kernels = [*program.kernels, kernel()]
    assert len(program.kernels) == 2 and program.kernels[0].compile_time_args == [4]


def test_modes_are_copied_and_lists_may_be_assigned():
    config = ttnn.ComputeConfigDescriptor()
    config.unpack_to_dest_mode.append(ttnn.UnpackToDestMode.Default)
    assert config.unpack_to_dest_mode == []
    config.unpack_to_dest_mode = [ttnn.UnpackToDestMode.UnpackToDestFp32]
    assert len(config.unpack_to_dest_mode) == 1


def test_semaphores_need_an_id_that_stays():
    semaphore = ttnn.SemaphoreDescriptor(id=3, core_ranges=CORES, initial_value=1)
    assert semaphore.core_type == ttnn.CoreType.WORKER
    with pytest.raises(AttributeError):
        semaphore.id = 4
    with pytest.raises(TypeError):
        ttnn.SemaphoreDescriptor(core_ranges=CORES, initial_value=1)


def test_custom_hashes_are_unsigned():
    program = ttnn.ProgramDescriptor()
    program.custom_program_hash = (1 << 64) - 1
    with pytest.raises(TypeError):
        program.custom_program_hash = -1


def test_merged_programs_run_on_different_cores():
    other = ttnn.CoreRangeSet([ttnn.CoreRange((2, 0), (2, 0))])
    merge = ttnn.merge_program_descriptors
    programs = [ttnn.ProgramDescriptor(kernels=[kernel(core_ranges=cores)]) for cores in (CORES, other)]
    assert len(merge(programs).kernels) == 2
    with pytest.raises(RuntimeError, match="core .* runs kernels of two programs"):
        merge([programs[0], programs[0]])


def test_what_the_hash_of_a_description_sees():
    number = ttnn.compute_program_descriptor_hash

    def of(**changes):
        return number(ttnn.ProgramDescriptor(kernels=[kernel(**changes)]))

    same = of()
    assert same == of() and same == of(compiler_include_paths=["/x"])
    others = (
        {"kernel_source": "l.cpp"},
        {"compile_time_args": [1]},
        {"common_runtime_args": [1]},
        {"defines": [("A", "1")]},
    )
    assert all(of(**change) != same for change in (*others, {"runtime_args": [((0, 0), [1])]}))


def test_circular_buffers_on_tensors():
    device = ttnn.open_device(device_id=3)
    spec = ttnn.ShardSpec(CORES, [2, 50], ttnn.ShardOrientation.ROW_MAJOR)
    config = ttnn.MemoryConfig(ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.BufferType.L1, spec)
    shape = ttnn.Shape([4, 50])
    tensor = ttnn.allocate_tensor_on_device(shape, ttnn.bfloat16, ttnn.ROW_MAJOR_LAYOUT, device, config)
    cb = ttnn.cb_descriptor_from_sharded_tensor(4, tensor)
    one = cb.format_descriptors[0]
    assert (cb.total_size, one.page_size, one.buffer_index, one.data_format_as_uint8) == (224, 112, 4, 5)
    assert cb.has_buffer() and cb.core_ranges == CORES and cb.buffer_address() == tensor.buffer_address()
    moved = ttnn.cb_descriptor_from_sharded_tensor(4, tensor, address_offset=112, total_size=112)
    assert ttnn.get_cb_address(moved) == tensor.buffer_address() + 112 and moved.total_size == 112
    with pytest.raises(RuntimeError, match="total_size: 112 \\+ 224 B are more than the 224 B of a core's shards"):
        ttnn.cb_descriptor_from_sharded_tensor(4, tensor, address_offset=112, total_size=224)
    plain = ttnn.allocate_tensor_on_device(shape, ttnn.bfloat16, ttnn.ROW_MAJOR_LAYOUT, device)
    with pytest.raises(RuntimeError, match="it needs shards in L1"):
        ttnn.cb_descriptor_from_sharded_tensor(0, plain)
    ttnn.close_device(device)
