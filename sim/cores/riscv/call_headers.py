"""Which of tt-metal's headers declare a call of compute kernels: one that includes none of them does not build for a card.

Our own headers declare every call at once.  So in front of a kernel the names of all calls become others, which nothing
declares, and each of tt-metal's header names takes back those that it, or what it includes, declares.  `call_headers.txt` is the
table: a line per header, "HEADER < what it includes: what it declares", of the releases that its first line names, taken
together: a call that has moved from one header to another is found in both.  This program writes it from the folders tt_metal
of releases: python -m tensim.sim.cores.riscv.call_headers TT_METAL... > call_headers.txt.
"""

import functools
import re
import sys
from pathlib import Path

TABLE = Path(__file__).with_name("call_headers.txt")
PREFIX = "tensim_undeclared_"  # of a call's name as long as no header has declared it
FOLDERS = (
    "api/compute/",
    "compute_kernel_api/",
    "tt_metal/include/compute_kernel_api/",
)  # of the same headers, by release
SOURCES = (
    "hw/inc",
    "include",
    "hw/ckernels",
    "third_party/tt_llk",
    "hostdevcommon",
)  # of a release, that kernels include
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
INCLUDE = re.compile(r'#\s*include\s*["<]([^">]+)[">]')
DECLARED = re.compile(r"^(?:ALWI|FORCE_INLINE|inline|static)\b[^\n;={}()]*?\b(\w+)\s*\(", re.M)
MACRO = re.compile(r"^\s*#\s*define\s+(\w+)", re.M)
CALL = re.compile(
    r"_(?:tiles?|init|uninit|block)(?:_|$)|^(?:reduce|pack|untilize|tilize|matmul|copy|transpose|unary|tile_regs)_"
)


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


# --- making the table


def read_release(folder):
    """({header: API headers that it includes}, {header: calls that it declares}) of a release's folder tt_metal."""
    files = {
        path: COMMENT.sub("", path.read_text(errors="replace"))
        for source in SOURCES
        for path in sorted((Path(folder) / source).rglob("*.h*"))
    }
    named = {path: _api_name(path) for path in files}
    by_end = {}
    for path in files:
        by_end.setdefault(path.name, []).append(path)
    direct = {
        path: [
            other
            for name in INCLUDE.findall(text)
            for other in by_end.get(name.rpartition("/")[2], ())
            if str(other).endswith(f"/{name}")
        ]
        for path, text in files.items()
    }
    others = [text for path, text in files.items() if named[path] is None]
    elsewhere = {name for text in others for what in (DECLARED, MACRO) for name in what.findall(text)}
    includes, declares = {}, {}
    for path, text in files.items():
        reached = sorted({named[one] for one in _through_others(path, direct, named)})
        found = [] if named[path] is None else sorted(set(filter(CALL.search, DECLARED.findall(text))) - elsewhere)
        for header in [named[path]] if named[path] else _names_of(path, folder):
            includes[header] = reached
            declares[header] = found
    return includes, declares


def _api_name(path):
    """The name of a compute header; None for other headers."""
    text = str(path)
    for folder in ("/hw/inc/api/compute/", "/include/compute_kernel_api/"):
        if folder in text:
            return text.partition(folder)[2]
    return "compute_kernel_api.h" if text.endswith("/include/compute_kernel_api.h") else None


def _names_of(path, folder):
    """What kernels may call a header that is none of the compute API's."""
    from tensim.sim.cores.riscv.header_names import forwarders

    return [name for name in forwarders() if f"/{path.relative_to(folder)}".endswith(f"/{name}")]


def _through_others(path, direct, named):
    """The compute headers that a file includes, itself or through other ones."""
    seen, left, found = {path}, list(direct[path]), set()
    while left:
        one = left.pop()
        if one in seen:
            continue
        seen.add(one)
        if named[one] is None:
            left += direct[one]
        else:
            found.add(one)
    return found


def main(folders):
    """Print the table of some releases together."""
    includes, declares = {}, {}
    for folder in folders:
        for into, found in zip((includes, declares), read_release(folder), strict=True):
            for header, names in found.items():
                into.setdefault(header, set()).update(names)
    print("# Compute headers of tt-metal 0.66 to 0.81: HEADER < what it includes: the calls that it declares")
    for header in sorted(includes):
        if includes[header] or declares[header]:
            included = f" < {' '.join(sorted(includes[header]))}" if includes[header] else ""
            print(f"{header}{included}: {' '.join(sorted(declares[header]))}".rstrip())


if __name__ == "__main__":
    main(sys.argv[1:])
