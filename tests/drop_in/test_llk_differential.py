"""The vendor's LLK tests on its functional simulator and here: what is recorded, how it is compared, and a sample of them."""

import json
import os
import struct
import subprocess
import sys
import types
from pathlib import Path

import pytest

from tests.drop_in import functional_simulator
from tests.drop_in.llk_differential import (
    DIFFERS,
    INPUTS,
    NONE,
    PYTHON,
    RECORDER,
    REFUSED_HERE,
    REFUSED_THERE,
    SAME,
    Record,
    Selection,
    compare,
    compared,
    records,
    table,
)

BLOCK = ("a", 0x21000, bytes(range(64)))
CHANGED = ("a", 0x21000, bytes([*range(40), 0xFF, *range(41, 64)]))


def passed(*blocks):
    return Record("passed", "", blocks)


@pytest.mark.parametrize(
    ("there", "here", "outcome"),
    [
        (passed(BLOCK), passed(BLOCK), SAME),
        (passed(BLOCK, BLOCK), passed(BLOCK, CHANGED), DIFFERS),
        (passed(BLOCK), passed(("b", *BLOCK[1:])), INPUTS),
        (passed(BLOCK), passed(("a", 0x22000, BLOCK[2])), INPUTS),
        (passed(BLOCK), passed(BLOCK, BLOCK), INPUTS),
        (passed(), passed(), NONE),
        (Record(), passed(BLOCK), REFUSED_THERE),
        (None, passed(BLOCK), REFUSED_THERE),
        (passed(BLOCK), Record("refused", "UNPACR is not modelled"), REFUSED_HERE),
    ],
)
def test_outcomes(there, here, outcome):
    assert compared(there, here)[0] == outcome


def test_a_difference_names_its_first_word_and_both_values():
    _, text = compared(passed(BLOCK), passed(CHANGED))
    assert text == "at 0x21028 0x2b2a2928 there and 0x2b2a29ff here; 1 of 16 words"


def test_the_table_counts_by_file_and_lists_what_is_not_the_same():
    lines = table({"test_a.py::one": (SAME, ""), "test_a.py::two": (DIFFERS, "at 0x0"), "test_b.py::three": (SAME, "")})
    assert [line.split()[1:3] for line in lines[1:4]] == [["1", "1"], ["1", "0"], ["2", "1"]]
    assert lines[4:] == ["differs: test_a.py::two: at 0x0"]


# A suite in small: a device that is a dictionary, whose tests read a mailbox, a result, and what was there before them
SUITE = {
    "ttexalens/__init__.py": "",
    "ttexalens/tt_exalens_lib.py": """
memory = bytearray(b"x" * 0x200000)
def read_from_device(location, addr, num_bytes=4):
    return bytes(memory[addr : addr + num_bytes])
def write_to_device(location, addr, data):
    memory[addr : addr + len(data)] = data
def write_words_to_device(location, addr, data):
    write_to_device(location, addr, b"".join(word.to_bytes(4, "little") for word in data))
def load_elf(elf_file, risc_name):
    pass
""",
    "helpers/__init__.py": "",
    "helpers/test_config.py": """
class TestConfig:
    LAST_LOADED_ELFS = "those of the test before"
""",
    "conftest.py": """
import helpers.test_config
def pytest_addoption(parser):
    parser.addoption("--run-simulator", action="store_true")
""",
    "test_small.py": """
import os, pytest
from helpers.test_config import TestConfig
from ttexalens.tt_exalens_lib import load_elf, read_from_device, write_to_device
@pytest.mark.parametrize("number", range(5))
def test_reads(number):
    assert not any(read_from_device("0,0", 0x30000, num_bytes=64)), "of another test"
    assert str(TestConfig.LAST_LOADED_ELFS) == "."
    load_elf("program.elf", "trisc0")
    write_to_device("0,0", 0x30000, bytes([number]) * 64)
    read_from_device("0,0", 0x1000, num_bytes=12)
    read_from_device("0,0", 0x30000, num_bytes=64)
def test_refused():
    os.write(2, b"tensim: MOVD2A is not modelled\\n")
    assert False
def test_wrong():
    assert 1 == 2
""",
}


def elf(symbols):
    """A program of 16 bytes at 0x6000, with symbols behind them."""
    head = b"\x7fELF" + bytes(24) + struct.pack("<I8x3H", 52, 52, 32, 1)
    return head.ljust(52, b"\0") + struct.pack("<8I", 1, 84, 0, 0x6000, 16, 16, 5, 4) + bytes(range(16)) + symbols


def test_a_program_is_what_it_brings_into_memory(monkeypatch):
    monkeypatch.setitem(sys.modules, "ttexalens", types.SimpleNamespace(tt_exalens_lib=None))
    from tests.drop_in.llk_recorder import loaded

    assert loaded(elf(b"/tmp/one")) == loaded(elf(b"/tmp/other")) == struct.pack("<2I", 0x6000, 16) + bytes(range(16))


def test_what_is_recorded(tmp_path):
    """Results with a digest of their inputs, no mailboxes; the first and the last parametrisations; whose fault a failure is."""
    for name, text in SUITE.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "program.elf").write_bytes(elf(b""))
    report, log = tmp_path / "report.jsonl", tmp_path / "log"
    settings = {"folder": str(tmp_path), "files": ["test_small.py"], "limit": 3, "most": 9, "match": "", "seconds": 60}
    settings |= {"done": ["test_small.py::test_reads[2]"], "report": str(report), "log": str(log)}
    (tmp_path / "settings.json").write_text(json.dumps(settings))
    with open(log, "ab") as file:
        environment = os.environ | {"PYTHONPATH": str(tmp_path), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        words = [sys.executable, str(RECORDER), str(tmp_path / "settings.json")]
        subprocess.run(words, stdout=file, stderr=file, env=environment | {"PYTEST_ADDOPTS": "-p pytest_timeout -s"})
    found = {name.partition("::")[2]: record for name, record in records(report).items()}
    assert list(found) == ["test_reads[0]", "test_reads[4]", "test_refused", "test_wrong"], log.read_text()
    first, last = found["test_reads[0]"], found["test_reads[4]"]
    assert first.outcome == last.outcome == "passed"
    assert [(address, data) for _, address, data in last.blocks] == [(0x30000, bytes(64)), (0x30000, b"\x04" * 64)]
    assert first.blocks[0][0] == last.blocks[0][0] and first.blocks[1][0] != last.blocks[1][0]
    assert (found["test_refused"].outcome, found["test_refused"].why) == ("refused", "MOVD2A is not modelled")
    assert found["test_wrong"].outcome == "failed" and "1 == 2" in found["test_wrong"].why


SAMPLE = (
    Selection(("test_eltwise_unary_datacopy", "test_pack", "test_reduce"), 1, 2),
    Selection(("test_eltwise_unary_sfpu",), 1, 1, "Float32->Float32.*Xielu.*dest_acc:Yes"),
)


@pytest.mark.skipif(
    not (functional_simulator.FOLDER and functional_simulator.PYTHON and PYTHON),
    reason="no functional simulator, or no interpreter that has ttnn or tt-exalens",
)
@pytest.mark.timeout(2000)
@pytest.mark.parametrize("chip", list(functional_simulator.BUILDS))
def test_the_same_bits(chip, tmp_path):
    for number, selection in enumerate(SAMPLE):
        folder = Path(tmp_path, str(number))
        folder.mkdir()
        found = compare(chip, selection, folder)
        assert found and {outcome for outcome, _ in found.values()} <= {SAME, NONE}, "\n".join(table(found))
        assert SAME in {outcome for outcome, _ in found.values()}
