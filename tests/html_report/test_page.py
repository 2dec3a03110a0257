"""The page of a simulation: it stands alone, it escapes what it is told, and its figures are those of the result."""

import copy
import html.parser
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tensim.analysis.verdict import headline
from tensim.html_report import figures
from tensim.html_report.page import html_page
from tensim.html_report.sources import sources
from tensim.results.result import Result
from tensim.running.programs import Settings, run_program
from tests.commands import exit_code

TTNN_PROGRAM = Path(__file__).parents[1] / "tool_files" / "ttnn_copy.py"
HOSTILE = '<script>alert("x")</script>&<b>'
VOID = {"meta", "link", "input", "br", "hr", "img"}


@pytest.fixture(scope="module")
def data():
    """The result of a product of matrices on all cores, as `--json` writes it."""
    return run_program(Settings(program="matmul_multicast", shape="512x512x512", loops=2)).to_dict()


@pytest.fixture(scope="module")
def page(data):
    return html_page(data)


class Elements(html.parser.HTMLParser):
    """The elements of a page with their attributes; what is not closed, or closed twice, is an error."""

    def __init__(self, text):
        super().__init__()
        self.found, self.open, self.text = [], [], []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


# --- it stands alone


def test_the_page_is_well_formed_and_below_two_megabytes(page):
    tags = {tag for tag, _ in Elements(page).found}
    assert {"svg", "table", "section", "details"} <= tags and len(page) < 2_000_000


def test_the_page_asks_for_nothing_and_runs_nothing(page):
    for tag, attributes in Elements(page).found:
        assert tag not in ("script", "link", "img", "iframe", "object", "embed", "base", "form")
        assert not {"src", "href", "srcset", "action"} & attributes.keys()
        assert not any(name.startswith("on") for name in attributes)
    assert "@import" not in page and "url(" not in page and "http" not in page


def test_light_and_dark_have_the_same_colours_defined(page):
    light, dark = re.findall(r":root \{(.*?)\}", page, re.S)
    names = [set(re.findall(r"(--[\w-]+):", part)) for part in (light, dark)]
    assert names[0] == names[1] and len(names[0]) > 10


# --- it escapes


def test_what_a_program_says_is_text(data):
    hostile = copy.deepcopy(data)

    def spoil(item):
        if isinstance(item, dict):
            return {key: spoil(value) for key, value in item.items()}
        if isinstance(item, list):
            return [spoil(value) for value in item]
        return item + HOSTILE if isinstance(item, str) else item

    kept = {key: hostile["cores"][key] for key in ("rows",)}  # texts that are places of cores
    hostile = spoil(hostile)
    hostile["cores"]["rows"] = kept["rows"]
    hostile["warnings"], hostile["verified"], hostile["comparison"] = [HOSTILE], False, {"text": HOSTILE}
    hostile["identity"]["overrides"] = {HOSTILE: HOSTILE}
    text = html_page(hostile)
    found = Elements(text)
    assert "script" not in {tag for tag, _ in found.found} and "b" in {tag for tag, _ in found.found}
    assert "".join(found.text).count(HOSTILE) > 20 and "<script" not in text


def test_a_notebook_gets_the_page_in_a_frame_of_its_own(data):
    shown = Result.from_dict(data)._repr_html_()
    ((tag, attributes),) = Elements(shown).found
    assert tag == "iframe" and attributes["srcdoc"] == html_page(data) and attributes["sandbox"] == ""


# --- what it shows


def test_it_tells_verdict_advice_and_figures_of_the_result(data, page):
    text = " ".join("".join(Elements(page).text).split())
    assert headline(data["verdict"]) in text and data["verdict"]["text"] in text
    for one in data["advice"]:
        assert one["title"] in text
    assert f"{data['cycles']:,}" in text and "verified against numpy" in text
    assert f"{100 * data['dram']['utilization']:.1f} %" in text
    first = data["noc"]["links"][0]
    assert f"{first['from']} → {first['to']}" in text


def test_every_core_is_in_the_heat_map_with_its_share(data):
    grid = figures.grid(data["cores"])
    assert len(grid["cells"]) == 64 and (grid["width"], grid["height"]) == (8 * figures.CELL, 8 * figures.CELL)
    rows = {row["core"]: row for row in data["cores"]["rows"]}
    for cell in grid["cells"]:
        assert cell["shares"]["active"] == rows[cell["core"]]["active_share"]
    corner = next(cell for cell in grid["cells"] if cell["core"] == "(7,2)")
    assert (corner["x"], corner["y"]) == (7 * figures.CELL, 2 * figures.CELL)


def test_bars_of_threads_add_up_to_their_time(data):
    threads = figures.thread_bars(data["breakdown"])
    assert threads.keys() == data["breakdown"].keys()
    for thread, bars in threads.items():
        part = data["breakdown"][thread]
        assert sum(bar["share"] for bar in bars) == pytest.approx(1 - part["other"], abs=0.005)
        assert bars[0]["name"] == "busy" and bars[0]["share"] == part["busy"]


def test_the_run_is_below_its_roofs(data):
    drawn = figures.roofline(data["roofline"])
    x, y = drawn["point"]
    assert all(y > roof["y"] for roof in drawn["roofs"]) and drawn["left"] <= x <= drawn["right"]
    x0, y0, x1, y1 = drawn["slope"]
    assert y > y0 + (y1 - y0) * (x - x0) / (x1 - x0)  # downwards are larger numbers


def test_launches_lie_where_they_ran(data):
    drawn = figures.strip(data["launches"], data["programs"])
    assert len(drawn["launches"]) == 2
    first, second = drawn["launches"]
    assert first["x"] == 0 and second["x"] > first["width"] and second["x"] + second["width"] <= drawn["width"] + 1
    assert len(drawn["threads"]) == 64 * 5


def test_source_lines_stand_beside_their_cycles(data):
    (file,) = sources(data["lines"])
    text = Path(file["file"]).read_text().splitlines()
    rows = {row["line"]: row for row in file["rows"] if row is not None}
    assert all(row["text"] == text[number - 1] for number, row in rows.items())
    for line in data["lines"]:
        same = [one for one in data["lines"] if one["line"] == line["line"]]
        assert rows[line["line"]]["stalled"] == sum(one["stalled"] for one in same)
    assert None in file["rows"]  # what took no time is left out


# --- what may be missing


LINE = {"line": 2, "kernel": "k", "source": "second", "busy": 3, "stalled": 4, "operations": 1}


@pytest.mark.parametrize("name, text", [("k.py", "first\nchanged\n"), ("k.txt", "first\nsecond\n"), (None, None)])
def test_a_file_that_is_not_the_one_is_not_shown(tmp_path, name, text):
    """Another text, no source, or not there: only what the result quotes."""
    path = tmp_path / (name or "gone.py")
    if text is not None:
        path.write_text(text)
    (file,) = sources([LINE | {"file": str(path)}])
    assert [row["text"] for row in file["rows"]] == ["second"]


def test_a_result_of_an_older_tensim_is_shown(data):
    bare = {key: data[key] for key in ("arch", "cycles", "device_seconds", "breakdown", "noc", "dram")}
    text = html_page(bare)
    assert f"{data['cycles']:,}" in text and "What to change" not in text
    Elements(text)


def test_a_run_without_arithmetic_has_no_roofline(tmp_path):
    path = tmp_path / "page.html"
    assert exit_code("run", "add_integers", "--html", str(path)) == 0 and "Roofline" not in path.read_text()


# --- commands


def test_commands_refuse_another_suffix_and_several_files(tmp_path, capsys):
    for arguments, said in (
        (["run", "add_integers", "--html", str(tmp_path / "page.txt")], "must end in"),
        (["replay", "a.bin", "b.bin", "--html", str(tmp_path / "page.html")], "--html is for one file"),
    ):
        assert exit_code(*arguments) == 2 and said in capsys.readouterr().err


def test_a_replay_has_a_page(tmp_path):
    file, path = tmp_path / "program.bin", tmp_path / "page.html"
    run_program(Settings(program="eltwise_add", shape="64x64", capture=str(file)))
    assert exit_code("replay", str(file), "--html", str(path)) == 0 and "program.bin" in path.read_text()


def test_the_page_of_advise_tells_what_each_change_saves(tmp_path):
    path, told = tmp_path / "page.html", tmp_path / "advice.json"
    arguments = [
        "advise",
        "matmul_naive",
        "--shape",
        "128x128x128",
        "--grid",
        "2x2",
        "--html",
        str(path),
        "--json",
        str(told),
    ]
    assert exit_code(*arguments) == 0
    text, data = "".join(Elements(path.read_text()).text), json.loads(told.read_text())
    for one in data["what_if"]:
        assert one["description"] in text and f"{one['cycles']:,}" in text
    assert f"saves {data['advice'][0]['estimated_gain_pct']:.1f} % of the time" in text and "by an estimate" not in text


def test_a_ttnn_program_has_a_page_with_its_operations(tmp_path):
    path = tmp_path / "page.html"
    command = [sys.executable, "-m", "tensim.ttnn", "--html", path, TTNN_PROGRAM]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "<h2>Operations</h2>" in path.read_text()
