"""Architectures: the project's own, a user's file, overrides, and the errors that name file and key."""

import pytest
import yaml

from tensim.sim.arch import architectures, load_arch
from tensim.sim.arch.loader import DIRECTORY, described_arch
from tensim.sim.errors import UsageError

HOP = {"value": 4, "unit": "cycles", "conf": "measured", "src": "our own card"}


@pytest.fixture
def write(tmp_path):
    """Write a mapping (or text) as a YAML file; returns its path."""

    def write(content, name="mine.yaml"):
        text = content if isinstance(content, str) else yaml.safe_dump(content)
        (tmp_path / name).write_text(text)
        return str(tmp_path / name)

    return write


def extension(**sections):
    return {"name": "mine", "extends": "wormhole_b0", **sections}


@pytest.mark.parametrize("name", ["blackhole", "grayskull", "wormhole_b0"])
def test_the_architectures_that_come_with_tensim(name):
    assert name in architectures()
    arch = load_arch(name)
    assert arch.name == name and len(arch.worker_coords) == arch.grid[0] * arch.grid[1]
    assert [len(places) for places in arch.dram_endpoints] == [arch.dram_banks, arch.dram_banks]
    leaf = arch.describe("noc.hop_cycles")
    assert leaf["value"] == arch["noc.hop_cycles"] and set(leaf) == {"value", "unit", "conf", "src"}


def test_names_of_architectures_in_letters_of_any_case():
    assert load_arch("WORMHOLE_B0").name == "wormhole_b0"
    with pytest.raises(UsageError, match="'wormhole_bo'; did you mean wormhole_b0"):
        load_arch("wormhole_bo")


def test_blackhole_has_other_dram_endpoints_on_each_noc():
    """Both tiles of a bank reach it; a chip without places for NoC 1 has those of NoC 0."""
    blackhole, wormhole = load_arch("blackhole"), load_arch("wormhole_b0")
    assert blackhole.dram_endpoints[0][1] == (0, 2, 0) and blackhole.dram_endpoints[1][1] == (0, 10, 0)
    assert blackhole.dram_tiles[0, 2] == blackhole.dram_tiles[0, 10] == 1 and len(blackhole.dram_tiles) == 16
    assert wormhole.dram_endpoints[0] == wormhole.dram_endpoints[1]


def test_a_board_that_lacks_a_dram_channel():
    """p100: seven of the eight banks of a Blackhole, with their endpoints; on Wormhole a channel is two banks."""
    whole, p100 = load_arch("blackhole"), load_arch("blackhole", {"board": "p100"})
    assert (p100.dram_banks, p100.grid) == (7, (11, 10)) and p100.dram_channels == (0, 1, 2, 3, 4, 5, 6)
    assert [places[:7] for places in whole.dram_endpoints] == list(p100.dram_endpoints)
    assert p100.dram_tiles.items() < whole.dram_tiles.items() and p100.digest != whole.digest
    middle = load_arch("blackhole", {"board": "p100", "boards.p100.dram_channels": [0, 1, 2, 4, 5, 6, 7]})
    assert middle.dram_endpoints[0][3] == whole.dram_endpoints[0][4] and middle.dram_tiles[9, 6] == 6


def test_channels_of_a_board_of_ones_own(write):
    small = {"columns": {"value": [1, 2]}, "rows": {"value": [1]}, "dram_channels": {"value": [5, 1]}}
    path = write(extension(boards={"default": "small", "small": small}))
    arch, base = load_arch(path), load_arch("wormhole_b0")
    assert arch.dram_banks == 4
    assert arch.dram_endpoints[0] == [base.dram_endpoints[0][bank] for bank in (10, 11, 2, 3)]
    with pytest.raises(UsageError, match="boards.small.dram_channels: 6 is none of the 6 channels"):
        load_arch(path, {"boards.small.dram_channels": [6]})


@pytest.mark.parametrize("name, board, known", [("blackhole", "p150b", "p150"), ("wormhole_b0", "n300d", "n300")])
def test_a_product_is_its_board(name, board, known):
    assert load_arch(name, {"board": board}).digest == load_arch(name, {"board": known}).digest


def test_an_endpoint_set_beside_a_chip_of_tensim_does_not_blame_its_file():
    tiles = ["1-2", *load_arch("blackhole")["dram.endpoints_noc1"][1:]]
    with pytest.raises(UsageError, match="^dram.endpoints_noc1 gives bank 0 tile 1-2, which is a worker core$"):
        load_arch("blackhole", {"dram.endpoints_noc1": tiles})


# --- a user's file


def test_a_file_that_extends_an_architecture(write):
    arch, base = load_arch(write(extension(noc={"hop_cycles": HOP}))), load_arch("wormhole_b0")
    assert (arch.name, arch.board, arch["noc.hop_cycles"]) == ("mine", base.board, 4)
    assert arch.describe("noc.hop_cycles") == HOP
    assert arch["l1.size"] == base["l1.size"] and arch.digest != base.digest


def test_what_a_changed_parameter_leaves_out(write):
    path = write(extension(noc={"hop_cycles": {"value": 4}}))
    assert load_arch(path).describe("noc.hop_cycles") == {
        "value": 4, "unit": "cycles", "conf": "assumed", "src": path
    }  # fmt: skip


def test_a_file_that_extends_a_file_beside_it(write):
    write(extension(noc={"hop_cycles": HOP}), "base.yaml")
    path = write({"name": "second", "extends": "base.yaml", "l1": {"size": {"value": 1_000_000}}}, "second.yaml")
    arch = load_arch(path)
    assert (arch.name, arch["noc.hop_cycles"], arch["l1.size"]) == ("second", 4, 1_000_000)


def test_a_board_of_ones_own(write):
    board = {"columns": {"value": [1, 2]}, "rows": {"value": [3]}}
    path = write(extension(boards={"default": "tiny", "tiny": board}))
    assert load_arch(path).worker_coords == [(1, 3), (2, 3)]
    assert load_arch(path, {"board": "n150"}).grid == load_arch("wormhole_b0", {"board": "n150"}).grid


def test_a_whole_file(write):
    path = write((DIRECTORY / "blackhole.yaml").read_text())
    assert load_arch(path).digest == load_arch("blackhole").digest


def test_a_whole_file_may_leave_out_ethernet_but_not_a_part_of_it(write):
    data = yaml.safe_load((DIRECTORY / "wormhole_b0.yaml").read_text())
    ethernet = data.pop("ethernet")
    assert "ethernet.latency_ns" not in load_arch(write(data))
    del ethernet["latency_ns"]
    with pytest.raises(UsageError, match="no value for ethernet.latency_ns"):
        load_arch(write(data | {"ethernet": ethernet}))


def test_only_grayskull_has_no_ethernet():
    assert [name for name in architectures() if "ethernet.bytes_per_ns" not in load_arch(name)] == ["grayskull"]


def test_an_edited_file_is_read_again(write):
    path = write(extension(noc={"hop_cycles": {"value": 4}}))
    assert load_arch(path)["noc.hop_cycles"] == 4
    write(extension(noc={"hop_cycles": {"value": 11}}))
    assert load_arch(path)["noc.hop_cycles"] == 11


# --- errors in a file name the file and the key


@pytest.mark.parametrize(
    "content, message",
    [
        (extension(noc={"hop_cylces": HOP}), "no parameter 'noc.hop_cylces'"),
        (extension(noc={"hop_cycles": {"value": "four"}}), "noc.hop_cycles is 'four'; it must be from 0 to"),
        (extension(noc={"hop_cycles": {"value": None}}), "noc.hop_cycles is None; it must be from 0 to"),
        (extension(noc={"hop_cycles": {"value": True}}), "noc.hop_cycles is True; it must be from 0 to"),
        (extension(noc=4), "noc must be a section, not 4"),
        (extension(noc={"hop_cycles": HOP | {"note": "x"}}), "noc.hop_cycles has unknown entries note"),
        (extension(noc={"hop_cycles": HOP | {"conf": "sure"}}), "noc.hop_cycles: confidence is one of"),
        (
            extension(chip={"noc_grid": {"value": [10, "x"]}}),
            r"chip.noc_grid is \[10, 'x'\]; it must be a list \[x, y\] of whole",
        ),
        (extension(chip={"noc_grid": {"value": [10]}}), r"chip.noc_grid is \[columns, rows\], not \[10\]"),
        (extension(dram={"banks": {"value": 4}}), "dram.endpoints lists 12 tiles for 4 banks"),
        (
            extension(dram={"endpoints": {"value": ["north"] * 12}}),
            "dram.endpoints is .* it must be a list of NoC coordinates 'x-y'",
        ),
        (extension(dram={"endpoints": {"value": ["1-1"] * 12}}), "bank 0 tile 1-1, which is a worker core"),
        (extension(dram={"endpoints": {"value": ["9-12"] * 12}}), "bank 0 tile 9-12, outside the 10x12 NoC grid"),
        (extension(dram={"endpoints_noc1": {"value": ["0-0"] * 4}}), "dram.endpoints_noc1 lists 4 tiles for 12 banks"),
        (extension(dram={"endpoints_noc1": {"value": ["0-0"] * 12}}), "gives bank 2 tile 0-0, which is bank 0's"),
        (extension(boards=5), "boards must be a section"),
        (
            extension(boards={"n150": {"columns": {"value": 5}}}),
            r"boards.n150.columns is 5; it must be a list \[x\] of different whole numbers",
        ),
        (
            extension(boards={"n150": {"columns": {"value": [10]}}}),
            "boards.n150.columns: 10 is outside the 10x12 NoC grid",
        ),
        (extension(boards={"default": "n9"}), "no board 'n9'"),
        ({"name": "mine", "extends": "wormhole_c7"}, "unknown architecture 'wormhole_c7'"),
        ({"name": "mine", "extends": "mine.yaml"}, "extends itself"),
        ({"name": "mine", "extends": "nowhere.yaml"}, "cannot read architecture file .*nowhere.yaml"),
        ({"name": "mine", "noc": {"hop_cycles": HOP}}, r"no value for clock.aiclk_mhz, and \d+ others"),
        ({"noc": {"hop_cycles": HOP}}, "a mapping with a name"),
        ({"name": 5}, "a mapping with a name"),
        ("- a list", "a mapping with a name"),
        ("a: [", "not valid YAML: "),
    ],
)
def test_wrong_files(write, content, message):
    path = write(content)
    with pytest.raises(UsageError, match=message) as caught:
        load_arch(path)
    assert path.rsplit("/", 1)[0] in str(caught.value)


def test_a_misspelt_key_gets_a_suggestion(write):
    with pytest.raises(UsageError) as caught:
        load_arch(write(extension(noc={"hop_cylces": HOP})))
    assert "noc.hop_cycles" in caught.value.hint


def test_a_value_of_another_kind_in_a_whole_file(write):
    data = yaml.safe_load((DIRECTORY / "wormhole_b0.yaml").read_text())
    data["noc"]["hop_cycles"]["value"] = [9]
    with pytest.raises(UsageError, match=r"mine.yaml:\d+: noc.hop_cycles is \[9\]; it must be from 0"):
        load_arch(write(data))


# --- names, overrides, look-ups


def test_overrides():
    arch = load_arch("wormhole_b0", {"noc.hop_cycles": 5, "board": "n300"})
    assert (arch["noc.hop_cycles"], arch.board) == (5, "n300")
    assert arch.describe("noc.hop_cycles")["src"] == "override"
    assert load_arch("wormhole_b0")["noc.hop_cycles"] == 9


@pytest.mark.parametrize(
    "name, overrides, message",
    [
        ("wormhole", {}, "unknown architecture 'wormhole'"),
        ("missing.yaml", {}, "cannot read architecture file missing.yaml"),
        ("wormhole_b0", {"noc.hops": 5}, "no parameter 'noc.hops'"),
        (
            "wormhole_b0",
            {"noc.hop_cycles": "5"},
            "noc.hop_cycles is '5'; it must be from 0 to 1000000 .a whole number, in cycles",
        ),
        ("wormhole_b0", {"board": "p100"}, "no board 'p100'"),
    ],
)
def test_wrong_names_and_overrides(name, overrides, message):
    with pytest.raises(UsageError, match=message):
        load_arch(name, overrides)


def test_look_ups():
    arch = load_arch("wormhole_b0")
    assert "l1.size" in arch and "l1.sise" not in arch
    assert arch.section("alignment")["l1"] == arch["alignment.l1"]
    with pytest.raises(UsageError, match="wormhole_b0.*no parameter 'l1.sise'") as caught:
        arch["l1.sise"]
    assert "l1.size" in caught.value.hint


@pytest.mark.parametrize("base", ["blackhole", "grayskull", "wormhole_b0"])
def test_a_chip_described_by_all_its_parameters_needs_no_file(write, base):
    small = {"columns": {"value": [1, 2]}, "rows": {"value": [1]}}
    content = {
        "name": "mine",
        "extends": base,
        "noc": {"hop_cycles": HOP},
        "boards": {"default": "small", "small": small},
    }
    arch = load_arch(write(content))
    described = described_arch("mine", {"board": arch.board, **arch.values()})
    assert (described.name, described.digest, described.grid) == ("mine", arch.digest, (2, 1))
