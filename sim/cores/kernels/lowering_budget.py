"""How large a kernel may be: what its text may cost in time and memory, and the error of one that costs more."""

from tensim.sim.errors import KernelCompileError

# What bounds the time and the memory that a kernel's text can cost.  The largest kernels of the project visit 1,200 statements
# and expressions, of which 20 in one statement, and give 1,000 lines with 250 yields.
MAX_YIELDS = 300  # compile time grows faster than the number of yields
MAX_LINES = 3_000  # generated lines: numba takes 10 ms for a plain one
MAX_BLOCKS = 300  # branches and loops: numba takes 100 ms for one
MAX_STEPS = 20_000  # statements and expressions that are visited, those of helpers at each of their calls
MAX_TERMS = 300  # operands and operators in one statement: Python's parser takes 200 nested parentheses
MAX_LOOPS, MAX_INDENT = 18, 90  # inside each other: Python takes 20 loops, 100 levels
DEFINE_STEP = 50  # characters of a define's text that count as a step


def refuse(file, line, reason, hint=None, kernel=None):
    """Raise the error of something that a kernel may not contain."""
    where = {"file": file, "line": line}
    if kernel:
        where["kernel"] = kernel
    raise KernelCompileError(reason, where=where, hint=hint)


class Budget:
    """What a pass has visited and written so far; `terms`: of the statement at hand."""

    def __init__(self, emitter):
        self._emitter = emitter
        self.terms, self._steps, self._blocks, self._open_loops = 0, 0, 0, 0

    def refuse_size(self, number, limit, what, hint=None):
        """Refuse a kernel that has more of something than it may."""
        if number > limit:
            emitter = self._emitter
            refuse(
                emitter.file, emitter.line, f"the kernel is too large: more than {limit:,} {what}", hint, emitter.name
            )

    def step(self, count=1):
        """Count what the rewriting visits."""
        self._steps += count
        self.refuse_size(
            self._steps, MAX_STEPS, "statements and expressions after inlining", "loops instead of nested calls"
        )

    def term(self):
        """Count an expression of the statement."""
        self.terms += 1
        self.refuse_size(
            self.terms, MAX_TERMS, "operands and operators in one statement", "assign parts of it to variables"
        )
        self.step()

    def enter(self, is_loop):
        """Count a block that is opened."""
        self._blocks += 1
        self._open_loops += is_loop
        self.refuse_size(self._blocks, MAX_BLOCKS, "branches and loops after inlining")
        self.refuse_size(self._open_loops, MAX_LOOPS, "loops inside each other")

    def leave(self, is_loop):
        """A block has ended."""
        self._open_loops -= is_loop

    def refuse_lines(self, lines, indent):
        """Refuse a kernel of too many generated lines, or blocks inside each other."""
        self.refuse_size(lines, MAX_LINES, "lines of generated code")
        self.refuse_size(indent, MAX_INDENT, "blocks inside each other")

    def refuse_yields(self, yields):
        """Refuse a kernel of too many operations."""
        if yields > MAX_YIELDS:
            emitter = self._emitter
            refuse(
                emitter.file, emitter.line, f"the kernel has more than {MAX_YIELDS} operations after inlining",
                "write loops instead of repeated calls, or split the kernel", emitter.name,
            )  # fmt: skip
