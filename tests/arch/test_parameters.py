"""Values of parameters: what may stand in a file, in an override and in a saved binary, and what an error says about it."""

import subprocess
import sys
import warnings

import pytest
import yaml

import tensim as tt
from tensim.sim.arch import architectures, load_arch
from tensim.sim.arch.loader import DIRECTORY, MODEL, USERS, check_leaves, check_relations, described_arch
from tensim.sim.arch.parameters import ALIGNMENT, LAUNCH_BYTES, LONGEST_ROUTE, PACKET_FLITS, RELATIONS, schema_of, units
from tensim.sim.chip.arrays import ARGS_STRIDE
from tensim.sim.chip.chip import Chip
from tensim.sim.cores.slots import THREADS_PER_CORE
from tensim.sim.engine.limits import N_SEMAPHORES, SEMAPHORE_STRIDE
from tensim.sim.errors import TensimWarning, UsageError
from tensim.sim.noc.packet_state import MAX_ROUTE

HEAD = "name: mine\nextends: wormhole_b0\n"


@pytest.fixture
def load(tmp_path):
    """The architecture of the text of a file."""

    def load(text, overrides=None):
        path = tmp_path / "mine.yaml"
        path.write_text(text)
        return load_arch(str(path), overrides)

    return load


def leaves_of(name):
    arch = load_arch(name)
    return {key: arch.describe(key) for key in arch.values()}


def lines_of(name):
    """{dotted key: leaf} as the file has it."""
    found, rest = {}, [("", yaml.safe_load((DIRECTORY / f"{name}.yaml").read_text()))]
    while rest:
        prefix, node = rest.pop()
        for key, value in node.items():
            if isinstance(value, dict) and "value" in value:
                found[f"{prefix}{key}"] = value
            elif isinstance(value, dict):
                rest.append((f"{prefix}{key}.", value))
    return found


# --- what comes with tensim is not checked when it is loaded


@pytest.mark.parametrize("name", architectures())
def test_the_architectures_that_come_with_tensim_are_right(name):
    leaves = leaves_of(name)
    assert check_leaves(leaves, name) == leaves
    check_relations(leaves, name)


@pytest.mark.parametrize("name", architectures())
def test_ranges_and_users_are_declared_once(name):
    for key, leaf in lines_of(name).items():
        assert leaf["unit"] in units(), key
        assert leaf.get("only") is None or (name == MODEL and leaf["only"] in USERS), key
        if "range" in leaf:
            assert name == MODEL, key
            low, high = leaf["range"]
            assert low < high and schema_of(leaf["unit"], leaf["range"]) != schema_of(leaf["unit"]), key


def test_what_has_no_effect_is_said(load):
    arch = load(
        HEAD + "dram: {t_cl_ns: 20}\nnoc: {hop_cycles: 4}\n", {"ttnn.l1_base": 110000, "l1.noc_access_latency": 9}
    )
    assert [text.split()[0] for text in arch.without_effect("fast")] == ["dram.t_cl_ns", "ttnn.l1_base"]
    quirk = load_arch("wormhole_b0", {"tensix.math.lone_bit_quirk": 0})
    assert [len(quirk.without_effect(numerics)) for numerics in ("fast", "exact")] == [1, 0]
    assert load_arch("blackhole").without_effect("off") == []
    assert load((DIRECTORY / "wormhole_b0.yaml").read_text()).without_effect("off") == []


def test_what_has_no_effect_is_said_when_a_device_opens(load):
    """By the device that uses it, once; of a replay what its user gave, not what the capture holds."""
    arch = load(HEAD + "dram: {t_cl_ns: 20}\nnoc: {hop_cycles: 4}\n")
    with pytest.warns(TensimWarning) as told, tt.light_metal_capture() as captured:
        tt.close_device(tt.create_device(0, arch=arch))
    said = "dram.t_cl_ns has no effect here: the memory's commands are modelled by `tensim dram` alone"
    assert [str(one.message) for one in told] == [said]
    for overrides, expected in (({}, []), ({"ttnn.l1_base": 110000}, ["ttnn.l1_base"])):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            replay = tt.LightMetalReplay(captured.binary, options=tt.ReplayOptions(overrides=overrides))
            assert replay.run()
            replay.close()
        assert [str(one.message).split()[0] for one in told] == expected


def test_what_the_model_counts_fits_its_fields():
    assert ALIGNMENT % SEMAPHORE_STRIDE == 0
    assert LAUNCH_BYTES == N_SEMAPHORES * SEMAPHORE_STRIDE + THREADS_PER_CORE * ARGS_STRIDE
    assert PACKET_FLITS < 1 << 15


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ("noc: {hop_cycles: 9,\n  max_packet_bytes: 1048576}\n", 4, "more than 10000 flits"),
        ("riscv: {issue: {\n  read_overlap: 40}}\n", 4, "it must be under riscv.issue.read"),
        ("l1: {reserved_end: 1000,\n  user_base: 8000}\n", 4, "for semaphores and runtime arguments"),
        ("noc: {\n  buffer_flits: 10001}\n", 4, "from 1 to 10000"),
        ("dram: {\n  internal_banks: 12}\n", 4, "a power of two"),
    ],
)
def test_what_models_cannot_count_is_refused_at_its_line(load, text, line, why):
    with pytest.raises(UsageError, match=why) as caught:
        load(HEAD + text)
    assert caught.value.where["line"] == line


def test_what_the_flit_model_cannot_do_is_refused_at_its_line(load):
    arch = load(HEAD + "noc:\n  hop_cycles: 0\n")
    with pytest.raises(UsageError, match="the flit model takes whole cycles") as caught:
        Chip(arch, noc="flit")
    assert caught.value.where["line"] == 4


def test_the_longest_route_is_what_packets_have_room_for():
    assert LONGEST_ROUTE == MAX_ROUTE


def test_related_parameters_exist():
    known = load_arch(MODEL).values()
    assert {key for first, _, second in RELATIONS for key in (first, second)} <= known.keys()


def test_without_changes_nothing_of_the_checks_is_imported():
    code = "import sys; from tensim.sim.arch import load_arch; load_arch('blackhole'); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"fastjsonschema", "tensim.sim.arch.parameters"} & set(done.stdout.split())


# --- what is allowed


def test_a_plain_value_stands_for_a_leaf(load):
    arch = load(HEAD + "noc: {hop_cycles: 4}\nboards: {default: s, s: {columns: [1, 2], rows: [3]}}\n")
    assert (arch["noc.hop_cycles"], arch.worker_coords) == (4, [(1, 3), (2, 3)])
    assert arch.describe("noc.hop_cycles")["unit"] == "cycles"


def test_whole_numbers_become_integers(load):
    arch = load(HEAD + "noc: {flit_bytes: 64.0}\n", {"dram.read_queue": 16.0})
    assert [type(arch[key]) for key in ("noc.flit_bytes", "dram.read_queue")] == [int, int]


# --- what is not

WRONG = [
    ("clock.aiclk_mhz", -5, "is -5; it must be from 1 to 10000 (a whole number, in MHz)"),
    ("clock.aiclk_mhz", 0, "is 0; it must be from 1"),
    ("clock.aiclk_mhz", 1000.5, "is 1000.5; it must be from 1 to 10000 (a whole number, in MHz)"),
    ("clock.aiclk_mhz", "fast", "is 'fast'; it must be from 1"),
    ("clock.aiclk_mhz", True, "is True; it must be from 1"),
    ("clock.aiclk_mhz", None, "is None; it must be from 1"),
    ("clock.aiclk_mhz", [1000], "is [1000]; it must be from 1"),
    ("clock.aiclk_mhz", 10**30, "it must be from 1"),
    ("dram.t_refi_ns", 0, "is 0; it must be from 1 to 1000000000 (a number, in ns)"),
    ("dram.t_refi_ns", float("nan"), "is nan; it must be from 1"),
    ("dram.t_refi_ns", float("inf"), "is inf; it must be from 1"),
    ("dram.row_bytes", -1, "is -1; it must be from 64"),
    ("dram.row_bytes", 3000, "is 3000; it must be a power of two"),
    ("dram.refresh_per_bank", 2, "is 2; it must be from 0 to 1"),
    ("noc.flit_bytes", 0, "is 0; it must be from 4"),
    ("noc.hop_cycles", 9.5, "is 9.5; it must be from 0 to 1000000 (a whole number, in cycles)"),
    ("noc.max_packet_bytes", 8200, "is 8200; it must be a multiple of noc.flit_bytes, 32"),
    ("dram.write_high", 65, "is 65; it must be at most dram.write_queue, 64"),
    ("dram.t_rfc_ns", 1900, "is 1900; it must be under dram.t_refi_ns, 1900"),
    ("l1.user_base", 1499136, "it must be under l1.size, 1499136"),
    ("tensix.dst.tiles32", 17, "it must be from 0 to 16"),
    ("dram.endpoints", ["0-1", "x"], "it must be a list of NoC coordinates 'x-y'"),
    ("noc.translated_workers", [18], "is [x, y], not [18]"),
    ("noc.translated_workers", [60, 60], "is [60, 60]; a grid of 8x8 ends beyond coordinate 63"),
    ("noc.translated_columns", [1, 2, 3], "names 3 columns; the grid has 8"),
    ("chip.noc_grid", [20, 13], "is [20, 13]; columns and rows together must be at most 32"),
    ("chip.noc_grid", [64, 64], "is [64, 64]; it must be a list [x, y] of whole numbers from 1 to 31"),
    ("boards.n150.rows", [1, 1], "it must be a list [y] of different whole numbers from 0 to 63"),
    ("boards.n150.rows", [], "it must be a list [y] of different"),
    ("boards.n150.rows", [-1], "it must be a list [y] of different"),
]  # fmt: skip


@pytest.mark.parametrize(("key", "value", "words"), WRONG)
def test_values_that_cannot_be(load, key, value, words):
    """The same words for a file, with its line, for an override, and for what a saved binary says of its chip."""
    *sections, name = key.split(".")
    node = {name: value}
    for section in reversed(sections):
        node = {section: node}
    with pytest.raises(UsageError) as caught:
        load(HEAD + yaml.safe_dump(node))
    assert words in caught.value.message and key in caught.value.message
    assert caught.value.where["file"].endswith("mine.yaml") and caught.value.where["line"] == 2 + len(sections) + 1
    with pytest.raises(UsageError) as caught:
        load_arch("wormhole_b0", {key: value})
    assert words in caught.value.message
    with pytest.raises(UsageError) as caught:
        described_arch("wormhole_b0", {key: value})
    assert words in caught.value.message
    with pytest.raises(UsageError) as caught:
        described_arch("mine", {**load_arch("wormhole_b0").values(), "board": "n150", key: value})
    assert words in caught.value.message


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("noc: {hop_cycles: 4}\ndram: {}\nnoc: {flit_bytes: 64}\n", 5, "noc stands here again, first in line 3"),
        ("noc:\n  hop_cycles: 4\n  hop_cycles: 5\n", 5, "noc.hop_cycles stands here again, first in line 4"),
        ("name: other\n", 3, "name stands here again, first in line 1"),
        ("noc:\n  hop_cycles: {value: 4, value: 5}\n", 4, "noc.hop_cycles.value stands here again"),
        ("noc:\n  hop_cylces: 4\n", 4, "there is no parameter 'noc.hop_cylces'"),
        ("extend: blackhole\n", 3, "there is no parameter 'extend'"),
        ("noc:\n  hop_cycles: {speed: 4}\n", 4, "noc.hop_cycles has unknown entries speed"),
        ("noc:\n  hop_cycles: {value: 4, unit: ns}\n", 4, "noc.hop_cycles has the unit 'ns'; it is in 'cycles'"),
        ("noc:\n  hop_cycles: {value: 4, range: [0, 5]}\n", 4, "cannot change 'range'"),
        ("noc:\n  hop_cycles: {value: 4, conf: sure}\n", 4, "confidence is one of"),
        ("noc:\n  hop_cycles: {}\n", 4, "noc.hop_cycles is empty"),
        ("noc:\n", 3, "noc must be a section, not None"),
        ("boards:\n  small: {colums: [1], rows: [1]}\n", 4, "boards.small.colums is no part of a board"),
        ("boards:\n  n150:\n    rows: [12]\n", 5, "boards.n150.rows: 12 is outside the 10x12 NoC grid"),
        ("dram:\n  banks: 2\n", 4, "dram.endpoints lists 12 tiles for 2 banks"),
        ("dram:\n  write_queue: 16\n", 4, "dram.write_high is 24; it must be at most dram.write_queue, 16"),
    ],
)  # fmt: skip
def test_wrong_files_name_the_line(load, text, line, words):
    with pytest.raises(UsageError) as caught:
        load(HEAD + text)
    assert words in caught.value.message and caught.value.where["line"] == line


@pytest.mark.parametrize(
    ("text", "suggestion"),
    [("noc: {hop_cylces: 4}", "noc.hop_cycles"), ("extend: blackhole", "extends"), ("nam: x", "name")],
)
def test_a_misspelt_key_gets_a_suggestion(load, text, suggestion):
    with pytest.raises(UsageError) as caught:
        load(HEAD + text)
    assert suggestion in caught.value.hint


def test_a_misspelt_key_in_a_whole_file_is_not_left_out(load):
    text = (DIRECTORY / "wormhole_b0.yaml").read_text()
    with pytest.raises(UsageError, match="no parameter 'noc.hop_cylces'"):
        load(text.replace("noc:\n", "noc:\n  hop_cylces: 3\n", 1))


@pytest.mark.parametrize(
    "text", ["a: &a [*a]", "name: &n {x: *n}", "when: 2020-13-45", "? [1]\n: 2", "a: !!python/object:os.x 1"]
)
def test_odd_yaml_is_refused(load, text):
    with pytest.raises(UsageError):
        load(text)
