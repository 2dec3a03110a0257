"""Layers are found in the order of launches alone."""

from hypothesis import given
from hypothesis import strategies as st

from tensim.ttnn.layers import layers


def found(keys, cycles=None):
    return [(one["first"], one["launches"], one["layers"]) for one in layers(keys, cycles or [10] * len(keys))]


def test_a_network_is_what_stands_before_its_layers_and_behind():
    network = ["embed", *["norm", "qkv", "attend", "norm", "mlp"] * 6, "norm", "head"]
    assert found(network) == [(0, 1, 1), (1, 5, 6), (31, 2, 1)]


def test_layers_that_hold_repetitions_are_found_before_these():
    assert found(["add", "add", "linear"] * 4) == [(0, 3, 4)]


def test_an_encoder_and_a_decoder_are_two_stretches():
    assert found(["a", "b"] * 6 + ["c", "b", "d"] * 6) == [(0, 2, 6), (12, 3, 6)]


def test_cycles_of_a_layer_are_those_between_its_bounds():
    (row,) = layers(["a", "b"] * 3, [1, 2, 3, 4, 5, 6])
    assert row == {"first": 0, "launches": 2, "layers": 3, "cycles": 21, "least": 3, "most": 11}


def test_what_does_not_repeat_is_one_row_and_nothing_is_none():
    assert found(["a", "b", "c"]) == [(0, 3, 1)]
    assert found([]) == []


def test_repetitions_of_hardly_any_time_are_not_told():
    assert found(["a", "b", "b", "c"], [1000, 1, 1, 1000]) == [(0, 4, 1)]


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 50)), max_size=60))
def test_rows_hold_every_launch_once_and_all_cycles(launches):
    keys, cycles = [key for key, _ in launches], [count for _, count in launches]
    rows, at = layers(keys, cycles), 0
    for one in rows:
        assert one["first"] == at
        layer = keys[at : at + one["launches"]]
        at += one["launches"] * one["layers"]
        assert keys[one["first"] : at] == layer * one["layers"]
    assert at == len(keys)
    assert sum(one["cycles"] for one in rows) == sum(cycles)
