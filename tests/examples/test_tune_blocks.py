"""The example that finds a product's blocks with optuna."""

import pytest

import tensim as tt

pytest.importorskip("optuna")
pytest.importorskip("pandas")

from tensim.examples.tune_blocks import PROGRAM, tune  # noqa: E402

SHAPE = "256x256x256"


def test_it_finds_blocks_that_are_better_than_those_by_rule(tmp_path):
    study = tune(SHAPE, trials=24, folder=tmp_path / "table", processes=2)
    by_rule = tt.run(PROGRAM, shape=SHAPE, numerics="off").cycles
    assert len(study.trials) == 24 and study.best_value < by_rule
    again = tt.run(PROGRAM, shape=SHAPE, numerics="off", parameters=study.best_params)
    assert again.cycles == study.best_value


def test_what_cannot_run_is_a_failed_trial(monkeypatch):
    monkeypatch.setattr("tensim.examples.tune_blocks.SPACE", {"in0_block_w": (3,)})
    study = tune("64x64x64", trials=2, batch=2, processes=1)
    assert [trial.state.name for trial in study.trials] == ["FAIL", "FAIL"]
