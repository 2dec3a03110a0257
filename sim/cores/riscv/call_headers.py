"""Which of tt-metal's headers declare a call of compute kernels: one that includes none of them does not build for a card.

Our own headers declare every call at once.  So in front of a kernel the names of all calls become others, which nothing
declares, and each of tt-metal's header names takes back those that it, or what it includes, declares.  `call_headers.txt` is the
table: a line per header, "HEADER < what it includes: what it declares", of the releases that its first line names, taken
together: a call that has moved from one header to another is found in both.  `release_headers` makes it.
"""

import functools
import re
from pathlib import Path

TABLE = Path(__file__).with_name("call_headers.txt")
PREFIX = "tensim_undeclared_"  # of a call's name as long as no header has declared it
# of the same headers, by release
FOLDERS = ("api/compute/", "compute_kernel_api/", "tt_metal/include/compute_kernel_api/")


def plain(header):
    """The name of a compute header without the folder, which differs by release."""
    return next((header.removeprefix(folder) for folder in FOLDERS if header.startswith(folder)), header)


@functools.cache
def _table():
    """({header: what it includes}, {header: what it declares})."""
    includes, declares = {}, {}
    for line in TABLE.read_text().splitlines():
        if line.startswith("#"):
            continue
        head, _, names = line.partition(":")
        header, _, included = head.partition("<")
        includes[header.strip()], declares[header.strip()] = included.split(), names.split()
    return includes, declares


def headers():
    """All headers of the table."""
    return list(_table()[0])


@functools.cache
def calls():
    """All calls that a header has to declare."""
    return sorted({name for names in _table()[1].values() for name in names})


def declared_by(header):
    """The calls that a header of this name declares, with what it includes."""
    includes, declares = _table()
    seen, left = set(), [plain(header)]
    while left:
        one = left.pop()
        if one not in seen:
            seen.add(one)
            left += includes.get(one, ())
    return sorted({name for one in seen for name in declares.get(one, ())})


def header_of(call):
    """The header to include for a call."""
    found = [header for header, names in _table()[1].items() if call in names]
    return min(found, key=lambda header: (header.count("/"), len(header)))


def undeclared(message):
    """(call, header to include) when a compiler's message is about a call that no header has declared, else None."""
    found = re.search(rf"\b{PREFIX}(\w+)", message)
    return None if found is None else (found[1], FOLDERS[0] + header_of(found[1]))


@functools.cache
def hidden():
    """The text in front of a compute kernel that takes the calls away."""
    return "".join(f"#define {call} {PREFIX}{call}\n" for call in calls())


def given_back(header):
    """The text of a header that brings its calls back."""
    return "".join(f"#undef {call}\n" for call in declared_by(header))
