"""`tensim advise`: its options are those of `run`, its JSON has what was tried."""

import json
import subprocess
import sys

import pytest


def advise(*words):
    command = [sys.executable, "-m", "tensim", "advise", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


@pytest.fixture(scope="module")
def found():
    done = advise("eltwise_add", "--shape", "128x128", "--set", "noc.hop_cycles=8", "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_verdict_is_confirmed_by_experiments(found):
    assert (
        found["verdict"]["kind"] == "latency"
        and found["verdict"]["confirmed"]
        and found["bounded_by"] == "dram_latency"
    )
    assert found["identity"]["overrides"] == {"noc.hop_cycles": 8}


def test_every_experiment_has_cycles_and_a_gain_of_the_whole_time(found):
    assert {"dram_free", "noc_free", "math_free", "deeper_0"} <= {one["name"] for one in found["what_if"]}
    for one in found["what_if"]:
        assert one["error"] is None
        assert one["gain_pct"] == pytest.approx(100 * (1 - one["cycles"] / found["span_cycles"]))


def test_advice_is_sorted_by_its_gain(found):
    gains = [one["estimated_gain_pct"] for one in found["advice"] if one["rule"] != "idle_cores"]
    assert gains and gains == sorted(gains, reverse=True)
    by_name = {one["name"]: one["gain_pct"] for one in found["what_if"]}
    assert all(one["estimated_gain_pct"] == by_name[one["experiment"]] for one in found["advice"] if one["experiment"])


def test_people_read_the_gains_and_every_experiment():
    text = advise("eltwise_add", "--shape", "128x128").stdout
    assert "Bound by latency of DRAM" in text and "reads before each barrier in read_pairs: -" in text
    assert "DRAM free" in text and "CB 0 twice as deep" in text


def test_a_program_that_runs_nothing_cannot_be_advised(tmp_path):
    file = tmp_path / "nothing.py"
    file.write_text(
        "import numpy as np\nfrom tensim.examples import ExampleResult\n"
        "def run(device, *, shape, dtype, fidelity, grid, rng):\n"
        "    one = np.zeros(1)\n"
        "    return ExampleResult(one, one, 0, 0, 0, 'nothing')\n"
    )
    done = advise(str(file))
    assert done.returncode == 2 and "no program ran on the device" in done.stderr
