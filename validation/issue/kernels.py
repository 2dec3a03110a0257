"""Sources of the issue-rate probes: loops of one kind of instruction on the compute threads of a core.

`PROBES` gives each probe's statements in Python by their place in the unrolled loop.  Plain statements run on every compute
thread, as they disturb nobody; loads, stores and coprocessor instructions are made by the probe's own threads only.
`CPP_PROBES` names those that `cpp/probe.cpp` has in C++, with the statements of one of its stretches.
"""

import re
from dataclasses import dataclass
from pathlib import Path

ROLES = ("UNPACK", "MATH", "PACK")  # of TRISC0, TRISC1, TRISC2
PLAIN, MEMORY, JUMPS = 64, 32, 16  # statements unrolled: operations and loops take long to compile
PAD = 16  # additions between which coprocessor instructions are pushed
TEMPLATE = """from tensim.kernel_api import *


@device_function
def chase(address):
    return l1_ptr(address, uint32)[0]


@device_function
def load(words, index):
    return words[index]


@device_function
def store(words, index):
    words[index] = 7


@kernel
def probe(rounds, {scratch}, {x}):
{setup}
    for _ in range(rounds):
{body}
"""
POINTERS = [f"words{i} = l1_ptr(scratch + {4096 * i}, uint32)" for i in range(3)]
ADDRESSES = [f"at{i} = scratch + {4096 * i}" for i in range(3)]


@dataclass(frozen=True)
class Probe:
    """A loop of `count` times `statements`: at place `{i}`, a line with `{role}` for each thread `{t}`."""

    statements: str
    setup: tuple = ()
    count: int = PLAIN

    def lines(self, threads):
        """The unrolled lines for the given threads."""
        return [
            line.format(i=i, four_i=4 * i, t=t, role=ROLES[t])
            for i in range(self.count)
            for line in self.statements.split("\n")
            for t in (threads if "{role}" in line else threads[:1])
        ]


def _pushes(every, count):
    """PAD additions with `count` coprocessor instructions behind each `every` of them."""
    text = "\n".join(["x = x + 1"] * every + [f'{{role}}(tt_instruction("NOP", {count}))'] * (count > 0))
    return "\n".join([text] * (PAD // every))


PROBES = {
    "rv_addi_indep": Probe("y = x + 1"),
    "rv_addi_dep": Probe("x = x + 1"),
    "rv_mul_indep": Probe("y = x * x"),
    "rv_mul_dep": Probe("x = x * x"),
    "rv_div": Probe("y = scratch // x"),
    "rv_load_chase": Probe("at{t} = {role}(chase(at{t}))", tuple(ADDRESSES), MEMORY),
    "rv_load_indep": Probe("y{t} = {role}(load(words{t}, {i}))", tuple(POINTERS), MEMORY),
    "rv_store_spread": Probe("{role}(store(words{t}, {four_i}))", tuple(POINTERS), MEMORY),
    "rv_store_coalesce": Probe("{role}(store(words{t}, 0))", tuple(POINTERS), MEMORY),
    "rv_load_stack": Probe("x = get_arg_val(2)"),
    "c_ctrl_xor": Probe("x = x ^ 1"),
    "c_nt": Probe("if x == 5:\n    pass"),
    "c_t": Probe("if x == 1:\n    pass"),
    "c_jal": Probe("while True:\n    break", count=JUMPS),
    "c_xor_nt": Probe("x = x ^ 1\nif x == 5:\n    pass"),
    "c_xor_t": Probe("x = x ^ 1\nif x < 5:\n    pass"),
    "c_xor_alt": Probe("x = x ^ 1\nif x == 0:\n    pass"),
    "tt_pad": Probe(_pushes(PAD, 0), count=1),
    "tt_fuse2": Probe(_pushes(PAD, 2), count=1),
    "tt_fuse4": Probe(_pushes(PAD, 4), count=1),
    "tt_spread4": Probe(_pushes(PAD // 4, 1), count=1),
}

CPP_SOURCE = Path(__file__).parent / "cpp/probe.cpp"
CPP_PROBES = {name: 1 for name in PROBES if not name.startswith("tt_")} | {"rv_load_indep": 4, "rv_store_stack": 1}


def _source(setup, body):
    indented = ["    " + line for line in setup], ["        " + line for line in body]
    text = "\n".join((*setup, *body))
    unread = {name: name if re.search(rf"\b{name}\b", text) else f"_{name}" for name in ("scratch", "x")}
    return TEMPLATE.format(setup="\n".join(indented[0]), body="\n".join(indented[1]), **unread)


def probe_source(name, threads):
    """A kernel whose loop holds the probe's statements for compute threads `threads`."""
    probe = PROBES[name]
    return _source(probe.setup, probe.lines(threads))


def empty_source(name):
    """The same kernel with an empty loop."""
    return _source(PROBES[name].setup, ["pass"])


def code_source(count):
    """A kernel whose loop is `count` additions long."""
    return _source((), ["x = x" + " + 1" * PLAIN] * (count // PLAIN))


def cpp_defines(name, count, threads):
    """Defines of the C++ probe: `count` statements in the loop (0: an empty loop) on compute threads `threads`."""
    stretches = count // CPP_PROBES[name]
    return {"PROBE": name, "COUNT": str(stretches), "THREADS": str(sum(1 << thread for thread in threads))}
