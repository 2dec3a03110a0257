"""Dataclasses that are made when they are used: to whoever uses them they are those of the standard library."""

import copy
import dataclasses
import inspect
import pickle
import sys
import threading

import pytest

from tensim.sim.lazy_dataclass import dataclass


@dataclass(frozen=True)
class Kept:
    x: int


def test_objects_are_equal_and_shown_as_others():
    lazy, plain = made_both()
    assert repr(lazy(1)) == repr(plain(1)) and lazy(1) == lazy(1, 2, []) != lazy(2) and lazy(3).sum() == 5
    assert dataclasses.replace(lazy(1), x=4) == lazy(4) and dataclasses.asdict(lazy(1)) == dataclasses.asdict(plain(1))
    with pytest.raises(dataclasses.FrozenInstanceError):
        lazy(1).x = 3


def made_both():
    return point(dataclass), point(dataclasses.dataclass)


def point(decorator):
    @decorator(frozen=True)
    class Point:
        x: int
        y: int = 2
        names: list = dataclasses.field(default_factory=list)

        def sum(self):
            return self.x + self.y

    return Point


@pytest.mark.parametrize(
    "ask",
    [
        lambda cls: [one.name for one in dataclasses.fields(cls)],
        lambda cls: str(inspect.signature(cls)),
        dataclasses.is_dataclass,
        lambda cls: cls.y,
    ],
    ids=["fields", "signature", "is_dataclass", "default"],
)
def test_a_class_without_objects_says_what_it_has(ask):
    lazy, plain = made_both()
    assert ask(lazy) == ask(plain)


def test_a_subclass_has_the_fields_of_its_base():
    @dataclass
    class Base:
        x: int

    @dataclass
    class Sub(Base):
        y: int = 7

    class Plain(Base):
        pass

    assert Sub(1) == Sub(1, 7) and [one.name for one in dataclasses.fields(Sub)] == ["x", "y"]
    assert Plain(3).x == 3 and repr(Base(2)).endswith("Base(x=2)")
    with pytest.raises(TypeError, match="unhashable"):
        hash(Sub(1))


def test_methods_of_the_class_itself_stay():
    @dataclass(eq=False)
    class Own:
        x: int

        def __repr__(self):
            return "own"

    assert repr(Own(1)) == "own"


def test_objects_that_were_not_made_by_a_call_are_whole():
    content = pickle.dumps(Kept(5))
    fresh = dataclass(frozen=True)(type("Fresh", (), {"__annotations__": {"x": int}}))
    bare = object.__new__(fresh)
    bare.__dict__["x"] = 5
    assert hash(bare) == hash(fresh(5)) and bare == fresh(5)
    assert pickle.loads(content) == Kept(5) == copy.deepcopy(Kept(5))


@pytest.fixture
def eager_switches():
    """Threads that take turns all the time."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_threads_that_make_the_first_objects_at_once_all_get_them(eager_switches):
    for _ in range(50):
        Point, start, found = point(dataclass), threading.Barrier(4), []

        def use(Point=Point, start=start, found=found):
            start.wait()
            found.append((repr(Point(1)), Point(1) == Point(1, 2, []), hash(Kept(1)) == hash(Kept(1))))

        threads = [threading.Thread(target=use) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == [(repr(Point(1)), True, True)] * 4


def test_a_frozen_object_takes_no_attribute_at_all():
    lazy, plain = made_both()
    for cls in (lazy, plain):
        with pytest.raises(dataclasses.FrozenInstanceError):
            cls(1).other = 3
