"""The same facts told by ttnn itself, where an interpreter that has it is named by TENSIM_TTNN_PYTHON.

It needs what lets ttnn run without a card (TT_METAL_MOCK_CLUSTER_DESC_PATH and a compiler it can call) in its environment.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

FACTS = Path(__file__).with_name("facts.py")


def told_by(python, module):
    done = subprocess.run([python, FACTS, module], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    noise = "critical |", "TT_FATAL", "TT_THROW"
    return [line for line in done.stdout.splitlines() if not any(word in line for word in noise)]


@pytest.mark.skipif("TENSIM_TTNN_PYTHON" not in os.environ, reason="no interpreter with ttnn (TENSIM_TTNN_PYTHON)")
def test_both_tell_the_same():
    ours, theirs = told_by(sys.executable, "tensim.ttnn"), told_by(os.environ["TENSIM_TTNN_PYTHON"], "ttnn")
    differences = [(mine, other) for mine, other in zip(ours, theirs, strict=True) if mine != other]
    assert not differences, f"{len(differences)} of {len(ours)} facts differ, first: {differences[:3]}"
