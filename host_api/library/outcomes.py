"""What became of a test of a survey, in words, and the tables of many.

`OUTCOMES`: a test has passed; failed; was refused, when something that it needs is not modelled and the error names it; took
longer than it may; was skipped, by itself or because it expects to fail.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

OUTCOMES = ("passed", "failed", "refused", "too slow", "skipped")
WORDS = 160  # characters of a reason
REFUSED = re.compile(
    r"(?:^|: )(?P<what>[^:\n]+ (?:is|are) not modelled[^\n]*|[^:\n]*which is no worker of[^\n]*)", re.M
)
PLACE = re.compile(r" \[(?:core|thread|cycle) [^\]]*\]$")  # of our errors: it differs from test to test
COMPILER = re.compile(r"^\S+:\d+(?::\d+)?: (?:fatal )?(?:error: )?(?P<text>.+)$", re.M)
BUILD = "Failed to generate binaries for"  # of the library's builds
MESSAGES = "Command's stderr:"  # of a build of the LLK suite's: the compiler's follow
INFO = re.compile(r"^info:\s*\n\s*(?P<text>.+)$", re.M)  # of the library's own checks


def judged(record: Mapping[str, Any]) -> tuple[str, str]:
    """(outcome, why in words) of what the library's process has said of a test (`survey_child`)."""
    said, outcome = record["message"], record["outcome"]
    if outcome == "passed":
        return "passed", ""
    if outcome == "skipped":
        return "skipped", _line(said.removeprefix("Skipped: "))
    refused = REFUSED.search(said)
    if refused is not None:
        return "refused", _line(PLACE.sub("", refused["what"]))
    return "failed", _why(record["phase"], record["error"], said)


def _why(phase: str, error: str, said: str) -> str:
    """The kind of a failure and its message's line that says most."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    first = PLACE.sub("", " ".join(lines[: 2 if lines[0].endswith(":") else 1])) if lines else ""
    if phase == "import":
        return _line(f"cannot be imported: {lines[-1].removeprefix('E ').strip() if lines else ''}")
    build = next((text for text in (BUILD, MESSAGES) if text in said), None)
    if build is not None:
        found = COMPILER.search(said[said.index(build) :])
        text = f"a kernel does not compile: {found['text'] if found else first}"
    elif error == "AssertionError":
        text = f"wrong: {first}"
    elif (info := INFO.search(said)) is not None:
        text = f"the library refuses: {info['text']}"
    else:
        text = f"{error}: {first}" if error not in ("", "RuntimeError") else first
    return _line(text if phase == "call" else f"{phase}: {text}")


def _line(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= WORDS else f"{text[: WORDS - 3]}..."


# --- tables


def tables(tests: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Of [{"family", "outcome", "why"}]: `families`, {family: {outcome: tests}}; `total`; `refused`, {what: tests}."""
    families = {}
    for test in tests:
        families.setdefault(test["family"], Counter())[test["outcome"]] += 1
    total, refused = Counter(), Counter(test["why"] for test in tests if test["outcome"] == "refused")
    for counts in families.values():
        total += counts
    return {
        "families": {name: _counts(families[name]) for name in sorted(families)},
        "total": _counts(total),
        "refused": dict(sorted(refused.items(), key=lambda item: (-item[1], item[0]))),
    }


def _counts(counter: Counter[str]) -> dict[str, int]:
    return {outcome: counter[outcome] for outcome in OUTCOMES}


def compared(tests: Iterable[Mapping[str, Any]], before: Iterable[Mapping[str, Any]]) -> dict[str, list[str]]:
    """{"worse", "better"}: names of tests that passed before and do not now, and the other way; only of those in both."""
    passed = {test["test"]: test["outcome"] == "passed" for test in before}
    both = [(test["test"], test["outcome"] == "passed") for test in tests if test["test"] in passed]
    return {
        "worse": [name for name, now in both if passed[name] and not now],
        "better": [name for name, now in both if now and not passed[name]],
    }
