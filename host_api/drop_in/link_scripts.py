"""Scripts of the vendor's linker as ld.lld reads them.

Sections that the host reads from the file, of texts and of what they belong to, have addresses of their own outside of all memory
and are no part of the program.  ld.lld gives an address to parts of a program alone, so they are linked as such, without a
segment or in one for each, and are told apart again in the linked file (`tensim.drop_in.program_file`).
"""

from __future__ import annotations

import re

SECTION = re.compile(
    r"^(?P<head>[ \t]*(?P<name>\.[\w.]+)[ \t]+(?:(?P<address>0x[\da-fA-F]+)[ \t]*\(INFO\)|(?P<symbol>__\w+_vma))[ \t]*):"
    r"(?P<body>\s*\{[^{}]*\})(?P<end>[^\n]*)$",
    re.M,
)
PLAIN = re.compile(r"(?<!KEEP\()(\*\([^()]*\))")
SEGMENTS = re.compile(r"^\s*PHDRS\b", re.M)
REGIONS = re.compile(r"^\s*(MEMORY|INCLUDE|REGION_ALIAS)\b", re.M)  # where a script has some, each section is in one
OUTSIDE_BYTES = 1 << 20  # from the address of one such section to that of the next


def readable(text: str) -> tuple[str, list[str]]:
    """(The text of a script in ld.lld's words, names of its sections outside of the program)."""
    names, regions, has_segments, has_regions = [], [], SEGMENTS.search(text), REGIONS.search(text)

    def outside(found: re.Match[str]) -> str:
        if ">" in found["end"]:
            return found[0]
        names.append(found["name"])
        place = " :NONE" if has_segments else ""
        if has_regions or not has_segments:
            region = f"TENSIM_{found['name'].strip('.').upper()}"
            regions.append(f"  {region} : ORIGIN = {found['address'] or found['symbol']}, LENGTH = {OUTSIDE_BYTES}\n")
            place = f" > {region}{place}"
        body = PLAIN.sub(r"KEEP(\1)", found["body"])
        return f"{found['head'].replace('(INFO)', '')}:{body}{place}"

    text = SECTION.sub(outside, text)
    return text + (f"\nMEMORY {{\n{''.join(regions)}}}\n" if regions else ""), names
