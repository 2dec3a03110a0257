"""Where work may run: a device and some of its queues; promises of devices still unknown; choices among several.

A placement is an Affinity, a Promise, an Optimal, or None (nothing was said: anywhere). The algebra is that of IREE's
affinity attributes (docs/hardware/runtime.md#affinity-algebra), the types those of
docs/hardware/runtime.md#events-queues-affinity.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias, cast

from tensim.runtime.errors import AffinityConflict, BadQueueMask, UnresolvedPromise
from tensim.sim.errors import UsageError

if TYPE_CHECKING:
    from tensim.runtime.devices import AnyDevice

QueueMask = int  # bit q is set: queue q may be used
Queues: TypeAlias = QueueMask | Iterable[int]  # a mask, or numbers of queues
MAX_QUEUES = 64
ANY: QueueMask = (1 << MAX_QUEUES) - 1
POLICIES = ("first", "least_loaded", "lowest_cost")


def queue_mask(queues: Queues) -> QueueMask:
    """The mask of `queues`, which is a mask or queue numbers as `[1]`. BadQueueMask if it is empty or beyond 64 queues."""
    mask = queues
    if not isinstance(queues, int) and isinstance(queues, Iterable):
        numbers = list(queues)
        if not all(isinstance(number, int) and 0 <= number < MAX_QUEUES for number in numbers):
            raise _bad_mask(f"queues {numbers} are not numbers from 0 to {MAX_QUEUES - 1}", queues, MAX_QUEUES)
        mask = sum(1 << number for number in set(numbers))
    if not isinstance(mask, int) or isinstance(mask, bool) or not 0 <= mask <= ANY:
        raise _bad_mask(f"{mask!r} is not a mask of up to {MAX_QUEUES} queues", queues, MAX_QUEUES)
    if mask == 0:
        raise _bad_mask("the queue mask is empty", queues, MAX_QUEUES)
    return mask


def check_mask(mask: Queues, n_queues: int) -> QueueMask:
    """The queues of `mask` that a device with `n_queues` has, as a mask: all for ANY. BadQueueMask if it names others or none."""
    have = (1 << n_queues) - 1
    mask = queue_mask(mask)
    if mask == ANY and have:
        return have
    if mask & ~have:
        absent = [queue for queue in range(MAX_QUEUES) if mask & ~have & 1 << queue]
        raise _bad_mask(f"queue mask {mask:#x} names queues {absent}, the device has {n_queues}", mask, n_queues)
    return mask


def _bad_mask(message: str, mask: object, n_queues: int) -> BadQueueMask:
    return BadQueueMask(
        message,
        where={"mask": mask, "queues": n_queues},
        hint="name queues that the device has (cqs in its spec is their number), or give ANY",
    )


def pick_queue(mask: Queues, outstanding: Sequence[int]) -> int:
    """The queue of `mask` with the fewest `outstanding` commands (one count per queue of the device); ties go to the lowest."""
    allowed = check_mask(mask, len(outstanding))
    return min((queue for queue in range(len(outstanding)) if allowed & 1 << queue), key=outstanding.__getitem__)


@dataclass(frozen=True)
class Affinity:
    """Run on `device` (an object, or the name of one until it is resolved), on the queues of the mask; ids as `[1]` do too."""

    device: AnyDevice | str
    queues: QueueMask = ANY

    def __post_init__(self) -> None:
        object.__setattr__(self, "queues", queue_mask(self.queues))


@dataclass(frozen=True)
class Promise:
    """A device that will be called `name` when the program is bound; the queues as in an Affinity."""

    name: str
    queues: QueueMask = ANY

    def __post_init__(self) -> None:
        object.__setattr__(self, "queues", queue_mask(self.queues))


@dataclass(frozen=True)
class Optimal:
    """Any of `choices` (Affinities or Promises), which `policy` picks from when it is time.

    `first`: the first; `least_loaded`: fewest outstanding commands; `lowest_cost`: the cheapest; or a function that gets the
    tuple of Affinities and returns one of them.
    """

    choices: tuple[Member, ...]
    policy: str | Callable[[tuple[Affinity, ...]], Affinity] = "first"

    def __post_init__(self) -> None:
        if not isinstance(self.choices, Sequence) or isinstance(self.choices, str) or not self.choices:
            raise UsageError("Optimal has no choices", hint="give at least one Affinity or Promise in a tuple")
        object.__setattr__(self, "choices", tuple(self.choices))
        wrong = [choice for choice in self.choices if not isinstance(choice, Affinity | Promise)]
        if wrong:
            raise UsageError(f"Optimal cannot choose {wrong[0]!r}", hint="choices are Affinity or Promise, not nested")
        if self.policy not in POLICIES and not callable(self.policy):
            close = difflib.get_close_matches(str(self.policy), POLICIES, 1) or POLICIES
            raise UsageError(f"Optimal has no policy '{self.policy}'", hint=f"use {' or '.join(close)}, or a function")


Member: TypeAlias = Affinity | Promise
Placement: TypeAlias = Affinity | Promise | Optimal | None


def _members(placement: Affinity | Promise | Optimal) -> tuple[Member, ...]:
    return placement.choices if isinstance(placement, Optimal) else (placement,)


def _place(member: Member) -> tuple[type, object]:
    """What two members must share to be on one device; a promise is like nothing but a promise of the same name."""
    return (Promise, member.name) if isinstance(member, Promise) else (Affinity, member.device)


def _by_place(*placements: Affinity | Promise | Optimal) -> dict[tuple[type, object], Member]:
    """The members of `placements` by place, in order; those of one place are one member with all their queues."""
    result = {}
    for member in (member for placement in placements for member in _members(placement)):
        known = result.get(_place(member), member)
        result[_place(member)] = replace(member, queues=known.queues | member.queues)
    return result


def executable_with(a: Placement, b: Placement) -> bool:
    """May work placed at `a` run where `b` is wanted: same device and a's queues among b's.

    None on either side is always fine; an Optimal is fine only if all its members are.
    """
    if a is None or b is None:
        return True
    return all(_place(x) == _place(y) and not x.queues & ~y.queues for x in _members(a) for y in _members(b))


def join_or(a: Placement, b: Placement) -> Placement:
    """A placement that allows what `a` or `b` allows: one device with the union of the queues, or an Optimal of several.

    None gives way to the other. Two Optimals with different policies raise AffinityConflict.
    """
    if a is None or b is None:
        return b if a is None else a
    return _of_members(_by_place(a, b).values(), a, b)


def join_and(a: Placement, b: Placement) -> Placement:
    """A placement that allows what both `a` and `b` allow: one device with the queues they share, or an Optimal of several.

    As an argument None gives way to the other; from two placements, None says that they share nothing. Two Optimals with
    different policies raise AffinityConflict.
    """
    if a is None or b is None:
        return b if a is None else a
    others = _by_place(b)
    shared = [
        replace(member, queues=member.queues & others[place].queues)
        for place, member in _by_place(a).items()
        if place in others and member.queues & others[place].queues
    ]
    return _of_members(shared, a, b) if shared else None


def _of_members(members: Iterable[Member], a: Placement, b: Placement) -> Affinity | Promise | Optimal:
    """One member as it is; several as an Optimal with the policy of `a` and `b`."""
    members = tuple(members)
    if len(members) == 1:
        return members[0]
    policies = [placement.policy for placement in (a, b) if isinstance(placement, Optimal)] or ["first"]
    if policies[0] != policies[-1]:
        raise AffinityConflict(
            f"two Optimals cannot be joined: one chooses by {policies[0]}, the other by {policies[1]}",
            where={"sides": [repr(a), repr(b)]},
            hint="give both the same policy",
        )
    return Optimal(members, policies[0])


def resolve(placement: Placement, devices: Mapping, *, default: AnyDevice | None = None) -> Affinity | Optimal | None:
    """`placement` with promises and device names replaced by the devices of the map (name -> device, None if absent).

    None becomes Affinity(default), if there is a default device. An Optimal loses its absent members; the rest is an Optimal
    still. UnresolvedPromise if a name is not in the map, or if nothing is left because the devices are absent.
    """
    if placement is None:
        return None if default is None else Affinity(default)
    present = [
        found for found in (_resolved(member, devices) for member in _members(placement)) if found.device is not None
    ]
    if not present:
        names = ", ".join(f"'{_name(member)}'" for member in _members(placement))
        raise _unresolved(
            f"{names} is an optional device that is absent", placement, devices, "bind to a device, or add a choice"
        )
    return replace(placement, choices=tuple(present)) if isinstance(placement, Optimal) else present[0]


def _name(member: Member) -> str | None:
    """The name that is to be looked up; None if the member holds its device."""
    if isinstance(member, Promise):
        return member.name
    return member.device if isinstance(member.device, str) else None


def _resolved(member: Member, devices: Mapping[str, AnyDevice | None]) -> Affinity:
    name = _name(member)
    if name is None:
        return cast(Affinity, member)
    if name not in devices:
        close = difflib.get_close_matches(name, devices, 1, 0.5)
        advice = f"did you mean '{close[0]}'?" if close else f"declare it, as '{name}=SPEC'"
        raise _unresolved(f"no device is called '{name}'", member, devices, advice)
    return Affinity(cast("AnyDevice", devices[name]), member.queues)  # None while `resolve` drops the absent ones


def _unresolved(
    message: str, placement: Placement, devices: Mapping[str, AnyDevice | None], hint: str
) -> UnresolvedPromise:
    names = ", ".join(devices) or "none"
    where = {"placement": repr(placement), "devices": list(devices)}
    return UnresolvedPromise(f"{message}; the devices are: {names}", where=where, hint=hint)


def choose(
    placement: Affinity | Optimal, *, load: Callable[[Affinity], float], cost: Callable[[Affinity], float]
) -> Affinity:
    """The Affinity that a resolved placement comes to now: itself, or what the policy of an Optimal picks (ties: the first).

    `load(affinity)`: commands outstanding on its queues; `cost(affinity)`: estimated time there (ns); each is called
    only by its policy. UsageError if a policy function returns something else than one of the choices; UnresolvedPromise
    if a promise or a device name is left.
    """
    if isinstance(placement, Affinity) and not isinstance(placement.device, str):
        return placement
    for member in _members(placement):
        if _name(member) is not None:
            raise UnresolvedPromise(
                f"'{_name(member)}' is not yet a device",
                where={"placement": repr(placement)},
                hint="call resolve(placement, devices) first",
            )
    policy, choices = cast(Optimal, placement).policy, cast("tuple[Affinity, ...]", cast(Optimal, placement).choices)
    match policy:
        case "first":
            return choices[0]
        case "least_loaded":
            return min(choices, key=load)
        case "lowest_cost":
            return min(choices, key=cost)
    picked = cast("Callable[[tuple[Affinity, ...]], Affinity]", policy)(choices)
    if picked not in choices:
        raise UsageError(f"the policy returned {picked!r}", hint="a policy function returns one of the choices it gets")
    return picked
