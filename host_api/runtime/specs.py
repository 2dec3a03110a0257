"""Device specs: the text that says which devices a program wants, read strictly and kept in order.

    devices  := device { ";" device }
    device   := [ NAME [ "?" ] "=" ] term { "," term }     NAME? marks the device optional
    term     := target | alias | "#" INT | "@" NAME | "none"
    target   := SCHEME "://" ARCH [ "[" INT "]" ] [ "?" params ]
    alias    := IDENT [ "[" INT "]" ] [ "?" params ]
    params   := KEY "=" VALUE { "&" KEY "=" VALUE }

The grammar (docs/hardware/runtime.md#device-specs) follows the device flags of IREE
(docs/hardware/runtime.md#device-flags-of-iree) without their leniencies: a malformed index, an empty term or an unknown key
is an error that names its column. White space may stand around separators, not inside `sim://ARCH`, `#1` or `@name`. ARCH
is the name or the path of an architecture; `,`, `;`, `?`, `[`, `]` and white space end it. `selection` decides what a spec
means on a given system.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NoReturn, TypeAlias, cast

from tensim.runtime.errors import SpecSyntax
from tensim.sim.errors import UsageError

SCHEMES = ("sim", "host", "embedded")  # `replay` is reserved (docs/hardware/runtime.md#device-specs)
TIMINGS = ("cycle", "functional")
IDENT = r"[A-Za-z_][A-Za-z0-9_]*"
INDEX = r"[0-9]{1,9}(?![0-9])"
INDEX_WORDS = "an index (0 to 999999999)"
HEAD = rf"({IDENT})\s*(\?)?\s*="

Value: TypeAlias = int | float | str | tuple[int, int]  # of a setting; (rows, columns) of a mesh
Param: TypeAlias = tuple[str, Value]


@dataclass(frozen=True)
class Target:
    """`sim://wormhole_b0[1]?cqs=2`: the `index`-th device that has this scheme and architecture (`*` is any).

    `params` are (key, value) pairs sorted by key; the values are an int, a float, a str, or (rows, columns) for `mesh`.
    """

    scheme: str
    arch: str
    index: int = 0
    params: tuple[Param, ...] = ()

    def __str__(self) -> str:
        return f"{self.scheme}://{self.arch}{f'[{self.index}]' if self.index else ''}{_render_params(self.params)}"


@dataclass(frozen=True)
class Alias:
    """`n300[1]?cqs=2`: a registered short name; an index or params given here replace those of its target."""

    name: str
    index: int | None = None
    params: tuple[Param, ...] = ()

    def __str__(self) -> str:
        return f"{self.name}{'' if self.index is None else f'[{self.index}]'}{_render_params(self.params)}"


@dataclass(frozen=True)
class Ordinal:
    """`#2`: the device declared at position 2 (from 0), whatever it is."""

    index: int

    def __str__(self) -> str:
        return f"#{self.index}"


@dataclass(frozen=True)
class Fallback:
    """`@gpu`: the very device that was chosen for `gpu`, which is declared earlier."""

    name: str

    def __str__(self) -> str:
        return f"@{self.name}"


@dataclass(frozen=True)
class NoneTerm:
    """`none`: no device; the last term of an optional device."""

    def __str__(self) -> str:
        return "none"


Term: TypeAlias = Target | Alias | Ordinal | Fallback | NoneTerm


@dataclass(frozen=True)
class NamedSpec:
    """One device that is wanted: its `terms` in order of preference; `name` is None if the text names no device.

    `text` is the source; specs are equal if they mean the same, and `str` of a spec reads back as an equal one.
    """

    name: str | None
    optional: bool
    terms: tuple[Term, ...]
    text: str = field(compare=False, default="")

    def __str__(self) -> str:
        head = "" if self.name is None else f"{self.name}{'?' if self.optional else ''}="
        return head + ",".join(map(str, self.terms))


def _integer(low: int, high: int = 2**63 - 1) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not re.fullmatch("[0-9]+|0x[0-9a-fA-F]+", text):
            raise ValueError
        value = int(text, 16 if text.startswith("0x") else 10)
        if not low <= value <= high:
            raise ValueError
        return value

    return read


def _number(low: float, included: bool) -> Callable[[str], float]:
    def read(text: str) -> float:
        value = float(text) if re.fullmatch("[-+.0-9eE]+", text) else math.nan
        if not math.isfinite(value) or value < low or (value == low and not included):
            raise ValueError
        return value

    return read


def _mesh(text: str) -> tuple[int, int]:
    rows, columns = text.split("x")
    one = _integer(1, 4096)
    return one(rows), one(columns)


def _timing(text: str) -> str:
    if text not in TIMINGS:
        raise ValueError
    return text


# key: (how its value is read, what is expected there)
PARAMS: dict[str, tuple[Callable[[str], Value], str]] = {
    "mesh": (_mesh, "ROWSxCOLUMNS, as 2x4"),
    "cqs": (_integer(1, 64), "a number of queues, 1 to 64"),
    "l1_small": (_integer(0), "bytes per core, 0 or more"),
    "trace_region": (_integer(0), "bytes, 0 or more"),
    "timing": (_timing, "cycle or functional"),
    "clock_mhz": (_number(0, included=False), "a frequency in MHz above 0"),
    "harvest": (_integer(0), "a mask of disabled rows or columns, as 0x800"),
    "seed": (_integer(0), "a whole number, 0 or more"),
    "boot_ns": (_number(0, included=True), "a time in ns, 0 or more"),
}


def read_params(params: Mapping[str, object]) -> dict[str, Value]:
    """{key: value} of keywords, as the text of a spec would give them.  UsageError for unknown keys and wrong values."""
    result = {}
    for key, value in params.items():
        if key not in PARAMS:
            near = difflib.get_close_matches(key, PARAMS, 1, 0.5)
            hint = f"did you mean {near[0]}?" if near else f"the settings are {', '.join(PARAMS)}"
            raise UsageError(f"a device has no setting {key!r}", where={"key": key}, hint=hint)
        read, expected = PARAMS[key]
        try:
            result[key] = read("x".join(map(str, value)) if isinstance(value, tuple | list) else str(value))
        except ValueError:
            raise UsageError(
                f"the setting {key} cannot be {value!r}",
                where={"key": key, "found": value},
                hint=f"expected: {expected}",
            ) from None
    return result


def _render_params(params: Iterable[Param]) -> str:
    return ("?" if params else "") + "&".join(f"{key}={_render_value(value)}" for key, value in params)


def _render_value(value: Value) -> str:
    return "x".join(map(str, value)) if isinstance(value, tuple) else str(value).removesuffix(".0")


class _Reader:
    """A text and a position in it."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0

    def skip_space(self) -> int:
        """Steps over white space and returns the position."""
        self.at = cast("re.Match[str]", re.compile(r"\s*").match(self.text, self.at)).end()
        return self.at

    def take(self, pattern: str, *, glued: bool = False) -> re.Match[str] | None:
        """The match of `pattern` here, stepped over; None if there is none. Unless `glued`, white space may come first."""
        if not glued:
            self.skip_space()
        match = re.compile(pattern).match(self.text, self.at)
        if match:
            self.at = match.end()
        return match

    def need(self, pattern: str, expected: str, *, glued: bool = False) -> re.Match[str]:
        """As `take`, but SpecSyntax if there is no match."""
        return self.take(pattern, glued=glued) or self.fail(expected)

    def fail(self, *expected: str, at: int | None = None, word: str = "", words: Iterable[str] = ()) -> NoReturn:
        """Raises SpecSyntax at position `at` (default: here); the hint names what of `words` is near `word`."""
        raise _syntax_error(self.text, (self.at if at is None else at) + 1, expected, word, words)


def _syntax_error(text: str, column: int, expected: Iterable[str], word: str, words: Iterable[str]) -> SpecSyntax:
    error = SpecSyntax(text, column, expected)
    near = difflib.get_close_matches(word, words, 1, 0.5)
    if near:
        error.hint = f"did you mean '{near[0]}'? {error.hint}"
    return error


def parse_devices(text: str) -> list[NamedSpec]:
    """The devices of `text`, a list of NamedSpec in the order written. SpecSyntax with the column (from 1) of what is wrong.

    Several texts (a repeated flag) are one text joined by `;`: either all their devices are named or none is.
    """
    reader, specs = _Reader(text), []
    while not specs or reader.take(";"):
        specs.append(_device(reader, specs))
    if reader.at < len(text):
        reader.fail("','", "';'", "the end")
    return specs


def _device(reader: _Reader, earlier: Sequence[NamedSpec]) -> NamedSpec:
    start = reader.skip_space()
    head = reader.take(HEAD)
    name, optional = (head[1], bool(head[2])) if head else (None, False)
    names = [spec.name for spec in earlier]
    if name is not None and name in names:
        reader.fail("a name not used before", at=start)
    if earlier and (name is None) != (names[0] is None):
        reader.fail("NAME= (name all devices or none)" if name is None else "a device without a name", at=start)
    terms = [_term(reader, names, optional)]
    while reader.take(","):
        if isinstance(terms[-1], NoneTerm):
            reader.fail("';'", "the end", at=reader.at - 1)
        terms.append(_term(reader, names, optional))
    text = reader.text[start : reader.at].strip()
    reader.skip_space()
    return NamedSpec(name, optional, tuple(terms), text)


def _term(reader: _Reader, names: Sequence[str | None], optional: bool) -> Term:
    start = reader.skip_space()
    if reader.take("#"):
        return Ordinal(int(reader.need(INDEX, INDEX_WORDS, glued=True)[0]))
    if reader.take("@"):
        name = reader.need(IDENT, "a name", glued=True)[0]
        if name not in names:
            known = ", ".join(filter(None, names)) or "there is none"
            reader.fail(f"a device declared earlier ({known})", at=start + 1, word=name, words=filter(None, names))
        return Fallback(name)
    if scheme := reader.take(rf"({IDENT})://"):
        return _target(reader, scheme[1], start)
    name = reader.need(IDENT, "a device")[0]
    if name == "none":
        return NoneTerm() if optional else reader.fail("a device (none is allowed for NAME? only)", at=start)
    alias = Alias(name, _index(reader), _params(reader))
    if not reader.take(r"(?=[,;])|\Z"):
        reader.fail("','", "';'", "the end")
    _look_up(alias, reader.text, start + 1)
    return alias


def _target(reader: _Reader, scheme: str, start: int) -> Target:
    if scheme not in SCHEMES:
        reader.fail(*(f"{known}://" for known in SCHEMES), at=start, word=scheme, words=SCHEMES)
    arch = reader.need(r"[^\s,;?\[\]]+", "an architecture", glued=True)[0]
    return Target(scheme, arch, _index(reader) or 0, _params(reader))


def _index(reader: _Reader) -> int | None:
    if not reader.take(r"\["):
        return None
    index = int(reader.need(INDEX, INDEX_WORDS)[0])
    reader.need(r"\]", "']'")
    return index


def _params(reader: _Reader) -> tuple[Param, ...]:
    params = {}
    separator = r"\?"
    while reader.take(separator):
        start = reader.skip_space()
        key = reader.need(r"[^\s,;&=?\[\]]+", f"a key ({', '.join(PARAMS)})")[0]
        if key not in PARAMS:
            reader.fail(f"a key ({', '.join(PARAMS)})", at=start, word=key, words=PARAMS)
        if key in params:
            reader.fail("a key not given before", at=start)
        reader.need("=", "'='")
        params[key] = _value(reader, *PARAMS[key])
        separator = "&"
    return tuple(sorted(params.items()))


def _value(reader: _Reader, read: Callable[[str], Value], expected: str) -> Value:
    start = reader.skip_space()
    text = reader.need(r"[^\s,;&]+", expected)[0]
    try:
        return read(text)
    except ValueError:
        reader.fail(expected, at=start)


# A board is the mesh of its chips: n150 has one Wormhole, n300 two (docs/hardware/runtime.md#device-specs), a T3000 four n300.
_ALIASES = {
    "local": Target("host", "local"),
    "n150": Target("sim", "wormhole_b0", params=(("mesh", (1, 1)),)),
    "n300": Target("sim", "wormhole_b0", params=(("mesh", (1, 2)),)),
    "t3000": Target("sim", "wormhole_b0", params=(("mesh", (2, 4)),)),
    "grayskull": Target("sim", "grayskull"),
    "wormhole_b0": Target("sim", "wormhole_b0"),
    "blackhole": Target("sim", "blackhole"),
}


def _look_up(alias: Alias, text: str, column: int) -> Target:
    if alias.name not in _ALIASES:
        expected = f"a registered alias ({', '.join(sorted(_ALIASES))})"
        raise _syntax_error(text, column, [expected, "SCHEME://ARCH"], alias.name, _ALIASES)
    return _ALIASES[alias.name]


def expand(alias: Alias) -> Target:
    """The Target that `alias` stands for, with the index and params that it gives itself. SpecSyntax if nobody knows it."""
    target = _look_up(alias, str(alias), 1)
    params = dict(target.params) | dict(alias.params)
    index = target.index if alias.index is None else alias.index
    return replace(target, index=index, params=tuple(sorted(params.items())))


def register_alias(name: str, spec: str, *, overwrite: bool = False) -> None:
    """Lets `name` stand for `spec`, the text of one target or of another alias, which is expanded now.

    UsageError if the name is taken and `overwrite` is not given, if it is no identifier, or if the spec is something else.
    """
    if not re.fullmatch(IDENT, name) or name == "none":
        raise UsageError(
            f"'{name}' cannot be an alias", hint="an alias consists of letters, digits and _, and is not none"
        )
    if name in SCHEMES:
        raise UsageError(f"'{name}' cannot be an alias: it is a scheme", hint=f"schemes: {', '.join(SCHEMES)}")
    if name in _ALIASES and not overwrite:
        raise UsageError(f"alias '{name}' already stands for {_ALIASES[name]}", hint="overwrite=True replaces it")
    specs = parse_devices(spec)
    term = specs[0].terms[0]
    if len(specs) > 1 or specs[0].name is not None or len(specs[0].terms) > 1 or not isinstance(term, Target | Alias):
        raise UsageError(
            f"alias '{name}': '{spec}' is not a single target", hint="an alias is SCHEME://ARCH[n]?key=value"
        )
    _ALIASES[name] = expand(term) if isinstance(term, Alias) else term
