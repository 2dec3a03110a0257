"""Words that a program's description hands to kernels: lists of unsigned 32-bit numbers, and such lists by core."""

from tensim.ttnn.cores import CoreCoord, pair
from tensim.ttnn.errors import ArgumentError, ArgumentTypeError, unsigned


class VectorUInt32(list):
    """A list of unsigned 32-bit numbers; TypeError for anything else."""

    def __init__(self, values=()):
        super().__init__(_word(value) for value in values)

    def append(self, value):
        super().append(_word(value))

    def extend(self, values):
        super().extend(_word(value) for value in values)

    def insert(self, index, value):
        super().insert(index, _word(value))

    def __setitem__(self, index, value):
        super().__setitem__(index, [_word(item) for item in value] if isinstance(index, slice) else _word(value))

    def __repr__(self):
        return f"VectorUInt32({super().__repr__()})"


def _word(value):
    if isinstance(value, int) and 0 <= value < 1 << 32:
        return int(value) if isinstance(value, bool) else value  # an address stays what it stands for
    return unsigned("VectorUInt32", "an element", value)


def checked_words(owner, field, values):
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

    def __init__(self):
        self._entries, self._places = [], {}

    def __getitem__(self, x):
        return _Column(self, x)

    def append(self, core, values):
        """Add an entry."""
        place = pair(core)
        self._places.setdefault(place, len(self._entries))
        self._entries.append((CoreCoord(place), checked_words("RuntimeArgs", "words", values)))

    def get(self, index):
        """(core, words) of an entry."""
        return self._entries[index]

    def to_list(self):
        """The entries as (core, list of words)."""
        return [(core, list(words)) for core, words in self._entries]

    def clear(self):
        """Forget all."""
        self._entries.clear()
        self._places.clear()

    def words(self, place):
        """The words of a core; IndexError when it has none."""
        if place not in self._places:
            raise IndexError(f"RuntimeArgs: core {place[0]}-{place[1]} has no arguments")
        return self._entries[self._places[place]][1]

    def put(self, place, values):
        """Set the words of a core."""
        if place in self._places:
            self._entries[self._places[place]] = (CoreCoord(place), checked_words("RuntimeArgs", "words", values))
        else:
            self.append(place, values)

    def __len__(self):
        return len(self._entries)

    def __iter__(self):
        return iter(list(self._entries))

    def __repr__(self):
        return f"RuntimeArgs({self.to_list()})"

    @classmethod
    def of(cls, given):
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

    def __init__(self, args, x):
        self._args, self._x = args, x

    def __getitem__(self, y):
        return self._args.words((self._x, y))

    def __setitem__(self, y, values):
        self._args.put((self._x, y), values)

    def append(self, y, value):
        """Add a word to a core's."""
        self._all(y).append(value)

    def extend(self, y, values):
        """Add words to a core's."""
        self._all(y).extend(values)

    def _all(self, y):
        if (self._x, y) not in self._args._places:
            self._args.append((self._x, y), [])
        return self._args.words((self._x, y))
