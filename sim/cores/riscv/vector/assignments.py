"""Assignments that replace a variable in all of its lanes: the variable is the new value from there on.

What is left are assignments where some lanes of the variable are disabled: those merge two values.
"""


def plain_assignments(function, states, order):
    """Remove assignments in all lanes of a variable from a function; {value: state of the lanes in which it means something}."""
    calls = {call.result: call for block in function.blocks.values() for call in block.calls if call.result}
    lanes, alias = {}, {}

    def resolve(value):
        while value in alias:
            value = alias[value]
        return value

    for label in order:
        for call in function.blocks[label].calls:
            state = states.before[call.line].current
            if call.result is None:
                continue
            lanes[call.result] = state
            if call.name == "phi":
                known = [lanes[one] for one in (resolve(value) for value, _ in call.arguments) if one in lanes]
                lanes[call.result] = known[0] if known else state
            elif call.name == "freeze":
                alias[call.result] = call.arguments[0]
            elif call.name == "assign":
                old, new = (resolve(argument) for argument in call.arguments)
                made = calls.get(old)
                of_variable = lanes.get(old, 0)
                if made is None or made.name == "undefined" or states.contains(state, of_variable):
                    alias[call.result] = new
                else:
                    lanes[call.result] = of_variable
    for block in function.blocks.values():
        block.calls = [call for call in block.calls if call.result not in alias]
        for call in block.calls:
            if call.name == "phi":
                call.arguments = [(resolve(value), label) for value, label in call.arguments]
            else:
                call.arguments = [resolve(one) if isinstance(one, str) else one for one in call.arguments]
    return lanes
