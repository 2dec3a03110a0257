"""The commands of `tensim debug`: what each does, and its answer as plain data, which `texts` shows to people."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, TypeVar

import numpy as np

from tensim.debugger.locations import core_index, kernels_named, number, thread_index
from tensim.debugger.stops import evaluated
from tensim.sim import state as st
from tensim.sim.chip import inspection
from tensim.sim.chip.deadlock import wait_for_graph
from tensim.sim.chip.places import core_name, thread_place
from tensim.sim.cores import context as ctx
from tensim.sim.cores.riscv.line_table import OWN_FOLDERS
from tensim.sim.cores.riscv.program import ThreadProgram
from tensim.sim.cores.slots import THREADS_PER_CORE
from tensim.sim.errors import UsageError

if TYPE_CHECKING:
    from tensim.debugger.session import Session
    from tensim.sim.chip.chip import Chip

Answer: TypeAlias = dict[str, Any]  # plain data
F = TypeVar("F", bound=Callable[..., Any])
CONDITION = re.compile(r"\s+if\s+")
MOST_BYTES, MOST_INSTRUCTIONS = 1 << 16, 200
ENTRY = "tensim_entry"  # what calls `kernel_main`
AROUND = 5  # lines of a kernel's source on each side of where a thread stands


@dataclass(frozen=True)
class Command:
    """`run(session, words)` returns its answer; `resumes`: then the program goes on."""

    name: str
    aliases: tuple[str, ...]
    usage: str
    help: str
    run: Callable[[Session, list[str]], Any]
    resumes: bool = False


COMMANDS: list[Command] = []


def command(names: str, usage: str, help: str, resumes: bool = False) -> Callable[[F], F]:
    """Declare a command; the first of `names` is its name."""
    name, *aliases = names.split()

    def declared(function: F) -> F:
        COMMANDS.append(Command(name, tuple(aliases), f"{name} {usage}".rstrip(), help, function, resumes))
        return function

    return declared


def known_commands() -> dict[str, Command]:
    """{name or alias: Command}."""
    return {name: one for one in COMMANDS for name in (one.name, *one.aliases)}


def parsed(line: str) -> tuple[Command | None, list[str]]:
    """(`Command` or None for an empty line, its words) of a line.  UsageError for one that is none."""
    head, *condition = CONDITION.split(line.strip(), maxsplit=1)
    try:
        words = shlex.split(head, comments=True)
    except ValueError as error:
        raise UsageError(f"{line!r}: {error}") from None
    if not words:
        return None, []
    known = known_commands()
    if words[0] not in known:
        longer = sorted({one.name for name, one in known.items() if name.startswith(words[0])})
        if len(longer) != 1:
            hint = f"did you mean {' or '.join(longer)}?" if longer else "`help` lists them"
            raise UsageError(f"there is no command {words[0]!r}", hint=hint)
        words[0] = longer[0]
    found = known[words[0]]
    if condition and found.name != "break":
        raise UsageError("only breakpoints have conditions")
    return found, [*words[1:], *(["if", condition[0]] if condition else [])]


def resumes(line: str) -> bool:
    """Whether the program goes on behind the command of a line."""
    found, _ = parsed(line)
    return found is not None and found.resumes


def perform(session: Session, line: str, may_resume: bool = True) -> tuple[Command | None, Answer | None]:
    """(the `Command` or None for an empty line, its answer).  UsageError for one that cannot be carried out now."""
    found, words = parsed(line)
    if found is None:
        return None, None
    if not may_resume and (found.resumes or found.run is quit_):
        raise UsageError(f"{found.name} is not for here")
    if found.resumes:
        session.require_running()
    return found, found.run(session, words)


def _none(words: list[str]) -> None:
    if words:
        raise UsageError(f"{' '.join(words)!r} is too much")


def _selected(session: Session, words: list[str]) -> int:
    """The thread that is meant: typed, or the selected one."""
    core = None if session.selected is None else session.selected // THREADS_PER_CORE
    if words:
        thread = thread_index(session.chip, words[0], core)
    elif session.selected is None:
        raise UsageError("no thread is selected", hint="name one, as 0,0:BRISC")
    else:
        thread = session.selected
    if session.stops.program(thread) is None or session.chip.arrays["threads"]["launch"][thread] < 0:
        place = thread_place(session.chip, thread)
        raise UsageError(f"{place['thread']} of core {place['core']} runs no kernel")
    return thread


def _core(session: Session, words: list[str]) -> int:
    """The worker core that is meant."""
    if words:
        return core_index(session.chip, words[0])
    return 0 if session.selected is None else session.selected // THREADS_PER_CORE


# --- running


@command("continue c run", "", "Go on to the next stop.", resumes=True)
def continue_(session: Session, words: list[str]) -> None:
    _none(words)


@command("until u", "CYCLE", "Go on until everything up to a cycle has happened.", resumes=True)
def until(session: Session, words: list[str]) -> None:
    cycle = number(words[0] if len(words) == 1 else "", "a cycle")
    if cycle < session.cycle:
        raise UsageError(f"cycle {cycle} is over; this is {session.cycle}")
    session.until(cycle)


@command("step s next n", "[COUNT] [X,Y:THREAD]", "Go on until a thread has come to another line.", resumes=True)
def step(session: Session, words: list[str]) -> None:
    _step(session, words, by_line=True)


@command("stepi si", "[COUNT] [X,Y:THREAD]", "The same by instruction, of a Python kernel by operation.", resumes=True)
def stepi(session: Session, words: list[str]) -> None:
    _step(session, words, by_line=False)


def _step(session: Session, words: list[str], by_line: bool) -> None:
    count = number(words[0]) if words and words[0].isdigit() else 1
    if count < 1:
        raise UsageError("the number of steps must be positive")
    thread = _selected(session, words[1:] if words and words[0].isdigit() else words)
    t = session.chip.arrays["threads"][thread]
    if t["state"] == st.ENDED:
        raise UsageError("the thread has ended")
    if t["executes"] != 0:
        raise UsageError("kernels at the instruction level cannot be stepped", hint="`until CYCLE` goes on")
    session.step(thread, by_line, count)


@command("quit q exit", "", "Leave the program where it is.")
def quit_(session: Session, words: list[str]) -> NoReturn:
    from tensim.debugger.session import Left

    raise Left


# --- stops


@command(
    "break b",
    "LOCATION [on X,Y[:THREAD]] [if CONDITION]",
    "Stop at FILE:LINE, KERNEL@ADDRESS (C++), or in front of an operation or call, as cb_wait_front.  A condition is a Python "
    "expression over cycle, x, y, thread, line, args[i], cb[i] (pages in it), sem[i], l1[address] and registers.",
)
def break_(session: Session, words: list[str]) -> Answer:
    options: dict[str, Any] = {}
    if len(words) > 1 and words[-2] == "if":
        *words, _, options["condition"] = words
    if len(words) == 3 and words[1] == "on":
        if ":" in words[2]:
            options["thread"] = thread_index(session.chip, words[2])
        else:
            options["core"] = core_index(session.chip, words[2])
        words = words[:1]
    if len(words) != 1:
        raise UsageError("where to stop?", hint="break LOCATION [on X,Y[:THREAD]] [if CONDITION]")
    return {"breakpoint": session.break_at(words[0], **options).as_json()}


@command("breakpoints info", "", "List breakpoints and how often they have stopped the program.")
def breakpoints(session: Session, words: list[str]) -> Answer:
    watched = session.watched
    told = None if watched is None else {
        "core": core_name(session.chip, watched.core), "address": watched.address, "bytes": watched.size, "value": watched.value,
    }  # fmt: skip
    return {"breakpoints": [one.as_json() for one in session.breakpoints.known.values()], "watched": told}


@command("delete d", "[NUMBER]", "Take a breakpoint away, or all.")
def delete(session: Session, words: list[str]) -> Answer:
    session.delete(number(words[0], "a breakpoint's number") if words else None)
    return breakpoints(session, [])


@command(
    "watch",
    "X,Y ADDRESS [BYTES]",
    "Stop behind each event that changes 1 to 8 bytes of a core's L1 (one place at a time).",
)
def watch(session: Session, words: list[str]) -> Answer:
    if len(words) not in (2, 3):
        raise UsageError("what to watch?", hint="watch X,Y ADDRESS [BYTES]")
    core, address = core_index(session.chip, words[0]), number(words[1], "an address")
    size = number(words[2]) if len(words) == 3 else 4
    if not 1 <= size <= 8:
        raise UsageError("1 to 8 bytes can be watched")
    _require_l1(session.chip, address, size)
    session.watch(core, address, size)
    return breakpoints(session, [])


@command("unwatch", "", "Watch nothing any more.")
def unwatch(session: Session, words: list[str]) -> Answer:
    session.watch(None, 0, 0)
    return breakpoints(session, [])


# --- looking


@command("threads t", "[X,Y]", "Where each thread stands and what it waits for, of one core or all.")
def threads(session: Session, words: list[str]) -> Answer:
    core = core_index(session.chip, words[0]) if words else None
    return {"threads": inspection.threads(session.chip, core)}


@command("thread", "X,Y:THREAD", "Select a thread, or one of the same core by its name alone.")
def thread(session: Session, words: list[str]) -> Answer:
    session.selected = _selected(session, words)
    return where(session, [])


@command("where w list l bt", "[X,Y:THREAD]", "The source around a thread, and the calls that it stands in.")
def where(session: Session, words: list[str]) -> Answer:
    index = _selected(session, words)
    told = inspection.thread(session.chip, index)
    return {"thread": told, "source": _source(session.stops.program(index), told), "calls": _calls(told)}


def _calls(told: Answer) -> list[str]:
    """The user's functions that a thread stands in, "FILE:LINE NAME", the innermost first."""
    return [one for one in told.get("frames", ()) if not one.startswith(OWN_FOLDERS) and not one.endswith(ENTRY)]


def _source(program: Any, told: Answer) -> list[Answer]:
    """[{"line", "text"}] around where a thread stands."""
    line = told.get("line")
    if not line:
        return []
    below = program.text_above({"file": told["file"], "line": line + AROUND})
    first = max(line - AROUND, 1)
    if isinstance(program, ThreadProgram):
        return [{"line": at, "text": below[at - 1]} for at in range(first, min(line + AROUND, len(below)) + 1)]
    return [{"line": at, "text": text} for at, text in sorted(program.lines.items()) if abs(at - line) <= AROUND]


@command(
    "why",
    "[X,Y:THREAD]",
    "Why the threads that wait do not go on: the cause first.  Of one thread: all that it waits for.",
)
def why(session: Session, words: list[str]) -> Answer:
    if not words:
        cause, lines, graph = wait_for_graph(session.chip)
        running = [one for one in inspection.threads(session.chip) if one["state"] == "running"]
        if running or not graph:  # not stuck, or not yet
            cause = f"{len(graph)} threads wait, {len(running)} run"
        return {"cause": cause, "lines": lines, "waiting": graph, "running": running}
    index = _selected(session, words)
    core = index // THREADS_PER_CORE
    told = inspection.thread(session.chip, index)
    return {
        "thread": told, "source": _source(session.stops.program(index), told), "calls": _calls(told),
        "circular_buffers": inspection.circular_buffers(session.chip, core),
        "semaphores": inspection.semaphores(session.chip, core), "transactions": inspection.transactions(session.chip, core),
    }  # fmt: skip


@command("cbs cb", "[X,Y]", "The circular buffers of a core.")
def cbs(session: Session, words: list[str]) -> Answer:
    core = _core(session, words)
    return {"core": core_name(session.chip, core), "circular_buffers": inspection.circular_buffers(session.chip, core)}


@command("semaphores sem", "[X,Y]", "The semaphores of a core that are not 0 or that somebody has changed.")
def semaphores(session: Session, words: list[str]) -> Answer:
    core = _core(session, words)
    return {"core": core_name(session.chip, core), "semaphores": inspection.semaphores(session.chip, core)}


@command("dst", "[X,Y] [TILE]", "The sections of a core's Dst, or the values of a tile in it.")
def dst(session: Session, words: list[str]) -> Answer:
    has_core = bool(words) and not words[0].isdigit()
    core, rest = _core(session, words[:1] if has_core else []), words[1:] if has_core else words
    told = {"core": core_name(session.chip, core)} | inspection.dst_sections(session.chip, core)
    if rest:
        tile = number(rest[0], "a tile")
        told |= {"tile": tile, "values": inspection.dst_tile(session.chip, core, tile).tolist()}
    return told


@command("l1 x", "X,Y ADDRESS [BYTES]", "Bytes of a core's L1, as 32-bit words.")
def l1(session: Session, words: list[str]) -> Answer:
    if len(words) not in (2, 3):
        raise UsageError("which memory?", hint="l1 X,Y ADDRESS [BYTES]")
    core, address = core_index(session.chip, words[0]), number(words[1], "an address")
    size = number(words[2]) if len(words) == 3 else 64
    _require_l1(session.chip, address, size)
    data = session.chip.memory.read_l1(core, address, size)
    return {"core": core_name(session.chip, core)} | _memory(address, data)


def _require_l1(chip: Chip, address: int, size: int) -> None:
    if not 0 < size <= MOST_BYTES or not 0 <= address <= chip.arch.l1_size - size:
        raise UsageError(
            f"{size} bytes at {address:#x} are not in L1, or too many", hint=f"L1 ends at {chip.arch.l1_size:#x}"
        )


@command("dram", "BANK ADDRESS [BYTES]", "Bytes of a DRAM bank, as 32-bit words.")
def dram(session: Session, words: list[str]) -> Answer:
    if len(words) not in (2, 3):
        raise UsageError("which memory?", hint="dram BANK ADDRESS [BYTES]")
    bank, address = number(words[0], "a bank"), number(words[1], "an address")
    size, chip = number(words[2]) if len(words) == 3 else 64, session.chip
    if (
        not 0 <= bank < chip.arch.dram_banks
        or not 0 < size <= MOST_BYTES
        or not 0 <= address <= chip.arch.dram_bank_bytes - size
    ):
        raise UsageError(
            f"{size} bytes at {address:#x} are not in bank {bank}, or too many",
            hint=f"{chip.arch.dram_banks} banks of {chip.arch.dram_bank_bytes:#x} bytes",
        )
    return {"bank": bank} | _memory(address, chip.memory.read_dram(bank, address, size))


def _memory(address: int, data: Any) -> Answer:
    data = bytes(data)
    padded = np.frombuffer(data.ljust(-(-len(data) // 4) * 4, b"\0"), "<u4")
    return {"address": address, "bytes": len(data), "words": padded.tolist()}


@command("registers r", "[X,Y:THREAD]", "Registers of a RISC-V core, and the instruction at which it stands.")
def registers(session: Session, words: list[str]) -> Answer:
    index = _selected(session, words)
    values = inspection.registers(session.chip, index)
    program = session.stops.program(index)
    at = inspection.instruction(program, session.stops.plain_records(program), values["pc"])
    return {"registers": values, "instruction": at}


@command(
    "disassemble dis",
    "[KERNEL] [ADDRESS]",
    "Instructions of a C++ kernel, or of the selected thread from where it stands.",
)
def disassemble(session: Session, words: list[str]) -> Answer:
    if words and not words[0][0].isdigit():
        found = [one for _, one in kernels_named(words[0], session.programs) if isinstance(one, ThreadProgram)]
        if not found or found[0].decoded is None:
            raise UsageError(f"no C++ kernel {words[0]} is loaded")
        program, pc, words = found[0], 0, words[1:]
    else:
        index = _selected(session, [])
        pc, program = inspection.registers(session.chip, index)["pc"], session.stops.program(index)
    pc = number(words[0], "an address") if words else pc
    end = min(len(program.image.text), pc + 4 * MOST_INSTRUCTIONS)
    if not 0 <= pc < end or pc % 4:
        raise UsageError(f"{pc:#x} is no address of an instruction")
    plain = session.stops.plain_records(program)
    return {
        "kernel": program.file,
        "instructions": [inspection.instruction(program, plain, at) for at in range(pc, end, 4)],
    }


@command("transactions noc", "[X,Y]", "NoC transactions under way, of one core or of all.")
def transactions(session: Session, words: list[str]) -> Answer:
    core = core_index(session.chip, words[0]) if words else None
    return {"transactions": inspection.transactions(session.chip, core)}


@command("args a", "[X,Y:THREAD]", "Runtime arguments of a thread's kernel: unique ones, common ones.")
def args(session: Session, words: list[str]) -> Answer:
    index = _selected(session, words)
    chip = session.chip
    context, core = chip.arrays["contexts"][index], index // THREADS_PER_CORE

    def read(address: int, count: int) -> list[int]:
        return chip.l1[core, address : address + 4 * count].view(np.uint32).tolist()

    unique = read(int(context[ctx.L1_ARGS]), int(context[ctx.N_ARGS]))
    return {"unique": unique, "common": read(int(context[ctx.L1_COMMON_ARGS]), int(context[ctx.N_COMMON_ARGS]))}


@command("print p", "EXPRESSION", "The value of an expression over the names that conditions have.")
def print_(session: Session, words: list[str]) -> Answer:
    text = " ".join(words)
    try:
        code = compile(text, "expression", "eval")
    except (SyntaxError, ValueError) as error:
        raise UsageError(f"{text!r} is no expression: {error}") from None
    value = evaluated(code, text, session.chip, session.selected or 0)
    return {"expression": text, "value": value if isinstance(value, int | float | str | bool | list) else str(value)}


@command("help h", "[COMMAND]", "What commands there are.")
def help_(session: Session, words: list[str]) -> Answer:
    chosen = COMMANDS if not words else [one for one in COMMANDS if words[0] in (one.name, *one.aliases)]
    if not chosen:
        raise UsageError(f"there is no command {words[0]!r}")
    return {"commands": [{"usage": one.usage, "aliases": list(one.aliases), "help": one.help} for one in chosen]}
