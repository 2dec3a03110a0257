"""What `help` says of a kernel API call: signature, threads, the parameters that price it, a sentence."""

import inspect
import pydoc

import pytest

from tensim import kernel_api
from tensim.sim.arch.loader import load_arch
from tensim.sim.cores.kernels.call_descriptions import SPECIAL, describe, texts
from tensim.sim.cores.kernels.lowering_calls import SPECIAL_CALLS, call_names
from tensim.sim.cores.kernels.lowering_operations import OPERATIONS
from tensim.sim.errors import UsageError


def test_help_shows_signature_text_threads_and_cost():
    text = pydoc.plain(pydoc.render_doc(kernel_api.noc_async_read))
    assert "noc_async_read(src, dst, size, noc=noc_index, read_req_vc=-1, max_page_size=0)\n" in text
    assert "Read `size` bytes from a NoC address into L1" in text
    assert "Threads: data movement\n" in text and "Cost: riscv.issue.read, riscv.issue.read_dram\n" in text


def test_a_call_with_several_forms_shows_them_all():
    text = pydoc.plain(pydoc.render_doc(kernel_api.get_noc_addr))
    assert "get_noc_addr(addr, noc=noc_index), get_noc_addr(id, gen, offset=0, noc=noc_index)" in text


@pytest.mark.parametrize(
    "name, signature",
    [
        ("cb_push_back", "(cb, n)"),
        ("matmul_tiles", "(in0_cb, in1_cb, itile0, itile1, idst, transpose=transposed)"),
        ("exp_tile", "(idst, approx=math_approx_mode, vector_mode=0, input_clamping=1)"),
        ("noc_async_write_page", "(id, gen, src, size=0, offset=0, noc=noc_index)"),
        ("pack_tile", "(idst, ocb, output_tile_index=0, out_of_order_output=0)"),
        ("l1_ptr", "(address, type=uint32)"),
        ("mm_init", "(*arguments, **options)"),
        ("tile_regs_acquire", "()"),
    ],
)
def test_signatures(name, signature):
    assert str(inspect.signature(getattr(kernel_api, name))) == signature


@pytest.mark.parametrize(
    "name, threads, costs",
    [
        ("cb_wait_front", "data movement, unpack", ("riscv.issue.cb_call",)),
        ("noc_async_read_one_packet", "data movement", ("riscv.issue.read_one_packet",)),
        ("noc_async_write_tile", "data movement", ("riscv.issue.write_page",)),
        (
            "add_tiles",
            "unpack, math",
            ("tensix.issue.unpack_pair", "tensix.unpack", "tensix.issue.math", "tensix.math"),
        ),
        ("acquire_dst", "math, pack", ("tensix.issue.sync", "tensix.sync")),
        ("pack_tile", "pack", ("tensix.issue.pack", "tensix.pack")),
        ("copy_block", "unpack, math", ("tensix.issue.unpack", "tensix.unpack", "tensix.issue.math", "tensix.math")),
        ("get_compile_time_arg_val", "any", ()),
        ("mm_init", "unpack, math, pack", ("tensix.init",)),
    ],
)
def test_threads_and_costs(name, threads, costs):
    call = describe(name)
    assert (call.thread_names, call.costs) == (threads, costs)


@pytest.mark.parametrize("arch", ["wormhole_b0", "blackhole", "grayskull"])
def test_every_cost_is_a_parameter_of_the_architecture(arch):
    chip = load_arch(arch)
    for key in {key for name in call_names() for key in describe(name).costs}:
        assert key in chip or chip.section(key), key


def test_every_call_has_a_text_and_every_text_a_call():
    for name in call_names():
        assert describe(name).text.endswith("."), name
    assert texts().keys() <= set(call_names())


def test_calls_outside_the_tables_are_those_that_the_compiler_has_methods_for():
    assert SPECIAL_CALLS.keys() == SPECIAL.keys()


def test_signatures_are_those_that_the_compiler_binds():
    for name, call in OPERATIONS.items():
        if not name.startswith("_") and not call.ignores_arguments:
            assert list(inspect.signature(getattr(kernel_api, name)).parameters) == list(call.parameters), name


def test_a_call_outside_a_kernel_says_so():
    with pytest.raises(UsageError, match="cb_push_back is a kernel API call"):
        kernel_api.cb_push_back(0, 1)
