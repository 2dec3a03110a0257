"""Which words of a memory hold what the chip would hold there, while tile arithmetic is left out (numerics off): a byte per word.

Known is what the host has written and what RISC-V cores have stored, and what has been moved of it; not known is what compute
threads would have packed, and what nobody has written.  `known`: host address of the byte of a memory's first word; ranges
are bytes of that memory.  Words of which a range holds only a part are known if they were and that part is.
"""

from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.memory import copy_bytes, load_i64, load_u8, store_8, zero_bytes

WORD_SHIFT = 2
WORD = 1 << WORD_SHIFT


@compiled(inline="always")
def words_of(address, size):
    """Words that a range touches."""
    return (address + size + WORD - 1 >> WORD_SHIFT) - (address >> WORD_SHIFT)


@compiled()
def any_known(known, address, size):
    """Whether a word of a range is known."""
    at, left = known + (address >> WORD_SHIFT), words_of(address, size)
    while left >= 8:
        if load_i64(at) != 0:
            return True
        at, left = at + 8, left - 8
    for i in range(left):
        if load_u8(at + i) != 0:
            return True
    return False


@compiled()
def forget(known, address, size):
    """A range gets what is not known."""
    zero_bytes(known + (address >> WORD_SHIFT), words_of(address, size))


@compiled()
def remember(known, address, size):
    """A range gets what is known; words of which it holds only a part stay what they were."""
    for word in range(address + WORD - 1 >> WORD_SHIFT, address + size >> WORD_SHIFT):
        store_8(known + word, 1)


@compiled()
def keep_known(known, address, size, kept):
    """What is known of a range, at `kept`: of a copy that begins at the same place in its first word."""
    copy_bytes(kept, known + (address >> WORD_SHIFT), words_of(address, size))


@compiled()
def restore_known(known, address, size, kept, source):
    """A range gets the bytes of which `kept` says what is known; they came from the address `source`."""
    if (address ^ source) & (WORD - 1) != 0:  # the words are cut at other places
        forget(known, address, size)
        return
    first, end = known + (address >> WORD_SHIFT), address + size
    last = known + (end - 1 >> WORD_SHIFT)
    first_was, last_was = load_u8(first), load_u8(last)
    copy_bytes(first, kept, words_of(address, size))
    if address & (WORD - 1) != 0:
        store_8(first, load_u8(first) & first_was)
    if end & (WORD - 1) != 0:
        store_8(last, load_u8(last) & last_was)
