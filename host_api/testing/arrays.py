"""Arrays that tests have pinned: FILE.tensim/TEST-NAME.npy for FILE.py, named by an entry of its baseline."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tensim.examples.result import ExampleResult
from tensim.sim.errors import UsageError
from tensim.sim.input_files import read_array
from tensim.sim.output_files import write_array
from tensim.testing import baseline

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from tensim.testing.baseline import Pin

FOLDER_SUFFIX = ".tensim"  # of the folder with the arrays of a test file
HINT = "remove the test's entry, and run pytest --tensim-update"


def write(path: Path, test: str, name: str, values: ArrayLike) -> None:
    """Pin an array in the baseline file at `path`."""
    file = _file(path, test, name)
    try:
        file.parent.mkdir(exist_ok=True)
        write_array(file, values)
    except OSError as error:
        raise UsageError(f"cannot write the array {file}: {error.strerror}") from error
    baseline.write(path, test, name, {"array": file.name})


def read(path: Path, pin: Pin) -> NDArray[Any]:
    """The array that an entry of the baseline file at `path` names."""
    try:
        return read_array(path.parent / _folder(path) / pin["array"])
    except UsageError as error:
        raise UsageError(str(error), hint=HINT) from error


def remove(path: Path, pins: Iterable[Pin]) -> None:
    """Delete the arrays that entries of the baseline file at `path` name, and the folder when nothing is left in it."""
    folder = path.parent / _folder(path)
    for pin in pins:
        (folder / pin["array"]).unlink(missing_ok=True)
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()


def differs(pinned: NDArray[Any], values: ArrayLike, tolerance: float | None, pcc: float | None) -> str | None:
    """How values differ from what was pinned, in words; None when they are close enough.

    `tolerance`: the largest relative error ||values - pinned|| / ||pinned||; `pcc`: the least correlation coefficient.  None:
    not looked at; both None: every value is the same.
    """
    if tolerance is None and pcc is None and np.array_equal(pinned, values, equal_nan=pinned.dtype.kind in "fc"):
        return None  # also what is no number is the same where it was none
    limit = tolerance if tolerance is not None else 0.0 if pcc is None else float("inf")
    found = ExampleResult(pinned, np.asarray(values), limit, 0, 0, "")
    if not found.verified:
        return found.comparison()["text"]
    if pcc is not None and found.pcc < pcc:
        return f"PCC {found.pcc:.6f}, at least {pcc:g} was wanted; relative error {found.error:.3g}"
    return None


def _folder(path: Path) -> str:
    return path.name.removesuffix(baseline.SUFFIX) + FOLDER_SUFFIX


def _file(path: Path, test: str, name: str) -> Path:
    """Where an array goes: a name that every file system takes, and that two tests do not share."""
    words = "-".join(re.sub(r"[^\w.=]+", "_", word) for word in (test, name))
    taken = {pin.get("array"): (t, n) for t, pins in baseline.read(path).items() for n, pin in pins.items()}
    number, file = 1, f"{words}.npy"
    while taken.get(file, (test, name)) != (test, name):
        number += 1
        file = f"{words}-{number}.npy"
    return path.parent / _folder(path) / file
