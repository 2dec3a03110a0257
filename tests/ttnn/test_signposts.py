"""Signposts of a program: names between its operations, in rows of reports and of tools' tables."""

import json
import subprocess
import sys

from tests.ttnn.test_programs import NOTHING

PROGRAM = f"""
import numpy as np
import ttnn
from tracy import signpost

device = ttnn.open_device(device_id=0)
values = ttnn.from_torch(np.ones((32, 32), np.float32), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
cores = ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (1, 0))])
kernel = ttnn.KernelDescriptor(
    {NOTHING!r}, ttnn.KernelDescriptor.SourceType.SOURCE_CODE, core_ranges=cores, config=ttnn.ReaderConfigDescriptor()
)
for name in ("warm up", "measured"):
    signpost(name)
    ttnn.generic_op([values, values], ttnn.ProgramDescriptor(kernels=[kernel]))
ttnn.close_device(device)
"""


def test_operations_stand_behind_the_signpost_that_was_put_last(tmp_path):
    """Also when the program does not wait for them before it puts the next."""
    (tmp_path / "program.py").write_text(PROGRAM)
    files = ("--json", "out.json", "--html", "out.html", "--tt-report", "report")
    words = [sys.executable, "-m", "tensim", "ttnn", *files, "program.py"]
    done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "out.json").read_text())
    assert [one["signpost"] for one in found["operations"]] == ["warm up", "measured"]
    assert [(one["signpost"], one["launches"]) for one in found["by_signpost"]] == [("warm up", 1), ("measured", 1)]
    assert "Time by signpost" in (tmp_path / "out.html").read_text()
    (table,) = (tmp_path / "report").glob("ops_perf_results_*.csv")
    kinds = [line.split(",")[1] for line in table.read_text().splitlines()[1:]]
    assert kinds == ["signpost", "tt_dnn_device", "signpost", "tt_dnn_device"]
