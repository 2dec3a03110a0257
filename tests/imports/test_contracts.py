"""Which module may import which: the contracts of pyproject.toml hold, and a breach of each is seen."""

import subprocess
import sys

import pytest

from tests.imports.contracts import ROOT, check, lay_out

BREACHES = {
    "host API above traces above sim": ("sim/host/queue.py", "import tensim.device"),
    "a command imported": ("runtime/system.py", "from tensim.cli import main"),
    "NoC knows cores": ("sim/noc/packet.py", "from tensim.sim.cores import operations"),
    "DRAM knows the machine record": ("sim/dram/storage.py", "from tensim.sim import state"),
    "the loop knows the host": ("sim/loop/event_loop.py", "from tensim.sim.host import queue"),
    "the engine knows the loop": ("sim/engine/coroutine.py", "from tensim.sim.loop import event_loop"),
    "a unit knows the checker": ("sim/cores/tensix/data.py", "from tensim.sim.cores.checks import faults"),
    "circle inside a function": ("sim/host/topology.py", "def f():\n    from tensim.sim.host import executor"),
}


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tree")
    lay_out(folder)
    return folder


def test_the_contracts_hold(tree):
    found = check(tree)
    assert found.returncode == 0, found.stdout + found.stderr


@pytest.mark.parametrize("breach", BREACHES)
def test_a_breach_is_seen(tree, breach):
    name, code = BREACHES[breach]
    module = tree / "tensim" / name
    text = module.read_text()
    module.write_text(f"{text}\n{code}\n")
    try:
        found = check(tree)
    finally:
        module.write_text(text)
    assert found.returncode == 1 and "BROKEN" in found.stdout, found.stdout + found.stderr


@pytest.mark.parametrize("name", ["sim", "host_api", "traces", "validation", "examples"])
def test_folders_are_not_imported_by_their_own_names(name):
    """From a checkout they would be second copies of the modules of `tensim`."""
    for code in (f"import {name}.x\n\n{name}.x\n", f"from {name} import x\n\nx\n"):
        command = [sys.executable, "-m", "ruff", "check", "--select", "TID251", "--stdin-filename", "a.py", "-"]
        found = subprocess.run(command, cwd=ROOT, input=code, capture_output=True, text=True)
        assert found.returncode == 1 and "TID251" in found.stdout, found.stdout + found.stderr
