"""What the library's generated texts bind to names does and costs what the plain calls do."""

import numpy as np
import pytest

import tensim as tt
from tensim.sim.cores.riscv.kernel import CppKernel

pytest.importorskip("ziglang", reason="C++ kernels need the extra tensim[cpp]")
PAGES, PAGE = 5, 2048
SCRATCH = 0x80000

BOUND_READER = """
namespace args { constexpr experimental::CtaVal<uint32_t> pages{5u}; constexpr experimental::RtaArg<uint32_t> first{0};
    constexpr experimental::CrtaArg<uint32_t> step{8}; }
inline uint32_t get_vararg(uint32_t index) { return get_arg_val<uint32_t>(1 + index); }
namespace dfb {
constexpr DFBBindingToken<dfb::AccessPattern::STRIDED, dfb::AccessPattern::STRIDED> out{
    0, ::binding_details::LLKMetadata{.format = 5u}};
template <::internal::TemplateString name>
constexpr auto get_token_if_present() {
    if constexpr (name == "out") return &out;
    else return static_cast<const DFBBindingToken<>*>(nullptr);
} }
namespace sem { constexpr ::SemaphoreBindingToken ready{1u, ::SemScope::EXTERNAL}; }
namespace tensor { using in_t = ::tensor_accessor::TensorBindingToken<0u, 4u>;
    constexpr in_t in{::binding_details::LLKMetadata{.format = 5u}};
    template <::internal::TemplateString name> constexpr auto get_token_if_present() {
        return static_cast<const ::tensor_accessor::NullTensorBindingToken*>(nullptr); } }
namespace scratch { constexpr ScratchpadBindingToken sums{0u, 64u}; }
"""
BOUND_READER_BODY = """
void kernel_main() {
    const auto in = TensorAccessor(tensor::in);
    Scratchpad<volatile uint32_t> sums(scratch::sums);
    DataflowBuffer out(*dfb::get_token_if_present<"out">());
    Semaphore<> ready(sem::ready);
    Noc noc;
    if (const auto* other = tensor::get_token_if_present<"other">()) TensorAccessor(*other).get_noc_addr(0);
    sums[3] = get_vararg(0);
    for (uint32_t i = 0; i < get_arg(args::pages); i++) {
        out.reserve_back(1);
        noc.async_read(in, out, out.get_tile_size(), {.page_id = get_arg(args::first) + i * get_arg(args::step)}, {});
        noc.async_read_barrier();
        sums[0] = sums[0] + sums[3];
        out.push_back(1);
    }
    ready.set(sums[0]);
}
"""
PLAIN_READER_BODY = """
void kernel_main() {
    const auto in = TensorAccessor(TensorAccessorArgs<0>(), get_common_arg_val<uint32_t>(1));
    volatile uint32_t* sums = reinterpret_cast<volatile uint32_t*>(get_common_arg_val<uint32_t>(0));
    CircularBuffer out(0);
    Semaphore<> ready(1);
    Noc noc;
    sums[3] = get_arg_val<uint32_t>(1);
    for (uint32_t i = 0; i < 5; i++) {
        out.reserve_back(1);
        const uint32_t page = get_arg_val<uint32_t>(0) + i * get_common_arg_val<uint32_t>(2);
        noc.async_read(in, out, get_tile_size(0), {.page_id = page}, {});
        noc.async_read_barrier();
        sums[0] = sums[0] + sums[3];
        out.push_back(1);
    }
    ready.set(sums[0]);
}
"""
# The same with page sizes among the compile-time arguments, behind those of the accessor, as releases to 0.68 have it
TUPLE_READER_BODY = """
void kernel_main() {
    constexpr auto args = make_tensor_accessor_args_tuple<1, 0>();
    const auto all = make_tensor_accessor_tuple(args, 2, 2);
    const auto wrappers = make_abstract_tensor_accessor_wrappers(all);
    for (uint32_t i = 0; i < 5; i++) {
        cb_reserve_back(0, 1);
        noc_async_read(wrappers[0].get_noc_addr(get_arg_val<uint32_t>(0) + 2 * i), get_write_ptr(0), 2048);
        noc_async_read_barrier();
        cb_push_back(0, 1);
    }
    *reinterpret_cast<volatile uint32_t*>(get_semaphore(1)) = 35;
}
"""
WRITER = """
void kernel_main() {
    const auto out = TensorAccessor(TensorAccessorArgs<0>(), get_arg_val<uint32_t>(0));
    for (uint32_t page = 0; page < 5; page++) {
        cb_wait_front(0, 1);
        noc_async_write_page(page, out, get_read_ptr(0));
        noc_async_write_barrier();
        cb_pop_front(0, 1);
    }
    noc_semaphore_wait_min(reinterpret_cast<volatile uint32_t*>(get_semaphore(1)), 35);
}
"""


def run(reader, words=(2, PAGE)):
    """Cycles of a program that copies every second page.  `words`: the reader's compile-time arguments."""
    given = np.random.default_rng(0).integers(0, 256, 2 * PAGES * PAGE, np.uint8).tobytes()
    with tt.create_device(0, arch="wormhole_b0") as device:
        source = tt.create_buffer(tt.InterleavedBufferConfig(device, len(given), PAGE, tt.BufferType.DRAM))
        target = tt.create_buffer(tt.InterleavedBufferConfig(device, PAGES * PAGE, PAGE, tt.BufferType.DRAM))
        program, core, queue = tt.create_program(), tt.CoreCoord(0, 0), device.command_queue(0)
        tt.enqueue_write_buffer(queue, source, given, blocking=True)
        tt.create_circular_buffer(
            program, core, tt.CircularBufferConfig(2 * PAGE, {0: tt.DataFormat.Float16_b}).set_page_size(0, PAGE)
        )
        for _ in range(2):
            tt.create_semaphore(program, core, 0)
        readers = tt.ReaderDataMovementConfig(compile_args=list(words))
        handle = tt.create_kernel(program, reader, core, readers)
        tt.set_common_runtime_args(program, handle, [SCRATCH, source.address, 2])
        tt.set_runtime_args(program, handle, core, [1, 7, source.address])
        writers = tt.WriterDataMovementConfig(compile_args=[2, PAGE])  # an interleaved tensor in DRAM
        handle = tt.create_kernel(program, CppKernel("writer.cpp", text=WRITER), core, writers)
        tt.set_runtime_args(program, handle, core, [target.address])
        with tt.measure(device) as measured:
            tt.enqueue_program(queue, program, blocking=False)
            tt.finish(queue)
        copied = bytes(tt.enqueue_read_buffer(queue, target, blocking=True))
        assert copied == b"".join(given[(2 * i + 1) * PAGE :][:PAGE] for i in range(PAGES))
        return measured.result.core_cycles["(0,0)"]


def test_bound_names_cost_what_plain_calls_cost():
    bound = run(CppKernel("bound.cpp", text=BOUND_READER_BODY, preamble=BOUND_READER))
    plain = run(CppKernel("plain.cpp", text=PLAIN_READER_BODY))
    assert bound == plain > 0


def test_page_sizes_of_a_tuple_of_accessors_are_compile_time_arguments():
    kernel = CppKernel("tuple.cpp", text=TUPLE_READER_BODY, defines=(("TENSIM_ACCESSOR_PAGE_WORD", "0"),))
    assert run(kernel, words=(2, 0, PAGE)) > 0
