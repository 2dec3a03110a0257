"""The same facts told by ttnn itself, where an interpreter that has it is named by TENSIM_TTNN_PYTHON.

It needs what lets ttnn run without a card (TT_METAL_MOCK_CLUSTER_DESC_PATH and a compiler it can call) in its environment.
TENSIM_TTNN_ARCH=blackhole: its card is a Blackhole of which nothing is harvested; otherwise it is a Wormhole N150.
TENSIM_TTNN_COUNT: number of random specifications, 1,000 unless given; TENSIM_TTNN_SEED chooses others.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ON_BLACKHOLE = os.environ.get("TENSIM_TTNN_ARCH") == "blackhole"
WHOLE_BLACKHOLE = "extends: blackhole\nname: blackhole\nboards:\n  default: p150_13x10\n"
pytestmark = pytest.mark.skipif("TENSIM_TTNN_PYTHON" not in os.environ, reason="no ttnn (TENSIM_TTNN_PYTHON)")


def told_by(python, *command):
    done = subprocess.run([python, *command], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    noise = "critical |", "TT_FATAL", "TT_THROW"
    return [line for line in done.stdout.splitlines() if not any(word in line for word in noise)]


@pytest.mark.skipif(ON_BLACKHOLE, reason="these facts are about the grid of a Wormhole")
def test_both_tell_the_same():
    facts = HERE / "facts.py"
    ours, theirs = (
        told_by(sys.executable, facts, "tensim.ttnn"),
        told_by(os.environ["TENSIM_TTNN_PYTHON"], facts, "ttnn"),
    )
    differences = [(mine, other) for mine, other in zip(ours, theirs, strict=True) if mine != other]
    assert not differences, f"{len(differences)} of {len(ours)} facts differ, first: {differences[:3]}"


def cases_of(python, count, *command):
    """What becomes of each random specification; those at which the library divides by zero are left out."""
    found, start = {}, 0
    while start < count:
        done = subprocess.run(
            [python, HERE / "specifications.py", *command, str(start)], capture_output=True, text=True
        )
        lines = [line for line in done.stdout.splitlines() if line.startswith("case ")]
        found |= {int(line.split()[1]): line for line in lines}
        start = max(found, default=-1) + 1 if lines else start + 1
        start += bool(lines) and start < count  # the one at which it stopped
    return found


def test_random_specifications_give_the_same(tmp_path):
    arch = "wormhole_b0"
    if ON_BLACKHOLE:
        arch = tmp_path / "whole.yaml"
        arch.write_text(WHOLE_BLACKHOLE)
    count, seed = os.environ.get("TENSIM_TTNN_COUNT", "1000"), os.environ.get("TENSIM_TTNN_SEED", "1")
    ours = cases_of(sys.executable, int(count), "tensim.ttnn", str(arch), seed, count)
    theirs = cases_of(os.environ["TENSIM_TTNN_PYTHON"], int(count), "ttnn", str(arch), seed, count)
    assert len(ours) == int(count) and len(theirs) > 0.95 * len(ours)
    differences = [(ours[number], line) for number, line in theirs.items() if line != ours[number]]
    assert not differences, (
        f"{len(differences)} of {len(theirs)} differ, first:\n{differences[0][0]}\n{differences[0][1]}"
    )
