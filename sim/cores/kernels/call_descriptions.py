"""A call of the kernel API as `help` and docs/kernel_api.md show it: forms, threads, what its cost comes from, a text.

Everything but the texts is read off the tables that the kernel compiler uses.
"""

import ast
from dataclasses import dataclass
from functools import cache, reduce
from inspect import Parameter, Signature
from operator import or_

from tensim.sim.cores.kernels.api import ANY_ROLE, COMPUTE, DM, MATH, PACK, REQUIRED, UNPACK, VALUES, parameters
from tensim.sim.cores.kernels.api_compute import SPELLINGS
from tensim.sim.cores.kernels.call_texts import SECTIONS, SPECIAL
from tensim.sim.cores.kernels.lowering_addresses import GENERATORS, PAGE_CALLS, SHARD_CALLS
from tensim.sim.cores.kernels.lowering_inlining import library
from tensim.sim.cores.kernels.lowering_operations import OPERATIONS
from tensim.sim.cores.numerics.sfpu_functions import formulas
from tensim.sim.cores.operations import CONFIG_COSTS, COSTS, ISSUE_WORD, READ_COSTS, WRITE_COSTS, Config, Op

THREADS = {DM: "data movement", UNPACK: "unpack", MATH: "math", PACK: "pack"}
CONFIG_TEXTS = {
    Config.INIT: "Write the whole configuration of the units.",
    Config.SHORT_INIT: "Configure the units for another operation.",
    Config.RECONFIG: "Configure the units for other data formats.",
    Config.HW_STARTUP: "Configure the core at the start of a kernel.",
    Config.SFPU_INIT: "Prepare the vector unit for the function.",
}
INSTRUCTION_COSTS = {"alu": "riscv.alu", "mul": "riscv.mul", "branch": "riscv.branch", "load": "riscv.local_load"}
# Roles and costs of the calls that are in none of the compiler's tables
SPECIAL_ROLES = {
    **dict.fromkeys(("TensorAccessor", "TensorAccessorArgs", "Noc", "get_noc_addr"), DM),
    "UNPACK": UNPACK, "MATH": MATH, "PACK": PACK, "tt_instruction": COMPUTE,
}  # fmt: skip
SPECIAL_COSTS = {
    "get_noc_addr": ("riscv.alu", "riscv.mul", "riscv.local_load"),
    "Semaphore": ("riscv.alu",),
    "riscv_nop": ("riscv.alu",),
    "tt_instruction": ("tensix.instructions",),
    "get_tile_address": ("riscv.local_load", "riscv.mailbox_load"),
    "read_tile_value": ("riscv.local_load", "riscv.l1_load", "riscv.mailbox_load"),
}
FORMULAS = formulas()
SUBSCRIPTS, NAMES = ("my_x", "my_y"), ("noc_index", "NOC_MAX_BURST_SIZE")


class NamedDefault(str):
    """A default that is shown as a name: noc_index, uint32."""

    __repr__ = str.__str__


@dataclass(frozen=True)
class Description:
    """`forms`: a {parameter: default} each, None if the call takes any arguments; `threads`: bits of `Role`; `costs`:
    keys of an architecture; `text`: one sentence."""

    name: str
    forms: tuple
    threads: int
    costs: tuple
    text: str

    @property
    def thread_names(self):
        if self.threads == ANY_ROLE:
            return "any"
        return ", ".join(name for role, name in THREADS.items() if self.threads & role)

    @property
    def spellings(self):
        """How each form is written: "cb_push_back(cb, n)"."""
        if self.name in NAMES:
            return (self.name,)
        if self.name in SUBSCRIPTS:
            return (f"{self.name}[noc]",)
        return tuple(f"{self.name}{signature(form)}" for form in self.forms)

    @property
    def signature(self):
        """`inspect.Signature` of the call; of its first form if there are several."""
        return signature(self.forms[0])

    @property
    def help(self):
        """The text behind the signature in `help(call)`."""
        forms = [f"Forms: {', '.join(self.spellings)}."] if len(self.forms) > 1 else []
        cost = ", ".join(self.costs) or "none"
        return "\n".join([self.text, "", *forms, f"Threads: {self.thread_names}", f"Cost: {cost}"])


@cache
def _signature(parts):
    if parts is None:
        return Signature(
            [Parameter("arguments", Parameter.VAR_POSITIONAL), Parameter("options", Parameter.VAR_KEYWORD)]
        )
    kinds = {False: Parameter.POSITIONAL_OR_KEYWORD, True: Parameter.VAR_POSITIONAL}
    return Signature(
        [Parameter(name.lstrip("*"), kinds[name.startswith("*")], default=default) for name, default in parts]
    )


def signature(form):
    """`inspect.Signature` of a {parameter: default}."""
    return _signature(None if form is None else tuple((name, _default(value)) for name, value in form.items()))


def _default(value):
    if value is REQUIRED:
        return Parameter.empty
    return NamedDefault({"NOC": "noc_index"}.get(value, value)) if isinstance(value, str) else value


def _post_cost(post):
    """Architecture keys of one operation."""
    if post.op in (Op.NOC_READ, Op.NOC_WRITE):
        costs = READ_COSTS if post.op == Op.NOC_READ else WRITE_COSTS
        return tuple(costs[post.arguments[ISSUE_WORD]].split(", "))
    if post.op == Op.CONFIG:
        return (CONFIG_COSTS[post.arguments[0]],)
    return tuple(COSTS[post.op].split(", ")) if post.op in COSTS else ()


def _callees(tree):
    return [node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]


@cache
def _facts(name):
    """(roles, costs) of a call: those of its operations, of the calls that a library function makes."""
    if name in OPERATIONS:
        posts = OPERATIONS[name].posts
        return reduce(or_, (post.roles for post in posts), 0) or ANY_ROLE, tuple(
            dict.fromkeys(key for post in posts for key in _post_cost(post))
        )
    if name in VALUES:
        value = VALUES[name]
        return value.roles, () if value.free else tuple(INSTRUCTION_COSTS[kind] for kind in value.cost)
    if name in GENERATORS:
        return DM, ("riscv.alu",)
    if name in PAGE_CALLS or name in SHARD_CALLS:
        return DM, ("riscv.issue.read_page" if "read" in name else "riscv.issue.write_page",)
    if name in library():
        return _library_facts(name)
    return SPECIAL_ROLES.get(name, ANY_ROLE), SPECIAL_COSTS.get(name, ())


def _library_facts(name):
    found = [_facts(callee) for callee in _callees(library()[name].tree) if callee != "range"]
    if not found:
        return (DM if name.startswith("noc_") else ANY_ROLE), ()
    roles = reduce(or_, (roles for roles, _ in found if roles != ANY_ROLE), 0)
    return roles or ANY_ROLE, tuple(dict.fromkeys(key for _, costs in found for key in costs))


def _library_form(tree):
    names = [argument.arg for argument in tree.args.args]
    defaults = dict(zip(names[len(names) - len(tree.args.defaults) :], tree.args.defaults, strict=True))
    return {name: _literal(defaults[name]) if name in defaults else REQUIRED for name in names}


def _literal(node):
    return int(node.value) if isinstance(node, ast.Constant) else ast.unparse(node)


def _forms(name):
    if name in OPERATIONS:
        return (None if OPERATIONS[name].ignores_arguments else OPERATIONS[name].parameters,)
    if name in VALUES:
        return (VALUES[name].parameters,)
    if name in library():
        return (_library_form(library()[name].tree),)
    texts = GENERATORS | PAGE_CALLS | SHARD_CALLS | SPECIAL
    return tuple(parameters(text) for text in texts[name].split("|"))


@cache
def texts():
    """{call: text} of all sections."""
    return {name: text for section in SECTIONS.values() for name, text in section.items()}


def vector_function(name):
    """The key of FORMULAS that a call of the vector unit (X_tile, X_tile_int32, ...) computes, or None."""
    base, _, suffix = name.partition("_tile")
    key = next((key for key, spellings in SPELLINGS.items() if name in spellings), base + suffix)
    return key if ("_tile" in name and key in FORMULAS) else None


def _text(name):
    if name in texts():
        return texts()[name]
    if vector_function(name):
        return _vector_text(name)
    return CONFIG_TEXTS[OPERATIONS[name].posts[0].arguments[0]]


def _vector_text(name):
    formula = FORMULAS[vector_function(name)]
    op = OPERATIONS[name].posts[0].op
    kinds = {
        Op.SFPU_UNARY: "x of Dst[idst], in place",
        Op.SFPU_BINARY: "x of Dst[idst0], y of Dst[idst1], to Dst[odst]",
    }
    where = kinds.get(op, "x, y, z of Dst[idst0], Dst[idst1], Dst[idst2], to Dst[odst]")
    return f"Vector unit: {formula} ({where})."


def describe(name):
    """The Description of a call.  Raises KeyError if the kernel API has no such call."""
    roles, costs = _facts(name)
    return Description(name, _forms(name), roles, costs, _text(name))
