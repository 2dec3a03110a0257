"""A Light Metal file: its commands, payloads and traces, by number."""

import hashlib
import io
import os
import stat
import zlib

from tensim.sim.errors import UsageError
from tensim.traces.flatbuffers.schema import light_metal_schema
from tensim.traces.flatbuffers.tables import Reader

MAX_FILE_BYTES = (1 << 31) - 1  # FlatBuffers' offsets reach no further
PIECE_BYTES = 1 << 24  # of a packed payload, taken and unpacked at a time
FIRST_LATE = 12  # from here on the later releases' union numbers are one lower: EnqueueProgram is gone
LAST_LATE = 17
NUMBERINGS = {"e2": {}, "late": {number: number + (number >= FIRST_LATE) for number in range(LAST_LATE + 1)}}


class Binary:
    """A Light Metal file that has been verified.  `numbering`: "e2" or "late" (`NUMBERINGS`)."""

    def __init__(self, data, numbering="e2"):
        self.data, self.numbering = data, numbering
        self.reader = Reader(light_metal_schema(), data, {"CommandType": NUMBERINGS[numbering]})
        self.count, self._position = self.reader.vector_of_tables(self.reader.root_position, "commands")
        self.root = self.reader.root(
            "devices", "schema_version", "writer", "host_start_fs", "cycles", "buffer_names", "chips", "links",
            "host_devices", "host_costs", "kernel_binaries",
        )  # fmt: skip
        self._payloads = self._traces = None

    @property
    def is_of_one_chip(self):
        """Whether another writer made the file: then it describes no device and means one chip, whatever its device ids."""
        root = self.root
        return not (root.devices or root.chips or root.schema_version)

    @property
    def buffer_names(self):
        """{global id: name} of the buffers that the captured program named."""
        return {named.global_id: named.name or "" for named in self.root.buffer_names or ()}

    @classmethod
    def open(cls, path):
        """The bytes of a file, read once: whatever happens to the file, what is verified is what runs."""
        try:
            with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
                about = os.fstat(file.fileno())
                if not stat.S_ISREG(about.st_mode):
                    raise UsageError(f"cannot read {path}: it is no file")
                if about.st_size > MAX_FILE_BYTES:
                    raise UsageError(
                        f"cannot read {path}: {about.st_size:,} B; a binary has at most {MAX_FILE_BYTES:,} B"
                    )
                return file.read(MAX_FILE_BYTES)
        except (OSError, ValueError) as error:
            raise UsageError(f"cannot read {path}: {getattr(error, 'strerror', error)}") from error

    def __len__(self):
        return self.count

    def command(self, i):
        """Command `i` as a Node of its own table, or None when it holds nothing."""
        index = self.reader.schema._by_name["Command"]
        return self.reader.table(self._position(i), index).cmd

    def nodes(self):
        """All commands."""
        return (self.command(i) for i in range(self.count))

    def trace(self, number):
        """The TraceDescriptor node of a trace id; UsageError when the file has none."""
        if self._traces is None:
            entries = self.reader.root("trace_descriptors").trace_descriptors or ()
            self._traces = {entry.trace_id: entry.desc for entry in entries}
        if self._traces.get(number) is None:
            raise UsageError(f"the binary holds no trace {number}")
        return self._traces[number]

    def payload(self, number):
        """Bytes of a payload, numbered from 1."""
        if self._payloads is None:
            self._payloads = self.reader.root("payloads").payloads or []
        node = self._payloads[number - 1]
        if node.codec == "none":
            return node.data.tobytes()
        if node.codec != "zlib":
            raise UsageError(f"payload {number} is packed with {node.codec!r}; tensim supports zlib")
        return self._unpacked(number, node)

    @staticmethod
    def _unpacked(number, node):
        """Bytes of a packed payload, hardly more than it says; piece by piece, for that takes no second copy."""
        unpacker, out = zlib.decompressobj(), io.BytesIO()
        try:
            for start in range(0, len(node.data), PIECE_BYTES):
                packed = node.data[start : start + PIECE_BYTES]
                while len(packed) and out.tell() <= node.size:
                    out.write(unpacker.decompress(packed, PIECE_BYTES))
                    packed = unpacker.unconsumed_tail
            if out.tell() <= node.size:
                out.write(unpacker.flush())
        except zlib.error as error:
            raise UsageError(f"payload {number} cannot be unpacked: {error}") from error
        if out.tell() != node.size or not unpacker.eof:
            raise UsageError(f"payload {number} does not unpack to the {node.size} B it states")
        return out.getvalue()

    def data_of(self, node, words):
        """The bytes of a transfer: `words`, or the command's payload."""
        if node.payload:
            return self.payload(node.payload)
        return b"" if words is None else words.tobytes()

    def sha256(self):
        return hashlib.sha256(self.data).hexdigest()
