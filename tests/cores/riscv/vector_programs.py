"""Random programs of the vector unit: their C++ text, and what numpy says they compute."""

import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from hypothesis import strategies as st

from tensim.sim.cores.riscv import toolchain
from tensim.sim.cores.riscv.llk import functions_to_inline
from tensim.sim.cores.riscv.llk.build import INCLUDE
from tensim.sim.cores.riscv.llk.translation import TO_IR, optimising
from tensim.sim.cores.riscv.vector.lowering import lowered

WORD = re.compile(r'asm sideeffect "\.ttinsn \$0", "i"\(i32 (-?\d+)\)')
FUNCTION = re.compile(r"^define [^@]*@(\w+)\(.*?^}", re.M | re.S)
MACROS = {"wormhole_b0": "ARCH_WORMHOLE", "blackhole": "ARCH_BLACKHOLE"}
INTEGERS, FLOATS = ("a", "b"), ("x", "y")


def lowered_text(source, chip, level="O2"):
    """LLVM IR of a C++ text, vector calls replaced by words."""
    return lowered(ir_text(source, chip, level), chip)


def ir_text(source, chip, level="O2"):
    """LLVM IR of a C++ text, with its vector calls."""
    tools = toolchain.toolchain()
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        (folder / "unit.cpp").write_text(source)

        def run(*command):
            result = toolchain.run([*tools.compile, *command], cwd=folder)
            assert result.returncode == 0, result.stderr

        flags = [*tools.flags, f"-{level}", f"-D{MACROS[chip]}", f"-I{INCLUDE}"]
        run(*flags, *TO_IR, "unit.cpp", "-o", "first.ll")
        (folder / "first.ll").write_text(functions_to_inline.marked((folder / "first.ll").read_text()))
        run(*optimising(tools, level, True), "-S", "-emit-llvm", "first.ll", "-o", "second.ll")
        return (folder / "second.ll").read_text()


def words_of(source, chip):
    """{function: its vector words in order} of a C++ text."""
    text = lowered_text(source, chip)
    return {
        found[1]: [int(word) & 0xFFFFFFFF for word in WORD.findall(found[0])]
        for found in FUNCTION.finditer(text)
        if WORD.search(found[0])
    }


# --- expressions: (C++ text, function of {variable: lanes})


@dataclass
class Expression:
    text: str
    value: object


def wrap(value):
    return (value + 0x80000000 & 0xFFFFFFFF) - 0x80000000


def integer_constant(number):
    return Expression(f"sfpi::vInt({number})", lambda _: np.int64(number))


def binary(symbol, function):
    return lambda a, b: Expression(f"({a.text} {symbol} {b.text})", lambda v: function(a.value(v), b.value(v)))


constants = st.sampled_from([0, 1, -1, 5, 255, -7, 2047, -2048, 70000, -70000, 0x7FFFFFFF, -0x80000000, 0x12340000])
integer_leaves = st.sampled_from([Expression(name, lambda v, name=name: v[name]) for name in INTEGERS]) | constants.map(
    integer_constant
)
float_leaves = st.sampled_from([Expression(name, lambda v, name=name: v[name]) for name in FLOATS]) | st.sampled_from(
    [0.0, 1.0, -1.0, 2.0, 0.5, -3.0, 5.0]
).map(lambda number: Expression(f"sfpi::vFloat({number}f)", lambda _: np.float64(number)))


def integers(inner):
    shifts = st.integers(0, 31)
    return st.one_of(
        st.builds(binary("+", lambda a, b: wrap(a + b)), inner, inner),
        st.builds(binary("-", lambda a, b: wrap(a - b)), inner, inner),
        st.builds(binary("&", np.bitwise_and), inner, inner), st.builds(binary("|", np.bitwise_or), inner, inner),
        st.builds(binary("^", np.bitwise_xor), inner, inner),
        inner.map(lambda a: Expression(f"(~{a.text})", lambda v: ~a.value(v))),
        inner.map(lambda a: Expression(f"(-{a.text})", lambda v: wrap(-a.value(v)))),
        st.builds(lambda a, n: Expression(f"({a.text} << {n})", lambda v: wrap(a.value(v) << n)), inner, shifts),
        st.builds(lambda a, n: Expression(f"({a.text} >> {n})", lambda v: a.value(v) >> n), inner, shifts),
    )  # fmt: skip


def call(name, function):
    return lambda a, b: Expression(f"sfpi::{name}({a.text}, {b.text})", lambda v: function(a.value(v), b.value(v)))


def float_expressions(inner):
    return st.one_of(
        st.builds(binary("+", np.add), inner, inner),
        st.builds(binary("-", np.subtract), inner, inner),
        st.builds(binary("*", np.multiply), inner, inner),
        st.builds(
            lambda a, b: Expression(f"(-({a.text}) + {b.text})", lambda v: b.value(v) - a.value(v)), inner, inner
        ),
        st.builds(call("min", np.minimum), inner, inner),
        st.builds(call("max", np.maximum), inner, inner),
    )


integer_values = st.recursive(integer_leaves, integers, max_leaves=3)
float_values = st.recursive(float_leaves, float_expressions, max_leaves=3)
# Integers are compared by the sign of a difference that wraps; a number 0 on the right of > needs none.
INTEGER_COMPARISONS = {
    "<": lambda a, b: wrap(a - b) < 0,
    "<=": lambda a, b: wrap(b - a) >= 0,
    ">": lambda a, b: wrap(b - a) < 0,
    ">=": lambda a, b: wrap(a - b) >= 0,
    "==": np.equal,
    "!=": np.not_equal,
}
COMPARISONS = {
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "==": np.equal,
    "!=": np.not_equal,
}


def comparisons(values, variables, numbers, literal, table):
    """A variable against an expression, or an expression against a number."""
    symbol = st.sampled_from(sorted(table))
    named = st.sampled_from(variables).map(lambda name: Expression(name, lambda v: v[name]))
    number = numbers.map(lambda n: Expression(literal(n), lambda _: n))

    def make(a, s, b):
        function = table[s]
        if s == ">" and b.text in ("0", "0.0f"):
            function = np.greater
        return Expression(f"({a.text} {s} {b.text})", lambda v: function(a.value(v), b.value(v)))

    return st.builds(make, named, symbol, values) | st.builds(
        make, values.filter(lambda e: e.text[:6] != "sfpi::"), symbol, number
    )


integer_tests = comparisons(
    integer_values,
    INTEGERS,
    constants,
    lambda n: f"{n}" if n != -0x80000000 else "(-2147483647 - 1)",
    INTEGER_COMPARISONS,
)
float_tests = comparisons(float_values, FLOATS, st.sampled_from([0.0, 1.0, -1.0, 2.0]), lambda n: f"{n}f", COMPARISONS)
tests = integer_tests | float_tests


def conditions(inner):
    return st.one_of(
        st.builds(binary("&&", np.logical_and), inner, inner), st.builds(binary("||", np.logical_or), inner, inner),
        inner.map(lambda a: Expression(f"(!{a.text})", lambda v: ~np.asarray(a.value(v)))),
    )  # fmt: skip


lane_conditions = st.recursive(tests, conditions, max_leaves=3)


# --- statements: (C++ text, function of ({variable: lanes}, enabled lanes))


@dataclass
class Statement:
    text: str
    run: object


def assignment(name, expression):
    text = expression.text if name in INTEGERS else f"sfpi::clamp(sfpi::vFloat({expression.text}), -8.0f, 8.0f)"

    def run(variables, lanes):
        value = expression.value(variables)
        value = np.clip(value, -8.0, 8.0) if name in FLOATS else value
        variables[name] = np.where(lanes, value, variables[name])

    return Statement(f"{name} = {text};", run)


assignments = st.builds(assignment, st.sampled_from(INTEGERS), integer_values) | st.builds(
    assignment, st.sampled_from(FLOATS), float_values
)


def branches(inner):
    body = st.lists(inner, min_size=1, max_size=2)

    def make(condition, then, others, otherwise, narrower):
        text = f"v_if ({condition.text}) {{ {' '.join(one.text for one in then)}"
        if narrower is not None:
            text += f" v_and({narrower[0].text}); {narrower[1].text}"
        text += " }"
        for other, statements in others:
            text += f" v_elseif ({other.text}) {{ {' '.join(one.text for one in statements)} }}"
        if otherwise is not None:
            text += f" v_else {{ {' '.join(one.text for one in otherwise)} }}"

        def run(variables, lanes):
            left = lanes
            for index, (one, statements) in enumerate([(condition, then), *others]):
                mine = left & np.broadcast_to(one.value(variables), lanes.shape)
                left = left & ~mine
                for statement in statements:
                    statement.run(variables, mine)
                if index == 0 and narrower is not None:
                    mine = mine & np.broadcast_to(narrower[0].value(variables), lanes.shape)
                    narrower[1].run(variables, mine)
                    # what v_and takes away belongs to the other branches
                    left = lanes & ~mine
            for statement in otherwise or ():
                statement.run(variables, left)

        return Statement(text + " v_endif;", run)

    others = st.lists(st.tuples(lane_conditions, body), max_size=1)
    return st.builds(
        make, lane_conditions, body, others, st.none() | body, st.none() | st.tuples(lane_conditions, inner)
    )


statements = st.recursive(assignments, branches, max_leaves=4)
programs = st.lists(statements, min_size=1, max_size=4)


def source_of(program, name):
    """The C++ function of a program: variables come from Dst and go back there."""
    lines = [
        f"sfpi::vInt {one} = sfpi::dst_reg[{at}].mode<sfpi::DataLayout::I32>();" for at, one in enumerate(INTEGERS)
    ]
    lines += [
        f"sfpi::vFloat {one} = sfpi::dst_reg[{at + 4}].mode<sfpi::DataLayout::F32>();" for at, one in enumerate(FLOATS)
    ]
    lines += [statement.text for statement in program]
    lines += [f"sfpi::dst_reg[{at + 8}].mode<sfpi::DataLayout::I32>() = {one};" for at, one in enumerate(INTEGERS)]
    lines += [f"sfpi::dst_reg[{at + 12}].mode<sfpi::DataLayout::F32>() = {one};" for at, one in enumerate(FLOATS)]
    return f'extern "C" void {name}() {{\n  ' + "\n  ".join(lines) + "\n}\n"


# --- functions with loops: the RISC-V core's counting, as far as it is needed, and the words between

LABEL = re.compile(r"^([\w.$-]+):")
INSTRUCTION = re.compile(r"^\s+(%[\w.$-]+) = (phi|add|icmp)\b(.*)$")
BRANCH = re.compile(r"^\s+br (?:i1 (%[\w.$-]+), label %([\w.$-]+), label %([\w.$-]+)|label %([\w.$-]+))")
PREDICATES = {"sgt": int.__gt__, "slt": int.__lt__, "eq": int.__eq__, "ult": int.__lt__, "ne": int.__ne__}


def run_function(text, machine, numbers):
    """Run the only function of a lowered text on a machine; `numbers`: {name of an i32: its value}."""
    body = text[text.index("\ndefine") + 1 :].split("\n}")[0].split("\n")[1:]
    blocks, label = {"entry": []}, "entry"
    for line in body:
        found = LABEL.match(line)
        label = found[1] if found else label
        blocks.setdefault(label, []).append(line)

    def value(operand):
        return numbers[operand] if operand.startswith("%") else {"true": 1, "false": 0}.get(operand) or int(operand)

    label, before = "entry", None
    for _ in range(1000):
        for line in blocks[label]:
            word, made, branch = WORD.search(line), INSTRUCTION.match(line), BRANCH.match(line)
            if word:
                machine.run([int(word[1]) & 0xFFFFFFFF])
            elif made and made[2] == "phi":
                incoming = dict((source, one) for one, source in re.findall(r"\[ (\S+), %([\w.$-]+) \]", made[3]))
                # the entry has no name
                first = next((one for source, one in incoming.items() if source not in blocks), None)
                numbers[made[1]] = value(incoming.get(before, first))
            elif made:
                a, b = re.search(r"i32 (\S+), ([^,\s]+)", made[3]).groups()
                predicate = made[3].split()[0 if "samesign" not in made[3] else 1]
                numbers[made[1]] = (
                    value(a) + value(b) if made[2] == "add" else PREDICATES[predicate](value(a), value(b))
                )
            elif branch:
                target = branch[4] or (branch[2] if numbers[branch[1]] else branch[3])
            elif line.strip().startswith("ret"):
                return
        before, label = label, target
    raise AssertionError("the function does not end")
