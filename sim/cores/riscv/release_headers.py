"""The table of `call_headers`: which compute headers of tt-metal's releases include and declare what.

python -m tensim.sim.cores.riscv.release_headers TT_METAL... > call_headers.txt, with the folders tt_metal of releases.
"""

import re
import sys
from pathlib import Path

from tensim.sim.cores.riscv.header_names import forwarders

# of a release: what kernels include
SOURCES = ("hw/inc", "include", "hw/ckernels", "third_party/tt_llk", "hostdevcommon")
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
INCLUDE = re.compile(r'#\s*include\s*["<]([^">]+)[">]')
DECLARED = re.compile(r"^(?:ALWI|FORCE_INLINE|inline|static)\b[^\n;={}()]*?\b(\w+)\s*\(", re.M)
MACRO = re.compile(r"^\s*#\s*define\s+(\w+)", re.M)
# of the names of functions: those that no other header and no kernel of its own has
CALL = re.compile(
    r"_(?:tiles?|init|uninit|block)(?:_|$)|^(?:reduce|pack|untilize|tilize|matmul|copy|transpose|unary|tile_regs)_"
)


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
