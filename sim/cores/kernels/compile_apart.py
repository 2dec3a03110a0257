"""Kernels of foreign files are compiled in processes of their own, which may take so much time and memory and no more.

What numba and LLVM make of a text cannot be told from its size.  One process imports numba and serves this one until it ends; it
reads lines of JSON with generated sources, and has a child compile each, which limits kill, and Ctrl-C does, too.
"""

import atexit
import json
import os
import resource
import select
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
FIRST = """from tensim.sim.cores.kernels import kernel_runtime as rt

post = rt.POSTS[0]


def generated(ctx):
    post(ctx, 0)
    yield 0
"""  # a kernel like others: with the first one numba spends 0.4 s on what all need
LENGTH_BYTES = 8  # before an answer, whose length they are; none: the child went beyond its limits


class CompilerProcess:
    """The process whose children compile."""

    def __init__(self):
        import subprocess  # not for who compiles nothing

        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)}
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(
            [sys.executable, "-c", COMMAND], stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, env=environment
        )
        self._owner = os.getpid()
        atexit.register(self.end)

    @property
    def serves(self):
        """Does it live, and did this process start it, not one that it was forked from?"""
        return self._owner == os.getpid() and self._process.poll() is None

    def answer(self, asked):
        """What comes of a request, both bytes; None beyond the limits."""
        until = time.monotonic() + WAITED_SECONDS
        try:
            self._process.stdin.write(asked + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            return None
        length = self._received(LENGTH_BYTES, until)
        return self._received(int.from_bytes(length, "little"), until) if length else None

    def _received(self, count, until):
        """So many bytes, or None when they do not come in time."""
        source, found = self._process.stdout.fileno(), b""
        while len(found) < count:
            if not select.select([source], [], [], max(until - time.monotonic(), 0))[0]:
                return None
            piece = os.read(source, count - len(found))
            if not piece:
                return None
            found += piece
        return found or None

    def end(self):
        """Let it end, if it is this process's."""
        atexit.unregister(self.end)
        if self._owner == os.getpid():
            self._process.kill()
            self._process.communicate()


_process = None


def _answer(asked):
    """Of a process that serves already, or a new one."""
    global _process
    if _process is not None and not _process.serves:
        _process.end()
        _process = None
    if _process is None:
        _process = CompilerProcess()
    mine, found = _process, None
    try:
        found = mine.answer(asked)
    finally:  # after Ctrl-C, too
        if found is None:
            _process = None
            mine.end()
    return found


def compile_apart(name, source, file, budget):
    """As `compile_generated`, at the cost of a `CompileBudget`.  KernelCompileError beyond the limits, too."""
    where = {"file": file, "kernel": name}
    lines = source.count("\n")
    if lines > MAX_LINES:
        raise KernelCompileError(
            f"kernel {name} is too large: {lines:,} lines of generated code, of which a kernel of a file may have {MAX_LINES:,}",
            where=where, hint="make it smaller, or give its text by --kernel-path",
        )  # fmt: skip
    budget.refuse_spent(name, where)
    found = _answer(json.dumps({"name": name, "source": source, "file": file}).encode())
    if found is None:
        budget.spend(SECONDS)
        limits = f"{SECONDS} s or {MEMORY_BYTES >> 30} GB"
        hint = "a kernel of a file may take that much; make it smaller, or give its text by --kernel-path"
        raise KernelCompileError(f"kernel {name} takes more than {limits} to compile", where=where, hint=hint)
    head, content = found.split(b"\n", 1)
    answer = json.loads(head)
    budget.spend(answer.pop("seconds"))
    if "refused" in answer:
        raise KernelCompileError(answer["refused"], where=where)
    return SimpleNamespace(content=content, **answer)  # as ObjectCode, without numba


def main():
    """What the process does."""
    compile_generated("first", FIRST, "")
    for line in sys.stdin.buffer:
        found = _in_a_child(json.loads(line))
        sys.stdout.buffer.write(len(found).to_bytes(LENGTH_BYTES, "little") + found)
        sys.stdout.buffer.flush()


def _in_a_child(asked):
    """What a child has written; nothing if it did not get to its end."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            with open(writing, "wb") as target:
                target.write(_compiled(asked))
            os._exit(0)
        finally:
            os._exit(1)
    os.close(writing)
    with open(reading, "rb") as source:
        found = source.read()
    return found if os.waitpid(child, 0)[1] == 0 else b""


def _compiled(asked):
    """A line of JSON and the object code, within the limits."""
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        code = compile_generated(**asked)
    except KernelCompileError as error:
        return json.dumps({"refused": error.message, "seconds": time.process_time()}).encode() + b"\n"
    head = {"symbol": code.symbol, "frame_bytes": code.frame_bytes, "seconds": time.process_time()}
    return json.dumps(head).encode() + b"\n" + code.content
