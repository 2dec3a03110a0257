"""Kernels in Light Metal binaries: their texts, and what C++ ones were compiled to, so that a replay needs no compiler."""

import hashlib

import numpy as np

from tensim.sim.compile_budget import CompileBudget
from tensim.sim.errors import BinaryError
from tensim.sim.kernel_source import kernel_from_text
from tensim.traces.flatbuffers.tables import Node
from tensim.traces.light_metal.values import place_of

MAX_SLOT = 4  # BRISC 0, NCRISC 1, TRISC0 to 2


def kernel_fields(kernel):
    """Fields that make a kernel independent of its source file."""
    return {"kernel_name": kernel.name, **kernel_fields_of_text(kernel.source)}


def kernel_fields_of_text(text):
    """Fields that hold a kernel's text."""
    digest = np.frombuffer(hashlib.sha256(text.encode()).digest(), np.uint8)
    return {"source": text, "source_hash": digest}


def file_name(kernel):
    """The name of a kernel's file, without its folder."""
    return kernel.file.replace("\\", "/").rpartition("/")[2]


def binary_nodes(kernels):
    """The `KernelBinary` tables of the C++ kernels among some: each build of each source once."""
    found = {}
    for kernel in kernels:
        for key, elves in getattr(kernel, "binaries", {}).items():
            found |= {(kernel.digest, key, slot): elf for slot, elf in elves.items()}
    return [
        Node("KernelBinary", {
            "source_hash": np.frombuffer(bytes.fromhex(digest), np.uint8), "build_key": key, "slot": slot,
            "elf": np.frombuffer(elf, np.uint8),
        })
        for (digest, key, slot), elf in sorted(found.items())
    ]  # fmt: skip


def check_source(node):
    """BinaryError when the text of a CreateKernel command is not the one that its hash was made of."""
    if node.source is None or node.source_hash is None:
        return
    if node.source_hash.tobytes() != hashlib.sha256(node.source.encode()).digest():
        raise BinaryError("the kernel's text does not match its hash", where=place_of(node, "source_hash"))


class KernelReader:
    """The kernels of a file; `nodes`: its `KernelBinary` tables."""

    def __init__(self, nodes=()):
        self._binaries, self._kernels, self._budget = {}, {}, CompileBudget()
        for node in nodes or ():
            if node.source_hash is None or node.elf is None or node.build_key is None or node.slot > MAX_SLOT:
                raise BinaryError(
                    "a kernel's binary without source hash, build key, bytes or thread slot",
                    where={"offset": node.position, "field": "kernel_binaries"},
                )
            builds = self._binaries.setdefault(node.source_hash.tobytes().hex(), {})
            builds.setdefault(node.build_key, {})[node.slot] = node.elf.tobytes()

    def kernel(self, source, name, file):
        """The kernel of a text; C++ ones come with the binaries that the file holds.  Raises KernelCompileError."""
        key = (source, name, file)
        if key not in self._kernels:
            binaries = self._binaries.get(hashlib.sha256(source.encode()).hexdigest(), {})
            self._kernels[key] = kernel_from_text(
                source, name or None, file or "kernel.cpp", dict(binaries), self._budget
            )
        return self._kernels[key]
