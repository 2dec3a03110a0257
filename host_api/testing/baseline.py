"""What tests have pinned, in a YAML file beside each test file: FILE.tensim.yaml for FILE.py.

A pin is {"checked": {...}, "explains": {...}}.  Checked are the cycles, the time from start to end, profiler zones, cycles per
core and the outcome (whether the output was right, hashes of the memories); the rest only explains a difference: the largest
stalls and kernel lines, and what ran, tensim and the parameters of its chip included.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import yaml

from tensim.results import comparison
from tensim.sim.arch import load_arch
from tensim.sim.errors import UsageError
from tensim.sim.output_files import write_output

if TYPE_CHECKING:
    from tensim.results.comparison import Comparison
    from tensim.results.result import Result

Pin: TypeAlias = dict[str, Any]  # plain data: see above, or `tensim.testing.arrays`
Pins: TypeAlias = dict[str, dict[str, Pin]]  # by test and name
SUFFIX = ".tensim.yaml"
HEADER = "# What tensim measured in the tests of {name}; `pytest --tensim-update` writes it anew.\n"
CHECKED = ("totals", "operations", "zones", "cores")  # sections of figures
EXPLAINING = ("stalls", "lines")
TIMES = ("cycles", "span_cycles")  # the totals that are pinned
OF_SOURCES = ("code_sha256", "program_sha256")  # change with every comment: kernels have hashes of their own
ARCH = "parameters of the chip"  # what the hash over them is called: `arch_sha256` says nothing to a reader
EXPLAINED = 8  # stalls and kernel lines that are kept
SECTIONS = "sections of the chip"
HASH_DIGITS = 12  # of a hash: enough to see that it is another one
SECTION_DIGITS = 6  # of that of a section of the chip's parameters, which only says where a difference is


def path_of(test_file: str | Path) -> Path:
    """The baseline file of a test file."""
    return Path(test_file).with_suffix(SUFFIX)


def pin_of(result: Result) -> Pin:
    """What is pinned of a result, as plain data."""
    figures = _figures(result)
    explains = {name: _largest(figures[name], EXPLAINED) for name in EXPLAINING}
    return {
        "checked": {name: figures[name] for name in CHECKED if figures[name]} | {"outcome": comparison.outcome(result)},
        "explains": explains | {"ran": _ran(result)},
    }


def _figures(result: Result) -> dict[str, dict[str, Any]]:
    figures = comparison.figures(result)
    return figures | {"totals": {name: figures["totals"][name] for name in TIMES}}


def _largest(figures: dict[str, float], count: int) -> dict[str, float]:
    return dict(sorted(figures.items(), key=lambda item: (-item[1], item[0]))[:count])


def _ran(result: Result) -> dict[str, Any]:
    """{what: value} of what ran, as far as it was chosen."""
    ran = {name: value for name, value in comparison.ran(result).items() if name not in OF_SOURCES}
    ran[ARCH] = ran.pop("arch_sha256", None)
    ran[SECTIONS] = _sections(result.identity)
    hashes = {name: ran[name][:HASH_DIGITS] for name in ran if ran[name] and (name == ARCH or name.endswith(", text"))}
    return {name: value for name, value in (ran | hashes).items() if value not in (None, [], {})}


def _sections(identity: dict[str, Any]) -> str | None:
    """Text "noc HASH, ...", a hash for each section of the chip's parameters, so that a change says where it is.

    None when the chip cannot be made anew from its file and what was changed in it.
    """
    try:
        arch = load_arch(identity["arch_file"], identity["overrides"] | {"board": identity["board"]})
    except (KeyError, UsageError):
        return None
    if arch.digest != identity["arch_sha256"]:
        return None
    texts = {}
    for key, value in sorted(arch.values().items()):
        section = key.partition(".")[0]
        texts[section] = f"{texts.get(section, '')}{key} {value}\n"
    hashes = (f"{name} {hashlib.sha256(text.encode()).hexdigest()[:SECTION_DIGITS]}" for name, text in texts.items())
    return ", ".join(hashes)


def _by_section(ran: dict[str, Any]) -> dict[str, Any]:
    """What ran with an entry for each section of the chip's parameters."""
    words = (entry.partition(" ") for entry in str(ran.get(SECTIONS, "")).split(", ") if entry)
    return {name: value for name, value in ran.items() if name != SECTIONS} | {
        f"{ARCH}, {name}": digest for name, _, digest in words
    }


def compared(name: str, pinned: Pin, result: Result) -> Comparison:
    """The `Comparison` of a pin and a `Result`."""
    after = _figures(result)
    before = {key: pinned["checked"].get(key, {}) for key in CHECKED}
    for key in EXPLAINING:
        kept = before[key] = pinned["explains"].get(key, {})
        least = min(kept.values()) if len(kept) >= EXPLAINED else 0
        # what the pin does not name was no larger than the least that it names: if it is now, it has grown
        after[key] = {what: value for what, value in after[key].items() if what in kept or value > least}
    return comparison.Comparison(
        name, name, comparison.changes(before, after),
        comparison.differences(_by_section(pinned["explains"].get("ran", {})), _by_section(_ran(result))),
        comparison.differences(pinned["checked"].get("outcome", {}), comparison.outcome(result)),
    )  # fmt: skip


def broken(compared: Comparison, tolerance: float) -> list[str]:
    """The names of the checked figures that moved by more than a share, and of outcomes that changed."""
    moved = [
        change.name for section in CHECKED for change in compared.changes[section] if abs(change.relative) > tolerance
    ]
    return moved + [name for name, _, _ in compared.outcome]


def read(path: Path) -> Pins:
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
                raise UsageError(
                    f"{path}: the figures of {name} in {test} are damaged, or of an older tensim", hint=HINT
                )
    return pins


def _is_sound(pin: Any) -> bool:
    """Whether data has the shape of `pin_of`, or of what is pinned of an array (`tensim.testing.arrays`)."""
    if isinstance(pin, dict) and "array" in pin:
        return isinstance(pin["array"], str)
    parts: list[Any] = [pin.get("checked"), pin.get("explains")] if isinstance(pin, dict) else [None]
    tables = [table for part in parts for table in (part.values() if isinstance(part, dict) else [None])]
    return all(isinstance(table, dict) for table in tables) and set(TIMES) <= set(parts[0].get("totals", ()))


HINT = "remove the file, or the test's entry, and run pytest --tensim-update"


def write(path: Path, test: str, name: str, pin: Pin) -> None:
    """Put a pin into a baseline file; tests of other processes may do so at the same time."""
    with _changed(path) as pins:
        pins.setdefault(test, {})[name] = pin


def remove(path: Path, entries: Iterable[tuple[str, str]]) -> None:
    """Take out {(test, name)}, and a file that is empty then."""
    with _changed(path) as pins:
        for test, name in entries:
            pins.get(test, {}).pop(name, None)
            if not pins.get(test, True):
                del pins[test]


@contextmanager
def _changed(path: Path) -> Iterator[Pins]:
    """The pins of a file, written anew when the block ends."""
    try:
        with _locked(path):
            pins = read(path)
            yield pins
            if not pins:
                path.unlink(missing_ok=True)
                return
            text = yaml.safe_dump(pins, sort_keys=True, width=120, default_flow_style=None)
            write_output(path, HEADER.format(name=path.name.removesuffix(SUFFIX) + ".py") + text)
    except OSError as error:
        raise UsageError(f"cannot write the baseline {path}: {error.strerror}") from error


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the folder of a file, so that nothing but the file is made there."""
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)
