"""The same programs on the vendor's functional simulator, which has no time, and here: the same bits.

TENSIM_FUNCTIONAL_SIMULATORS names the folder in which its build puts release_wh and release_bh; TENSIM_LIBRARY_PYTHON names an
interpreter that has ttnn.  It knows no SFPLOADMACRO, without which kernels are built here.

`python -m tests.drop_in.test_functional_simulator CHIP [CASE ...]` runs all cases of tests/library/cases.py, or those.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tensim.drop_in.runner import place_of

CASES = Path(__file__).parents[1] / "library" / "cases.py"
FOLDER, PYTHON = (os.environ.get(name) for name in ("TENSIM_FUNCTIONAL_SIMULATORS", "TENSIM_LIBRARY_PYTHON"))
BUILDS = {"wormhole_b0": "release_wh", "blackhole": "release_bh"}
SAMPLE = ("add_l1", "gelu", "matmul_square", "softmax_rows", "transpose", "sum_rows")
WITHOUT_MACROS = {"TT_METAL_DISABLE_SFPLOADMACRO": "1"}


def digests(report):
    """{case: digest of its result, or what was raised}."""
    lines = map(json.loads, report.read_text().splitlines()) if report.exists() else ()
    return {line["name"]: line.get("digest") or line["raised"] for line in lines}


def there(chip, names, folder):
    """`digests` of the functional simulator; a case at which it stops is missing."""
    place, folder = place_of(chip, {}, PYTHON), Path(folder)
    for description in place.surroundings.device.glob("*.yaml"):
        shutil.copy(description, folder)
    library = Path(shutil.copy(Path(FOLDER, BUILDS[chip], "libttsim.so"), folder))
    variables = os.environ | place.variables("") | WITHOUT_MACROS | {"TT_METAL_SIMULATOR": str(library)}
    found = {}
    for name in names:
        subprocess.run([PYTHON, CASES, folder / "report", name], env=variables, capture_output=True, timeout=1000)
        found |= digests(folder / "report")
        (folder / "report").unlink(missing_ok=True)
    return found


def here(chip, names, folder):
    """`digests` of our chip at register level."""
    report = Path(folder, "ours")
    command = [
        sys.executable,
        "-m",
        "tensim",
        "device",
        "--arch",
        chip,
        "--python",
        PYTHON,
        "--",
        PYTHON,
        CASES,
        report,
    ]
    subprocess.run([*command, *names], env=os.environ | WITHOUT_MACROS, capture_output=True, timeout=4000)
    return digests(report)


@pytest.mark.skipif(not FOLDER or not PYTHON, reason="no functional simulator, or no interpreter that has ttnn")
@pytest.mark.timeout(4000)
@pytest.mark.parametrize("chip", list(BUILDS))
def test_the_same_bits(chip, tmp_path):
    theirs = there(chip, SAMPLE, tmp_path)
    assert set(theirs) == set(SAMPLE)
    assert here(chip, SAMPLE, tmp_path) == theirs


def main(chip, *names):
    """Compare, and print what differs."""
    listed = names or json.loads(
        subprocess.run([sys.executable, "-c", NAMES, CASES], capture_output=True, text=True).stdout
    )
    with tempfile.TemporaryDirectory() as folder:
        theirs, ours = there(chip, listed, folder), here(chip, listed, folder)
    for name in listed:
        if name not in theirs or ours.get(name) != theirs[name]:
            print(name, "there:", theirs.get(name, "stopped"), "here:", ours.get(name, "stopped"))
    print(
        sum(name in theirs and ours.get(name) == theirs[name] for name in listed),
        "of",
        len(listed),
        "have the same bits",
    )


# names of the cases, without their module's device
NAMES = """
import ast, json, pathlib, sys
files = sorted(pathlib.Path(sys.argv[1]).with_name("case_groups").glob("*.py"))
functions = [one for file in files for one in ast.parse(file.read_text()).body if isinstance(one, ast.FunctionDef)]
print(json.dumps([one.name for one in functions if any("case" in ast.unparse(mark) for mark in one.decorator_list)]))
"""

if __name__ == "__main__":
    main(*sys.argv[1:])
