"""Queue masks, affinities, promises and choices.

Source: docs/hardware/runtime.md#affinity-algebra and docs/hardware/runtime.md#events-queues-affinity.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensim.runtime.errors import AffinityConflict, BadQueueMask, UnresolvedPromise
from tensim.runtime.placement import (
    ANY,
    Affinity,
    Optimal,
    Promise,
    check_mask,
    choose,
    executable_with,
    join_and,
    join_or,
    pick_queue,
    queue_mask,
    resolve,
)
from tensim.sim.errors import UsageError


class Device:
    """Something to place work on."""

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return self.name


A, B, C = Device("A"), Device("B"), Device("C")
NO_QUESTION = {"load": None, "cost": None}  # for policies that ask neither


# Queue masks


def test_a_mask_is_bits_or_queue_numbers():
    """T21: a promise may list its queues."""
    assert ANY == 2**64 - 1
    assert queue_mask([1]) == 0b10 and queue_mask((0, 2, 2)) == 0b101 and queue_mask([63]) == 1 << 63
    assert queue_mask(0b11) == 0b11 and queue_mask(ANY) == ANY
    assert Promise("dev_b", [1]) == Promise("dev_b", 0b10)
    assert Affinity(A, [0, 1]) == Affinity(A, 3)
    assert Affinity(A).queues == Promise("x").queues == ANY


@pytest.mark.parametrize("mask", [0, [], -1, 1 << 64, [64], [-1], ["0"], "01", 1.0, True, None])
def test_what_is_no_mask(mask):
    """T25: an empty mask, or one beyond 64 queues, wherever it is given."""
    for make in (queue_mask, lambda mask: Affinity(A, mask), lambda mask: Promise("x", mask)):
        with pytest.raises(BadQueueMask) as caught:
            make(mask)
        assert caught.value.hint


def test_a_mask_is_checked_against_the_device():
    """T25: bits out of range raise, except in ANY, which means all queues there are."""
    assert check_mask(ANY, 2) == 0b11 and check_mask(ANY, 64) == ANY
    assert check_mask(0b10, 2) == 0b10 and check_mask([1], 2) == 0b10
    with pytest.raises(BadQueueMask, match=r"0x16 names queues \[2, 4\], the device has 2") as caught:
        check_mask(0b10110, 2)
    assert caught.value.where == {"mask": 0b10110, "queues": 2}
    with pytest.raises(BadQueueMask, match="empty"):
        check_mask(0, 2)
    with pytest.raises(BadQueueMask, match="the device has 0"):
        check_mask(ANY, 0)


def test_the_queue_with_the_fewest_commands_is_picked():
    """T26: fewest outstanding commands, ties to the lowest id; a single bit is obeyed."""
    assert pick_queue(ANY, [3, 1, 2]) == 1
    assert pick_queue(ANY, [2, 1, 1]) == 1
    assert pick_queue(0b101, [3, 1, 3]) == 0
    assert pick_queue(0b001, [9, 0, 0]) == 0
    with pytest.raises(BadQueueMask):
        pick_queue(0b1000, [0, 0, 0])


# The algebra


def test_executable_with_on_one_device():
    """T25, I10: same device and the queues a subset; a missing affinity is always fine."""
    assert executable_with(Affinity(A, 0b01), Affinity(A, 0b11))
    assert not executable_with(Affinity(A, 0b11), Affinity(A, 0b01))
    assert not executable_with(Affinity(A, 0b01), Affinity(B, 0b01))
    assert executable_with(Affinity(A), None) and executable_with(None, Affinity(A)) and executable_with(None, None)


def test_a_promise_is_on_the_device_of_its_name():
    """T25: before they are resolved, promises of one name are one device, and no other."""
    assert executable_with(Promise("x", [0]), Promise("x"))
    assert not executable_with(Promise("x"), Promise("y"))
    assert not executable_with(Promise("x"), Affinity("x"))
    assert join_or(Promise("x", [0]), Promise("x", [1])) == Promise("x", [0, 1])
    assert join_and(Promise("x", [0, 1]), Promise("x", [1, 2])) == Promise("x", [1])


def test_an_optimal_is_fine_only_if_all_its_members_are():
    """T25, I10: on either side."""
    both = Optimal((Affinity(A, 1), Affinity(B, 1)))
    assert not executable_with(both, Affinity(A))
    assert not executable_with(Affinity(A, 1), both)
    twice = Optimal((Affinity(A, 1), Affinity(A, 2)))
    assert executable_with(twice, Affinity(A, 3)) and not executable_with(twice, Affinity(A, 1))
    assert executable_with(both, None)


def test_or_of_two_devices_is_a_choice():
    """T25: one device: union of the masks; several: an Optimal in the order given."""
    assert join_or(Affinity(A, 1), Affinity(A, 4)) == Affinity(A, 5)
    assert join_or(Affinity(A, 1), Affinity(B, 2)) == Optimal((Affinity(A, 1), Affinity(B, 2)))
    several = join_or(Optimal((Affinity(A, 1), Affinity(B, 2)), "least_loaded"), Affinity(A, 2))
    assert several == Optimal((Affinity(A, 3), Affinity(B, 2)), "least_loaded")
    assert join_or(Affinity(C), several).policy == "least_loaded"


def test_and_of_two_devices_is_nothing():
    """T25: same device and common queues: those; else None."""
    assert join_and(Affinity(A, 3), Affinity(A, 6)) == Affinity(A, 2)
    assert join_and(Affinity(A, 1), Affinity(A, 2)) is None
    assert join_and(Affinity(A), Affinity(B)) is None
    several = Optimal((Affinity(A, 3), Affinity(B, 1), Affinity(C)), "lowest_cost")
    assert join_and(several, Affinity(A, 2)) == Affinity(A, 2)
    assert join_and(Optimal((Affinity(C, 1), Affinity(A, 1)), "lowest_cost"), several) == Optimal(
        (Affinity(C, 1), Affinity(A, 1)), "lowest_cost"
    )


def test_two_policies_do_not_join():
    """T25: AffinityConflict with both sides, when more than one device is left to choose from."""
    one = Optimal((Affinity(A), Affinity(B)), "first")
    other = Optimal((Affinity(A), Affinity(B)), "least_loaded")
    for join in (join_or, join_and):
        with pytest.raises(AffinityConflict, match="one chooses by first, the other by least_loaded") as caught:
            join(one, other)
        assert caught.value.where["sides"] == [repr(one), repr(other)] and caught.value.hint


masks = st.integers(1, ANY)
on_a = st.builds(Affinity, st.just(A), masks)
affinities = st.builds(Affinity, st.sampled_from([A, B]), st.integers(1, 7))
promises = st.builds(Promise, st.sampled_from(["x", "y"]), st.integers(1, 7))
members = affinities | promises
placements = members | st.builds(Optimal, st.lists(members, min_size=1, max_size=4).map(tuple))


def places(placement):
    """The set of (device or promise, queue) that a placement allows among the first queues."""
    choices = placement.choices if isinstance(placement, Optimal) else [placement] if placement else []
    devices = [(choice.name if isinstance(choice, Promise) else choice.device, choice.queues) for choice in choices]
    return {(device, queue) for device, mask in devices for queue in range(3) if mask & 1 << queue}


@given(on_a, on_a, on_a)
def test_or_on_one_device_is_commutative_and_associative(a, b, c):
    """T25, I10; and each side is executable with the union."""
    assert join_or(a, b) == join_or(b, a)
    assert join_or(a, join_or(b, c)) == join_or(join_or(a, b), c)
    assert executable_with(a, join_or(a, b)) and executable_with(b, join_or(a, b))


@given(on_a, on_a)
def test_and_on_one_device_is_executable_with_both(a, b):
    """T25, I10: the intersection is a subset of both, or there is none."""
    both = join_and(a, b)
    if both is None:
        assert a.queues & b.queues == 0
    else:
        assert executable_with(both, a) and executable_with(both, b)
        assert both.queues == a.queues & b.queues


@given(placements, placements)
def test_or_is_the_union_and_and_the_intersection_of_places(a, b):
    """T25, I10: for choices and promises too; `and` is a subset of both."""
    assert places(join_or(a, b)) == places(a) | places(b)
    assert places(join_and(a, b)) == places(a) & places(b)


@given(placements)
def test_a_missing_affinity_gives_way(a):
    """T25, I10: None is the neutral element of both, and always executable."""
    for join in (join_or, join_and):
        assert join(a, None) == join(None, a) == a
    assert join_or(None, None) is None and join_and(None, None) is None
    assert executable_with(a, None) and executable_with(None, a)


@given(st.lists(members, min_size=1, max_size=4), members)
def test_an_optimal_accepts_what_all_its_members_accept(choices, other):
    """T25, I10."""
    optimal = Optimal(tuple(choices))
    assert executable_with(optimal, other) == all(executable_with(choice, other) for choice in choices)
    assert executable_with(other, optimal) == all(executable_with(other, choice) for choice in choices)


# Promises and choices


def test_a_promise_becomes_the_device_of_the_map():
    """T21: `Promise("dev_b", [1])` is queue 1 of the device called dev_b; names in affinities are looked up too."""
    devices = {"dev_a": A, "dev_b": B}
    assert resolve(Promise("dev_b", [1]), devices) == Affinity(B, 0b10)
    assert resolve(Affinity("dev_a", 1), devices) == Affinity(A, 1)
    assert resolve(Affinity(C), devices) == Affinity(C)
    both = Optimal((Promise("dev_b"), Affinity("dev_a", 2), Affinity(C)), "least_loaded")
    assert resolve(both, devices) == Optimal((Affinity(B), Affinity(A, 2), Affinity(C)), "least_loaded")


def test_a_missing_affinity_is_the_default_device():
    """T21: nothing said means the default device, any queue; None without one."""
    assert resolve(None, {"a": A}, default=A) == Affinity(A)
    assert resolve(None, {"a": A}) is None


@pytest.mark.parametrize(
    "placement", [Promise("dev_c"), Affinity("dev_c"), Optimal((Promise("dev_a"), Promise("dev_c")))]
)
def test_a_promise_of_no_device_lists_the_devices(placement):
    """T21: a missing name raises, with the names there are and a near one."""
    with pytest.raises(UnresolvedPromise, match="no device is called 'dev_c'; the devices are: dev_a, dev_b") as caught:
        resolve(placement, {"dev_a": A, "dev_b": B})
    assert caught.value.where["devices"] == ["dev_a", "dev_b"]
    assert "did you mean 'dev_" in caught.value.hint
    with pytest.raises(UnresolvedPromise, match="the devices are: none") as caught:
        resolve(Promise("gpu"), {})
    assert "gpu=SPEC" in caught.value.hint


def test_an_absent_optional_device_is_no_choice():
    """T23: a device that is None drops out of a choice; alone it is an error."""
    devices = {"accel": None, "cpu": C}
    assert resolve(Optimal((Promise("accel"), Promise("cpu"))), devices) == Optimal((Affinity(C),))
    for placement in (Promise("accel"), Optimal((Promise("accel"), Affinity("accel")))):
        with pytest.raises(UnresolvedPromise, match="'accel' is an optional device that is absent"):
            resolve(placement, devices)


ACROSS = {(A, B): 25.0, (B, A): 25.0, (A, C): 60.0, (B, C): 20.0, (A, A): 0.0, (B, B): 0.0}  # transfer times, ns


@pytest.mark.parametrize(
    "policy, expected",
    [
        ("first", C),
        ("least_loaded", B),
        ("lowest_cost", A),
        (lambda choices: choices[-1], B),
        (lambda choices: choices[1], A),
    ],
)
def test_a_policy_chooses_its_device(policy, expected):
    """T26: data lies on A; C comes first, B is idle, A costs nothing."""
    outstanding = {A: [4, 4], B: [0, 1], C: [2, 2]}
    wanted = Optimal((Affinity(C), Affinity(A, 0b01), Affinity(B)), policy)
    picked = choose(
        wanted,
        load=lambda affinity: min(
            count for queue, count in enumerate(outstanding[affinity.device]) if affinity.queues & 1 << queue
        ),
        cost=lambda affinity: ACROSS[A, affinity.device],
    )
    assert picked in wanted.choices and picked.device is expected


def test_ties_go_to_the_first_choice():
    """T26: equal load or cost."""
    for policy in ("least_loaded", "lowest_cost"):
        wanted = Optimal((Affinity(B), Affinity(A)), policy)
        assert choose(wanted, load=lambda _: 1, cost=lambda _: 1) == Affinity(B)


def test_an_affinity_is_its_own_choice():
    assert choose(Affinity(A, 2), **NO_QUESTION) == Affinity(A, 2)


def test_a_policy_returns_one_of_its_choices():
    """T26: a function's answer is checked."""
    with pytest.raises(UsageError, match="the policy returned Affinity") as caught:
        choose(Optimal((Affinity(A),), lambda _: Affinity(B)), **NO_QUESTION)
    assert "one of the choices" in caught.value.hint


def test_promises_are_resolved_before_they_are_chosen():
    """T21: a promise that is left is an error, wherever it stands."""
    for placement in (Promise("x"), Affinity("x"), Optimal((Affinity(A), Promise("x")))):
        with pytest.raises(UnresolvedPromise, match="'x' is not yet a device"):
            choose(placement, **NO_QUESTION)


@pytest.mark.parametrize(
    "choices, policy, message",
    [
        ((), "first", "no choices"),
        (Affinity(A), "first", "no choices"),
        ("AB", "first", "no choices"),
        ((A,), "first", "cannot choose A"),
        ((Optimal((Affinity(A),)),), "first", "cannot choose Optimal"),
        ((None,), "first", "cannot choose None"),
        ((Affinity(A),), "least_load", "no policy 'least_load'"),
        ((Affinity(A),), None, "no policy 'None'"),
    ],
)
def test_what_is_no_optimal(choices, policy, message):
    """T26: empty lists, wrong members and unknown policies are refused when they are written."""
    with pytest.raises(UsageError, match=message) as caught:
        Optimal(choices, policy)
    assert caught.value.hint
