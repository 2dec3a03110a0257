"""`tensim compare A B`: what moved between two results, what moved most, and whether that is too much."""

import copy
import json

import pytest

import tensim as tt
from tensim.results.comparison import SECTIONS
from tensim.sim.errors import UsageError
from tests.commands import exit_code


@pytest.fixture(scope="module")
def before():
    return tt.run("matmul_multicast", shape="128x128x128", numerics="off")


@pytest.fixture(scope="module")
def after():
    return tt.run("matmul_multicast", shape="128x128x128", numerics="off", overrides={"dram.read_latency": 400})


@pytest.fixture(scope="module")
def files(before, after, tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    return before.save(folder / "before.json"), after.save(folder / "after.json")


def changed(result, **changes):
    """A result with other figures; names are paths into its summary, joined by two underscores."""
    summary = copy.deepcopy(result.summary)
    for path, value in changes.items():
        *places, last = path.split("__")
        place = summary
        for name in places:
            place = place[int(name) if name.isdigit() else name]
        place[last] = value
    return tt.Result(summary, result.identity)


def test_a_result_is_the_same_as_itself(before):
    comparison = tt.compare(before, before)
    assert comparison.same and comparison.cycles.relative == 0 and comparison.moved_most is None
    assert comparison.identity == [] and not comparison.moved_by_more(0)
    assert "all else is the same" in comparison.text()


def test_slower_memory_shows_in_cycles_and_in_who_waits(before, after):
    comparison = tt.compare(before, after)
    assert comparison.cycles.before == before.cycles and comparison.cycles.after == after.cycles
    assert comparison.cycles.difference > 200
    moved = {change.name: change.difference for change in comparison.changes["stalls"]}
    assert moved["NCRISC noc_read_barrier"] > 0 and "TRISC1 busy" not in moved
    assert moved[comparison.moved_most.name] == max(moved.values(), key=abs)
    assert ("overrides", {}, {"dram.read_latency": 400}) in comparison.identity
    assert any("noc_async_read_barrier" in change.name for change in comparison.changes["lines"])
    assert any("waiting for pages" in change.name for change in comparison.changes["buffers"])


def test_moves_are_sorted_by_their_size_and_what_stayed_is_left_out(before, after):
    found = tt.compare(before, after).changes
    assert len(found["stalls"]) > 3 and len(found["links"]) > 3
    for section, changes in found.items():
        if section != "totals":
            sizes = [abs(change.difference) for change in changes]
            assert sizes == sorted(sizes, reverse=True) and 0 not in sizes


def test_what_threads_do_adds_up_to_their_time(before):
    """Waits and work in cycles are those of the chip: a comparison with nothing lists all of them."""
    empty = tt.Result(before.summary | {"breakdown": {}}, before.identity)
    assert len(before["breakdown"]) == 5
    for thread, part in before["breakdown"].items():
        told = [c.after for c in tt.compare(empty, before).changes["stalls"] if c.name.startswith(thread)]
        assert sum(told) == pytest.approx((1 - part["other"]) * part["thread_cycles"], abs=len(told))


def test_links_and_memory_are_compared(before):
    other = changed(before, noc__links__0__bytes=1, dram__channels__0__read_bytes=7, dram__read_bytes=9)
    changes = tt.compare(before, other).changes
    (link,) = changes["links"]
    assert (link.before, link.after, link.unit) == (before.links[0]["bytes"], 1, "B")
    assert {change.name for change in changes["memory"]} == {"read_bytes", "channel 0, read_bytes"}


def test_a_line_that_moved_in_its_file_is_the_same_line(before):
    lines = [line | {"line": line["line"] + 3} for line in before.lines]
    assert tt.compare(before, changed(before, lines=lines)).same


def test_operations_of_ttnn_programs_are_matched_by_name_and_order(before):
    old = changed(
        before, kernel_operations=7, operations=[{"name": "add", "cycles": 10}, {"name": "add", "cycles": 20}]
    )
    new = changed(
        before, kernel_operations=7, operations=[{"name": "add", "cycles": 10}, {"name": "add", "cycles": 25}]
    )
    (change,) = tt.compare(old, new).changes["operations"]
    assert (change.name, change.before, change.after) == ("add #2", 20, 25)


def test_a_kernel_s_changed_text_and_arguments_are_named(before):
    identity = copy.deepcopy(before.identity)
    name = identity["kernels"][0]["name"]
    identity["kernels"][0] |= {"sha256": "f" * 64, "compile_args": [9]}
    told = [key for key, _, _ in tt.compare(before, tt.Result(before.summary, identity)).identity]
    assert len(told) == 2 and told[0].startswith(f"kernel {name} on") and told[0].endswith("text")
    assert told[1].endswith("compile-time arguments")


def test_a_kernel_that_runs_on_both_nocs_counts_twice(before):
    """Receivers of a multicast product have the two NoCs the other way round in the right half of the grid."""
    identity = copy.deepcopy(before.identity)
    names = [kernel["name"] for kernel in identity["kernels"]]
    twice = [number for number, name in enumerate(names) if names.count(name) > 1]
    assert twice
    for number in twice:
        changed_one = copy.deepcopy(before.identity)
        changed_one["kernels"][number]["compile_args"] = [9]
        assert len(tt.compare(before, tt.Result(before.summary, changed_one)).identity) == 1


def test_another_output_is_a_difference_though_no_cycle_moved(before):
    comparison = tt.compare(changed(before, verified=True), changed(before, verified=False))
    assert not comparison.same and comparison.outcome == [("verified", True, False)]
    one, other = ({"dram": text * 64, "l1": "0" * 64} for text in "ab")
    comparison = tt.compare(changed(before, image_sha256=one), changed(before, image_sha256=other))
    assert [name for name, _, _ in comparison.outcome] == ["hash of dram"]


@pytest.mark.parametrize(
    ("cycles", "share", "more"), [(1005, 0.005, False), (1006, 0.005, True), (994, 0.005, True), (1000, 0, False)]
)
def test_moving_by_more_counts_in_both_directions(before, cycles, share, more):
    assert tt.compare(changed(before, cycles=1000), changed(before, cycles=cycles)).moved_by_more(share) is more


def test_the_time_from_start_to_end_counts_though_no_program_is_slower(before):
    slower = changed(before, span_cycles=15 * before.span_cycles)
    comparison = tt.compare(before, slower)
    assert comparison.moved_by_more(0.05) and comparison.cycles.difference == 0 and not comparison.same
    assert f"from start to end {before.span_cycles:,} -> {slower.span_cycles:,} cycles (+1400.00%)" in comparison.text()


def test_cycles_from_nothing_are_more_than_any_share(before):
    assert tt.compare(changed(before, cycles=0), changed(before, cycles=5)).moved_by_more(1e9)


# --- the command


def test_exit_status_without_and_with_a_limit(files, capsys):
    assert exit_code("compare", *files) == 0
    assert "most moved" in capsys.readouterr().out
    assert exit_code("compare", *files, "--fail-above", "0.5%") == 1
    assert "more than 0.500%" in capsys.readouterr().err
    assert exit_code("compare", *files, "--fail-above", "500 %") == 0
    assert exit_code("compare", files[0], files[0], "--fail-above", "0") == 0


def test_json_has_every_section(files, tmp_path):
    file = tmp_path / "moved.json"
    assert exit_code("compare", *files, "--fail-above", "0.5%", "--json", file) == 1
    data = json.loads(file.read_text())
    assert data["exceeded"] is True and data["fail_above"] == 0.005 and data["same"] is False
    assert set(SECTIONS) <= set(data) and data["cycles"]["relative"] > 0.005
    assert data["moved_most"] == data["stalls"][0]


def test_run_folders_and_files_can_be_compared_with_each_other(before, after, tmp_path):
    after.save(tmp_path)
    assert tt.compare(before, tmp_path).cycles.after == after.cycles
    assert exit_code("compare", tmp_path, tmp_path / "result.json", "--fail-above", "0%") == 0


@pytest.mark.parametrize("limit", ["", "much", "-1%", "nan", "inf%"])
def test_a_limit_that_is_none_is_refused(files, limit, capsys):
    assert exit_code("compare", *files, "--fail-above", limit) == 2
    assert "as 0.5%" in capsys.readouterr().err


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", '{"cycles": 5}', '{"traceEvents": []}', '{"error": {"message": "x"}}']
)
def test_what_cannot_be_compared_ends_in_2(files, text, tmp_path):
    broken = tmp_path / "broken.json"
    broken.write_text(text)
    assert exit_code("compare", files[0], broken) == exit_code("compare", broken, files[0]) == 2
    assert exit_code("compare", files[0], tmp_path / "absent.json") == exit_code("compare", files[0], tmp_path) == 2


@pytest.mark.parametrize(
    "change", [{"schema_version": 2}, {"cycles": "many"}, {"breakdown": {"BRISC": 1}}, {"noc": {}}, {"identity": 3}]
)
def test_other_schemas_and_damaged_results_end_in_2(files, change, tmp_path):
    broken = tmp_path / "broken.json"
    broken.write_text(json.dumps(json.loads(files[0].read_text()) | change))
    assert exit_code("compare", files[0], broken) == 2
    with pytest.raises(UsageError):
        tt.compare(files[0], broken)
