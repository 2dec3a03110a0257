"""Programs of the vendor's library on its functional simulator, which has no time, and here, by slow dispatch: the same bits.

`python -m tests.drop_in.test_functional_simulator CHIP [CASE ...]` runs all cases of tests/library/cases.py, or those.
"""

import ast
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

from tests.drop_in import functional_simulator
from tests.drop_in.functional_simulator import BUILDS, FOLDER, PYTHON, WITHOUT_MACROS

CASES = Path(__file__).parents[1] / "library" / "cases.py"
SAMPLE = ("add_l1", "gelu", "matmul_square", "softmax_rows", "transpose", "sum_rows")


def listed():
    """Names of all cases; their modules open a device when they are imported, so that their text is read."""
    files = sorted(CASES.with_name("case_groups").glob("*.py"))
    functions = [one for file in files for one in ast.parse(file.read_text()).body if isinstance(one, ast.FunctionDef)]
    return [one.name for one in functions if any("case" in ast.unparse(mark) for mark in one.decorator_list)]


def found_in(folder, names):
    """{case: its values, or what was raised} of what `cases.py` has left in a folder; a case in which it stopped is missing."""
    report = Path(folder, "report")
    lines = map(json.loads, report.read_text().splitlines()) if report.exists() else ()
    raised = {line["name"]: line["raised"] for line in lines}
    values = {name: Path(folder, f"{name}.npy") for name in names}
    return {name: np.load(values[name]) if values[name].exists() else raised[name] for name in names if name in raised}


def there(chip, names, folder):
    """`found_in` of the functional simulator, which ends the process at what it refuses: each case has its own."""
    found, environment = {}, functional_simulator.environment_of(chip, folder) | {"TENSIM_CASES_VALUES": str(folder)}
    for name in names:
        subprocess.run([PYTHON, CASES, folder / "report", name], env=environment, capture_output=True, timeout=1000)
        found |= found_in(folder, [name])
        (folder / "report").unlink(missing_ok=True)
    return found


def here(chip, names, folder):
    """`found_in` of our chip at register level."""
    words = [sys.executable, "-m", "tensim", "device", "--arch", chip, "--python", PYTHON, "--"]
    environment = os.environ | WITHOUT_MACROS | {"TENSIM_CASES_VALUES": str(folder)}
    subprocess.run(
        [*words, PYTHON, CASES, folder / "report", *names], env=environment, capture_output=True, timeout=4000
    )
    return found_in(folder, names)


def compare(chip, names, folder):
    """{case: "same", or what is not}."""
    places = [Path(folder, name) for name in ("there", "here")]
    for place in places:
        place.mkdir()
    theirs, ours = there(chip, names, places[0]), here(chip, names, places[1])
    return {name: _compared(theirs.get(name), ours.get(name)) for name in names}


def _compared(there, here):
    for side, values in (("there", there), ("here", here)):
        if values is None or isinstance(values, str):
            return f"refused {side}: {values or 'the process has ended'}"
    if there.shape != here.shape:
        return f"differs: shape {there.shape} there and {here.shape} here"
    wrong = np.flatnonzero(there.view(np.uint64) != here.view(np.uint64))
    if not len(wrong):
        return "same"
    first = tuple(map(int, np.unravel_index(wrong[0], there.shape)))
    return f"differs: at {first} {there[first]!r} there and {here[first]!r} here; {len(wrong)} of {there.size} values"


def test_what_differs_is_told_by_its_first_place():
    values = np.zeros((2, 3))
    changed = values.copy()
    changed[1, 1] = -0.0
    text = _compared(values, changed)
    assert _compared(values, values) == "same"
    assert text.startswith("differs: at (1, 1) ") and text.endswith("; 1 of 6 values")
    assert _compared(None, values).startswith("refused there")
    assert _compared(values, "why").startswith("refused here: why")


@pytest.mark.skipif(not FOLDER or not PYTHON, reason="no functional simulator, or no interpreter that has ttnn")
@pytest.mark.timeout(4000)
@pytest.mark.parametrize("chip", list(BUILDS))
def test_the_same_bits(chip, tmp_path):
    assert compare(chip, SAMPLE, tmp_path) == dict.fromkeys(SAMPLE, "same")


def main(chip, *names):
    """Compare, and print what is not the same."""
    with tempfile.TemporaryDirectory() as folder:
        found = compare(chip, names or listed(), folder)
    for name, text in found.items():
        if text != "same":
            print(f"{name}: {text}")
    print(sum(text == "same" for text in found.values()), "of", len(found), "have the same bits")


if __name__ == "__main__":
    main(*sys.argv[1:])
