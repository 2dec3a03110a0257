"""What Python calls of the compiled engine, or hands to it by address.

Their modules are imported when they must be compiled, never when the disk cache holds their machine code.
"""

import ctypes
import functools
import importlib

from tensim.sim.engine import machine_code
from tensim.sim.engine.cache import CHECKS, COPROCESSOR, FABRIC, PACKETS, STOPS, digest_apart
from tensim.sim.errors import SimulatorError


class EntryPoint:
    """A compiled function of int64 arguments.  Calling it keeps the GIL and returns nothing."""

    def __init__(self, module, name, n_arguments):
        self.module, self.name, self.n_arguments = module, name, n_arguments

    @property
    def key(self):
        """Its name in the cache."""
        return f"{self.module}.{self.name}"

    @property
    def is_compiled(self):
        """Does the cache hold its machine code?  Then it is loaded."""
        if "code" not in self.__dict__ and (code := machine_code.load(self.key)) is not None:
            self.code = code
        return "code" in self.__dict__

    def object_code(self):
        """Compile it."""
        from tensim.sim.engine.numba_compiler import object_code

        function = getattr(importlib.import_module(f"tensim.sim.{self.module}"), self.name)
        return object_code(function.py_func, self.n_arguments)

    @functools.cached_property
    def code(self):
        """Its `tensim.sim.engine.machine_code.MachineCode`."""
        return machine_code.load_or_compile(self.key, self.object_code)

    @property
    def address(self):
        """Of the native function."""
        return self.code.address

    @functools.cached_property
    def _native(self):
        pointers = [ctypes.c_void_p] * 2  # result, error
        prototype = ctypes.PYFUNCTYPE(ctypes.c_int32, *pointers, *[ctypes.c_int64] * self.n_arguments)
        result, error = ctypes.c_int64(), ctypes.c_void_p()
        return (
            functools.partial(prototype(self.address), ctypes.addressof(result), ctypes.addressof(error)),
            result,
            error,
        )

    def beside(self, *arguments):
        """Call it without the GIL: what it does concerns no Python object."""
        words = [ctypes.c_int64] * self.n_arguments
        prototype = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, *words)
        result, error = ctypes.c_int64(), ctypes.c_void_p()
        prototype(self.address)(ctypes.addressof(result), ctypes.addressof(error), *map(int, arguments))

    def __call__(self, *arguments):
        function, *_ = self._native
        if function(*map(int, arguments)):
            raise SimulatorError(f"{self.key} raised in compiled code")


class EntryPointApart(EntryPoint):
    """An entry point whose sources (`parts`) the cache directory's name says nothing of."""

    def __init__(self, parts, module, name, n_arguments):
        super().__init__(module, name, n_arguments)
        self.parts = parts

    @functools.cached_property
    def key(self):
        """Its name in the cache."""
        return f"{super().key}-{digest_apart(self.parts)}"


run = EntryPoint("loop.event_loop", "run", 3)
start_threads = EntryPoint("loop.event_loop", "start_threads", 4)
take_ended = EntryPoint("loop.ended_threads", "take_ended", 2)
l1_written = EntryPoint("loop.event_loop", "l1_written", 5)
copy_regions = EntryPoint("engine.copies", "copy_regions", 2)
take_writes = EntryPoint("engine.host_writes", "take_writes", 3)
run_core = EntryPoint("cores.riscv.interpreter", "interpret", 3)
RUN_TILE = {  # by chip
    "wormhole_b0": EntryPointApart(COPROCESSOR, "cores.coprocessor.cluster", "run_wormhole_tile", 3),
    "blackhole": EntryPointApart(COPROCESSOR, "cores.coprocessor.cluster", "run_blackhole_tile", 3),
}
run_tiles = EntryPointApart(COPROCESSOR, "cores.coprocessor.together", "run_tiles", 1)
compute_event = EntryPointApart(COPROCESSOR, "cores.coprocessor.compute_threads", "compute_event", 3)
flit_event = EntryPoint("cores.niu.flits", "flit_event", 3)
router_event = EntryPointApart(FABRIC, "cores.fabric.events", "router_event", 3)
check_event = EntryPointApart(CHECKS, "cores.checks.events", "check_event", 3)
spread_bytes = EntryPointApart(CHECKS, "cores.checks.races", "spread_bytes", 4)
run_to_stop = EntryPointApart(STOPS, "chip.stops", "run_to_stop", 3)
packets_send = EntryPointApart(PACKETS, "register_level.packets", "send", 11)
packets_send_to_all = EntryPointApart(PACKETS, "register_level.packets", "send_to_all", 10)
packets_answer = EntryPointApart(PACKETS, "register_level.packets", "answer", 3)
packets_run = EntryPointApart(PACKETS, "register_level.packets", "run", 4)
flits_run = EntryPointApart(PACKETS, "register_level.flits", "run", 4)
replay_front_end = EntryPoint("cores.niu.replayed_events", "front_end", 1)
encode_tiles = EntryPoint("cores.numerics.host_formats", "encode_tiles", 5)
decode_tiles = EntryPoint("cores.numerics.host_formats", "decode_tiles", 5)
store_blocks = EntryPoint("cores.numerics.host_formats", "store_blocks", 7)
load_blocks = EntryPoint("cores.numerics.host_formats", "load_blocks", 7)
probe = EntryPoint("engine.coroutine", "probe", 1)
