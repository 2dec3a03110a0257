"""Which class of the library's a program belongs to: profilers and their tools know operations by these names.

The library's binary names its classes; a program shows its own by the files of its kernels, which lie in folders of their
operation (`.../operations/GROUP/NAME/device/kernels/...`), and by what the program called.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path

BINARY = "build/lib/_ttnncpp.so"
SUFFIX = "DeviceOperation"
CLASS = re.compile(rb"[0-9]([A-Z][A-Za-z0-9]+DeviceOperation)")  # behind its length in mangled names


# Calls of which a program without arithmetic is another operation's
MEANT = {"to_memory_config": "copy"}


class OperationNames:
    """The names of the classes of a library in `folder`."""

    def __init__(self, folder: str | Path) -> None:
        self._folder, self._found = Path(folder), {}

    @cached_property
    def _classes(self) -> dict[str, str]:
        """{name in small letters: class} of the library's binary."""
        binary = self._folder / BINARY
        found = {match.decode() for match in CLASS.findall(binary.read_bytes())} if binary.is_file() else ()
        return {name.removesuffix(SUFFIX).lower(): name for name in found}

    def of(self, called: str, files: Sequence[str]) -> str:
        """The class of a program: `called`, what the user called, and the files of its kernels."""
        key = called, tuple(files)
        if key not in self._found:
            name = called.rpartition(".")[2]
            names = [*_names_in(_compute(files)), MEANT.get(name, name), *_names_in(_movers(files))]
            known = (self._classes.get(name.replace("_", "").lower()) for name in names)
            self._found[key] = next(filter(None, known), f"{_camel(called)}{SUFFIX}")
        return self._found[key]


def _compute(files: Iterable[str]) -> list[str]:
    return [file for file in files if "/compute/" in file]


def _movers(files: Iterable[str]) -> list[str]:
    """The data-movement kernels, without those of element-wise operations, which all others use."""
    return [file for file in files if "/compute/" not in file and "/eltwise/" not in file]


def _names_in(files: Iterable[str]) -> Iterator[str]:
    """The operations in whose folders files lie, then the words of their own names."""
    for parts in (Path(file).parts for file in files):
        if "operations" in parts and "device" in parts:
            yield parts[len(parts) - 1 - parts[::-1].index("device") - 1]
    for file in files:
        stem = Path(file).stem
        yield from (stem, *stem.split("_"))


def _camel(called: str) -> str:
    return "".join(word[:1].upper() + word[1:] for word in re.findall(r"[A-Za-z0-9]+", called.rpartition(".")[2]))
