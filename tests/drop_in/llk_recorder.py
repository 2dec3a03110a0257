"""Runs files of the vendor's LLK suite and records what the host reads back as results: run by the suite's Python, without tensim.

    python llk_recorder.py SETTINGS

SETTINGS is a JSON file: `folder`, of the suite; `files`, to run; `limit`, of parametrisations of a test function, and `most`, of
tests of a file; `match`, a regular expression that is found in their names; `done`, names of tests to leave out; `seconds`, that a
test may take; `log`, the file to which all that this process and the device say goes; `report`, the file to write.

A line of JSON at a time: {"selected": tests}; {"begins": test}; for each block that was read {"inputs": digest of all that the test
had written and loaded, "address", "data": in hexadecimal}; {"test", "outcome", "why"}.
"""

import hashlib
import json
import os
import random
import re
import struct
import sys
from pathlib import Path

import pytest
from ttexalens import tt_exalens_lib

SMALLEST = 32  # bytes of a result: what is shorter are mailboxes, which are polled, lengths and guard words
# L1 that tests use beside programs and their own buffers: cleared, so that both devices begin with the same
FIRST, LAST = 0x21000, 0x16A000
PIECE = 2048  # bytes of a write
LOAD = 1  # kind of a segment of an ELF file: PT_LOAD
FIRMWARE = "brisc.elf"  # is loaded once in a process, whatever the tests
OPTIONS = ["--run-simulator", "-q", "--tb=short", "-o", "log_cli=false", "-p", "no:cacheprovider"]
# of our device, which goes on; the functional simulator ends the process
OWN_ERROR = re.compile(r"^tensim: ([^\n]+)", re.M)
LONGEST = 2000  # characters of a reason that are kept: its end


def spread(items, limit):
    """At most `limit` of some items, the first and the last among them, at even distances."""
    if len(items) <= limit:
        return items
    return [items[round(i * (len(items) - 1) / max(1, limit - 1))] for i in range(limit)]


def loaded(elf):
    """What a 32-bit ELF file brings into memory: addresses and contents of its segments.  Its symbols name temporary files."""
    (first,), (size, count) = struct.unpack_from("<I", elf, 28), struct.unpack_from("<2H", elf, 42)
    heads = (struct.unpack_from("<8I", elf, first + number * size) for number in range(count))
    return b"".join(
        struct.pack("<2I", address, in_memory) + elf[offset : offset + in_file]
        for kind, offset, _, address, in_file, in_memory, _, _ in heads
        if kind == LOAD
    )


class Recorder:
    """The hooks of pytest, and what stands around the accesses of tt-exalens."""

    def __init__(self, settings):
        self._settings, self._log = settings, Path(settings["log"])
        self._file = open(settings["report"], "a", encoding="utf-8")  # noqa: SIM115
        self._inputs, self._recording, self._outcome, self._log_begin = hashlib.sha256(), False, None, 0
        self._write = tt_exalens_lib.write_to_device
        for name in ("read_from_device", "write_to_device", "write_words_to_device", "load_elf"):
            setattr(tt_exalens_lib, name, getattr(self, f"_around_{name}")(getattr(tt_exalens_lib, name)))

    def _say(self, **record):
        self._file.write(json.dumps(record) + "\n")
        self._file.flush()

    # --- accesses

    def _around_read_from_device(self, function):
        def read_from_device(location, addr, *rest, **named):
            data = function(location, addr, *rest, **named)
            if self._recording and len(data) >= SMALLEST:
                self._say(inputs=self._inputs.hexdigest()[:16], address=addr, data=bytes(data).hex())
            return data

        return read_from_device

    def _around_write_to_device(self, function):
        def write_to_device(location, addr, data, *rest, **named):
            if len(data) >= SMALLEST:
                self._inputs.update(f"{addr} ".encode() + bytes(data))
            return function(location, addr, data, *rest, **named)

        return write_to_device

    def _around_write_words_to_device(self, function):
        def write_words_to_device(location, addr, data, *rest, **named):
            if not isinstance(data, int) and 4 * len(data) >= SMALLEST:
                self._inputs.update(f"{addr} {list(data)}".encode())
            return function(location, addr, data, *rest, **named)

        return write_words_to_device

    def _around_load_elf(self, function):
        def load_elf(elf_file, *rest, **named):
            if Path(elf_file).name != FIRMWARE:
                self._inputs.update(loaded(Path(elf_file).read_bytes()))
            return function(elf_file, *rest, **named)

        return load_elf

    # --- hooks

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items):
        items[:] = [item for item in items if re.search(self._settings["match"], item.nodeid)]
        for mark, most in (("[", self._settings["limit"]), ("::", self._settings["most"])):
            groups = {}
            for item in items:
                groups.setdefault(item.nodeid.partition(mark)[0], []).append(item)
            items[:] = [item for group in groups.values() for item in spread(group, most)]
        self._say(selected=[item.nodeid for item in items])
        items[:] = [item for item in items if item.nodeid not in self._settings["done"]]

    def pytest_runtest_logstart(self, nodeid):
        self._outcome = {"outcome": "passed", "why": ""}
        self._log_begin = self._log.stat().st_size
        self._say(begins=nodeid)

    def pytest_runtest_call(self, item):
        """The same state of L1, the same chance and the same digest whatever ran before, on either device."""
        for address in range(FIRST, LAST, PIECE):
            self._write("0,0", address, bytes(PIECE))
        random.seed(0)
        if "numpy" in sys.modules:
            sys.modules["numpy"].random.seed(0)
        sys.modules[
            "helpers.test_config"
        ].TestConfig.LAST_LOADED_ELFS = Path()  # whose programs would stay where they are
        self._inputs, self._recording = hashlib.sha256(), True

    def pytest_runtest_teardown(self, item):
        self._recording = False

    def pytest_runtest_logreport(self, report):
        if report.outcome != "passed" and self._outcome["outcome"] == "passed":
            self._outcome = {"outcome": report.outcome, "why": str(report.longrepr)[-LONGEST:]}

    def pytest_runtest_logfinish(self, nodeid):
        said = OWN_ERROR.search(self._log.read_bytes()[self._log_begin :].decode(errors="replace"))
        if said:
            self._outcome = {"outcome": "refused", "why": said[1]}
        self._say(test=nodeid, **self._outcome)


def main(path):
    settings = json.loads(Path(path).read_text())
    sys.path.pop(0)  # this file's folder
    os.chdir(settings["folder"])
    sys.argv[1:] = [*OPTIONS, f"--timeout={settings['seconds']}", *settings["files"]]  # the suite looks at them
    sys.exit(pytest.main(sys.argv[1:], plugins=[Recorder(settings)]))


if __name__ == "__main__":
    main(sys.argv[1])
