"""`tensim ttnn --library`: a program with the vendor's own library, in a process of its own, on a simulated chip.

tensim needs Python 3.11, wheels of the library are made for 3.10 and 3.12: so the simulator is the process of the command, and
the library's is a child of it.  The program's output and exit status stay as they are.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from tensim.analysis.links import fabric_facts
from tensim.device import current_system
from tensim.library import environment
from tensim.library.descriptions import as_seen, ethernet_tiles, refuse_unseen
from tensim.library.identifiers import Commands
from tensim.library.kernels import kernel_of_command
from tensim.library.launches import fingerprint, host_id, program_of
from tensim.library.mailbox_layout import layout_of
from tensim.library.mailboxes import l1_banks
from tensim.library.mesh import LibraryMesh
from tensim.library.operation_names import OperationNames
from tensim.library.processes import INTERRUPTED, end_process, exit_status
from tensim.library.sampling import Observed, Sampler
from tensim.library.server import Server, compile_answer
from tensim.library.tiles import Tiles
from tensim.sim.arch import load_arch
from tensim.sim.errors import KernelCompileError, TensimError, UsageError
from tensim.sim.host.binding import bind
from tensim.sim.host.frozen_program import BuildTarget, build_kernels
from tensim.sim.host.wiring import Wiring
from tensim.tool_files.recording import describe_next
from tensim.tool_files.told import Told
from tensim.ttnn.measurements import measure, measurements_of
from tensim.ttnn.signposts import behind_which, put

if TYPE_CHECKING:
    from tensim.library.kernels import LibraryKernel
    from tensim.library.mailboxes import Layout
    from tensim.sim.arch import Arch
    from tensim.sim.host.binding import BoundProgram
    from tensim.sim.host.dispatch import CommandQueue, ProgramCost
    from tensim.sim.host.frozen_program import FrozenProgram
    from tensim.sim.host.queue import Item
    from tensim.sim.host.wiring import Board
    from tensim.ttnn.runner import Request

CHILD = Path(__file__).with_name("child.py")
PROGRAMS = 256  # of the library's that are kept as they are loaded


class Kernels:
    """The kernels behind compiler commands, each made once: `of` an identifier, `build` for a command."""

    def __init__(self, commands: Commands, arch: Arch) -> None:
        self.commands, self.arch, self._known, self._equal = commands, arch, {}, {}
        self._building = threading.Lock()  # the library asks for a compute kernel's three processors at once

    def build(self, arguments: list[str], folder: str) -> LibraryKernel | None:
        """Compile the kernel of a command for our cores; None for what is no kernel.

        Raises KernelCompileError, also for calls that would stop the kernel: an error of a build leaves the device as it is.
        """
        found = kernel_of_command(arguments, folder)
        if found is None:
            return None
        kernel = found.kernel
        # Kernels that the host program gave as texts share one file name.
        what = kernel.file, kernel.digest, kernel.descriptors, found.parameters, found.circular_buffers
        with self._building:
            known = self._equal.setdefault(what, found)
            target = BuildTarget(self.arch, known.circular_buffers)
            (built,) = build_kernels([(known.kernel, known.parameters, target)])
        for said, place in built.not_modelled():
            where = {key: place[key] for key in ("file", "line", "frames") if key in place}
            raise KernelCompileError(said, where=where, kind="kernel_refused")
        return known

    def of(self, identifier: bytes) -> LibraryKernel:
        """The `LibraryKernel` of an identifier."""
        if identifier not in self._known:
            try:
                arguments, folder = self.commands.find(identifier)
            except KeyError:
                raise UsageError(
                    "the library runs a kernel whose command is not kept here",
                    hint=f"remove {self.commands.folder.parent}, so that it compiles its kernels anew",
                ) from None
            self._known[identifier] = self.build(arguments, folder)
        return self._known[identifier]


class Launch(NamedTuple):
    """A program that workers were told to run; `says`: what rows of reports say of it, its operation as "library"."""

    program: FrozenProgram
    bound: BoundProgram
    says: dict[str, Any]

    @property
    def operation(self) -> dict[str, Any] | None:
        """The operation of the library's that it belongs to, as its process describes it, or None."""
        return self.says["library"]

    @property
    def name(self) -> str:
        """What reports call it."""
        return _name(self.program, self.operation)


class LibraryDevice:
    """A chip below the library; `number`: among several, None: the only one."""

    works_by_itself = False  # launches run when the library looks at them
    takes_writes = True

    def __init__(
        self,
        layout: Layout,
        channels: Iterable[Iterable[tuple[int, int]]],
        kernels: Kernels,
        names: OperationNames,
        sample: int | None = None,
        number: int | None = None,
    ) -> None:
        from tensim.ttnn.devices import open_device

        self.mesh = open_device(device_id=number or 0)
        self.state = self.mesh.host._state
        self.name = f"{self.state.arch.name} {self.state.arch.board}"
        self.tiles = Tiles(self.state, layout, channels, number or 0)
        self._place = {} if number is None else {"chip": number}  # for rows of reports
        self._kernels, self._names, self._numbered = kernels, names, False
        self.sampler = None if sample is None else Sampler(sample, self.state.arch)
        self._numbers = {}  # kernels of a program -> its number
        self._programs = {}  # what workers are told -> `FrozenProgram` and `BoundProgram`, those used last at the end

    def run(self, workers: list[int], operation: dict[str, Any] | None) -> None:
        """Run what an operation of the library's, or none, has told some workers; returns when all have ended.

        Raises what a kernel's fault raises; what the cores did until then stays in memory, and the chip can run others.
        """
        self._run(self.told(workers, operation))

    def captured(self, workers: list[int], operation: dict[str, Any] | None) -> Launch:
        """What an operation has told some workers while a metal trace is captured, for `replay`."""
        return self.told(workers, operation)

    def has_loaded(self, launch: Launch) -> bool:
        """Whether a program with the kernels of a captured launch has run before."""
        return _kernels(launch.program) in self._numbers

    def replay(self, launch: Launch, trace: tuple[int, int]) -> None:
        """Run a launch of a metal trace, (trace, number of its replay), as `run` does."""
        self._run(self.of_trace(launch, trace))

    @property
    def elapsed_ns(self) -> int:
        """Time that programs have taken so far."""
        return round(sum(one.nanoseconds for one in measurements_of(self.mesh).operations))

    def run_elsewhere(self, cores: Sequence[tuple[int, int]]) -> NoReturn:
        """UsageError: only workers run kernels."""
        x, y = cores[0]
        raise UsageError(
            f"a kernel is to run on core {x}-{y}, which is no worker of {self.name}",
            hint="dispatch on workers (no DispatchCoreConfig), and no kernels on Ethernet cores",
        )

    def begin(self, launch: Launch, first: bool = True) -> None:
        """Let workers begin with a launch, without waiting; `first`: the host has not begun others at the same time."""
        self._enqueue(launch, first)

    def finish(self) -> None:
        """Wait for what has begun."""
        self.mesh.host.system.executor.finish(self.state, self.state.queues[0], self.state.manager.stall_group)

    def told(self, workers: list[int], operation: dict[str, Any] | None) -> Launch:
        """What an operation has told some workers."""
        if not self._numbered:
            self._number_banks(workers[0])
            self._numbered = True
        says = {"launch_id": host_id(self.tiles, workers[0]), "library": operation, **self._place}
        return Launch(*self._program(workers), says)

    def of_trace(self, launch: Launch, trace: tuple[int, int]) -> Launch:
        """A launch that `captured` gave as one of a replay; with checks, buffers that are there now belong to it."""
        bound = launch.bound if self.state.chip.checks is None else bind(launch.program, self.state)
        return Launch(launch.program, bound, launch.says | {"trace": list(trace)})

    def _enqueue(self, launch: Launch, charged: bool = True) -> Item:
        describe_next(self.state, lambda: self._described(launch))
        item = self._issue(lambda queue: queue.run_program(launch.bound), charged)
        measure(self.mesh, item, launch.name, launch.says, self._cost(launch))
        return item

    def _run(self, launch: Launch) -> None:
        try:
            self._simulate_or_pass(launch)
        finally:
            if self.state.failed is not None:
                self.state.restart()

    def _simulate_or_pass(self, launch: Launch) -> None:
        if self.sampler is None:
            self._simulate(launch)
            return
        key = self.sampler.key(launch.program, launch.operation)
        observed = self.sampler.stands_for(key)
        if observed is None:
            self.sampler.note(key, self._simulate(launch))
        else:
            self._pass_time(observed, launch)

    def _simulate(self, launch: Launch) -> Observed:
        """Run a program; returns what was `Observed`."""
        item = self._enqueue(launch)
        self.finish()
        row = measurements_of(self.mesh).operations[-1]
        assert item.ended is not None  # it has been waited for
        return Observed(row, item.ended - item.stamp, row.started - self.state.clock.cycle_until(item.stamp))

    def _pass_time(self, observed: Sequence[Observed], launch: Launch) -> None:
        """Let the time of equal launches pass in place of a program's."""
        duration = sum(one.duration for one in observed) // len(observed)
        item = self._issue(lambda queue: queue.run_function(lambda: None, duration))
        self.finish()
        rows, last = measurements_of(self.mesh).operations, observed[-1]
        started = self.state.clock.cycle_until(item.stamp) + last.lead
        cycles = round(sum(one.operation.cycles for one in observed) / len(observed))
        rows.append(
            replace(
                last.operation, number=len(rows), name=launch.name, started=started, ended=started + cycles,
                told=launch.says | behind_which() | {"sampled": True},
            )
        )  # fmt: skip

    def _issue(self, work: Callable[[CommandQueue], Item], charged: bool = True) -> Item:
        executor = self.mesh.host.system.executor
        if charged:
            executor.host.charge("enqueue_program")
        return executor.issue(self.state, self.state.queues[0], work)

    def _cost(self, launch: Launch) -> ProgramCost:
        """The `ProgramCost` of a launch; programs with the same kernels are one, as in the library's cache."""
        return replace(
            launch.bound.cost, program=self._numbers.setdefault(_kernels(launch.program), len(self._numbers))
        )

    def _described(self, launch: Launch) -> Told | None:
        """What files of other tools say of a program."""
        operation, trace = launch.operation, launch.says.get("trace")
        if operation is None:
            return None
        files = [one.kernel.file for one in launch.program.kernels]
        return Told(operation, self._names.of(operation["name"], files), None if trace is None else tuple(trace))

    def _program(self, workers: list[int]) -> tuple[FrozenProgram, BoundProgram]:
        """(`FrozenProgram`, `BoundProgram`) of what some workers are told; made once of what is told again."""
        told = fingerprint(self.tiles, workers)
        found = self._programs.pop(told, None)
        if found is None or self.state.chip.checks is not None:  # with checks, buffers that are there now belong to it
            program = program_of(self.tiles, workers, self._kernels.of)
            found = program, bind(program, self.state)
        self._programs[told] = found
        if len(self._programs) > PROGRAMS:
            del self._programs[next(iter(self._programs))]
        return found

    def _number_banks(self, worker: int) -> None:
        """Take over the library's order of L1 banks, which it has told every core."""
        tiles, arch = self.tiles, self.state.arch
        places = l1_banks(tiles.layout, tiles.config[worker], arch.dram_banks, len(tiles.workers))
        self.state.chip.number_l1_banks([tiles.workers[place] for place in places])


def _kernels(program: FrozenProgram) -> tuple[Any, ...]:
    """What makes programs one in the library's cache: kernels, their parameters and cores."""
    return tuple((id(one.kernel), one.parameters, one.cores) for one in program.kernels)


def _name(program: FrozenProgram, operation: dict[str, Any] | None) -> str:
    """What the report calls a launch of a program by an operation of the library's, or by none."""
    kernels = ", ".join(dict.fromkeys(one.kernel.name for one in program.kernels))
    if operation is None:
        return kernels
    shapes = " ".join("x".join(map(str, one["shape"])) for one in operation["tensors"])
    return f"{operation['name']} {shapes}: {kernels}"


def run(request: Request, python: str | None = None, sample: int | None = None, board: Board | None = None) -> int:
    """Run a request's program (`tensim.ttnn.runner.Request`); returns its exit status.

    `sample`: launches of each kind that are simulated, all others take their time (`sampling`); None: all are.  `board`: several
    chips, a `tensim.sim.host.wiring.Board`.
    """
    from tensim.ttnn.devices import chip_description, configure
    from tensim.ttnn.runner import no_device, observed

    library = environment.find_library(python)
    plain = load_arch(request.settings["arch"])
    layout = layout_of(library, plain)
    base = as_seen(library, plain)
    configure(**request.settings | {"overrides": base})
    seen = chip_description()
    settings = request.settings | {"overrides": base | request.settings["overrides"]}
    request = replace(request, settings=settings)
    configure(**request.settings)
    arch = chip_description()
    refuse_unseen(library, arch, seen)
    wiring = None if board is None else wiring_of(board, arch)
    surroundings = environment.prepare(library, arch, wiring=wiring)
    kernels = Kernels(Commands(surroundings.device / environment.COMMANDS), arch)
    with tempfile.TemporaryDirectory(prefix="tensim-") as folder, observed(request) as watch:
        socket = Path(folder) / "device"
        n_chips = 1 if wiring is None else len(wiring.ports)

        def open_device() -> LibraryDevice | LibraryMesh:
            names = OperationNames(library.folder)
            common = layout, surroundings.channels, kernels, names, sample
            if wiring is None:
                return LibraryDevice(*common)
            return LibraryMesh([LibraryDevice(*common, chip) for chip in range(n_chips)], wiring, kernels.commands)

        server = Server(socket, open_device, compile_answer(kernels.commands, kernels.build), put)
        room = {"TENSIM_LIBRARY_FLUSH": "0" * 24}  # where device.c says to `child` how its writes are sent
        variables = os.environ | surroundings.variables(socket, arch, n_chips) | room
        child = subprocess.Popen([library.python, str(CHILD), *request.arguments], env=variables)
        interrupted = False
        current_system().env.on_progress(lambda *_: _check_alive(child))
        try:
            server.serve(lambda: child.poll() is None)
        except LibraryEnded:
            pass
        except KeyboardInterrupt:
            interrupted = True
        finally:
            if sample is not None and server.device is not None:
                watch.facts["sampled"] = server.device.sampler.summary()
            if wiring is not None and server.device is not None and server.device.fabric is not None:
                watch.facts["fabric"] = fabric_facts(server.device.fabric)
            server.close()
            end_process(child)
    if interrupted:
        return INTERRUPTED
    status = exit_status(child.returncode, "the library's process")
    program = request.arguments[0]
    return no_device(program) if status == 0 and watch.result is None and program != "-m" else status


class LibraryEnded(Exception):
    """The library's process has ended while a kernel ran."""


def _check_alive(child: subprocess.Popen[bytes]) -> None:
    if child.poll() is not None:
        raise LibraryEnded


def wiring_of(board: Board, arch: Arch) -> Wiring:
    """The links of all chips of a `Board`; UsageError for chips that have no Ethernet."""
    if not ethernet_tiles(arch):
        raise UsageError(f"a {arch.board} has no Ethernet links to other chips", hint="leave board= or --mesh out")
    return Wiring(
        board.shape, board.links, board.torus, False, (*board.shape, board.links), len(arch["ethernet.tiles"])
    )


def main(
    request: Request, python: str | None = None, sample: int | None = None, board: Board | None = None
) -> NoReturn:
    """Run a request's program (see `run`) and leave by SystemExit with its status."""
    from tensim.ttnn.runner import refuse

    if request.arguments[0] != "-m" and not Path(request.arguments[0]).is_file():
        refuse(request, f"there is no program {request.arguments[0]}")
    try:
        status = run(request, python, sample, board)
    except TensimError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2 if isinstance(error, UsageError) else 1)
    sys.exit(status)
