"""The tools beside the compiler as far as the vendor's builds and tests call them: objcopy, size, nm, objdump."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any


def run(name: str, arguments: Sequence[str]) -> int:
    """Run the tool `name`; its exit status."""
    tool = TOOLS.get(name)
    if tool is None:
        sys.stderr.write(f"riscv-tt-elf-{name}: error: tensim has no stand-in for this tool\n")
        return 1
    if "--version" in arguments:
        sys.stdout.write(f"riscv-tt-elf-{name} (tensim's stand-in for the vendor's tool)\n")
        return 0
    from elftools.common.exceptions import ELFError

    from tensim.sim.errors import TensimError

    try:
        tool(arguments)
    except (OSError, ELFError, TensimError, ValueError) as error:
        sys.stderr.write(f"riscv-tt-elf-{name}: error: {error}\n")
        return 1
    return 0


def _files(arguments: Iterable[str]) -> list[str]:
    return [one for one in arguments if not one.startswith("-")]


def _sections(path: str | Path) -> list[tuple[str, Any, bytes]]:
    from elftools.elf.elffile import ELFFile

    with open(path, "rb") as file:
        elf = ELFFile(file)
        return [
            (one.name, one.header, one.data() if one["sh_type"] != "SHT_NOBITS" else b"") for one in elf.iter_sections()
        ]


ALLOCATED, WRITABLE, EXECUTABLE = 2, 1, 4


def size(arguments: Sequence[str]) -> None:
    """A program's bytes of text, of data and of what starts as zero, as GNU's tool prints them."""
    print("   text\t   data\t    bss\t    dec\t    hex\tfilename")
    for path in _files(arguments):
        text = data = zero = 0
        for _, header, _ in _sections(path):
            if not header["sh_flags"] & ALLOCATED:
                continue
            if header["sh_type"] == "SHT_NOBITS":
                zero += header["sh_size"]
            elif header["sh_flags"] & WRITABLE:
                data += header["sh_size"]
            else:
                text += header["sh_size"]
        total = text + data + zero
        print(f"{text:7}\t{data:7}\t{zero:7}\t{total:7}\t{total:7x}\t{path}")


def objcopy(arguments: Sequence[str]) -> None:
    """`-O binary`, with `-j SECTION` or without: the bytes of sections in the order of their addresses."""
    names, files, rest = [], [], iter(arguments)
    for one in rest:
        if one in ("-O", "--output-target"):
            kind = next(rest, "")
            if kind != "binary":
                raise ValueError(f"-O {kind} is not among the formats of this stand-in: binary")
        elif one in ("-j", "--only-section"):
            names.append(next(rest, ""))
        elif one.startswith(("-j", "--only-section=")):
            names.append(one.removeprefix("-j").removeprefix("--only-section="))
        elif one.startswith("-"):
            raise ValueError(f"{one} is not among the options of this stand-in: -O binary, -j")
        else:
            files.append(one)
    source, target = files[0], files[-1]
    chosen = [
        (header["sh_addr"], data)
        for name, header, data in _sections(source)
        if data and (name in names if names else header["sh_flags"] & ALLOCATED)
    ]
    content, start = bytearray(), min((address for address, _ in chosen), default=0)
    for address, data in sorted(chosen):
        content[len(content) :] = bytes(max(address - start - len(content), 0))
        content[address - start : address - start + len(data)] = data
    Path(target).write_bytes(content)


def nm(arguments: Sequence[str]) -> None:
    """Symbols with their values and kinds, in the order of their names."""
    from elftools.elf.elffile import ELFFile

    for path in _files(arguments):
        with open(path, "rb") as file:
            elf = ELFFile(file)
            table: Any = elf.get_section_by_name(".symtab")
            symbols = [one for one in (table.iter_symbols() if table else ()) if one.name]
            for symbol in sorted(symbols, key=lambda one: one.name):
                undefined = symbol["st_shndx"] == "SHN_UNDEF"
                value = " " * 8 if undefined else f"{symbol['st_value']:08x}"
                print(f"{value} {_kind(elf, symbol)} {symbol.name}")


def _kind(elf: Any, symbol: Any) -> str:
    place = symbol["st_shndx"]
    if place == "SHN_UNDEF":
        return "w" if symbol["st_info"]["bind"] == "STB_WEAK" else "U"
    if symbol["st_info"]["bind"] == "STB_WEAK":
        return "W"
    if place == "SHN_ABS":
        letter = "a"
    elif isinstance(place, str):
        letter = "c"
    else:
        section = elf.get_section(place)
        flags = section["sh_flags"]
        letter = "t" if flags & EXECUTABLE else "n" if not flags & ALLOCATED else "d" if flags & WRITABLE else "r"
        letter = "b" if section["sh_type"] == "SHT_NOBITS" else letter
    return letter.upper() if symbol["st_info"]["bind"] == "STB_GLOBAL" else letter


def objdump(arguments: Sequence[str]) -> None:
    """`-d`: the instructions of programs, RISC-V and Tensix, below the lines that they come from."""
    from tensim.sim.cores.disassembly.elf_listing import elf_listing

    if not {"-d", "-D", "-S", "--disassemble"} & set(arguments):
        raise ValueError("the option of this stand-in is -d")
    for path in _files(arguments):
        place = None
        for entry in elf_listing(Path(path).read_bytes(), _chip(path)):
            if (entry["file"], entry["line"]) != place:
                place = entry["file"], entry["line"]
                print(f"{entry['file']}:{entry['line']} ({entry['function']})")
            print(f"{entry['pc']:8x}:  {entry['text']}")


def _chip(path: str | Path) -> str:
    """The chip of a program, by the extensions that its cores have."""
    attributes = [data for name, _, data in _sections(path) if name == ".riscv.attributes"]
    return "blackhole" if any(b"_zba" in data for data in attributes) else "wormhole_b0"


TOOLS = {"size": size, "objcopy": objcopy, "nm": nm, "objdump": objdump}
