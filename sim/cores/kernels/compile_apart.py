"""Kernels of foreign files are compiled in a process of their own, which may take so much time and memory and no more.

What numba and LLVM make of a text cannot be told from its size.  The process reads one line of JSON, the generated source, and
writes one, followed by the object code; a limit kills it, and Ctrl-C in the parent does, too.
"""

import json
import os
import resource
import sys
import time
from types import SimpleNamespace

from tensim.sim.cores.kernels.generated import compile_generated
from tensim.sim.errors import KernelCompileError

SECONDS = 60  # of a processor; the largest kernels of the project take 15
MAX_LINES = 1_400  # of generated code: numba takes 7 ms for one; the largest kernel of the project has 1,200
WAITED_SECONDS = 300  # at most, on a machine that has others to serve
MEMORY_BYTES = 3 << 30
COMMAND = f"from {__name__} import main; main()"


def compile_apart(name, source, file, budget):
    """As `compile_generated`, at the cost of a `CompileBudget`.  KernelCompileError beyond the limits, too."""
    import subprocess  # not for who compiles nothing

    where = {"file": file, "kernel": name}
    lines = source.count("\n")
    if lines > MAX_LINES:
        raise KernelCompileError(
            f"kernel {name} is too large: {lines:,} lines of generated code, of which a kernel of a file may have {MAX_LINES:,}",
            where=where, hint="make it smaller, or give its text by --kernel-path",
        )  # fmt: skip
    budget.refuse_spent(name, where)
    command = [sys.executable, "-c", COMMAND]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)}
    asked = json.dumps({"name": name, "source": source, "file": file}).encode()
    try:
        done = subprocess.run(
            command, input=asked, capture_output=True, env=environment, timeout=WAITED_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        done = None
    if done is None or done.returncode:
        budget.spend(SECONDS)
        limits = f"{SECONDS} s or {MEMORY_BYTES >> 30} GB"
        hint = "a kernel of a file may take that much; make it smaller, or give its text by --kernel-path"
        raise KernelCompileError(f"kernel {name} takes more than {limits} to compile", where=where, hint=hint)
    head, content = done.stdout.split(b"\n", 1)
    answer = json.loads(head)
    budget.spend(answer.pop("seconds"))
    if "refused" in answer:
        raise KernelCompileError(answer["refused"], where=where)
    return SimpleNamespace(content=content, **answer)  # as ObjectCode, without numba


def main():
    """What the process does."""
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    asked = json.loads(sys.stdin.buffer.read())
    try:
        code = compile_generated(**asked)
    except KernelCompileError as error:
        refused = {"refused": error.message, "seconds": time.process_time()}
        sys.stdout.buffer.write(json.dumps(refused).encode() + b"\n")
        return
    head = {"symbol": code.symbol, "frame_bytes": code.frame_bytes, "seconds": time.process_time()}
    sys.stdout.buffer.write(json.dumps(head).encode() + b"\n" + code.content)
