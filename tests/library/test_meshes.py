"""Several chips: what the library is told of them, and its collective operations over the fabric (TENSIM_LIBRARY_PYTHON)."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tensim.library.descriptions import cluster_description, ethernet_channels, mesh_description
from tensim.library.routers import ToldWiring
from tensim.library.runner import wiring_of
from tensim.sim.arch import load_arch
from tensim.sim.errors import UsageError
from tensim.sim.host.wiring import BOARDS
from tests.library.interpreters import library_with_torch

PROGRAM = Path(__file__).with_name("mesh_program.py")


LIBRARY = library_with_torch()
EIGHT_ROWS = {"board": "n300", "boards.n300.rows": [1, 2, 3, 4, 7, 8, 9, 10]}


def test_the_description_has_all_chips_and_links():
    arch = load_arch("blackhole", {"noc.translated_columns": [*range(1, 8), *range(10, 17)]})
    described = cluster_description(arch, wiring_of(BOARDS["p150_x4"], arch))
    assert list(described["chips"]) == [0, 1, 2, 3] and len(described["ethernet_connections"]) == 4 * 4
    assert [{"chip": 0, "chan": 4}, {"chip": 2, "chan": 4}] in described["ethernet_connections"]
    assert len({entry[0]["board_id"] for entry in described["boards"]}) == 4


def test_chips_of_an_n300_lack_two_rows_and_none_dispatches():
    arch = load_arch("wormhole_b0", EIGHT_ROWS)
    described = cluster_description(arch, wiring_of(BOARDS["n300"], arch))
    assert bin(described["harvesting"][1]["harvest_mask"]).count("1") == 2
    assert {entry[1]["board_type"] for entry in described["boards"]} == {"n300"}


def test_a_galaxy_is_a_closed_mesh_of_the_callers():
    arch = load_arch("blackhole")
    wiring = wiring_of(BOARDS["bh_galaxy"], arch)
    text = mesh_description(arch, wiring)
    assert "BLACKHOLE" in text and "dims: [8, 4] dim_types: [RING, RING]" in text and "count: 2 " in text
    described = cluster_description(arch, wiring)
    assert len(described["ethernet_connections"]) == 2 * 2 * 32 and len(set(described["chip_to_bus_id"].values())) == 32


def test_chips_without_ethernet_make_no_mesh():
    with pytest.raises(UsageError, match="p100 has no Ethernet"):
        wiring_of(BOARDS["p150_x2"], load_arch("blackhole", {"board": "p100"}))


def test_ethernet_channels_of_wormhole_follow_tiles_not_columns():
    channels = ethernet_channels(load_arch("wormhole_b0"))
    assert channels[25, 16] == 0 and channels[18, 16] == 1 and channels[25, 17] == 8  # (9, 0), (1, 0), (9, 6)


class Told:
    mesh = False

    def __init__(self, direction, forwards=False):
        self.direction, self.forwards = direction, forwards


def test_links_join_the_routers_that_were_started():
    arch = load_arch("blackhole")
    connections = wiring_of(BOARDS["p150_x2"], arch).connections()
    routers = {(chip, channel): Told(chip) for chip in (0, 1) for channel in (1, 3)}  # two of four links
    wiring = ToldWiring(routers, connections, 2)
    assert wiring.ports == [[(0, 0), (0, 1)], [(1, 0), (1, 1)]] and wiring.tile(0, 0, 1) == 3
    assert wiring.links == [((0, 0), (1, 0)), ((0, 1), (1, 1))]


def test_a_line_turns_at_a_corner_that_forwards():
    routers = {(0, 0): Told(2, True), (0, 1): Told(0, True), (1, 0): Told(3), (2, 1): Told(1)}
    wiring = ToldWiring(routers, [((0, 0), (2, 1)), ((0, 1), (1, 0))], 3)
    assert wiring.turns == {0: {3: 0, 1: 2}, 1: {}, 2: {}}  # from the east on to the north, and back


ONE_ROW = "all_gather reduce_scatter all_reduce point_to_point all_broadcast all_to_all tensor_parallel_mlp"
CASES = {
    "a line of Blackhole": ("p150_x2", "FABRIC_1D", 1, 2, ONE_ROW),
    "two chips of a card": ("n300", "FABRIC_1D", 1, 2, "all_gather reduce_scatter tensor_parallel_mlp"),
    "a mesh": ("p150_x4", "FABRIC_2D", 2, 2, "all_gather reduce_scatter"),
    "a line that turns": ("p150_x4", "FABRIC_1D", 1, 4, "all_gather"),
    "a box of eight": ("p150_x8", "FABRIC_2D", 2, 4, "all_gather"),
    "two chips of a Blackhole's card": ("p300", "FABRIC_1D", 1, 2, "all_gather"),
    "a Galaxy, closed": ("galaxy", "FABRIC_2D_TORUS_XY", 8, 4, "all_gather"),
    "a Galaxy of Blackholes": ("bh_galaxy", "FABRIC_2D", 8, 4, "all_gather"),
}
SOCKETS = {"on a line": ("p150_x2", "FABRIC_1D", 1, 2), "in a mesh": ("p150_x4", "FABRIC_2D", 2, 2)}


def run_program(report, board, fabric, rows, columns, names):
    """The finished process of operations, all of which gave the right bits."""
    command = [sys.executable, "-m", "tensim", "ttnn", "--library", "--mesh", board, "--json", str(report)]
    command += [
        "--html",
        str(report.with_suffix(".html")),
        str(PROGRAM),
        fabric,
        str(rows),
        str(columns),
        *names.split(),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    assert dict(re.findall(r"^(\w+) (True|False)$", done.stdout, re.M)) == dict.fromkeys(names.split(), "True")
    return done


@pytest.mark.skipif(LIBRARY is None, reason="no interpreter that has ttnn and torch")
@pytest.mark.parametrize("case", SOCKETS)
def test_sockets_between_chips(case, tmp_path):
    done = run_program(tmp_path / "report.json", *SOCKETS[case], "sockets")
    assert "links carried packets" in done.stderr


@pytest.mark.skipif(LIBRARY is None, reason="no interpreter that has ttnn and torch")
@pytest.mark.parametrize("case", CASES)
def test_collectives_give_the_right_bits(case, tmp_path):
    board, fabric, rows, columns, names = CASES[case]
    report = tmp_path / "report.json"
    done = run_program(report, board, fabric, rows, columns, names)
    told = json.loads(report.read_text())
    assert sum(link["bytes"] for link in told["fabric"]["links"]) > 0 and "links carried packets" in done.stderr
    assert all(0 < link["line_share"] <= 1 for link in told["fabric"]["links"] if link["packets"])
    assert 'aria-label="how full the lines between chips are"' in report.with_suffix(".html").read_text()
    operations = told["operations"]
    gathers = [row["cycles"] for row in operations if row["name"].startswith("ttnn.all_gather")]
    assert {row["chip"] for row in operations} == set(range(rows * columns))
    n = rows * columns
    assert len(gathers) == n and max(gathers) < 30_000 * max(1, n / 8)  # all chips begin together
