"""`tensim ttnn --library`: a program with the vendor's own library, in a process of its own, on a simulated chip.

tensim needs Python 3.11, wheels of the library are made for 3.10 and 3.12: so the simulator is the process of the command, and
the library's is a child of it.  The program's output and exit status stay as they are.
"""

import os
import subprocess
import sys
import tempfile
import threading
from dataclasses import replace
from pathlib import Path

from tensim.device import current_system
from tensim.library import environment
from tensim.library.descriptions import as_seen, refuse_unseen
from tensim.library.identifiers import Commands
from tensim.library.kernels import kernel_of_command
from tensim.library.launches import fingerprint, host_id, program_of
from tensim.library.mailboxes import l1_banks
from tensim.library.processes import INTERRUPTED, end_process, exit_status
from tensim.library.server import Server, compile_answer
from tensim.library.tiles import Tiles
from tensim.sim.arch import load_arch
from tensim.sim.errors import KernelCompileError, TensimError, UsageError
from tensim.sim.host.binding import bind
from tensim.sim.host.frozen_program import BuildTarget, build_kernels

CHILD = Path(__file__).with_name("child.py")
PROGRAMS = 256  # of the library's that are kept as they are loaded


class Kernels:
    """The kernels behind compiler commands, each made once: `of` an identifier, `build` for a command."""

    def __init__(self, commands, arch):
        self.commands, self.arch, self._known, self._equal = commands, arch, {}, {}
        self._building = threading.Lock()  # the library asks for a compute kernel's three processors at once

    def build(self, arguments, folder):
        """Compile the kernel of a command for our cores; None for what is no kernel.

        Raises KernelCompileError, also for calls that would stop the kernel: an error of a build leaves the device as it is.
        """
        found = kernel_of_command(arguments, folder)
        if found is None:
            return None
        kernel = found.kernel
        what = kernel.file, kernel.preamble, kernel.descriptors, found.parameters, found.circular_buffers
        with self._building:
            known = self._equal.setdefault(what, found)
            target = BuildTarget(self.arch, known.circular_buffers)
            (built,) = build_kernels([(known.kernel, known.parameters, target)])
        for said, place in built.not_modelled():
            where = {key: place[key] for key in ("file", "line", "frames") if key in place}
            raise KernelCompileError(said, where=where, kind="kernel_refused")
        return known

    def of(self, identifier):
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


class LibraryDevice:
    """The chip below the library."""

    works_by_itself = False  # launches run when the library looks at them
    takes_writes = True

    def __init__(self, layout, channels, kernels):
        from tensim.ttnn.devices import open_device

        self.mesh = open_device(device_id=0)
        self.state = self.mesh.host._state
        self.name = f"{self.state.arch.name} {self.state.arch.board}"
        self.tiles = Tiles(self.state, layout, channels)
        self._kernels, self._numbered = kernels, False
        self._programs = {}  # what workers are told -> `FrozenProgram` and `BoundProgram`, those used last at the end

    def run(self, workers, operation):
        """Run what an operation of the library's, or none, has told some workers; returns when all have ended.

        Raises what a kernel's fault raises; what the cores did until then stays in memory, and the chip can run others.
        """
        try:
            self._run(workers, operation)
        finally:
            if self.state.failed is not None:
                self.state.restart()

    def _run(self, workers, operation):
        from tensim.ttnn.measurements import measure

        if not self._numbered:
            self._number_banks(workers[0])
            self._numbered = True
        executor, state = self.mesh.host.system.executor, self.state
        program, bound = self._program(workers)
        executor.host.charge("enqueue_program")
        item = executor.issue(state, state.queues[0], lambda queue: queue.run_program(bound))
        measure(
            self.mesh,
            item,
            _name(program, operation),
            {"launch_id": host_id(self.tiles, workers[0]), "library": operation},
        )
        executor.finish(state, state.queues[0], state.manager.stall_group)

    def _program(self, workers):
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

    def _number_banks(self, worker):
        """Take over the library's order of L1 banks, which it has told every core."""
        tiles, arch = self.tiles, self.state.arch
        places = l1_banks(tiles.layout, tiles.config[worker], arch.dram_banks, len(tiles.workers))
        self.state.chip.number_l1_banks([tiles.workers[place] for place in places])


def _name(program, operation):
    """What the report calls a launch of a program by an operation of the library's, or by none."""
    kernels = ", ".join(dict.fromkeys(one.kernel.name for one in program.kernels))
    if operation is None:
        return kernels
    shapes = " ".join("x".join(map(str, one["shape"])) for one in operation["tensors"])
    return f"{operation['name']} {shapes}: {kernels}"


def run(request, python=None):
    """Run a request's program (`tensim.ttnn.runner.Request`); returns its exit status."""
    from tensim.ttnn.devices import chip_description, configure
    from tensim.ttnn.runner import observed

    library = environment.find_library(python)
    plain = load_arch(request.settings["arch"])
    layout = environment.layout_for(library, plain)
    base = as_seen(library, plain)
    configure(**request.settings | {"overrides": base})
    seen = chip_description()
    request = replace(request, settings=request.settings | {"overrides": base | request.settings["overrides"]})
    configure(**request.settings)
    arch = chip_description()
    refuse_unseen(library, arch, seen)
    surroundings = environment.prepare(library, arch)
    kernels = Kernels(Commands(surroundings.device / environment.COMMANDS), arch)
    with tempfile.TemporaryDirectory(prefix="tensim-") as folder, observed(request):
        socket = Path(folder) / "device"

        def open_device():
            return LibraryDevice(layout, surroundings.channels, kernels)

        server = Server(socket, open_device, compile_answer(kernels.commands, kernels.build))
        variables = os.environ | surroundings.variables(socket, arch)
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
            server.close()
            end_process(child)
    return INTERRUPTED if interrupted else exit_status(child.returncode, "the library's process")


class LibraryEnded(Exception):
    """The library's process has ended while a kernel ran."""


def _check_alive(child):
    if child.poll() is not None:
        raise LibraryEnded


def main(request, python=None):
    """Run a request's program and leave by SystemExit with its status."""
    if request.arguments[0] != "-m" and not Path(request.arguments[0]).is_file():
        print(f"error: there is no program {request.arguments[0]}", file=sys.stderr)
        sys.exit(2)
    try:
        status = run(request, python)
    except TensimError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2 if isinstance(error, UsageError) else 1)
    sys.exit(status)
