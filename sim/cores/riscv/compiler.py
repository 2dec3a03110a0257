"""C++ kernels to ELF objects, one per processor: sources, flags, caching, messages.

A kernel is compiled as one translation unit: what tt-metal's build would define, tensim's headers, the user's file.
Objects are cached by the content of every file that went in.
"""

import functools
import hashlib
import json
import os
import re
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from io import BytesIO
from pathlib import Path

from tensim.sim.compile_budget import CompileBudget
from tensim.sim.cores import context as ctx
from tensim.sim.cores.fabric import worker_area
from tensim.sim.cores.riscv import call_headers, toolchain
from tensim.sim.cores.riscv.build_progress import wait_for
from tensim.sim.cores.riscv.elf import MAX_FILE
from tensim.sim.cores.riscv.foreign import ForeignBuild
from tensim.sim.cores.riscv.generated import ASSEMBLER_MACROS
from tensim.sim.cores.riscv.layout import CB_STRIDE, CB_WINDOW, LOCAL_BASE
from tensim.sim.cores.riscv.refusals import refusal_of
from tensim.sim.engine.limits import N_CIRCULAR_BUFFERS
from tensim.sim.engine.sealed_files import read_sealed, write_atomically, write_sealed
from tensim.sim.errors import KernelCompileError, UsageError

STRINGS = 0x70000000
ZEROS = 12800  # L1 address of 512 bytes that the firmware's map keeps at zero, behind its mailboxes
STACK_BYTES = 256  # of local memory at least
UNUSED_TILE_BYTES = 1088  # of a circular buffer that the program does not configure
YOUNG_NS = 2_000_000_000  # a file whose times are newer may change without a trace in them
LEVELS = ("O0", "O1", "O2", "O3", "Os", "Oz", "Ofast")


class Processor(Enum):
    """A core of a Tensix tile: its macros; the value is the thread's slot."""

    BRISC = 0
    NCRISC = 1
    TRISC0 = 2
    TRISC1 = 3
    TRISC2 = 4

    @property
    def is_compute(self):
        return self.value >= 2

    @property
    def defines(self):
        if not self.is_compute:
            return {f"COMPILE_FOR_{self.name}": ""}
        thread = ("UNPACK", "MATH", "PACK")[self.value - 2]
        return {"COMPILE_FOR_TRISC": str(self.value - 2), f"UCK_CHLKC_{thread}": "", f"TRISC_{thread}": ""}


@dataclass(frozen=True)
class Build:
    """One kernel for one processor.

    `source`: a path, or `text` with `name`.  `circular_buffers`: (index, data format, tile height, tile width).
    `local_memory`: bytes of the processor's local memory.  `stand_in`: text in front of the kernel instead of what only a
    host program could say.  `strict_headers`: a compute kernel knows only the calls that its headers declare (`call_headers`).
    `budget`: the `CompileBudget` of the file that the kernel is of, when somebody else wrote it or chose
    its macros: then it is compiled as `tensim.sim.cores.riscv.foreign` says.
    """

    processor: Processor
    arch: object
    source: Path | None = None
    text: str | None = None
    name: str = "kernel.cpp"
    circular_buffers: tuple = ()
    compile_args: tuple = ()
    named_args: tuple = ()
    defines: tuple = ()
    optimization: str | None = None
    include_paths: tuple = ()
    noc: int = 0
    noc_mode: int = 0
    math_fidelity: int = 4
    approximate: bool = False
    fp32_dest: bool = False
    full_sync: bool = False
    local_memory: int = 4096
    stand_in: str = ""
    strict_headers: bool = False
    budget: CompileBudget | None = field(default=None, compare=False)

    @property
    def level(self):
        level = self.optimization or ("O3" if self.processor.is_compute else "O2")
        if level not in LEVELS:
            raise UsageError(f"no optimisation level {level!r}", hint=f"one of {', '.join(LEVELS)}")
        return level

    def compile(self):
        """Its `Object`, from the cache if nothing that went in has changed.  KernelCompileError."""
        return compile_kernel(self)


@dataclass(frozen=True)
class Object:
    """A linked kernel.  `zones`: {number of a ZONE operation: name}; sizes in bytes."""

    elf: bytes
    digest: str
    source: str
    text_bytes: int
    local_bytes: int
    zones: dict = field(default_factory=dict)


# --- the translation unit


def firmware_bytes(arch):
    """What the loader writes at the start of local memory, a multiple of 16 (struct TensimFirmware)."""
    size = 0x40
    for banks in (arch.dram_banks, len(arch.worker_coords)):
        size += 4 * banks + (2 * 2 * banks + 3) // 4 * 4
    return (size + 15) // 16 * 16


def _buffer_tables(buffers):
    """The tables of circular buffers by index: formats, tile heights and widths, tile bytes."""
    from tensim.sim.cores.numerics.data_format import tile_size

    found = {index: (code, height, width) for index, code, height, width in buffers}
    rows = [found.get(index, (255, 32, 32)) for index in range(N_CIRCULAR_BUFFERS)]

    def size(code, height, width):
        if code == 255:
            return UNUSED_TILE_BYTES
        exponents = 64 if tile_size(code) in (1088, 576, 320) else 0
        return (tile_size(code) - exponents) * height * width // 1024 + exponents * height * width // 1024

    return {
        "TENSIM_CB_FORMATS": [row[0] for row in rows],
        "TENSIM_CB_TILE_HEIGHTS": [row[1] for row in rows],
        "TENSIM_CB_TILE_WIDTHS": [row[2] for row in rows],
        "TENSIM_CB_TILE_SIZES": [size(*row) for row in rows],
    }


def chip_defines(arch):
    """Macros that describe a chip."""
    name = {"wormhole_b0": "WORMHOLE", "blackhole": "BLACKHOLE", "grayskull": "GRAYSKULL"}.get(arch.name, "WORMHOLE")
    return {
        f"ARCH_{name}": "", "NUM_DRAM_BANKS": arch.dram_banks, "NUM_L1_BANKS": len(arch.worker_coords),
        "NUM_CIRCULAR_BUFFERS": N_CIRCULAR_BUFFERS, "TENSIM_L1_ALIGNMENT": arch["alignment.l1_page"],
        "TENSIM_DRAM_ALIGNMENT": arch["alignment.dram_page"], "TENSIM_NOC_BURST": arch["noc.max_packet_bytes"],
        "TENSIM_L1_BYTES": arch["l1.size"], "TENSIM_ZEROS_BASE": ZEROS,
        "TENSIM_FABRIC_AREA": f"0x{worker_area.base_of(arch):x}u",
    }  # fmt: skip


def shared_head(build):
    """The text that a kernel has in front in common with many others: what its chip and its processor are, and what it may call."""
    defines = {"TENSIM": 1, "KERNEL_BUILD": "", "PROCESSOR_INDEX": build.processor.value, "PROGRAMMABLE_CORE_TYPE": 0}
    defines |= chip_defines(build.arch) | build.processor.defines
    defines |= {"NOC_INDEX": int(build.noc), "NOC_MODE": int(build.noc_mode)}
    defines |= {"TENSIM_CB_WINDOW": f"0x{CB_WINDOW:x}u", "TENSIM_CB_STRIDE": f"{CB_STRIDE}u"}
    columns = "PAGES PAGE_SIZE BASE SIZE WRITE_PTR READ_PTR RECEIVED ACKED PACKED".split()
    defines |= {f"TENSIM_CB_{name}": f"{getattr(ctx, f'CB_{name}')}u" for name in columns}
    if build.processor.is_compute:
        defines["NAMESPACE"] = "chlkc_" + ("unpack", "math", "pack")[build.processor.value - 2]
    lines = [f"#define {name} {value}" for name, value in [*defines.items(), *_own_defines(build)]]
    return "\n".join([*lines, '#include "tensim/kernel.h"', ""])


def _own_defines(build):
    """Macros for our headers, which stand before them."""
    return [(name, value) for name, value in build.defines if name.startswith("TENSIM_")]


def prelude(build):
    """The text between `shared_head` and a kernel: everything that depends on the program."""
    defines = {
        "TENSIM_MATH_FIDELITY": build.math_fidelity, "TENSIM_APPROX": int(build.approximate),
        "TENSIM_DST_ACCUM": int(build.fp32_dest), "TENSIM_DST_SYNC": int(build.full_sync),
    }  # fmt: skip
    defines |= {name: ",".join(map(str, row)) for name, row in _buffer_tables(build.circular_buffers).items()}
    if build.compile_args:
        defines["KERNEL_COMPILE_TIME_ARGS"] = ",".join(str(int(value) & 0xFFFFFFFF) for value in build.compile_args)
    if build.named_args:
        pairs = (f"{{{json.dumps(name)},{int(value) & 0xFFFFFFFF}u}}" for name, value in sorted(build.named_args))
        defines["KERNEL_COMPILE_TIME_ARG_MAP"] = ",".join(pairs)
    given = [(name, value) for name, value in build.defines if not name.startswith("TENSIM_")]
    lines = [f"#define {name} {value}" for name, value in defines.items()]
    lines.append('#include "tensim/given.h"')
    lines += [f"#define {name} {value}" for name, value in given]
    if build.processor.is_compute:
        lines.append('#include "tensim/reductions.h"')
        if build.strict_headers:
            lines.append(call_headers.hidden())
    return "\n".join([*lines, build.stand_in, ""])


# Where debugging information says that code lies which the linker has dropped: not at 0, where the text begins
DROPPED = [
    word for section in ("info", "addr") for word in ("-z", f"dead-reloc-in-nonalloc=.debug_{section}=0xffffffff")
]
MAIN = re.compile(r"\bvoid\s+MAIN\b\s*(\()?")
ENTRY_POINT = re.compile(r"\bvoid\s+(?:MAIN|kernel_main)\b")
COMMENTS = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)


def translation_unit(build, text):
    """The whole text that the compiler gets; `text`: the kernel's source."""
    found = MAIN.search(COMMENTS.sub("", text)) if build.processor.is_compute else None
    head, call = shared_head(build) + prelude(build), "kernel_main"
    if found:
        head += f"#define MAIN tensim_main{'' if found[1] else '()'}\n"
        call = "NAMESPACE::tensim_main"
    else:
        head += "void kernel_main();\n"
    if build.source is not None:
        place = Path(build.source).resolve()
        body = f'#include "{place}"\n'
    else:
        place = build.name
        body = f'#line 1 "{place}"\n{text}\n'
    # a kernel without defined behaviour is no code but this call: it is to be found in the kernel
    entry = ENTRY_POINT.search(text)
    line = 1 + text.count("\n", 0, entry.start() if entry else 0)
    return f'{head}{body}\n#line {line} "{place}"\nextern "C" void tensim_entry() {{ {call}(); }}\n'


def link_script(build):
    """Text at 0, data behind what the loader writes in local memory, texts for the front end outside both."""
    data = LOCAL_BASE + firmware_bytes(build.arch)
    end = LOCAL_BASE + build.local_memory
    return f"""ENTRY(_start)
tensim_firmware = 0x{LOCAL_BASE:x};
PHDRS {{ text PT_LOAD FLAGS(5); strings PT_LOAD FLAGS(4); data PT_LOAD FLAGS(6); }}
SECTIONS {{
  .text 0x0 : {{ *(.text.start) *(.text .text.*) }} :text
  .tensim_strings 0x{STRINGS:x} : {{ *(.tensim_strings) *(.rodata.str*) *(.rodata..L.str*) }} :strings
  .data 0x{data:x} : {{ *(.rodata .rodata.* .srodata .srodata.* .data .data.* .sdata .sdata.*)
    . = ALIGN(4); tensim_constructors = .; KEEP(*(SORT(.init_array*))) tensim_constructors_end = .; }} :data
  .bss : {{ *(.bss .bss.* .sbss .sbss.* COMMON) }} :data
  tensim_data_end = .;
  .tensim_zones 0 (INFO) : {{ *(.tensim_zones) }} :NONE
  .tensim_not_modelled 0 (INFO) : {{ *(.tensim_not_modelled) }} :NONE
  /DISCARD/ : {{ *(.comment) *(.eh_frame) *(.note*) *(.riscv.attributes) }}
}}
ASSERT(tensim_data_end <= 0x{end - STACK_BYTES:x}, "local memory is full")
"""


# --- messages

SILENT = "the compiler gives neither an object nor a message, as for an #embed of a file that is not there"
LOCATION = re.compile(r"^(?:In file included from )?(?P<file>[^\s:][^:\n]*):(?P<line>\d+)(?::\d+)?[:,]", re.M)
ERROR = re.compile(r"^(?P<file>[^\s:][^:\n]*):(?P<line>\d+):\d+: (?:fatal )?error: (?P<text>.*)$", re.M)
NAMED_ARGUMENT = re.compile(r"in call to 'get_named_compile_time_arg_val\(\{&\"([^\"]*)\"")


def _is_foreign(file, folders):
    return any(str(file).startswith(str(folder)) for folder in folders)


def compile_error(build, messages, unit, is_refused=refusal_of):
    """The KernelCompileError of a compiler's messages: the user's own file and line first.

    `is_refused`: what says why a kernel is refused that is no error of its own (`refusals.refusal_of`).
    """
    own = [toolchain.INCLUDE, toolchain.cache_folder(), unit.parent, toolchain.PACKAGE]
    tools = toolchain.toolchain()
    own += [tools.zig] if tools.zig else []
    errors = list(ERROR.finditer(messages))
    name = str(build.source) if build.source is not None else build.name
    text, place = messages.strip() or SILENT, {"file": name, "line": 1}
    if errors:
        first = errors[0]
        missing = NAMED_ARGUMENT.search(messages)
        text = (
            first["text"]
            if missing is None
            else f"the kernel reads the named argument {missing[1]!r}, which it was not given"
        )
        end = errors[1].start() if len(errors) > 1 else len(messages)
        around = [first, *LOCATION.finditer(messages, first.end(), end), *LOCATION.finditer(messages, 0, first.start())]
        for location in around:
            if not _is_foreign(location["file"], own):
                place = {"file": location["file"], "line": int(location["line"])}
                break
    undeclared = call_headers.undeclared(text)
    if undeclared is not None:
        call, header = undeclared
        text = f"no header that the kernel includes declares {call}"
        place |= {"processor": build.processor.name}
        return KernelCompileError(text, where=place, hint=f'#include "{header}"')
    messages = messages.replace(str(unit), "<kernel's build>")
    refusal = is_refused(messages, [match["text"] for match in errors])
    if refusal is not None:
        reason, subject, advice = refusal
        place |= {"processor": build.processor.name, "refused": reason}
        text = f"{subject} is not modelled ({reason})\n{messages}"
        return KernelCompileError(text, where=place, hint=advice, kind="kernel_refused")
    return KernelCompileError(f"{text}\n{messages}", where=place | {"processor": build.processor.name})


# --- building


def digest(data):
    """Hash of bytes (hex)."""
    return hashlib.sha256(data).hexdigest()


def _read(path):
    try:
        return Path(path).read_bytes()
    except OSError:
        return None


def _file_digest(name):
    """Hash of a file's content (hex), None where it cannot be read.

    A file is read once in a process, again when its times or its size tell of a change; always while it is so young that another
    change could have the same times.
    """
    try:
        status = os.stat(name)
    except OSError:
        return None
    state = status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
    is_young = time.time_ns() - max(state[2:]) < YOUNG_NS
    return _kept_digest.__wrapped__(name, *state) if is_young else _kept_digest(name, *state)


@functools.lru_cache(1 << 14)
def _kept_digest(name, *state):
    data = _read(name)
    return None if data is None else digest(data)


def source_text(build):
    """The text of a build's kernel.  KernelCompileError for a file that cannot be read."""
    if build.text is not None:
        return build.text
    data = _read(build.source)
    if data is None:
        raise KernelCompileError(f"cannot read the kernel {build.source}", where={"file": str(build.source), "line": 1})
    return data.decode(errors="replace")


def _flags(build, tools):
    """Flags of one build; the kernel's own folder is found by the include of its path."""
    include, _ = toolchain.prepared(tools, build.level)
    paths = [toolchain.INCLUDE, toolchain.include_folder(), *build.include_paths]
    return [*tools.flags, f"-{build.level}", *include, *(f"-I{path}" for path in paths)]


def compile_unit(build):
    """Build without the cache: (ELF, files that went in)."""
    tools = toolchain.toolchain()
    unit = translation_unit(build, source_text(build))
    return _build(build, tools, unit, _flags(build, tools), link_script(build))


def compile_kernel(build):
    """The `Object` of a `Build`, from the cache if nothing that went in has changed."""
    tools = toolchain.toolchain()
    unit, flags, script = translation_unit(build, source_text(build)), _flags(build, tools), link_script(build)
    confined = build.budget is not None  # the same text may open more as a kernel of the user's own
    elf = cached_build(
        (unit, flags, script, tools.version, confined), lambda: _build(build, tools, unit, flags, script)
    )
    return describe(elf, str(build.source or build.name))


def cached_build(key, make):
    """The ELF of a build that `key` tells from all others; `make()` gives (ELF, files that went in) where there is none."""
    return cached_files(key, make)[0]


def cached_files(key, make):
    """`cached_build` with the names of the files that went in."""
    record = toolchain.cache_folder() / "objects" / f"{digest(repr(key).encode())}.json"
    found = _cached(record)
    if found is not None:
        return found
    elf, inputs = make()
    path = record.with_name(f"{digest(elf)}.elf")
    write_atomically(path, elf)
    files = {name: digest(data) for name in inputs if (data := _read(name)) is not None}
    write_sealed(record, json.dumps({"elf": path.name, "files": files}).encode())
    return elf, list(files)


def _cached(record):
    """(ELF, files) that a record names, if the files that it was made of are still the same."""
    data = read_sealed(record)
    if data is None:
        return None
    content = json.loads(data)
    for name, known in content["files"].items():
        if _file_digest(name) != known:
            return None
    elf = _read(record.with_name(content["elf"]))
    return (elf, list(content["files"])) if elf is not None and f"{digest(elf)}.elf" == content["elf"] else None


def _build(build, tools, unit, flags, script):
    """(ELF, files that went in)."""
    toolchain.mend_prepared(tools, build.level)
    unit, flags = _behind_head(build, tools, unit, flags)
    with tempfile.TemporaryDirectory(prefix="tensim-") as folder:
        folder = Path(folder)
        source, script_file, target, elf = (
            folder / name for name in ("unit.cpp", "kernel.ld", "kernel.o", "kernel.elf")
        )
        source.write_text(unit)
        script_file.write_text(script)
        depends = folder / "kernel.d"
        run, command = partial(toolchain.run, cwd=folder), [*tools.compile, *flags, "-c", str(source)]
        if build.budget is not None:
            foreign = ForeignBuild(build, tools, folder)
            run, command = foreign.run, [*command, *foreign.flags()]
            foreign.check(command, ASSEMBLER_MACROS)
        result = run([*command, "-MD", "-MF", str(depends), "-o", str(target)])
        if result.returncode or not (target.exists() and depends.exists()):
            raise compile_error(build, result.stderr, source)
        link(build, tools, script_file, target, elf, run)
        if elf.stat().st_size > MAX_FILE:
            place = {"file": str(build.source or build.name), "line": 1, "processor": build.processor.name}
            raise KernelCompileError(f"the kernel's binary is larger than {MAX_FILE >> 20} MB", where=place)
        inputs = toolchain.files_of(depends.read_text(), folder)
        # The compiler's own headers change with its version only, and the text of a head is in the key of the cache
        known = (str(folder), str(tools.zig), str(toolchain.heads_folder(tools, build.level)))
        return elf.read_bytes(), [name for name in inputs if not name.startswith(known)]


def _behind_head(build, tools, unit, flags):
    """A unit and its flags behind `shared_head`, which is precompiled for clang: not with macros of somebody else's in it."""
    if not tools.is_clang or (build.budget is not None and _own_defines(build)):
        return unit, flags
    head = shared_head(build)
    standard, _ = toolchain.prepared(tools, build.level)
    both = toolchain.precompiled_head(tools, build.level, head)
    at = flags.index(standard[0])
    return unit.removeprefix(head), [*flags[:at], *both, *flags[at + len(standard) :]]


def link(build, tools, script, target, elf, run):
    """Link; the arithmetic library joins only where the kernel needs it.  Objects name no libraries of their own."""
    runtime = toolchain.prepared(tools, build.level)[1]
    prefix = "" if tools.zig else "-Wl,"
    command = [*tools.link, f"{prefix}--gc-sections", "-T", str(script), str(target), runtime, "-o", str(elf)]
    command += ["--no-dependent-libraries", *DROPPED] if tools.zig else []
    result = run(command)
    if result.returncode and re.search(r"undefined (symbol|reference)", result.stderr):
        result = run([*command, toolchain.arithmetic_library(tools)])
    if result.returncode:
        raise link_error(build, result.stderr)


def link_error(build, messages):
    place = {"file": str(build.source or build.name), "line": 1, "processor": build.processor.name}
    referenced = re.search(rf"referenced by {re.escape(Path(place['file']).name)}:(\d+)", messages)
    if referenced:
        place["line"] = int(referenced[1])
    undefined = re.findall(r"undefined (?:symbol|reference to)[:`' ]*([^\n']+)", messages)
    if "local memory is full" in messages or "will not fit" in messages:
        room = build.local_memory - firmware_bytes(build.arch) - STACK_BYTES
        return KernelCompileError(
            f"the kernel's data does not fit into the {room} bytes of local memory of {build.processor.name}\n{messages}",
            where=place, hint="keep large tables in L1, or pass them as compile-time arguments",
        )  # fmt: skip
    if "kernel_main()" in undefined:
        return KernelCompileError(f"{place['file']} defines no kernel_main()", where=place)
    if undefined:
        return KernelCompileError(f"{undefined[0]} is declared but not defined\n{messages}", where=place)
    return KernelCompileError(f"the kernel does not link\n{messages}", where=place)


@functools.lru_cache(256)
def describe(elf, source):
    """The `Object` of an ELF that this compiler made."""
    from elftools.elf.elffile import ELFFile

    sections = {section.name: section for section in ELFFile(BytesIO(elf)).iter_sections()}
    sizes = {name: section["sh_size"] for name, section in sections.items()}
    zones = {}
    if ".tensim_zones" in sections:
        data, at = sections[".tensim_zones"].data(), 0
        for text in data.split(b"\0")[:-1]:
            zones[at] = text.decode(errors="replace")
            at += len(text) + 1
    local = sizes.get(".data", 0) + sizes.get(".bss", 0)
    return Object(elf, digest(elf), source, sizes.get(".text", 0), local, zones)


def compile_each(groups):
    """Of each group of builds: (their `Object`s or None, the first KernelCompileError or None), all in parallel on all cores.

    `tensim.sim.cores.riscv.build_progress` shows how far they are when it lasts.
    """
    builds = [build for group in groups for build in group]
    if not builds:
        return [([], None) for _ in groups]
    tools = toolchain.toolchain()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        once = pool.submit(_prepare, tools, {build.level for build in builds})
        wait_for("compiler of C++ kernels", [("standard headers", once)])
        once.result()
        work = [(Path(build.source or build.name).name, pool.submit(build.compile)) for build in builds]
        wait_for("C++ kernels", work)
        results = iter([_outcome(future) for _, future in work])
    found = [[next(results) for _ in group] for group in groups]
    errors = [next((one for one in group if isinstance(one, KernelCompileError)), None) for group in found]
    return [(group if error is None else None, error) for group, error in zip(found, errors, strict=True)]


def _outcome(future):
    """The result of a build, or its KernelCompileError."""
    try:
        return future.result()
    except KernelCompileError as error:
        return error


def _prepare(tools, levels):
    """Make what all builds share, if it is not there."""
    toolchain.include_folder()
    for level in levels:
        toolchain.prepared(tools, level)
