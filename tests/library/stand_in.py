"""A stand-in for the vendor's library, for tests without its wheel: it does to a simulation device what the library does.

Written from the published layouts of two releases (docs/library.md), not from `tensim.library`, so that a mistake there shows.
`conftest.py` installs this file as the package `ttnn`; it imports nothing but the standard library.
"""

import ctypes
import importlib.metadata
import os
import re
import struct
import subprocess
from pathlib import Path

if __name__ == "ttnn":
    import ttnn._ttnn
    import ttnn.decorators  # noqa: F401  programs name it

    traces = ttnn._ttnn.operations.trace
    begin_trace_capture, end_trace_capture = traces.begin_trace_capture, traces.end_trace_capture
    execute_trace, release_trace = traces.execute_trace, traces.release_trace
    is_trace_capture_active = ttnn._ttnn.device.is_trace_capture_active
    tracy_message, MeshDevice = ttnn._ttnn.profiler.tracy_message, ttnn._ttnn.multi_device.MeshDevice

RELEASE = importlib.metadata.version("ttnn") if __name__ == "ttnn" else None
ARCH = os.environ.get("TENSIM_LIBRARY_ARCH", "wormhole_b0")

# Addresses in a worker's L1, by (release, architecture): launch message, go word, memory for kernels, table of banks
PLACES = {
    ("0.66.0", "wormhole_b0"): (0x20, 0x320, 0x8080, 0xC880),
    ("0.66.0", "blackhole"): (0x70, 0x370, 0x8740, 0x11740),
    ("0.81.1", "wormhole_b0"): (0x20, 0x4A0, 0x8960, 0xD160),
    ("0.81.1", "blackhole"): (0x70, 0x4F0, 0xA080, 0x13080),
}
IDLE_ETHERNET_GO = {
    ("0.66.0", "wormhole_b0"): 0x2310, ("0.66.0", "blackhole"): 0x410,
    ("0.81.1", "wormhole_b0"): 0x2490, ("0.81.1", "blackhole"): 0x590,
}  # fmt: skip
INIT, GO = 0x40000000, 0x80000000
RESET = 0xFFB121B0

# Offsets from the memory for kernels at which this stand-in puts what a launch needs
ARGUMENTS, COMMON, SEMAPHORES, BUFFERS, TEXTS = (0, 0x40, 0x80, 0xC0, 0x10), 0x90, 0xA0, 0xE0, 0x300
TEXT_STRIDE = 0x80


def launch_message(release, base, enables, mask, host_id, texts=(TEXTS,) * 5, unique=ARGUMENTS, common=(0,) * 5):
    """The bytes of a launch message; offsets are relative to `base`."""
    arguments = [offset for pair in zip(unique, common, strict=True) for offset in pair]
    watcher, rest = (1, 2, 3, 4, 5), (8, 0, 0)
    if release == "0.66.0":
        return struct.pack(
            "<3I3H2H10HBx5IIBBBBII5HHBBxB", base, base, base, SEMAPHORES, 0, 0, BUFFERS, TEXTS - 16, *arguments, 1, *texts,
            mask, 0, 0, 32, 0, host_id, enables, *watcher, *rest, 0,
        )  # fmt: skip
    return struct.pack(
        "<4I4H2H10HBxH5I5I4xQBBBBIII5HHBBH7xB", base, base, base, base, SEMAPHORES, 0, 0, 0, BUFFERS, TEXTS - 16, *arguments, 1,
        0xFF, *texts, *(TEXT_STRIDE if enables >> i & 1 else 0 for i in range(5)), mask, 0, 0, 32, 0, host_id, enables, 0,
        *watcher, *rest, 0xFF, 0,
    )  # fmt: skip


def harvested(release, kind):
    """How many units of a kind the cluster's description says that the chip lacks; older releases do not read it."""
    if release == "0.66.0":
        return 0
    text = Path(os.environ["TT_METAL_SIMULATOR"]).with_name("cluster_descriptor.yaml").read_text()
    found = re.search(rf"\b{kind}: (\d+)", text)
    return int(found[1]).bit_count() if found else 0


def workers(arch, lacking):
    """NoC coordinates of the cores that run kernels, row by row: of the rows or columns that are not lacking one dispatches."""
    if arch == "wormhole_b0":
        return [(x, y) for y in range(18, 27 - lacking) for x in range(18, 26)]
    columns = [*range(1, 8), *range(10, 16)]
    return [(x, y) for y in range(2, 12) for x in columns[: len(columns) - lacking]]


class Chip:
    """A loaded simulation device; older releases call it by tile, newer ones through PCI windows."""

    WINDOWS = {  # offset of a window in BAR 0, log2 of its bytes, offset of its register
        "wormhole_b0": (0xB000000, 24, 0x1FC00000 + 8 * 166),
        "blackhole": (0, 21, 0x1FC00000),
    }

    def __init__(self, release, arch):
        self.release, self.arch = release, arch
        self.functions = f = ctypes.CDLL(os.environ["TT_METAL_SIMULATOR"])
        tile = [ctypes.c_uint32, ctypes.c_uint32, ctypes.c_uint64, ctypes.c_char_p, ctypes.c_uint32]
        f.libttsim_tile_rd_bytes.argtypes = f.libttsim_tile_wr_bytes.argtypes = tile
        f.libttsim_pci_mem_rd_bytes.argtypes = f.libttsim_pci_mem_wr_bytes.argtypes = tile[2:]
        f.libttsim_pci_config_rd32.restype = ctypes.c_uint32
        f.libttsim_tile_rd_bytes.restype = f.libttsim_tile_wr_bytes.restype = None
        f.libttsim_init()
        low, high = (f.libttsim_pci_config_rd32(0, offset) for offset in (0x10, 0x14))
        self.bar = (high << 32 | low) & ~0xF

    def write(self, x, y, address, data):
        if self.release == "0.66.0":
            self.functions.libttsim_tile_wr_bytes(x, y, address, bytes(data), len(data))
            return
        for place, piece in self._window(x, y, address, len(data)):
            self.functions.libttsim_pci_mem_wr_bytes(place, bytes(data[piece]), piece.stop - piece.start)

    def read(self, x, y, address, size):
        data = ctypes.create_string_buffer(size)
        if self.release == "0.66.0":
            self.functions.libttsim_tile_rd_bytes(x, y, address, data, size)
            return data.raw
        found = b""
        for place, piece in self._window(x, y, address, size):
            self.functions.libttsim_pci_mem_rd_bytes(place, data, piece.stop - piece.start)
            found += data.raw[: piece.stop - piece.start]
        return found

    def close(self):
        self.functions.libttsim_exit()

    def _window(self, x, y, address, size):
        """(PCI address, slice of the data) per piece, behind a window that is set to the piece's tile."""
        offset, bits, register = self.WINDOWS[self.arch]
        done = 0
        while done < size:
            inside = (address + done) & ((1 << bits) - 1)
            count = min(size - done, (1 << bits) - inside)
            for at, word in self._register(x, y, address + done >> bits, bits):
                self.functions.libttsim_pci_mem_wr_bytes(self.bar + register + at, word, len(word))
            yield self.bar + offset + inside, slice(done, done + count)
            done += count

    def _register(self, x, y, number, bits):
        """(offset, bytes) of the writes that set a window."""
        if self.arch == "wormhole_b0":
            local = 36 - bits
            return [(0, struct.pack("<Q", number | x << local | y << local + 6 | 1 << local + 27))]
        words = number & 0xFFFFFFFF, number >> 32 | x << 11 | y << 17, 0
        return [(4 * i, struct.pack("<I", word)) for i, word in enumerate(words)]


class Device(Chip):
    """A chip that was opened as the library opens it, and its launches."""

    def __init__(self):
        super().__init__(RELEASE, ARCH)
        self.launch_at, self.go, self.base, self.banks = PLACES[RELEASE, ARCH]
        self.cores, self.launches = workers(ARCH, harvested(RELEASE, "harvest_mask")), 0
        table = self._bank_table()
        for x, y in self.cores:
            self.write(x, y, RESET, struct.pack("<I", 0x47800))
            self.write(x, y, self.banks, table)
            self.write(x, y, self.go, struct.pack("<I", INIT))
            self.write(x, y, RESET, struct.pack("<I", 0x47000))
        self.wait(self.cores)

    def _bank_table(self):
        shift, dram = (4, 12) if ARCH == "wormhole_b0" else (0, 8 - harvested(RELEASE, "dram_harvesting_mask"))
        places = [(y << 6 | x) << shift for x, y in self.cores]
        return struct.pack(f"<{2 * dram}H", *[0] * (2 * dram)) + struct.pack(f"<{2 * len(places)}H", *places, *places)

    def wait(self, cores):
        """Poll the go words until all are done; the library raises an error for any other signal."""
        for x, y in cores:
            signal = self.read(x, y, self.go, 4)[3]
            if signal:
                raise RuntimeError(f"core {x}-{y} answered {signal:#x}")

    def run(self, cores, texts, arguments, buffers=(), semaphores=(), unique=ARGUMENTS):
        """Launch kernels: {processor: text}, {processor: words of all cores or {core: words}}, (bytes of pages, pages) from
        index 0 on, initial values, where the arguments of each processor begin."""
        self.launches += 1
        enables = sum(1 << processor for processor in texts)
        places = [TEXTS + TEXT_STRIDE * processor for processor in range(5)]
        message = launch_message(RELEASE, self.base, enables, (1 << len(buffers)) - 1, self.launches, places, unique)
        table, at = b"", 0x20000
        for size, pages in buffers:
            table += struct.pack("<4I", at, size * pages, pages, size)
            at += size * pages
        for core in cores:
            for processor, text in texts.items():
                self.write(*core, self.base + places[processor], text)
            if table:
                self.write(*core, self.base + BUFFERS, table)
            for number, value in enumerate(semaphores):
                self.write(*core, self.base + SEMAPHORES + 16 * number, struct.pack("<I", value))
            for processor, words in arguments.items():
                words = words.get(core, ()) if isinstance(words, dict) else words
                self.write(*core, self.base + unique[processor], struct.pack(f"<{len(words)}I", *words))
        for core in cores:
            self.write(*core, self.launch_at, message)
            self.write(*core, self.go, struct.pack("<I", GO))
        self.wait(cores)


def compiled(text, processor="brisc", arguments=(), name="kernel"):
    """A kernel's text as the library would write it into L1: built and linked by the compiler in the library's tree."""
    root = Path(os.environ["TT_METAL_RUNTIME_ROOT"])
    compiler = root / "runtime/sfpi/compiler/bin/riscv-tt-elf-g++"
    generated = Path(os.environ["TT_METAL_CACHE"], "kernels", name, "1")
    folder = generated / processor
    folder.mkdir(parents=True, exist_ok=True)
    (generated / "kernel_includes.hpp").write_text(text)
    source = root / f"tt_metal/hw/firmware/src/tt-1xx/{processor}k.cc"
    macros = [
        "-DKERNEL_BUILD",
        "-DNOC_INDEX=0",
        "-DNOC_MODE=0",
        "-DKERNEL_COMPILE_TIME_ARGS=" + ",".join(map(str, arguments)),
    ]
    for command in (
        ["-O2", "-std=c++17", "-MMD", "-I.", "-I..", "-c", "-o", "kernel.o", str(source), *macros],
        ["-O2", "-nostartfiles", "-Tkernel.ld", "kernel.o", "-o", f"{processor}.elf"],
    ):
        done = subprocess.run([compiler, *command], capture_output=True, text=True, cwd=folder)
        if done.returncode:
            raise RuntimeError(done.stderr)
    assert (folder / "kernel.d").read_text().startswith("kernel.o:")
    elf = (folder / f"{processor}.elf").read_bytes()
    offset, _, _, size = struct.unpack_from("<4I", elf, struct.unpack_from("<I", elf, 28)[0] + 4)
    return elf[offset : offset + size]


open_device = Device
