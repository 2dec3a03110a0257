"""Which declared device each spec gets, and why not the others (docs/hardware/runtime.md#device-specs, after IREE's select).

The terms of a device are tried in order and the first viable one wins; what stands after it has no influence. An index
counts the devices that *match* in scheme and arch, `#n` counts all; so neither params nor the program that is to run change
which device an index names. Every term gets a verdict, so that a choice can be explained.
"""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, cast

from tensim.runtime.errors import DeviceConfigConflict, DeviceNotFound
from tensim.runtime.specs import Alias, Fallback, NamedSpec, NoneTerm, Ordinal, Target, expand
from tensim.sim.errors import TensimWarning, UsageError

if TYPE_CHECKING:
    from tensim.runtime.specs import Term, Value

# What each kind of device can be told (docs/hardware/runtime.md#device-specs): a host executor has queues and a seed; an
# embedded device runs one image from boot to completion, with neither queues nor traces nor a mesh.
PARAMS_OF = {
    "sim": {"mesh", "cqs", "l1_small", "trace_region", "timing", "clock_mhz", "harvest", "seed"},
    "host": {"cqs", "seed"},
    "embedded": {"timing", "clock_mhz", "harvest", "seed", "boot_ns"},
}


@dataclass(frozen=True)
class DeviceInfo:
    """A device that a system declares.

    `id`: its position in the system; `index`: its position among those with its scheme and arch; `spec`: text that selects
    it; `arch_name`: what a YAML of the user's calls itself; `mmio`: it has PCIe; `remote_of`: else the id of the device
    through which the host reaches it; `mesh_shape`: (rows, columns) of the largest mesh of chips that can be opened from it;
    `queues`: hardware queues; `grid`: (columns, rows) of worker cores.
    """

    id: int
    spec: str
    scheme: str
    arch: str
    index: int
    mmio: bool
    remote_of: int | None
    mesh_shape: tuple[int, int]
    queues: int
    clock_mhz: float
    grid: tuple[int, int]
    arch_name: str


@dataclass(frozen=True)
class Choice:
    """What one spec got: the device (None: it is optional and absent), the term that gave it, and the params to open it with.

    `reasons` has a (term, verdict) pair for every term, in order: why it missed, `chosen`, or that it was not tried.
    """

    name: str
    spec: NamedSpec
    info: DeviceInfo | None
    term: Term
    params: dict[str, Value]
    reasons: tuple[tuple[Term, str], ...]

    def __str__(self) -> str:
        head = f"{self.name}: {'none' if self.info is None else f'#{self.info.id} {self.info.spec}'}"
        return "\n".join([head, *(f"  {term}: {verdict}" for term, verdict in self.reasons)])


class Selection(Mapping[str, Choice]):
    """Name -> Choice, in the order declared; `default` is a name, or None if no device is there. `str` is the report.

    Devices without a name are called device0, device1, ... by position.
    """

    def __init__(self, choices: dict[str, Choice], default: str | None) -> None:
        self._choices, self.default = choices, default

    def __getitem__(self, name: str) -> Choice:
        return self._choices[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._choices)

    def __len__(self) -> int:
        return len(self._choices)

    def __str__(self) -> str:
        return "\n".join([*map(str, self.values()), f"default: {self.default or 'none'}"])


def with_params(choice: Choice, params: dict[str, Value], inventory: Sequence[DeviceInfo]) -> Choice:
    """A Choice with further params; UsageError when its device cannot have them."""
    merged, info = choice.params | params, choice.info
    assert info is not None
    reason = _unsuitable(info, merged, inventory)
    if reason:
        raise UsageError(f"{info.spec}: {reason}", hint=f"it takes {', '.join(sorted(PARAMS_OF[info.scheme]))}")
    choice = replace(choice, params=merged)
    if params:
        _warn_of_queues(choice)
    return choice


def select(
    specs: Iterable[NamedSpec],
    inventory: Sequence[DeviceInfo],
    *,
    default: str | None = None,
    accepts: Callable[[DeviceInfo], str | None] | None = None,
) -> Selection:
    """Chooses a device of `inventory` (DeviceInfos in declaration order) for each NamedSpec; returns a Selection.

    `accepts(info)` may refuse a device by returning a reason (a program has no variant for it). An optional device with no
    viable term gets None, with or without a final `none`. `default` names the default device, else it is the first that is
    there. Raises DeviceNotFound, and DeviceConfigConflict if one device is to be opened with two values of one key; a device
    asked for twice is opened with the params of both.
    """
    choices = {}
    for position, spec in enumerate(specs):
        name = f"device{position}" if spec.name is None else spec.name
        choices[name] = _choose(name, spec, inventory, choices, accepts)
    choices = _merge_params(choices)
    for choice in choices.values():
        _warn_of_queues(choice)
    return Selection(choices, _default(default, choices))


def _choose(
    name: str,
    spec: NamedSpec,
    inventory: Sequence[DeviceInfo],
    earlier: Mapping[str, Choice],
    accepts: Callable[[DeviceInfo], str | None] | None,
) -> Choice:
    reasons = []
    for number, term in enumerate(spec.terms):
        info, params, reason = _try(term, inventory, earlier, accepts)
        reasons.append((term, reason or "chosen"))
        if not reason:
            reasons += [(later, "not tried, an earlier term was chosen") for later in spec.terms[number + 1 :]]
            return Choice(name, spec, info, term, params, tuple(reasons))
    if spec.optional:
        return Choice(name, spec, None, NoneTerm(), {}, tuple(reasons))
    raise _not_found(name, spec, reasons, inventory)


def _try(
    term: Term,
    inventory: Sequence[DeviceInfo],
    earlier: Mapping[str, Choice],
    accepts: Callable[[DeviceInfo], str | None] | None,
) -> tuple[DeviceInfo | None, Any, str | None]:
    """(info, params, None) if `term` is viable, else (None, None, the reason)."""
    params = {}
    match term:
        case NoneTerm():
            return None, params, None
        case Fallback(name):
            other = earlier.get(name)
            if other is None or other.info is None:
                return None, None, f"'{name}' is {'not declared before' if other is None else 'none'}"
            return other.info, dict(other.params), None
        case Ordinal(index):
            info, reason = _indexed(index, inventory, "declared device")
        case Alias() | Target():
            target = expand(term) if isinstance(term, Alias) else term
            params = dict(target.params)
            info, reason = _matching(target, inventory)
    if info is not None:
        reason = reason or _unsuitable(info, params, inventory) or (accepts(info) if accepts else None)
    return (None, None, reason) if reason else (info, params, None)


def _matching(target: Target, inventory: Sequence[DeviceInfo]) -> tuple[DeviceInfo | None, str | None]:
    of_scheme = [info for info in inventory if info.scheme == target.scheme]
    if not of_scheme:
        return None, f"no {target.scheme} device is declared"
    matches = [info for info in of_scheme if _same_arch(target.arch, info.arch)]
    if not matches:
        return None, f"no such arch; {target.scheme} devices are {', '.join(dict.fromkeys(i.arch for i in of_scheme))}"
    return _indexed(target.index, matches, "matching device")


def _indexed(index: int, candidates: Sequence[DeviceInfo], noun: str) -> tuple[DeviceInfo | None, str | None]:
    if index < len(candidates):
        return candidates[index], None
    return None, f"index {index} out of range, {len(candidates)} {noun}{'' if len(candidates) == 1 else 's'}"


def _same_arch(wanted: str, declared: str) -> bool:
    """A user's YAML may be called by its path or its name; two paths are the same file only if they are the same text."""
    if wanted in ("*", declared):
        return True
    by_path = [arch.endswith((".yaml", ".yml")) for arch in (wanted, declared)]
    return by_path.count(True) == 1 and _arch_name(wanted) == _arch_name(declared)


def _arch_name(arch: str) -> str:
    return PurePath(arch).stem if arch.endswith((".yaml", ".yml")) else arch


def _unsuitable(info: DeviceInfo, params: Mapping[str, Value], inventory: Sequence[DeviceInfo]) -> str | None:
    unsupported = [key for key in params if key not in PARAMS_OF[info.scheme]]
    if unsupported:
        return f"params unsupported by {info.scheme} devices: {', '.join(unsupported)}"
    mesh = params.get("mesh", (1, 1))
    if _fits(mesh, info):
        return None
    others = [
        other.spec
        for other in inventory
        if (other.scheme, other.arch) == (info.scheme, info.arch) and _fits(mesh, other)
    ]
    where = f"it fits {', '.join(others)}" if others else "it fits no other device of this arch"
    return f"mesh {_by(mesh)} does not fit, {info.spec} has {_by(info.mesh_shape)}; {where}"


def _fits(mesh: Any, info: DeviceInfo) -> bool:
    return mesh[0] <= info.mesh_shape[0] and mesh[1] <= info.mesh_shape[1]


def _by(shape: Any) -> str:
    return f"{shape[0]}x{shape[1]}"


def _merge_params(choices: Mapping[str, Choice]) -> dict[str, Choice]:
    """`choices` with all choices of one device holding the params of each of them."""
    merged, asked_by = {}, {}
    for choice in choices.values():
        for key, value in choice.params.items():
            first = asked_by.setdefault((_id(choice), key), choice)
            if first.params[key] != value:
                raise _conflict(choice.info, key, first, choice)
            merged.setdefault(_id(choice), {})[key] = value
    return {
        name: choice if choice.info is None else replace(choice, params=dict(merged.get(choice.info.id, {})))
        for name, choice in choices.items()
    }


def _id(choice: Choice) -> int:
    return cast(DeviceInfo, choice.info).id


def _conflict(info: Any, key: str, first: Choice, second: Choice) -> DeviceConfigConflict:
    sides = [{"name": side.name, "spec": str(side.spec), key: side.params[key]} for side in (first, second)]
    return DeviceConfigConflict(
        f"device #{info.id} {info.spec} is requested with two values of {key}: by {first.spec} and by {second.spec}",
        where={"device": info.spec, "key": key, "sides": sides},
        hint=f"give {key} once (with names, '@{first.name}' is the same device again), or choose another device",
    )


def _warn_of_queues(choice: Choice) -> None:
    wanted = cast(int, choice.params.get("cqs", 1))
    if choice.info is not None and wanted > choice.info.queues:
        message = f"{choice.name}: cqs={wanted}, but {choice.info.spec} has {choice.info.queues} hardware queues"
        warnings.warn(f"{message}; the others exist in simulation only", TensimWarning, stacklevel=3)


def _default(wanted: str | None, choices: Mapping[str, Choice]) -> str | None:
    present = [name for name, choice in choices.items() if choice.info is not None]
    if wanted is None:
        return present[0] if present else None
    if wanted in present:
        return wanted
    close = difflib.get_close_matches(wanted, present, 1, 0.5)
    raise DeviceNotFound(
        f"the default device '{wanted}' is {'none' if wanted in choices else 'not declared'}",
        where={"name": wanted, "terms": [], "available": present, "closest": close[0] if close else None},
        hint=f"did you mean '{close[0]}'?" if close else f"the devices are: {', '.join(present) or 'none'}",
    )


def _not_found(
    name: str, spec: NamedSpec, reasons: Iterable[tuple[Term, str]], inventory: Sequence[DeviceInfo]
) -> DeviceNotFound:
    available = [info.spec for info in inventory]
    closest = _closest(spec.terms, available)
    lines = [f"no term of device '{name}' ({spec}) is viable:"]
    lines += [f"  {term}: {reason}" for term, reason in reasons]
    lines += [f"available: {', '.join(available) or 'nothing'}"] + [f"closest match: {closest}"] * bool(closest)
    advice = f"'{closest}' is there" if closest else "declare the device in the System"
    return DeviceNotFound(
        "\n".join(lines),
        where={
            "name": name,
            "terms": [{"term": str(term), "reason": reason} for term, reason in reasons],
            "available": available,
            "closest": closest,
        },
        hint=f"{advice}; more terms after ',' are tried in order; 'NAME?=...,none' makes a device optional",
    )


def _closest(terms: Iterable[Term], available: Sequence[str]) -> str | None:
    """The available spec that is nearest to any term; None if none is near."""
    wanted = [str(expand(term) if isinstance(term, Alias) else term) for term in terms]
    near = [(word, spec) for word in wanted for spec in difflib.get_close_matches(word, available, 1, 0.5)]
    return max(near, key=lambda pair: difflib.SequenceMatcher(None, *pair).ratio())[1] if near else None
