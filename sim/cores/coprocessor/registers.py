"""Where the fields of the Tensix configuration lie: word, lowest bit and width of each, by chip (`registers.yaml`).

A unit names the fields that it reads, `DEST_BASE = register("DEST_REGW_BASE_Base")`, and gets a number that compiled code turns
into the place on its chip (`tensim.sim.cores.coprocessor.state.field`).  Of sections that follow each other word by word
(ADDR_MOD_DST_SEC0 to SEC7) the file has the first.  A field that a chip lacks has width 0 and reads 0.
"""

import functools

import numpy as np

from tensim.sim.cores.coprocessor.yaml_tables import read_table

N_CONFIG, N_THREAD_CONFIG = 224, 68  # words of a bank and of a thread: Blackhole's, the larger ones
_TABLE = read_table("registers.yaml")["fields"]
_NUMBERS = {name: number for number, name in enumerate(_TABLE)}


def register(name):
    """Number of a field; KeyError when the file does not have it."""
    return _NUMBERS[name]


@functools.cache
def field_positions(arch):
    """int64[fields] of a chip, "wormhole_b0" or "blackhole": word | lowest bit << 16 | width << 24."""
    positions = [chips.get(arch, (0, 0, 0)) for chips in _TABLE.values()]
    return np.array([word | bit << 16 | width << 24 for word, bit, width in positions], np.int64)
