"""What the names in a kernel stand for outside it: constants, enumerations, device functions, defines.

Two worlds have the same interface: the module of a decorated Python function (`PythonNames`) and a kernel text that is
parsed but never executed (`ParsedNames`).
"""

import ast
import difflib
import re
from enum import Enum
from types import FunctionType, ModuleType

from tensim.sim.cores.numerics.data_format import DataFormat
from tensim.sim.cores.operations import Bcast, Binary, Mailbox, Pool, ReduceDim, Reuse
from tensim.sim.errors import UsageError
from tensim.sim.noc.packet_state import DYNAMIC_VC

INT64 = range(-(1 << 63), 1 << 63)
MATH_FIDELITY = {"LoFi": 0, "HiFi2": 2, "HiFi3": 3, "HiFi4": 4}


def _members(enumeration, prefix=""):
    return {prefix + member.name: int(member) for member in enumeration}


# Enumerations that tt-metal kernels name, by class and (below) by plain name
CLASSES = {
    "DataFormat": _members(DataFormat),
    "EltwiseBinaryType": _members(Binary, "ELW"),
    "BroadcastType": _members(Bcast),
    "PoolType": _members(Pool),
    "ReduceDim": _members(ReduceDim, "REDUCE_"),
    "EltwiseBinaryReuseDestType": _members(Reuse),
    "ReluType": {"NO_RELU": 0, "ZERO_RELU": 1, "MIN_THRESHOLD_RELU": 2, "MAX_THRESHOLD_RELU": 3},
    "MathFidelity": MATH_FIDELITY,
    "ThreadId": {f"{one.name.title()}ThreadId": int(one) for one in Mailbox},
}
CONSTANTS = {
    "NOC_0": 0, "NOC_1": 1, "DYNAMIC_VC": DYNAMIC_VC,
    **CLASSES["PoolType"], **CLASSES["ReduceDim"], **CLASSES["EltwiseBinaryType"],
    **_members(Bcast, "BCAST_"),
    "DEST_TO_SRCA": int(Reuse.DEST_TO_SRCA), "DEST_TO_SRCB": int(Reuse.DEST_TO_SRCB),
}  # fmt: skip


def did_you_mean(name, known):
    """A hint with the known name that is most like a wrong one, or None."""
    close = difflib.get_close_matches(name, known, 1)
    return f"did you mean {close[0]}?" if close else None


class DeviceFunction:
    """A helper of kernels: inlined where a kernel calls it.  `tree`: its ast.FunctionDef; `names`: what it can see."""

    def __init__(self, tree, file, names):
        self.tree, self.file, self.names, self.name = tree, file, names, tree.name
        self.size = sum(1 for _ in ast.walk(tree))

    def __call__(self, *args, **kwargs):
        raise UsageError(f"{self.name} is a device function: only a kernel can call it")


def as_constant(value):
    """An int for what a kernel may use as an integer constant, else None."""
    if isinstance(value, Enum):
        value = value.value
    return int(value) if isinstance(value, (bool, int)) and value in INT64 else None


class PythonNames:
    """Names that a Python function can see: its module and the variables of enclosing functions."""

    def __init__(self, function):
        self.function = function

    def lookup(self, name):
        """The object, or None.  Read late: a helper may stand below the kernel in its file."""
        cells = dict(zip(self.function.__code__.co_freevars, self.function.__closure__ or (), strict=True))
        if name in cells:
            try:
                return cells[name].cell_contents
            except ValueError:  # not assigned yet
                return None
        return self.function.__globals__.get(name)

    def resolve(self, node):
        """What `name` or `name.attribute...` stands for: int, DeviceFunction, another object, or None."""
        if isinstance(node, ast.Name):
            value = self.lookup(node.id)
        else:
            owner = self.resolve(node.value) if isinstance(node.value, (ast.Name, ast.Attribute)) else None
            if not isinstance(owner, (ModuleType, type)):
                return None
            value = getattr(owner, node.attr, None)
        constant = as_constant(value)
        return value if constant is None else constant

    def is_python_function(self, name):
        """Whether the name is an ordinary function of the user's, which a kernel cannot call."""
        value = self.lookup(name)
        return isinstance(value, FunctionType) and not hasattr(value, "kernel_api_name")


class ParsedNames:
    """Names of a kernel text: integer constants, enumeration classes, device functions."""

    def __init__(self):
        self.table = {}

    def resolve(self, node):
        if isinstance(node, ast.Name):
            return self.table.get(node.id)
        owner = self.resolve(node.value) if isinstance(node.value, ast.Name) else None
        return owner.get(node.attr) if isinstance(owner, dict) else None

    def is_python_function(self, name):
        return False


def parse_define(text):
    """A define's text as Python source: C++ scopes become attributes, statements become lines."""
    text = re.sub(r"::", ".", str(text))
    return "\n".join(part.strip() for part in text.split(";") if part.strip())
