"""Unique runtime arguments that a C++ kernel reads, as far as its text tells."""

import re
from pathlib import PurePosixPath

from tensim.sim.cores.riscv.header_names import forwarders

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
INCLUDE = re.compile(r'#\s*include\s*([<"])([^>"]+)[>"]')
READ = re.compile(r"\bget_arg_val\s*<[^<>;()]*>\s*\(\s*(\d+)[uU]?\s*\)")
# What may read any of them: an index that is computed, an address, structures that are filled from them
OTHER = re.compile(r"\bget_arg\w*|\bget_vararg\b|\brta_l1_base\b|\bargs::|\bARG_?\w*FETCH\w*|\bArgFetcher\b")


def read_arguments(text):
    """Indices of the arguments that a kernel of this text can read; None: any, an index is computed or a header not known.

    A read that a preprocessor's condition or a branch leaves out counts.
    """
    code = COMMENT.sub(" ", text)
    known = forwarders()
    for mark, name in INCLUDE.findall(code):
        if name not in known and (mark == '"' or PurePosixPath(name).suffix):
            return None
    reads = READ.findall(code)
    if len(OTHER.findall(code)) != len(reads):
        return None
    return frozenset(int(index) for index in reads)
