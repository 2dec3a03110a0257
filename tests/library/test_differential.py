"""Operations of the vendor's library against torch on both chips, `fast` and `exact`: no silent difference.

`python -m tests.library.test_differential ARCH NUMERICS [KIND OR NAME ...]` runs all cases, or those, and prints the differences;
TENSIM_DIFFERENTIAL_STEP=1 makes the tests run all as well, hours on a cold cache of kernels.
"""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tensim.library.environment import find_library
from tensim.sim.errors import UsageError

HERE = Path(__file__).parent
STOPPED = 3  # of differential.py
SAMPLE = 151  # of all cases every 151st, another part for each chip and mode
MODES = [(arch, numerics) for arch in ("wormhole_b0", "blackhole") for numerics in ("fast", "exact")]
try:
    LIBRARY = find_library()
except UsageError:
    LIBRARY = None


def outcomes(folder, arch, numerics, first=0, step=1, names=()):
    """[{"name", "type", "outcome", ...}] of every `step`-th case; a program is begun anew behind a launch that failed."""
    report = Path(folder) / f"{arch}-{numerics}.jsonl"
    words = [sys.executable, "-m", "tensim", "ttnn", "--library", "--python", LIBRARY.python]
    words += ["--arch", arch, "--numerics", numerics, str(HERE / "differential.py"), str(report)]
    while True:
        done = subprocess.run([*words, str(first), str(step), *names], capture_output=True, text=True)
        lines = [json.loads(line) for line in report.read_text().splitlines()] if report.exists() else []
        if done.returncode == 0:
            break
        if done.returncode != STOPPED:
            raise RuntimeError(f"the program ended with {done.returncode}: {done.stderr[-2000:]}")
        first = lines[-1]["number"] + step
    heads = {line["number"]: line for line in lines if "name" in line}
    return [heads[line["number"]] | line for line in lines if "outcome" in line]


def text_of(line):
    shown = "; ".join(f"{operands} gives {found}, not {expected}" for operands, found, expected in line["shown"][:3])
    return f"{line['name']} of {line['type']} ({line['result']}): {line['wrong']} of {line['of']}: {shown}"


@pytest.mark.skipif(LIBRARY is None, reason="no interpreter that has ttnn")
@pytest.mark.parametrize(("arch", "numerics"), MODES)
def test_no_operation_differs_silently(tmp_path, arch, numerics):
    step = int(os.environ.get("TENSIM_DIFFERENTIAL_STEP", SAMPLE))
    found = outcomes(tmp_path, arch, numerics, MODES.index((arch, numerics)) * step // len(MODES), step)
    assert [text_of(line) for line in found if line["outcome"] == "differs"] == []
    assert sum(line["outcome"] == "same" for line in found) >= len(found) // 4


@pytest.mark.skipif(LIBRARY is None, reason="no interpreter that has ttnn")
def test_what_was_wrong_once(tmp_path):
    """Minima that were sums, integers with signs, formats that were ignored, padding that counted."""
    found = outcomes(
        tmp_path, "blackhole", "fast", names=("min over -1", "logical_not", "div", "layer_norm", "rms_norm")
    )
    assert [text_of(line) for line in found if line["outcome"] == "differs"] == []
    assert {line["name"] for line in found if line["outcome"] == "same"} == {line["name"] for line in found}


def main(arch, numerics, *names):
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        found = outcomes(folder, arch, numerics, names=names)
    for line in found:
        if line["outcome"] == "differs":
            print(text_of(line))
        elif line["outcome"] == "refused":
            print(f"{line['name']} of {line['type']}: refused: {line['why'][-200:]}")
    print(dict(Counter(line["outcome"] for line in found)))


if __name__ == "__main__":
    main(*sys.argv[1:])
