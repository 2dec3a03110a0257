"""What tells that a kernel is C++ and where those of a library lie, without what builds them."""

import re

SUFFIXES = (".cpp", ".cc", ".cxx", ".hpp", ".h")
LIBRARY = ("TT_METAL_RUNTIME_ROOT", "TT_METAL_HOME")  # environment: tt-metal's root
ENTRY = re.compile(r"\bvoid\s+(kernel_main|MAIN)\b")


def is_cpp(text):
    """Whether a kernel's text is C++: it defines one of tt-metal's entry functions."""
    return ENTRY.search(text) is not None
