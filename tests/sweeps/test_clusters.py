"""Sweeps on other engines by their addresses: a real dask cluster, one of whose workers is killed."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

import tensim as tt
from tensim.sim.errors import UsageError
from tensim.sweeps.clusters import cluster
from tests.sweeps.programs import COPY, ran, write

distributed = pytest.importorskip("distributed")
pytest.importorskip("pandas")
STEPS = list(range(1, 25))
SLOW = COPY.replace(
    "    program = tt.create_program()", "    time.sleep(0.2)\n    program = tt.create_program()"
).replace("import os\n", "import os\nimport time\n")


@pytest.fixture(scope="module")
def local():
    """Two workers, each a process with two threads."""
    with distributed.LocalCluster(n_workers=2, threads_per_worker=2, processes=True, dashboard_address=None) as local:
        yield local


def address(local):
    return local.scheduler_address.replace("tcp://", "dask://")


def test_a_killed_worker_costs_no_point_and_repeats_none(local, tmp_path):
    program, folder, killed = write(tmp_path, SLOW), tmp_path / "table", []

    def kill_one():
        while len(ran(tmp_path)) < 4:
            time.sleep(0.02)
        with distributed.Client(local.scheduler_address) as client:
            pid = next(iter(client.run(os.getpid).values()))
        os.kill(pid, signal.SIGKILL)
        killed.append(pid)

    killer = threading.Thread(target=kill_one)
    killer.start()
    with cluster(address(local)) as executor:
        frame = tt.sweep(program, {"steps": STEPS}, folder=folder, executor=executor)
    killer.join()
    assert killed and not any(frame["error"]) and list(frame["steps"]) == STEPS
    lines = (folder / "results.csv").read_text().splitlines()
    assert sorted(int(line.split(",")[1]) for line in lines[1:]) == STEPS
    assert list(frame["cycles"][:2]) == [tt.run(program, parameters={"steps": n}).cycles for n in (1, 2)]


def test_the_command_takes_an_address(local, tmp_path):
    program, folder = write(tmp_path), tmp_path / "table"
    words = [sys.executable, "-m", "tensim", "sweep", str(program), "--over", "steps=1,2,3", "-o", str(folder)]
    done = subprocess.run([*words, "--cluster", address(local)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "3 points, 0 failed" in done.stdout and sorted(ran(tmp_path)) == [1, 2, 3]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("dask://", "names no scheduler"),
        ("dask://localhost:1", "no dask scheduler at localhost:1"),
        ("ray://localhost:1", "is no cluster"),
        ("localhost:8786", "is no cluster"),
    ],
)
def test_an_address_that_leads_nowhere_is_refused(text, message, monkeypatch):
    monkeypatch.setattr("tensim.sweeps.clusters.CONNECT_SECONDS", 1)
    with pytest.raises(UsageError, match=message), cluster(text):
        pass


@pytest.mark.parametrize(("text", "package"), [("dask://h:1", "distributed"), ("slurm://short", "submitit")])
def test_without_its_package_the_error_names_the_extra(text, package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(UsageError, match=r"is not installed.*\n.*pip install tensim\[(dask|slurm)\]"), cluster(text):
        pass


def test_a_slurm_address_has_its_partition_and_options(monkeypatch, tmp_path):
    submitit = pytest.importorskip("submitit")
    found = {}
    monkeypatch.setattr(submitit.AutoExecutor, "__init__", lambda self, folder: found.update(folder=folder))
    monkeypatch.setattr(submitit.AutoExecutor, "update_parameters", lambda self, **given: found.update(given))
    with cluster(f"slurm://short?timeout_min=60&mem_gb=8&folder={tmp_path}"):
        pass
    assert found == {"folder": str(tmp_path), "slurm_partition": "short", "timeout_min": 60, "mem_gb": 8}
