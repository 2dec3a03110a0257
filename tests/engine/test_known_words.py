"""What is known of a memory with numerics off, against a model that holds it byte by byte."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tensim.sim.engine.known_words import WORD, any_known, forget, keep_known, remember, restore_known, words_of

BYTES = 96
RANGES = st.integers(0, BYTES).flatmap(lambda start: st.tuples(st.just(start), st.integers(0, BYTES - start)))


class Memory:
    """A byte per word as the engine has it, and a byte per byte, which a word's are known by."""

    def __init__(self):
        self.words, self.bytes = np.zeros(BYTES // WORD, np.uint8), np.zeros(BYTES, bool)

    @property
    def known(self):
        return self.words.ctypes.data

    def check(self):
        """What the engine takes for known is known in whole."""
        assert not (self.words.astype(bool) & ~self.bytes.reshape(-1, WORD).all(1)).any()


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["forget", "remember", "copy"]), RANGES, st.integers(0, BYTES)), max_size=12))
def test_what_is_known_is_known_in_every_byte(steps):
    there, here = Memory(), Memory()
    remember(there.known, 8, 60)
    there.bytes[8:68] = True
    for what, (start, size), source in steps:
        if size == 0:
            continue
        if what == "forget":
            forget(here.known, start, size)
            here.bytes[start : start + size] = False
        elif what == "remember":
            remember(here.known, start, size)
            here.bytes[start : start + size] = True
        else:
            source = min(source, BYTES - size)
            kept = np.full(words_of(source, size), 9, np.uint8)
            keep_known(there.known, source, size, kept.ctypes.data)
            restore_known(here.known, start, size, kept.ctypes.data, source)
            here.bytes[start : start + size] = there.bytes[source : source + size]
        here.check()
        inside = here.words[start // WORD : -(-(start + size) // WORD)]
        assert any_known(here.known, start, size) == inside.any()


def test_whole_words_are_copied_exactly():
    there, here = Memory(), Memory()
    remember(there.known, 16, 8)
    restore_known(here.known, 40, 24, there.known + 8 // WORD, 8)
    assert here.words.tolist() == [0] * 12 + [1, 1] + [0] * 10
