"""Small files of every kind that the fuzzer damages: `python -m tests.light_metal.corpus FOLDER` writes them.

Captures with kernels, references, traces, sub-devices, compressed data and computation; a recording; saved binaries.
"""

import sys
from pathlib import Path

import tensim as tt
from tensim.running.options import Options
from tensim.running.runnable import find_program
from tensim.runtime import Binary, DType, Layout, MemSpace, System, Tensor, Variant, submit, to_layout
from tests.light_metal.programs import CORE, WORDS, copied, copier, dram, l1, opened, traced
from tests.runtime.programs import DRAM, build, pair_program, set_buffers, vector


def two_programs():
    """Programs of kernels, one built anew for other buffers, one bound to them."""
    anew, bound = Variant("sim", build(False)), Variant("sim", build(True), set_buffers(True))
    return Binary([pair_program("add", variants=(anew,)), pair_program("sub", variants=(bound,))])


def trace():
    """Eager runs, a trace that is replayed, comparisons."""
    with opened(num_hw_cqs=2, trace_region_size=65536) as device, tt.light_metal_capture() as captured:
        queue, other = device.command_queue(0), device.command_queue(1)
        source, target, program = copied(device)
        tt.light_metal_name_buffer(source, "in")
        number = traced(device, program)
        tt.enqueue_write_buffer(queue, source, WORDS + 1)
        tt.replay_trace(device, 0, number, True)
        event = tt.enqueue_record_event(queue)
        tt.enqueue_wait_for_event(other, event)
        tt.light_metal_compare_to_capture(other, target, name="x")
        tt.light_metal_compare_to_golden(queue, target, WORDS + 1)
        tt.release_trace(device, number)
        tt.deallocate_buffer(source)
        tt.synchronize(device)
        del source, target, program
    return captured.binary.get_data()


def everything():
    """Semaphores, sub-devices, shards, every kind of argument, updates, compressed data, a second device."""
    cores = tt.CoreRange((0, 0), (1, 0))
    with opened(l1_small_size=2048) as device, tt.light_metal_capture(compress=True) as captured:
        queue = device.command_queue(0)
        halves = [tt.SubDevice(tt.CoreRange((0, 0), (3, 7))), tt.SubDevice(tt.CoreRange((4, 0), (7, 7)))]
        manager = device.create_sub_device_manager(halves)
        device.load_sub_device_manager(manager)
        device.set_sub_device_stall_group([tt.SubDeviceId(0)])
        device.reset_sub_device_stall_group()
        device.clear_loaded_sub_device_manager()
        device.remove_sub_device_manager(manager)
        grid = tt.CoreRangeSet([cores])
        spec = tt.ShardSpecBuffer(tt.ShardSpec(grid, (64, 64), tt.ShardOrientation.ROW_MAJOR), (32, 32), (4, 2))
        shape = tt.TensorMemoryLayout.HEIGHT_SHARDED, spec
        sharded = tt.create_buffer(tt.ShardedBufferConfig(device, 16384, 2048, tt.BufferType.L1, *shape))
        tt.enqueue_write_buffer(queue, sharded, WORDS)
        tt.enqueue_read_sub_buffer(queue, sharded, tt.BufferRegion(0, 2048))
        source, target, backing = dram(device), dram(device), l1(device, 72 * 2048)
        semaphore = tt.create_global_semaphore(device, cores, 7)
        semaphore.reset_semaphore_value(9)
        program = copier(source, target, 1, backing)
        tt.create_semaphore(program, cores, 3)
        place = device.worker_core_from_logical_core(CORE)
        tt.set_common_runtime_args(program, program.handle, [target, 1, place.x, place.y, semaphore.address])
        tt.get_runtime_args(program, program.handle, CORE)[1] = target
        tt.compile_program(device, program)
        tt.enqueue_write_buffer(queue, source, WORDS)
        tt.enqueue_program(queue, program)
        tt.light_metal_compare_to_golden(queue, target, bytes(16384), data_format=tt.DataFormat.Float32, rtol=0.1)
        tt.read_from_buffer(target)
        odd = dram(device, 30, 10)
        tt.enqueue_write_buffer(queue, odd, b"y" * 30)
        tt.finish(queue)
        with opened(1, arch="blackhole") as second:
            other = dram(second)
            tt.enqueue_write_buffer(second.command_queue(0), other, WORDS)
            del other
        del sharded, source, target, backing, program, semaphore, odd
    return captured.binary.get_data()


def example(name, shape):
    with opened() as device, tt.light_metal_capture() as captured:
        find_program(name).run_on(device, Options(shape=shape))
    return captured.binary.get_data()


def recording(path):
    """Conversions, a submitted program, events over two queues."""
    with System("n150") as system:
        chip = system.open("sim://wormhole_b0?cqs=2")
        with system.record(path):
            tensors = [to_layout(Tensor.from_numpy(vector(seed), system=system), DRAM, chip) for seed in (1, 2)]
            result = submit(chip, two_programs(), "add", tensors).outputs[0]
            tiled = Layout(MemSpace.L1, tiling="tile", dtype=DType.U32)
            to_layout(result, tiled, chip, queue=1).numpy()
    return Path(path).read_bytes()


def saved(path):
    """Two programs for chips, with numpy variants."""
    two_programs().save(path)
    return Path(path).read_bytes()


def corpus(folder):
    """{name: bytes} of all files, which also lie in the folder."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    files = {
        "trace": trace(), "everything": everything(), "integers": example("add_integers", "16"),
        "eltwise": example("eltwise_add", "32x32"), "recording": recording(folder / "recording.bin"),
        "saved": saved(folder / "saved.bin"),
    }  # fmt: skip
    for name, data in files.items():
        (folder / f"{name}.bin").write_bytes(data)
    return files


if __name__ == "__main__":
    for name, data in corpus(sys.argv[1]).items():
        print(f"{name}: {len(data):,} B")
