"""DRAM contents: a page table of chunks that exist once they have been written.

`dram_chunks[bank * chunks_per_bank + i]` is the host address of chunk i, or 0.  A bank of 4 GiB costs nothing until it
is touched, whatever the host's overcommit setting.  Compiled code takes new chunks from a list that Python keeps
filled (`spare_chunks`).
"""

import numpy as np

from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.known_words import WORD, any_known, forget, keep_known, restore_known, words_of
from tensim.sim.engine.memory import copy_bytes, zero_bytes
from tensim.sim.engine.tables import table

addresses = table(np.dtype(np.int64))


@compiled()
def read_bank(m, bank, offset, size, destination):
    """Copy `size` bytes of a bank to a host address; untouched memory reads as zero."""
    chunks = addresses(m.dram_chunks_at)
    while size > 0:
        index, inside = offset // m.chunk_bytes, offset % m.chunk_bytes
        count = min(size, m.chunk_bytes - inside)
        chunk = chunks[bank * m.chunks_per_bank + index]
        if chunk == 0:
            zero_bytes(destination, count)
        else:
            copy_bytes(destination, chunk + inside, count)
        offset += count
        destination += count
        size -= count


@compiled()
def write_bank(m, bank, offset, size, source):
    """Copy `size` bytes from a host address into a bank; returns False when no spare chunk is left."""
    chunks = addresses(m.dram_chunks_at)
    while size > 0:
        index, inside = offset // m.chunk_bytes, offset % m.chunk_bytes
        count = min(size, m.chunk_bytes - inside)
        slot = bank * m.chunks_per_bank + index
        if chunks[slot] == 0:
            if m.n_spare == 0:
                return False
            m.n_spare -= 1
            chunks[slot] = addresses(m.spare_chunks_at)[m.n_spare]
        copy_bytes(chunks[slot] + inside, source, count)
        offset += count
        source += count
        size -= count
    return True


# --- what is known of a bank with numerics off (`tensim.sim.engine.known_words`): of a chunk, behind its bytes; of others nothing


@compiled()
def piece_of(m, bank, offset, size):
    """(host address of the chunk with the first of `size` bytes of a bank, or 0, place in it, bytes of them that lie in it)."""
    index, inside = offset // m.chunk_bytes, offset % m.chunk_bytes
    return addresses(m.dram_chunks_at)[bank * m.chunks_per_bank + index], inside, min(size, m.chunk_bytes - inside)


@compiled()
def is_known_in_bank(m, bank, offset, size):
    """Whether a word of a range is known."""
    while size > 0:
        chunk, inside, count = piece_of(m, bank, offset, size)
        if chunk != 0 and any_known(chunk + m.chunk_bytes, inside, count):
            return True
        offset, size = offset + count, size - count
    return False


@compiled()
def keep_known_of_bank(m, bank, offset, size, kept):
    """What is known of a range, at `kept`."""
    while size > 0:
        chunk, inside, count = piece_of(m, bank, offset, size)
        if chunk != 0:
            keep_known(chunk + m.chunk_bytes, inside, count, kept)
        else:
            forget(kept, inside & (WORD - 1), count)
        kept += words_of(inside, count)
        offset, size = offset + count, size - count


@compiled()
def restore_known_in_bank(m, bank, offset, size, kept, source):
    """A range gets the bytes of which `kept` says what is known; they came from the address `source`."""
    while size > 0:
        chunk, inside, count = piece_of(m, bank, offset, size)
        if chunk != 0:
            restore_known(chunk + m.chunk_bytes, inside, count, kept, source)
        kept += words_of(inside, count)
        offset, size, source = offset + count, size - count, source + count


@compiled()
def forget_in_bank(m, bank, offset, size):
    """A range gets what is not known."""
    while size > 0:
        chunk, inside, count = piece_of(m, bank, offset, size)
        if chunk != 0:
            forget(chunk + m.chunk_bytes, inside, count)
        offset, size = offset + count, size - count
