"""A chip without cores: memory, and programs that take as many cycles as their first kernel says.

Host-side behaviour (queues, costs, allocation, errors) is tested against it without compiling the engine.
"""

from types import SimpleNamespace

import numpy as np

from tensim.sim.chip.host_log import HostLog
from tensim.sim.errors import DeadlockError, UsageError


class FakeKernel:
    """What create_kernel takes; `cycles`: run time of a program that has it first, None if it hangs."""

    is_cpp = is_riscv = False

    def __init__(self, cycles=1000, name="fake", text_bytes=256, on_start=None):
        self.name, self.cycles, self.text_bytes, self.on_start = name, cycles, text_bytes, on_start

    def home(self, defines, named_compile_args):
        return None

    def build(self, parameters, target):
        return self


class FakeChip:
    """The part of `tensim.sim.chip.chip.Chip` that the executor and the environment use."""

    def __init__(self, arch, numerics="fast", noc="packet", max_cycles=None, seed=0, check=False):
        self.arch, self.cycle, self.n_workers = arch, 0, len(arch.worker_coords)
        self.closed, self.checks, self.host_log = False, None, HostLog()
        self.memory = self
        self.oddities = SimpleNamespace(untold=list)
        self.l1 = np.zeros((self.n_workers, arch.l1_size), np.uint8)
        self.dram = {}
        self.ends, self.launches, self.started, self.aborted = {}, [], [], False

    # --- running

    def protect_trace_region(self, start):
        self.trace_start = start

    def launch(self, launch, cycle, known=None):
        assert cycle >= self.cycle
        number = len(self.launches)
        self.launches.append(launch)
        kernel = launch.kernels[0].compiled
        self.started.append(cycle)
        if kernel.on_start:
            kernel.on_start(self)
        self.ends[number] = None if kernel.cycles is None else cycle + kernel.cycles
        return number

    def next_time(self):
        return min((end for end in self.ends.values() if end is not None), default=None)

    def advance(self, limit, fuel):
        end = self.next_time()
        if end is None:
            if self.ends:
                raise DeadlockError("the fake program hangs")
            return []
        if end > limit:
            return []
        self.cycle = end
        done = [(number, end) for number, at in self.ends.items() if at == end]
        for number, _ in done:
            del self.ends[number]
        return done

    def abort(self):
        self.ends.clear()
        self.aborted = True

    def close(self):
        self.closed = True

    def free(self):
        """Nothing to give back."""

    # --- memory

    def write_l1(self, core, address, data, cycle=0):
        if address + len(data) > self.arch.l1_size:
            raise UsageError("L1 access out of range")
        self.l1[core, address : address + len(data)] = np.frombuffer(data, np.uint8)

    def read_l1(self, core, address, size):
        return self.l1[core, address : address + size].tobytes()

    def _bank(self, bank):
        return self.dram.setdefault(bank, bytearray(1 << 22))

    def write_dram(self, bank, address, data):
        self._bank(bank)[address : address + len(data)] = data

    def read_dram(self, bank, address, size):
        return bytes(self._bank(bank)[address : address + size])

    def write_dram_rows(self, bank, address, rows, stride):
        for number, row in enumerate(rows):
            self.write_dram(bank, address + number * stride, row.tobytes().ljust(stride, b"\0"))

    def read_dram_rows(self, bank, address, stride, rows):
        for number in range(len(rows)):
            rows[number] = np.frombuffer(self.read_dram(bank, address + number * stride, rows.shape[1]), np.uint8)


def fake_module():
    """A stand-in for `tensim.sim.chip.chip`."""
    return SimpleNamespace(Chip=FakeChip)
