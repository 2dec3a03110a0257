"""Scripts of the vendor's linker as ld.lld reads them.

A section with an address of its own and no region, in a script whose sections have regions, is outside the program: the host
reads it from the file.  ld.lld has to be told so (INFO), and told to keep it.
"""

import re

SECTION = re.compile(
    r"^(?P<head>[ \t]*\.[\w.]+[ \t]+(?P<address>__\w+)[ \t]*):(?P<body>\s*\{[^{}]*\})(?P<end>[^\n]*)$", re.M
)
PLAIN = re.compile(r"(?<!KEEP\()(\*\([^()]*\))")


def readable(text):
    """The text of a script in ld.lld's words."""
    return SECTION.sub(_outside, text)


def _outside(found):
    if ">" in found["end"] or "(INFO)" in found["head"] or not found["address"].endswith("_vma"):
        return found[0]
    body = PLAIN.sub(r"KEEP(\1)", found["body"])
    return f"{found['head']}(INFO) :{body}{found['end']}"
