"""Dataclasses whose methods are made when they are used: half of the package's classes have no object in a small run, few objects
are compared or shown there, and Python compiles a text for each method.
"""

import dataclasses
import threading
from typing import TYPE_CHECKING

LOCK = threading.RLock()  # of whoever makes a class: its bases come with it
OF_EVERY_CLASS = ("__dict__", "__weakref__")
OF_OBJECTS = ("__init__", "__setattr__", "__delattr__")  # made with the first one
OF_COMPARISONS = ("__repr__", "__eq__", "__hash__")  # made when one is asked for
QUESTIONS = ("__dataclass_fields__", "__signature__")


def _when_needed(cls, **options):
    if any(name in vars(cls) for name in (*OF_OBJECTS, *OF_COMPARISONS)):
        return dataclasses.dataclass(**options)(cls)
    own = {name: value for name, value in vars(cls).items() if name not in OF_EVERY_CLASS}
    made = set()

    def make(names, options):
        with LOCK:
            if names not in made:
                _complete(cls, own, names, options)
                made.add(names)

    def make_object():
        make((*OF_OBJECTS, *QUESTIONS), options | {"repr": False, "eq": False})

    def make_comparisons():
        make_object()
        make(OF_COMPARISONS, options)

    wanted = _wanted(options)
    for name in OF_OBJECTS:
        if name in wanted:
            setattr(cls, name, _stub(cls, name, make_object))
    for name in OF_COMPARISONS:
        if name in wanted:
            setattr(cls, name, _stub(cls, name, make_comparisons))
    for name in QUESTIONS:
        setattr(cls, name, _Question(name, make_object))
    if "__eq__" in wanted and "__hash__" not in wanted:
        cls.__hash__ = None  # as of every class with an __eq__ alone
    return cls


def _complete(cls, own, names, options):
    """Give a class those of `names` that a dataclass with these options has, and what is no method, while other threads use it:
    attribute by attribute, from a twin of what the class was defined with (`own`).
    """
    text = cls.__doc__ or " "  # else dataclasses make one of the signature, which takes as long as a method
    twin = type(cls)(cls.__name__, cls.__bases__, own | {"__qualname__": cls.__qualname__, "__doc__": text})
    before = dict(vars(twin))
    dataclasses.dataclass(**options)(twin)
    for name, value in vars(twin).items():
        if (name in before and before[name] is value) or (name not in names and name in (*OF_OBJECTS, *OF_COMPARISONS)):
            continue
        for cell in getattr(value, "__closure__", None) or ():
            if cell.cell_contents is twin:  # a frozen class's __setattr__ asks whether an object is one of it
                cell.cell_contents = cls
        setattr(cls, name, value)
    for name in {*before, *names} - vars(twin).keys():
        if name in vars(cls):
            delattr(cls, name)


def _wanted(options):
    """The methods that a dataclass with these options gets."""
    names = ["__init__"]
    if options.get("repr", True):
        names.append("__repr__")
    if options.get("eq", True):
        names.append("__eq__")
    if options.get("frozen", False):
        names += ["__setattr__", "__delattr__", *(["__hash__"] if options.get("eq", True) else [])]
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
