"""A tile's address space in which nothing happens: memory of DRAM tiles, registers of tiles that nothing here models."""

import numpy as np

PAGE = 4096


class SparseMemory:
    """Bytes by address, zero until written."""

    def __init__(self):
        self._pages = {}

    def read(self, address, size):
        """`size` bytes."""
        return b"".join(page[begin:end].tobytes() for page, begin, end in self._pieces(address, size))

    def write(self, address, content):
        """Write bytes."""
        at = 0
        for page, begin, end in self._pieces(address, len(content)):
            page[begin:end] = np.frombuffer(content[at : at + end - begin], np.uint8)
            at += end - begin

    def _pieces(self, address, size):
        while size > 0:
            number, begin = divmod(address, PAGE)
            end = min(begin + size, PAGE)
            yield self._pages.setdefault(number, np.zeros(PAGE, np.uint8)), begin, end
            address, size = address + end - begin, size - (end - begin)
