"""Dataclasses whose methods are made when a first object is: half of the package's classes have none in a small run, and Python
compiles a text for each of their methods.
"""

import dataclasses
from typing import TYPE_CHECKING

METHODS = ("__init__", "__repr__", "__eq__", "__hash__", "__setattr__", "__delattr__")


def _when_needed(cls, **options):
    if any(name in vars(cls) for name in METHODS):
        return dataclasses.dataclass(**options)(cls)
    made = []

    def make():
        if not made:
            made.append(True)
            for name in (*stubs, *questions):
                delattr(cls, name)
            dataclasses.dataclass(**options)(cls)

    stubs = {name: _stub(cls, name, make) for name in METHODS if name in _wanted(options)}
    questions = {name: _Question(name, make) for name in ("__dataclass_fields__", "__signature__")}
    for name, value in {**stubs, **questions}.items():
        setattr(cls, name, value)
    return cls


def _wanted(options):
    """The methods that a dataclass with these options gets."""
    names = ["__init__"]
    if options.get("repr", True):
        names.append("__repr__")
    if options.get("eq", True):
        names += ["__eq__", "__hash__"]
    if options.get("frozen", False):
        names += ["__setattr__", "__delattr__"]
    return names


def _stub(cls, name, make):
    """A method that makes the real ones and calls that of its name."""

    def method(self, *args, **kwargs):
        make()
        return getattr(cls, name)(self, *args, **kwargs)

    return method


class _Question:
    """An attribute by which others learn what a dataclass has: asking for it makes the class."""

    def __init__(self, name, make):
        self.name, self.make = name, make

    def __get__(self, instance, owner):
        self.make()
        return getattr(owner, self.name)


if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(cls=None, /, **options):
        """As `dataclasses.dataclass`, with its options init (true), repr, eq and frozen; none for order and slots."""
        return _when_needed(cls, **options) if cls is not None else lambda cls: _when_needed(cls, **options)
