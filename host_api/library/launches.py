"""From the library's launch messages to a program of ours: kernels, arguments, circular buffers, semaphores.

A kernel's text in L1 is an identifier (`tensim.library.identifiers`); everything else stands in L1 as on silicon.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from tensim.library.identifiers import TEXT_BYTES, identifier_in
from tensim.library.mailboxes import CB_ENTRY, PROCESSORS, parse
from tensim.sim.engine.limits import N_CIRCULAR_BUFFERS, N_SEMAPHORES, SEMAPHORE_STRIDE
from tensim.sim.errors import SimulatorError, UsageError
from tensim.sim.host.frozen_program import FrozenCircularBuffer, FrozenKernel, FrozenProgram, FrozenSemaphore

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tensim.library.kernels import LibraryKernel
    from tensim.library.mailboxes import LaunchMessage
    from tensim.library.tiles import Tiles

Core: TypeAlias = tuple[int, int]
Places: TypeAlias = Mapping[int, Core]  # of workers
Messages: TypeAlias = "Mapping[int, LaunchMessage]"  # to workers
Sizes: TypeAlias = Mapping[int, Mapping[int, int]]  # bytes of what was written, by worker and address
WORD = 4
DEFAULT_FORMAT = (5, 32, 32)  # of a circular buffer that no kernel's compute describes: Float16_b
BEHIND = 2048  # bytes behind the last place that a launch message names: most arguments, entries of all circular buffers, a text
COMPUTE = (2, 3, 4)  # processors of one compute kernel


def program_of(tiles: Tiles, workers: Sequence[int], kernels: Callable[[bytes], LibraryKernel]) -> FrozenProgram:
    """The `FrozenProgram` that some workers were told to run.

    `kernels`: function of an identifier that gives its `tensim.library.kernels.LibraryKernel`.
    UsageError for what no program here can have.
    """
    messages = {worker: parse(tiles.layout, tiles.config[worker]) for worker in workers}
    sizes = tiles.sizes(workers)
    width = tiles.device.arch.grid[0]
    place = {worker: (worker % width, worker // width) for worker in workers}
    parts, formats = {}, {}
    for worker in workers:
        for processor in messages[worker].enabled:
            if processor in COMPUTE[1:]:
                continue
            found = kernels(_identifier(tiles.config[worker], messages[worker].text[processor]))
            unique = _words(tiles, worker, sizes, messages[worker], messages[worker].unique[processor])
            together = messages[worker].common[processor] == messages[worker].unique[processor]
            common = (
                () if together else _words(tiles, worker, sizes, messages[worker], messages[worker].common[processor])
            )
            parts.setdefault((id(found), processor, common, together), (found, []))[1].append((place[worker], unique))
            formats |= {index: tuple(rest) for index, *rest in found.circular_buffers}
    frozen = tuple(
        FrozenKernel(
            found.kernel,
            found.parameters,
            tuple(core for core, _ in args),
            _of_each(args),
            _common_of_all(args) if together else common,
            counted=False,
        )
        for (_, _, common, together), (found, args) in parts.items()
    )
    number = messages[workers[0]].host_id
    return FrozenProgram(
        number,
        frozen,
        _circular_buffers(tiles, messages, place, formats),
        _semaphores(tiles, sizes, messages, place),
        0,
    )


def host_id(tiles: Tiles, worker: int) -> int:
    """The library's own number of the launch that a worker was told."""
    return int.from_bytes(tiles.config[worker, tiles.layout.launch + tiles.layout.host_id :][:WORD].tobytes(), "little")


def fingerprint(tiles: Tiles, workers: Sequence[int]) -> bytes:
    """A hash of all that `program_of` looks at but the number of the launch: what it gives is the same again for the same hash."""
    layout, rows = tiles.layout, tiles.config[workers] if len(workers) < len(tiles.config) else tiles.config
    messages = rows[:, layout.launch : layout.launch + layout.launch_bytes].copy()
    messages[:, layout.host_id : layout.host_id + WORD] = 0
    bases = messages[:, :WORD].view(np.uint32)
    shorts = [layout.semaphores, layout.circular_buffers, layout.circular_buffers + 2]
    shorts += [layout.arguments + 2 * i for i in range(2 * PROCESSORS)]
    farthest = max(int(messages[:, at : at + 2].view(np.uint16).max()) for at in shorts)
    text = messages[:, layout.text : layout.text + WORD * PROCESSORS].view(np.uint32)
    end = int(bases.max()) + max(farthest, int(text.max())) + BEHIND
    found = hashlib.blake2b(np.array(workers).tobytes(), digest_size=16)
    for part in (messages, rows[:, int(bases.min()) : end], tiles.writes(workers)):
        found.update(np.ascontiguousarray(part))  # type: ignore[arg-type]  # numpy says from Python 3.12 on that it is a buffer
    return found.digest()


def _identifier(config: NDArray[np.uint8], address: int) -> bytes:
    identifier = identifier_in(config[address : address + TEXT_BYTES])
    if identifier is None:
        raise SimulatorError(f"the kernel's text at {address:#x} was not built by tensim's compiler")
    return identifier


def _words(tiles: Tiles, worker: int, sizes: Sizes, message: LaunchMessage, address: int) -> tuple[int, ...]:
    """The runtime arguments at an address: as many as the host wrote there, at most up to what follows."""
    if not address:
        return ()
    size = sizes[worker].get(address, 0)
    end = next((bound for bound in message.bounds if bound > address), address + size)
    count = min(size, max(end - address, 0)) // WORD
    return struct.unpack_from(f"<{count}I", tiles.config[worker], address)


def _of_each(args: Sequence[tuple[Core, tuple[int, ...]]]) -> tuple[tuple[Core, tuple[int, ...]], ...]:
    """((core, words), ...) of a kernel, with zeros for the cores that the library has given no words, where it has given some.

    Kernels of the library run on such cores and count on a loop bound of zero, not on what an earlier program has left there: fast
    dispatch writes arguments in one size to all cores (docs/hardware/dispatch.md#command-sets).
    """
    nothing = (0,) * max(len(words) for _, words in args)
    return tuple((core, words or nothing) for core, words in args)


def _common_of_all(args: Sequence[tuple[Core, tuple[int, ...]]]) -> tuple[int, ...]:
    """The common runtime arguments of a kernel whose unique ones, ((core, words), ...), begin at the same place.

    Nothing tells which of both kinds they are, a kernel with one kind alone has them: so both calls read them, as on the chip.
    Words that differ from core to core are not common.
    """
    words = {words for _, words in args}
    return next(iter(words)) if len(words) == 1 else ()


def _circular_buffers(
    tiles: Tiles, messages: Messages, place: Places, formats: Mapping[int, tuple[int, ...]]
) -> tuple[FrozenCircularBuffer, ...]:
    found = {}
    for worker, message in messages.items():
        for index, at in message.buffers.items():
            entry = CB_ENTRY.unpack_from(tiles.config[worker], at)
            found.setdefault((index, entry), []).append(place[worker])
    result = []
    for (index, (address, size, pages, page_size)), cores in found.items():
        if index >= N_CIRCULAR_BUFFERS:
            raise UsageError(f"circular buffer {index}; the limit is {N_CIRCULAR_BUFFERS}")
        if not pages or not size:
            continue
        code, height, width = formats.get(index, DEFAULT_FORMAT)
        result.append(
            FrozenCircularBuffer(
                tuple(cores), address, size, ((index, code),), ((index, page_size),), ((index, height, width),), True
            )
        )
    return tuple(result)


def _semaphores(tiles: Tiles, sizes: Sizes, messages: Messages, place: Places) -> tuple[FrozenSemaphore, ...]:
    """Those whose words the host has written."""
    found = {}
    for worker, message in messages.items():
        end = next((bound for bound in message.bounds if bound > message.semaphores), message.semaphores)
        for number in range(min((end - message.semaphores) // SEMAPHORE_STRIDE, N_SEMAPHORES)):
            at = message.semaphores + SEMAPHORE_STRIDE * number
            if at in sizes[worker]:
                initial = struct.unpack_from("<I", tiles.config[worker], at)[0]
                found.setdefault((number, initial), []).append(place[worker])
    return tuple(FrozenSemaphore(number, tuple(cores), initial) for (number, initial), cores in found.items())
