"""The bytes of Light Metal files: in memory, on disk, verified."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

from tensim.sim.errors import BinaryError, UsageError
from tensim.sim.output_files import write_output
from tensim.traces.light_metal.binary import Binary
from tensim.traces.light_metal.verify import open_verified

WRITER = "tensim"
SWITCH = "TENSIM_LIGHT_METAL"


def switched_off() -> bool:
    """Whether the user's environment says that nothing is captured."""
    return os.environ.get(SWITCH) == "0"


class LightMetalBinary:
    """The bytes of a Light Metal file."""

    def __init__(self, data: bytes = b"") -> None:
        self._data = data

    def get_data(self) -> bytes:
        return self._data

    def size(self) -> int:
        return len(self._data)

    def is_empty(self) -> bool:
        return len(self._data) == 0

    def save_to_file(self, path: str | os.PathLike) -> None:
        """Write the file, all of it or nothing; UsageError when that fails or there is nothing to save.

        When capturing is switched off an empty binary is what every capture gives: then nothing is written, with a warning.
        """
        if self.is_empty() and switched_off():
            warnings.warn(f"{path} is not written: Light Metal capture is switched off by {SWITCH}=0", stacklevel=2)
            return
        if self.is_empty():
            raise UsageError("the Light Metal binary is empty")
        path = Path(path)
        if path.is_dir():
            raise UsageError(f"cannot write {path}: it is a directory")
        try:
            write_output(path, self._data)
        except OSError as error:
            raise UsageError(f"cannot write {path}: {error.strerror}") from error

    @classmethod
    def load_from_file(cls, path: str | os.PathLike) -> LightMetalBinary:
        """Read a file; UsageError when it cannot be read or is empty."""
        data = Binary.open(path)
        if len(data) == 0:
            raise UsageError(f"{path} is empty")
        return cls(data)


def verified(binary: LightMetalBinary | bytes | str | os.PathLike | Binary) -> Binary:
    """A verified `Binary` of a LightMetalBinary, bytes, a file name or a Binary."""
    if isinstance(binary, Binary):
        return binary
    if isinstance(binary, str | os.PathLike):
        return verified_file(binary, LightMetalBinary.load_from_file(binary).get_data())
    data = binary.get_data() if isinstance(binary, LightMetalBinary) else binary
    try:
        data = data if isinstance(data, bytes) else bytes(memoryview(data))  # nobody changes it afterwards
    except TypeError as error:
        hint = "a LightMetalBinary, bytes, or the name of a file"
        raise UsageError(f"{type(data).__name__} is not a Light Metal binary", hint=hint) from error
    if len(data) == 0:
        raise UsageError("the Light Metal binary is empty")
    return open_verified(data)


def verified_file(path: str | os.PathLike, data: bytes, numbering: str | None = None) -> Binary:
    """The verified `Binary` of a file's bytes; what is wrong with them names the file."""
    try:
        return open_verified(data, numbering)
    except BinaryError as error:
        error.where.setdefault("file", os.fspath(path))
        raise
