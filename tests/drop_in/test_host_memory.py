"""The host's memory behind PCIe tiles: the driver tells each chip's outbound iATU where that chip's part of it lies."""

import contextlib
import ctypes
import threading
import time
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from tensim.cli.main import main
from tensim.library.environment import PACKAGE, build_c
from tensim.library.server import Server

READ = ctypes.CFUNCTYPE(None, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_uint32)
REGIONS = {"wormhole_b0": 0x1200, "blackhole": 0x1000}  # in BAR 2
REGION_BYTES, ENABLE = 0x200, 1 << 31
CONTROL, BASE, BASE_HIGH, LIMIT, TARGET, TARGET_HIGH = range(0x04, 0x1C, 4)


class Driver:
    """What a driver does to the library that stands for two cards; `memory`: {address: bytes} of the host."""

    def __init__(self, library):
        self.functions = library
        self.memory = {}
        library.libttsim_pci_config_rd32.restype = ctypes.c_uint32
        library.libttsim_pci_mem_wr_bytes.argtypes = [ctypes.c_uint64, ctypes.c_char_p, ctypes.c_uint32]
        self._callbacks = READ(self._read), READ(self._write)
        library.libttsim_set_pci_dma_mem_callbacks(*self._callbacks)
        library.libttsim_init()

    def _read(self, address, data, size):
        ctypes.memmove(data, self.memory.get(address, bytes(size)), size)

    def _write(self, address, data, size):
        self.memory[address] = ctypes.string_at(data, size)

    def show(self, chip, registers, base, size, target):
        """Let a chip see `size` bytes of the host at `target`, by addresses from `base` on, in its second region."""
        low, high = (self.functions.libttsim_pci_config_rd32(chip << 3, offset) for offset in (0x18, 0x1C))
        at = ((high << 32 | low) & ~0xF) + registers + REGION_BYTES
        for register, value in (
            (BASE, base), (BASE_HIGH, base >> 32), (LIMIT, base + size - 1), (TARGET, target), (TARGET_HIGH, target >> 32),
            (CONTROL, ENABLE),
        ):  # fmt: skip
            self.functions.libttsim_pci_mem_wr_bytes(at + register, (value & 0xFFFFFFFF).to_bytes(4, "little"), 4)


@contextlib.contextmanager
def served(path):
    """A server of a device that does nothing."""
    ends = threading.Event()
    server = Server(path, lambda: SimpleNamespace(works_by_itself=False, takes_writes=False), None)
    thread = threading.Thread(target=server.serve, args=(lambda: not ends.is_set(),))
    thread.start()
    try:
        yield server
    finally:
        ends.set()
        thread.join()
        server.close()


@pytest.mark.parametrize("chip", list(REGIONS))
def test_each_chip_sees_its_own_part_of_the_host(chip, tmp_path, monkeypatch):
    build_c(tmp_path / "device.so", PACKAGE / "device.c", ("-shared", "-fPIC", "-lpthread"))
    for name, value in (("SOCKET", str(tmp_path / "socket")), ("ARCH", chip), ("CHIPS", "2")):
        monkeypatch.setenv(f"TENSIM_LIBRARY_{name}", value)
    with served(tmp_path / "socket") as server:
        driver = Driver(ctypes.CDLL(str(tmp_path / "device.so")))
        parts = 1 << 34, 3 << 34
        for number, part in enumerate(parts):
            driver.show(number, REGIONS[chip], 0x40000000, 0x1000, part)
        while server.host_memory is None:
            time.sleep(0.01)
        one, other = (server.host_memory.of(number) for number in (0, 1))
        one.write(0x40000010, b"first")
        other.write(0x40000010, b"second")
        other.write(0x40001000, b"outside")
        assert driver.memory == {parts[0] + 0x10: b"first", parts[1] + 0x10: b"second", 0x40001000: b"outside"}
        assert one.read(0x40000010, 5) == b"first" and other.read(0x40000010, 6) == b"second"
        driver.functions.libttsim_exit()


def test_fast_dispatch_is_refused_where_the_library_dispatches_from_ethernet_tiles():
    options = ["device", "--mesh", "n300", "--dispatch", "fast", "--", "true"]
    done = CliRunner().invoke(main, options)
    assert done.exit_code == 2 and "dispatches from Ethernet tiles" in done.output
