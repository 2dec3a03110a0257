"""A GDB remote stub: the RISC-V cores that run one kernel are the threads of a program that gdb debugs.

By the GDB manual's "Remote Protocol".  Time is one for all cores: while one thread steps, the others run, too.  Text is linked at
0, where L1 also begins: reads below the end of the text give the text.
"""

from __future__ import annotations

import select
import signal
import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tensim.debugger.commands import perform
from tensim.debugger.gdb_memory import PC, is_l1, put_register, read_memory, write_memory
from tensim.debugger.gdb_packets import Closed
from tensim.debugger.locations import Location, is_file
from tensim.debugger.session import Left
from tensim.debugger.texts import answer_text, thread_text
from tensim.sim.chip import inspection
from tensim.sim.cores.disassembly.instruction_text import REGISTERS
from tensim.sim.cores.riscv.decode import INSTRUCTION_BYTES
from tensim.sim.cores.riscv.program import ThreadProgram
from tensim.sim.cores.slots import THREAD_NAMES, THREADS_PER_CORE
from tensim.sim.errors import TensimError, UsageError

if TYPE_CHECKING:
    from tensim.debugger.gdb_packets import Connection
    from tensim.debugger.session import Session
    from tensim.debugger.stops import Breakpoint, Stop

TARGET = (
    '<?xml version="1.0"?><!DOCTYPE target SYSTEM "gdb-target.dtd"><target version="1.0">'
    '<architecture>riscv:rv32</architecture><feature name="org.gnu.gdb.riscv.cpu">'
    + "".join(f'<reg name="{name}" bitsize="32" type="int" regnum="{at}"/>' for at, name in enumerate(REGISTERS))
    + f'<reg name="pc" bitsize="32" type="code_ptr" regnum="{PC}"/></feature></target>'
)
FEATURES = "PacketSize=8000;QStartNoAckMode+;swbreak+;vContSupported+;qXfer:features:read+"
OK, FAILED, UNKNOWN = "OK", "E01", ""
TRAP, ABORT, INTERRUPTED = 5, 6, 2  # signals
SIGNALS = {"failed": ABORT, "interrupted": INTERRUPTED}
MOST_BYTES = 0x4000


def debuggable(programs: Mapping[int, Any]) -> dict[str, tuple[int, ThreadProgram]]:
    """{"FILE:THREAD": (base, program)} of the C++ kernels that run on RISC-V cores as the interpreter executes them."""
    return {
        f"{program.file}:{THREAD_NAMES[program.slot]}": (base, program)
        for base, program in programs.items()
        if isinstance(program, ThreadProgram) and program.decoded is not None
    }


def chosen(programs: Mapping[int, Any], wanted: str | None) -> tuple[int, ThreadProgram]:
    """(base, program) of the kernel that is called `wanted` (KERNEL or KERNEL:THREAD), or of the only one (None).

    UsageError when there is none, or several.
    """
    known = debuggable(programs)
    found = [key for key, (_, program) in known.items() if wanted is None or _is_called(program, wanted)]
    if len(found) == 1:
        return known[found[0]]
    if not known:
        raise UsageError(
            "the program runs no C++ kernel that gdb can debug",
            hint="examples have --param kernels=cpp; see docs/debugging.md",
        )
    what = "which kernel is gdb to debug?" if wanted is None or found else f"no C++ kernel {wanted} runs"
    raise UsageError(what, hint=f"--kernel KERNEL[:THREAD] of {', '.join(found or known)}")


def _is_called(program: ThreadProgram, wanted: str) -> bool:
    name, _, thread = wanted.rpartition(":")
    if thread.upper() in THREAD_NAMES:
        return is_file(program, name) and THREAD_NAMES[program.slot] == thread.upper()
    return is_file(program, wanted)


class GdbStub:
    """The driver of a session that a gdb leads; the program is left when gdb ends it.

    `accept()` returns its `Connection`, when the first kernel begins;
    `kernel`: as in `chosen`; `meet(program)`: called with the `ThreadProgram` before that.
    """

    session: Session  # that it drives, from its begin on
    left: Sequence[str] = ()
    error: TensimError | None = None

    def __init__(
        self,
        accept: Callable[[], Connection],
        kernel: str | None = None,
        meet: Callable[[ThreadProgram], object] = lambda program: None,
    ) -> None:
        self._accept, self._kernel, self._meet = accept, kernel, meet
        self._connection: Connection | None = None
        self._chosen: tuple[int, ThreadProgram] | None = None  # base and program of the kernel
        self._current, self._has_detached = -1, False
        self._stopped: Stop | None = None
        self._breakpoints: dict[int, Breakpoint] = {}  # by pc
        self._removed: set[int] = set()  # those of them that gdb has taken out since the last stop
        self.record: dict[str, list[Any]] = {"stops": [], "answers": []}

    @property
    def connection(self) -> Connection:
        """To gdb, since the first kernel has begun."""
        assert self._connection is not None
        return self._connection

    @property
    def base(self) -> int:
        """Of the kernel, in the line table."""
        return self._kernel_chosen()[0]

    @property
    def program(self) -> ThreadProgram:
        """The kernel's."""
        return self._kernel_chosen()[1]

    def _kernel_chosen(self) -> tuple[int, ThreadProgram]:
        assert self._chosen is not None
        return self._chosen

    def __call__(self, stop: Stop) -> None:
        if self._has_detached:
            return
        if self._connection is None:
            self._chosen = chosen(self.session.programs, self._kernel)
            self._meet(self.program)
            self._connection = self._accept()
            self.session.asks_to_stop = self.connection.is_interrupted
            self._current = self.threads()[0]
        try:
            self._stop(stop)
        except (Closed, ConnectionError):
            raise Left from None

    def _stop(self, stop: Stop) -> None:
        if stop.reason == "ended":
            self.connection.send("W00")
            self.connection.close()
            return
        if stop.thread in self.threads():
            self._current = stop.thread
        if stop.reason == "failed":
            self._console(f"{stop.text}\n")
        self._stopped = stop
        if stop.reason != "start":  # gdb asks for that
            self.connection.send(self._reply())
        while not self._answered(self.connection.receive()):
            pass
        if not self.session.can_run and not self._has_detached:
            self.connection.send(f"X{ABORT:02x}")
            self.connection.close()

    def _detached(self) -> bool:
        """gdb leaves the program alone, which goes on to its end."""
        self._has_detached, self.session.asks_to_stop = True, lambda: False
        self.session.delete(None)
        self.session.watch(None, 0, 0)
        self.connection.send(OK)
        self.connection.close()
        return True

    def _reply(self) -> str:
        """The stop as gdb is told it."""
        assert self._stopped is not None  # gdb asks at a stop
        reason = "swbreak:;" if self._stopped.reason == "breakpoint" else ""
        return f"T{SIGNALS.get(self._stopped.reason, TRAP):02x}thread:{self._current + 1:x};{reason}"

    def _answered(self, packet: str) -> bool:
        """Answer a packet; whether the program goes on then."""
        if packet.startswith(("c", "s", "C", "S", "vCont;")):
            return self._resumes(packet)
        if packet.startswith("D"):
            return self._detached()
        if packet.startswith(("k", "vKill")):
            raise Closed
        for prefix, answer in self._ANSWERS.items():
            if packet.startswith(prefix):
                try:
                    text = answer(self, packet[len(prefix) :])
                except (UsageError, ValueError, IndexError, KeyError):
                    text = FAILED
                self.connection.send(text)
                self.connection.acknowledges &= packet != "QStartNoAckMode"
                return False
        self.connection.send(UNKNOWN)
        return False

    # --- threads

    def threads(self) -> list[int]:
        """Threads that run the kernel."""
        table = self.session.chip.arrays["threads"]
        return [
            int(i)
            for i in ((table["line_base"] == self.base) & (table["riscv"] != 0) & (table["launch"] >= 0)).nonzero()[0]
        ]

    def _select(self, text: str) -> str:
        number = int(text, 16) if not text.startswith("-") else -1
        if number > 0:
            if number - 1 not in self.threads():
                return FAILED
            self._current = number - 1
        return OK

    def _about(self, text: str) -> str:
        return thread_text(inspection.thread(self.session.chip, int(text, 16) - 1)).encode().hex()

    # --- going on

    def _resumes(self, packet: str) -> bool:
        """Carry out a continue or a step; one that cannot be is refused."""
        actions = packet.split(";")[1:] if packet.startswith("vCont") else [packet[0]]
        steps = [one for one in actions if one[0] in "sS"]
        if not self.session.can_run:
            return True
        if steps:
            _, _, number = steps[0].partition(":")
            thread = int(number, 16) - 1 if number and int(number, 16) > 0 else self._current
            if thread not in self.threads():
                self.connection.send(FAILED)
                return False
            self.session.step(thread, by_line=False)
        else:
            # While one thread steps over a breakpoint, gdb has it taken out: for the others it stays
            for pc in self._removed:
                self.session.delete(self._breakpoints.pop(pc).number)
            self._removed.clear()
        return True

    def _insert(self, text: str) -> str:
        kind, address, size = text.split(",")
        if kind in "01":
            pc = int(address, 16)
            if pc % INSTRUCTION_BYTES or pc >= len(self.program.image.text):
                return FAILED
            self._removed.discard(pc)
            if pc not in self._breakpoints:
                location = Location(f"{pc:#x}", {(self.base, self.program): {pc // INSTRUCTION_BYTES}}, {})
                self._breakpoints[pc] = self.session.add(location)
            return OK
        if kind == "2" and self.session.watched is None:
            place, count = int(address, 16), int(size, 16)
            if 1 <= count <= 8 and is_l1(self.session.chip, place, count):
                self.session.watch(self._current // THREADS_PER_CORE, place, count)
                return OK
        return FAILED if kind == "2" else UNKNOWN

    def _remove(self, text: str) -> str:
        kind, address, _ = text.split(",")
        if kind in "01" and int(address, 16) in self._breakpoints:
            self._removed.add(int(address, 16))
            return OK
        if kind == "2":
            self.session.watch(None, 0, 0)
            return OK
        return UNKNOWN

    # --- registers and memory

    def _registers(self, _: str) -> str:
        values = inspection.registers(self.session.chip, self._current)
        return "".join(_word(values[name]) for name in (*REGISTERS, "pc"))

    def _register(self, text: str) -> str:
        number = int(text, 16)
        names = [*REGISTERS, "pc"]
        return _word(inspection.registers(self.session.chip, self._current)[names[number]]) if number <= PC else FAILED

    def _set_register(self, text: str) -> str:
        number, value = text.split("=")
        return self._put(int(number, 16), bytes.fromhex(value))

    def _set_registers(self, text: str) -> str:
        for number in range(PC + 1):
            if (said := self._put(number, bytes.fromhex(text[8 * number : 8 * number + 8]))) != OK:
                return said
        return OK

    def _read(self, text: str) -> str:
        address, size = (int(part, 16) for part in text.split(","))
        data = read_memory(self.session, self._current, self.program, address, min(size, MOST_BYTES))
        return data.hex() if data else FAILED

    def _put(self, number: int, data: bytes) -> str:
        return OK if put_register(self.session, self._current, self.program, number, data) else FAILED

    def _write(self, text: str) -> str:
        place, digits = text.split(":")
        address, size = (int(part, 16) for part in place.split(","))
        data = bytes.fromhex(digits)[:size]
        return OK if write_memory(self.session, self._current, self.program, address, data) else FAILED

    # --- the rest

    def _monitor(self, text: str) -> str:
        """A command of the debugger itself: `monitor cbs`."""
        line = bytes.fromhex(text).decode(errors="replace")
        self.session.selected = self._current
        try:
            found, answer = perform(self.session, line, may_resume=False)
            said = answer_text(found.name, answer) if found is not None else ""
        except UsageError as error:
            said = f"error: {error}"
        return f"{said}\n".encode().hex()

    def _console(self, text: str) -> None:
        self.connection.send("O" + text.encode().hex())

    # Longer prefixes first
    _ANSWERS: dict[str, Callable[[GdbStub, str], str]] = {
        "qSupported": lambda self, _: FEATURES, "QStartNoAckMode": lambda self, _: OK,
        "qXfer:features:read:target.xml:": lambda self, text: _target(text), "vCont?": lambda self, _: "vCont;c;C;s;S",
        "qfThreadInfo": lambda self, _: "m" + ",".join(f"{thread + 1:x}" for thread in self.threads()),
        "qsThreadInfo": lambda self, _: "l", "qThreadExtraInfo,": _about, "qRcmd,": _monitor, "qAttached": lambda self, _: "1",
        "qC": lambda self, _: f"QC{self._current + 1:x}", "?": lambda self, _: self._reply(),
        "T": lambda self, text: OK if int(text, 16) - 1 in self.threads() else FAILED, "Hg": _select,
        "Hc": lambda self, _: OK, "g": _registers, "G": _set_registers, "p": _register, "P": _set_register, "m": _read, "M": _write,
        "Z": _insert, "z": _remove,
    }  # fmt: skip


def _target(text: str) -> str:
    """The part of the target's description that gdb asks for: OFFSET,SIZE in hexadecimal."""
    offset, size = (int(part, 16) for part in text.split(","))
    part = TARGET[offset : offset + size]
    return ("l" if offset + size >= len(TARGET) else "m") + part


def _word(value: int) -> str:
    return value.to_bytes(4, "little").hex()


def accept(server: socket.socket, wait_seconds: float = 0.2) -> socket.socket:
    """The socket of the first debugger that connects; Ctrl-C ends the wait, whatever it does while the program runs."""
    on_main = threading.current_thread() is threading.main_thread()
    handler = signal.signal(signal.SIGINT, signal.default_int_handler) if on_main else None
    try:
        while not select.select([server], [], [], wait_seconds)[0]:
            pass
    finally:
        if on_main:
            signal.signal(signal.SIGINT, handler)
    stream, _ = server.accept()
    server.close()
    return stream
