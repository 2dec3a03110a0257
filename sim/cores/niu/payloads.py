"""Payloads: from the memory that they leave into a slot, where they wait until they arrive, and into the memory that they come to.

With numerics off a payload moves if a word of it is known (`tensim.sim.engine.known_words`); the others have no slot, and what
they overwrite is known no more.
"""

from tensim.sim.dram.storage import (
    forget_in_bank,
    is_known_in_bank,
    keep_known_of_bank,
    read_bank,
    restore_known_in_bank,
    write_bank,
)
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.known_words import WORD, WORD_SHIFT, any_known, forget, keep_known, remember, restore_known
from tensim.sim.engine.memory import copy_bytes
from tensim.sim.state import staging_free_of, staging_uses_of

ALWAYS_MOVED = 64  # bytes: smaller payloads move even when nothing of them is known (semaphores, flags, arguments)
NO_SLOT = -1


@compiled()
def new_staging(m, uses):
    """Take a slot that `uses` transactions will read; returns its number."""
    m.staging_left -= 1
    slot = staging_free_of(m)[m.staging_left]
    staging_uses_of(m)[slot] = uses
    return slot


@compiled()
def release_staging(m, slot):
    if slot >= 0:
        uses = staging_uses_of(m)
        uses[slot] -= 1
        if uses[slot] == 0:
            staging_free_of(m)[m.staging_left] = slot
            m.staging_left += 1


@compiled(inline="always")
def staging_address(m, slot):
    """Host address of a slot's bytes."""
    return m.staging_at + slot * m.staging_bytes


@compiled(inline="always")
def staging_known(m, slot):
    """Host address of what is known of a slot: as many words as its payload touches where it comes from."""
    return m.staging_known_at + slot * (m.staging_bytes // WORD + 1)


@compiled()
def take_from_l1(m, host, size, uses):
    """A payload leaves L1 at a host address; returns its slot, which `uses` transactions will read, or NO_SLOT."""
    address = host - m.l1_at
    if m.data_on == 0 and size > ALWAYS_MOVED and not (m.knows != 0 and any_known(m.l1_known_at, address, size)):
        return NO_SLOT
    slot = new_staging(m, uses)
    copy_bytes(staging_address(m, slot), host, size)
    if m.data_on == 0:
        keep_known(m.l1_known_at, address, size, staging_known(m, slot))
    return slot


@compiled()
def put_in_l1(m, slot, host, size, source):
    """The payload in a slot, or one without, comes to L1 at a host address; `source`: where it came from."""
    if slot >= 0:
        copy_bytes(host, staging_address(m, slot), size)
    if m.knows != 0:
        if slot >= 0:
            restore_known(m.l1_known_at, host - m.l1_at, size, staging_known(m, slot), source)
        else:
            forget(m.l1_known_at, host - m.l1_at, size)


@compiled()
def take_from_bank(m, bank, offset, size):
    """A payload leaves a DRAM bank; returns its slot, which one transaction will read, or NO_SLOT."""
    if m.data_on == 0 and size > ALWAYS_MOVED and not (m.knows != 0 and is_known_in_bank(m, bank, offset, size)):
        return NO_SLOT
    slot = new_staging(m, 1)
    read_bank(m, bank, offset, size, staging_address(m, slot))
    if m.data_on == 0:
        keep_known_of_bank(m, bank, offset, size, staging_known(m, slot))
    return slot


@compiled()
def put_in_bank(m, slot, bank, offset, size, source):
    """The payload in a slot, or one without, comes to a DRAM bank; `source`: where it came from."""
    if slot >= 0:
        write_bank(m, bank, offset, size, staging_address(m, slot))
    if m.knows != 0:
        if slot >= 0:
            restore_known_in_bank(m, bank, offset, size, staging_known(m, slot), source)
        else:
            forget_in_bank(m, bank, offset, size)


@compiled()
def carry(m, source, other, target, always, size):
    """From a host address in L1 to one in another chip's: the first `always` bytes, the others of `size` if a word is known."""
    address = source - m.l1_at
    moved = m.data_on != 0 or (m.knows != 0 and any_known(m.l1_known_at, address + always, size - always))
    copy_bytes(target, source, size if moved else always)
    if m.data_on == 0:
        other.knows |= m.knows
        kept = m.l1_known_at + (address >> WORD_SHIFT)
        restore_known(other.l1_known_at, target - other.l1_at, size, kept, address)


@compiled()
def remember_l1(m, host, size):
    """L1 at a host address gets what is known."""
    if m.data_on == 0:
        m.knows = 1
        remember(m.l1_known_at, host - m.l1_at, size)
