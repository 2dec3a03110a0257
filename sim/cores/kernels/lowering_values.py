"""Values of the kernel language while a kernel is being rewritten, and the scopes that bind names to them."""

import re
from collections import Counter
from dataclasses import field

from tensim.sim.lazy_dataclass import dataclass

ATOM = re.compile(r"[A-Za-z_]\w*|\d+|\(-\d+\)")


@dataclass(frozen=True)
class Int:
    """An integer: generated text without effects, and what is known about its value.

    `free`: known before the kernel starts (constants, compile-time arguments), so using it costs no cycles.
    `taint`: source line of the L1 load that it depends on, 0 for none.  `control`: an address whose content is not
    tensor data (semaphores, arguments).  `boolean`: the text has Python's type bool.
    """

    text: str
    constant: int | None = None
    free: bool = False
    taint: int = 0
    control: bool = False
    boolean: bool = False

    @property
    def is_atom(self):
        return ATOM.fullmatch(self.text) is not None

    @property
    def number(self):
        """The text where Python's bool will not do."""
        return f"int({self.text})" if self.boolean else self.text


def literal(value):
    """The constant `value`."""
    value = int(value)
    return Int(str(value) if value >= 0 else f"({value})", constant=value, free=True)


# Kinds of records and their fields
RECORDS = {
    "pointer": ("address",),  # type: (bytes, signed)
    "interleaved": ("base", "page_size", "stride", "dram"),
    "accessor_args": ("first", "common"),
    "accessor": ("first", "base", "page_size"),
    "dspec": ("first",),
    "shape": ("first", "of_shard"),
    "noc": ("index",),
    "circular_buffer": ("id",),
    "semaphore": ("address",),
}


@dataclass(frozen=True)
class Record:
    """A compound value: pointer, address generator, accessor, tuple; its fields are integers of the running kernel."""

    kind: str
    fields: tuple
    type: tuple = ()

    def __getitem__(self, name):
        return self.fields[RECORDS[self.kind].index(name)]

    @property
    def shape(self):
        """What two values must share to be assigned to the same name."""
        return self.kind, self.type, len(self.fields)

    @property
    def title(self):
        return {"pointer": "an L1 pointer", "tuple": "a tuple"}.get(self.kind, f"a {self.kind.replace('_', ' ')}")


@dataclass
class Scope:
    """One function body that is being rewritten.

    `stores`: how often the body assigns each name; `names`: what each bound name stands for now; `line`: the line all
    its operations count for (None: their own); `result`: the name its return value is bound to (None: the kernel);
    `exits`: it leaves early through a loop around its body.
    """

    prefix: str
    function: str
    file: str
    names_outside: object
    stores: Counter
    names: dict = field(default_factory=dict)
    line: int | None = None
    result: str | None = None
    is_library: bool = False
    exits: bool = False
    loops: int = 0  # loops of its own that are open
    zones: int = 0  # profiler zones open at its start
    assigned: set = field(default_factory=set)  # names that have a value however control came here


@dataclass
class ReadArguments:
    """Which unique runtime arguments a kernel reads.  `names`: of the first ones, its parameters; `read`: indices; `any`: an
    index is computed, so that it may be any.
    """

    names: list = field(default_factory=list)
    read: set = field(default_factory=set)
    any: bool = False


@dataclass
class Loop:
    """A loop of the kernel that is being rewritten: which threads post an operation in every round."""

    depth: int
    zones: int
    scope: Scope
    certain: int = 0
    skipped: bool = False  # the rest of the body may be left out
