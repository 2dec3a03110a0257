"""DPRINT: what kernels print, as lines of text in simulated order."""

import re
import string
import struct

from tensim.sim.chip.printed_tiles import shown_tile
from tensim.sim.cores.print_log import LINE, MAX_VALUES, MORE, formatted
from tensim.sim.cores.print_tiles import NUMBERED
from tensim.sim.cores.riscv.traps import Manipulator, Print

BASES = {Manipulator.HEX: "x", Manipulator.OCT: "o", Manipulator.DEC: "d"}
MASK = 0xFFFFFFFF
FLOATS, OF_64_BITS = (Print.FLOAT, Print.BFLOAT16), (Print.UNSIGNED_64, Print.SIGNED_64)
# A field's format in a text of C++, as std::format has it; whatever the value, it is short
_FORMAT = re.compile(r"(?:.?[<>=^])?[-+ ]?#?0?\d{0,2}(?:\.\d{1,2})?[A-Za-z]?")


def _plain(kind, value, extra):
    """A printed number or character, as Python's."""
    if kind in FLOATS:
        bits = value & MASK if kind == Print.FLOAT else value << 16 & MASK
        return struct.unpack("<f", struct.pack("<I", bits))[0]
    if kind == Print.CHARACTER:
        return chr(value & 255)
    if kind in OF_64_BITS:
        value |= extra << 32
    is_negative = kind in (Print.SIGNED, Print.SIGNED_64) and value >> (_bits(kind) - 1)
    return value - (1 << _bits(kind)) if is_negative else value


def _bits(kind):
    return 64 if kind in OF_64_BITS else 32


def _in_format(shown, value, form):
    """A value as its field's format says; `shown`: without one, and where it has none such."""
    if not form or not _FORMAT.fullmatch(form):
        return shown
    if isinstance(value, str) and len(value) == 1 and form[-1] in "bdoxX":
        value = ord(value)
    try:
        return format(value, form)
    except ValueError:
        return shown


def _fields(text):
    """[(literal text, field or None, its format)] of a text; one whose braces do not match is all literal."""
    try:
        return [part[:3] for part in string.Formatter().parse(text)]
    except ValueError:
        return [(text, None, None)]


class Stream:
    """The unfinished line of a thread and the state of its manipulators.

    `string_at`: the text at an address, of a Python kernel that of a number, or None.
    """

    def __init__(self, string_at):
        self._string_at = string_at
        self._line, self._format, self._values, self._awaited = "", "", [], 0
        self._base, self._width, self._precision, self._fixed = "d", 0, None, False
        self._text = None  # (kind, bytes) of a text in local memory that may go on
        self._tile = None  # (record, its bytes) of the tile that a slice is to be shown of

    def add(self, entry):
        """Take a PRINT record; returns the lines that it completes."""
        kind, value, extra = int(entry["kind"]), int(entry["value"]), int(entry["extra"]) & MASK
        if kind == MORE and self._tile is not None:
            self._tile = self._tile[0], self._tile[1] + entry["text"].tobytes()
            return []
        if kind == MORE:
            kind, count, content = self._text
            self._text = kind, count, content + entry["text"].tobytes()
            return []
        lines = self.flush_text()
        if kind == LINE:
            return self.rest() + [
                formatted(self._string_at(value), struct.unpack(f"<{MAX_VALUES}q", entry["text"].tobytes()))
            ]
        if kind in (Print.TEXT, Print.FORMAT):
            found = self._string_at(value)
            self._text = kind, extra, entry["text"].tobytes() if found is None else found.encode()
            return lines
        if kind in (Print.BUFFER_TILE, Print.DST_TILE):
            self._tile = entry, b""
            return lines
        if kind == Print.SLICE:
            return lines + self._slice(value, extra)
        if kind == Print.LINE_END:
            return lines + self._put("\n")
        if kind == Print.MANIPULATOR:
            self._manipulate(value, extra)
            return lines
        number = _plain(kind, value, extra)
        return lines + self._value(self._shown(kind, number), number)

    def flush_text(self):
        """Lines that a text completes which was being collected."""
        if self._text is None:
            return []
        kind, count, content = self._text
        self._text = None
        text = content.split(b"\0")[0].decode(errors="replace")
        if kind == Print.TEXT:
            return self._value(text, text)
        self._format, self._values, self._awaited = text, [], count
        return self._formatted() if count == 0 else []

    def rest(self):
        """What is left without an end of line."""
        lines = self.flush_text()
        if self._line:
            lines, self._line = [*lines, self._line], ""
        return lines

    def _value(self, shown, value):
        if self._awaited:
            self._values.append((shown, value))
            return self._formatted() if len(self._values) == self._awaited else []
        return self._put(shown)

    def _formatted(self):
        text, following, self._awaited = "", 0, 0
        for literal, field, form in _fields(self._format):
            text += literal
            if field is None:
                continue
            place = int(field) if field.isdecimal() else following
            following += 1
            if place < len(self._values):
                text += _in_format(*self._values[place], form)
        return self._put(text)

    def _put(self, text):
        *lines, self._line = (self._line + text).split("\n")
        return lines

    def _slice(self, value, extra):
        """Rows and columns of the tile before: a value of a text, or lines of their own."""
        if self._tile is None:
            return []  # of no tile: what a binary posts may be anything
        entry, content = self._tile
        self._tile = None
        text = shown_tile(entry, content, value, extra)
        return self.rest() + text.split("\n") if extra >> 16 & NUMBERED else self._value(text, text)

    def _manipulate(self, what, value):
        if what in BASES:
            self._base = BASES[what]
        elif what == Manipulator.WIDTH:
            self._width = min(value, 64)
        elif what == Manipulator.PRECISION:
            self._precision = min(value, 32)
        else:
            self._fixed = what == Manipulator.FIXED

    def _shown(self, kind, number):
        text = self._number(kind, number).rjust(self._width)
        self._width = 0
        return text

    def _number(self, kind, number):
        if kind in FLOATS:
            digits = 6 if self._precision is None else self._precision
            return format(number, f".{digits}{'f' if self._fixed else 'g'}")
        if kind == Print.CHARACTER:
            return number
        if kind == Print.POINTER:
            return f"{number:#x}"
        if number < 0 and self._base != "d":
            number += 1 << _bits(kind)
        return format(number, self._base)
