"""Source lines of a kernel's instructions, from the DWARF of its ELF: (file, line, function) of each frame, innermost first.

Files below the front end's own headers are not the user's: a place is the innermost frame outside them.
"""

import functools
import io
from bisect import bisect_right
from pathlib import Path
from typing import NamedTuple

from tensim.sim.engine.cache import cache_root

OWN_FOLDERS = (str(Path(__file__).parent), str(cache_root() / "cpp"))  # headers and run time of the front end
MAX_DEPTH = 64  # of inlined frames, and of references from one entry to another
MAX_ROWS = 1_000_000


class Frame(NamedTuple):
    """A function that was being executed: where in it."""

    file: str
    line: int
    function: str


class LineTable:
    """Places of the addresses of a text (bytes of the ELF, known to be well formed as far as its sections go).

    `first_end`: end of the function at address 0.  What a linker has dropped also claims to lie there, and is told apart by
    its length and, where the unit of that function is known by its name, by its unit.  Without debugging information, or with
    a damaged one, there are no frames.
    """

    def __init__(self, raw, first_end):
        self._first_end = first_end
        self._starts, self._rows, self._scopes = [], [], []
        try:
            from elftools.elf.elffile import ELFFile

            file = ELFFile(io.BytesIO(raw))
            if file.has_dwarf_info():
                # What a linker has kept of relocations is done already
                self._read(file.get_dwarf_info(relocate_dwarf_sections=False), _names_at_0(file))
        except (
            Exception
        ):  # the library's parsers raise whatever a damaged section leads them to; reports then lack lines
            self._starts, self._rows, self._scopes = [], [], []
        self.frames = functools.cache(self._frames)

    def _read(self, dwarf, first_names):
        rows, units = [], []
        for unit in dwarf.iter_CUs():
            program = dwarf.line_program_for_CU(unit)
            if program is not None:
                files = _file_names(program)
                units.append((list(_sequences(program, files)), _scopes(unit.get_top_DIE(), files, dwarf)))
        named = [any(low == 0 and name in first_names for low, _, name, *_ in scopes) for _, scopes in units]
        for (sequences, scopes), has_first in zip(units, named, strict=True):
            has_first = has_first or not any(named)
            for sequence in sequences:
                if self._is_linked(sequence[0][0], sequence[-1][0], has_first):
                    rows += sequence
                if len(rows) > MAX_ROWS:
                    raise ValueError("more rows than any kernel has")
            self._scopes += (scope for scope in scopes if self._is_linked(*scope[:2], has_first))
        rows.sort(key=lambda row: (row[0], not row[1][2]))
        self._starts, self._rows = [row[0] for row in rows], [row[1] for row in rows]
        self._scopes.sort(key=lambda scope: scope[1] - scope[0])

    def _is_linked(self, start, end, has_first):
        """Whether a range of addresses is code of the text; `has_first`: its unit may have the function at address 0."""
        if start == 0:
            return has_first and end == self._first_end
        return start > 1  # 1: how a linker marks dropped entries of ranges

    def _frames(self, address):
        """Frames of an address, innermost first; empty when it has none."""
        at = bisect_right(self._starts, address) - 1
        if at < 0 or self._rows[at][2]:
            return ()
        file, line, _ = self._rows[at]
        frames = []
        for low, high, function, call_file, call_line in self._scopes:
            if not low <= address < high:
                continue
            frames.append(Frame(file, line, function))
            if call_file is None or len(frames) == MAX_DEPTH:
                return tuple(frames)
            file, line = call_file, call_line
        return tuple(frames) or (Frame(file, line, ""),)

    def place(self, address):
        """The innermost frame outside the front end's headers, or the innermost one; None without lines."""
        frames = self.frames(address)
        outside = (frame for frame in frames if not frame.file.startswith(OWN_FOLDERS))
        return next(outside, frames[0] if frames else None)


def _names_at_0(file):
    """Names of the functions that the symbols say lie at address 0."""
    table = file.get_section_by_name(".symtab")
    return {one.name for one in table.iter_symbols() if one["st_value"] == 0 and one["st_size"]} if table else set()


def _sequences(program, files):
    """Lists of (address, (file, line, is the end)) of a line program: addresses rise within one; its last row is its end."""
    rows = []
    for entry in program.get_entries():
        state = entry.state
        if state is None or (
            state.line == 0 and not state.end_sequence
        ):  # no line of its own: belongs to the one before
            continue
        rows.append((state.address, (files.get(state.file, ""), state.line, bool(state.end_sequence))))
        if state.end_sequence:
            yield rows
            rows = []


def _file_names(program):
    """{number: path} of a line program's files."""
    header = program.header
    version = header["version"]
    directories = [entry.decode(errors="replace") for entry in header["include_directory"]]
    if version < 5:
        directories.insert(0, "")
    root, names = directories[0], {}
    for number, entry in enumerate(header["file_entry"], 0 if version >= 5 else 1):
        name, directory = entry.name.decode(errors="replace"), entry.dir_index
        folder = directories[directory] if directory < len(directories) else ""
        names[number] = str(Path(root, folder, name))
    return names


def _scopes(top, files, dwarf):
    """(low, high, function, file and line of the call or None) of the functions and inlined calls below an entry, inner ones
    first.
    """
    found, stack = [], [top]
    while stack:
        entry = stack.pop()
        if entry.tag in ("DW_TAG_subprogram", "DW_TAG_inlined_subroutine"):
            call = entry.attributes.get("DW_AT_call_file")
            file = files.get(call.value, "") if call else None
            line = entry.attributes["DW_AT_call_line"].value if call else 0
            for low, high in _ranges(entry, dwarf):
                found.append((low, high, _function_name(entry), file, line))
        if entry.has_children and entry.tag not in ("DW_TAG_structure_type", "DW_TAG_class_type", "DW_TAG_union_type"):
            stack.extend(entry.iter_children())
    return found[::-1]  # an entry is taken from the stack before those inside it


def _ranges(entry, dwarf):
    low, high = entry.attributes.get("DW_AT_low_pc"), entry.attributes.get("DW_AT_high_pc")
    if low and high:
        return [(low.value, high.value if high.form == "DW_FORM_addr" else low.value + high.value)]
    ranges = entry.attributes.get("DW_AT_ranges")
    if not ranges:
        return []
    unit = entry.cu
    if unit.header["version"] >= 5:
        found = dwarf.range_lists().get_range_list_at_offset(ranges.value, cu=unit)
    else:
        found = dwarf.range_lists().get_range_list_at_offset(ranges.value)
    base = unit.get_top_DIE().attributes.get("DW_AT_low_pc")
    base, result = (base.value if base else 0), []
    for item in found:
        if hasattr(item, "base_address"):
            base = item.base_address
        else:
            start = 0 if getattr(item, "is_absolute", False) else base
            result.append((start + item.begin_offset, start + item.end_offset))
    return result


def _function_name(entry):
    for _ in range(MAX_DEPTH):
        name = entry.attributes.get("DW_AT_name")
        if name:
            return name.value.decode(errors="replace")
        reference = next(
            (key for key in ("DW_AT_abstract_origin", "DW_AT_specification") if key in entry.attributes), None
        )
        if reference is None:
            return ""
        entry = entry.get_DIE_from_attribute(reference)
    return ""
