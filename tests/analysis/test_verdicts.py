"""Verdicts and advice: programs with one mistake each get the right one first, and its predicted gain is what mending brings."""

import dataclasses
import importlib

import numpy as np
import pytest

import tensim as tt
from tensim.analysis.facts import LaunchFacts, launches
from tensim.analysis.what_if import free_resources
from tensim.device import close_device, create_device
from tensim.html_report.page import html_page
from tensim.running.advising import advise
from tensim.running.runnable import find_program
from tensim.sim.arch import load_arch

FLAWED = {  # program -> what bounds it, the rule of the first advice
    "badly_written_matmul": ("bandwidth", "dram", "traffic_amplification"),
    "uneven_work": ("imbalance", "cores", "imbalance"),
    "one_bank": ("bandwidth", "dram", "hot_bank"),
    "one_read_at_a_time": ("latency", "dram", "barrier_per_read"),
    "packed_partials": ("bandwidth", "pack", "partial_results"),
    "many_small_programs": ("dispatch", "dispatch", "many_launches"),
}
GOOD = {"streaming_copy": ("bandwidth", "dram"), "resident_blocks": ("bandwidth", "fpu")}


def program(name):
    return importlib.import_module(f"tests.analysis.programs.{name}").run


@pytest.mark.parametrize("name", FLAWED)
def test_a_flawed_program_is_told_what_is_wrong_and_what_mending_it_brings(name):
    kind, resource, rule = FLAWED[name]
    flawed, mended = tt.run(program(name)), tt.run(program(name), parameters={"mended": True})
    assert flawed.verified and mended.verified
    found = advise(program(name))
    for result in (flawed, found):  # at first sight, and after the experiments
        assert (result["verdict"]["kind"], result["verdict"]["resource"]) == (kind, resource)
    assert found["verdict"]["confirmed"]
    first = found.advice[0]
    assert first["rule"] == rule and flawed.advice[0]["rule"] == rule
    assert ("wide_results" in [one["rule"] for one in found["advice"]]) == (name == "packed_partials")
    gain = 100 * (1 - mended["span_cycles"] / flawed["span_cycles"])
    assert first["estimated_gain_pct"] == pytest.approx(gain, rel=0.2)


@pytest.mark.parametrize(
    ("shape", "packet_bytes", "bounded_by"),
    [("200x14336", 14336, "link"), ("300x1024", 4352, "router"), ("100x15232", 15232, "credits")],
)
def test_a_stream_between_chips_is_told_what_its_link_lacks(shape, packet_bytes, bounded_by):
    stream = find_program(program("packet_stream"))
    stream = dataclasses.replace(stream, mesh=stream.mesh | {"packet_bytes": packet_bytes})
    result = tt.run(stream, shape=shape)
    assert result.verified and result["bounded_by"] == bounded_by
    (used,) = (link for link in result["fabric"]["links"] if link["packets"])
    assert used["packets"] == int(shape.split("x")[0]) and used["bounded_by"] == bounded_by
    page = html_page(result.to_dict())
    assert "Links between chips" in page and "chip 0 to the east, link 0" in page


@pytest.mark.parametrize(
    ("shape", "packet_bytes", "resource", "experiment"),
    [
        ("200x14336", 14336, "link", "links_free"), ("300x1024", 4352, "router", "routers_free"),
        ("200x15232", 15232, "credits", "slots_free"),
    ],
)  # fmt: skip
def test_experiments_on_a_mesh_confirm_what_bounds_it(shape, packet_bytes, resource, experiment):
    stream = find_program(program("packet_stream"))
    stream = dataclasses.replace(stream, mesh=stream.mesh | {"packet_bytes": packet_bytes})
    found = advise(stream, shape=shape)
    assert found["verdict"]["confirmed"] and found["verdict"]["resource"] == resource
    gains = {one["name"]: one["gain_pct"] for one in found["what_if"]}
    assert max(("links_free", "routers_free", "slots_free"), key=gains.get) == experiment and gains[experiment] > 10


@pytest.mark.parametrize("name", GOOD)
def test_a_good_program_is_told_what_its_roof_is_and_nothing_to_change(name):
    found = advise(program(name))
    assert found["verdict"]["confirmed"]
    assert (found["verdict"]["kind"], found["verdict"]["resource"]) == GOOD[name]
    assert all(one["estimated_gain_pct"] < 10 for one in found["advice"] if one["rule"] != "idle_cores")


@pytest.mark.parametrize(
    ("name", "rule", "within"),
    [
        ("one_write_at_a_time", "barrier_per_write", 0.01),
        ("nocs_exchanged", "exchanged_nocs", 0.01),
        ("banks_in_step", "banks_in_step", 0.3),  # the experiment exchanges banks, the mended program goes another way
    ],
)
def test_what_experiments_bear_out_is_what_mending_brings(name, rule, within):
    flawed, mended = (tt.run(program(name), parameters={"mended": mended}) for mended in (False, True))
    found, after = advise(program(name)), advise(program(name), parameters={"mended": True})
    first = found.advice[0]
    gain = 100 * (1 - mended.span_cycles / flawed.span_cycles)
    assert first["rule"] == rule and gain > 10
    assert first["estimated_gain_pct"] == pytest.approx(gain, rel=within)
    assert rule not in [one["rule"] for one in after.advice]


def test_kernels_that_multicast_are_tried_on_exchanged_nocs():
    """With the corners of their rectangles exchanged, too: exactly what the host program would have written."""
    wrong = {"shape": "512x512x512", "parameters": {"in0_noc": "NOC_0"}}
    found, mended = advise("matmul_multicast", **wrong), tt.run("matmul_multicast", shape="512x512x512", numerics="off")
    (one,) = [one for one in found["advice"] if one["rule"] == "exchanged_nocs"]
    gain = 100 * (1 - mended.span_cycles / found.span_cycles)
    assert gain > 5 and one["estimated_gain_pct"] == pytest.approx(gain)


def test_single_buffers_are_found_and_their_gain_is_exact():
    """The same program with one page and with two: only the first is told to make its buffers deeper."""
    single, double = (advise(program("single_buffer"), parameters={"depth": depth}) for depth in (1, 2))
    (found,) = [one for one in single["advice"] if one["rule"] == "single_buffered"]
    assert found["estimated_gain_pct"] == pytest.approx(100 * (1 - double["span_cycles"] / single["span_cycles"]))
    assert "single_buffered" not in [one["rule"] for one in double["advice"]]


@pytest.mark.parametrize(
    "name, rule",
    [("one_noc", "both_on_one_noc"), ("small_requests", "small_pages"), ("one_by_one", "unicast_for_multicast")],
)
def test_a_rule_says_what_mending_brings(name, rule):
    flawed, mended = (
        tt.run(program(name), numerics="off", parameters={"mended": is_mended}) for is_mended in (False, True)
    )
    first = advise(program(name))["advice"][0]
    assert first["rule"] == rule
    gain = 100 * (1 - mended["span_cycles"] / flawed["span_cycles"])
    assert first["estimated_gain_pct"] == pytest.approx(gain, rel=0.2)
    assert rule not in [one["rule"] for one in advise(program(name), parameters={"mended": True})["advice"]]


def test_more_fidelity_than_the_format_has_bits_is_found():
    """Eight bits of bfp8 need two of the four phases; the estimate is of the changed program."""
    settings = {"dtype": "bfp8", "numerics": "off"}
    high, enough = (
        tt.run(program("resident_blocks"), fidelity=fidelity, **settings) for fidelity in ("HiFi4", "HiFi2")
    )
    first = advise(program("resident_blocks"), dtype="bfp8", fidelity="HiFi4")["advice"][0]
    assert first["rule"] == "high_fidelity" and first["change"] == {"math_fidelity": "HiFi2"}
    gain = 100 * (1 - enough["span_cycles"] / high["span_cycles"])
    assert first["estimated_gain_pct"] == pytest.approx(gain, abs=0.1)


def test_products_of_single_tiles_are_found_where_unpacking_bounds():
    found = advise(program("packed_partials"), parameters={"mended": True})
    assert (found["verdict"]["kind"], found["verdict"]["resource"]) == ("bandwidth", "unpack")
    assert "small_blocks" in [one["rule"] for one in found["advice"]]


# --- what the figures say


@pytest.fixture(scope="module")
def facts():
    """`LaunchFacts` of the badly written matmul."""
    device = create_device(0, numerics="off")
    try:
        find_program(program("badly_written_matmul")).run_on(device)
        (work,) = launches(device.chip)
        yield LaunchFacts(device.chip, work)
    finally:
        close_device(device)


def test_every_byte_that_is_read_is_counted_once_and_as_often_as_it_is_read(facts):
    tiles, size = 16 * 16, 2048
    assert facts.work.first_read_bytes == 2 * tiles * size
    assert facts.dram_read_bytes == 2 * tiles * 16 * size and facts.amplification == 16


def test_levels_of_circular_buffers_add_up_to_the_launch(facts):
    for buffer in facts.work.buffers:
        assert buffer.levels.sum() == facts.work.cycles * len(buffer.cores)
    reader, compute, packer = (1,), (2,), (4,)
    ends = {one.index: (one.producers, one.consumers) for one in facts.work.buffers}
    assert ends == {0: (reader, compute), 1: (reader, compute), 16: (packer, (0,))}
    pushed = {one.index: (one.pushed, one.packed) for one in facts.work.buffers}
    assert pushed == {0: (4096, 0), 1: (4096, 0), 16: (256, 256)}


def test_work_and_waits_of_a_thread_fill_its_time(facts):
    work = facts.work
    np.testing.assert_array_less(work.busy + work.waits.sum(axis=1), work.ends - work.starts + 2)
    sums = np.zeros(len(work.threads), np.int64)
    np.add.at(sums, work.stall_rows, work.stall_cycles)
    assert (sums == work.waits.sum(axis=1)).all()


def test_one_read_is_under_way_at_a_time(facts):
    reads = facts.transfers()["dram_reads"]
    assert reads.transfers == 8192 and reads.request_bytes == 2048 and reads.in_flight == pytest.approx(1.0)
    assert facts.work.traffic["read_barriers"].sum() == 8192


def test_the_chain_ends_at_the_reader(facts):
    steps = facts.chain()
    assert facts.kernel(steps[-1].row)["name"] == "read_one_by_one" and steps[-1].waits_for is None
    assert [facts.work.slots[step.row] for step in steps] == [0, 4, 3, 2, 1]


def test_a_lone_read_takes_what_the_figures_expect_of_an_idle_chip():
    result = tt.run("add_integers")
    reads = result["programs"][0]["transfers"]["dram_reads"]
    assert reads["latency_cycles"] == pytest.approx(reads["idle_latency_cycles"], rel=0.15)


# --- experiments


def shares(name, experiment=None):
    """Shares of the units, and the result, of a program on a chip as it is or with one resource free."""
    overrides = {} if experiment is None else experiment.overrides
    result = tt.run(program(name), numerics="off", overrides=overrides)
    return result["programs"][0]["unit_shares"], result


FREE = {one.name: one for one in free_resources(load_arch("wormhole_b0"))}


@pytest.mark.parametrize(
    "experiment, name, units",
    [
        ("pack_free", "packed_partials", ["pack"]),
        ("unpack_free", "resident_blocks", ["unpack"]),
        ("math_free", "resident_blocks", ["fpu"]),
        ("math_free", "uneven_work", ["sfpu"]),
        ("dram_free", "one_bank", ["dram"]),
    ],
)
def test_a_free_unit_does_its_work_in_no_time(experiment, name, units):
    """Its cycles, not its share, which others' gains would raise; an operation still takes a cycle."""
    before, with_cost = shares(name)
    after, without = shares(name, FREE[experiment])
    for unit in units:
        assert after[unit] * without["span_cycles"] < 0.1 * before[unit] * with_cost["span_cycles"]


@pytest.mark.parametrize("experiment, least", [("memory_latency_free", 0.5), ("memory_bandwidth_free", 0.2)])
def test_free_memory_answers_at_once(experiment, least):
    """Latency free, what remains of a lone read is its data; bandwidth free, its way."""
    reads = [
        shares("one_read_at_a_time", one)[1]["programs"][0]["transfers"]["dram_reads"]["latency_cycles"]
        for one in (None, FREE[experiment])
    ]
    assert reads[1] < (1 - least) * reads[0]


@pytest.mark.parametrize("name", ["wormhole_b0", "blackhole", "grayskull"])
def test_memory_latency_free_leaves_no_latency_of_dram(name):
    """A latency that the chip file gets one day must not stay behind when latency is set free."""
    arch = load_arch(name)
    (free,) = (one.overrides for one in free_resources(arch) if one.name == "memory_latency_free")
    assert all(free[f"dram.{key}"] == 0 for key in arch.section("dram") if key.endswith("_latency"))


@pytest.mark.parametrize("settings", [{"arch": "blackhole"}, {"arch": "grayskull"}, {"noc": "flit"}])
def test_experiments_fit_every_chip_and_model(settings):
    found = advise(program("one_read_at_a_time"), **settings)
    assert not [one for one in found["what_if"] if one["error"]]
