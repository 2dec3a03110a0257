"""The first start: two processes compile the engine into one cache, and what they leave there is the engine."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

RUN = "import sys; from tensim.cli.main import main; sys.argv = ['tensim', 'run', 'add_integers']; main()"


@pytest.fixture
def cold_cache(tmp_path):
    """The cache of these tests while nothing is compiled, which so is done once; else one of the test's own."""
    named = Path(os.environ.get("TENSIM_CACHE_DIR") or tmp_path)
    return tmp_path if any(named.rglob("*.o")) else named


@pytest.mark.timeout(900)
def test_a_cold_cache_is_filled_once(cold_cache):
    """Both halves are in the cache after one run, once for each kind of arguments, and the next run compiles nothing."""
    environment = {**os.environ, "TENSIM_CACHE_DIR": str(cold_cache)}
    runs = []
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", RUN], env=environment, capture_output=True, text=True, timeout=800)
        assert "verified against numpy" in " ".join(done.stdout.split()), done.stderr
        runs.append({path: path.stat().st_mtime_ns for kind in ("*.nbc", "*.o") for path in cold_cache.rglob(kind)})
    first, second = runs
    assert second == first
    for half in ("event_loop.compute_operation-", "event_loop.data_operation-", "loop.event_loop.run-"):
        assert len([path for path in first if path.name.startswith(half)]) == 1
