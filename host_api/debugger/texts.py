"""Answers of the debugger's commands as lines for people."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeAlias

Answer: TypeAlias = dict[str, Any]  # of a command, as plain data
WIDTH = 100  # of a source line that is shown
SHOWN_COLUMNS, SHOWN_ROWS = 8, 8  # of a Dst tile


def stop_text(stop: Answer) -> str:
    """Lines of a stop as plain data (`tensim.debugger.stops.Stop.as_json`)."""
    lines = [f"cycle {stop['cycle']:,}: {stop['reason']}{': ' + stop['text'] if stop['text'] else ''}"]
    if stop["at"] is not None and stop["reason"] != "ended":
        lines.append(thread_text(stop["at"]))
        if stop["at"].get("source"):
            lines.append(f"    {stop['at']['line']:>5}  {stop['at']['source'][:WIDTH]}")
    return "\n".join(lines)


def thread_text(told: Answer) -> str:
    """A line about a thread."""
    at = f"{Path(told['file']).name}:{told['line']}" if told.get("file") else ""
    text = f"{told['core']} {told['thread']:6} {told['state']:7} {at}"
    if told["waits_for"]:
        return f"{text}  waits for {told['waits_for']}, since cycle {told['since']:,}"
    if told["state"] == "ended" or told["operation"] in ("spend", "start"):
        return text
    if told["operation"] in ("end", "instructions"):
        return f"{text}  {'returns' if told['operation'] == 'end' else 'executes instructions'}"
    return f"{text}  before {told['operation']}"


def answer_text(name: str, answer: Answer | None) -> str:
    """Lines of the answer of a command."""
    if not answer:
        return ""
    parts = [_PARTS[key](answer) for key in answer if key in _PARTS]
    return "\n".join(part for part in parts if part)


def _breakpoint(answer: Answer) -> str:
    one = answer["breakpoint"]
    pending = " (no kernel of that name is loaded yet)" if one["pending"] else ""
    condition = f" if {one['condition']}" if one["condition"] else ""
    return f"breakpoint {one['number']} at {one['location']}{condition}{pending}"


def _breakpoints(answer: Answer) -> str:
    lines = [_breakpoint({"breakpoint": one}) + f", hit {one['hits']} times" for one in answer["breakpoints"]]
    if answer["watched"]:
        one = answer["watched"]
        lines.append(f"watching {one['bytes']} bytes at {one['address']:#x} of core {one['core']}: {one['value']:#x}")
    return "\n".join(lines) or "no breakpoints"


def _threads(answer: Answer) -> str:
    return "\n".join(thread_text(one) for one in answer["threads"]) or "no thread runs"


def _thread(answer: Answer) -> str:
    return thread_text(answer["thread"])


def _source(answer: Answer) -> str:
    at = answer["thread"]["line"]
    calls = answer["calls"] if len(answer["calls"]) > 1 else ()
    lines = [
        f"  {'->' if one['line'] == at else '  '} {one['line']:>5}  {one['text'][:WIDTH]}" for one in answer["source"]
    ]
    return "\n".join([*lines, *(f"  in {call}" for call in calls)])


def _cause(answer: Answer) -> str:
    running = [f"  {thread_text(one)}" for one in answer["running"]]
    waiting = [f"  {line}" for line in answer["lines"]]
    return "\n".join([answer["cause"], *waiting, *(["these threads run:", *running] if running else [])])


def _circular_buffers(answer: Answer) -> str:
    if not answer["circular_buffers"]:
        return "no circular buffers"
    lines = [" CB  used pages  bytes  format     pushed  popped   address     write      read  from -> to"]
    for one in answer["circular_buffers"]:
        lines.append(
            f"{one['index']:3} {one['used']:5} {one['pages']:5} {one['page_bytes']:6}  {one['format']:9} {one['received']:7} "
            f"{one['acked']:7} {one['address']:#9x} {one['write_pointer']:#9x} {one['read_pointer']:#9x}  "
            f"{one['producer'] or '?'} -> {one['consumer'] or '?'}"
        )
    return "\n".join(lines)


def _semaphores(answer: Answer) -> str:
    lines = [f"semaphore {one['index']} at {one['address']:#x}: {one['value']}" for one in answer["semaphores"]]
    return "\n".join(lines) or "no semaphore has been changed"


def _sections(answer: Answer) -> str:
    return (
        f"Dst of core {answer['core']}: {answer['tiles']} tiles in {answer['sections']} sections; acquired {answer['acquired']}, "
        f"committed {answer['committed']}, released {answer['released']}"
    )


def _values(answer: Answer) -> str:
    rows = answer["values"]
    lines = [f"tile {answer['tile']} (the first {SHOWN_ROWS} rows and columns)"]
    lines += ["  ".join(f"{value:11.5g}" for value in row[:SHOWN_COLUMNS]) for row in rows[:SHOWN_ROWS]]
    return "\n".join(lines)


def _words(answer: Answer) -> str:
    words, address = answer["words"], answer["address"]
    return "\n".join(
        f"{address + 4 * at:#9x}  " + " ".join(f"{word:08x}" for word in words[at : at + 8])
        for at in range(0, len(words), 8)
    )


def _registers(answer: Answer) -> str:
    items = list(answer["registers"].items())
    return "\n".join(
        "  ".join(f"{name:>4} {value:08x}" for name, value in items[at : at + 8]) for at in range(0, len(items), 8)
    )


def instruction_text(one: Answer) -> str:
    """A line about an instruction."""
    at = f"  {Path(one['file']).name}:{one['line']}" if one["line"] else ""
    return f"{one['pc']:#7x}  {one['word']:08x}  {one['text']:40}{at}".rstrip()


def _instruction(answer: Answer) -> str:
    return instruction_text(answer["instruction"])


def _instructions(answer: Answer) -> str:
    return "\n".join(map(instruction_text, answer["instructions"]))


def _transactions(answer: Answer) -> str:
    lines = [
        f"{one['core']} {one['thread']:6} {one['kind']:12} {one['bytes']:6} bytes  NoC {one['noc']}  L1 {one['local']:#x}, "
        f"{one['target']} at {one['address']:#x}: {one['stage']}, since cycle {one['issued']:,}"
        for one in answer["transactions"]
    ]
    return "\n".join(lines) or "no NoC transaction is under way"


def _arguments(answer: Answer) -> str:
    return f"unique: {answer['unique']}\ncommon: {answer['common']}"


def _value(answer: Answer) -> str:
    return f"{answer['expression']} = {answer['value']}"


def _commands(answer: Answer) -> str:
    return "\n".join(
        f"{one['usage']:48} {one['help']}" + (f" ({', '.join(one['aliases'])})" if one["aliases"] else "")
        for one in answer["commands"]
    )


_PARTS = {  # key of an answer: what shows it
    "breakpoint": _breakpoint, "breakpoints": _breakpoints, "threads": _threads, "thread": _thread, "source": _source,
    "cause": _cause, "circular_buffers": _circular_buffers, "semaphores": _semaphores, "sections": _sections, "values": _values,
    "words": _words, "registers": _registers, "instruction": _instruction, "instructions": _instructions,
    "transactions": _transactions, "unique": _arguments, "value": _value, "commands": _commands,
}  # fmt: skip
