"""What tests have pinned, in a YAML file beside each test file: FILE.tensim.yaml for FILE.py.

A pin is {"checked": {...}, "explains": {...}}.  Checked are the cycles, profiler zones, cycles per core and the outcome (whether
the output was right, hashes of the memories); the rest only explains a difference.
"""

import fcntl
import os
from contextlib import contextmanager
from pathlib import Path

import yaml

from tensim.results import comparison
from tensim.sim.errors import UsageError
from tensim.sim.output_files import write_output

SUFFIX = ".tensim.yaml"
HEADER = "# What tensim measured in the tests of {name}; `pytest --tensim-update` writes it anew.\n"
CHECKED = ("totals", "operations", "zones", "cores")  # sections of figures
EXPLAINING = ("stalls", "lines")
VOLATILE = (
    "tensim_version",
    "code_sha256",
    "program_sha256",
    "arch_sha256",
)  # change without changing what is measured
HASH_DIGITS = 12  # of a kernel's hash: enough to see that it is another one
LINES = 20


def path_of(test_file):
    """The baseline file of a test file."""
    return Path(test_file).with_suffix(SUFFIX)


def pin_of(result):
    """What is pinned of a result, as plain data."""
    figures = comparison.figures(result)
    figures["totals"] = {"cycles": result.cycles}
    lines = sorted(figures["lines"].items(), key=lambda item: (-item[1], item[0]))[:LINES]
    figures["lines"] = dict(lines)
    ran = {name: value for name, value in comparison.ran(result).items() if name not in VOLATILE and value is not None}
    ran = {name: value[:HASH_DIGITS] if name.endswith(", text") else value for name, value in ran.items()}
    return {
        "checked": {name: figures[name] for name in CHECKED if figures[name]} | {"outcome": comparison.outcome(result)},
        "explains": {name: figures[name] for name in EXPLAINING} | {"ran": ran},
    }


def compared(name, pinned, measured):
    """The `Comparison` of two pins."""
    sides = []
    for pin in (pinned, measured):
        figures = {key: pin["checked"].get(key, {}) for key in CHECKED}
        sides.append(figures | {key: pin["explains"].get(key, {}) for key in EXPLAINING})
    return comparison.Comparison(
        name, name, comparison.changes(*sides),
        comparison.differences(pinned["explains"].get("ran", {}), measured["explains"]["ran"]),
        comparison.differences(pinned["checked"].get("outcome", {}), measured["checked"]["outcome"]),
    )  # fmt: skip


def broken(compared, tolerance):
    """The names of the checked figures that moved by more than a share, and of outcomes that changed."""
    moved = [
        change.name for section in CHECKED for change in compared.changes[section] if abs(change.relative) > tolerance
    ]
    return moved + [name for name, _, _ in compared.outcome]


def read(path):
    """{test: {name: pin}} of a baseline file, nothing when it is not there; UsageError when it is damaged."""
    try:
        data = yaml.safe_load(path.read_text())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise UsageError(f"cannot read the baseline {path}: {error}", hint=HINT) from error
    pins = {} if data is None else data
    if not isinstance(pins, dict) or not all(isinstance(names, dict) for names in pins.values()):
        raise UsageError(f"{path} is no baseline of tensim", hint=HINT)
    for test, names in pins.items():
        for name, pin in names.items():
            if not _is_sound(pin):
                raise UsageError(f"{path}: the figures of {name} in {test} are damaged", hint=HINT)
    return pins


def _is_sound(pin):
    """Whether data has the shape of `pin_of`."""
    parts = [pin.get("checked"), pin.get("explains")] if isinstance(pin, dict) else [None]
    tables = [table for part in parts for table in (part.values() if isinstance(part, dict) else [None])]
    return all(isinstance(table, dict) for table in tables) and "cycles" in parts[0].get("totals", ())


HINT = "remove the file, or the test's entry, and run pytest --tensim-update"


def write(path, test, name, pin):
    """Put a pin into a baseline file; tests of other processes may do so at the same time."""
    try:
        with _locked(path):
            pins = read(path)
            pins.setdefault(test, {})[name] = pin
            text = yaml.safe_dump(pins, sort_keys=True, width=120)
            write_output(path, HEADER.format(name=path.name.removesuffix(SUFFIX) + ".py") + text)
    except OSError as error:
        raise UsageError(f"cannot write the baseline {path}: {error.strerror}") from error


@contextmanager
def _locked(path):
    """Hold the folder of a file, so that nothing but the file is made there."""
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)
