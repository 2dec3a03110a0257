"""For which processors machine code is made: for a level that many share where this one has it, else for this one alone.

Code for x86-64-v3 runs no slower than code for the processor at hand (a matrix product, with data, exact, and timing only: 0.93 to
0.99 of its time), and can be made once for all of them: a wheel brings it.
"""

import functools
import hashlib
import os
import re
from contextlib import suppress
from typing import NamedTuple

# Its extensions, as /proc/cpuinfo names them (x86-64 psABI, section 3.1.1); `pni` is SSE3, `abm` has LZCNT
X86_64_V3 = frozenset("cx16 lahf_lm popcnt pni sse4_1 sse4_2 ssse3 avx avx2 bmi1 bmi2 f16c fma abm movbe xsave".split())
PROCESSOR_WORDS = (  # of /proc/cpuinfo, on x86-64 and on aarch64
    "vendor_id", "cpu family", "model", "stepping", "flags",
    "CPU implementer", "CPU architecture", "CPU variant", "CPU part", "CPU revision", "Features",
)  # fmt: skip
BY_HAND = ("NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES")  # settings of numba's that choose another


class Target(NamedTuple):
    """`name`: in names of files; `cpu`: LLVM's name of the level, None for what numba chooses: the processor at hand."""

    name: str
    cpu: str | None


@functools.cache
def target():
    """The `Target` of this process."""
    chosen = [os.environ.get(name) for name in BY_HAND]
    words = _told_by_linux()
    if not any(chosen) and X86_64_V3 <= set(words.get("flags", "").split()):
        return Target("x86_64_v3", "x86-64-v3")
    said = repr((chosen, words or _told_by_llvm()))
    return Target(hashlib.sha256(said.encode()).hexdigest()[:8], None)


def _told_by_linux():
    """{word: value} of the first processor: family, model and instruction set extensions; {} where they are not said."""
    with suppress(OSError), open("/proc/cpuinfo", "rb", buffering=0) as file:
        first = file.read(1 << 14).decode(errors="replace").partition("\n\n")[0]
        words = dict(re.findall(r"^([^\t\n:]+)\t*: *(.*)$", first, re.MULTILINE))
        if "flags" in words or "Features" in words:
            return {name: words[name] for name in PROCESSOR_WORDS if name in words}
    return {}


def _told_by_llvm():
    import llvmlite.binding as llvm

    return f"{llvm.get_host_cpu_name()} {llvm.get_host_cpu_features().flatten()}"
