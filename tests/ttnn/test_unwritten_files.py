"""Files of a ttnn program that cannot be written cost neither its report nor the others."""

import json
import os
import stat
import subprocess
import sys

import pytest

PROGRAM = """
import ttnn
device = ttnn.open_device(device_id=0)
a = ttnn.from_torch(__import__("numpy").ones((32, 32), "float32"), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
print("ran", flush=True)
ttnn.close_device(device)

"""


def run(folder, *options):
    program = folder / "program.py"
    program.write_text(PROGRAM)
    command = [sys.executable, "-m", "tensim.ttnn", *map(str, options), str(program)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


def test_a_full_disk_loses_no_report(tmp_path):
    full = tmp_path / "full"
    try:
        os.mknod(full, 0o666 | stat.S_IFCHR, os.makedev(1, 7))
        open(full, "wb").close()
    except PermissionError:
        pytest.skip("only root makes device nodes, where the file system has them")
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "result.json").symlink_to(full)
    page = tmp_path / "page.html"
    done = run(tmp_path, "--json", full, "--html", page, "-o", folder)
    assert done.stdout == "ran\n" and done.returncode == 2 and "Traceback" not in done.stderr
    for path in (full, folder / "result.json"):
        assert f"error: cannot write {path}: No space left on device" in done.stderr
    assert page.stat().st_size and (folder / "log.txt").stat().st_size and stat.S_ISCHR(full.stat().st_mode)


def test_a_link_is_followed(tmp_path):
    link = tmp_path / "link.json"
    link.symlink_to("real.json")
    assert run(tmp_path, "--json", link).returncode == 0
    assert link.is_symlink() and json.loads((tmp_path / "real.json").read_text())


def test_a_file_that_cannot_be_written_is_said_before_the_program_runs(tmp_path):
    done = run(tmp_path, "--json", tmp_path)
    assert done.returncode == 2 and "Is a directory" in done.stderr and done.stdout == ""
