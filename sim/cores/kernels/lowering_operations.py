"""Calls of the kernel API's tables: those that post operations, and those that have a value and no effect."""

import ast
import functools

from tensim.sim.cores.kernels.api import ANY_ROLE, COMPUTE, DM, Approximated, Configured
from tensim.sim.cores.kernels.api import OPERATIONS as DATA_MOVEMENT
from tensim.sim.cores.kernels.api_compute import OPERATIONS as ON_TILES
from tensim.sim.cores.kernels.api_compute import VECTOR_OPERATIONS
from tensim.sim.cores.kernels.lowering_expressions import merged
from tensim.sim.cores.kernels.lowering_part import Part
from tensim.sim.cores.kernels.lowering_values import Int, Record, literal
from tensim.sim.cores.kernels.names import did_you_mean
from tensim.sim.cores.operations import DOMAINS, Approximation, unknown_value
from tensim.sim.cores.tensix.initialisation import BUFFER_SHIFT, SECOND_SHIFT, Setup

OPERATIONS = DATA_MOVEMENT | ON_TILES | VECTOR_OPERATIONS
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


ARGUMENT_CALLS = ("get_arg_val", "get_arg", "get_arg_addr")  # those that read unique runtime arguments


class Operations(Part):
    """Lowers a call by its description (`api.Call`, `api.Value`)."""

    def value_call(self, node, value, arguments, name=""):
        """A call without effect."""
        self.belongs(node, name, value.roles)
        if name in ARGUMENT_CALLS:
            index = arguments["i"].constant
            self.emitter.arguments.read |= {index} - {None}
            self.emitter.arguments.any |= index is None or name == "get_arg_addr"
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
            return Int(self.variables.hoist_at_line(neutral), free=True)
        result = Int(text, free=free, taint=taint, control=value.control or (result.control and bool(known)))
        return self.variables.kept(result) if value.volatile else result

    def operation(self, node, name, call, positional, keywords):
        """A call that posts operations."""
        self.belongs(node, name, functools.reduce(lambda roles, post: roles | post.roles, call.posts, 0) or ANY_ROLE)
        if call.ignores_arguments:
            arguments = self._any_arguments(node, name, call, positional, keywords)
        else:
            arguments = self.arguments.integers(node, name, call.parameters, positional, keywords)
        for choice in RUN_TIME_CHOICE.keys() & call.parameters.keys():
            self.emitter.cost("alu", arguments[choice], count=RUN_TIME_CHOICE[choice])
        posts = [(post.roles, post.op, self._words(node, name, post, arguments)) for post in call.posts]
        if any(
            isinstance(word, Configured) and word.setup == Setup.MATMUL
            for post in call.posts
            for word in post.arguments
        ):
            self.variables.set_state("transposed", arguments.get("transpose", literal(0)))
        result = self.variables.temporary() if call.result else None
        self.emitter.post(posts, result)
        return Int(result) if result else None

    def api_operation(self, node, name, *values):
        """Post a call of the table with values that are at hand."""
        return self.operation(node, name, OPERATIONS[name], list(values), {})

    def _any_arguments(self, node, name, call, positional, keywords):
        """{name: value} of the arguments of a call that takes any number of them."""
        wrong = [
            key
            for key in keywords
            if call.forms and key not in call.options and key not in " ".join(call.forms).split()
        ]
        if wrong:
            known = sorted({*" ".join(call.forms).split(), *call.options})
            self.emitter.refuse(
                node, f"{name} has no parameter {wrong[0]!r}",
                did_you_mean(wrong[0], known) or f"its parameters: {', '.join(known)}",
            )  # fmt: skip
        values = {}
        for key, argument in [*enumerate(positional), *keywords.items()]:
            if not (isinstance(argument, ast.Constant) and isinstance(argument.value, str)):
                values[key] = self.arguments.value_of(argument)
        form = next((form.split() for form in call.forms if len(form.split()) >= len(positional)), [])
        return {form[key] if isinstance(key, int) and key < len(form) else key: value for key, value in values.items()}

    def _configured(self, word, arguments):
        """The generated text of a `Configured` word; circular buffers that are not known are left out."""
        text, shift = str(int(self._setup(word, arguments))), BUFFER_SHIFT
        for name in word.buffers:
            value = arguments.get(name)
            if isinstance(value, Record) and value.kind == "circular_buffer":
                value = value["id"]
            if isinstance(value, Int):
                text = f"({text} | ({value.number} + 1) << {shift})"
            shift = SECOND_SHIFT
        return text

    def _approximated(self, name, word, arguments):
        """The generated text of an `Approximated` word: negative `approx` leaves the choice to the kernel's configuration."""
        approx = arguments.get("approx", self.variables.state("math_approx_mode"))
        clamping = arguments.get("input_clamping", literal(1))
        for value in (approx, clamping):
            self.emitter.decide(value, f"an argument of {name}")
        if approx.constant is not None and clamping.constant is not None:
            chosen = Approximation.KERNEL
            if approx.constant >= 0:
                wanted = Approximation.APPROXIMATE if clamping.constant else Approximation.UNCLAMPED
                chosen = wanted if approx.constant else Approximation.ACCURATE
            return str(word.code + (chosen << word.shift))
        first, second = approx.number, clamping.number
        chosen = f"({first} >= 0) + ({first} > 0) + ({first} > 0) * ({second} == 0)"  # the numbers of `Approximation`
        return f"({word.code} + (({chosen}) << {word.shift}))"

    @staticmethod
    def _setup(word, arguments):
        """The `Setup` of a `Configured` word; that of a product depends on an argument, which only the kernel may know."""
        transpose = arguments.get("transpose")
        if word.setup != Setup.MATMUL or transpose is None or transpose.constant == 0:
            return word.setup
        return Setup.ANYTHING if transpose.constant is None else Setup.MATMUL_TRANSPOSED

    def _words(self, node, name, post, arguments):
        """Generated texts of a post's arguments."""
        words, domains = [], DOMAINS.get(post.op, {})
        for place, word in enumerate(post.arguments):
            if isinstance(word, Configured):
                words.append(self._configured(word, arguments))
                continue
            if isinstance(word, Approximated):
                words.append(self._approximated(name, word, arguments))
                continue
            if isinstance(word, int):
                value = literal(word)
            elif word in arguments:
                value = arguments[word]
            else:
                value = self.variables.state(word)
            if value.constant is not None and place in domains and value.constant not in list(domains[place]):
                self.emitter.refuse(node, f"{name}: {unknown_value(post.op, place, value.constant)}")
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
        if self.emitter.facts.possible & ~allowed:
            self.emitter.facts.home = name, node.lineno if hasattr(node, "lineno") else self.emitter.line
        self.emitter.facts.possible &= allowed
