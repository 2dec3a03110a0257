"""From the library's launch messages to a program of ours: kernels, arguments, circular buffers, semaphores.

A kernel's text in L1 is an identifier (`tensim.library.identifiers`); everything else stands in L1 as on silicon.
"""

import struct

from tensim.library.identifiers import TEXT_BYTES, identifier_in
from tensim.library.mailboxes import CB_ENTRY, SEMAPHORE_STRIDE, parse
from tensim.sim.engine.limits import MAX_RUNTIME_ARGS, N_CIRCULAR_BUFFERS, N_SEMAPHORES
from tensim.sim.errors import SimulatorError, UsageError
from tensim.sim.host.frozen_program import (
    FrozenCircularBuffer,
    FrozenKernel,
    FrozenProgram,
    FrozenSemaphore,
)

WORD = 4
DEFAULT_FORMAT = (5, 32, 32)  # of a circular buffer that no kernel's compute describes: Float16_b
COMPUTE = (2, 3, 4)  # processors of one compute kernel


def program_of(tiles, workers, kernels):
    """The `FrozenProgram` that some workers were told to run.

    `kernels`: function of an identifier that gives its `tensim.library.kernels.LibraryKernel`.
    UsageError for what no program here can have.
    """
    messages = {worker: parse(tiles.layout, tiles.config[worker]) for worker in workers}
    width = tiles.device.arch.grid[0]
    place = {worker: (worker % width, worker // width) for worker in workers}
    parts, formats = {}, {}
    for worker in workers:
        for processor in messages[worker].enabled:
            if processor in COMPUTE[1:]:
                continue
            found = kernels(_identifier(tiles.config[worker], messages[worker].text[processor]))
            unique = _words(tiles, worker, messages[worker], messages[worker].unique[processor])
            together = messages[worker].common[processor] == messages[worker].unique[processor]
            common = () if together else _words(tiles, worker, messages[worker], messages[worker].common[processor])
            parts.setdefault((id(found), processor, common, together), (found, []))[1].append((place[worker], unique))
            formats |= {index: tuple(rest) for index, *rest in found.circular_buffers}
    frozen = tuple(
        FrozenKernel(
            found.kernel,
            found.parameters,
            tuple(core for core, _ in args),
            tuple(args),
            _common_of_all(args) if together else common,
        )
        for (_, _, common, together), (found, args) in parts.items()
    )
    number = messages[workers[0]].host_id
    return FrozenProgram(
        number, frozen, _circular_buffers(tiles, messages, place, formats), _semaphores(tiles, messages, place), 0
    )


def _identifier(config, address):
    identifier = identifier_in(config[address : address + TEXT_BYTES])
    if identifier is None:
        raise SimulatorError(f"the kernel's text at {address:#x} was not built by tensim's compiler")
    return identifier


def _words(tiles, worker, message, address):
    """The runtime arguments at an address: as many as the host wrote there, at most up to what follows."""
    if not address:
        return ()
    size = tiles.sizes[worker].get(address, 0)
    end = next((bound for bound in message.bounds if bound > address), address + size)
    count = min(size, max(end - address, 0)) // WORD
    if count > MAX_RUNTIME_ARGS:
        raise UsageError(f"{count} runtime arguments; the limit is {MAX_RUNTIME_ARGS}")
    return struct.unpack_from(f"<{count}I", tiles.config[worker], address)


def _common_of_all(args):
    """The common runtime arguments of a kernel whose unique ones, ((core, words), ...), begin at the same place.

    Nothing tells which of both kinds they are, a kernel with one kind alone has them: so both calls read them, as on the chip.
    Words that differ from core to core are not common.
    """
    words = {words for _, words in args}
    return next(iter(words)) if len(words) == 1 and 2 * len(args[0][1]) <= MAX_RUNTIME_ARGS else ()


def _circular_buffers(tiles, messages, place, formats):
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


def _semaphores(tiles, messages, place):
    """Those whose words the host has written."""
    found = {}
    for worker, message in messages.items():
        end = next((bound for bound in message.bounds if bound > message.semaphores), message.semaphores)
        for number in range(min((end - message.semaphores) // SEMAPHORE_STRIDE, N_SEMAPHORES)):
            at = message.semaphores + SEMAPHORE_STRIDE * number
            if at in tiles.sizes[worker]:
                initial = struct.unpack_from("<I", tiles.config[worker], at)[0]
                found.setdefault((number, initial), []).append(place[worker])
    return tuple(FrozenSemaphore(number, tuple(cores), initial) for (number, initial), cores in found.items())
