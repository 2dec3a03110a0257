"""tt-metal's device profiler: its zones' names, its room in firmware, its log on a chip at register level; a release that is built
with it lies beside the one of TENSIM_LIBRARY_PYTHON (tests/library/wheels.py)."""

import csv
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from tensim.drop_in.command_line import read
from tensim.drop_in.compiler import compile
from tensim.drop_in.profiler import LOG, finish, require_profiler
from tensim.drop_in.profiler_report import REPORT
from tensim.library.environment import Library
from tensim.sim.arch import load_arch
from tensim.sim.errors import UsageError
from tests.drop_in.test_firmware import PYTHON, SUMS, run
from tests.library.wheels import PROFILED

RELEASE = Path(PYTHON or "").absolute().parent.parent / PROFILED
HEADER = "ARCH: wormhole_b0, CHIP_FREQ[MHz]: "
CORES = ("BRISC", "NCRISC", "TRISC_0", "TRISC_1", "TRISC_2")
COLUMNS = (
    "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, run host ID, trace id, "
    "trace id counter, zone name, type, source line, source file, meta data"
)
ZONES = (("FW", "START", 1000), ("KERNEL", "START", 1030), ("KERNEL", "END", 1090), ("FW", "END", 1100))
ZONE = """#define TEXT(name) name "," __FILE__ "," "2" ",KERNEL_PROFILER"
#define SAY(x) _Pragma(#x)
#define ZONE(name) SAY(message(TEXT(name)))

int f() { ZONE("ALL"); return 0; }
"""


def log_row(core, kind, side, at):
    return f"0,1,2,{core},7,{at},0,5,,,{core}-{kind},ZONE_{side},1,a.cc,"


def table_of(path):
    with open(path) as file:
        return list(csv.DictReader(file))


def test_names_of_zones_are_said_as_gcc_says_them(tmp_path):
    (tmp_path / "a.cpp").write_text(ZONE)
    command = ["-mcpu=tt-wh", "-Os", "-c", "a.cpp", "-o", "a.o"]
    assert compile(command, tmp_path) == (0, b"")
    said = b"a.cpp:5:1: note: '#pragma message: ALL,a.cpp,2,KERNEL_PROFILER'\n"
    for _ in range(2):  # of an object that is kept, too
        assert compile(["-DPROFILE_KERNEL=1", *command], tmp_path) == (0, said)


@pytest.mark.parametrize(
    "defines, level",
    [
        ("", "O3"),
        ("-DPROFILE_KERNEL=1", "O3"),
        ("-DFW_BUILD -DPROFILE_KERNEL=1", "Os"),
        ("-DFW_BUILD -DWATCHER_ENABLED", "Oz"),
    ],
)
def test_firmware_with_zones_is_compiled_for_its_room(defines, level, tmp_path):
    assert read(f"-mcpu=tt-wh -O3 {defines} -c x.cpp".split(), tmp_path).level == level


@pytest.mark.parametrize("said, clock", [("0", "1000"), ("900", "900")])
def test_the_log_has_a_clock_and_a_table(said, clock, tmp_path):
    place = SimpleNamespace(arch=load_arch("wormhole_b0"), library=SimpleNamespace(folder=tmp_path))
    assert finish(tmp_path, place, []) == ()
    (tmp_path / LOG).parent.mkdir()
    rows = [log_row("BRISC", kind, side, at) for kind, side, at in ZONES] + [log_row("ERISC", "FW", "START", 3)]
    (tmp_path / LOG).write_text("\n".join([f"{HEADER}{said}", COLUMNS, *rows, ""]))
    assert finish(tmp_path, place, []) == (tmp_path / LOG, tmp_path / REPORT)
    assert (tmp_path / LOG).read_text().splitlines()[0] == f"{HEADER}{clock}"
    (row,) = table_of(tmp_path / REPORT)
    assert row["OP CODE"] == "Program5" and row["DEVICE FW DURATION [ns]"] == "100"
    assert row["DEVICE BRISC KERNEL DURATION [ns]"] == row["DEVICE KERNEL DURATION [ns]"] == "60"
    assert row["DEVICE NCRISC KERNEL DURATION [ns]"] == "" and row["CORE COUNT"] == "1"


def test_a_release_without_its_profiler_is_refused(tmp_path):
    library = Library("python", tmp_path / "ttnn", "0.81.1")
    place = tmp_path / "ttnn.libs"
    place.mkdir()
    (place / "libtracy-1.so").write_bytes(b"empty functions")
    with pytest.raises(UsageError, match="built without its device profiler"):
        require_profiler(library)
    (place / "libtracy-2.so").write_bytes(b"..TRACY_PORT..")
    require_profiler(library)


def zones_of(log):
    """{(run, x, y, core): [(begin, end) of its firmware, of its kernel]} of a log."""
    with open(log) as file:
        assert file.readline() == f"{HEADER}1000\n"
        rows = [{name.strip(): value for name, value in row.items()} for row in csv.DictReader(file)]
    found = {}
    for row in rows:
        where = row["run host ID"], row["core_x"], row["core_y"], row["RISC processor type"]
        kind = row["zone name"].rpartition("-")[2]
        found.setdefault(where, {}).setdefault(kind, []).append((row["type"], int(row["time[cycles since reset]"])))
    return found


@pytest.mark.skipif(not RELEASE.is_dir(), reason="no release that is built with its profiler")
def test_the_log_of_a_program_tells_when_its_firmware_and_kernels_ran(tmp_path, monkeypatch):
    """Each processor's kernel lies within its firmware's zone, and that within the launch that the chip saw."""
    monkeypatch.setenv("PYTHONPATH", str(RELEASE))
    said, device = run("wormhole_b0", "slow", SUMS, tmp_path / "device.json", options=["--profile", str(tmp_path)])
    assert "sums True products True" in said
    zones, launches = zones_of(tmp_path / LOG), device["launches"]
    runs = sorted({where[0] for where in zones}, key=int)
    assert len(runs) == len(launches) == 2
    for number, launch in zip(runs, launches, strict=True):
        mine = {where: parts for where, parts in zones.items() if where[0] == number}
        assert {where[3] for where in mine} == set(CORES) and len(mine) == len(CORES) * launch["cores"]
        for parts in mine.values():
            (begin, first), (end, last) = parts["FW"]
            (kernel_begin, start), (kernel_end, stop) = parts["KERNEL"]
            assert (begin, end) == (kernel_begin, kernel_end) == ("ZONE_START", "ZONE_END")
            assert launch["begin_cycles"] <= first < start < stop < last <= launch["end_cycles"]
    assert [one["operation"] for one in launches] == ["ttnn.add", "ttnn.multiply"]
    opens_in_tt_perf_report(tmp_path / REPORT, ["AddDeviceOperation", "MultiplyDeviceOperation"])
    agrees_with_the_vendors_tool(tmp_path)


def agrees_with_the_vendors_tool(folder):
    """Durations of the table are those which the vendor's tool finds in the same log."""
    ours = table_of(folder / REPORT)
    command = [PYTHON, "-m", "tracy.process_ops_logs", "--device-only"]  # writes to the same place
    subprocess.run(command, check=True, capture_output=True, env=os.environ | {"TT_METAL_PROFILER_DIR": str(folder)})
    theirs = table_of(folder / REPORT)
    assert len(theirs) == len(ours) == 2
    for mine, row in zip(ours, theirs, strict=True):
        assert {name: mine[name] for name in row} == row


def opens_in_tt_perf_report(path, names):
    pytest.importorskip("tt_perf_report")
    done = subprocess.run(
        [Path(sys.executable).with_name("tt-perf-report"), "--no-color", path], capture_output=True, text=True
    )
    assert done.returncode == 0 and all(name in done.stdout for name in names), done.stdout + done.stderr


@pytest.mark.skipif(PYTHON is None, reason="no interpreter that has ttnn")
def test_the_newest_release_says_that_it_has_none(tmp_path):
    command = [
        sys.executable,
        "-m",
        "tensim",
        "device",
        "--arch",
        "blackhole",
        "--profile",
        str(tmp_path),
        "--",
        PYTHON,
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2 and "is built without its device profiler" in done.stderr
    assert "--python" in done.stderr
