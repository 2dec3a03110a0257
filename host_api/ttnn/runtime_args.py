"""Words that a program's description hands to kernels: lists of unsigned 32-bit numbers, and such lists by core."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Self, SupportsIndex, TypeAlias

from tensim.ttnn.cores import CoreCoord, CoreLike, Place, pair
from tensim.ttnn.errors import ArgumentError, ArgumentTypeError, unsigned

Entry: TypeAlias = "tuple[CoreCoord, VectorUInt32]"  # a core and its words


class VectorUInt32(list[int]):
    """A list of unsigned 32-bit numbers; TypeError for anything else."""

    def __init__(self, values: Iterable[Any] = ()) -> None:
        super().__init__(_word(value) for value in values)

    def append(self, value: Any) -> None:
        super().append(_word(value))

    def extend(self, values: Iterable[Any]) -> None:
        super().extend(_word(value) for value in values)

    def insert(self, index: SupportsIndex, value: Any) -> None:
        super().insert(index, _word(value))

    def __setitem__(self, index: Any, value: Any) -> None:  # a number, or a slice
        super().__setitem__(index, [_word(item) for item in value] if isinstance(index, slice) else _word(value))

    def __repr__(self) -> str:
        return f"VectorUInt32({super().__repr__()})"


def _word(value: Any) -> int:
    if isinstance(value, int) and 0 <= value < 1 << 32:
        return int(value) if isinstance(value, bool) else value  # an address stays what it stands for
    return unsigned("VectorUInt32", "an element", value)


def checked_words(owner: str, field: str, values: Any) -> VectorUInt32:
    if isinstance(values, VectorUInt32):
        return values
    try:
        values = list(values)
    except TypeError:
        raise ArgumentTypeError(f"{owner}: {field} takes a list of numbers, not {type(values).__name__}") from None
    try:
        return VectorUInt32(values)
    except ArgumentTypeError as error:
        raise ArgumentTypeError(error.message.replace("VectorUInt32: an element", f"{owner}: {field}")) from None


class RuntimeArgs:
    """Words per core: args[x][y] = [...], the first index is x; append(core, words) adds another entry."""

    def __init__(self) -> None:
        self._entries: list[Entry] = []
        self._places: dict[Place, int] = {}

    def __getitem__(self, x: int) -> _Column:
        return _Column(self, x)

    def append(self, core: CoreLike, values: Iterable[int]) -> None:
        """Add an entry."""
        place = pair(core)
        self._places.setdefault(place, len(self._entries))
        self._entries.append((CoreCoord(place), checked_words("RuntimeArgs", "words", values)))

    def get(self, index: int) -> Entry:
        """(core, words) of an entry."""
        return self._entries[index]

    def to_list(self) -> list[tuple[CoreCoord, list[int]]]:
        """The entries as (core, list of words)."""
        return [(core, list(words)) for core, words in self._entries]

    def clear(self) -> None:
        """Forget all."""
        self._entries.clear()
        self._places.clear()

    def words(self, place: Place) -> VectorUInt32:
        """The words of a core; IndexError when it has none."""
        if place not in self._places:
            raise IndexError(f"RuntimeArgs: core {place[0]}-{place[1]} has no arguments")
        return self._entries[self._places[place]][1]

    def put(self, place: Place, values: Iterable[int]) -> None:
        """Set the words of a core."""
        if place in self._places:
            self._entries[self._places[place]] = (CoreCoord(place), checked_words("RuntimeArgs", "words", values))
        else:
            self.append(place, values)

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Entry]:
        return iter(list(self._entries))

    def __repr__(self) -> str:
        return f"RuntimeArgs({self.to_list()})"

    @classmethod
    def of(cls, given: object) -> Self:
        """A copy of RuntimeArgs, or of a list of (core, words); RuntimeError for anything else."""
        result = cls()
        if not isinstance(given, RuntimeArgs | list | tuple):
            raise ArgumentError(f"KernelDescriptor: runtime_args takes a list of (core, words), not {given!r}")
        for item in given:
            if not isinstance(item, tuple | list) or len(item) != 2 or not isinstance(item[0], CoreCoord | tuple):
                raise ArgumentError(f"KernelDescriptor: runtime_args takes (core, words), not {item!r}")
            result.append(*item)
        return result


RuntimeArgsView = RuntimeArgs


class _Column:
    """The arguments of the cores of one column."""

    __slots__ = ("_args", "_x")

    def __init__(self, args: RuntimeArgs, x: int) -> None:
        self._args, self._x = args, x

    def __getitem__(self, y: int) -> VectorUInt32:
        return self._args.words((self._x, y))

    def __setitem__(self, y: int, values: Iterable[int]) -> None:
        self._args.put((self._x, y), values)

    def append(self, y: int, value: int) -> None:
        """Add a word to a core's."""
        self._all(y).append(value)

    def extend(self, y: int, values: Iterable[int]) -> None:
        """Add words to a core's."""
        self._all(y).extend(values)

    def _all(self, y: int) -> VectorUInt32:
        if (self._x, y) not in self._args._places:
            self._args.append((self._x, y), [])
        return self._args.words((self._x, y))
