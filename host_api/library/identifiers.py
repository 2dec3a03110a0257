"""Compiler commands of the library under identifiers, and the ELF files that carry an identifier in place of code.

The library writes a kernel's text into L1 at every launch: there the identifier is found again.  It keeps what it has compiled
over processes, so the commands are kept on disk beside it.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tensim.sim.engine.sealed_files import write_atomically

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAGIC = b"tensim kernel id"
TEXT_BYTES = len(MAGIC) + 32  # a multiple of 16: the library rounds texts up
ENTRY, TEXT_AT, PAGE = 0x5000, 0x1000, 0x1000
EXECUTABLE, RISCV = 2, 243
NULL, PROGBITS, SYMTAB, STRTAB, RELA = 0, 1, 2, 3, 4
ALLOC_EXEC, READ_EXEC = 6, 5
SECTIONS = ("", ".text", ".rela.text", ".symtab", ".strtab", ".shstrtab")


class Commands:
    """The compiler commands in a folder: {identifier: (arguments, working folder)}."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    def add(self, arguments: Sequence[str], working_folder: str) -> bytes:
        """Keep a command; its identifier (32 bytes)."""
        text = json.dumps([arguments, working_folder])
        identifier = hashlib.sha256(text.encode()).digest()
        write_atomically(self.folder / f"{identifier.hex()}.json", text.encode())
        return identifier

    def find(self, identifier: bytes) -> tuple[list[str], str]:
        """(arguments, working folder) of an identifier; KeyError when it is not known, or its file damaged."""
        try:
            text = (self.folder / f"{identifier.hex()}.json").read_bytes()
        except OSError:
            raise KeyError(identifier) from None
        if hashlib.sha256(text).digest() != identifier:
            raise KeyError(identifier)
        arguments, working_folder = json.loads(text)
        return arguments, working_folder

    def drop_damaged(self) -> int:
        """Remove the files of commands that are not what was kept; their number."""
        found = [path for path in self.folder.glob("*.json") if _digest(path) != path.stem]
        for path in found:
            path.unlink(missing_ok=True)
        return len(found)


def _digest(path: Path) -> str | None:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return None


def identifier_in(text: bytes | NDArray[np.uint8]) -> bytes | None:
    """The identifier that a kernel's text carries, or None."""
    text = bytes(text)
    return text[len(MAGIC) : TEXT_BYTES] if text.startswith(MAGIC) else None


def elf_of(identifier: bytes) -> bytes:
    """An executable for RISC-V whose text is the identifier; it passes as object, firmware and kernel.

    The library wants one segment that begins at the entry, and relocations for the text, of which there are none.
    """
    text, names, places = MAGIC + identifier, b"", []
    for name in SECTIONS:
        places.append(len(names))
        names += name.encode() + b"\0"
    symbols = TEXT_AT + len(text)
    strings = symbols + 16
    section_names = strings + 4
    table = -(-(section_names + len(names)) // 16) * 16
    sections = [
        (NULL, 0, 0, 0, 0, 0, 0, 0, 0),
        (PROGBITS, ALLOC_EXEC, ENTRY, TEXT_AT, len(text), 0, 0, 16, 0),
        (RELA, 0, 0, symbols, 0, 3, 1, 4, 12),
        (SYMTAB, 0, 0, symbols, 16, 4, 1, 4, 16),
        (STRTAB, 0, 0, strings, 1, 0, 0, 1, 0),
        (STRTAB, 0, 0, section_names, len(names), 0, 0, 1, 0),
    ]
    ident = b"\x7fELF\x01\x01\x01".ljust(16, b"\0")
    header = struct.pack(
        "<HHIIIIIHHHHHH", EXECUTABLE, RISCV, 1, ENTRY, 52, table, 0, 52, 32, 1, 40, len(sections), len(sections) - 1
    )
    segment = struct.pack("<8I", 1, TEXT_AT, ENTRY, ENTRY, len(text), len(text), READ_EXEC, PAGE)
    body = (ident + header + segment).ljust(TEXT_AT, b"\0") + text + bytes(20) + names
    rows = (struct.pack("<10I", place, *fields) for place, fields in zip(places, sections, strict=True))
    return body.ljust(table, b"\0") + b"".join(rows)
