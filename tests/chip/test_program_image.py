"""A program that is loaded again from its image does what it does when it is loaded anew: to the cycle, the bit and the count."""

import gc

import numpy as np
import pytest

import tensim as tt
from tensim.examples import eltwise_add, matmul_multicast
from tensim.sim.cores.numerics.data_format import DataFormat

GRID = (4, 4)


def programs_of(device, monkeypatch, kernels):
    """A sum and a product on the same cores, each run once; what they write to stays allocated."""
    found = []

    def execute(_, program):
        found.append(program)
        tt.enqueue_program(device.command_queue(0), program, blocking=True)

    for module in ("tensim.examples.eltwise_add.execute", "tensim.examples.blocked_matmul.execute"):
        monkeypatch.setattr(module, execute)
    kept = []
    create = tt.create_buffer
    monkeypatch.setattr(tt, "create_buffer", lambda config: kept.append(create(config)) or kept[-1])
    common = {"dtype": DataFormat.Float16_b, "fidelity": tt.MathFidelity.HiFi2, "grid": GRID, "kernels": kernels}
    eltwise_add.run(device, shape=(96, 128), rng=np.random.default_rng(1), **common)
    matmul_multicast.run(device, shape=(128, 64, 128), rng=np.random.default_rng(2), **common)
    return found, kept


def what_happened(device):
    """Spans, counters and memory of everything that has run."""
    chip = device.chip
    spans = [(one["started"], one["ended"], one["threads"].tolist()) for one in chip.launches.values()]
    works = [one["work"] for one in chip.launches.values()]
    counts = [(w.operations.tolist(), w.stall_cycles.tolist(), w.traffic.tolist(), w.core_counters) for w in works]
    levels = [[(b.index, b.pushed, b.left, b.levels.tolist(), b.waits) for b in w.buffers] for w in works]
    buffers = chip.arrays["circular_buffers"].tobytes()
    return (
        spans,
        repr(counts),
        levels,
        chip.work.tobytes(),
        chip.core_cycles.tolist(),
        buffers,
        chip.memory.image_sha256(),
    )


def run_in_turn(monkeypatch, kernels, numerics, anew):
    with tt.create_device(0, numerics=numerics) as device, monkeypatch.context() as patch:
        (add, multiply), kept = programs_of(device, patch, kernels)
        queue, loader = device.command_queue(0), device.chip.loader
        images = []
        for program in (add, add, multiply, add, multiply, multiply, add):
            if anew:
                loader.forget_images()
            tt.enqueue_program(queue, program, blocking=True)
            images.append(len(loader._images._images))
        assert images[-1] == (0 if anew else 2) and kept
        return what_happened(device)


@pytest.mark.parametrize(("kernels", "numerics"), [("python", "fast"), ("python", "off"), ("cpp", "fast")])
def test_from_its_image_a_program_does_the_same(monkeypatch, kernels, numerics):
    again = run_in_turn(monkeypatch, kernels, numerics, anew=False)
    anew = run_in_turn(monkeypatch, kernels, numerics, anew=True)
    for mine, other in zip(again, anew, strict=True):
        assert mine == other


WRITE = """
@kernel
def write(address, value):
    words = l1_ptr(address, uint32)
    words[0] = value + get_common_arg_val(0)
"""


def test_what_changes_between_two_launches_is_loaded():
    with tt.create_device(0) as device:
        queue, core, program = device.command_queue(0), tt.CoreCoord(0, 0), tt.create_program()
        kernel = tt.create_kernel_from_string(program, WRITE, core, tt.ReaderDataMovementConfig())
        address = 600 << 10

        def word():
            tt.enqueue_program(queue, program, blocking=True)
            return int.from_bytes(device.chip.memory.read_l1(0, address, 4), "little")

        tt.set_runtime_args(program, kernel, core, [address, 5])
        tt.set_common_runtime_args(program, kernel, [100])
        assert [word() for _ in range(3)] == [105] * 3
        tt.set_runtime_args(program, kernel, core, [address, 6])
        assert [word() for _ in range(3)] == [106] * 3
        tt.get_runtime_args(program, kernel, core)[1] = 7
        tt.get_common_runtime_args(program, kernel)[0] = 200
        assert [word() for _ in range(3)] == [207] * 3


def test_an_image_is_gone_with_its_program():
    with tt.create_device(0) as device:
        queue, core, program = device.command_queue(0), tt.CoreCoord(0, 0), tt.create_program()
        kernel = tt.create_kernel_from_string(program, WRITE, core, tt.ReaderDataMovementConfig())
        tt.set_runtime_args(program, kernel, core, [600 << 10, 5])
        tt.set_common_runtime_args(program, kernel, [1])
        for _ in range(3):
            tt.enqueue_program(queue, program, blocking=True)
        images = device.chip.loader._images
        assert len(images._images) == 1 and images._bytes > 0
        device.chip.launches.clear()
        device.chip.loader._kept.clear()
        del program
        tt.finish(queue)
        gc.collect()
        assert len(images._images) == 0 and images._bytes == 0
