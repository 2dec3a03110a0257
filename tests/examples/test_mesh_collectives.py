"""All-gather and reduce-scatter on rings of chips against numpy."""

import numpy as np
import pytest

import tensim as tt
from tensim.examples.mesh_collectives import all_gather, reduce_scatter
from tensim.sim.errors import UsageError


def shards_of(chips, shape=(64, 96)):
    rng = np.random.default_rng(1)
    return [rng.integers(-8, 8, shape).astype(np.float32) for _ in range(chips)]


def test_everybody_gets_all_shards():
    cycles = []
    for links in (1, 2):
        with tt.open_mesh_device("p150_x4", links=links, ring=True) as mesh:
            shards = shards_of(4)
            outcome = all_gather(mesh, shards)
            assert all(np.array_equal(values, np.concatenate(shards)) for values in outcome.values)
            assert all(row["packets"] for row in mesh.link_utilization())
            cycles.append(outcome.cycles)
    assert cycles[1] < cycles[0]


def test_everybody_gets_its_sum():
    with tt.open_mesh_device("t3k", ring=True, check=True) as mesh:
        parts = shards_of(8, (8 * 32, 64))
        outcome = reduce_scatter(mesh, parts)
        assert np.array_equal(np.concatenate(outcome.values), sum(parts))
        used = mesh.link_utilization()
        assert {row["direction"] for row in used if row["packets"]} == {"east"}  # 8 chunks go round one way


def test_a_line_is_no_ring():
    with tt.open_mesh_device("n300") as mesh, pytest.raises(UsageError, match="need a ring"):
        all_gather(mesh, shards_of(2))


@pytest.mark.parametrize("collective", [all_gather, reduce_scatter])
def test_kernels_in_cpp_give_the_same_in_nearly_the_same_time(collective):
    pytest.importorskip("ziglang", reason="C++ kernels need the extra tensim[cpp]")
    values, cycles = {}, {}
    for language in ("python", "cpp"):
        with tt.open_mesh_device("p150_x4", links=2, ring=True, check=True) as mesh:
            outcome = collective(mesh, shards_of(4, (4 * 32, 96)), language)
            values[language], cycles[language] = np.stack(outcome.values), outcome.cycles
    assert np.array_equal(values["cpp"], values["python"])
    assert cycles["cpp"] == pytest.approx(cycles["python"], rel=0.03)
