"""Kernels as RISC-V programs: verified ELFs, one per thread, with what a chip needs to start them and reports to name lines."""

import functools
import hashlib
from pathlib import Path

import numpy as np

from tensim.sim.cores.operations import Op, belongs
from tensim.sim.cores.riscv.cpp_texts import ENTRY
from tensim.sim.cores.riscv.decode import INSTRUCTION_BYTES, Code, Decoded, decode
from tensim.sim.cores.riscv.elf import MAX_STRING, Image, load_elf, text_address_of
from tensim.sim.cores.riscv.layout import TEXT_ADDRESSES, TEXT_ROOM, local_bytes
from tensim.sim.cores.riscv.line_table import OWN_FOLDERS, LineTable
from tensim.sim.cores.riscv.polling import polling_rows
from tensim.sim.lazy_dataclass import dataclass


@functools.lru_cache(maxsize=256)
def _source_lines(file):
    """The lines of a source file, nothing when it is not there (any more)."""
    try:
        if not Path(file).is_file():  # whoever opens a pipe waits
            return ()
        with open(file, errors="replace") as stream:
            return tuple(stream.read().splitlines())
    except (OSError, ValueError):
        return ()


@dataclass(frozen=True, eq=False)
class ThreadProgram:
    """What one thread of a kernel runs.  A row of the line table is an instruction.

    `folders`: where files must lie that are quoted because the binary names them, None: anywhere.
    """

    name: str
    file: str
    slot: int  # of the threads that run it
    image: Image
    decoded: Decoded | None  # None at the instruction level
    text: str | None = None  # of a kernel that lies in no file
    folders: tuple | None = None
    text_address: int = 0  # where it is linked

    first_row = 0

    @property
    def n_rows(self):
        """Rows that the program takes in the machine's line table."""
        return len(self.image.text) // INSTRUCTION_BYTES

    @functools.cached_property
    def line_table(self):
        first_end = max((size for address, size, _ in self.image.symbols if address == 0), default=0)
        return LineTable(self.image.raw, first_end)

    @functools.cached_property
    def polls(self):
        """Rows of loads that wait for another's write."""
        return polling_rows(self.decoded.records) if self.decoded is not None else frozenset()

    def place(self, row):
        """{"file", "line", "source", ...} of an instruction; "frames" where it belongs to inlined calls."""
        address = self.text_address + INSTRUCTION_BYTES * row - self.image.moved
        place = {"file": self.file, "line": 0, "source": "", "pc": address}
        frame = self._own_frame(address) or self.line_table.place(address)
        if frame is None:
            return place
        if frame.file.startswith(OWN_FOLDERS):  # before the kernel's first line, or behind its last
            return place | self.entry
        is_own = Path(frame.file).name == Path(self.file).name  # also of a kernel that was given as text
        place |= {"line": frame.line, "source": self._source(frame, is_own)} | ({} if is_own else {"file": frame.file})
        frames = self.line_table.frames(address)
        if len(frames) > 1:
            place["frames"] = [f"{item.file}:{item.line} {item.function}".rstrip() for item in frames]
        return place

    def text_above(self, place):
        """The lines of a place's file down to it, where they may be quoted."""
        if self.text is not None and place["file"] == self.file:
            lines = self.text.splitlines()
        else:
            lines = _source_lines(place["file"]) if self._is_quoted(place["file"]) else ()
        return lines[: place["line"]]

    def _own_frame(self, address):
        """At the instruction level, the kernel's own line, from which an instruction inside of the LLK was called."""
        frames, own = self.line_table.frames(address) if self.text_address else (), Path(self.file).name
        return next(
            (frame for frame in frames if Path(frame.file).name == own or frame.function == "kernel_main"), None
        )

    @property
    def entry(self):
        """The line of the file or text in which `kernel_main` begins."""
        lines = self.text.splitlines() if self.text is not None else _source_lines(self.file)
        for number, line in enumerate(lines, 1):
            if ENTRY.search(line):
                return {"file": self.file, "line": number, "source": line.strip()}
        return {"file": self.file}

    def _source(self, frame, is_own):
        """Text of a frame's line."""
        if is_own and self.text is not None:
            lines = self.text.splitlines()
        else:
            lines = _source_lines(frame.file) if self._is_quoted(frame.file) else ()
        return lines[frame.line - 1].strip() if 0 < frame.line <= len(lines) else ""

    def _is_quoted(self, file):
        if self.folders is None:
            return True
        try:
            place = Path(file).resolve()
        except (OSError, ValueError):
            return False
        return any(place.is_relative_to(Path(folder).resolve()) for folder in self.folders)

    def message(self, address):
        """Text of an assertion."""
        return self.image.string_at(address)

    def printed_text(self, address):
        """A text that the kernel prints, None where it lies in its local memory; at the instruction level the program holds it."""
        start = address - self.text_address
        if self.text_address and 0 <= start < len(self.image.text):
            return self.image.text[start : start + MAX_STRING].split(b"\0")[0].decode(errors="replace")
        return self.image.string_at(address)

    def zone(self, offset):
        """Name of a profiler zone."""
        return self.image.zone_at(offset)


class RiscvKernel:
    """A kernel ready to run, in the role of `tensim.sim.cores.kernels.compiler.CompiledKernel`.

    `elves`: ELF file of each thread slot (0 BRISC, 1 NCRISC, 2 to 4 TRISC0 to 2); `arch`: the chip they are for;
    `text`: the source, where it lies in no file; `folders`: see `ThreadProgram`.  Raises BinaryError with offset and field.
    """

    is_riscv = True
    loaded_data_reaches_control = None  # found where it happens (`tensim.sim.cores.faults.Fault.DATA_NOT_KNOWN`)

    def __init__(self, name, file, elves, arch, text=None, folders=None):
        self.name, self.file = name, str(file)
        self.programs = {}
        for slot, raw in elves.items():
            address = text_address_of(raw)
            address = address if address - TEXT_ADDRESSES.get(slot, address + 1) in range(TEXT_ROOM) else 0
            image = load_elf(raw, local_bytes(arch, slot), address)
            decoded = decode(image.text) if address == 0 else None
            self.programs[slot] = ThreadProgram(name, self.file, slot, image, decoded, text, folders, address)

    @property
    def executes(self):
        """Is it a compute kernel at the instruction level?  Its texts are linked at `layout.TEXT_ADDRESSES`."""
        return any(program.text_address for program in self.programs.values())

    @property
    def text_bytes(self):
        """Size of all its binaries, with their initial data."""
        return sum(
            len(program.image.text) + sum(len(data) for _, data in program.image.data)
            for program in self.programs.values()
        )

    @property
    def digest(self):
        """Hash of the binaries (hex)."""
        joined = b"".join(slot.to_bytes(1, "little") + one.image.raw for slot, one in sorted(self.programs.items()))
        return hashlib.sha256(joined).hexdigest()

    @property
    def entry(self):
        """Where the kernel begins: {"file", "line", "source"}, of the first thread that runs it."""
        return next(iter(self.programs.values())).entry

    def misplaced(self):
        """(operation, slot, place) of an operation that its thread has not, None when there is none.

        tt-metal declares calls to kernels of one kind alone; ours share their headers, so the code is looked at.
        """
        for slot, program in self.programs.items():
            if program.decoded is None:
                continue
            records, operands = program.decoded.records, program.decoded.operands
            rows = np.flatnonzero(records & 255 == Code.OPERATION)
            operations = operands[records[rows] >> 32]
            for op in np.unique(operations).tolist():
                if not belongs(op, slot):
                    return Op(op), slot, program.place(int(rows[operations == op][0]))
        return None

    def not_modelled(self):
        """[(what it says, place as of `ThreadProgram.place`)] of calls in the code that the machine has no operation for."""
        return [
            (said, program.place(address // INSTRUCTION_BYTES))
            for program in self.programs.values()
            for address, said in program.image.not_modelled
        ]

    def on(self, slot):
        """What a thread slot runs."""
        return self.programs[slot]
