"""What the parts of the rewriting have in common: the output they write to, and each other."""


class Part:
    """A part of `lowering.Lowering`, `lowering`, which holds one of each; all write to its `emitter`."""

    def __init__(self, lowering):
        self.lowering, self.emitter = lowering, lowering.emitter

    @property
    def variables(self):
        return self.emitter.variables

    @property
    def expressions(self):
        return self.lowering.expressions

    @property
    def arguments(self):
        return self.lowering.arguments

    @property
    def operations(self):
        return self.lowering.operations

    @property
    def calls(self):
        return self.lowering.calls

    @property
    def inlining(self):
        return self.lowering.inlining

    @property
    def addresses(self):
        return self.lowering.addresses

    @property
    def statements(self):
        return self.lowering.statements

    @property
    def assignments(self):
        return self.lowering.assignments

    @property
    def loops(self):
        return self.lowering.loops

    @property
    def elements(self):
        return self.lowering.elements

    @property
    def distributions(self):
        return self.lowering.distributions
