"""`tensim device`: a command whose driver opens a simulated chip, register by register, in the place of a card.

The chip lives in our process; the command's driver loads `libtensim_wh.so` or `libtensim_bh.so`, which passes accesses on.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

from tensim.drop_in import operation_calls
from tensim.drop_in.compiler import digest
from tensim.drop_in.device import FAST, SLOW, RegisterDevice
from tensim.drop_in.launchers import install_tools
from tensim.library import environment
from tensim.library.descriptions import as_seen
from tensim.library.mailbox_layout import layout_of
from tensim.library.processes import INTERRUPTED, end_process, exit_status
from tensim.library.runner import wiring_of
from tensim.library.server import Server
from tensim.sim.arch import load_arch
from tensim.sim.chip.first_compilation import compile_tile
from tensim.sim.cores.riscv.llk.tree import FAMILIES
from tensim.sim.errors import UsageError

if TYPE_CHECKING:
    from tensim.drop_in.device import Options
    from tensim.library.mailboxes import Layout
    from tensim.library.server import ChipsHostMemory
    from tensim.sim.arch import Arch
    from tensim.sim.host.wiring import Board, Wiring

ROOM = "device"  # of the cache
SLOW_DISPATCH = "TT_METAL_SLOW_DISPATCH_MODE"


@dataclass(frozen=True)
class Place:
    """Where a chip stands: its `Arch`, what lies around the command, the way to its memory; `wiring`: of several chips."""

    arch: Arch
    library: environment.Library
    surroundings: environment.Surroundings
    layout: Layout  # of the library
    wiring: Wiring | None = None

    def variables(self, socket: str | Path, dispatch: str = SLOW) -> dict[str, str]:
        """Environment of the command."""
        chips = 1 if self.wiring is None else len(self.wiring.ports)
        names = self.surroundings.variables(socket, self.arch, chips)
        if dispatch == FAST:
            del names[SLOW_DISPATCH]
        return names | {"CHIP_ARCH": FAMILIES[self.arch.name]}  # of the vendor's LLK suite


def place_of(name: str, overrides: dict[str, Any], python: str | None = None, board: Board | None = None) -> Place:
    """The `Place` of a chip, or of the chips of a `board`.

    UsageError for one that the driver cannot be told of, and where its descriptions are missing.
    """
    library, plain = environment.find_library(python), load_arch(name)
    if plain.name not in environment.DEVICES:
        raise UsageError(f"{plain.name} has no register level", hint=f"choose one of {', '.join(environment.DEVICES)}")
    arch = load_arch(name, as_seen(library, plain) | overrides)
    wiring = None if board is None else wiring_of(board, arch)
    surroundings = environment.prepare(library, arch, ROOM, install_tools, wiring, digest())
    return Place(arch, library, surroundings, layout_of(library, arch, older=True), wiring)


class _Chip:
    """A chip that waits behind a socket for whoever opens it."""

    def __init__(self, place: Place, options: Options) -> None:
        compile_tile(place.arch.name)
        self._place, self._options = place, options
        self.device: RegisterDevice | None = None
        self._folder = tempfile.TemporaryDirectory(prefix="tensim-")
        self.socket = Path(self._folder.name) / "device"
        self.server = Server(self.socket, self._open, None)

    def _open(self) -> RegisterDevice:
        place = self._place
        self.device = RegisterDevice(
            place.arch,
            place.surroundings.channels,
            place.layout,
            self._host_memory,
            self._options,
            place.wiring,
        )
        return self.device

    def _host_memory(self, chip: int) -> ChipsHostMemory | None:
        link = self.server.host_memory
        return None if link is None else link.of(chip)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.server.close()
        self._folder.cleanup()

    def result(self, calls: Sequence[dict[str, Any]] = ()) -> dict[str, Any] | None:
        """What the device did, as JSON, with the names of the operations among `calls`; None when nobody opened it."""
        if self.device is None:
            return None
        result = self.device.result()
        operation_calls.name_launches(result["launches"], calls)
        return result | {"calls": list(calls)}


def run(
    command: Sequence[str], place: Place, options: Options, variables: Mapping[str, str] = MappingProxyType({})
) -> tuple[int, dict[str, Any] | None]:
    """Run a command; (its exit status, `RegisterDevice.result` or None when nobody opened it).  UsageError: no such command.

    `variables`: of its environment, beside those by which it finds the chip.
    """
    with _Chip(place, options) as chip:
        noted = chip.socket.with_name("calls")
        around = os.environ | place.variables(chip.socket, options.dispatch) | dict(variables)
        around |= operation_calls.variables(noted)
        try:
            child = subprocess.Popen(command, env=around)
        except OSError as error:
            raise UsageError(f"cannot run {command[0]}: {error.strerror}") from error
        interrupted = False
        try:
            chip.server.serve(lambda: child.poll() is None)
        except KeyboardInterrupt:
            interrupted = True
        finally:
            end_process(child)
        status = INTERRUPTED if interrupted else exit_status(child.returncode, command[0])
        return status, chip.result(operation_calls.read(noted))


def wait(place: Place, options: Options, tell: Callable[[dict[str, str]], object]) -> tuple[int, dict[str, Any] | None]:
    """Let a chip stand there until Ctrl-C; `tell(variables)` is told the environment in which a command finds it."""
    with _Chip(place, options) as chip:
        tell(place.variables(chip.socket, options.dispatch))
        with contextlib.suppress(KeyboardInterrupt):
            chip.server.serve(lambda: True)
        return 0, chip.result()
