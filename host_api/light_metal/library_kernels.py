"""Kernels that a Light Metal binary names by their library's file: where they lie, of which release, whether they compile."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tensim.sim.compile_budget import CompileBudget
from tensim.sim.cores.riscv.kernel import include_roots
from tensim.sim.cores.riscv.refusals import UNDECLARED
from tensim.sim.errors import TensimError, UsageError
from tensim.sim.host.frozen_program import FrozenCircularBuffer, FrozenKernel, build_target
from tensim.sim.kernel_source import kernel_from_file
from tensim.traces.light_metal.read import UNNAMED_CHIP, described_chip
from tensim.traces.light_metal.values import circular_buffer_tables, cores_of, integers, kernel_config, value

if TYPE_CHECKING:
    from tensim.sim.arch import Arch
    from tensim.traces.flatbuffers.tables import Node
    from tensim.traces.light_metal.binary import Binary

# buffers of newer releases lie above it (docs/hardware/light_metal.md#which-release-a-file-is-of)
HIGH_DRAM_BASE = 1 << 20
ACCESSOR_CONFIGS = (0, 2)  # first words of an interleaved tensor's accessor: in L1, in DRAM
LIBRARY_FOLDERS = ("ttnn", "tt_metal")  # in which a library's own kernels lie
# What releases are called that a file may be of: (first, last) of their minor numbers
RELEASES = {
    "0.67 or earlier": (0, 67),
    "0.68 or later": (68, 999),
    "0.68 to 0.80": (68, 80),
    "0.70 or later": (70, 999),
}
DIST_INFO = re.compile(r"ttnn-([\d.]+)\.dist-info")


def find_kernel(file_name: str, folders: Iterable[str | Path]) -> tuple[Path, Any]:
    """(path, kernel) of a file below some folders, or of its Python counterpart; UsageError with the places that were tried.

    A folder may lie in the library that the kernels belong to: from its roots come the headers, and the files that are named
    by their place in the library.  Nothing else is opened, whatever the file name says, and whatever the macros that the binary
    defines make of a kernel.
    """
    missing = f"the binary does not contain the source of kernel {file_name!r}"
    if not file_name or "\0" in file_name or Path(file_name).is_absolute() or ".." in Path(file_name).parts:
        raise UsageError(missing, hint="a kernel is looked up by a relative name without '..'")
    names = dict.fromkeys((Path(file_name), Path(file_name).with_suffix(".py")))
    given, roots = list(map(Path, folders)), [root for folder in folders for root in include_roots(folder)]
    searched = [(folder, place) for name in names for folder in given for place in (name, Path(name.name))]
    searched += [(root, name) for name in names for root in roots if name.parts[0] in LIBRARY_FOLDERS]
    tried = list(dict.fromkeys(searched))
    for folder, place in tried:
        path = folder / place
        if path.is_file() and path.resolve().is_relative_to(folder.resolve()):
            return path, kernel_from_file(path, (*roots, *given), header_defines(roots), CompileBudget(math.inf))
    hint = (
        "tried " + ", ".join(str(folder / place) for folder, place in tried) if tried else "--kernel-path FOLDER has it"
    )
    raise UsageError(missing, hint=hint)


def header_defines(roots: Sequence[str | Path]) -> tuple[tuple[str, str], ...]:
    """Definitions for our headers in kernels of a library: what its own headers and host code do differently.

    A vector function whose template argument does not say whether it approximates takes the default of the library's headers.
    The arguments that its host code makes for tensor accessors hold the page size from 0.68 on
    (docs/hardware/kernel_api.md#tensor-accessors).  power_tile takes the bits of a float where power_iterative_tile has come
    to take an integer, which it took itself before (0.66).  The type of what is bound to a name tells how a circular buffer
    is reached from 0.81 on, and which semaphore it is before.
    """
    defines = [("TENSIM_LIBRARY_DEFAULTS", "1")]
    places = (ACCESSOR_HEADERS, COMPUTE_HEADERS, BUFFER_TOKENS, SEMAPHORE_TOKENS)
    accessors, compute, buffers, semaphores = (_texts(roots, *one) for one in places)
    if accessors and not any("AlignedPageSize" in text for text in accessors):
        defines.append(("TENSIM_ACCESSOR_PAGE_WORD", "0"))
    if compute and not any("power_iterative_tile" in text for text in compute):
        defines.append(("TENSIM_INTEGER_EXPONENT", "1"))
    if buffers and not any(TYPED_TOKEN.search(text) for text in buffers):
        defines.append(("TENSIM_UNTYPED_BUFFER_TOKENS", "1"))
    if any(TYPED_TOKEN.search(text) for text in semaphores):
        defines.append(("TENSIM_TYPED_SEMAPHORE_TOKENS", "1"))
    return tuple(defines)


ACCESSOR_HEADERS = ("tt_metal/hw/inc/api/tensor/tensor_accessor_args.h",)
COMPUTE_HEADERS = ("tt_metal/include/compute_kernel_api.h", "tt_metal/hw/inc/api/compute/compute_kernel_api.h")
# of releases from 0.79 on, and before
BUFFER_TOKENS = tuple(f"tt_metal/hw/inc/api/dataflow/{name}.h" for name in ("dfb_binding_token", "dataflow_buffer"))
SEMAPHORE_TOKENS = ("tt_metal/hw/inc/api/dataflow/semaphore_binding_token.h",)
TYPED_TOKEN = re.compile(r"template\s*<[^>]*>\s*struct (DFB|Semaphore)BindingToken\b")


def _texts(roots: Iterable[str | Path], *places: str) -> list[str]:
    """The files that there are at places below folders."""
    paths = (Path(root) / place for root in roots for place in places)
    return [path.read_text(errors="replace") for path in paths if path.is_file()]


def library_kernels(binary: Binary, folders: Sequence[str | Path] = ()) -> dict[str, Any] | None:
    """What `tensim inspect` tells of the kernels without text in a binary, as plain data; None when there are none.

    `kernels`: one per command, with `status` "built", "refused", "failed", "not found", or None without folders; `fits`:
    whether the folders are of a release that the file may be of, None when nobody knows.
    """
    nodes = [node for node in binary.nodes() if node is not None]
    named = [node for node in nodes if node.table == "CreateKernelCommand" and node.source is None]
    if not named:
        return None
    files = list(dict.fromkeys(node.file_name or "" for node in named))
    release, because = _release(nodes, named)
    found = _release_below(folders)
    kernels = [
        {"id": node.global_id, "file": node.file_name} | _outcome(node, nodes, binary, folders) for node in named
    ]
    return {
        "files": files, "release": release, "because": because, "found_release": found, "fits": _fits(release, found),
        "kernels": kernels,
    }  # fmt: skip


# --- which release


def _release(nodes: Sequence[Node], named: Sequence[Node]) -> tuple[str | None, str]:
    """(releases that a file may be of, what says so): nothing in it names one."""
    written = [words for node in named if (words := _accessor_words(node)) is not None]
    pages = {node.page_size for node in nodes if node.table == "BufferCreateCommand"}
    with_page = any(_ends_with_page(words, pages) for words in written)
    addresses = [value(node.address) for node in nodes if node.table == "BufferCreateCommand" and node.buffer_type == 0]
    first = min((address for address in addresses if address is not None), default=None)
    if first is not None and first >= HIGH_DRAM_BASE:
        return "0.70 or later", f"the first buffer in DRAM lies at {first:,}"
    if with_page:
        return f"0.68 {'or later' if first is None else 'to 0.80'}", "arguments of tensor accessors have page sizes"
    if written and any(words[-1] in ACCESSOR_CONFIGS for words in written):
        return "0.67 or earlier", "arguments of tensor accessors have no page sizes"
    return None, "neither addresses nor arguments tell"


def _accessor_words(node: Node) -> Sequence[int] | None:
    """Compile-time arguments of a data-movement kernel, which end with those of its tensor accessors; None without any."""
    words = integers(node.kernel_config.compile_args)
    return words if words and node.kernel_config.table == "DataMovementConfig" else None


def _ends_with_page(words: Sequence[int], pages: set[int]) -> bool:
    return len(words) > 1 and words[-2] in ACCESSOR_CONFIGS and words[-1] in pages


def _release_below(folders: Iterable[str | Path]) -> str | None:
    """Release of the unpacked wheel that a folder is, or lies in; None when there is none."""
    for folder in map(Path, folders):
        for place in (folder.resolve(), *folder.resolve().parents):
            for found in sorted(place.glob("ttnn-*.dist-info")):
                if match := DIST_INFO.fullmatch(found.name):
                    return match[1]
    return None


def _fits(release: str | None, found: str | None) -> bool | None:
    if release is None or found is None:
        return None
    first, last = RELEASES[release]
    return first <= int(found.split(".")[1]) <= last


# --- whether they compile


def _outcome(node: Node, nodes: Sequence[Node], binary: Binary, folders: Sequence[str | Path]) -> dict[str, Any]:
    """Where a kernel is and what became of building it with the file's arguments and circular buffers."""
    result: dict[str, Any] = {"path": None, "status": None, "refused": None, "missing": [], "why": None}
    if not folders:
        return result
    try:
        path, kernel = find_kernel(node.file_name or "", folders)
    except UsageError as error:
        return result | {"status": "not found", "why": error.message}
    result["path"] = str(path)
    if node.kernel_config.table == "EthernetConfig":
        return result | {"status": "refused", "refused": "ethernet", "why": "ethernet cores run no kernels here"}
    frozen = FrozenKernel(kernel, kernel_config(node.kernel_config), cores_of(node.core_spec), (), ())
    try:
        frozen.compile(build_target(frozen, _circular_buffers(node.program_global_id, nodes), _arch(binary)))
    except TensimError as error:
        refused = error.where.get("refused")
        missing = list(dict.fromkeys(UNDECLARED.findall(error.message)))
        return result | {
            "status": "refused" if refused else "failed", "refused": refused, "missing": missing,
            "why": error.message.splitlines()[0],
        }  # fmt: skip
    return result | {"status": "built"}


def _circular_buffers(program: int, nodes: Iterable[Node]) -> list[FrozenCircularBuffer]:
    """Those of a program, without addresses."""
    result = []
    for node in nodes:
        if node.table == "CreateCircularBufferCommand" and node.program_global_id == program:
            formats, page_sizes, tiles = circular_buffer_tables(node.config)
            place = cores_of(node.core_spec), 0, node.config.total_size
            result.append(FrozenCircularBuffer(*place, formats, page_sizes, tiles, on_buffer=False))
    return result


def _arch(binary: Binary) -> Arch:
    """The chip that a file describes."""
    described = binary.root.devices
    return (described_chip(described[0]) if described else UNNAMED_CHIP).load()
