"""The benchmarks measure what they say, each on a small case: `make bench` itself takes minutes."""

from pathlib import Path

import pytest

from bench import (
    checks,
    gemm,
    gemm_speed,
    interrupts,
    launches,
    light_metal,
    noc_replay,
    numerics,
    register_level,
    runtime,
    sweep,
    trace,
    transfers,
    write_out,
)
from tensim.runtime import DType
from tensim.sim.register_level import niu

SAMPLE = Path(__file__).parents[2] / "validation" / "sample"


def test_a_matrix_product_beside_its_published_time():
    row = gemm.rows()[0]
    assert gemm.simulate(row) == pytest.approx(int(row["trisc1_cycles"]), rel=0.04)


def test_a_submitted_matmul_takes_the_cycles_of_a_plain_one():
    assert runtime.matmul_cycles_submitted(128) == runtime.matmul_cycles_plain(128) > 0


def test_a_traced_program_takes_less_time_of_device_and_host():
    loop = trace.run(20)
    assert 0 < loop.traced_ns < loop.eager_ns


@pytest.mark.parametrize(
    "measure",
    [
        lambda: runtime.submits(2),
        lambda: runtime.tilize_seconds(64),
        lambda: runtime.encode_seconds(64, DType.F32),
        lambda: min(light_metal.rates(commands=40, payload=1 << 12, replayed=40)),
        lambda: interrupts.longest_turn(),
        lambda: checks.ratios({"eltwise_add": "64x64"})["eltwise_add"],
        lambda: checks.engine_ratio(),
        lambda: noc_replay.run(),
        lambda: min(sweep.run(points=3, shape="64x64x64")),
        lambda: numerics.products_per_second("LoFi"),
        lambda: gemm_speed.cube(512),
        lambda: launches.costs(2, rounds=1)[0],
        lambda: min(transfers.rates(1 << 20, rounds=1)),
    ],
    ids=[
        "submits",
        "tilize",
        "encode",
        "light_metal",
        "interrupts",
        "checks",
        "checks in compiled code",
        "noc_replay",
        "sweep",
        "numerics",
        "gemm_speed",
        "launches",
        "transfers",
    ],
)
def test_it_runs(measure):
    assert measure() > 0


def test_write_outs_are_compared_from_the_last_product_on():
    """640x832x832 of bf16: silicon takes 18.07 us a run, of which 2.07 lie between operations and 13.10 are TRISC1's."""
    spec, *times = write_out.measured(SAMPLE / "gemm.csv", "2026-07")[0]
    assert (spec[3], write_out.output_bytes(spec)) == ((640, 832, 832), 20 * 26 * 2048)
    here, silicon, share = write_out.tails(spec, *times)
    assert silicon == pytest.approx(18_070 - 2_070 - 13_099, abs=5)
    assert here == pytest.approx(silicon, rel=0.15) and 0.1 < share < 0.3


def test_tiles_at_register_level_wait_beside_one_that_reads():
    chip, worker = register_level.started(3)
    answers = niu.NIUS + niu.STATUS + 4 * niu.READ_RESPONSES
    before = worker.word(answers)
    chip.run(chip.now + 20_000)
    assert worker.word(answers) > before + 50
    assert sum(tile.rests for tile in chip.tiles.values()) >= 3
