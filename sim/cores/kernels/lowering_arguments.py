"""Arguments of calls: bound to parameters as Python does, evaluated in the order of the call."""

import ast

from tensim.sim.cores.kernels.api import REQUIRED
from tensim.sim.cores.kernels.lowering_part import Part
from tensim.sim.cores.kernels.lowering_values import literal
from tensim.sim.cores.kernels.names import did_you_mean


class Arguments(Part):
    """Syntax trees, or values that are at hand, to the values of a call's parameters."""

    def arguments_of(self, node):
        """(positional, keywords) of a call as syntax trees."""
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                self.emitter.refuse(node, "* arguments are not part of the kernel language")
        if any(keyword.arg is None for keyword in node.keywords):
            self.emitter.refuse(node, "** arguments are not part of the kernel language")
        return list(node.args), {keyword.arg: keyword.value for keyword in node.keywords}

    def value_of(self, argument):
        """The value of an argument that may be lowered already."""
        return self.expressions.expression(argument) if isinstance(argument, ast.AST) else argument

    def bind_arguments(self, node, name, params, positional, keywords):
        """{parameter: syntax tree or value}, in evaluation order, defaults last."""
        names = list(params)
        if len(positional) > len(names):
            self.emitter.refuse(node, f"{name} takes {len(names)} arguments, not {len(positional)}")
        bound = dict(zip(names, positional, strict=False))
        first = getattr(positional[0], "value", None) if positional else None
        if isinstance(first, bool) and params[names[0]] is REQUIRED and not self.emitter.scope.is_library:
            self.emitter.refuse(
                node, f"{name} got {first} for {names[0]!r}",
                "what C++ has in <...> are keywords here, as dram=True; the arguments in (...) come in its order",
            )  # fmt: skip
        for key, value in keywords.items():
            if key not in params:
                self.emitter.refuse(
                    node,
                    f"{name} has no parameter {key!r}",
                    did_you_mean(key, names) or f"its parameters: {', '.join(names) or 'none'}",
                )
            if key in bound:
                self.emitter.refuse(node, f"{name} got {key!r} twice")
            bound[key] = value
        missing = [key for key in names if key not in bound and params[key] is REQUIRED]
        if missing:
            self.emitter.refuse(
                node, f"{name} needs the argument {missing[0]!r}", f"its parameters: {', '.join(names)}"
            )
        return bound

    def values(self, node, name, params, positional, keywords):
        """{parameter: value}, evaluated in the order of the call."""
        bound = self.bind_arguments(node, name, params, positional, keywords)
        result = {key: self.value_of(argument) for key, argument in bound.items()}
        for key, default in params.items():
            if key not in result:
                result[key] = literal(default) if isinstance(default, int) else self.variables.state(default)
        return result

    def integers(self, node, name, params, positional, keywords):
        values = self.values(node, name, params, positional, keywords)
        return {key: self.expressions.as_integer(value, node) for key, value in values.items()}

    def literal_text(self, node, name, positional, keywords):
        if len(positional) != 1 or keywords or not isinstance(getattr(positional[0], "value", None), str):
            self.emitter.refuse(node, f"{name} takes one literal text")
        return positional[0].value
