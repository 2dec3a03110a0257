"""A compute kernel's ELF file of another compiler, read and changed so that a core can start it.

tt-metal links a kernel behind its firmware: text behind the firmware's, variables behind those of the firmware, whose own the
kernel names by their addresses.  Its text can be moved by the relocations that the linker has kept (--emit-relocs), which
tt-metal needs for the same reason.  Sources: tt_metal/hw/toolchain/main.ld and hw/firmware/src/tt-1xx/trisck.cc of ttnn 0.81.1;
the RISC-V ELF psABI, Relocations.
"""

import struct
from io import BytesIO
from typing import NamedTuple

from tensim.sim.cores.riscv.elf import (
    CODE_FLAG,
    HEADER,
    LOAD,
    SECTION,
    SEGMENT,
    SYMBOL,
    SYMBOL_TABLE,
    load_header,
    refuse,
)

PAGE = 0x1000  # what LUI and AUIPC count in
DATA_IMAGE = "__kernel_data_lma"  # where the text's end holds what the variables begin with
FIRMWARE_END = "__fw_export_ldm_end"  # of tt-metal's link script: the kernel stands beside a firmware
CHIP_EXTENSIONS = {
    "wormhole_b0": "xtttensixwh",
    "blackhole": "xtttensixbh",
}  # in the attributes, as the vendor's compiler has it
R_32, R_JAL, R_CALL, R_CALL_PLT, R_PCREL_HI20, R_HI20 = 1, 17, 18, 19, 23, 26
ABSOLUTE_SYMBOL = 0xFFF1


class KernelFile(NamedTuple):
    """What an ELF file holds.

    `text`: the code, with what the variables begin with behind it; `address`: where it is linked; `entry`: where it starts;
    `symbols`: {name: address}; `relocations`: [(address, kind, target)], None where the file has none.
    """

    text: bytes
    address: int
    entry: int
    symbols: dict
    relocations: list | None

    @property
    def has_firmware(self):
        """Is it a kernel of tt-metal's, which its firmware calls?  Else it is a whole program."""
        return FIRMWARE_END in self.symbols or DATA_IMAGE in self.symbols


def chip_of(raw):
    """The chip whose instructions the attributes of an ELF file name, None where they name none."""
    section = _open(raw).get_section_by_name(".riscv.attributes")
    found = section.data() if section is not None else b""
    return next((chip for chip, name in CHIP_EXTENSIONS.items() if name.encode() in found), None)


def _open(raw):
    from elftools.common.exceptions import ELFError
    from elftools.elf.elffile import ELFFile

    load_header(raw)
    try:
        return ELFFile(BytesIO(raw))
    except (ELFError, struct.error) as error:
        refuse(0, "file", f"a damaged ELF: {error}")


def read_kernel(raw):
    """The `KernelFile` of an ELF file (bytes).  BinaryError with offset and field."""
    file = _open(raw)
    loaded = [one for one in file.iter_segments() if one["p_type"] == "PT_LOAD" and one["p_memsz"]]
    codes = [one for one in loaded if one["p_flags"] & CODE_FLAG]
    if len(codes) != 1:
        refuse(file["e_phoff"], "segment", f"{len(codes)} segments of code; a kernel has one")
    text, address = codes[0].data(), codes[0]["p_vaddr"]
    if not text or len(text) % 4 or address % 4:
        refuse(codes[0]["p_offset"], "text", f"{len(text)} bytes at {address:#x}; there are whole instructions")
    table = file.get_section_by_name(".symtab")
    symbols = {one.name: one["st_value"] for one in table.iter_symbols()} if table is not None else {}
    start = symbols.get(DATA_IMAGE, address + len(text)) - address
    for segment in loaded:
        if segment is not codes[0] and segment["p_filesz"] and DATA_IMAGE in symbols:
            if not len(text) <= start <= len(text) + PAGE:
                refuse(segment["p_offset"], DATA_IMAGE, f"{symbols[DATA_IMAGE]:#x} is not the end of the text")
            text = text.ljust(start, b"\0") + segment.data()
    return KernelFile(text.ljust(-(-len(text) // 4) * 4, b"\0"), address, file["e_entry"], symbols, _relocations(file))


def _relocations(file):
    found = None
    for name in (".rela.text", ".rela.data"):
        section = file.get_section_by_name(name)
        if section is None:
            continue
        found, symbols = found or [], file.get_section(section["sh_link"])
        for one in section.iter_relocations():
            symbol = symbols.get_symbol(one["r_info_sym"])
            found.append((one["r_offset"], one["r_info_type"], symbol["st_value"] + one["r_addend"]))
    return found


def moved(kernel, distance):
    """The text of a `KernelFile` at another place, a multiple of PAGE away.  BinaryError for what cannot be moved."""
    if kernel.relocations is None:
        refuse(
            0,
            ".rela.text",
            "the linker has kept no relocations of the text (--emit-relocs), without which it cannot be moved",
        )
    text, pages = bytearray(kernel.text), distance // PAGE
    inside = range(kernel.address, kernel.address + len(text) + 1)
    variables = kernel.symbols.get("__ldm_data_start")
    for address, kind, target in kernel.relocations:
        at = address - kernel.address
        if at not in range(len(text)) and variables is not None and kind == R_32:
            at = kernel.symbols.get(DATA_IMAGE, 0) - kernel.address + address - variables
        if at not in range(len(text) - 3):
            continue
        (word,) = struct.unpack_from("<I", text, at)
        if kind == R_HI20 and target in inside:
            word = word & PAGE - 1 | (word >> 12) + pages << 12 & 0xFFFFF000
        elif kind in (R_PCREL_HI20, R_CALL, R_CALL_PLT) and target not in inside and word & 0x7F == 0x17:
            word = word & PAGE - 1 | (word >> 12) - pages << 12 & 0xFFFFF000
        elif kind == R_32 and target in inside:
            word = word + distance & 0xFFFFFFFF
        elif kind in (R_JAL, R_CALL, R_CALL_PLT) and target not in inside:
            refuse(at, ".rela.text", f"a jump to {target:#x}, out of the kernel's own text")
        struct.pack_into("<I", text, at, word)
    return bytes(text)


def with_program(raw, text, address, entry, symbols):
    """An ELF file whose program is another text at an address: one segment, behind everything else that the file holds.

    `symbols`: {name: address} of words in it, added to the file's own.
    """
    header = list(HEADER.unpack_from(raw))
    result = bytearray(raw)
    result += bytes(-len(result) % 16)
    at_text = len(result)
    result += text
    at_segments = len(result)
    result += SEGMENT.pack(LOAD, at_text, address, address, len(text), len(text), 5, 4)
    header[4], header[5], header[9], header[10] = entry, at_segments, SEGMENT.size, 1
    HEADER.pack_into(result, 0, *header)
    _add_symbols(result, raw, header, symbols)
    return bytes(result)


def _add_symbols(result, raw, header, symbols):
    places = [header[6] + index * SECTION.size for index in range(header[12])]
    table = next((at for at in places if SECTION.unpack_from(raw, at)[1] == SYMBOL_TABLE), None)
    if table is None:
        refuse(header[6], ".symtab", "a stripped file: where the firmware's variables lie is not known")
    fields = list(SECTION.unpack_from(raw, table))
    names = places[fields[6]]
    strings = list(SECTION.unpack_from(raw, names))
    texts, entries = (
        bytearray(raw[strings[4] : strings[4] + strings[5]]),
        bytearray(raw[fields[4] : fields[4] + fields[5]]),
    )
    for name, address in symbols.items():
        entries += SYMBOL.pack(len(texts), address, 4, 1, 0, ABSOLUTE_SYMBOL)  # data, named outside
        texts += name.encode() + b"\0"
    for at, section, content in ((table, fields, entries), (names, strings, texts)):
        section[4], section[5] = len(result), len(content)
        SECTION.pack_into(result, at, *section)
        result += content
