"""The current system: the last one that was made and is not closed; without one, a new system."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from tensim.runtime.system import System

_current: System | None = None
_make: type[System] | None = None


def current() -> System:
    """The system that was made last and is not closed; a one-chip system when there is none."""
    return cast("type[System]", _make)() if _current is None else _current


def make_with(factory: type[System]) -> type[System]:
    """Decorator: what makes a system when there is none."""
    global _make
    _make = factory
    return factory


def enter(system: System) -> None:
    """This is the current system from now on."""
    global _current
    _current = system


def leave(system: System) -> None:
    """This is not the current system any more."""
    global _current
    _current = None if _current is system else _current
