"""Damaged files of every kind: refused, or executed with a documented end (a slice of `make fuzz`)."""

import pytest

from tensim.running.fuzz import KINDS, Fuzzer, execute, execute_apart
from tests.light_metal.corpus import corpus


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return corpus(tmp_path_factory.mktemp("corpus"))


@pytest.mark.parametrize("name", ["trace", "everything", "integers", "eltwise", "recording", "saved"])
def test_the_corpus_runs(files, name):
    assert execute(bytes(files[name]), None) == "ran"


def test_damaged_files_end_as_they_may(files):
    """Bytes, tables and kernels are damaged; some of each are executed."""
    fuzzer = Fuzzer(files.values(), 1, zip(KINDS, (40, 30, 10), strict=True), (0.95, 0.04, 0.01))
    found = fuzzer.run(4_000)
    assert [outcome for outcome, _ in found.defects] == []
    executed = {name: number for name, number in found.outcomes.items() if "executed" in name}
    assert sum(executed.values()) == 80 and found.slowest < 20


def test_what_hangs_or_kills_the_process_is_seen(monkeypatch):
    """The file it happened to is named by its place, and the others are executed all the same."""
    import os
    import signal

    import tensim.running.fuzz as fuzz

    def carry_out(data, max_cycles):
        if data == b"hangs":
            while True:
                pass
        if data == b"dies":
            os.kill(os.getpid(), signal.SIGKILL)
        return "ran"

    monkeypatch.setattr(fuzz, "_outcome", carry_out)
    found = [outcome for outcome, _ in execute_apart([b"fine", b"hangs", b"fine", b"dies", b"fine"], seconds=1)]
    assert found[0::2] == ["ran"] * 3
    assert found[1] == "DEFECT the process ended: more than 1 s" and found[3] == "DEFECT the process ended: killed"
