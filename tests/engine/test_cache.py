"""The cache directory's name covers everything that machine code is made of."""

import subprocess
import sys

from tensim.sim.engine.cache import CHECKS, COMPILED, COPROCESSOR, FABRIC, PACKETS, STOPS, compiled_sources

IMPORTS = """
import importlib, sys
from tensim.sim.engine import entry_points
import tensim.sim.cores.kernels.kernel_runtime, tensim.sim.loop.first_start
import tensim.traces.flatbuffers.structure, tensim.traces.light_metal.content
for entry in vars(entry_points).values():
    if isinstance(entry, entry_points.EntryPoint):
        importlib.import_module(f"tensim.sim.{entry.module}")
print(*(name for name, module in sys.modules.items() if name.startswith("tensim.") and not name.endswith("__init__")))
"""
PLAIN = {
    "tensim",
    "tensim.sim",
    "tensim.sim.cache_folder",
    "tensim.sim.chip",
    "tensim.sim.cores.kernels",
    "tensim.sim.cores.riscv",
    "tensim.sim.errors",
    "tensim.sim.register_level",
    "tensim.traces",
    "tensim.traces.light_metal",
}


def test_all_that_compiled_code_imports_is_part_of_the_hash():
    done = subprocess.run([sys.executable, "-c", IMPORTS], capture_output=True, text=True, timeout=300, check=True)
    covered = {
        f"tensim.{name}" for name in compiled_sources((*COMPILED, *CHECKS, *COPROCESSOR, *FABRIC, *STOPS, *PACKETS))
    }
    assert set(done.stdout.split()) - covered - PLAIN <= set()
    assert "tensim.sim.loop.event_loop" in covered
