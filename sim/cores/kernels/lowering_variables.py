"""Variables of generated code: values under names, and what is known of them.

A value is a text in the generated language (`lowering_values`).  It is copied to a variable where its text may mean something else
later; a name that is assigned once, and an expression that does not change while the kernel runs, need no copy.
"""

from dataclasses import replace

from tensim.sim.cores import context as ctx
from tensim.sim.cores.kernels.api import STATES
from tensim.sim.cores.kernels.lowering_values import Int, Record, literal


class Variables:
    """The variables that a pass has made; `emitter`: where their assignments are written.

    `hoisted`: {text of an expression: its name}, evaluated once at the start; `stable`: names assigned once, before any loop.
    """

    def __init__(self, emitter):
        self.emitter = emitter
        self.hoisted, self.stable = {}, set()
        self._hoist_lines, self._temporaries = {}, 0

    def temporary(self):
        self._temporaries += 1
        return f"t{self._temporaries}"

    def atom(self, value):
        """The value under a name (names and numbers stay as they are)."""
        return value if value.is_atom else self.kept(value)

    def kept(self, value):
        """A snapshot of the value in a fresh variable."""
        return self.store(self.temporary(), value, single=True)

    def hoist(self, text):
        """Name of an expression that does not change while the kernel runs; it is evaluated once, at the start."""
        name = self.hoisted.setdefault(text, f"k{len(self.hoisted)}")
        self.stable.add(name)
        return name

    def hoist_at_line(self, template):
        """Hoist a text whose line is that of its first use."""
        if template not in self._hoist_lines:
            self._hoist_lines[template] = template.replace("{line}", str(self.emitter.line))
        return self.hoist(self._hoist_lines[template])

    def store(self, variable, value, single):
        """Assign to a generated variable; `single`: nothing else assigns it."""
        self.emitter.emit(f"{variable} = {value.number}")
        if value.taint:
            self.emitter.facts.tainted.setdefault(variable, value.taint)
        if value.text in self.emitter.products:
            self.emitter.products.add(variable)
        loads = self.emitter.loads_of(value) if value.is_atom else set()
        if loads:
            self.emitter.facts.loads.setdefault(variable, set()).update(loads)
        if not value.control:
            self.emitter.facts.uncontrolled.add(variable)
        return Int(variable, value.constant if single else None, value.free and single, value.taint, value.control)

    def read(self, value):
        """A bound value as it reads now."""
        if isinstance(value, Record):
            return replace(value, fields=tuple(self.read(item) for item in value.fields))
        if value.constant is not None:
            return literal(value.constant)
        taint = self.emitter.facts.tainted.get(value.text, value.taint)
        return replace(value, taint=taint, control=value.control and value.text not in self.emitter.facts.uncontrolled)

    def bind(self, name, value, node):
        """Assign a value to a name of the kernel."""
        scope, old = self.emitter.scope, self.emitter.scope.names.get(name)
        single = scope.stores[name] <= 1
        shape = value.shape if isinstance(value, Record) else None
        if old is not None and not self.emitter.lenient:
            was = old.shape if isinstance(old, Record) else None
            if was != shape:
                title = value.title if isinstance(value, Record) else "an integer"
                self.emitter.refuse(node, f"{name} cannot also be {title}: a name keeps its kind in a kernel")
        variable = scope.prefix + name
        self.emitter.facts.shapes[variable] = shape
        scope.assigned.add(name)
        if variable in self.emitter.facts.unsure:
            self.emitter.emit(f"u_{variable} = 1")
        if shape is None:
            scope.names[name] = self._bound(variable, value, single)
        else:
            fields = (self._bound(f"f{i}_{variable}", item, single) for i, item in enumerate(value.fields))
            scope.names[name] = replace(value, fields=tuple(fields))

    def require(self, name):
        """Stop the kernel where it uses a name that nothing has assigned; costs nothing."""
        if (
            name in self.emitter.scope.assigned
            or self.emitter.scope.is_library
            or self.emitter.captured_uses is not None
        ):
            return
        variable = self.emitter.scope.prefix + name
        self.emitter.facts.unsure.add(variable)
        self.emitter.stop_if(f"not u_{variable}", f"{name} is used, but nothing has been assigned to it")

    def _bound(self, variable, value, single):
        if single and self.is_stable(value):
            return value
        if single and not self.emitter.loops:
            self.stable.add(variable)
        return self.store(variable, value, single)

    def is_stable(self, value):
        """Whether the value's text means the same everywhere from here on, so that it need not be copied."""
        return value.constant is not None or value.text in self.stable

    def state(self, name):
        """A state of the kernel, or the kernel's NoC, as a value."""
        if name == "NOC":
            return Int(self.hoist(f"word(ctx, {ctx.NOC})"), free=True)
        if name not in self.emitter.facts.states:
            return literal(int(STATES[name]))
        return Int(f"s_{name}")

    def set_state(self, name, value):
        if value.constant != int(STATES[name]):
            self.emitter.facts.states.add(name)
        if name in self.emitter.facts.states:
            self.emitter.emit(f"s_{name} = {value.number}")
