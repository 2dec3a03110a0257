"""How long a C++ kernel takes to compile: one thread's build, alone, with everything that is built once already there."""

import tempfile
import time
from pathlib import Path

from tensim.sim.arch import load_arch
from tensim.sim.cores.riscv import toolchain
from tensim.sim.cores.riscv.compiler import Build, Processor, compile_kernel

PLAIN = """
void kernel_main() {
    const InterleavedAddrGen<true> s = {.bank_base_address = get_arg_val<uint32_t>(0), .page_size = 2048};
    for (uint32_t i = 0; i < get_arg_val<uint32_t>(1); i++) {
        cb_reserve_back(0, 1);
        noc_async_read_page(i, s, get_write_ptr(0));
        noc_async_read_barrier();
        cb_push_back(0, 1);
    }
}
"""
STANDARD = "#include <algorithm>\n#include <array>\n#include <optional>\n#include <span>\n#include <tuple>\n" + PLAIN
REPEATS = 5


def seconds(text):
    """The fastest of several builds of a kernel that is in no cache."""
    arch, times = load_arch("wormhole_b0"), []
    for _ in range(REPEATS):
        fresh = f"{text}// {time.time_ns()}\n"
        build = Build(Processor.NCRISC, arch, text=fresh, circular_buffers=((0, 5, 32, 32),))
        started = time.perf_counter()
        compile_kernel(build)
        times.append(time.perf_counter() - started)
    return min(times)


def warm_seconds():
    """A build that the cache serves."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.cpp"
        path.write_text(PLAIN)
        build = Build(Processor.NCRISC, load_arch("wormhole_b0"), source=path)
        compile_kernel(build)
        started = time.perf_counter()
        compile_kernel(build)
        return time.perf_counter() - started


def rows():
    """(name, seconds, goal)."""
    toolchain.prepared(toolchain.toolchain(), "O2")
    seconds(PLAIN)  # what is prepared once for every kernel
    yield "C++ kernel: build of one thread", seconds(PLAIN), 0.3
    yield "C++ kernel: build of one thread with standard headers", seconds(STANDARD), 1
    yield "C++ kernel: from the cache", warm_seconds(), 0.05
