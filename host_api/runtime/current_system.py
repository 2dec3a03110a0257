"""The current system: the last one that was made and is not closed; without one, a new system."""

_current = _make = None


def current():
    """The system that was made last and is not closed; a one-chip system when there is none."""
    return _make() if _current is None else _current


def make_with(factory):
    """Decorator: what makes a system when there is none."""
    global _make
    _make = factory
    return factory


def enter(system):
    """This is the current system from now on."""
    global _current
    _current = system


def leave(system):
    """This is not the current system any more."""
    global _current
    _current = None if _current is system else _current
