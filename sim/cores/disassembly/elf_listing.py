"""The instructions of an ELF as text, RISC-V and Tensix words, below the source lines that they come from."""

import io

from tensim.sim.cores.disassembly.instruction_text import text_of
from tensim.sim.cores.riscv.decode import INSTRUCTION_BYTES, decode
from tensim.sim.cores.riscv.line_table import LineTable
from tensim.sim.errors import BinaryError

EXECUTABLE = 4  # flag of a section that holds instructions
RISCV = "EM_RISCV"


def elf_listing(raw, chip):
    """[{"pc", "text", "file", "line", "function"}] of an ELF for a chip, by its name; `pc` counts from the text's beginning.

    BinaryError for what is no ELF of RISC-V or holds no instructions.
    """
    address, data, first_end = _text(raw)
    table, decoded = LineTable(raw, first_end), decode(data)
    entries = []
    for index, word in enumerate(decoded.records.tolist()):
        frame = table.place(address + INSTRUCTION_BYTES * index)
        entries.append({
            "pc": INSTRUCTION_BYTES * index, "text": text_of(decoded, index, word, chip), "file": frame.file if frame else "",
            "line": frame.line if frame else 0, "function": frame.function if frame else "",
        })  # fmt: skip
    return entries


def _text(raw):
    """(address, bytes, end of the function at address 0) of the first section of instructions and those that follow it at once."""
    from elftools.common.exceptions import ELFError
    from elftools.elf.elffile import ELFFile

    try:
        file = ELFFile(io.BytesIO(raw))
        if file["e_machine"] != RISCV or file.elfclass != 32:
            raise BinaryError("this ELF is not for a 32-bit RISC-V core", where={"offset": 18, "field": "e_machine"})
        sections = [
            one
            for one in file.iter_sections()
            if one["sh_flags"] & EXECUTABLE and one["sh_size"] and one["sh_type"] == "SHT_PROGBITS"
        ]
        symbols = file.get_section_by_name(".symtab")
        ends = [one["st_size"] for one in symbols.iter_symbols() if one["st_value"] == 0] if symbols else []
        content = b""
        for one in sections:
            if one["sh_addr"] == sections[0]["sh_addr"] + len(content):
                content += one.data()
    except (ELFError, KeyError, ValueError, OSError) as error:
        raise BinaryError(f"this is no ELF that can be read: {error}", where={"offset": 0, "field": "file"}) from error
    if not content or len(content) % INSTRUCTION_BYTES:
        raise BinaryError("this ELF holds no whole instructions", where={"offset": 0, "field": ".text"})
    return sections[0]["sh_addr"], content, max(ends, default=0)
