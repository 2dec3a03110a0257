"""The simulator's side of the library's device: accesses to memory, launches, compiler commands, operations and traces.

One socket takes them all; the first word of a connection says what it is.  Launches run at the first look at a go word behind
them, before the first write into a memory of kernels, or when an operation begins or ends, so that all cores that were told start
together, as on silicon, where the host writes faster than cores start.

A launch that fails ends like any other for the library, which would know no more than a core's wrong signal: our `child`, told
of the failure when the operation ends, raises it.  What the operation launches in the meantime does not run.
"""

from __future__ import annotations

import contextlib
import json
import selectors
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, cast

from tensim.library.identifiers import TEXT_AT, TEXT_BYTES, Commands, elf_of, identifier_in
from tensim.library.mailboxes import DONE, SIGNAL
from tensim.library.traces import Traces
from tensim.sim.engine.sealed_files import write_atomically
from tensim.sim.errors import TensimError, UsageError

Compile: TypeAlias = Callable[[list[str], str], tuple[int, bytes]]  # (arguments, folder) -> (status, bytes to say)
OPEN, WRITE, READ, CLOSE, HOST, COMPILE, OPERATION = 1, 2, 3, 4, 5, 16, 32
HEAD = struct.Struct("<4IQ")
WORDS = struct.Struct("<2I")
# A go word whose signal is none of the library's, which raises an error for it: the answer outside operations, where nobody asks
# us what has failed
FAILURE = bytes([*bytes(SIGNAL), 0x55])
NOT_LOADED = "is captured before it has run: a card refuses to load its kernels then; run it once before"
CAPTURE_HINT = "a card refuses it, too: do it before begin_trace_capture"
WORD, NOTHING = 4, bytes(4)
RECEIVE = 1 << 20
PATIENCE = 0.2  # seconds between two looks whether the other process lives
SILENCE = 0.005  # seconds without an access after which a device that works by itself goes on: the host waits


class Server:
    """Serves one process of the library.

    `open_device()` gives a `Device` with `name`, `tiles`, `run(workers, operation)`, which raises a TensimError when it fails
    and can then run others, and `run_elsewhere(cores)` for those that are no workers; where it `takes_writes`, its
    `tiles.take_writes(data, at)` carries out many messages at once; where the program's traces are ours, it has
    `captured(workers, operation)`, which `replay(captured, trace)` runs as often as asked, and `has_loaded(captured)`, whether its
    kernels have run before.  `compile(arguments, folder)` gives (status, bytes to say), and is called in threads; None where no
    compiler asks.  `to_profiler(text)` takes the program's messages to the profiler.
    """

    def __init__(
        self,
        path: str | Path,
        open_device: Callable[[], Any],
        compile: Compile | None,
        to_profiler: Callable[[str], None] | None = None,
    ) -> None:
        self._open_device, self._compile, self._to_profiler = open_device, compile, to_profiler
        self.device: Any = None  # what `open_device` gives
        self._operations: list[dict[str, Any]] = []  # of the library's, that run now: the inner ones last
        self._traces = Traces()
        self.failure: TensimError | None = None  # of a launch, that the program does not know of
        self._streams: set[socket.socket] = set()  # connections of the device
        self.host_memory: HostMemoryLink | None = None  # of a driver that lets the device reach the host's memory
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(str(path))
        self._listener.listen(64)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listener, selectors.EVENT_READ, self._accept)

    def serve(self, alive: Callable[[], bool]) -> None:
        """Serve until `alive()`, asked a few times a second, is false and nothing is left to read."""
        asked = time.monotonic()
        while True:
            works = self.device is not None and self.device.works_by_itself
            ready = self._selector.select(SILENCE if works else PATIENCE)
            for key, _ in ready:
                self._receive_from(key)
            if not ready and works:
                self._work_on()
            if not ready and time.monotonic() > asked + PATIENCE:
                if not alive():
                    return
                asked = time.monotonic()

    def _work_on(self) -> None:
        """The host says nothing: let the device work until it does, or finds something in its own memory."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and not self._selector.select(0):
            if not self.device.work():
                return

    def _receive_from(self, key: selectors.SelectorKey) -> None:
        try:
            key.data(key.fileobj)
        except ConnectionError:  # the process on the other side has ended
            self.forget(cast(socket.socket, key.fileobj))

    def close(self) -> None:
        """Close all connections: a library that still runs ends with its next access."""
        for key in list(self._selector.get_map().values()):
            cast(socket.socket, key.fileobj).close()
        if self.host_memory is not None:
            self.host_memory.close()
        self._selector.close()

    def forget(self, connection: socket.socket) -> None:
        """Close a connection that nothing comes from any more."""
        if connection.fileno() in self._selector.get_map():
            self._selector.unregister(connection)
        self._streams.discard(connection)
        connection.close()

    def _accept(self, listener: socket.socket) -> None:
        connection, _ = listener.accept()
        self._selector.register(connection, selectors.EVENT_READ, self._first)

    def _first(self, connection: socket.socket) -> None:
        """The first word of a connection says what it is."""
        word = connection.recv(WORDS.size // 2, socket.MSG_PEEK)
        kind = struct.unpack("<I", word)[0] if len(word) == 4 else None
        self._selector.unregister(connection)
        if kind == COMPILE and self._compile is not None:
            work = connection, self._compile
            threading.Thread(target=self._serve_compiler, args=work, daemon=True).start()
        elif kind == OPEN:
            self._streams.add(connection)
            self._selector.register(connection, selectors.EVENT_READ, DeviceStream(self).receive)
        elif kind == HOST:
            _receive(connection, HEAD.size)
            self.host_memory = HostMemoryLink(connection)
        elif kind == OPERATION:
            self._selector.register(connection, selectors.EVENT_READ, self._operation)
        else:
            connection.close()

    # --- compiler commands

    def _serve_compiler(self, connection: socket.socket, compile: Compile) -> None:
        with connection, contextlib.suppress(ConnectionError):  # the compiler was ended
            _, count = WORDS.unpack(_receive(connection, WORDS.size))
            sizes = (struct.unpack("<I", _receive(connection, 4))[0] for _ in range(count + 1))
            folder, *arguments = [_receive(connection, size).decode() for size in sizes]
            status, said = compile(arguments, folder)
            connection.sendall(WORDS.pack(status, len(said)) + said)

    # --- names of operations

    @property
    def operation(self) -> dict[str, Any] | None:
        """The operation of the library's that runs now, as its process describes it, or None."""
        return self._operations[-1] if self._operations else None

    def _operation(self, connection: socket.socket) -> None:
        """An operation begins or ends, a device closes, or the program asks for something: run what the one before has told cores,
        answer what has failed, or what was asked for."""
        _, size = WORDS.unpack(_receive(connection, WORDS.size))
        message = json.loads(_receive(connection, size))
        self._catch_up()
        self._launch()
        if "closes" in message:
            self._traces.drop()
            self._answer(connection, "")
            return
        if "elapsed" in message:
            self._answer(connection, str(0 if self.device is None else self.device.elapsed_ns))
            return
        if "capturing" in message:
            self._answer(connection, str(int(self._traces.capturing)))
            return
        if "profiler" in message and self._to_profiler is not None:
            self._to_profiler(message["profiler"])
        elif "begin" in message:
            self._operations.append(message["begin"])
        elif "trace" in message:
            self._trace(message["trace"], message["number"])
        elif "end" in message and self._operations:
            self._operations.pop()["outputs"] = message["end"]
        text = "" if self.failure is None else str(self.failure)
        self.failure = None
        self._answer(connection, text)

    def _trace(self, what: str, number: int) -> None:
        """The program begins or ends the capture of a trace, executes or releases one."""
        traces = self._traces
        try:
            if what == "replay":
                launches, trace = traces.next_replay(number)
                for launch in launches:
                    self.device.replay(launch, trace)
            else:
                {"begin": traces.begin, "end": traces.end, "release": traces.release}[what](number)
        except TensimError as error:
            self._failed(error)

    def _capture(self, launch: Any) -> None:
        """Keep a launch for the trace that is captured."""
        self._traces.add(launch)
        if not self.device.has_loaded(launch):
            name = "a program" if self.operation is None else self.operation["name"]
            print(f"tensim: warning: {name} {NOT_LOADED}", file=sys.stderr, flush=True)

    def _failed(self, error: TensimError) -> None:
        """Keep what has failed for the program's next message, and tell the user."""
        if self.failure is None:
            self.failure = error
            print(f"tensim: {error}", file=sys.stderr, flush=True)

    def _answer(self, connection: socket.socket, text: str) -> None:
        connection.sendall(struct.pack("<I", len(text.encode())) + text.encode())

    def _catch_up(self) -> None:
        """Carry out what the device's connection has brought: the library has written it before its next operation begins."""
        while ready := [key for key, _ in self._selector.select(0) if key.fileobj in self._streams]:
            for key in ready:
                self._receive_from(key)

    # --- accesses

    def opened(self) -> None:
        """The library opens its device."""
        if self.device is None:
            self.device = self._open_device()

    def read(self, x: int, y: int, address: int, size: int) -> bytes:
        """What the host reads; cores that were told to run do so first."""
        tiles = self.device.tiles
        if tiles.strangers or tiles.polls(x, y, address, size):
            self._launch()
            if self.failure is not None and self.operation is None:
                self.failure = None
                return FAILURE
        if self._traces.capturing and tiles.keeps(x, y, address, size):
            self._failed(UsageError("the host reads a tensor while a trace is captured", hint=CAPTURE_HINT))
        return tiles.read(x, y, address, size)

    def write(self, x: int, y: int, address: int, data: bytes) -> None:
        """What the host writes; cores that were told to run do so before what they work on changes."""
        tiles = self.device.tiles
        if tiles.keeps(x, y, address, len(data)):
            if tiles.told:
                self._launch()
            if self._traces.capturing:
                self._failed(UsageError("the host writes a tensor while a trace is captured", hint=CAPTURE_HINT))
                return
        tiles.write(x, y, address, data)

    def read_beside(self, x: int, y: int, address: int, size: int) -> bytes:
        """What stands behind the answer to the read of a word: how many other words are the same until the host writes, then x, y
        and content of each.

        A host that waits for cores looks at the go word of one after the other: it gets all of them at once.
        """
        tiles = self.device.tiles
        if size != WORD or not self.device.takes_writes:
            return b"" if size != WORD else NOTHING
        if not tiles.polls(x, y, address, size) or tiles.told or tiles.strangers:
            return NOTHING
        words = tiles.go_words()
        return struct.pack("<I", len(words)) + words.tobytes()

    def _launch(self) -> None:
        """Run what cores were told, unless the operation has failed."""
        tiles = self.device.tiles if self.device is not None else None
        if tiles is None or not (tiles.told or tiles.strangers):
            return
        workers, strangers = tiles.take_told()
        try:
            if strangers:
                self.device.run_elsewhere(strangers)
            if self._traces.capturing and workers:
                self._capture(self.device.captured(workers, self.operation))
            elif self.failure is None and workers:
                self.device.run(workers, self.operation)
        except TensimError as error:
            self._failed(error)
        for worker in workers:
            tiles.answer(worker, DONE)
        tiles.launched(workers)


class HostMemoryLink:
    """The host's memory as the device's chips see it: the driver's process reads and writes it for us.

    When that process has ended, its memory reads as zero and keeps nothing: the device goes on until its server notices.
    """

    def __init__(self, connection: socket.socket) -> None:
        self._connection, self._lives = connection, True

    def of(self, chip: int) -> ChipsHostMemory:
        """The part that a chip sees."""
        return ChipsHostMemory(self, chip)

    def ask(self, message: bytes, size: int) -> bytes:
        """The answer of so many bytes to a message."""
        if self._lives:
            try:
                self._connection.sendall(message)
                return _receive(self._connection, size)
            except ConnectionError:
                self._lives = False
        return bytes(size)

    def close(self) -> None:
        """End the connection."""
        self._connection.close()


class ChipsHostMemory(NamedTuple):
    """The host's memory by the addresses of a chip's PCIe tile, which the driver has told that chip where to find."""

    link: HostMemoryLink
    chip: int

    def read(self, address: int, size: int) -> bytes:
        """`size` bytes."""
        return self.link.ask(HEAD.pack(READ, self.chip, 0, size, address), size)

    def write(self, address: int, content: bytes) -> None:
        """Write bytes, which are there on return."""
        self.link.ask(HEAD.pack(WRITE, self.chip, 0, len(content), address) + content, 1)


class DeviceStream:
    """The messages of a device's connection, as they arrive in pieces."""

    def __init__(self, server: Server) -> None:
        self._server, self._data, self._room = server, bytearray(), memoryview(bytearray(RECEIVE))

    def receive(self, connection: socket.socket) -> None:
        """Take what has arrived; carry out what is complete."""
        arrived = connection.recv_into(self._room)
        if not arrived:
            self._server.forget(connection)
            return
        self._data += self._room[:arrived]
        at = self._carry_out(connection)
        del self._data[:at]

    def _carry_out(self, connection: socket.socket) -> int:
        server, data, at = self._server, self._data, 0
        while len(data) - at >= HEAD.size:
            if server.device is not None and server.device.takes_writes:
                at = server.device.tiles.take_writes(data, at)
                if len(data) - at < HEAD.size:
                    break
            kind, x, y, size, address = HEAD.unpack_from(data, at)
            if kind == WRITE:
                if len(data) - at < HEAD.size + size:
                    break
                with memoryview(data)[at + HEAD.size : at + HEAD.size + size] as view:
                    server.write(x, y, address, bytes(view))
                at += size
            elif kind == READ:
                connection.sendall(server.read(x, y, address, size) + server.read_beside(x, y, address, size))
            elif kind == OPEN:
                server.opened()
            elif kind == CLOSE:
                connection.sendall(struct.pack("<I", 0))
            at += HEAD.size
        return at


def _receive(connection: socket.socket, size: int) -> bytes:
    """So many bytes.  ConnectionError at the end of the connection."""
    data = b""
    while len(data) < size:
        more = connection.recv(size - len(data))
        if not more:
            raise ConnectionResetError
        data += more
    return data


def compile_answer(commands: Commands, build: Callable[[list[str], str], object]) -> Compile:
    """The `compile` of a `Server`: it keeps commands (`identifiers.Commands`), writes the files that the library waits for.

    `build(arguments, folder)` builds the kernel of a command, if it is one; TensimErrors become the compiler's messages.
    """

    def compile(arguments: list[str], folder: str) -> tuple[int, bytes]:
        if "-o" not in arguments:
            return 0, b"riscv-tt-elf-g++ (tensim) 15.1.0\n"
        output = Path(folder, arguments[arguments.index("-o") + 1])
        try:
            if "-c" in arguments:
                build(arguments, folder)
                identifier = commands.add(arguments, folder)
            else:
                identifier = _identifier_of_inputs(arguments, folder) or bytes(32)
            write_atomically(output, elf_of(identifier))
            _write_dependencies(arguments, folder, output)
        except (TensimError, OSError) as error:
            return 1, f"{error}\n".encode()
        return 0, b""

    return compile


def _identifier_of_inputs(arguments: Sequence[str], folder: str) -> bytes | None:
    """The identifier in the last object that a link command names, which is the kernel's own."""
    output = arguments[arguments.index("-o") + 1]
    for name in reversed(arguments):
        path = Path(folder, name)
        if name != output and name.endswith(".o") and path.is_file():
            found = identifier_in(path.read_bytes()[TEXT_AT : TEXT_AT + TEXT_BYTES])
            if found is not None:
                return found
    return None


def _write_dependencies(arguments: Sequence[str], folder: str, output: Path) -> None:
    """The rule of dependencies that the library wants beside an object: of its source alone."""
    source = next((name for name in arguments if name.endswith((".cc", ".cpp", ".S"))), "")
    if "-MF" in arguments:
        rule = Path(folder, arguments[arguments.index("-MF") + 1])
    elif "-MMD" in arguments and "-c" in arguments:
        rule = output.with_suffix(".d")
    else:
        return
    rule.write_text(f"{arguments[arguments.index('-o') + 1]}: {source}\n")
