"""Bytes objects of many megabytes, written in place: what the host hands to a device and gets from it.

Nobody else has such an object yet, so that it may be written, as C may write what `PyBytes_FromStringAndSize` gives; afterwards
it is like any other.  Its memory is asked for in huge pages, as numpy asks for that of its arrays: to get a gigabyte in pages of
4 KiB takes longer than to fill it.  Zeros that nobody writes take none.
"""

import ctypes
import mmap

import numpy as np

LARGE = 1 << 22  # bytes, from which on numpy asks for huge pages, too
HUGE_PAGES = getattr(mmap, "MADV_HUGEPAGE", None)

_address_of = ctypes.pythonapi.PyBytes_AsString
_address_of.restype, _address_of.argtypes = ctypes.c_void_p, [ctypes.py_object]


def bytes_to_fill(size):
    """(a bytes object of zeros, uint8 array of the memory in it)."""
    made = bytes(size)
    address = _address_of(made)
    if size >= LARGE and HUGE_PAGES is not None:
        start = -(-address // mmap.PAGESIZE) * mmap.PAGESIZE
        length = (address + size - start) // mmap.PAGESIZE * mmap.PAGESIZE
        _advise(start, length, HUGE_PAGES)
    return made, np.frombuffer((ctypes.c_uint8 * size).from_address(address), np.uint8)


def bytes_of(array):
    """The bytes of a numpy array in C order, as its `tobytes` gives them."""
    if array.nbytes < LARGE or not array.flags.c_contiguous:
        return array.tobytes()
    made, memory = bytes_to_fill(array.nbytes)
    memory[:] = array.reshape(-1).view(np.uint8)
    return made


def _advise(start, length, advice):
    advise = ctypes.CDLL(None).madvise
    advise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    advise(start, length, advice)  # advice may be refused
