"""What a program takes that runs again and again: the clock falls with the load, after a time, and never without."""

import json

import pytest
from click.testing import CliRunner

from tensim.cli.main import main
from tensim.sim.arch import load_arch
from tensim.sim.chip.repetition import lasting_mhz, run_ns

WORMHOLE = load_arch("wormhole_b0")
DROP, FULL_NS = WORMHOLE["clock.load_drop"], WORMHOLE["clock.full_clock_ms"] * 1e6


def test_the_clock_falls_with_every_busy_unit():
    assert lasting_mhz(WORMHOLE, 0) == WORMHOLE.clock_mhz
    assert lasting_mhz(WORMHOLE, 2) == pytest.approx(WORMHOLE.clock_mhz * (1 - 2 * DROP))


def test_a_short_loop_runs_at_the_full_clock_and_a_long_one_has_its_first_part_at_it():
    assert run_ns(WORMHOLE, FULL_NS / 10, 2, runs=10) == FULL_NS / 10
    slow = 1 / (1 - 2 * DROP)
    assert run_ns(WORMHOLE, FULL_NS, 2, runs=10) == pytest.approx(FULL_NS * (0.1 + 0.9 * slow))
    assert run_ns(WORMHOLE, FULL_NS, 0, runs=10) == FULL_NS


def run(*arguments):
    return json.loads(CliRunner().invoke(main, ["run", *arguments, "--numerics", "off", "--json"]).stdout)


def test_a_run_says_what_it_takes_under_lasting_load():
    product = run("matmul_multicast", "--shape", "1024x1024x1024")
    lasting, units = product["lasting"], product["units"]
    assert lasting["load"] == pytest.approx(units["unpack"] + units["fpu"] + units["pack"])
    assert lasting["clock_mhz"] == pytest.approx(1000 * (1 - DROP * lasting["load"]))
    assert lasting["device_seconds"] * lasting["clock_mhz"] == pytest.approx(product["device_seconds"] * 1000)
    assert lasting["op_gap_seconds"] == pytest.approx(2.05e-6)


def test_one_busy_core_of_many_is_no_load():
    alone = run("matmul_single_core", "--shape", "64x64x64")
    assert alone["units"]["unpack"] > 0.05 > 0.02 > alone["lasting"]["load"]
