"""Commands under identifiers, and the ELF files in which an identifier stands for code."""

import hashlib
import io
import subprocess
import sys

import pytest
from elftools.elf.elffile import ELFFile

from tensim.library.identifiers import Commands, elf_of, identifier_in

IDENTIFIER = hashlib.sha256(b"a kernel").digest()


def test_the_elf_is_what_the_library_accepts():
    """One segment that begins at the entry and holds the text, and a relocation section of it without entries."""
    elf = ELFFile(io.BytesIO(elf_of(IDENTIFIER)))
    assert (elf["e_type"], elf["e_machine"], elf.elfclass, elf.little_endian) == ("ET_EXEC", "EM_RISCV", 32, True)
    (segment,) = elf.iter_segments()
    assert segment["p_type"] == "PT_LOAD" and segment["p_vaddr"] == segment["p_paddr"] == elf["e_entry"]
    assert segment["p_flags"] == 5 and segment["p_filesz"] == segment["p_memsz"]
    text = elf.get_section_by_name(".text")
    assert segment.section_in_segment(text) and text.data() == segment.data()
    assert len(text.data()) % 16 == 0, "the library rounds texts up"
    relocations = elf.get_section_by_name(".rela.text")
    assert relocations["sh_type"] == "SHT_RELA" and relocations.num_relocations() == 0
    assert elf.get_section(relocations["sh_info"]).name == ".text"
    assert elf.get_section(relocations["sh_link"]).name == ".symtab"
    assert elf.get_section_by_name(".symtab").num_symbols() == 1
    assert all(value % 4 == 0 for value in (elf["e_phoff"], elf["e_shoff"], segment["p_offset"], segment["p_vaddr"]))


def test_an_identifier_is_found_in_its_text():
    text = ELFFile(io.BytesIO(elf_of(IDENTIFIER))).get_section_by_name(".text").data()
    assert identifier_in(text) == identifier_in(bytearray(text) + bytes(64)) == IDENTIFIER
    for other in (b"", bytes(64), text[1:], bytes(1) + text):
        assert identifier_in(other) is None


def test_commands_are_found_again_in_other_processes(tmp_path):
    commands = Commands(tmp_path / "commands")
    first, second = commands.add(["-c", "a.cc", "ä"], "/x"), commands.add(["-c", "a.cc"], "/y")
    assert len(first) == 32 and first != second and commands.add(["-c", "a.cc"], "/y") == second
    assert commands.find(first) == (["-c", "a.cc", "ä"], "/x")
    text = (
        "from tensim.library.identifiers import Commands\n"
        f"commands = Commands({str(tmp_path / 'commands')!r})\n"
        f"print(commands.find(bytes.fromhex('{second.hex()}')), commands.add(['-c', 'a.cc'], '/y').hex())"
    )
    said = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True).stdout
    assert said == f"(['-c', 'a.cc'], '/y') {second.hex()}\n"


def test_an_identifier_that_is_not_known(tmp_path):
    with pytest.raises(KeyError):
        Commands(tmp_path).find(IDENTIFIER)


def halved(data):
    return data[: len(data) // 2]


def flipped(data):
    return bytes([data[0] ^ 1]) + data[1:]


@pytest.mark.parametrize("damage", [halved, flipped, lambda data: b""], ids=["halved", "flipped", "empty"])
def test_a_damaged_command_is_not_known(damage, tmp_path):
    commands = Commands(tmp_path)
    kept, lost = commands.add(["-c", "a"], "/a"), commands.add(["-c", "b"], "/b")
    path = tmp_path / f"{lost.hex()}.json"
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(KeyError):
        commands.find(lost)
    assert commands.drop_damaged() == 1 and not path.exists()
    assert commands.drop_damaged() == 0 and commands.find(kept) == (["-c", "a"], "/a")
