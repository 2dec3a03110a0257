"""C++ kernels become objects: both generations of headers, both entry forms, caching, messages, refusals."""

import time
from dataclasses import replace
from io import BytesIO

import pytest

pytest.importorskip("elftools")

from elftools.elf.elffile import ELFFile

import tensim as tt
from tensim.sim.arch import load_arch
from tensim.sim.cores.numerics.sfpu_functions import BY_FORMAT, SFPU_API
from tensim.sim.cores.operations import Op
from tensim.sim.cores.riscv import toolchain
from tensim.sim.cores.riscv.compiler import (
    Build,
    Processor,
    compile_each,
    compile_kernel,
    firmware_bytes,
)
from tensim.sim.cores.riscv.layout import LOCAL_BASE
from tensim.sim.cores.riscv.program import RiscvKernel
from tensim.sim.cores.riscv.traps import ARGUMENTS, OPCODE, Form, Service
from tensim.sim.errors import KernelCompileError, UsageError
from tests.cores.riscv.machine import OUT, cycles, run, words

BUFFERS = ((0, 5, 32, 32), (1, 5, 32, 32), (16, 5, 32, 32))
COMPUTE = (Processor.TRISC0, Processor.TRISC1, Processor.TRISC2)
CLASSIC = """
#include "dataflow_api.h"
void kernel_main() {
    uint32_t source = get_arg_val<uint32_t>(0), tiles = get_arg_val<uint32_t>(1);
    constexpr uint32_t cb = get_compile_time_arg_val(0);
    const InterleavedAddrGenFast<true> s = {
        .bank_base_address = source, .page_size = uint32_t(get_tile_size(cb)), .data_format = get_dataformat(cb)};
    for (uint32_t i = 0; i < tiles; i++) {
        cb_reserve_back(cb, 1);
        noc_async_read_tile(i, s, get_write_ptr(cb));
        noc_async_read_barrier();
        cb_push_back(cb, 1);
    }
}
"""
OBJECTS = """
#include "api/dataflow/dataflow_api.h"
#include "api/dataflow/noc.h"
#include "api/tensor/noc_traits.h"
void kernel_main() {
    const auto s = TensorAccessor(TensorAccessorArgs<1>(), get_arg_val<uint32_t>(0));
    Noc noc;
    CircularBuffer cb(0);
    for (uint32_t i = 0; i < get_arg_val<uint32_t>(1); i++) {
        cb.reserve_back(1);
        noc.async_read(s, cb, cb.get_tile_size(), {.page_id = i}, {.offset_bytes = 0});
        noc.async_read_barrier();
        cb.push_back(1);
    }
}
"""
BODY = """
    binary_op_init_common(0, 1, 16);
    add_tiles_init(0, 1);
    for (uint32_t i = 0; i < get_arg_val<uint32_t>(0); i++) {
        DeviceZoneScopedN("tile");
        cb_wait_front(0, 1);
        tile_regs_acquire();
        add_tiles(0, 1, 0, 0, 0);
        exp_tile(0);
        tile_regs_commit();
        tile_regs_wait();
        pack_tile(0, 16);
        tile_regs_release();
        cb_pop_front(0, 1);
    }
"""
SEEN = """static uint32_t seen[%d];
void kernel_main() {
    for (auto& word : seen) word += get_arg_val<uint32_t>(0);
    riscv_wait(seen[get_arg_val<uint32_t>(1)]);
}"""
FORMS = {
    "main": '#include "compute_kernel_api.h"\nnamespace NAMESPACE { void MAIN { %s } }',
    "main()": '#include "compute_kernel_api.h"\nnamespace NAMESPACE { void MAIN() { %s } }',
    "kernel_main": '#include "api/compute/eltwise_binary.h"\nvoid kernel_main() { %s }',
}


@pytest.fixture
def build():
    def make(text=None, processor=Processor.NCRISC, **options):
        options = {"circular_buffers": BUFFERS, "compile_args": (0, 2, 2048)} | options
        return Build(processor, load_arch("wormhole_b0"), text=text, **options)

    return make


def operations(elf):
    """[(Op or Service, number of its arguments)] of an object's text, in the order of their addresses."""
    code = ELFFile(BytesIO(elf)).get_section_by_name(".text").data()
    found, arguments = [], 0
    for at in range(0, len(code), 4):
        word = int.from_bytes(code[at : at + 4], "little")
        if word & 0x7F != OPCODE:
            assert arguments == 0, "arguments and trap stand one behind the other"
            continue
        if word >> 12 & 7 != Form.CALL:
            arguments += 1
            continue
        number = word >> 20
        found.append((Op(number) if number < Service.END else Service(number), arguments))
        arguments = 0
    return found


@pytest.mark.parametrize("text", [CLASSIC, OBJECTS], ids=["functions", "objects"])
def test_both_generations_of_data_movement_post_the_same_operations(build, text):
    names = {operation for operation, _ in operations(compile_kernel(build(text)).elf)}
    assert names == {Op.CB_RESERVE_BACK, Op.NOC_READ, Op.NOC_BARRIER, Op.CB_PUSH_BACK, Service.END}


@pytest.mark.parametrize("form", FORMS)
def test_a_compute_kernel_is_three_programs(build, form):
    builds = [build(FORMS[form] % BODY, processor) for processor in COMPUTE]
    ((objects, error),) = compile_each([builds])
    assert error is None
    unpack, math, pack = ({operation for operation, _ in operations(kernel.elf)} for kernel in objects)
    zones = {Op.ZONE_BEGIN, Op.ZONE_END, Op.CONFIG, Service.END}
    assert unpack == zones | {Op.CB_WAIT_FRONT, Op.CB_POP_FRONT, Op.UNPACK_AB}
    assert math == zones | {Op.DST_ACQUIRE, Op.DST_COMMIT, Op.MATH_BINARY, Op.SFPU_UNARY}
    assert pack - {Op.CONFIG} == zones - {Op.CONFIG} | {Op.DST_WAIT, Op.DST_RELEASE, Op.PACK}


def test_every_operation_gets_all_its_arguments(build):
    for processor, text in ((Processor.NCRISC, CLASSIC), *((p, FORMS["main"] % BODY) for p in COMPUTE)):
        for operation, arguments in operations(compile_kernel(build(text, processor)).elf):
            assert arguments == len(ARGUMENTS[operation])


def test_zones_have_names(build):
    kernel = compile_kernel(build(FORMS["main"] % BODY, Processor.TRISC1))
    assert list(kernel.zones.values()) == ["tile"]


def test_data_stands_behind_what_the_loader_writes(build):
    text = SEEN % 4
    kernel = compile_kernel(build(text))
    (section,) = (s for s in ELFFile(BytesIO(kernel.elf)).iter_sections() if s.name == ".bss")
    assert section["sh_addr"] >= LOCAL_BASE + firmware_bytes(load_arch("wormhole_b0"))
    assert kernel.local_bytes >= 16


def test_data_that_does_not_fit_into_local_memory_is_an_error(build):
    text = SEEN % 4096
    with pytest.raises(KernelCompileError, match="does not fit into the .* bytes of local memory of NCRISC"):
        compile_kernel(build(text))


def test_named_compile_time_arguments_are_constants(build):
    text = 'static_assert(get_named_compile_time_arg_val("tiles") == 7);\nvoid kernel_main() {}'
    compile_kernel(build(text, named_args=(("tiles", 7), ("rows", 3))))
    with pytest.raises(KernelCompileError, match="named_compile_time_argument_that_it_was_not_given"):
        compile_kernel(build(text, named_args=(("rows", 3),)))


def test_defines_keep_blanks_and_quotes(build):
    text = "static_assert(sizeof(TEXT) == 4 && SUM == 3);\nvoid kernel_main() {}"
    compile_kernel(build(text, defines=(("TEXT", '"a b"'), ("SUM", "1 + 2"))))


def test_a_compile_time_argument_past_the_end_is_an_error(build):
    with pytest.raises(KernelCompileError, match="compile-time argument that it was not given") as error:
        compile_kernel(build("void kernel_main() {\n  riscv_wait(get_compile_time_arg_val(3));\n}"))
    assert error.value.where["line"] == 2


def test_messages_name_the_users_file_and_line_first(build, tmp_path):
    path = tmp_path / "broken.cpp"
    path.write_text('#include "dataflow_api.h"\nvoid kernel_main() {\n    noc_async_read(nothing, 0, 32);\n}\n')
    with pytest.raises(KernelCompileError) as error:
        compile_kernel(build(source=path))
    assert error.value.where["file"] == str(path) and error.value.where["line"] == 3
    assert "undeclared identifier 'nothing'" in str(error.value).splitlines()[0]


def test_an_error_inside_the_headers_is_shown_at_the_call(build):
    with pytest.raises(KernelCompileError) as error:
        compile_kernel(build("void kernel_main() {\n\n  get_arg_val<uint64_t>(0);\n}", name="wide.cpp"))
    assert error.value.where["file"].endswith("wide.cpp") and error.value.where["line"] == 3


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("void kernel_main() { TTI_SFPNOP; }", "raw_instructions"),
        ('#include "tt_metal/fabric/hw/inc/edm_fabric/edm_handshake.hpp"\nvoid kernel_main() {}', "fabric"),
        ('#include "sfpi.h"\nvoid kernel_main() { sfpi::vFloat x; }', "sfpi"),
        ("void kernel_main() { _llk_math_eltwise_binary_(0); }", "llk"),
        ("void kernel_main() { eth_send_bytes(0, 0, 16); }", "ethernet"),
        ("void kernel_main() { noc_fast_read(0, 0, 0, 0, 0); }", "hardware_registers"),
        ("void kernel_main() { riscv_wait(noc_nonposted_writes_num_issued[0]); }", "hardware_registers"),
    ],
)
def test_what_is_not_modelled_is_refused_by_name(build, text, reason):
    with pytest.raises(KernelCompileError) as error:
        compile_kernel(build(text))
    assert error.value.kind == "kernel_refused" and error.value.where["refused"] == reason and error.value.hint


def test_a_header_behind_the_api_is_refused_only_where_it_is_used(build):
    text = """
    #include "ckernel_sfpu_exp.h"
    #include "llk_math_common_api.h"
    template <class T> void unused(T value) { calculate_exponential(value); }
    void kernel_main() {}"""
    compile_kernel(build(text))


def math_operations(build, body):
    text = f'#include "api/compute/common.h"\nvoid kernel_main() {{ {body} }}'
    return [operation for operation, _ in operations(compile_kernel(build(text, Processor.TRISC1)).elf)]


def test_an_exponential_with_a_scale_multiplies_first(build):
    plain = math_operations(build, "exp_tile<false, false>(0, VectorMode::RC);")
    scaled = math_operations(build, "exp_tile<false, true>(0, VectorMode::C, 0xBF80);")
    assert plain.count(Op.SFPU_UNARY) == 1 and scaled.count(Op.SFPU_UNARY) == 2
    approximate = math_operations(
        build, "exp_tile_init<true, 0x3E000000>(); exp_tile<true, true>(0, VectorMode::RC, 0xBF80);"
    )
    assert approximate.count(Op.SFPU_UNARY) == 1, "its initialisation has the scale"


def test_words_are_long_as_in_the_c_library_of_the_vendors_compiler(build):
    text = """
    #include "dataflow_api.h"
    inline auto place_of(const uint32_t value) {
        for (uint32_t i = 0; i < 8; i++)
            if (value == get_arg_val<uint32_t>(i)) return std::make_tuple(true, i);
        return std::make_tuple(false, 0ul);
    }
    static_assert(std::is_same_v<int32_t, long> && sizeof(long) == 4);
    void kernel_main() { noc_semaphore_set(reinterpret_cast<uint32_t*>(get_semaphore(0)), std::get<1>(place_of(7))); }"""
    compile_kernel(build(text))


def test_an_inline_write_may_leave_the_wait_for_its_word_out(build):
    """As muxes of the vendor's library call it."""
    text = """
    #include "dataflow_api.h"
    void kernel_main() {
        noc_inline_dw_write<InlineWriteDst::L1, true, false>(get_noc_addr(1, 1, 64), 7, 0xF, 0, NOC_UNICAST_WRITE_VC, 128);
    }"""
    found = [operation for operation, _ in operations(compile_kernel(build(text)).elf)]
    assert found.count(Op.NOC_INLINE_WRITE) == 1


def test_what_has_no_operation_stops_the_kernel_that_reaches_it(build):
    assert Service.FAIL_ASSERT in math_operations(
        build, "add_tiles_bcast_rows(0, 1, 0, 0, 0, get_arg_val<uint32_t>(0));"
    )
    assert Service.FAIL_ASSERT not in math_operations(build, "add_tiles_bcast_rows(0, 1, 0, 0, 0);")


def test_an_object_lists_the_calls_without_an_operation_that_it_may_reach(build):
    """Not those that are never called or in a branch that cannot be taken: optimisation and linker leave them out."""
    text = """
#include "api/compute/common.h"
void unused() { topk_tile_init(); }
void kernel_main() {
    if constexpr (get_compile_time_arg_val(0) != 0) welford_init();
    if (get_compile_time_arg_val(1) == 3) dropout_kernel_init(1);
    if (get_arg_val<uint32_t>(0) == 5) rand_tile_init(7);
}
"""
    made = build(text, Processor.TRISC1)
    kernel = RiscvKernel("kernel", "kernel.cpp", {3: compile_kernel(made).elf}, made.arch, text)
    ((said, place),) = kernel.not_modelled()
    assert said == "rand_tile_init is not modelled" and (place["file"], place["line"]) == ("kernel.cpp", 7)


def test_halves_of_an_init_cost_what_configuration_costs(build):
    halves = "MATH((llk_math_reconfig_data_format_srca<false>(0, 1))); UNPACK((llk_unpack_AB_reduce_init<0, 1>(0, 1)));"
    assert sorted(math_operations(build, halves)) == [Op.CONFIG, Service.END]


NEWER_OBJECTS = {
    "a choice between tensors": """
        auto a = TensorAccessor(TensorAccessorArgs<1>(), 0x1000), b = TensorAccessor(TensorAccessorArgs<2>(), 0x2000);
        noc.async_read(get_arg_val<uint32_t>(0) ? a : b, CoreLocalMem<uint32_t>(0x20000), 32, {.page_id = 1}, {});""",
    "pages in steps": """
        auto pages = TensorAccessor(TensorAccessorArgs<1>(), 0x1000).pages(0, 8);
        for (auto page = pages.begin(); page != pages.end(); page += 2) {
            noc.async_read(*page, CoreLocalMem<uint32_t>(0x20000 + page->page_id()), 32, {}, {});
        }""",
    "a buffer's own zeros": """
        CircularBuffer zeros(0);
        noc.async_write_zeros(TensorAccessor(TensorAccessorArgs<1>(), 0x1000), 32, {.page_id = 1}, zeros);""",
    "modes of older releases": """
        auto tensor = TensorAccessor(TensorAccessorArgs<1>(), 0x1000);
        CoreLocalMem<uint32_t> memory(0x20000);
        noc.async_read<Noc::TxnIdMode::ENABLED, NOC_MAX_BURST_SIZE>(tensor, memory, 32, {.page_id = 1}, {}, 2, 3);
        noc.set_async_read_state<Noc::VcSelection::CUSTOM, NOC_MAX_BURST_SIZE>(tensor, 32, {.page_id = 1}, 2);
        noc.async_read_with_state<Noc::VcSelection::CUSTOM, NOC_MAX_BURST_SIZE>(tensor, memory, 32, {.page_id = 1}, {}, 2);
        noc.async_read_barrier<Noc::BarrierMode::TXN_ID>(3);
        Semaphore<>(0).set_multicast<Noc::McastMode::INCLUDE_SRC>(noc, 1, 1, 2, 2, 4);""",
    "options of newer releases": """
        auto tensor = TensorAccessor(TensorAccessorArgs<1>(), 0x1000);
        noc.async_read<NocOptions::TXN_ID | NocOptions::CUSTOM_VC, 64>(
            tensor, CoreLocalMem<uint32_t>(0x20000), 32, {.page_id = 1}, {}, {.vc = 2, .trid = 3});
        noc.async_read_barrier<NocOptions::TXN_ID>({.trid = 3});""",
    "a semaphore's binding": "Semaphore<>(SemaphoreBindingToken{3, SemScope::LOCAL_NONATOMIC}).wait(1);",
    "pointers that a kernel moves": "DataflowBuffer(0).evil_set_read_ptr(0x20000); riscv_wait(CircularBuffer(0).get_read_ptr());",
    "locks": """
        Scratchpad<volatile uint32_t> memory(ScratchpadBindingToken{0, 64});
        auto lock = memory.scoped_lock(0, 4);
        riscv_wait(memory.local_mem()[0]);""",
    "a constant of its own": "constexpr float M_PI = 3.0f; riscv_wait(uint32_t(M_PI));",
}


@pytest.mark.parametrize("name", NEWER_OBJECTS)
def test_objects_of_newer_releases_build(build, name):
    text = f'#include "api/dataflow/noc.h"\nvoid kernel_main() {{ Noc noc; {NEWER_OBJECTS[name]} }}'
    compile_kernel(build(text, compile_args=(0, 2, 2, 2048)))


@pytest.mark.parametrize("size", [64, 512, 2080])
def test_zeros_come_over_the_noc(build, size):
    """From those that the firmware's map keeps, 512 bytes in a read: a core would take three cycles to store a word."""
    text = f"""#include "api/dataflow/noc.h"
    void kernel_main() {{
        Noc noc;
        CoreLocalMem<uint32_t> place({OUT});
        auto words = reinterpret_cast<volatile uint32_t*>({OUT});
        for (uint32_t i = 0; i <= {size} / 4; i++) words[i] = i + 1;
        noc.async_write_zeros(place, {size});
        noc.write_zeros_l1_barrier();
    }}"""
    stored = text.replace("noc.async_write_zeros", "// noc.async_write_zeros")
    chips = [run(compile_kernel(build(one)).elf, "blackhole") for one in (text, stored)]
    assert words(chips[0], size // 4 + 1) == [0] * (size // 4) + [size // 4 + 1]
    assert cycles(chips[0]) - cycles(chips[1]) < 150 + size // 16


def test_numbers_compare_by_their_bits_and_kernels_may_define_the_names(build):
    included = """#include "api/numeric/bfloat16.h"
    static_assert(bfloat16_greater(0x3F80, 0xBF80) && !bfloat16_greater(0xFF80, 0x0000) && bfloat16_greater(0xBF80, 0xC000));
    void kernel_main() {}"""
    own = "constexpr uint32_t TILE_WIDTH = 32, bfloat16_greater = TILE_WIDTH;\nvoid kernel_main() { riscv_wait(bfloat16_greater); }"
    for text in (included, own):
        compile_kernel(build(text))


def test_a_kernel_without_an_entry_function_is_an_error(build):
    with pytest.raises(KernelCompileError, match="defines no kernel_main"):
        compile_kernel(build("void helper() {}", name="none.cpp"))
    with tt.create_device(0) as device:
        program, text = tt.create_program(), '#include "dataflow_api.h"\nvoid kernel_mian() {}\n'
        tt.create_kernel_from_string(program, text, tt.CoreCoord(0, 0), tt.ReaderDataMovementConfig())
        with pytest.raises(KernelCompileError, match="kernel.cpp defines no kernel_main"):
            tt.compile_program(device, program)


def test_a_changed_include_builds_again(build, tmp_path):
    header, path = tmp_path / "shared.hpp", tmp_path / "kernel.cpp"
    path.write_text('#include "shared.hpp"\nvoid kernel_main() { riscv_wait(WAIT); }\n')
    header.write_text("#define WAIT 5\n")
    first = compile_kernel(build(source=path))
    assert compile_kernel(build(source=path)) == first
    header.write_text("#define WAIT 6\n")
    assert compile_kernel(build(source=path)).digest != first.digest


def test_the_cache_serves_an_object_without_a_compiler(build, monkeypatch):
    text = f"void kernel_main() {{ riscv_wait({time.time_ns() & 1023}); }}"
    first = compile_kernel(build(text))
    monkeypatch.setattr(toolchain, "run", lambda *_, **__: pytest.fail("the compiler runs again"))
    assert compile_kernel(build(text)) == first


def test_include_paths_are_searched_in_their_order(build, tmp_path):
    for name in ("near", "far"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "where.h").write_text(f"#define WHERE {len(name)}\n")
    text = '#include "where.h"\nstatic_assert(WHERE == 4);\nvoid kernel_main() {}'
    compile_kernel(build(text, include_paths=(tmp_path / "near", tmp_path / "far")))


BRANCHES = """
#include "api/dataflow/dataflow_api.h"
void kernel_main() {{
    const uint32_t count = get_arg_val<uint32_t>(0);
    uint32_t offset;
    {0}
    riscv_wait(count + offset);
}}
"""


@pytest.mark.parametrize("source, refused", [
    ("", True),
    ("if (count > 100) offset = 0;", True),
    ("for (uint32_t i = 0; i < count; i++) offset = i;", False),
    ("if (count > 100) offset = 0; else offset = 1;", False),
    ("if (count > 100) offset = 0; if (count <= 100) offset = 1;", False),
    ("bool known = count > 100; if (known) offset = 2; if (!known) return;", False),
])  # fmt: skip
def test_a_local_that_a_branch_leaves_without_a_value_is_refused(build, source, refused):
    """Where nothing says that the other branch is taken; conditions that exclude each other are believed, and loops run."""
    if not refused:
        compile_kernel(build(BRANCHES.format(source)))
        return
    with pytest.raises(KernelCompileError, match="variable 'offset' is (used )?uninitialized"):
        compile_kernel(build(BRANCHES.format(source)))


def test_an_unknown_optimisation_level_is_refused(build):
    with pytest.raises(UsageError, match="no optimisation level"):
        compile_kernel(build(CLASSIC, optimization="O9"))


def test_without_a_compiler_one_sentence_says_what_to_install(build, monkeypatch):
    toolchain._packaged.cache_clear()
    monkeypatch.delenv("TENSIM_CXX", raising=False)
    monkeypatch.setattr(toolchain, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match="no C\\+\\+ compiler") as error:
        compile_kernel(build(CLASSIC))
    assert "pip install 'tensim[cpp]'" in error.value.hint
    toolchain._packaged.cache_clear()


def test_a_compiler_that_does_not_exist_is_named(build, monkeypatch):
    monkeypatch.setenv("TENSIM_CXX", "/nowhere/riscv-g++")
    with pytest.raises(UsageError, match="/nowhere/riscv-g\\+\\+"):
        compile_kernel(build(CLASSIC))


@pytest.mark.parametrize("chip", ["wormhole_b0", "blackhole"])
def test_kernels_build_for_every_chip(build, chip):
    compile_kernel(replace(build(CLASSIC), arch=load_arch(chip)))


def test_floating_point_and_64_bit_division_link(build):
    text = """void kernel_main() {
        float x = get_arg_val<float>(0);
        uint64_t y = get_timestamp();
        riscv_wait(x * 2.5f + y / get_arg_val<uint32_t>(1));
    }"""
    assert compile_kernel(build(text)).local_bytes < 1024


def test_a_function_that_nobody_defines_is_told_at_the_line_that_calls_it(build):
    text = "uint32_t found(uint32_t x);\nvoid kernel_main() {\n    riscv_wait(1);\n    riscv_wait(found(2));\n}\n"
    with pytest.raises(
        KernelCompileError, match=r"kernel.cpp:4: found\(unsigned (int|long)\) is declared but not defined"
    ):
        compile_kernel(build(text))


def test_generators_of_pages_of_a_power_of_two_have_designated_fields(build):
    """They are two types, for which kernels overload functions."""
    text = """
    template <bool in_dram>
    uint32_t page(const InterleavedPow2AddrGen<in_dram>& pages, uint32_t number = 3) { return number; }
    template <bool in_dram>
    uint32_t page(const InterleavedPow2AddrGenFast<in_dram>& pages, uint32_t number = 3) { return number; }
    void kernel_main() {
        const InterleavedPow2AddrGenFast<true> pages = {.bank_base_address = 64, .log_base_2_of_page_size = 11};
        noc_async_read_page(page(pages), pages, get_write_ptr(0));
    }"""
    plain = text.replace("Fast<true> pages", "<true> pages")
    assert operations(compile_kernel(build(text)).elf) == operations(compile_kernel(build(plain)).elf)


@pytest.mark.parametrize(
    ("plain", "call"),
    [
        ("rta_l1_base[2]", "get_arg_val<uint32_t>(2)"),
        ("crta_l1_base[1]", "get_common_arg_val<uint32_t>(1)"),
        ("(reset_noc_trid_barrier_counter(NOC_CLEAR_OUTSTANDING_REQ_MASK, noc_index), 1)", "1"),
    ],
)
def test_names_behind_the_calls_of_the_api(build, plain, call):
    first, second = (compile_kernel(build(f"void kernel_main() {{ riscv_wait({one}); }}")).elf for one in (plain, call))
    first, second = (ELFFile(BytesIO(elf)).get_section_by_name(".text").data() for elf in (first, second))
    assert first == second


@pytest.mark.parametrize(
    "statement",
    [
        'DPRINT << "x " << 3 << HEX() << 1.5f << ENDL();',
        'DPRINT("x {} {}\\n", 3, 1.5f);',
        'DEVICE_PRINT("x {}\\n", uint64_t(3));',
        "ASSERT(get_arg_val<uint32_t>(0) > 1);",
    ],
)
def test_prints_and_assertions_use_no_local_memory(build, statement):
    kernel = compile_kernel(build(f"void kernel_main() {{ {statement} }}"))
    assert kernel.local_bytes == 0
    assert {Service.DPRINT, Service.FAIL_ASSERT} & {operation for operation, _ in operations(kernel.elf)}


@pytest.mark.parametrize("processor", COMPUTE)
@pytest.mark.parametrize(
    "fast, plain",
    [
        ("fast_untilize_init<2>(0, 16)", "pack_untilize_init<2, 2>(0, 16)"),
        ("fast_untilize_block<2>(0, 16)", "pack_untilize_block<2, 2>(0, 1, 16)"),
        ("fast_untilize_uninit<2>(16)", "pack_untilize_uninit(16)"),
        ("fast_tilize_init_skip_remap(0, 2, 16)", "fast_tilize_init(0, 2, 16)"),
        ("fast_tilize_init_with_dt(0, 2, 16)", "fast_tilize_init(0, 2, 16)"),
    ],
)
def test_fast_forms_post_what_plain_ones_post(build, processor, fast, plain):
    text = '#include "api/compute/tilize.h"\n#include "api/compute/pack_untilize.h"\nvoid kernel_main() {{ {}; }}'
    first, second = (compile_kernel(build(text.format(call), processor)).elf for call in (fast, plain))
    assert operations(first) == operations(second)
    if "init" in fast:  # with the same arguments
        first, second = (ELFFile(BytesIO(elf)).get_section_by_name(".text").data() for elf in (first, second))
        assert first == second


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        ("logical_not_tile<DataFormat::Int8>(0)", "data_format"),
        ("add_int_tile<DataFormat::Float32>(0, 1, 0)", "data_format"),
        ("where_tile<DataFormat::Int8>(0, 1, 2, 0)", "data_format"),
        ("abs_tile<DataFormat::Int32>(0)", "data_format"),
        ("typecast_tile<0, 14>(0)", "data_format"),
        ("sfpu_reduce<PoolType::MAX, DataFormat::Bfp8_b>(0)", "data_format"),
        ("sfpu_reduce<PoolType::AVG, DataFormat::Int32, ReduceDim::REDUCE_ROW>(0)", "reduction"),
        ("reduce_tile<PoolType::MIN, ReduceDim::REDUCE_ROW>(0, 1, 0, 0, 0)", "reduction"),
        ("reduce_tile_math<PoolType::MIN, ReduceDim::REDUCE_ROW>(0)", "reduction"),
        ("binary_tiles_init<true, ELWDIV>(0, 1)", "mode"),
        ("binary_dest_reuse_tiles<ELWLESS>(0, 0, 0)", "mode"),
    ],
)
def test_template_arguments_that_are_unknown_are_refused(build, call, reason):
    """A format or a mode that a call has no form for never becomes another one's."""
    text = f'#include "api/compute/common.h"\nvoid kernel_main() {{ {call}; }}'
    with pytest.raises(KernelCompileError) as error:
        compile_kernel(build(text, processor=Processor.TRISC1))
    assert error.value.kind == "kernel_refused" and error.value.where["refused"] == reason and error.value.hint


@pytest.mark.parametrize("name", BY_FORMAT)
def test_a_data_format_chooses_the_function(build, name):
    claims = [
        f"static_assert({name}_functions::of({int(form)}) == {int(SFPU_API[function][0])});"
        for form, function in BY_FORMAT[name].items()
    ]
    text = '#include "api/compute/common.h"\n' + "\n".join(claims) + "\nvoid kernel_main() {}"
    compile_kernel(build(text, processor=Processor.TRISC1))


def test_a_rounding_mode_is_not_ignored(build):
    text = '#include "api/compute/common.h"\nvoid kernel_main() {{ rdiv_tile<RoundingMode::{}>(0, 1); }}'
    modes = ("None", "Trunc", "Floor")
    assert len({compile_kernel(build(text.format(mode), processor=Processor.TRISC1)).elf for mode in modes}) == len(
        modes
    )
