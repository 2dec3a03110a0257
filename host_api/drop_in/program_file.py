"""A linked program as GNU's linker would leave it, where ld.lld leaves something else.

| ld.lld | GNU's linker, and what the vendor's library relies on |
|---|---|
| leaves out a segment of a script (PHDRS) whose sections are all empty | has it: a table in the program names it by its address |
| names the attributes twice if a script has a segment for them | names them once |
| calls an empty section outside of all segments a part of the program | does not |
| gives an address to parts of the program alone | to sections for the host, too (`tensim.drop_in.link_scripts`) |

So the second header of the attributes becomes the segment that was left out, loaded from where the text ends if the script says so,
as releases before 0.66 check of kernels. Sections that are no part of the program no longer say so; a segment that held such a
section alone is none.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Sequence
from io import BytesIO

from tensim.sim.cores.riscv.elf import SECTION, SEGMENT
from tensim.sim.cores.riscv.kernel_elf import DATA_IMAGE

PT_NULL, PT_LOAD, ALLOCATED, READ_WRITE = 0, 1, 2, 6
FILE_HEADER = struct.Struct("<16xHHIIIIIHHHHHH")  # behind the identification: type, machine, version, entry, ...
NAMES_AT = 50  # in the file's header: the number of the section of names


def finished(program: bytes, for_host: Collection[str] = ()) -> bytes:
    """The bytes of a 32-bit program, changed in these ways; `for_host`: names of sections outside of the program."""
    content = bytearray(program)
    _, _, _, _, segments, sections, _, _, segment_size, n_segments, section_size, n_sections, _ = (
        FILE_HEADER.unpack_from(content)
    )
    headers = [segments + number * segment_size for number in range(n_segments)]
    places = [sections + number * section_size for number in range(n_sections)]
    _hand_to_host(content, places, headers, for_host)
    outside = [at for at in places if _is_outside(content, at, headers)]
    spare = _second_of_a_kind(content, headers)
    if outside and spare is not None:
        _, _, _, address, offset, *_ = max((SECTION.unpack_from(content, at) for at in outside), key=lambda one: one[3])
        SEGMENT.pack_into(
            content, spare, PT_LOAD, offset & ~3, address, _loaded_from(program, address), 0, 0, READ_WRITE, 4
        )
        outside = [at for at in outside if _is_outside(content, at, headers)]
    for at in outside:
        _take_out(content, at)
    return bytes(content)


def _loaded_from(program: bytes, address: int) -> int:
    """The address from which variables at `address` are loaded: what a script calls so, else their own."""
    from elftools.elf.elffile import ELFFile
    from elftools.elf.sections import SymbolTableSection

    symbols = ELFFile(BytesIO(program)).get_section_by_name(".symtab")
    named = symbols.get_symbol_by_name(DATA_IMAGE) if isinstance(symbols, SymbolTableSection) else None
    return named[0]["st_value"] if named else address


def _take_out(content: bytearray, at: int) -> None:
    name, kind, flags, *rest = SECTION.unpack_from(content, at)
    SECTION.pack_into(content, at, name, kind, flags & ~ALLOCATED, *rest)


def _hand_to_host(content: bytearray, places: Sequence[int], headers: Sequence[int], names: Collection[str]) -> None:
    """Take sections of these names, and segments that hold such ones alone, out of the program."""
    (number,) = struct.unpack_from("<H", content, NAMES_AT)
    texts = SECTION.unpack_from(content, places[number])[4]
    starts = set()
    for at in places:
        name, _, _, address, *_ = SECTION.unpack_from(content, at)
        begin = texts + name
        if content[begin : content.index(b"\0", begin)].decode() in names:
            _take_out(content, at)
            starts.add(address)
    for at in headers:
        kind, offset, address, *rest = SEGMENT.unpack_from(content, at)
        if kind == PT_LOAD and address in starts:
            SEGMENT.pack_into(content, at, PT_NULL, offset, address, *rest)


def _is_outside(content: bytearray, at: int, headers: Sequence[int]) -> bool:
    """Whether a section is an empty part of the program outside of all segments."""
    _, _, flags, address, _, size, *_ = SECTION.unpack_from(content, at)
    if not flags & ALLOCATED or size:
        return False
    loaded = (SEGMENT.unpack_from(content, header) for header in headers)
    return not any(kind == PT_LOAD and start <= address <= start + n for kind, _, start, _, _, n, _, _ in loaded)


def _second_of_a_kind(content: bytearray, headers: Sequence[int]) -> int | None:
    """The place of a segment's header that says what one before it says."""
    seen = set()
    for at in headers:
        header = SEGMENT.unpack_from(content, at)
        if header in seen:
            return at
        seen.add(header)
    return None
