"""What the folder of --tt-report holds, read as tt-metal's contracts describe it (docs/tool_files.md)."""

import csv
import json
import re
import sqlite3
from collections import defaultdict

import pytest
import yaml

import tensim as tt
from tensim.running.programs import Settings, run_program
from tensim.sim.chip import launch_work
from tensim.sim.errors import UsageError
from tensim.tool_files.device_log import COLUMNS
from tensim.tool_files.npe_view import nest
from tensim.tool_files.operands import described_product
from tensim.tool_files.recording import Recording, recording
from tensim.tool_files.report import require_folder, write_report
from tests.commands import exit_code
from tests.tool_files.conftest import Report, zoned

FIRST_LINE = re.compile(r"ARCH: [^,]+, CHIP_FREQ\[MHz\]: \d+, Max Compute Cores: \d+\n")


def log_rows(report):
    """(first line, rows by column) of the device log."""
    with open(report.folder / "profile_log_device.csv") as file:
        first = file.readline()
        rows = list(csv.DictReader(file, skipinitialspace=True))
    return first, rows


def operations(report):
    with open(report.operations_csv) as file:
        return list(csv.DictReader(file))


# --- profile_log_device.csv


def test_the_device_log_keeps_the_contract(matmul):
    first, rows = log_rows(matmul)
    assert FIRST_LINE.fullmatch(first) and first.startswith("ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000")
    assert tuple(rows[0]) == COLUMNS and len(COLUMNS) == 15
    assert all(None not in row and row["core_x"] and row["time[cycles since reset]"] for row in rows)


def test_each_core_of_an_operation_has_one_firmware_zone_around_its_kernels(matmul):
    _, rows = log_rows(matmul)
    firmware, kernels = defaultdict(list), defaultdict(list)
    for row in rows:
        key = row["run host ID"], row["core_x"], row["core_y"]
        time = int(row["time[cycles since reset]"])
        if row["zone name"] == "BRISC-FW":
            firmware[key].append((row["type"], time))
        elif row["zone name"].endswith("-KERNEL"):
            kernels[key].append(time)
    assert len(firmware) == 2 * 16  # two executions on 16 cores
    for key, zone in firmware.items():
        assert [kind for kind, _ in zone] == ["ZONE_START", "ZONE_END"]
        assert zone[0][1] <= min(kernels[key]) and max(kernels[key]) <= zone[1][1]


def test_the_end_of_a_zone_has_the_id_of_its_start_and_a_bit_more(matmul):
    _, rows = log_rows(matmul)
    ids = {(row["zone name"], row["type"]): int(row["timer_id"]) for row in rows}
    assert ids["BRISC-FW", "ZONE_END"] == ids["BRISC-FW", "ZONE_START"] + 65536


def test_user_zones_and_traces_are_told(chips):
    _, rows = log_rows(chips)
    zones = [row for row in rows if row["zone name"] == "turns; and more"]  # no comma in a field
    traces = [(row["trace id"], row["trace id counter"]) for row in zones if row["type"] == "ZONE_START"]
    number = str(chips.trace)
    assert sorted(traces) == [("", "")] * 2 + [(number, "1")] * 2 + [(number, "2")] * 2
    assert {row["RISC processor type"] for row in zones} == {"NCRISC"}


def test_processors_without_a_kernel_have_no_kernel_zone(chips):
    _, rows = log_rows(chips)
    runs = {row["run host ID"] for row in rows if row["zone name"] == "turns; and more"}
    mine = {row["zone name"] for row in rows if row["run host ID"] in runs}
    assert mine == {"BRISC-FW", "NCRISC-FW", "NCRISC-KERNEL", "turns; and more"}


def test_zones_of_cpp_kernels_are_nested_in_the_order_of_the_log(tmp_path):
    """Two inner zones one after the other: the first ends, where the second begins in the same cycle, before it."""
    pytest.importorskip("ziglang", reason="C++ kernels need the extra tensim[cpp]")
    source = tmp_path / "zoned.cpp"
    source.write_text(
        '#include "dataflow_api.h"\n'
        'void kernel_main() {\n    DeviceZoneScopedN("OUTER");\n'
        '    for (uint32_t i = 0; i < 2; i++) { DeviceZoneScopedN("INNER"); noc_async_read_barrier(); }\n}\n'
    )
    with recording() as record:
        with tt.create_device(0) as device:
            program = tt.create_program()
            tt.create_kernel(program, str(source), tt.CoreCoord(0, 0), tt.ReaderDataMovementConfig())
            tt.enqueue_program(device.command_queue(), program, blocking=True)
            tt.finish(device.command_queue())
    write_report(tmp_path, record)
    rows = [row for row in log_rows(Report(tmp_path))[1] if row["zone name"] in ("OUTER", "INNER")]
    assert [(row["zone name"], row["type"].removeprefix("ZONE_")) for row in rows] == [
        ("OUTER", "START"), ("INNER", "START"), ("INNER", "END"), ("INNER", "START"), ("INNER", "END"), ("OUTER", "END"),
    ]  # fmt: skip
    assert {row["source file"] for row in rows} == {str(source)}


# --- ops_perf_results_*.csv


def test_a_product_of_matrices_is_found_by_its_arithmetic(matmul):
    rows = operations(matmul)
    assert len(rows) == 2
    for row in rows:
        assert row["OP CODE"] == "MatmulDeviceOperation" and row["MATH FIDELITY"] == "HiFi2"
        assert row["ATTRIBUTES"] == "{'program': 'matmul_multicast'}"
        sizes = {
            name: [row[f"{name}_{axis}_PAD[LOGICAL]"] for axis in "YX"] for name in ("INPUT_0", "INPUT_1", "OUTPUT_0")
        }
        assert sizes == {
            "INPUT_0": ["256[256]", "512[512]"], "INPUT_1": ["512[512]", "256[256]"], "OUTPUT_0": ["256[256]", "256[256]"],
        }  # fmt: skip
        assert row["INPUT_1_MEMORY"] == "DEV_0_DRAM_INTERLEAVED" and row["OUTPUT_0_DATATYPE"] == "BFLOAT16"


def test_times_are_those_of_the_summary(matmul):
    rows, loops = operations(matmul), matmul.summary["loops"]
    assert [int(row["DEVICE KERNEL DURATION [ns]"]) for row in rows] == [
        pytest.approx(loop["cycles"], abs=1) for loop in loops
    ]
    assert [row["PROGRAM CACHE HIT"] for row in rows] == ["False", "True"]
    assert int(rows[0]["OP TO OP LATENCY [ns]"]) == 0 < int(rows[1]["OP TO OP LATENCY [ns]"])
    starts = [int(row["HOST START TS"]) for row in rows]
    assert starts == sorted(starts)


def test_waits_for_circular_buffers_are_those_of_the_summary(matmul):
    """The report's share of the unpack thread's time is of all its cores' time, the table's sum the same in ns."""
    waits = sum(float(row["DEVICE COMPUTE CB WAIT FRONT [ns]"]) for row in operations(matmul))
    # cycles of a 1 GHz clock
    totals = sum(int(row["data"]) for row in log_rows(matmul)[1] if row["zone name"] == "CB-COMPUTE-WAIT-FRONT")
    stalled = matmul.summary["breakdown"]["TRISC0"]["stalled"]
    share = sum(part for reason, part in stalled.items() if reason.startswith("cb_wait_front"))
    assert waits == pytest.approx(totals, abs=2) and (waits > 0) == (share > 0)


def test_run_ids_join_the_files(chips):
    rows = operations(chips)
    ids = [int(row["GLOBAL CALL COUNT"]) for row in rows]
    assert sorted(ids) == [1 << 10, 1 << 10 | 1, 2 << 10, 3 << 10, 4 << 10]
    assert {int(row["DEVICE ID"]) for row in rows} == {0, 1} and all(
        i & 1023 == int(row["DEVICE ID"]) for i, row in zip(ids, rows, strict=True)
    )
    logged = {int(row["run host ID"]) for row in log_rows(chips)[1]}
    views = {item["global_call_count"] for item in json.loads((chips.folder / "npe_viz/manifest.json").read_text())}
    assert logged == set(ids) and views == {1 << 10, 1 << 10 | 1}  # the other program moves nothing
    traces = [row["METAL TRACE REPLAY SESSION ID"] for row in rows if row["METAL TRACE ID"]]
    assert traces == ["1", "2"]


def test_what_is_no_product_is_not_named_matmul(tmp_path):
    folder = tmp_path / "report"
    run_program(Settings(program="eltwise_add", shape="64x64", tt_report=str(folder)))
    (path,) = folder.glob("ops_perf_results_*.csv")
    text = path.read_text()
    assert "EltwiseAddDeviceOperation" in text and "Matmul" not in text and "\nEltwise" in text


# --- NoC event traces and the NPE view


def test_noc_traces_are_named_and_told_as_tt_npe_wants(chips):
    names = sorted(path.name for path in chips.folder.glob("noc_trace_dev*.json"))
    assert len(names) == 5 and all(
        re.fullmatch(rf"noc_trace_dev[01]_\w+_ID\d+(_traceID{chips.trace})?\.json", name) for name in names
    )
    for path in chips.folder.glob("noc_trace_dev1_*.json"):
        events = json.loads(path.read_text())
        assert events and {event["src_device_id"] for event in events} == {1}
        assert {event["run_host_id"] for event in events} == {1025} and {"READ", "WRITE_"} <= {
            event.get("type") for event in events
        }
    topology = json.loads((chips.folder / "topology.json").read_text())
    assert topology["fabric_config"] == "DISABLED" and topology["device_id_to_fabric_node_id"] == {
        "0": [0, 0],
        "1": [0, 1],
    }


def view(report):
    manifest = json.loads((report.folder / "npe_viz/manifest.json").read_text())
    return json.loads((report.folder / "npe_viz" / manifest[0]["file"]).read_text())


def test_bytes_of_the_npe_view_are_those_that_the_program_moves(matmul):
    data = view(matmul)
    transfers, (m, k, n) = data["noc_transfers"], (256, 512, 256)
    moved = defaultdict(int)
    for transfer in transfers:
        moved[transfer["noc_event_type"]] += transfer["total_bytes"]
    assert (
        moved["READ"] == 2 * (m * k + k * n) and moved["WRITE_"] == 2 * m * n
    )  # bfloat16, each tile once over the grid
    multicasts = [t for t in transfers if t["noc_event_type"] == "WRITE_MULTICAST" and t["total_bytes"] > 4]
    assert {len(transfer["dst"]) for transfer in multicasts} == {3}  # the others of a row or column of four


def test_every_transfer_of_the_npe_view_is_active_and_on_its_route(matmul):
    data = view(matmul)
    active = {number for step in data["timestep_data"] for number in step["active_transfers"]}
    assert active == {transfer["id"] for transfer in data["noc_transfers"]}
    for transfer in data["noc_transfers"]:
        (segment,) = transfer["route"]
        noc = segment["noc_type"]
        ends = transfer["src"], transfer["dst"][0]
        first, last = reversed(ends) if transfer["noc_event_type"] == "READ" else ends
        assert segment["links"][0] == [*first, f"{noc}_IN"] and [*last, f"{noc}_OUT"] in segment["links"]
        assert 0 <= transfer["start_cycle"] < transfer["end_cycle"]


def test_the_load_of_links_adds_up_to_the_bytes_over_them(matmul):
    """Sum over time of percent of a link's capacity = bytes of the transfers over it."""
    data = view(matmul)
    step, demanded, moved = data["common_info"]["cycles_per_timestep"], defaultdict(float), defaultdict(int)
    for entry in data["timestep_data"]:
        for device, row, column, link, percent in entry["link_demand"]:
            demanded[device, row, column, link] += percent / 100 * step * 32  # bytes a cycle of Wormhole's links
    for transfer in data["noc_transfers"]:
        for link in transfer["route"][0]["links"]:
            moved[tuple(link)] += transfer["total_bytes"]
    assert demanded.keys() == moved.keys()
    for link, count in moved.items():
        assert demanded[link] == pytest.approx(count, rel=0.02, abs=64)


def test_zones_of_the_npe_view_are_nested():
    tree = {"id": "K[0]", "start": 0, "end": 90, "zones": []}
    nest(tree, [("outer", 110, 150), ("inner", 120, 130), ("inner", 130, 140), ("outer", 160, 170)], 100)
    assert [(zone["id"], len(zone["zones"])) for zone in tree["zones"]] == [("outer[0]", 2), ("outer[1]", 0)]
    assert [zone["id"] for zone in tree["zones"][0]["zones"]] == ["inner[0]", "inner[1]"]


# --- db.sqlite


def test_the_database_tells_operations_tensors_and_memory(matmul):
    with sqlite3.connect(matmul.folder / "db.sqlite") as database:
        ask = lambda sql: database.execute(sql).fetchall()  # noqa: E731
        assert [name for (name,) in ask("SELECT name FROM operations")] == ["MatmulDeviceOperation"] * 2
        assert ask("SELECT shape, dtype, layout FROM tensors LIMIT 1") == [
            ("Shape([1, 1, 256, 512])", "DataType.BFLOAT16", "Layout.TILE")
        ]
        assert ask("SELECT count(*) FROM input_tensors") == [(4,)] and ask("SELECT count(*) FROM output_tensors") == [
            (2,)
        ]
        assert ask("SELECT count(DISTINCT address) FROM buffers WHERE operation_id = 1") == [(3,)]
        sizes = dict(ask("SELECT address, sum(num_pages) FROM buffer_chunks WHERE operation_id = 1 GROUP BY address"))
        assert sorted(sizes.values()) == [64, 128, 128]  # tiles
        graph = json.loads(ask("SELECT captured_graph FROM captured_graph WHERE operation_id = 1")[0][0])
    kinds = [node["node_type"] for node in graph]
    assert kinds[0] == "capture_start" and kinds[-1] == "capture_end" and "circular_buffer_allocate" in kinds


def test_the_topology_of_a_mesh_has_its_places_and_links(tmp_path):
    with recording() as record, tt.open_mesh_device("p150_x4", links=1) as mesh:
        queue = mesh.devices[1].command_queue()
        tt.enqueue_program(queue, zoned(), blocking=True)
        write_report(tmp_path, record)
    cluster = yaml.safe_load((tmp_path / "cluster_descriptor.yaml").read_text())
    assert cluster["arch"] == dict.fromkeys(range(4), "blackhole")
    assert [place[:2] for place in cluster["chips"].values()] == [[0, 0], [1, 0], [0, 1], [1, 1]]
    ends = [sorted(end["chip"] for end in link) for link in cluster["ethernet_connections"]]
    assert sorted(ends) == [[0, 1], [0, 2], [1, 3], [2, 3]]
    ports = [(end["chip"], end["chan"]) for link in cluster["ethernet_connections"] for end in link]
    assert len(set(ports)) == len(ports)
    mapping = yaml.safe_load((tmp_path / "physical_chip_mesh_coordinate_mapping.yaml").read_text())
    assert mapping == {"chips": {number: place[:2] for number, place in cluster["chips"].items()}}


# --- what goes wrong


def test_a_report_of_nothing_is_refused(tmp_path):
    with pytest.raises(UsageError, match="nothing to report"):
        write_report(tmp_path, Recording())


def test_a_folder_that_cannot_be_is_refused_before_the_run(tmp_path, capsys):
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(UsageError, match="takes a folder|cannot write into"):
        require_folder(file / "below")
    assert exit_code("run", "add_integers", "--tt-report", str(file / "below")) == 2
    assert "cannot write into" in capsys.readouterr().err


def test_a_second_report_in_a_folder_replaces_the_first(tmp_path):
    for shape in ("64x64", "32x64"):
        run_program(Settings(program="eltwise_add", shape=shape, tt_report=str(tmp_path)))
    assert len(list(tmp_path.glob("ops_perf_results_*.csv"))) == 1
    with sqlite3.connect(tmp_path / "db.sqlite") as database:
        assert database.execute("SELECT count(*) FROM operations").fetchone() == (1,)


@pytest.mark.parametrize("name", ["noc_trace_dev0_ID1024.json", "ops_perf_results_2026.csv", "db.sqlite"])
def test_a_report_of_something_else_is_not_replaced(tmp_path, name, capsys):
    """Recordings of silicon look the same; nothing is deleted that tensim did not write."""
    (tmp_path / name).write_text("[]")
    assert exit_code("run", "add_integers", "--tt-report", str(tmp_path)) == 2
    assert f"tensim did not write ({name})" in capsys.readouterr().err
    assert (tmp_path / name).read_text() == "[]"


def test_grayskull_is_written_and_its_user_warned(tmp_path):
    summary = run_program(Settings(program="eltwise_add", arch="grayskull", shape="64x64", tt_report=str(tmp_path)))
    assert any("tt-perf-report knows no grayskull" in warning for warning in summary["warnings"])
    assert (tmp_path / "profile_log_device.csv").read_text().startswith("ARCH: grayskull")


def test_a_chip_of_ones_own_is_known_as_the_one_it_extends(tmp_path):
    chip = tmp_path / "mine.yaml"
    chip.write_text("extends: blackhole\nname: mine\nnoc: {hop_cycles: 12}\n")
    run_program(Settings(program="eltwise_add", arch=str(chip), shape="64x64", tt_report=str(tmp_path / "report")))
    assert (tmp_path / "report/profile_log_device.csv").read_text().startswith("ARCH: blackhole")


# --- tensors that their owners describe


def described(tmp_path, program, shape):
    """The rows of a run's operations."""
    run_program(Settings(program=program, shape=shape, grid="1x1", tt_report=str(tmp_path)))
    (path,) = tmp_path.glob("ops_perf_results_*.csv")
    with open(path) as file:
        return list(csv.DictReader(file))


def test_padded_and_logical_sizes_are_those_of_the_tensors(tmp_path):
    (row,) = described(tmp_path, "eltwise_add", "40x70")
    for name in ("INPUT_0", "INPUT_1", "OUTPUT_0"):
        assert [row[f"{name}_{axis}_PAD[LOGICAL]"] for axis in "WZYX"] == ["1[1]", "1[1]", "64[40]", "96[70]"]


def test_a_padded_product_is_one_of_the_padded_sizes(tmp_path):
    (row,) = described(tmp_path, "matmul_single_core", "40x70x20")
    assert row["OP CODE"] == "MatmulDeviceOperation"
    assert (row["INPUT_0_Y_PAD[LOGICAL]"], row["INPUT_0_X_PAD[LOGICAL]"]) == ("64[40]", "96[70]")
    assert (row["INPUT_1_Y_PAD[LOGICAL]"], row["INPUT_1_X_PAD[LOGICAL]"]) == ("96[70]", "32[20]")


@pytest.mark.parametrize(
    "a, b, c, flops, found",
    [
        ((64, 96), (96, 32), (64, 32), 2 * 64 * 96 * 32, (64, 96, 32)),
        ((4, 64, 96), (4, 96, 32), (4, 64, 32), 4 * 2 * 64 * 96 * 32, (64, 96, 32)),  # a batch
        ((4, 64, 96), (96, 32), (4, 64, 32), 4 * 2 * 64 * 96 * 32, (64, 96, 32)),
        ((64, 96), (64, 32), (64, 32), 2 * 64 * 96 * 32, None),
        ((64, 96), (96, 32), (64, 32), 2 * 64 * 96 * 32 + 1, None),
    ],
)
def test_described_operands_of_a_product(a, b, c, flops, found):
    assert described_product(*((shape, shape) for shape in (a, b, c)), flops) == found


def test_executions_beyond_those_that_a_chip_keeps_are_told(tmp_path, monkeypatch):
    monkeypatch.setattr(launch_work, "MAX_DETAILED", 2)
    with recording() as record:
        with tt.create_device(0) as device:
            program, queue = zoned(), device.command_queue()
            for _ in range(5):
                tt.enqueue_program(queue, program, blocking=True)
    (warning,) = write_report(tmp_path, record)
    assert warning.startswith("3 executions on device 0 are left out")
    assert len(operations(Report(tmp_path))) == 2
