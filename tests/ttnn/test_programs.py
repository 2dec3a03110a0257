"""generic_op: programs run, the cache knows them, wrong ones are refused by descriptor and field."""

import numpy as np
import pytest

import tensim.ttnn as ttnn
from tensim.sim.errors import TensimWarning

CORES = ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (1, 0))])
ONE = ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (0, 0))])
SOURCE = ttnn.KernelDescriptor.SourceType.SOURCE_CODE
COPY = """
from tensim.kernel_api import *


@kernel
def copy(src, dst, first, n):
    page = get_compile_time_arg_val(0)
    a, b = InterleavedAddrGen(src, page_size=page, dram=True), InterleavedAddrGen(dst, page_size=page, dram=True)
    for i in range(first, first + n):
        cb_reserve_back(0, 1)
        noc_async_read_page(i, a, get_write_ptr(0))
        noc_async_read_barrier()
        noc_async_write_page(i, b, get_write_ptr(0))
        noc_async_write_barrier()
"""
NOTHING = "from tensim.kernel_api import *\n\n\n@kernel\ndef nothing():\n    riscv_wait(100)\n"


def tensors(device, seed=0):
    values = np.random.default_rng(seed).standard_normal((64, 64)).astype(np.float32)
    source = ttnn.from_torch(values, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    shape = ttnn.Shape([64, 64])
    return source, ttnn.allocate_tensor_on_device(shape, ttnn.bfloat16, ttnn.TILE_LAYOUT, device)


def program(source, target, size=4096):
    args = ttnn.RuntimeArgs()
    for x in (0, 1):
        args[x][0] = [source.buffer_address(), target.buffer_address(), 2 * x, 2]
    one = ttnn.KernelDescriptor(
        COPY, SOURCE, CORES, compile_time_args=[2048], runtime_args=args, config=ttnn.ReaderConfigDescriptor()
    )
    cb = ttnn.CBDescriptor(size, CORES, [ttnn.CBFormatDescriptor(0, ttnn.bfloat16, 2048)])
    return ttnn.ProgramDescriptor(kernels=[one], cbs=[cb])


def idle(**changes):
    """A program of one kernel that does nothing, changed."""
    fields = {"core_ranges": ONE, "config": ttnn.ReaderConfigDescriptor()} | changes.pop("kernel", {})
    kernels = [ttnn.KernelDescriptor(NOTHING, SOURCE, **fields)]
    return ttnn.ProgramDescriptor(**{"kernels": kernels} | changes)


def test_a_program_runs_and_its_output_comes_back(device):
    source, target = tensors(device)
    assert ttnn.generic_op([source, target], program(source, target)) is target
    assert np.array_equal(target.to_numpy(), source.to_numpy())


def test_a_known_program_takes_new_arguments(fresh_device):
    for seed in (1, 2, 3):
        source, target = tensors(fresh_device, seed)
        ttnn.generic_op(io_tensors=[source, target], program_descriptor=program(source, target))
        assert np.array_equal(target.to_numpy(), source.to_numpy())
    assert fresh_device.num_program_cache_entries() == 1
    ttnn.generic_op([source, target], program(source, target, size=8192))
    assert fresh_device.num_program_cache_entries() == 2
    longer = program(source, target)
    longer.kernels[0].runtime_args[0][0].append(7)
    ttnn.generic_op([source, target], longer)
    assert fresh_device.num_program_cache_entries() == 2
    fresh_device.clear_program_cache()
    fresh_device.set_program_cache_misses_allowed(False)
    with pytest.raises(RuntimeError, match="misses are not allowed"):
        ttnn.generic_op([source, target], program(source, target))


def test_refused_tensors(device):
    source, target = tensors(device)
    with pytest.raises(RuntimeError, match="an input and an output are needed, there are 1"):
        ttnn.generic_op([source], program(source, target))
    with pytest.raises(RuntimeError, match=r"io_tensors\[1\]: the tensor is on the host"):
        ttnn.generic_op([source, source.cpu()], program(source, target))


def cb(size=2048, index=0, page=2048, cores=ONE):
    return ttnn.CBDescriptor(size, cores, [ttnn.CBFormatDescriptor(index, ttnn.bfloat16, page)])


def semaphore(number, cores=ONE):
    return ttnn.SemaphoreDescriptor(id=number, core_ranges=cores, initial_value=0)


def two(first, second):
    return [ttnn.KernelDescriptor(NOTHING, SOURCE, core_ranges=ONE, config=config()) for config in (first, second)]


FAR = ttnn.CoreRangeSet([ttnn.CoreRange((8, 0), (8, 0))])
WRONG = [
    (lambda: ttnn.ProgramDescriptor(), "ProgramDescriptor: kernels: a program needs at least one"),
    (lambda: idle(cbs=[cb(2049)]), r"ProgramDescriptor.cbs\[0\]: .*not a multiple"),
    (lambda: idle(cbs=[cb(), cb()]), r"ProgramDescriptor.cbs\[1\]: circular buffer index 0 already"),
    (lambda: idle(cbs=[cb(index=40)]), r"ProgramDescriptor.cbs\[0\]: .*40 is not below 32"),
    (lambda: idle(cbs=[cb(2048 * 800)]), "ProgramDescriptor.cbs: .*more than the L1 size of 1499136"),
    (
        lambda: idle(cbs=[cb(2048 * 400), cb(2048 * 400, 1)]),
        "ProgramDescriptor.cbs: .*more than the L1 size of 1499136",
    ),
    (lambda: idle(semaphores=[semaphore(16)]), r"ProgramDescriptor.semaphores\[0\]: semaphore id 16 is not below 16"),
    (
        lambda: idle(semaphores=[semaphore(2), semaphore(2)]),
        r"ProgramDescriptor.semaphores\[1\]: semaphore id 2 is taken",
    ),
    (
        lambda: idle(kernel={"runtime_args": [((5, 5), [1])]}),
        r"ProgramDescriptor.kernels\[0\].runtime_args: .*\(5, 5\)",
    ),
    (lambda: idle(kernel={"runtime_args": [((0, 0), [1] * 400)]}), r"kernels\[0\].runtime_args: .*limit is"),
    (lambda: idle(kernel={"runtime_args": [((0, 0), [1] * 300)], "common_runtime_args": [1] * 42}), "limit is 341"),
    (lambda: idle(kernel={"core_ranges": FAR}), r"kernels\[0\]: core_ranges: core \(8,0\) is outside the 8x8 grid"),
    (lambda: idle(cbs=[cb(), cb(cores=FAR)]), r"ProgramDescriptor.cbs\[1\]: core_ranges: core \(8,0\) is outside"),
    (lambda: idle(semaphores=[semaphore(1, FAR)]), r"semaphores\[0\]: core_ranges: core \(8,0\) is outside"),
    (
        lambda: ttnn.ProgramDescriptor(kernels=two(ttnn.ReaderConfigDescriptor, ttnn.ReaderConfigDescriptor)),
        r"ProgramDescriptor.kernels\[1\]: .*RISCV_1 of core \(0, 0\)",
    ),
]


@pytest.mark.parametrize("make, message", WRONG, ids=[message[:40] for _, message in WRONG])
def test_refused_programs(device, make, message):
    source, target = tensors(device)
    with pytest.raises(RuntimeError, match=message):
        ttnn.generic_op([source, target], make())


def test_circular_buffers_that_reach_into_a_tensor(device):
    source, target = tensors(device)
    shape = ttnn.Shape([64 * 64, 64])
    held = ttnn.allocate_tensor_on_device(shape, ttnn.bfloat16, ttnn.TILE_LAYOUT, device, ttnn.L1_MEMORY_CONFIG)
    with pytest.raises(RuntimeError, match="ProgramDescriptor.cbs: circular buffers on core .* above the L1 buffer at"):
        ttnn.generic_op([source, target], idle(cbs=[cb(2048 * 678)]))
    ttnn.deallocate(held)


def test_a_kernel_file_that_is_not_there(device):
    source, target = tensors(device)
    one = ttnn.KernelDescriptor("no/such/kernel.cpp", core_ranges=ONE, config=ttnn.ReaderConfigDescriptor())
    with pytest.raises(RuntimeError, match=r"ProgramDescriptor.kernels\[0\]: .*no/such/kernel.cpp"):
        ttnn.generic_op([source, target], ttnn.ProgramDescriptor(kernels=[one]))


def test_what_the_library_accepts(device):
    """No sizes or formats, semaphores of any free id, arguments for some cores, two processors on one NoC."""
    source, target = tensors(device)
    ttnn.generic_op(
        [source, target], idle(cbs=[ttnn.CBDescriptor(0, ONE, [])], semaphores=[semaphore(9), semaphore(1)])
    )
    ttnn.generic_op([source, source], idle(kernel={"core_ranges": CORES, "runtime_args": [((1, 0), [3])]}))
    kernels = two(ttnn.ReaderConfigDescriptor, ttnn.DataMovementConfigDescriptor)
    with pytest.warns(TensimWarning, match="use one NoC"):
        ttnn.generic_op([source, target], ttnn.ProgramDescriptor(kernels=kernels))
    ttnn.synchronize_device(device)


def test_traces_events_and_the_profiler(monkeypatch):
    device = ttnn.CreateDevice(4, trace_region_size=1 << 20)
    for name in ("DEVICE_PROFILER", "PROFILER_MID_RUN_DUMP", "PROFILER_CPP_POST_PROCESS"):
        monkeypatch.setenv(f"TT_METAL_{name}", "1")
    source, target = tensors(device)
    work = program(source, target)
    ttnn.generic_op([source, target], work)
    ttnn.ReadDeviceProfiler(device)
    trace = ttnn.begin_trace_capture(device, cq_id=0)
    assert ttnn.is_trace_capture_active(device)
    ttnn.generic_op([source, target], work)
    ttnn.end_trace_capture(device, trace, cq_id=0)
    ttnn.execute_trace(device, trace, cq_id=0, blocking=False)
    event = ttnn.record_event(device, 0)
    ttnn.wait_for_event(0, event)
    ttnn.event_synchronize(event)
    ttnn.execute_trace(device, trace)
    ttnn.ReadDeviceProfiler(device)
    latest, everything = ttnn.get_latest_programs_perf_data()[4], ttnn.get_all_programs_perf_data()[4]
    assert len(latest) == 2 and len(everything) == 3
    results = latest[0].program_analyses_results
    whole, reader = results["DEVICE KERNEL DURATION [ns]"], results["DEVICE NCRISC KERNEL DURATION [ns]"]
    assert 0 < reader.duration <= whole.duration < 100_000 and latest[0].core_count == 2
    assert "DEVICE BRISC KERNEL DURATION [ns]" not in results
    ttnn.ReadDeviceProfiler(device)
    assert ttnn.get_latest_programs_perf_data()[4] == []
    monkeypatch.delenv("TT_METAL_DEVICE_PROFILER")
    assert ttnn.get_latest_programs_perf_data() == {}
    ttnn.release_trace(device, trace)
    ttnn.close_device(device)


def test_global_semaphores(device):
    one = ttnn.create_global_semaphore(device, CORES, 5)
    assert ttnn.get_global_semaphore_address(one) < 1499136
    ttnn.reset_global_semaphore_value(one, 7)


def test_devices(device):
    assert repr(device.compute_with_storage_grid_size()) == "8-8" and repr(device.dram_grid_size()) == "12-1"
    assert device.worker_core_from_logical_core(ttnn.CoreCoord(1, 2)) == (19, 20)
    assert device.logical_core_from_worker_core(ttnn.CoreCoord(19, 20)) == (1, 2)
    assert [repr(device.dram_core_from_logical_core((i, 0))) for i in (0, 1, 11)] == ["0-11", "0-1", "5-7"]
    best = device.get_optimal_dram_bank_to_logical_worker_assignment(ttnn.NOC.NOC_0)
    assert repr(best[:3]) == "[3-7, 0-0, 0-4]" and len(set(best)) == 12
    assert (
        device.arch() == ttnn.Arch.WORMHOLE_B0
        and ttnn.get_arch_name() == "wormhole_b0"
        and device.get_device_ids() == [0]
    )
    assert (ttnn.get_dram_alignment(), ttnn.get_l1_alignment(), ttnn.get_max_worker_l1_unreserved_size()) == (
        32,
        16,
        1463968,
    )
    with pytest.raises(RuntimeError, match="worker core 8-0 lies outside the 8x8 grid"):
        device.worker_core_from_logical_core(ttnn.CoreCoord(8, 0))
    with pytest.raises(RuntimeError, match="cq_id 3: the device has 1 command queues"):
        ttnn.synchronize_device(device, 3)
    with pytest.raises(RuntimeError, match="already open"):
        ttnn.open_device(device_id=0)


def test_kernels_find_headers_in_their_include_paths(device, tmp_path):
    (tmp_path / "near").mkdir()
    (tmp_path / "near" / "count.h").write_text("constexpr uint32_t bytes = 64;\n")
    text = (
        '#include "api/dataflow/dataflow_api.h"\n#include "count.h"\nvoid kernel_main() {\n'
        "    noc_async_write(get_arg_val<uint32_t>(0), get_noc_addr(my_x[0], my_y[0], get_arg_val<uint32_t>(1)), bytes);\n"
        "    noc_async_write_barrier();\n}\n"
    )
    config = ttnn.create_sharded_memory_config((32, 32), ttnn.CoreGrid(x=1, y=1), ttnn.ShardStrategy.HEIGHT)
    values = np.arange(1024, dtype=np.float32).reshape(32, 32)
    source = ttnn.from_torch(values, ttnn.float32, layout=ttnn.TILE_LAYOUT, device=device, memory_config=config)
    target = ttnn.allocate_tensor_on_device(source.spec, device)
    one = ttnn.KernelDescriptor(
        text, SOURCE, ONE, runtime_args=[((0, 0), [source.buffer_address(), target.buffer_address()])],
        config=ttnn.ReaderConfigDescriptor(), compiler_include_paths=[tmp_path / "far", tmp_path / "near"],
    )  # fmt: skip
    result = ttnn.generic_op([source, target], ttnn.ProgramDescriptor(kernels=[one]))
    assert np.array_equal(result.to_numpy()[0, :16], values[0, :16])
