"""What tells that a kernel is C++ and where those of a library lie, without what builds them."""

import re

SUFFIXES = (".cpp", ".cc", ".cxx", ".hpp", ".h")
LIBRARY = ("TT_METAL_RUNTIME_ROOT", "TT_METAL_HOME")  # environment: tt-metal's root
ENTRY = re.compile(r"\bvoid\s+(kernel_main|MAIN)\b")
INCLUDE, KERNEL = re.compile(r"^\s*#\s*include\s*[<\"]", re.M), re.compile(r"^@(?:\w+\.)?kernel\b", re.M)


def is_cpp(text):
    """Whether a kernel's text is C++: it defines one of tt-metal's entry functions, or includes headers and is none in Python."""
    return ENTRY.search(text) is not None or (INCLUDE.search(text) is not None and KERNEL.search(text) is None)
