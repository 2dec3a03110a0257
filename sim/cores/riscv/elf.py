"""ELF files of RISC-V kernels: verified, then taken apart.  They may come from a saved binary: nothing in them is trusted.

What a kernel's ELF may be: 32 bits, little endian, RISC-V, an executable without dynamic linking; text linked at 0, everything
else in the core's local memory; texts for reports (STRINGS, ZONES) lie outside both and are never loaded.
"""

import struct
from dataclasses import replace

from tensim.sim.cores.riscv.layout import LOCAL_BASE
from tensim.sim.errors import BinaryError
from tensim.sim.lazy_dataclass import dataclass

MAX_FILE = 16 << 20  # bytes
MAX_SEGMENTS, MAX_SECTIONS, MAX_SYMBOLS = 64, 4096, 100_000
MAX_TEXT = 1 << 20  # bytes, more than any kernel-configuration space
CODE = ".text"
STRINGS, ZONES = ".tensim_strings", ".tensim_zones"  # texts at their addresses; names of zones, by their offset
NOT_MODELLED = ".tensim_not_modelled"  # calls that stop a kernel: pairs of words, its address and that of its text
MAX_STRING = 1 << 12  # bytes of a text for reports
RISCV, EXECUTABLE, LOAD, CODE_FLAG = 243, 2, 1, 1
SYMBOL_TABLE, NO_BITS = 2, 8
HEADER = struct.Struct("<16sHHIIIIIHHHHHH")
SEGMENT = struct.Struct("<IIIIIIII")
SECTION = struct.Struct("<IIIIIIIIII")
SYMBOL = struct.Struct("<IIIBBH")
CALL = struct.Struct("<II")


@dataclass(frozen=True)
class Section:
    """A section: where it lies in the file and in the address space."""

    name: str
    kind: int
    address: int
    offset: int
    size: int
    link: int


@dataclass(frozen=True)
class Image:
    """A verified ELF.

    `entry`: address of the first instruction in `text`; `data`: (offset in local memory, bytes) to load; `data_end`: offset in
    local memory of the first byte behind the data; `symbols`: (address, size, name); `strings`: address -> bytes of the
    sections of texts; `zones`: the names of zones, each ended by a zero byte; `moved`: bytes from where the code was linked, and
    lines are known by, to where it is; `not_modelled`: (address, what it says) of the calls in the text that the machine has no
    operation for.
    """

    raw: bytes
    text: bytes
    entry: int
    data: tuple[tuple[int, bytes], ...]
    data_end: int
    symbols: tuple[tuple[int, int, str], ...]
    strings: dict[int, bytes]
    zones: bytes
    moved: int = 0
    not_modelled: tuple[tuple[int, str], ...] = ()

    def string_at(self, address):
        """The text for reports that begins at an address, or None."""
        for start, content in self.strings.items():
            if start <= address < start + len(content):
                return _text_at(content, address - start)
        return None

    def constant(self, name, text_address):
        """The value of a word of this name in a text that is linked at `text_address`, 0 where there is none."""
        for address, size, symbol in self.symbols:
            start = address - text_address
            if symbol == name and size == 4 and 0 <= start <= len(self.text) - 4:
                return int.from_bytes(self.text[start : start + 4], "little")
        return 0

    def zone_at(self, offset):
        """The name of a zone."""
        return _text_at(self.zones, offset) if 0 <= offset < len(self.zones) else f"zone {offset:#x}"


def refuse(offset, field, why):
    """Raise the error of a byte offset and a field."""
    raise BinaryError(
        f"offset {offset:#x}, {field}: {why}",
        where={"offset": offset, "field": field},
        hint="the file is damaged, or no kernel for these cores",
    )


def load_elf(raw, local_bytes, text_address=0):
    """The `Image` of an ELF for a core with `local_bytes` of local memory.  BinaryError with offset and field.

    `text_address`: what the text is linked for; `Image.entry` counts from there.
    """
    raw = bytes(raw)
    header = load_header(raw)
    sections = _sections(raw, header)
    strings = {
        section.address: _content(raw, section)
        for section in sections
        if section.name == STRINGS and section.kind != NO_BITS
    }
    zones, not_modelled = (_joined(raw, sections, name) for name in (ZONES, NOT_MODELLED))
    text, data, data_end = None, [], 0
    for at, (kind, offset, address, _, size, memory, flags, _) in _table(
        raw, header[5], header[10], SEGMENT, header[9]
    ):
        if kind != LOAD or memory == 0 or address in strings and not flags & CODE_FLAG:
            continue
        _check_range(raw, at, "segment", offset, size)
        if memory < size:
            refuse(at, "segment", f"{size} bytes of the file in {memory} bytes of memory")
        content = raw[offset : offset + size]
        if flags & CODE_FLAG:
            if text is not None or address != text_address or memory != size:
                refuse(
                    at, "segment", f"there is one segment of code, at address {text_address:#x} and whole in the file"
                )
            text = content
            continue
        start = address - LOCAL_BASE
        if start < 0 or start + memory > local_bytes:
            refuse(at, "segment", f"{memory} bytes at {address:#x} do not fit the local memory of {local_bytes} bytes")
        data.append((start, content))
        data_end = max(data_end, start + memory)
    if not text or len(text) % 4 or len(text) > MAX_TEXT:
        refuse(0, "text", f"{len(text or b'')} bytes; there are whole instructions, at most {MAX_TEXT} bytes")
    entry = header[4] - text_address
    if entry % 4 or not 0 <= entry < len(text):
        refuse(24, "e_entry", f"{header[4]:#x} is no instruction of the text")
    linked = next((section.address for section in sections if section.name == CODE), text_address)
    image = Image(
        raw, text, entry, tuple(data), data_end, tuple(_symbols(raw, sections)), strings, zones, text_address - linked
    )
    return replace(image, not_modelled=tuple(_calls(not_modelled, image)))


def text_address_of(raw):
    """The address at which an ELF's code begins, 0 without code.  BinaryError for no ELF of these cores."""
    raw = bytes(raw)
    header = load_header(raw)
    for _, (kind, _, address, _, _, memory, flags, _) in _table(raw, header[5], header[10], SEGMENT, header[9]):
        if kind == LOAD and memory and flags & CODE_FLAG:
            return address
    return 0


def _joined(raw, sections, name):
    return b"".join(_content(raw, section) for section in sections if section.name == name and section.kind != NO_BITS)


def _calls(content, image):
    """(address, what it says) of each call that a section lists; what the linker has left out lies at 0, the first instruction."""
    for address, said in CALL.iter_unpack(content[: len(content) // CALL.size * CALL.size]):
        if 0 < address < len(image.text):
            yield address, image.string_at(said) or "a call without a name is not modelled"


def _text_at(content, offset):
    return content[offset : offset + MAX_STRING].split(b"\0")[0].decode(errors="replace")


def load_header(raw):
    """The fields of the header of an ELF file that is a program for these cores.  BinaryError."""
    if len(raw) < HEADER.size or len(raw) > MAX_FILE:
        refuse(0, "file", f"{len(raw)} bytes; an ELF has {HEADER.size} to {MAX_FILE}")
    header = HEADER.unpack_from(raw)
    if header[0][:6] != b"\x7fELF\x01\x01":
        refuse(0, "e_ident", "no ELF of 32 bits, little endian")
    if header[1] != EXECUTABLE:
        refuse(16, "e_type", f"{header[1]} is no executable")
    if header[2] != RISCV:
        refuse(18, "e_machine", f"{header[2]} is not RISC-V")
    if header[7] & 1:
        refuse(36, "e_flags", "compressed instructions; the cores have none")
    if header[10] > MAX_SEGMENTS:
        refuse(44, "e_phnum", f"{header[10]} segments; at most {MAX_SEGMENTS}")
    if header[12] > MAX_SECTIONS:
        refuse(48, "e_shnum", f"{header[12]} sections; at most {MAX_SECTIONS}")
    return header


def _check_range(raw, at, field, offset, size):
    if offset + size > len(raw):
        refuse(at, field, f"{size} bytes at {offset:#x} reach beyond the file of {len(raw)} bytes")


def _table(raw, start, count, layout, entry_bytes):
    """(offset, fields) of each entry of a header's table."""
    if count and entry_bytes != layout.size:
        refuse(start, "entry size", f"{entry_bytes} bytes, not {layout.size}")
    _check_range(raw, start, "table", start, count * layout.size)
    for index in range(count):
        at = start + index * layout.size
        yield at, layout.unpack_from(raw, at)


def _sections(raw, header):
    entries = list(_table(raw, header[6], header[12], SECTION, header[11]))
    for at, fields in entries:
        if fields[1] != NO_BITS:
            _check_range(raw, at, "section", fields[4], fields[5])
    if not entries:
        return []
    if header[13] >= len(entries):
        refuse(50, "e_shstrndx", f"there is no section {header[13]}")
    names = entries[header[13]][1]
    return [
        Section(_name(raw, names[4], names[5], fields[0]), fields[1], fields[3], fields[4], fields[5], fields[6])
        for _, fields in entries
    ]


def _content(raw, section):
    return raw[section.offset : section.offset + section.size]


def _name(raw, start, size, at):
    """The name at an offset of a table of strings."""
    return raw[start + at : start + size].split(b"\0", 1)[0][:256].decode(errors="replace") if at < size else ""


def _symbols(raw, sections):
    """(address, size, name) of the named functions and data, by address."""
    found = []
    for section in sections:
        if section.kind != SYMBOL_TABLE:
            continue
        count = section.size // SYMBOL.size
        if count > MAX_SYMBOLS or section.link >= len(sections):
            refuse(
                section.offset,
                ".symtab",
                f"{count} symbols with names in section {section.link}; at most {MAX_SYMBOLS}",
            )
        names = sections[section.link]
        if names.kind == NO_BITS:
            refuse(section.offset, ".symtab", f"names in section {section.link}, which has no content")
        for index in range(count):
            name, address, size, info, _, _ = SYMBOL.unpack_from(raw, section.offset + index * SYMBOL.size)
            if info & 15 in (1, 2):  # data, functions
                found.append((address, size, _name(raw, names.offset, names.size, name)))
    return sorted(found)
