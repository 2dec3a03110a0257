"""A contract of import-linter: no module imports, through whatever others and wherever in its code, itself."""

from importlinter import Contract, ContractCheck, output


class AcyclicContract(Contract):
    """No import cycle between modules of the graph, imports inside functions included."""

    def check(self, graph, verbose):
        circles = [sorted(circle) for circle in circles_of(graph.modules, graph.find_modules_directly_imported_by)]
        return ContractCheck(kept=not circles, metadata={"circles": sorted(circles)})

    def render_broken_contract(self, check):
        for circle in check.metadata["circles"]:
            output.print_error(f"{len(circle)} modules import each other: {', '.join(circle)}")


def circles_of(modules, imported_by):
    """Strongly connected components of more than one module (Tarjan's algorithm)."""
    index, low, stack, found = {}, {}, [], []

    def visit(module):
        index[module] = low[module] = len(index)
        stack.append(module)
        for other in imported_by(module):
            if other not in index:
                visit(other)
            if other in stack:
                low[module] = min(low[module], low[other])
        if low[module] == index[module]:
            at = stack.index(module)
            if len(stack) - at > 1:
                found.append(stack[at:])
            del stack[at:]

    for module in modules:
        if module not in index:
            visit(module)
    return found
