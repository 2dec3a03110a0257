"""The first start: two processes compile the engine into one cache, and what they leave there is the engine."""

import os
import subprocess
import sys

import pytest

RUN = "import sys; from tensim.cli.main import main; sys.argv = ['tensim', 'run', 'add_integers']; main()"


@pytest.mark.timeout(900)
def test_a_cold_cache_is_filled_once(tmp_path):
    """Both halves are in the cache after one run, once for each kind of arguments, and the next run compiles nothing."""
    environment = {**os.environ, "TENSIM_CACHE_DIR": str(tmp_path)}
    runs = []
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", RUN], env=environment, capture_output=True, text=True, timeout=800)
        assert "verified against numpy" in " ".join(done.stdout.split()), done.stderr
        runs.append({path: path.stat().st_mtime_ns for kind in ("*.nbc", "*.o") for path in tmp_path.rglob(kind)})
    first, second = runs
    assert second == first
    for half in ("event_loop.compute_operation-", "event_loop.data_operation-", "engine.event_loop.run-"):
        assert len([path for path in first if path.name.startswith(half)]) == 1
