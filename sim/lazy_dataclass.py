"""Dataclasses whose methods are made when a first object is: half of the package's classes have none in a small run, and Python
compiles a text for each of their methods.
"""

import dataclasses
import threading
from typing import TYPE_CHECKING

LOCK = threading.RLock()  # of whoever makes a class: its bases come with it
OF_EVERY_CLASS = ("__dict__", "__weakref__")
METHODS = ("__init__", "__repr__", "__eq__", "__hash__", "__setattr__", "__delattr__")


def _when_needed(cls, **options):
    if any(name in vars(cls) for name in METHODS):
        return dataclasses.dataclass(**options)(cls)
    made = []

    def make():
        with LOCK:
            if not made:
                _complete(cls, (*stubs, *questions), options)
                made.append(True)

    stubs = {name: _stub(cls, name, make) for name in METHODS if name in _wanted(options)}
    questions = {name: _Question(name, make) for name in ("__dataclass_fields__", "__signature__")}
    for name, value in {**stubs, **questions}.items():
        setattr(cls, name, value)
    return cls


def _complete(cls, stand_ins, options):
    """Give a class what a dataclass has, while other threads use it: attribute by attribute, from a copy without `stand_ins`."""
    own = {name: value for name, value in vars(cls).items() if name not in stand_ins and name not in OF_EVERY_CLASS}
    twin = type(cls)(cls.__name__, cls.__bases__, own | {"__qualname__": cls.__qualname__})
    before = dict(vars(twin))
    dataclasses.dataclass(**options)(twin)
    for name, value in vars(twin).items():
        if name in before and before[name] is value:
            continue
        for cell in getattr(value, "__closure__", None) or ():
            if cell.cell_contents is twin:  # a frozen class's __setattr__ asks whether an object is one of it
                cell.cell_contents = cls
        setattr(cls, name, value)
    for name in {*before, *stand_ins} - vars(twin).keys():
        delattr(cls, name)


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
