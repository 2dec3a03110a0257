"""The C++ compiler of kernels: which one, its flags, what it needs built once (standard headers, runtime library).

By default it is the clang in the package `ziglang`, called as plain clang and as ld.lld; TENSIM_CXX names another one.
"""

import contextlib
import fcntl
import functools
import hashlib
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from tensim.sim.cores.riscv import header_names
from tensim.sim.engine.cache import cache_root
from tensim.sim.engine.sealed_files import read_sealed, write_atomically, write_sealed
from tensim.sim.errors import SimulatorError, UsageError

PACKAGE = Path(__file__).resolve().parent
INCLUDE = PACKAGE / "include"
COMMON_FLAGS = (
    "-march=rv32im -mabi=ilp32 -mcmodel=medlow -std=c++20 -g -fno-exceptions -fno-rtti -fno-pic -fno-jump-tables "
    "-fno-stack-protector -fno-asynchronous-unwind-tables -fno-threadsafe-statics -fno-math-errno -fno-common -fno-strict-aliasing "
    "-ffunction-sections -fdata-sections -fno-ident"
).split()
# Where the behaviour is undefined clang leaves no code, and the core would run into what lies there: a trap stands there
# instead.  Of all warnings two stop a kernel: a local that is read where nothing, or not every way through it, has assigned it
CLANG_FLAGS = [
    "-mllvm=-trap-unreachable", "-ferror-limit=0",
    "-fno-sanitize=all", "-Wno-everything", "-Werror=uninitialized", "-Werror=sometimes-uninitialized",
]  # fmt: skip
# libc++ is told at build time what its platform has; this one has no operating system
LIBCXX = """ABI_VERSION=1 ABI_NAMESPACE=__1 HAS_THREADS=0 HAS_MONOTONIC_CLOCK=0 HAS_TERMINAL=0 HAS_MUSL_LIBC=1
    HAS_THREAD_API_PTHREAD=0 HAS_THREAD_API_EXTERNAL=0 HAS_THREAD_API_WIN32=0 HAS_THREAD_API_C11=0
    HAS_VENDOR_AVAILABILITY_ANNOTATIONS=0 HAS_FILESYSTEM=0 HAS_RANDOM_DEVICE=0 HAS_LOCALIZATION=0 HAS_UNICODE=0
    HAS_WIDE_CHARACTERS=0 HAS_TIME_ZONE_DATABASE=0 PSTL_BACKEND_SERIAL=1 LIBC_PICOLIBC=0 LIBC_NEWLIB=0
    HARDENING_MODE_DEFAULT=_LIBCPP_HARDENING_MODE_NONE
    ASSERTION_SEMANTIC_DEFAULT=_LIBCPP_ASSERTION_SEMANTIC_IGNORE""".split()
ZIG_FOLDERS = """libcxx/include libcxxabi/include include libc/include/riscv32-linux-musl libc/include/generic-musl
    libc/include/riscv-linux-any libc/include/any-linux-any""".split()
# Standard headers that tt-metal's build includes before every kernel
STANDARD_HEADERS = """algorithm array atomic bit climits cmath compare concepts cstddef cstdint cstdlib cstdio cstring
    limits new numeric optional span string_view tuple type_traits utility variant""".split()
# 32-bit numbers are `long` in the C library of tt-metal's compiler, and kernels mix them with numbers such as 0ul; the package's
# leaves out a type that is said to be there. A compiler that TENSIM_CXX names has its own
WORDS = """#define __DEFINED_int32_t
#define __DEFINED_uint32_t
typedef long int32_t;
typedef unsigned long uint32_t;
"""
PRECOMPILED = ("-fpch-instantiate-templates", "-x", "c++-header")  # a header, with what its templates are used for
COMPLETE = "complete"  # of a prepared folder: the hashes of its files
TIMEOUT = 300  # seconds of one step
SYSTEM = "/bin /usr/bin /lib /lib64 /usr/lib /usr/lib64 /usr/libexec /etc/ld.so.cache".split()  # what any program needs
NO_COMPILER = "no C++ compiler for RISC-V kernels is installed"
NO_COMPILER_HINT = "pip install 'tensim[cpp]', or let TENSIM_CXX name a RISC-V g++ or clang"


@dataclass(frozen=True)
class Toolchain:
    """Commands of one compiler.  `version` names it in cache keys.

    `installed`: size and time of its program.  They differ when the same version is installed anew, whose headers are then
    others for a precompiled header.
    """

    compile: tuple
    link: tuple
    flags: tuple
    version: str
    zig: Path | None  # the folder of ziglang
    installed: tuple

    @property
    def is_clang(self):
        return "clang" in self.version


def run(command, **options):
    """The finished process; a compiler that hangs is an error."""
    quiet = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True, "errors": "replace"}
    try:
        return subprocess.run(command, timeout=TIMEOUT, **quiet, **options)
    except subprocess.TimeoutExpired as error:
        raise UsageError(f"{command[0]} did not finish within {TIMEOUT} s") from error


def run_counted(command, waited, shown, **options):
    """(The finished process, seconds of a processor that it took).

    `waited`: seconds after which it is killed, with what it has started; then they are what it took.  `shown`: characters of
    its output and of its messages that are read.
    """
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as messages:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=messages, **options)
        late = threading.Event()
        alarm = threading.Timer(waited, lambda: (late.set(), _kill(process.pid)))
        alarm.start()
        try:
            _, status, usage = os.wait4(process.pid, 0)
        finally:
            alarm.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        texts = []
        for file in (out, messages):
            file.seek(0)
            texts.append(file.read(shown).decode(errors="replace"))
    finished = subprocess.CompletedProcess(command, process.returncode, *texts)
    return finished, waited if late.is_set() else usage.ru_utime + usage.ru_stime


def _kill(process):
    """End a process and those that it has started."""
    with contextlib.suppress(OSError):
        started = Path(f"/proc/{process}/task/{process}/children").read_text().split()
        for child in started:
            _kill(int(child))
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)


def files_of(rule, folder):
    """Files that a make rule of the compiler names; relative ones lie below `folder`."""
    names = re.split(r"(?<!\\)\s+", rule.replace("\\\n", " ").partition(":")[2])
    return [os.path.join(folder, name.replace("\\ ", " ")) for name in names if name]


def _version_of(command):
    try:
        result = run([*command, "--version"])
    except OSError as error:
        raise UsageError(f"cannot run the compiler {command[0]}: {error.strerror}", hint=NO_COMPILER_HINT) from error
    if result.returncode:
        raise UsageError(f"the compiler {command[0]} cannot tell its version", hint=NO_COMPILER_HINT)
    return result.stdout.strip()


def _installed(program):
    """(bytes, nanosecond of the last change) of a program; () where it is not found."""
    found = shutil.which(program)
    if found is None:
        return ()
    status = os.stat(found)
    return status.st_size, status.st_mtime_ns


@functools.cache
def _named(text):
    """The compiler that TENSIM_CXX names."""
    command = tuple(shlex.split(text))
    version = _version_of(command)
    flags = [*COMMON_FLAGS, "-ffreestanding"]
    if "clang" in version:
        flags += [*CLANG_FLAGS, "--target=riscv32-unknown-elf"]
    else:
        flags.append("-w")  # which no single warning survives here
    link = (*command, *flags, "-nostdlib", "-nostartfiles", "-static")
    return Toolchain(command, link, tuple(flags), version, None, _installed(command[0]))


@functools.cache
def _packaged():
    """The compiler of the package ziglang."""
    spec = find_spec("ziglang")
    if spec is None:
        raise UsageError(NO_COMPILER, hint=NO_COMPILER_HINT, kind="no_compiler")
    zig = Path(spec.origin).parent
    folders = [flag for name in ZIG_FOLDERS for flag in ("-isystem", str(zig / "lib" / name))]
    defines = [f"-D_LIBCPP_{name}" for name in LIBCXX]
    flags = ["--target=riscv32-linux-musl", *COMMON_FLAGS, *CLANG_FLAGS, "-nostdinc", "-nostdinc++", *folders, *defines]
    program = str(zig / "zig")
    version = _version_of((program, "clang"))
    return Toolchain((program, "clang"), (program, "ld.lld"), tuple(flags), version, zig, _installed(program))


def toolchain():
    """The `Toolchain` of this environment; UsageError when there is none."""
    text = os.environ.get("TENSIM_CXX")
    return _named(text) if text else _packaged()


def folders(tools, optimization):
    """Folders and files that a compilation and its link read or run, resolved: the compiler's own and ours."""
    runtime, generated = Path(prepared(tools, optimization)[1]), include_folder() / COMPLETE
    ours = [INCLUDE, include_folder(), generated.resolve().parent, runtime.parent, runtime.resolve().parent]
    if tools.zig is None:
        return [*ours, *_folders_of(tools)]
    library = _arithmetic_file(tools)
    return [*ours, library.parent, library.resolve().parent, tools.zig]


@functools.cache
def _folders_of(tools):
    """Those of a compiler that TENSIM_CXX names: what it lists, and what programs need to run.  None holds a home."""
    listed = run([*tools.compile, *tools.flags, "-print-search-dirs"]).stdout
    found = [place for line in listed.splitlines() for place in line.partition(":")[2].strip().lstrip("=").split(":")]
    said = run([*tools.compile, *tools.flags, "-E", "-v", "-x", "c++", os.devnull]).stderr
    found += [line.strip() for line in said.splitlines() if line.startswith(" /")]
    program, home = shutil.which(tools.compile[0]), Path(os.path.expanduser("~")).resolve()
    places = [Path(place).resolve() for place in (*found, *SYSTEM) if place] + (
        [Path(program).resolve()] if program else []
    )
    return [place for place in dict.fromkeys(places) if place.exists() and not home.is_relative_to(place)]


def cache_folder():
    """Where headers, precompiled headers and objects are kept."""
    return cache_root() / "cpp"


@functools.cache
def include_folder():
    """The folder of generated headers: what follows from tables, and tt-metal's names of headers."""
    sources = [PACKAGE / name for name in ("generated.py", "generated_calls.py", "traps.py", "header_names.py")]
    sources += [PACKAGE / "call_headers.py", PACKAGE / "call_headers.txt"]
    cores = PACKAGE.parent
    sources += [cores / "operations.py", cores / "kernels/api.py", cores / "kernels/api_compute.py"]
    sources += [cores / "tensix/initialisation.py", cores / "numerics/vector_codes.py"]
    sources += [cores / "fabric/layout.py", cores / "fabric/worker_area.py"]
    sources += [cores / "numerics/sfpu_functions.py", cores / "numerics/data_format.py"]
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:16]
    folder = cache_folder() / f"include-{digest}"
    if not (folder / COMPLETE).exists():
        _write_headers(folder)
    return folder


def _write_headers(folder):
    from tensim.sim.cores.riscv.generated import HEADERS

    texts = header_names.forwarders() | {name: make() for name, make in HEADERS.items()}
    for name, text in texts.items():
        write_atomically(folder / name, text.encode())
    _say_complete(folder, texts)


@functools.cache
def prepared(tools, optimization):
    """Flags that bring in the standard headers, and the objects to link against."""
    folder = _runtime_folder(tools, optimization)
    header, compiled, runtime = folder / "standard.h", folder / "standard.h.pch", folder / "runtime.o"
    with _locked(folder):
        if not (folder / COMPLETE).exists():
            _prepare(tools, optimization, folder)
    include = ["-include-pch", str(compiled)] if tools.is_clang else ["-include", str(header)]
    return tuple(include), str(runtime)


def _runtime_folder(tools, optimization):
    """Named after its place too: a precompiled header names the header that it was made of by its path."""
    key = hashlib.sha256(
        repr((tools, optimization, WORDS, STANDARD_HEADERS, PRECOMPILED, str(cache_folder()))).encode()
    )
    key.update((PACKAGE / "runtime.cpp").read_bytes())
    return cache_folder() / f"runtime-{key.hexdigest()[:16]}"


def heads_folder(tools, optimization):
    """Where precompiled heads are kept (`precompiled_head`)."""
    return _runtime_folder(tools, optimization) / "heads"


@functools.cache
def precompiled_head(tools, optimization, text):
    """Flags for clang that bring in the standard headers and, behind them, a text that includes nothing but headers of ours.

    Looked at once per process.  Named after all that went in, so that it need not know the times of files.
    """
    standard, runtime = prepared(tools, optimization)
    key = hashlib.sha256(repr((text, str(INCLUDE), str(include_folder()))).encode())
    headers = (path for folder in (INCLUDE, include_folder()) for path in sorted((folder / "tensim").glob("*.h")))
    for path in (Path(runtime).with_name(COMPLETE), *headers):
        key.update(path.read_bytes())
    folder = heads_folder(tools, optimization) / key.hexdigest()[:16]
    header, compiled = folder / "head.h", folder / "head.h.pch"
    with _locked(folder):
        if not _is_whole(folder):
            write_atomically(header, text.encode())
            flags = [
                *tools.compile,
                *tools.flags,
                f"-{optimization}",
                *standard,
                f"-I{INCLUDE}",
                f"-I{include_folder()}",
            ]
            _once([*flags, *PRECOMPILED, "-Xclang", "-fno-pch-timestamp", str(header)], compiled)
            _say_complete(folder, [header.name, compiled.name])
    return "-include-pch", str(compiled)


@functools.cache
def mend_prepared(tools, optimization):
    """Make anew what a compilation needs of the cache and what is not as it was written; looked at once per process."""
    if not _is_whole(include_folder()):
        _write_headers(include_folder())
    folder = _runtime_folder(tools, optimization)
    with _locked(folder):
        if not _is_whole(folder):
            _prepare(tools, optimization, folder)


def _say_complete(folder, names):
    """Keep the hashes of a folder's files, which are all there."""
    hashes = {str(name): hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names}
    write_sealed(folder / COMPLETE, json.dumps(hashes).encode())


def _is_whole(folder):
    """Whether a folder's files are as they were when it was complete."""
    kept = read_sealed(folder / COMPLETE)
    try:
        return kept is not None and all(
            hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest
            for name, digest in json.loads(kept).items()
        )
    except OSError:
        return False


@contextlib.contextmanager
def _locked(folder):
    """One process at a time prepares a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _prepare(tools, optimization, folder):
    """Compile the standard headers and the runtime library."""
    header, compiled, runtime = folder / "standard.h", folder / "standard.h.pch", folder / "runtime.o"
    text = "".join(f"#include <{name}>\n" for name in STANDARD_HEADERS)
    write_atomically(header, (text if tools.zig is None else WORDS + text).encode())
    flags = [*tools.compile, *tools.flags, f"-{optimization}"]
    _once([*flags, "-fno-builtin", "-c", str(PACKAGE / "runtime.cpp")], runtime)
    if tools.is_clang:
        _once([*flags, *PRECOMPILED, str(header)], compiled)
    _say_complete(folder, [path.name for path in (header, runtime, compiled) if path.exists()])


def _once(command, target, option="-o"):
    """Run a compiler into `target`, whole or not at all; `option` names its output."""
    partial = target.with_name(f"partial-{target.name}")
    output = [option, str(partial)] if option == "-o" else [f"{option}{partial}"]
    result = run([*command, *output])
    if result.returncode:
        raise SimulatorError(f"the compiler cannot build {target.name}:\n{result.stderr}")
    os.replace(partial, target)


def _arithmetic_file(tools):
    return cache_folder() / f"arithmetic-{hashlib.sha256(tools.version.encode()).hexdigest()[:16]}" / "arithmetic.a"


@functools.cache
def arithmetic_library(tools):
    """The library of 64-bit division and floating point, built when the first kernel needs it."""
    if tools.zig is None:
        return "-lgcc"
    library = _arithmetic_file(tools)
    folder = library.parent
    with _locked(folder):
        if not _is_whole(folder):
            source, zig = tools.zig / "lib/compiler_rt.zig", tools.zig / "zig"
            command = f"{zig} build-lib {source} --name arithmetic -O ReleaseSmall -ffunction-sections -fdata-sections"
            command += " -target riscv32-freestanding-none -mcpu=generic_rv32+m"
            with tempfile.TemporaryDirectory(dir=folder) as scratch:
                _once(
                    [*shlex.split(command), "--cache-dir", scratch, "--global-cache-dir", scratch],
                    library,
                    "-femit-bin=",
                )
            _say_complete(folder, [library.name])
    return str(library)
