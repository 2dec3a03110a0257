"""What loading a program leaves in a chip's memory, kept so that its next launch is one list of copies.

Loading writes the same bytes each time but for the launch slot and the cycle.  An image is taken behind an ordinary load: of
all that it writes, whatever that is, so there is one place that knows how a program is loaded.
"""

import ctypes
import itertools
import weakref

import numpy as np

from tensim.sim.engine.copies import WORDS
from tensim.sim.engine.entry_points import copy_regions

PIECE = 256  # bytes: long regions are cut, so that zeros and what cores have in common are found
IMAGE_BYTES = 1 << 27  # of images of programs that a chip keeps at most
NUMBERS = itertools.count(1)


def rows_of(table, rows, columns=None):
    """(addresses, sizes) of rows of an array; `columns`: of some fields of its records only."""
    starts = table.ctypes.data + np.asarray(rows, np.int64) * table.strides[0]
    if columns is None:
        return starts, np.full(len(starts), table.strides[0])
    runs = np.array(_runs(table.dtype, columns))
    addresses = np.add.outer(starts, runs[:, 0])
    return addresses.ravel(), np.broadcast_to(runs[:, 1], addresses.shape).ravel()


def _runs(dtype, names):
    """[(offset, bytes)] of fields of a record, neighbours together."""
    runs = []
    for offset, size in sorted((dtype.fields[name][1], dtype.fields[name][0].itemsize) for name in names):
        if runs and sum(runs[-1]) == offset:
            runs[-1] = runs[-1][0], runs[-1][1] + size
        else:
            runs.append((offset, size))
    return runs


class ProgramImage:
    """The bytes that a program's load has written, as they are now, and who needs them; its `number` is like no other's.

    `regions`: [(addresses, sizes)], `left`: those which only another program's load changes; `cores`: on which either lie;
    `threads`: indices of its threads; `setup`: cycles of each from the start of the program to its own; `held`: what its threads
    point to; `numbered`: int64 arrays with, for each, the flat indices at which the launch slot stands; `dated`: the same of the
    cycle.
    """

    def __init__(self, regions, left, cores, threads, setup, held, numbered, dated):
        self.number, self.cores = next(NUMBERS), np.array(cores)
        self.threads, self.setup, self.held = threads, setup, held
        self._numbered, self._dated = numbered, dated
        self._each, self._others = _copies(regions), _copies(left)

    @property
    def n_bytes(self):
        """What it takes itself."""
        return sum(part.nbytes for part in (*self._each, *self._others))

    def load(self, slot, cycle, after_others):
        """Write it; `after_others`: another program has been loaded on its cores since."""
        for copies, _ in (self._each, self._others) if after_others else (self._each,):
            copy_regions(copies.ctypes.data, len(copies))
        for (array, places), value in ((self._numbered, slot), (self._dated, cycle)):
            array[places] = value


def _copies(regions):
    """(copies for `copy_regions`, their sources) of the bytes that lie in regions; equal pieces have one source."""
    addresses, sizes = (np.concatenate(part) for part in zip(*regions, strict=True))
    order = np.argsort(addresses, kind="stable")
    rows, places, contents, end = [], {}, [], 0
    for address, size in zip(addresses[order].tolist(), sizes[order].tolist(), strict=True):
        for start in range(0, size, PIECE):
            target, count = address + start, min(PIECE, size - start)
            content = ctypes.string_at(target, count)
            if content not in places:
                places[content] = None if not any(content) else end
                if places[content] is not None:
                    contents.append(content)
                    end += count
            source, last = places[content], rows[-1] if rows else None
            if last is not None and last[0] + last[2] == target and _follows(last, source):
                last[2] += count
            else:
                rows.append([target, source, count])
    content = np.frombuffer(b"".join(contents) or b"\0", np.uint8)
    copies = np.array(
        [(target, 0 if source is None else content.ctypes.data + source, count) for target, source, count in rows],
        np.int64,
    )
    return np.ascontiguousarray(copies.reshape(-1, WORDS)), content


def _follows(last, source):
    """Whether a source goes on where the last copy's ends."""
    return source is None if last[1] is None else source == last[1] + last[2]


class Images:
    """The images of programs that a chip has loaded twice: as long as the launch lives, and at most `IMAGE_BYTES` of them."""

    def __init__(self):
        self._seen, self._images, self._bytes = weakref.WeakSet(), weakref.WeakKeyDictionary(), 0

    def of(self, launch):
        """Its `ProgramImage`, or None."""
        return self._images.get(launch)

    def wants(self, launch):
        """Whether a launch that is loaded anew should have one: it comes again, and there is room."""
        if launch not in self._seen:
            self._seen.add(launch)
            return False
        executes = any(one.compiled.is_riscv and one.compiled.executes for one in launch.kernels)
        return self._bytes < IMAGE_BYTES and not executes  # what tiles at the instruction level hold is in no array

    def keep(self, launch, image):
        """Keep it as long as the launch lives."""
        self._images[launch] = image
        self._bytes += image.n_bytes
        weakref.finalize(launch, self._forget, image.n_bytes)

    def _forget(self, n_bytes):
        self._bytes -= n_bytes
