"""`tensim validate dispatch`: configurations are read word by word; unknown words are skipped, bad rows refused."""

import pytest

from tensim.validation.dispatch import rows as dispatch
from tensim.validation.dispatch.programs import Shape
from tensim.validation.rows import Row, Skip

PROGRAM = {
    "arch": "wormhole_b0", "configuration": "brisc_only_trace", "kernel_or_payload_bytes": "256", "repetition": "0",
    "time_per_program_ns": "1572.39",
}  # fmt: skip
TRANSFER = {
    "platform": "wormhole default", "direction": "Write", "page_bytes": "2048", "transfer_bytes": "4194304",
    "arg3_buffer_type": "0", "arg4_device": "0", "median_real_time_ns": "300000",
}  # fmt: skip
ALL = ("brisc", "ncrisc", "trisc")


def program(**changes):
    return Row("rows.csv:1", 2, PROGRAM | {name: str(value) for name, value in changes.items()})


def transfer(**changes):
    return Row("rows.csv:1", 2, TRANSFER | {name: str(value) for name, value in changes.items()})


@pytest.mark.parametrize(
    ("configuration", "shape"),
    [
        ("brisc_trisc_only_trace", Shape(512, ("brisc", "trisc"))),
        ("all_processors_all_cores_32cb", Shape(512, all_cores=True, cbs=32)),
        ("all_processors_all_cores_4_cb_2g", Shape(512, all_cores=True, cbs=4, cb_groups=2)),
        ("one_processors_all_cores_1_rta", Shape(512, ("brisc",), all_cores=True, args=1)),
        ("all_processors_1_core_128_crta", Shape(512, common_args=128)),
        ("sems_all_cores_1_processor_trace", Shape(512, ("brisc",), all_cores=True, semaphores=4)),
        ("kernel_groups_32_cb_trace", Shape(512, all_cores=True, kernel_groups=8, cbs=32)),
        ("kernel_groups_5_shadow", Shape(512, all_cores=True, kernel_groups=0, cycles=40_000, fast=5)),
        ("256_bytes_brisc_only_all_processors_trace", Shape(256, ("brisc",), all_cores=True, cycles=512)),
        ("5000_kernel_all_cores_all_processors_32_cbs_trace", Shape(512, all_cores=True, cycles=5000, cbs=32)),
        ("all_processors_all_cores_no_trace", Shape(512, all_cores=True, traced=False)),
    ],
)
def test_configurations_are_read_word_by_word(configuration, shape):
    assert dispatch.parse(configuration, 512) == shape


def test_maxed_parameters():
    shape = dispatch.parse("maxed_config_params_trace", 256)
    assert (shape.cbs, shape.args, shape.semaphores, shape.all_cores, shape.processors) == (32, 128, 4, True, ALL)


@pytest.mark.parametrize("configuration", ["eth_dispatch", "load_prefetcher_test", "all_processors_sideways"])
def test_programs_that_the_name_does_not_tell_are_skipped(configuration):
    with pytest.raises(Skip):
        dispatch.read(program(configuration=configuration), "programs")


@pytest.mark.parametrize("changes", [{"kernel_or_payload_bytes": -1}, {"kernel_or_payload_bytes": "many"}])
def test_malformed_programs_are_refused(changes):
    with pytest.raises(ValueError):
        dispatch.read(program(**changes), "programs")


@pytest.mark.parametrize("changes", [{"direction": "sideways"}, {"arg3_buffer_type": 5}, {"page_bytes": 0}])
def test_malformed_transfers_are_refused(changes):
    with pytest.raises(ValueError):
        dispatch.read(transfer(**changes), "transfers")


def test_the_measured_value_does_not_reach_the_simulation():
    assert dispatch.read(program(time_per_program_ns=1), "programs").spec == dispatch.read(program(), "programs").spec


def test_a_far_chip_is_reached_through_a_near_one():
    """Writes to it are bound by the relay of the dispatch kernels, reads even more (host_buffer_rw_golden.csv)."""
    times = {
        (direction, far): dispatch.simulate(
            dispatch.read(transfer(direction=direction, arg4_device=far), "transfers").spec
        )
        for direction in ("Write", "Read")
        for far in (0, 1)
    }
    size = int(TRANSFER["transfer_bytes"])
    assert size / times["Write", 0] == pytest.approx(14.0, rel=0.05)
    assert size / times["Write", 1] == pytest.approx(9.4, rel=0.05)
    assert size / times["Read", 1] == pytest.approx(4.8, rel=0.05)
