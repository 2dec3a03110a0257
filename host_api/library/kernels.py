"""A compile command of the library, read as one of our own kernels.

The library builds a kernel once per processor: a source of its firmware that includes files it has generated in the folder
above the command's own.  Those files name the kernel's text and say what it is compiled with; arguments and macros of
data-movement kernels stand in the command.  Releases spread the same definitions over other files, so all are read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tensim.light_metal.library_kernels import header_defines
from tensim.sim.cores.riscv.compiler import Processor
from tensim.sim.cores.riscv.kernel import CppKernel, slots_of
from tensim.sim.errors import UsageError
from tensim.sim.host.commands import ComputeParameters, DataMovementParameters

ETHERNET_SOURCES, ROUTER = ("erisck.cc", "active_erisck.cc"), "fabric_erisc_router.cpp"
KERNEL_SOURCES = {"brisck.cc": Processor.BRISC, "ncrisck.cc": Processor.NCRISC, "trisck.cc": None}
# Macros that describe the chip and the build, not the kernel: our own build says them.
BUILD_MACROS = re.compile(
    r"(IS_NOT_POW2_NUM|LOG_BASE_2_OF_NUM|NUM)_(DRAM|L1)_BANKS|PCIE_NOC_[XY]|TENSIX_FIRMWARE|LOCAL_MEM_EN|ROUTING_FW_ENABLED|"
    r"PROCESSOR_INDEX|COMPILE_FOR_\w+|UCK_CHLKC_\w+|NAMESPACE|PROGRAMMABLE_CORE_TYPE|ARCH_\w+|DISPATCH_MESSAGE_ADDR|"
    r"KERNEL_BUILD|NOC_INDEX|NOC_MODE|FULL_KERNEL_NAME|KERNEL_COMPILE_TIME_ARG(S|_MAP)|TRISC_\w+|WATCHER_\w+|DEBUG_PRINT_\w+|"
    r"PROFILE_\w+"
)
INVALID_FORMAT = 255
BLOCK_FORMATS, FORMATS_OF_32_BITS = (2, 3, 6, 7, 11, 15), (0, 8, 24)

ARRAY = re.compile(r"\b(\w+)\s*\[\d*\]\s*=\s*\{([^}]*)\}")
VALUE = re.compile(r"\b(MATH_FIDELITY|APPROX|DST_ACCUM_MODE)\s*=\s*(?:[\w:]+<[^>]*>\s*\(\s*)?(\w+)")
MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+(?:\([^)]*\))?)[ \t]*(.*?)[ \t]*$", re.M)
NAMED = re.compile(r'\{\s*"([^"]+)"\s*,\s*(\w+?)[uU]?[lL]*\s*\}')
MACROS_OF_COMMAND = re.compile(r'#define TRISC_|#include "defines_generated.h"|void kernel_main\(\);')
# What the older release makes of a compute kernel's text: its entry under a name of the processor's own.
OWN_ENTRY = re.compile(
    r"^namespace chlkc_unpack \{\nvoid unpack_main\(\)(.*)^\}\s*// namespace chlkc_unpack$", re.M | re.S
)
USER_FILE = re.compile(r'#\s*(include|line\s+1)\s+"(/[^"]+)"')


class LibraryKernel(NamedTuple):
    """`parameters`: `DataMovementParameters` or `ComputeParameters`; `circular_buffers`: ((index, format code, tile height,
    tile width), ...); `slots`: the threads that run it (0 BRISC, 1 NCRISC, 2 to 4 TRISC0 to 2)."""

    kernel: CppKernel
    parameters: DataMovementParameters | ComputeParameters
    circular_buffers: tuple[tuple[int, int, int, int], ...]
    slots: tuple[int, ...]


def kernel_of_command(arguments: Iterable[str], folder: str | Path) -> LibraryKernel | None:
    """The `LibraryKernel` that a command compiles, None for firmware, headers and links, and for the router, which is modelled.

    `arguments`: what stands behind the compiler's name; `folder`: where it runs.  The commands for the three processors of a
    compute kernel give equal parameters, and kernels of equal content.  Raises UsageError for a kernel of another core and
    for generated files that say less than they should.
    """
    arguments, folder = list(arguments), Path(os.path.normpath(folder))
    macros = _macros(arguments)
    source = next((one for one in arguments if one.endswith((".cc", ".cpp"))), None)
    if source is None or "-c" not in arguments or "KERNEL_BUILD" not in macros:
        return None
    if Path(source).name in ETHERNET_SOURCES and Path(kernel_file(folder)).name == ROUTER:
        return None
    if Path(source).name not in KERNEL_SOURCES:
        raise UsageError(
            f"{Path(source).name} is no kernel of a Tensix core", hint="ethernet cores run no kernels here"
        )
    generated = folder.parent
    descriptors = "\n".join(path.read_text() for path in sorted(generated.glob("chlkc_*.h")))
    arrays = {name: _numbers(values) for name, values in ARRAY.findall(descriptors)}
    processor = KERNEL_SOURCES[Path(source).name]
    settings: dict[str, Any] = {
        "compile_args": _numbers(macros.get("KERNEL_COMPILE_TIME_ARGS", "")),
        "named_compile_args": _named_arguments(generated, macros),
        "opt_level": next((one[1:] for one in reversed(arguments) if re.fullmatch(r"-O\w*", one)), "O2"),
    }
    parameters: ComputeParameters | DataMovementParameters
    if processor is None:
        settings["defines"] = _own(dict(MACRO.findall(_text(generated / "defines_generated.h"))))
        parameters = ComputeParameters(**_engine(descriptors, arrays, generated), **settings)
    else:
        settings["defines"] = _own(macros)
        parameters = DataMovementParameters(
            processor.value, int(macros.get("NOC_INDEX", 0)), int(macros.get("NOC_MODE", 0)), **settings
        )
    body = generated / ("kernel_includes.hpp" if processor is not None else "chlkc_unpack.cpp")
    root = next(parent.parent for parent in Path(source).parents if parent.name == "tt_metal")
    tables = descriptors if processor is None else None
    paths = _include_paths(arguments, folder, root)
    kernel = _kernel(body, include_paths=paths, defines=header_defines([root]), descriptors=tables)
    return LibraryKernel(kernel, parameters, _circular_buffers(arrays), slots_of(parameters))


def kernel_file(folder: str | Path) -> str:
    """The kernel that a data-movement command in a folder compiles, by the file that the library has generated; "" without one."""
    path = _generated(folder) / "kernel_includes.hpp"
    lines = _text(path).splitlines() if path.is_file() else []
    found = [match[2] for line in lines if (match := USER_FILE.match(line))]
    return found[0] if found else ""


def named_arguments(arguments: Iterable[str], folder: str | Path) -> tuple[tuple[str, int], ...]:
    """((name, value), ...) of a command's named compile-time arguments."""
    return _named_arguments(_generated(folder), _macros(list(arguments)))


def _generated(folder: str | Path) -> Path:
    """The folder of the files that the library generates for a command's kernel."""
    return Path(os.path.normpath(folder)).parent


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError as error:
        raise UsageError(
            f"the library's kernel has no {path.name}: {error.strerror}", where={"file": str(path)}
        ) from error


# --- the command


def _macros(arguments: Iterable[str]) -> dict[str, str]:
    """{name: value} of the command; a macro without a value is 1."""
    pairs = (one[2:].partition("=") for one in arguments if one.startswith("-D"))
    return {name: value if sign else "1" for name, sign, value in pairs}


def _own(macros: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple((name, value) for name, value in macros.items() if not BUILD_MACROS.fullmatch(name))


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(word.strip().rstrip("uUlL"), 0) for word in text.split(",") if word.strip())


def _include_paths(arguments: Iterable[str], folder: Path, root: Path) -> tuple[str, ...]:
    """Folders in which a kernel finds headers of the library, without those that ours take the place of.

    The command's own folder holds results only; there is one for each processor.
    """
    left_out = [root / "tt_metal", root / "runtime", folder]
    given = [Path(os.path.normpath(folder / one[2:])) for one in arguments if one.startswith("-I")]
    kept = [path for path in given if not any(path.is_relative_to(one) for one in left_out)]
    kept.append(root / "tt_metal/api")  # types of the host's that a few kernels share with it
    return tuple(dict.fromkeys(map(str, kept)))


# --- the generated files


def _named_arguments(generated: Path, macros: Mapping[str, str]) -> tuple[tuple[str, int], ...]:
    path = generated / "named_ct_arg_map_generated.h"
    text = path.read_text() if path.exists() else macros.get("KERNEL_COMPILE_TIME_ARG_MAP", "")
    return tuple((name, int(value, 0)) for name, value in NAMED.findall(text))


def _engine(descriptors: str, arrays: Mapping[str, Sequence[int]], generated: Path) -> dict[str, Any]:
    """Settings of the compute engine."""
    values = dict(VALUE.findall(descriptors))
    absent = {"MATH_FIDELITY", "APPROX", "DST_ACCUM_MODE"} - values.keys()
    if absent:
        raise UsageError(
            f"the library's files do not define {', '.join(sorted(absent))}", where={"file": str(generated)}
        )
    packed = zip(arrays.get("pack_src_format", ()), arrays.get("pack_dst_format", ()), strict=False)
    unpacked = zip(arrays.get("unpack_src_format", ()), arrays.get("unpack_dst_format", ()), strict=False)
    return {
        "math_fidelity": int(values["MATH_FIDELITY"], 0),
        "math_approx_mode": values["APPROX"] == "true",
        "fp32_dest_acc_en": values["DST_ACCUM_MODE"] == "true",
        "dst_full_sync_en": "SyncFull" in descriptors,
        "bfp8_pack_precise": any(out in BLOCK_FORMATS and into not in BLOCK_FORMATS for into, out in packed),
        # What has 32 bits stays what it is on its way to Dst; Float32 becomes Tf32 on its way to the source registers.
        "unpack_to_dest_mode": tuple(int(src == dst and src in FORMATS_OF_32_BITS) for src, dst in unpacked),
    }


def _circular_buffers(arrays: Mapping[str, Sequence[int]]) -> tuple[tuple[int, int, int, int], ...]:
    heights, widths = arrays.get("unpack_tile_r_dim", ()), arrays.get("unpack_tile_c_dim", ())
    into, out = arrays.get("unpack_src_format", ()), arrays.get("pack_dst_format", ())
    rows = []
    for index, (first, height, width) in enumerate(zip(into or out, heights, widths, strict=False)):
        code = first if first != INVALID_FORMAT or index >= len(out) else out[index]
        if code != INVALID_FORMAT:
            rows.append((index, code, height, width))
    return tuple(rows)


def _kernel(path: Path, **options: Any) -> CppKernel:
    """The kernel that a generated file includes or repeats, or holds where the host program gave a text and no file.

    What is bound to names stands in front of it.
    """
    lines = [line for line in _text(path).splitlines() if not MACROS_OF_COMMAND.match(line)]
    found = [(number, match) for number, line in enumerate(lines) if (match := USER_FILE.match(line))]
    if found:
        number, match = found[0]
        preamble, behind = _joined(lines[:number]), _joined(lines[number + 1 :])
        if match[1] == "include" and behind.strip():
            raise UsageError(
                f"{path.name} holds more than a kernel's file", where={"file": str(path), "line": number + 2}
            )
        return CppKernel(match[2], preamble=preamble, strict_headers=False, **options)
    text = OWN_ENTRY.sub(r"void kernel_main()\1", _joined(lines))
    return CppKernel(f"{path.parent.parent.name}.cpp", text=text, strict_headers=False, **options)


def _joined(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
