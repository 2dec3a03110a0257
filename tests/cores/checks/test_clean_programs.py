"""Programs without mistakes run to their end with checks, in the same cycles as without."""

import pytest

import tensim as tt
from tensim.examples import EXAMPLES
from tensim.kernel_api import kernel
from tensim.running.options import Options
from tensim.running.runnable import find_program
from tensim.sim.chip.statistics import program_cycles

SHAPES = {"matmul_multicast": "512x256x512", "matmul_reuse": "256x256x256", "matmul_multicast_1d": None}


def cycles(name, language, check, numerics):
    """Cycles of an example, which gives the right result."""
    program = find_program(name)
    parameters = {"kernels": language} if "kernels" in program.parameters() else {}
    with tt.create_device(0, numerics=numerics, check=check) as device:
        result = program.run_on(device, Options(SHAPES.get(name), parameters=parameters))
        assert numerics == "off" or result.verified
        return program_cycles(device.chip)


@pytest.mark.parametrize("numerics", ["fast", "off"])
@pytest.mark.parametrize("language", ["python", "cpp"])
@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_have_no_mistakes_and_take_as_long(name, language, numerics):
    if language == "cpp":
        pytest.importorskip("ziglang", reason="C++ kernels need the extra tensim[cpp]")
    assert cycles(name, language, True, numerics) == cycles(name, language, False, numerics)


@kernel
def nothing():
    pass


def test_circular_buffers_on_cores_without_kernels_may_be_made_often():
    """More launches than a core has circular buffers."""
    everywhere = tt.CoreRange(tt.CoreCoord(0, 0), tt.CoreCoord(1, 0))
    with tt.create_device(0, check=True) as device:
        program = tt.create_program()
        config = tt.CircularBufferConfig(2048, {0: tt.DataFormat.Float16_b}).set_page_size(0, 2048)
        tt.create_circular_buffer(program, everywhere, config)
        tt.create_kernel(program, nothing, tt.CoreCoord(0, 0), tt.ReaderDataMovementConfig())
        for _ in range(40):
            tt.enqueue_program(device.command_queue(0), program, blocking=False)
        tt.finish(device.command_queue(0))
