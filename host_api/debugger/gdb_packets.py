"""Packets of GDB's remote serial protocol over a socket (GDB manual, "Remote Protocol", Overview): $TEXT#CHECKSUM, each
acknowledged by + until both sides agree not to."""

from __future__ import annotations

import contextlib
import select
import socket

INTERRUPT = b"\x03"  # what gdb sends for Ctrl-C, outside of packets
ESCAPE = 0x7D


class Closed(Exception):
    """The other side has left."""


class Connection:
    """Packets to and from a debugger; text is latin-1, so that a character is a byte."""

    def __init__(self, stream: socket.socket) -> None:
        self._socket, self._buffer, self.acknowledges = stream, b"", True

    def send(self, text: str) -> None:
        """Send a packet."""
        data = _escaped(text.encode("latin-1"))
        self._socket.sendall(b"$%s#%02x" % (data, sum(data) & 255))

    def receive(self) -> str:
        """The text of the next packet; INTERRUPT and acknowledgements in front of it are passed over.  Raises Closed."""
        while True:
            start = self._buffer.find(b"$")
            end = self._buffer.find(b"#", start)
            if start >= 0 and 0 <= end <= len(self._buffer) - 3:
                data, check = self._buffer[start + 1 : end], self._buffer[end + 1 : end + 3]
                self._buffer = self._buffer[end + 3 :]
                is_whole = check.lower() == b"%02x" % (sum(data) & 255)
                if self.acknowledges:
                    with contextlib.suppress(ConnectionError):  # who has said the last word does not wait for this
                        self._socket.sendall(b"+" if is_whole else b"-")
                if is_whole:
                    return _plain(data).decode("latin-1")
                continue
            self._fill()

    def is_interrupted(self) -> bool:
        """Whether the other side has asked to stop, or has left, since the last packet; does not wait."""
        while select.select([self._socket], [], [], 0)[0]:
            try:
                self._fill()
            except Closed:
                return True
        found = INTERRUPT in self._buffer
        self._buffer = self._buffer.replace(INTERRUPT, b"")
        return found

    def _fill(self) -> None:
        try:
            more = self._socket.recv(1 << 16)
        except ConnectionError:
            raise Closed from None
        if not more:
            raise Closed
        self._buffer += more

    def close(self) -> None:
        """Say nothing more."""
        self._socket.close()


def _escaped(data: bytes) -> bytes:
    return b"".join(bytes((ESCAPE, byte ^ 0x20)) if byte in b"#$}*" else bytes((byte,)) for byte in data)


def _plain(data: bytes) -> bytes:
    found, rest = bytearray(), iter(data)
    for byte in rest:
        found.append(next(rest, 0) ^ 0x20 if byte == ESCAPE else byte)
    return bytes(found)


def listening(port: int) -> socket.socket:
    """A socket that waits for one debugger of this machine; port 0: any that is free.  OSError when it is taken."""
    server = socket.socket()
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        server.bind(("127.0.0.1", port))
        server.listen(1)
    except OSError:
        server.close()
        raise
    return server
