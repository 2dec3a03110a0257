"""Calls of the kernel API's tables: those that post operations, and those that have a value and no effect."""

import ast
import functools

from tensim.sim.cores.kernels.api import ANY_ROLE, COMPUTE, DM
from tensim.sim.cores.kernels.api import OPERATIONS as DATA_MOVEMENT
from tensim.sim.cores.kernels.api_compute import OPERATIONS as ON_TILES
from tensim.sim.cores.kernels.lowering_expressions import merged
from tensim.sim.cores.kernels.lowering_part import Part
from tensim.sim.cores.kernels.lowering_values import Int, literal

OPERATIONS = DATA_MOVEMENT | ON_TILES
# Instructions of a NoC call whose NoC or virtual channel is known only at run time: base of the registers and places of
# two counters (shift, three additions); mask, shift and or into the command word.  Constants cost none of them.
RUN_TIME_CHOICE = {"noc": 4, "vc": 3, "read_req_vc": 3}
C_INTEGERS = {
    "uint32": lambda v: v & 0xFFFFFFFF,
    "uint16": lambda v: v & 0xFFFF,
    "uint8": lambda v: v & 0xFF,
    "int32": lambda v: ((v & 0xFFFFFFFF) ^ 0x80000000) - 0x80000000,
    "abs": abs,
    "int": int,
    "bool": lambda v: int(bool(v)),
    "min": min,
    "max": max,
}


class Operations(Part):
    """Lowers a call by its description (`api.Call`, `api.Value`)."""

    def value_call(self, node, value, arguments, name=""):
        """A call without effect."""
        self.belongs(node, name, value.roles)
        if name in C_INTEGERS and all(argument.constant is not None for argument in arguments.values()):
            return literal(C_INTEGERS[name](*(argument.constant for argument in arguments.values())))
        known = [argument for argument in arguments.values()]
        if not value.free:
            for kind, count in value.cost.items():
                self.emitter.cost(kind, *(known if kind != "load" else ()), count=count)
        text = value.text.format(
            **{key: argument.number for key, argument in arguments.items()}, line=self.emitter.line
        )
        free = value.free and all(argument.free for argument in known)
        result = merged(text, *known) if known else Int(text)
        taint = result.taint
        if free and all(argument.constant is not None for argument in known):
            neutral = value.text.format(**{key: argument.text for key, argument in arguments.items()}, line="{line}")
            return Int(self.emitter.hoist_at_line(neutral), free=True)
        result = Int(text, free=free, taint=taint, control=value.control or (result.control and bool(known)))
        return self.emitter.kept(result) if value.volatile else result

    def operation(self, node, name, call, positional, keywords):
        """A call that posts operations."""
        self.belongs(node, name, functools.reduce(lambda roles, post: roles | post.roles, call.posts, 0) or ANY_ROLE)
        if call.ignores_arguments:
            for argument in [*positional, *keywords.values()]:
                if not (isinstance(argument, ast.Constant) and isinstance(argument.value, str)):
                    self.arguments.value_of(argument)
            arguments = {}
        else:
            arguments = self.arguments.integers(node, name, call.parameters, positional, keywords)
        for choice in RUN_TIME_CHOICE.keys() & arguments.keys():
            self.emitter.cost("alu", arguments[choice], count=RUN_TIME_CHOICE[choice])
        posts = [(post.roles, post.op, self._words(name, post, arguments)) for post in call.posts]
        result = self.emitter.temporary() if call.result else None
        self.emitter.post(posts, result)
        return Int(result) if result else None

    def api_operation(self, node, name, *values):
        """Post a call of the table with values that are at hand."""
        return self.operation(node, name, OPERATIONS[name], list(values), {})

    def _words(self, name, post, arguments):
        """Generated texts of a post's arguments."""
        words = []
        for word in post.arguments:
            if isinstance(word, int):
                value = literal(word)
            elif word in arguments:
                value = arguments[word]
            else:
                value = self.emitter.state(word)
            if word not in post.data:
                self.emitter.decide(value, f"an argument of {name.lstrip('_')}")
            words.append(value.number)
        return words

    def belongs(self, node, name, roles):
        """Note on which kind of core the call lives; one kernel cannot live on both."""
        allowed = (DM if roles & DM else 0) | (COMPUTE if roles & COMPUTE else 0)
        if self.emitter.facts.possible & allowed == 0:
            if self.emitter.lenient:
                return
            home = "compute" if allowed == COMPUTE else "data-movement"
            self.emitter.refuse(
                node, f"{name} belongs to {home} kernels, but this kernel also makes calls of the other kind"
            )
        self.emitter.facts.possible &= allowed
