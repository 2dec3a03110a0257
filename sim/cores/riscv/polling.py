"""Loads of a program that poll: they read one address again and again until another core or thread has written it."""

import numpy as np

from tensim.sim.cores.riscv.decode import INSTRUCTION_BYTES, SINK, Code

LONGEST = 64  # instructions of a loop that waits
_LOADS = (Code.LB, Code.LBU, Code.LH, Code.LHU, Code.LW)
_NO_RESULT = (Code.SB, Code.SH, Code.SW, Code.BEQ, Code.BNE, Code.BLT, Code.BGE, Code.BLTU, Code.BGEU)


def polling_rows(records):
    """Numbers of the instructions of `records` (`tensim.sim.cores.riscv.decode`) that are such loads.

    A load polls in a short loop that acts on nothing and never changes the register which holds its address.
    """
    codes, results, bases = records & 255, records >> 8 & 255, records >> 16 & 255
    distances = (records >> 32) // INSTRUCTION_BYTES
    back = (codes >= Code.BEQ) & (codes <= Code.BGEU) | (codes == Code.JAL) & (results == SINK)
    back &= (distances < 0) & (distances >= -LONGEST)
    changes, found = ~np.isin(codes, _NO_RESULT), set()
    for end in np.flatnonzero(back).tolist():
        start = end + int(distances[end])
        if start < 0 or (codes[start:end] == Code.OPERATION).any():
            continue
        rows = start + np.flatnonzero(np.isin(codes[start:end], _LOADS))
        changed = set(results[start:end][changes[start:end]].tolist())
        found |= {int(row) for row in rows if int(bases[row]) not in changed}
    return frozenset(found)
