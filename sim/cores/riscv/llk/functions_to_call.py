"""Functions that stay calls, as the vendor's compiler leaves them.

`llk_pack`, what pack_tile() is on its thread: each tile of a copy in half a Dst takes 40 cycles on silicon, of Blackhole and of
Wormhole, whatever its packer does (ttlang_microbench.csv, MB5A and MB1), and up to the three that its instruction FIFO holds ahead
take 25.  Inlined into its loop the function has 20 instructions; called, with its arguments and addresses anew each time, 41 (gcc
-Os).  The packer's functions below it are inlined: a harness that calls those takes 15 cycles a tile
(llk_wormhole_l1_to_l1_points.csv).
"""

import re

CALLED = re.compile(r"^(define [^@\n]*@_Z8llk_packI\w*\([^\n]*?\))( [^\n]*\{)$", re.M)


def marked(text):
    """A module's text, before any optimisation, with those functions marked."""
    return CALLED.sub(r"\1 noinline\2", text)
