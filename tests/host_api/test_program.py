"""Programs: kernels, circular buffers, semaphores, runtime arguments, and the launch made of them."""

import gc

import pytest

import tensim as tt
from tensim.sim.errors import ProgramError, UsageError
from tests.host_api.fake_chip import FakeKernel

ALL = tt.CoreRange((0, 0), (3, 3))
TILE = 2048


def run(device, program):
    """Enqueue, wait, and return what the chip was given."""
    tt.enqueue_program(device.command_queue(), program, blocking=True)
    return device.chip.launches[-1]


def program_with_kernel(cores=ALL, **settings):
    program = tt.create_program()
    return program, tt.create_kernel(program, FakeKernel(), cores, tt.ReaderDataMovementConfig(**settings))


def circular_buffer(program, cores, pages=2, indices=(0,), buffer=None, page=TILE):
    config = tt.CircularBufferConfig(pages * page, {index: tt.DataFormat.Float16_b for index in indices})
    for index in indices:
        config.set_page_size(index, page)
    if buffer is not None:
        config.set_globally_allocated_address(buffer)
    return tt.create_circular_buffer(program, cores, config)


def l1_buffer(device, per_bank=TILE):
    size = per_bank * device.num_banks(tt.BufferType.L1)
    return tt.create_buffer(tt.InterleavedBufferConfig(device, size, per_bank, tt.BufferType.L1))


# --- kernels


def test_a_launch_holds_the_configuration(device):
    program, _ = program_with_kernel(compile_args=[5, 6])
    tt.create_kernel(
        program,
        FakeKernel(),
        tt.CoreCoord(1, 0),
        tt.ComputeConfig(math_fidelity=tt.MathFidelity.LoFi, fp32_dest_acc_en=True),
    )
    launch = run(device, program)
    reader, compute = launch.kernels
    assert (reader.slot, reader.noc, reader.compile_args) == (1, 0, [5, 6])
    assert reader.cores == [x + 8 * y for y in range(4) for x in range(4)] and reader.compute is None
    assert (compute.slot, compute.cores, compute.compute.math_fidelity) == (None, [1], 0)
    assert compute.compute.fp32_dest_acc_en and launch.sub_device_origin == (0, 0)


@pytest.mark.parametrize(
    "first, second, what",
    [
        (tt.ReaderDataMovementConfig(), tt.ReaderDataMovementConfig(noc=tt.NOC.NOC_1), "processor RISCV_1"),
        (tt.ReaderDataMovementConfig(), tt.WriterDataMovementConfig(noc=tt.NOC.NOC_0), "NOC_0"),
        (tt.ComputeConfig(), tt.ComputeConfig(), "compute processors"),
    ],
)
def test_resources_of_a_core_are_used_once(first, second, what):
    program = tt.create_program()
    tt.create_kernel(program, FakeKernel(), ALL, first)
    tt.create_kernel(program, FakeKernel(), tt.CoreCoord(4, 4), second)
    with pytest.raises(UsageError, match=rf"{what} of core \(3, 3\) is already used"):
        tt.create_kernel(program, FakeKernel(), tt.CoreRange((3, 3), (4, 4)), second)


def test_dynamic_noc_mode_shares_a_noc():
    program, dynamic = tt.create_program(), tt.NOC_MODE.DM_DYNAMIC_NOC
    tt.create_kernel(program, FakeKernel(), ALL, tt.ReaderDataMovementConfig(noc_mode=dynamic))
    tt.create_kernel(program, FakeKernel(), ALL, tt.WriterDataMovementConfig(noc=tt.NOC.NOC_0, noc_mode=dynamic))


def test_wrong_kernels(device, tmp_path):
    program = tt.create_program()
    with pytest.raises(UsageError, match="has no cores"):
        tt.create_kernel(program, FakeKernel(), tt.CoreRangeSet(), tt.ComputeConfig())
    with pytest.raises(UsageError, match="is not a kernel"):
        tt.create_kernel(program, 7, ALL, tt.ComputeConfig())
    with pytest.raises(UsageError, match="not a kernel configuration"):
        tt.create_kernel(program, FakeKernel(), ALL, {})
    with pytest.raises(UsageError, match="tensim models no ethernet cores"):
        tt.create_kernel(program, FakeKernel(), ALL, tt.EthernetConfig())
    with pytest.raises(UsageError, match="Invalid is not a fidelity"):
        tt.create_kernel(program, FakeKernel(), ALL, tt.ComputeConfig(math_fidelity=tt.MathFidelity.Invalid))
    with pytest.raises(UsageError, match="no kernel file") as caught:
        tt.create_kernel(program, "missing.py", ALL, tt.ComputeConfig())
    assert "tried" in caught.value.hint
    tt.create_kernel(program, FakeKernel(), tt.CoreCoord(8, 0), tt.ComputeConfig())
    with pytest.raises(UsageError, match=r"core \(8,0\) is outside the 8x8"):
        run(device, program)


def test_an_empty_program_does_nothing(device):
    tt.enqueue_program(device.command_queue(), tt.create_program(), blocking=True)
    assert device.chip.launches == []


# --- circular buffers


def test_circular_buffers_grow_from_the_base_on_each_core(device):
    program, _ = program_with_kernel()
    base = device.arch.l1_user_base
    left, right = tt.CoreRange((0, 0), (0, 3)), tt.CoreRange((1, 0), (3, 3))
    handles = [
        circular_buffer(program, left, 4),
        circular_buffer(program, right, 2),
        circular_buffer(program, ALL, 1, (3, 16)),
        circular_buffer(program, right, 1, (4,)),
    ]
    launch = run(device, program)
    addresses = [tt.get_circular_buffer_config(program, handle)["address"] - base for handle in handles]
    assert addresses == [0, 0, 4 * TILE, 5 * TILE]
    shared = [cb for cb in launch.circular_buffers if cb.index in (3, 16)]
    assert [cb.address - base for cb in shared] == [4 * TILE] * 2
    assert {cb.size for cb in shared} == {TILE}


def test_a_circular_buffer_on_a_buffer_follows_it(device):
    program, _ = program_with_kernel()
    first, second = l1_buffer(device), l1_buffer(device)
    handle = circular_buffer(program, ALL, 1, buffer=first)
    assert run(device, program).circular_buffers[0].address == first.address
    tt.update_dynamic_circular_buffer_address(program, handle, second)
    assert run(device, program).circular_buffers[0].address == second.address
    tt.update_dynamic_circular_buffer_address_and_total_size(program, handle, second, TILE // 2)
    with pytest.raises(UsageError, match="not a multiple"):
        run(device, program)
    tt.update_circular_buffer_page_size(program, handle, 0, TILE // 2)
    assert run(device, program).circular_buffers[0].size == TILE // 2
    tt.deallocate_buffer(second)
    with pytest.raises(UsageError, match="deallocated"):
        run(device, program)


def test_sizes_can_be_changed_between_runs(device):
    program, _ = program_with_kernel()
    first, second = circular_buffer(program, ALL, 2), circular_buffer(program, ALL, 1, (1,))
    run(device, program)
    tt.update_circular_buffer_total_size(program, first, 6 * TILE)
    run(device, program)
    assert tt.get_circular_buffer_config(program, second)["address"] == device.arch.l1_user_base + 6 * TILE
    with pytest.raises(UsageError, match="does not use index 9"):
        tt.update_circular_buffer_page_size(program, first, 9, TILE)
    with pytest.raises(UsageError, match="does not lie on a buffer"):
        tt.update_dynamic_circular_buffer_address(program, first, l1_buffer(device))
    with pytest.raises(UsageError, match="no circular buffer 5"):
        tt.update_circular_buffer_total_size(program, 5, TILE)


def test_circular_buffers_that_cannot_be(device):
    program, _ = program_with_kernel()
    circular_buffer(program, ALL)
    with pytest.raises(UsageError, match=r"index 0 already exists on core \(3, 3\)"):
        circular_buffer(program, tt.CoreRange((3, 3), (4, 4)))
    circular_buffer(program, tt.CoreRange((4, 4), (5, 5)))
    with pytest.raises(UsageError, match="index 32 is not below 32"):
        circular_buffer(program, ALL, indices=(32,))
    with pytest.raises(UsageError, match="no page size"):
        tt.create_circular_buffer(program, ALL, tt.CircularBufferConfig(64, {5: tt.DataFormat.UInt32}))
    with pytest.raises(UsageError, match="at least one core"):
        circular_buffer(program, tt.CoreRangeSet())


def test_circular_buffers_larger_than_l1(device):
    program, _ = program_with_kernel()
    circular_buffer(program, ALL, 1000)
    with pytest.raises(ProgramError, match=r"core \(0, 0\) take \d+ B, more than the L1 size") as caught:
        run(device, program)
    assert caught.value.kind == "l1_overflow"


def test_sizes_are_checked_at_enqueue_as_they_are_then(device):
    program, _ = program_with_kernel()
    handle, lies_on = circular_buffer(program, ALL, 1), l1_buffer(device)
    dynamic = circular_buffer(program, ALL, 1, (1,), buffer=lies_on)
    room = (device.arch.l1_size - device.arch.l1_user_base) // TILE * TILE
    for size, kind in ((room + TILE, "l1_overflow"), (room, "l1_clash")):
        tt.update_circular_buffer_total_size(program, handle, size)
        with pytest.raises(ProgramError) as caught:
            run(device, program)
        assert caught.value.kind == kind
    tt.update_circular_buffer_total_size(program, handle, TILE)
    run(device, program)
    tt.update_circular_buffer_total_size(program, dynamic, 2 * TILE)
    with pytest.raises(UsageError, match=f"{2 * TILE} B is larger than the {TILE} B per bank"):
        run(device, program)
    larger = l1_buffer(device, 2 * TILE)
    tt.update_dynamic_circular_buffer_address(program, dynamic, larger)
    run(device, program)


def test_the_configuration_of_a_circular_buffer(device):
    program, _ = program_with_kernel()
    config = tt.CircularBufferConfig(4096, {0: tt.DataFormat.Float16_b}).set_page_size(0, 1024)
    handle = tt.create_circular_buffer(program, ALL, config.set_tile_dims(0, tt.Tile((16, 32))))
    expected = {
        "total_size": 4096,
        "formats": {0: tt.DataFormat.Float16_b},
        "page_sizes": {0: 1024},
        "tiles": {0: tt.Tile((16, 32))},
    }
    assert tt.get_circular_buffer_config(program, handle) == expected | {"address": None}
    (placed,) = run(device, program).circular_buffers
    assert tt.get_circular_buffer_config(program, handle) == expected | {"address": placed.address}
    assert placed.tile == (16, 32)


def test_a_refused_update_changes_nothing(device):
    program, _ = program_with_kernel()
    handle = circular_buffer(program, ALL, 2)
    with pytest.raises(UsageError, match="does not lie on a buffer"):
        tt.update_dynamic_circular_buffer_address_and_total_size(program, handle, l1_buffer(device), TILE)
    assert tt.get_circular_buffer_config(program, handle)["total_size"] == 2 * TILE


def test_a_circular_buffer_lies_on_a_buffer_of_its_device(device):
    with tt.create_device(1) as other:
        program, _ = program_with_kernel()
        circular_buffer(program, ALL, 1, buffer=l1_buffer(other))
        with pytest.raises(UsageError, match="on device 1, the program runs on device 0"):
            run(device, program)


def test_circular_buffers_that_reach_a_buffer(device):
    program, _ = program_with_kernel()
    room = device.arch.l1_size - device.arch.l1_user_base
    circular_buffer(program, ALL, room // TILE)
    run(device, program)
    buffer = l1_buffer(device)
    with pytest.raises(ProgramError, match=f"above the L1 buffer at {buffer.address:#x}") as caught:
        run(device, program)
    assert caught.value.kind == "l1_clash"
    tt.deallocate_buffer(buffer)
    run(device, program)


# --- semaphores


def test_semaphore_ids():
    program = tt.create_program()
    assert tt.create_semaphore(program, tt.CoreRange((0, 0), (1, 1)), 0) == 0
    assert tt.create_semaphore(program, tt.CoreRange((2, 2), (3, 3)), 0) == 0
    both = tt.CoreRangeSet([tt.CoreRange((1, 1)), tt.CoreRange((5, 5))])
    assert tt.create_semaphore(program, both, 7) == 1
    for expected in range(2, 16):
        assert tt.create_semaphore(program, tt.CoreCoord(1, 1), 0) == expected
    with pytest.raises(UsageError, match="16 semaphores"):
        tt.create_semaphore(program, tt.CoreCoord(1, 1), 0)
    with pytest.raises(UsageError, match="at least one core range"):
        tt.create_semaphore(program, tt.CoreRangeSet(), 0)


def test_semaphores_reach_the_launch(device):
    program, _ = program_with_kernel()
    tt.create_semaphore(program, tt.CoreRange((0, 1), (1, 1)), 9)
    (semaphore,) = run(device, program).semaphores
    assert (semaphore.id, semaphore.initial, semaphore.cores) == (0, 9, [8, 9])


def test_global_semaphores(device):
    semaphore = tt.create_global_semaphore(device, tt.CoreRange((0, 0), (1, 0)), 3)
    chip, address = device.chip, semaphore.address
    assert [chip.memory.read_l1(core, address, 4)[0] for core in range(3)] == [3, 3, 0]
    semaphore.reset_semaphore_value(70000)
    assert chip.memory.read_l1(1, address, 4) == (70000).to_bytes(4, "little")
    assert device.allocated_bytes_per_bank(tt.BufferType.L1) == 16
    del semaphore
    gc.collect()
    assert device.allocated_bytes_per_bank(tt.BufferType.L1) == 0
    with pytest.raises(UsageError, match="L1 or L1_SMALL"):
        tt.create_global_semaphore(device, ALL, 0, tt.BufferType.DRAM)


@pytest.mark.parametrize("value", [-1, 1 << 32])
def test_semaphore_values_are_unsigned_words(device, value):
    message = f"semaphore value {value} is not an unsigned 32-bit word"
    with pytest.raises(UsageError, match=message):
        tt.create_global_semaphore(device, ALL, value)
    assert device.allocated_bytes_per_bank(tt.BufferType.L1) == 0
    semaphore = tt.create_global_semaphore(device, ALL, 5)
    with pytest.raises(UsageError, match=message):
        semaphore.reset_semaphore_value(value)
    assert device.chip.memory.read_l1(0, semaphore.address, 1) == b"\5"
    with pytest.raises(UsageError, match=message):
        tt.create_semaphore(tt.create_program(), ALL, value)


# --- runtime arguments


def test_arguments_are_taken_when_the_program_is_enqueued(device):
    program, kernel = program_with_kernel()
    tt.set_runtime_args(program, kernel, ALL, [1, 2])
    tt.set_common_runtime_args(program, kernel, [-1])
    tt.enqueue_program(device.command_queue(), program)
    view = tt.get_runtime_args(program, kernel, tt.CoreCoord(1, 1))
    view[0] = 50
    view[-1] = 60
    tt.get_common_runtime_args(program, kernel)[0] = 4
    tt.enqueue_program(device.command_queue(), program, blocking=True)
    first, second = (launch.kernels[0] for launch in device.chip.launches)
    assert first.args[9] == [1, 2] and first.common_args == [0xFFFFFFFF]
    assert second.args[9] == [50, 60] and second.args[0] == [1, 2] and second.common_args == [4]
    assert list(view) == [50, 60] and sum(map(len, tt.get_runtime_args(program, kernel))) == 16


def test_the_table_of_arguments_is_by_column_and_row():
    program, kernel = program_with_kernel()
    assert tt.get_runtime_args(program, kernel) == []
    tt.set_runtime_args(program, kernel, [tt.CoreCoord(2, 1), tt.CoreCoord(0, 3)], [[21], [3, 33]])
    table = tt.get_runtime_args(program, kernel)
    assert [[list(view) for view in column] for column in table] == [
        [[], [], [], [3, 33]], [[], [], [], []], [[], [21], [], []]
    ]  # fmt: skip
    table[2][1][0] = 5
    assert list(tt.get_runtime_args(program, kernel, tt.CoreCoord(2, 1))) == [5]


def test_slices_of_an_argument_view(device):
    program, kernel = program_with_kernel(tt.CoreRange((0, 0)))
    tt.set_runtime_args(program, kernel, tt.CoreCoord(0, 0), [1, 2, 3, 4, 5])
    view, buffer = tt.get_runtime_args(program, kernel, tt.CoreCoord(0, 0)), l1_buffer(device)
    view[0:2] = [10, -1]
    view[-1::-2] = (buffer, 30, 11)
    assert list(view) == [11, 0xFFFFFFFF, 30, 4, buffer.address] and view[1:3] == [0xFFFFFFFF, 30]
    for values in ([1], [1, 2, 3]):
        with pytest.raises(UsageError, match=f"{len(values)} values for 2 runtime arguments"):
            view[0:2] = values
    with pytest.raises(UsageError, match="does not fit a 32-bit word"):
        view[0:2] = [0, 1 << 32]
    assert run(device, program).kernels[0].args[0] == [11, 0xFFFFFFFF, 30, 4, buffer.address]


def test_argument_lists_per_core_and_buffers_as_arguments(device):
    program, kernel = program_with_kernel()
    buffer = l1_buffer(device)
    cores = [tt.CoreCoord(0, 0), tt.CoreCoord(1, 0)]
    tt.set_runtime_args(program, kernel, cores, [[buffer], [7, 8]])
    assert run(device, program).kernels[0].args == {0: [buffer.address], 1: [7, 8]}
    with pytest.raises(UsageError, match="2 cores, but 1 lists"):
        tt.set_runtime_args(program, kernel, cores, [[1]])


def test_wrong_arguments():
    program, kernel = program_with_kernel()
    core = tt.CoreCoord(0, 0)
    tt.set_runtime_args(program, kernel, core, [1, 2])
    with pytest.raises(UsageError, match="3 runtime arguments, but 2 were set first"):
        tt.set_runtime_args(program, kernel, core, [1, 2, 3])
    with pytest.raises(UsageError, match=r"does not run on core \(7, 7\)"):
        tt.set_runtime_args(program, kernel, tt.CoreCoord(7, 7), [1])
    with pytest.raises(UsageError, match="it has no runtime arguments there"):
        tt.get_runtime_args(program, kernel, tt.CoreCoord(7, 7))
    with pytest.raises(UsageError, match="342 unique and 0 common.*limit is 341"):
        tt.set_runtime_args(program, kernel, tt.CoreCoord(1, 1), [0] * 342)
    with pytest.raises(UsageError, match="2 unique and 340 common"):
        tt.set_common_runtime_args(program, kernel, [0] * 340)
    tt.set_common_runtime_args(program, kernel, [0] * 339)
    with pytest.raises(UsageError, match="already set"):
        tt.set_common_runtime_args(program, kernel, [0])
    with pytest.raises(UsageError, match="does not fit a 32-bit word"):
        tt.set_runtime_args(program, kernel, core, [1, 1 << 32])
    with pytest.raises(UsageError, match="no kernel 4"):
        tt.set_runtime_args(program, 4, core, [1])
    with pytest.raises(UsageError, match="argument 2 does not exist"):
        tt.get_runtime_args(program, kernel, core)[2] = 1
    with pytest.raises(IndexError):
        tt.get_runtime_args(program, kernel, core)[2]


def test_a_program_keeps_assigned_buffers(device):
    program, _ = program_with_kernel()
    tt.assign_global_buffer_to_program(l1_buffer(device), program)
    assert device.allocated_bytes_per_bank(tt.BufferType.L1) == TILE
    del program
    gc.collect()
    assert device.allocated_bytes_per_bank(tt.BufferType.L1) == 0


def test_a_kernel_configuration_larger_than_the_ring(device):
    program = tt.create_program()
    tt.create_kernel(program, FakeKernel(text_bytes=80_000), ALL, tt.ReaderDataMovementConfig())
    with pytest.raises(ProgramError, match="80000 B of kernel configuration.*ring has 70656 B"):
        run(device, program)


def test_include_paths_are_for_cpp_kernels(device):
    with pytest.raises(UsageError, match="no C\\+\\+ kernel"):
        tt.create_kernel(tt.create_program(), FakeKernel(), ALL, tt.ComputeConfig(include_paths=["headers"]))
