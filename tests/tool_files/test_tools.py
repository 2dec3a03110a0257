"""The real tools on the folders of --tt-report: tt-perf-report, and the routes of ttnn-visualizer's backend."""

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest


def perf_report(path, tmp_path, *options):
    """(rows of tt-perf-report's own table, what it printed) for an ops_perf_results file."""
    pytest.importorskip("tt_perf_report")
    table, program = tmp_path / "table.csv", Path(sys.executable).with_name("tt-perf-report")
    done = subprocess.run(
        [program, path, "--csv", table, "--no-color", *options], capture_output=True, text=True, timeout=300
    )  # fmt: skip
    if not table.exists():
        return None, done.stdout + done.stderr
    with open(table) as file:
        return list(csv.DictReader(file)), done.stdout + done.stderr


def test_tt_perf_report_prints_our_utilisation(matmul, tmp_path):
    rows, printed = perf_report(matmul.operations_csv, tmp_path)
    assert len(rows) == 2 and "Unclassified" not in printed
    summary, loops = matmul.summary, matmul.summary["loops"]
    flops = summary["flops"] / len(loops)
    for row, loop in zip(rows, loops, strict=True):
        assert row["OP Code"].startswith("MatmulDeviceOperation 256 x 512 x 256")
        assert float(row["Device Time"]) == pytest.approx(loop["cycles"] / 1000, abs=0.01)
        assert float(row["FLOPs"]) == pytest.approx(flops / loop["device_seconds"] / 1e12, rel=0.01)
        assert float(row["Cores"]) == 16
    # of all DRAM's bandwidth, as ours; of HiFi2's peak of the cores used, two phases of LoFi's, which ours is a share of
    dram = [float(row["DRAM %"]) for row in rows]
    assert sum(dram) / 2 == pytest.approx(100 * summary["dram"]["utilization"], rel=0.02)
    shares = [float(row["FLOPs %"]) for row in rows]
    assert sum(shares) / 2 == pytest.approx(100 * 2 * summary["flops_utilization"], rel=0.02)


def test_tt_perf_report_merges_several_chips(chips, tmp_path):
    rows, printed = perf_report(chips.operations_csv, tmp_path)
    assert rows and "2 devices" in printed


def test_tt_perf_report_refuses_grayskull(matmul, tmp_path):
    """What docs/tool_files.md says of it."""
    path = tmp_path / "ops_perf_results_gs.csv"
    path.write_text(matmul.operations_csv.read_text().replace("wormhole_b0", "grayskull"))
    rows, printed = perf_report(path, tmp_path)
    assert rows is None and "grayskull" in printed.lower()


@pytest.fixture(scope="module")
def visualizer(tmp_path_factory):
    """A client of the visualizer's backend, with its own data in a folder of the test."""
    home = tmp_path_factory.mktemp("visualizer")
    before = dict(os.environ)
    os.environ |= {
        "HOME": str(home), "APP_DATA_DIRECTORY": str(home), "REPORT_DATA_DIRECTORY": str(home), "FLASK_ENV": "production",
        "TTNN_VISUALIZER_EVENT_LOG_DISABLED": "1",
    }  # fmt: skip
    pytest.importorskip("ttnn_visualizer")
    from ttnn_visualizer.app import create_app

    settings = {
        "TESTING": True, "SQLALCHEMY_DATABASE_URI": f"sqlite:///{home}/app.db", "USE_WEBSOCKETS": False,
        "APP_DATA_DIRECTORY": str(home), "REPORT_DATA_DIRECTORY": str(home), "SERVER_MODE": False,
    }  # fmt: skip
    try:
        yield create_app(settings_override=settings).test_client()
    finally:
        os.environ.clear()
        os.environ.update(before)


def opened(client, folder):
    """Open a folder for both reports; returns a function that asks a route and gives its answer (`instance`: arguments of all)."""
    paths = {"profiler_path": str(folder), "performance_path": str(folder)}
    answer = client.post("/api/instance/local-paths", json=paths)
    assert answer.status_code == 200, answer.data
    instance = answer.get_json()["instance_id"]

    def ask(route, **arguments):
        answer = client.get(f"/api/{route}", query_string={"instanceId": instance, **arguments})
        assert answer.status_code == 200, (route, answer.status_code, answer.data[:300])
        return answer

    ask.instance = {"instanceId": instance}
    return ask


MEMORY_ROUTES = (
    "operations", "operations/1", "tensors", "buffers", "operation-buffers", "operation-buffers/1", "buffer-pages", "devices",
    "report-metadata", "config", "errors",
)  # fmt: skip
PERFORMANCE_ROUTES = (
    "performance/perf-results/raw", "performance/perf-results/report", "performance/device-log/raw",
    "performance/device-log/meta", "performance/device-log/zone/BRISC-FW", "performance/npe/manifest",
)  # fmt: skip


@pytest.mark.parametrize("report", ["matmul", "chips"])
def test_the_visualizers_routes_answer(report, visualizer, request):
    ask = opened(visualizer, request.getfixturevalue(report).folder)
    for route in (*MEMORY_ROUTES, *PERFORMANCE_ROUTES):
        assert ask(route).data, route


def test_the_visualizer_finds_the_topology(visualizer, chips):
    """The routes of its page; chips of one process that nothing connects stand beside each other."""
    ask = opened(visualizer, chips.folder)
    cluster, mesh = ask("cluster-descriptor").get_json(), ask("mesh-descriptor").get_json()
    assert cluster["arch"] == {"0": "wormhole_b0", "1": "wormhole_b0"} and cluster["ethernet_connections"] == []
    assert mesh["chips"] == {"0": [0, 0], "1": [1, 0]} and len(set(cluster["chip_unique_ids"].values())) == 2


def test_the_visualizer_shows_our_operations_and_memory(visualizer, matmul):
    ask = opened(visualizer, matmul.folder)
    shown = ask("operations").get_json()
    assert [one["name"] for one in shown] == ["MatmulDeviceOperation"] * 2
    assert len(shown[0]["inputs"]) == 2 and len(shown[0]["outputs"]) == 1
    (device,) = ask("devices").get_json()
    assert device["num_x_compute_cores"] == 8 and device["num_y_compute_cores"] == 8
    meta = ask("performance/device-log/meta").get_json()
    assert meta["architecture"] == "wormhole_b0" and meta["frequency"] == 1000


def test_the_visualizer_opens_our_npe_views(visualizer, matmul):
    ask = opened(visualizer, matmul.folder)
    (first, _) = ask("performance/npe/manifest").get_json()
    shown = json.loads(ask("performance/npe/timeline", filename=first["file"]).data)
    assert shown["common_info"]["version"] == "1.0.0" and shown["noc_transfers"] and shown["timestep_data"]


def test_the_visualizer_indexes_an_npe_view(visualizer, matmul):
    """The file itself, and what the page asks for of a large one: a summary, and the transfers of one timestep."""
    ask = opened(visualizer, matmul.folder)
    path = next((matmul.folder / "npe_viz").glob("*.npeviz"))
    with open(path, "rb") as file:
        answer = visualizer.post("/api/local/upload/npe", data={"files": (file, path.name)}, query_string=ask.instance)
    assert answer.status_code == 200 and answer.get_json()["message"] == "Success"
    view = json.loads(ask("npe").data)
    assert view["noc_transfers"] == json.loads(path.read_text())["noc_transfers"]
    assert json.loads(ask("npe/summary").data)["common_info"]["arch"] == "wormhole_b0"
    window = json.loads(ask("npe/window", t=3).data)
    assert window["timestep"]["active_transfers"] == view["timestep_data"][3]["active_transfers"]
