"""Approximate forms of vector functions: what chooses them in kernels of both languages, what they compute, what they cost."""

import numpy as np
import pytest

import tensim as tt
from tensim.sim.arch import load_arch
from tensim.sim.chip import statistics
from tensim.sim.chip.sfpu_cycle_table import sfpu_cycle_table
from tensim.sim.cores.kernels.compiler import kernel_from_source
from tensim.sim.cores.numerics.data_format import tile_size
from tensim.sim.cores.numerics.host_formats import decode, encode
from tensim.sim.cores.numerics.sfpu import sfpu_unary
from tensim.sim.cores.numerics.sfpu_costs import initialisation_cost, unary_cost
from tensim.sim.cores.numerics.sfpu_functions import SfpuUnary
from tensim.sim.cores.numerics.vector_codes import vector_code
from tensim.sim.cores.operations import Approximation
from tensim.sim.cores.riscv.kernel import CppKernel

ARCH, FORMAT, OUT = "blackhole", tt.DataFormat.Float32, 16
FEED = kernel_from_source("@kernel\ndef feed():\n    cb_reserve_back(0, 1)\n    cb_push_back(0, 1)\n")
PYTHON = """
@kernel
def compute():
    repeats = get_compile_time_arg_val(0)
    init_sfpu(0, 16)
    {init}
    cb_wait_front(0, 1)
    cb_reserve_back(16, 1)
    tile_regs_acquire()
    copy_tile(0, 0, 0)
    for _ in range(repeats):
        copy_tile(0, 0, 0)
        {call}
    tile_regs_commit()
    tile_regs_wait()
    pack_tile(0, 16)
    tile_regs_release()
    cb_push_back(16, 1)
"""
CPP = """
#include "api/compute/compute_kernel_api.h"
#include "api/compute/eltwise_unary/eltwise_unary.h"
#include "api/compute/eltwise_unary/exp.h"
#include "api/compute/eltwise_unary/gelu.h"
#include "api/compute/eltwise_unary/recip.h"
#include "api/compute/eltwise_unary/rsqrt.h"
#include "api/compute/eltwise_unary/sqrt.h"
void kernel_main() {{
    const uint32_t repeats = get_arg_val<uint32_t>(0);
    init_sfpu(0, 16);
    {init};
    cb_wait_front(0, 1);
    cb_reserve_back(16, 1);
    tile_regs_acquire();
    copy_tile(0, 0, 0);
    for (uint32_t i = 0; i < repeats; i++) {{
        copy_tile(0, 0, 0);
        {call};
    }}
    tile_regs_commit();
    tile_regs_wait();
    pack_tile(0, 16);
    tile_regs_release();
    cb_push_back(16, 1);
}}
"""
X = np.linspace(-100, 85, 1024, dtype=np.float32).reshape(32, 32)
HOLD = (X.view(np.uint32) & 0xFFFFE000).view(np.float32)  # what a source register keeps


def kernel(language, init, call, **options):
    if language == "python":
        return kernel_from_source(PYTHON.format(init=init, call=call))
    pytest.importorskip("ziglang", reason="C++ kernels need the extra tensim[cpp]")
    return CppKernel("approximate.cpp", text=CPP.format(init=init, call=call), **options)


def run(compute, approx_mode=False, numerics="exact", repeats=1):
    """(result as a 32x32 array, cycles of the math thread) of the function on `HOLD`."""
    device = tt.create_device(0, arch=load_arch(ARCH), numerics=numerics)
    try:
        core, program, page = tt.CoreCoord(0, 0), tt.create_program(), tile_size(FORMAT)
        handles = {}
        for index in (0, OUT):
            config = tt.CircularBufferConfig(page, {index: FORMAT}).set_page_size(index, page)
            handles[index] = tt.create_circular_buffer(program, core, config)
        tt.create_kernel(program, FEED, core, tt.ReaderDataMovementConfig())
        compile_args = [] if compute.is_cpp else [repeats]  # for each of which C++ would be compiled anew
        config = tt.ComputeConfig(fp32_dest_acc_en=True, math_approx_mode=approx_mode, compile_args=compile_args)
        kernel_handle = tt.create_kernel(program, compute, core, config)
        if compute.is_cpp:
            tt.set_runtime_args(program, kernel_handle, core, [repeats])
        tt.compile_program(device, program)
        where = {i: tt.get_circular_buffer_config(program, handle)["address"] for i, handle in handles.items()}
        device.chip.memory.write_l1(0, where[0], encode(HOLD, FORMAT))
        tt.enqueue_program(device.command_queue(), program, blocking=True)
        result = decode(device.chip.memory.read_l1(0, where[OUT], page), FORMAT, (32, 32))
        return result, statistics.breakdown(device.chip)["TRISC1"]["longest_cycles"]
    finally:
        tt.close_device(device)


def cost(compute, approx_mode=False):
    """Cycles of the math thread for a call, its copy included."""
    few, many = (run(compute, approx_mode, "off", repeats)[1] for repeats in (8, 40))
    return (many - few) / 32


def charged(entry):
    """What the engine's table has at an entry for the 32-bit Dst of these kernels."""
    return sfpu_cycle_table(load_arch(ARCH)).reshape(2, -1)[1, entry]


def expected(form, scale=0):
    words = HOLD.reshape(-1).copy()
    sfpu_unary(SfpuUnary.EXP, form, words, 0, scale, 0, 0)
    return words.reshape(32, 32)


ACCURATE, APPROXIMATE, UNCLAMPED = Approximation.ACCURATE, Approximation.APPROXIMATE, Approximation.UNCLAMPED
# language, initialisation, call, math_approx_mode, what is computed
CHOICES = [
    ("python", "exp_tile_init()", "exp_tile(0)", False, ACCURATE),
    ("python", "exp_tile_init()", "exp_tile(0)", True, APPROXIMATE),
    ("python", "exp_tile_init(approx=1)", "exp_tile(0, approx=1)", False, APPROXIMATE),
    ("python", "exp_tile_init(approx=True)", "exp_tile(0, 1)", False, APPROXIMATE),
    ("python", "exp_tile_init(approx=0)", "exp_tile(0, approx=0)", True, ACCURATE),
    ("python", "exp_tile_init(approx=repeats)", "exp_tile(0, approx=repeats)", False, APPROXIMATE),
    ("python", "exp_tile_init(approx=1, input_clamping=0)", "exp_tile(0, approx=1, input_clamping=0)", False, UNCLAMPED),
    ("cpp", "exp_tile_init()", "exp_tile(0)", False, ACCURATE),
    ("cpp", "exp_tile_init()", "exp_tile(0)", True, APPROXIMATE),
    ("cpp", "exp_tile_init<true>()", "exp_tile<true>(0)", False, APPROXIMATE),
    ("cpp", "exp_tile_init<1u>()", "exp_tile<1u>(0)", False, APPROXIMATE),
    ("cpp", "exp_tile_init<APPROX>()", "exp_tile<APPROX>(0)", True, APPROXIMATE),
    ("cpp", "exp_tile_init<true, true>()", "exp_tile<true, true>(0)", False, APPROXIMATE),
    ("cpp", "exp_tile_init<false>()", "exp_tile<false>(0)", True, ACCURATE),
    (
        "cpp", "exp_tile_init<true, 0x3F800000, InputClamping::None>()",
        "exp_tile<true, false, InputClamping::None, 8>(0)", False, UNCLAMPED,
    ),
]  # fmt: skip


@pytest.mark.parametrize("numerics", ["exact", "fast"])
@pytest.mark.parametrize(("language", "init", "call", "approx_mode", "form"), CHOICES)
def test_which_form_is_computed(language, init, call, approx_mode, form, numerics):
    result, _ = run(kernel(language, init, call), approx_mode, numerics)
    wanted = expected(form) if numerics == "exact" or form != ACCURATE else np.exp(HOLD.astype(np.float64))
    assert np.allclose(result, wanted, rtol=0 if form != ACCURATE else 1e-3, atol=1e-37)


def test_a_scale_of_the_initialisation():
    """exp(x / 8) costs what exp(x) does."""
    scaled = kernel("cpp", "exp_tile_init<true, 0x3E000000>()", "exp_tile<true>(0)")
    assert (run(scaled)[0] == expected(APPROXIMATE, 0x3E000000)).all()
    plain = kernel("cpp", "exp_tile_init<true>()", "exp_tile<true>(0)")
    assert cost(scaled) == pytest.approx(cost(plain), abs=1)


def test_kernels_of_the_library_have_the_defaults_of_its_headers():
    library = {"defines": (("TENSIM_LIBRARY_DEFAULTS", "1"),)}
    plain = kernel("cpp", "exp_tile_init()", "exp_tile(0)", **library)
    assert np.allclose(run(plain, True)[0], expected(ACCURATE), rtol=1e-6, atol=1e-37)
    asked = kernel("cpp", "exp_tile_init<true>()", "exp_tile<true>(0)", **library)
    assert (run(asked)[0] == expected(APPROXIMATE)).all()


@pytest.mark.parametrize("language", ["python", "cpp"])
@pytest.mark.parametrize("form", [ACCURATE, APPROXIMATE, UNCLAMPED])
def test_what_a_form_costs(language, form):
    call = next(
        call
        for name, _, call, mode, one in CHOICES
        if name == language and one == form and ("<" in call or "=" in call)
    )
    difference = cost(kernel(language, "exp_tile_init()", call)) - cost(
        kernel(language, "abs_tile_init()", "abs_tile(0)")
    )
    wanted = charged(unary_cost(SfpuUnary.EXP, form)) - charged(unary_cost(SfpuUnary.ABS, ACCURATE))
    assert difference == pytest.approx(wanted, abs=3)


@pytest.mark.parametrize(
    ("language", "name", "asked", "refused"),
    [
        ("python", "gelu", "gelu_tile(0, approx=1)", "gelu_tile(0, approx=0)"),
        ("python", "sigmoid", "sigmoid_tile(0, approx=1)", "sigmoid_tile(0, approx=0)"),
        ("python", "tanh", "tanh_tile(0, approx=1)", "tanh_tile(0, approx=0)"),
        ("python", "recip", "recip_tile(0, approx=1)", "recip_tile(0, approx=0)"),
        ("cpp", "gelu", "gelu_tile<true>(0)", "gelu_tile<false>(0)"),
        ("cpp", "sigmoid", "sigmoid_tile<VectorMode::RC, true>(0)", "sigmoid_tile<VectorMode::RC, false>(0)"),
        ("cpp", "tanh", "tanh_tile<1u>(0)", "tanh_tile<0u>(0)"),
        (
            "cpp", "recip", "recip_tile<ReciprocalDestAcc::FP32, ReciprocalApproxMode::Approximate>(0)",
            "recip_tile<ReciprocalDestAcc::FP32, ReciprocalApproxMode::Precise>(0)",
        ),
    ],
)  # fmt: skip
def test_other_functions_are_chosen_the_same_way(language, name, asked, refused):
    """By the argument, and without one by the kernel's configuration."""
    accurate, approximate = (charged(unary_cost(SfpuUnary[name.upper()], form)) for form in (ACCURATE, APPROXIMATE))
    gain, costs = accurate - approximate, {}
    for key, call, approx_mode in (
        ("asked", asked, False), ("refused", refused, True), ("bare", f"{name}_tile(0)", False),
        ("configured", f"{name}_tile(0)", True),
    ):  # fmt: skip
        costs[key] = cost(kernel(language, f"{name}_tile_init()", call), approx_mode)
    assert costs["refused"] - costs["asked"] == pytest.approx(gain, abs=2)
    assert costs["configured"] == pytest.approx(costs["asked"], abs=2)
    assert costs["bare"] == pytest.approx(costs["refused"], abs=2)


@pytest.mark.parametrize("language", ["python", "cpp"])
def test_initialisations_of_the_exponential(language):
    costs = {}
    inits = {
        "python": ("exp_tile_init()", "exp_tile_init(approx=1)", "exp_tile_init(approx=1, input_clamping=0)"),
        "cpp": (
            "exp_tile_init();", "exp_tile_init<true>();", "exp_tile_init<true, 0x3F800000, InputClamping::None>();",
        ),
    }[language]  # fmt: skip
    for form, init in zip((ACCURATE, APPROXIMATE, UNCLAMPED), inits, strict=True):
        costs[form] = cost(kernel(language, "abs_tile_init()", "\n        ".join([init] * 8))) / 8
    table = {form: charged(initialisation_cost(vector_code(SfpuUnary.EXP), form)) for form in costs}
    for form in (APPROXIMATE, UNCLAMPED):
        assert costs[form] - costs[ACCURATE] == pytest.approx(table[form] - table[ACCURATE], abs=3)
