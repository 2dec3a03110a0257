"""Machine code from an ELF object into memory, without LLVM, whose library takes longer to load than the engine's code.

Only what LLVM makes for x86-64 in the large code model is known here: addresses are words of 64 bits.  Anything else is left to
LLVM.  The names are the ELF specification's (System V ABI, chapter 4, and its AMD64 supplement, section 4.4).
"""

import ctypes
import mmap
import struct

import numpy as np

MAGIC = b"\x7fELF\x02\x01\x01"  # 64 bits, little endian, version 1
ET_REL, EM_X86_64 = 1, 62
SHT_SYMTAB, SHT_RELA, SHT_NOBITS, SHT_X86_64_UNWIND = 2, 4, 8, 0x70000001
SHF_WRITE, SHF_ALLOC = 1, 2
SHN_UNDEF, SHN_LORESERVE = 0, 0xFF00
R_X86_64_64, R_X86_64_PC64 = 1, 24
SECTION_FIELDS = "name type flags address offset size link info alignment entry_size".split()
SYMBOL = np.dtype(
    [("name", "<u4"), ("info", "u1"), ("other", "u1"), ("section", "<u2"), ("value", "<u8"), ("size", "<u8")]
)
RELOCATION = np.dtype([("offset", "<u8"), ("type", "<u4"), ("symbol", "<u4"), ("addend", "<i8")])
READ_EXECUTE = 5  # PROT_READ | PROT_EXEC of mprotect
_LOADED = []  # memory with code in it: it stays as long as the process


class UnknownObject(Exception):
    """The object is not of the kind that is loaded here."""


def load_object(content, name, c_function):
    """Address of the symbol `name` of an object (bytes) after its code is in memory, ready to be called.

    `c_function(name)`: address of a function of the C library.  Raises UnknownObject.
    """
    if content[:7] != MAGIC or struct.unpack_from("<HH", content, 16) != (ET_REL, EM_X86_64):
        raise UnknownObject
    sections = _sections(content)
    places, fixed_bytes, n_bytes = _laid_out(sections)
    memory = mmap.mmap(-1, n_bytes, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)  # what forked processes write is their own
    base = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    image = np.frombuffer(memory, np.uint8)
    for i, place in places.items():
        if sections[i]["type"] != SHT_NOBITS:
            begin = sections[i]["offset"]
            image[place : place + sections[i]["size"]] = np.frombuffer(
                content[begin : begin + sections[i]["size"]], np.uint8
            )
    addresses, found = _symbols(content, sections, places, base, name, c_function)
    for section in sections:
        if section["type"] == SHT_RELA and section["info"] in places:
            _relocate(image, base, places[section["info"]], _table(content, section, RELOCATION), addresses)
    if ctypes.CDLL(None).mprotect(ctypes.c_void_p(base), ctypes.c_size_t(fixed_bytes), READ_EXECUTE):
        raise UnknownObject
    _LOADED.append(memory)
    return found


def _sections(content):
    """The section headers as dicts of `SECTION_FIELDS`."""
    (begin,) = struct.unpack_from("<Q", content, 40)
    size, count = struct.unpack_from("<HH", content, 58)
    headers = (struct.unpack_from("<IIQQQQIIQQ", content, begin + i * size) for i in range(count))
    return [dict(zip(SECTION_FIELDS, header, strict=True)) for header in headers]


def _laid_out(sections):
    """({number of a section: its offset in memory}, bytes that are never written, bytes in all): whole pages each.

    Tables for unwinding are left out: compiled code raises nothing.
    """
    kept = [i for i, s in enumerate(sections) if s["flags"] & SHF_ALLOC and s["type"] != SHT_X86_64_UNWIND]
    places, end, fixed = {}, 0, None
    for i in sorted(kept, key=lambda i: sections[i]["flags"] & SHF_WRITE):
        if sections[i]["flags"] & SHF_WRITE and fixed is None:
            fixed = end = _rounded(end, mmap.PAGESIZE)
        places[i] = _rounded(end, max(sections[i]["alignment"], 1))
        end = places[i] + sections[i]["size"]
    end = max(_rounded(end, mmap.PAGESIZE), mmap.PAGESIZE)
    return places, end if fixed is None else fixed, end


def _rounded(number, unit):
    return -(-number // unit) * unit


def _table(content, section, kind):
    return np.frombuffer(content, kind, section["size"] // kind.itemsize, section["offset"])


def _symbols(content, sections, places, base, wanted, c_function):
    """(addresses of all symbols, that of the one with the name `wanted`); 0 for those without a place of their own, which are
    numba's environments: what calls Python would refer to them.
    """
    (table,) = (section for section in sections if section["type"] == SHT_SYMTAB)
    symbols, strings = _table(content, table, SYMBOL), sections[table["link"]]["offset"]
    bases = np.zeros(len(sections), np.uint64)
    bases[list(places)] = np.array(list(places.values()), np.uint64) + np.uint64(base)
    inside = (symbols["section"] > SHN_UNDEF) & (symbols["section"] < SHN_LORESERVE)
    addresses = symbols["value"] + bases[np.where(inside, symbols["section"], 0)]
    addresses[~inside] = 0

    def text(i):
        begin = strings + int(symbols["name"][i])
        return content[begin : content.index(b"\0", begin)].decode()

    for i in np.flatnonzero(symbols["section"] == SHN_UNDEF)[1:]:  # the first symbol is none
        addresses[i] = c_function(text(i))
    # maybe the end of a longer name, which tables keep once for both
    place = content.find(wanted.encode() + b"\0", strings)
    while not len(index := np.flatnonzero(inside & (symbols["name"] == place - strings))):
        place = content.index(wanted.encode() + b"\0", place + 1)
    return addresses, int(addresses[index[0]])


def _relocate(image, base, place, relocations, addresses):
    """Write the addresses that a section's content refers to."""
    at = relocations["offset"] + np.uint64(place)
    targets, relative = addresses[relocations["symbol"]], relocations["type"] == R_X86_64_PC64
    if not ((relative | (relocations["type"] == R_X86_64_64)) & (targets != 0)).all():
        raise UnknownObject
    values = targets + relocations["addend"].astype(np.uint64)
    values = np.where(relative, values - (at + np.uint64(base)), values)
    image[at.astype(np.int64)[:, None] + np.arange(8)] = values.view(np.uint8).reshape(-1, 8)
