"""Selection (docs/hardware/runtime.md#device-specs): which declared device a spec gets, and the reason of every miss."""

import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensim.runtime import specs
from tensim.runtime.errors import DeviceConfigConflict, DeviceNotFound
from tensim.runtime.selection import DeviceInfo, select
from tensim.runtime.specs import Fallback, NoneTerm, Target, parse_devices, register_alias
from tensim.sim.errors import TensimWarning


def inventory(*kinds):
    """DeviceInfos for 'sim://wormhole_b0', 'sim://blackhole 1x2', ... in this order; specs and indices as a system gives them."""
    result = []
    for number, kind in enumerate(kinds):
        head, _, mesh = kind.partition(" ")
        scheme, _, arch = head.partition("://")
        index = sum((info.scheme, info.arch) == (scheme, arch) for info in result)
        spec = str(Target(scheme, arch, index))
        shape = tuple(map(int, mesh.split("x"))) if mesh else (1, 1)
        result.append(DeviceInfo(number, spec, scheme, arch, index, True, None, shape, 2, 1000.0, (8, 8), arch))
    return result


MIXED = inventory(
    "host://local",
    "sim://blackhole",
    "sim://wormhole_b0 1x2",
    "sim://blackhole",
    "sim://wormhole_b0",
    "embedded://grayskull",
)


def ids(text, devices=MIXED, **options):
    """Name -> id of the device chosen, None for an absent one."""
    chosen = select(parse_devices(text), devices, **options)
    return {name: choice.info and choice.info.id for name, choice in chosen.items()}


def first_id(text, devices=MIXED, **options):
    return ids(text, devices, **options)["device0"]


def reasons(text, devices=MIXED, **options):
    """The verdicts on the terms of the last device of `text`."""
    return [reason for _, reason in list(select(parse_devices(text), devices, **options).values())[-1].reasons]


def miss(text, devices=MIXED, **options):
    """The reasons with which no term of `text` is viable."""
    with pytest.raises(DeviceNotFound) as caught:
        select(parse_devices(text), devices, **options)
    return [entry["reason"] for entry in caught.value.where["terms"]]


def test_an_index_counts_matching_devices_and_an_ordinal_all():
    """T19: in a mixed system `sim://wormhole_b0[1]` skips blackholes, `#1` does not."""
    assert first_id("sim://wormhole_b0") == 2
    assert first_id("sim://wormhole_b0[1]") == 4
    assert first_id("#1") == 1
    assert first_id("sim://blackhole[1]") == 3
    assert [first_id(f"sim://*[{n}]") for n in range(4)] == [1, 2, 3, 4]
    assert first_id("embedded://*") == 5
    assert first_id("local") == 0


def test_the_spec_of_every_declared_device_selects_it():
    """T19: `.spec` strings re-parse."""
    assert [first_id(info.spec) for info in MIXED] == [info.id for info in MIXED]


def test_a_list_falls_back_to_its_first_viable_term():
    """T18: without a blackhole, its wormhole_b0 is chosen; with neither, `@cpu` is the same device."""
    text = "cpu=local; gpu=sim://blackhole,sim://wormhole_b0[1],@cpu"
    assert ids(text)["gpu"] == 1
    two_wormholes = inventory("host://local", "sim://wormhole_b0", "sim://wormhole_b0")
    assert ids(text, two_wormholes)["gpu"] == 2
    host_only = select(parse_devices(text), inventory("host://local"))
    assert host_only["gpu"].info is host_only["cpu"].info
    assert host_only["gpu"].term == Fallback("cpu")


def test_a_fallback_has_the_params_of_its_target():
    """T18: `@x` is the same device with the same settings."""
    chosen = select(parse_devices("a=sim://blackhole?cqs=2&seed=3; b=sim://quasar,@a"), MIXED)
    assert chosen["b"].params == chosen["a"].params == {"cqs": 2, "seed": 3}


def test_an_optional_device_may_be_absent():
    """T23: `accel?=sim://quasar,none` is None; so is a fallback to it, which then is a miss."""
    chosen = select(parse_devices("accel?=sim://quasar,none; b?=@accel; c=@accel,local"), MIXED)
    assert chosen["accel"].info is None and chosen["accel"].term == NoneTerm() and chosen["accel"].params == {}
    assert chosen["b"].info is None
    assert chosen["c"].info.id == 0 and chosen["c"].reasons[0][1] == "'accel' is none"
    assert ids("accel?=sim://blackhole,none") == {"accel": 1}
    assert ids("accel?=sim://quasar") == {"accel": None}


@pytest.mark.parametrize(
    "text, reason",
    [
        ("sim://quasar", "no such arch; sim devices are blackhole, wormhole_b0"),
        ("sim://wormhole_b0[2]", "index 2 out of range, 2 matching devices"),
        ("host://local[1]", "index 1 out of range, 1 matching device"),
        ("#6", "index 6 out of range, 6 declared devices"),
        (
            "sim://blackhole?mesh=1x2",
            "mesh 1x2 does not fit, sim://blackhole has 1x1; it fits no other device of this arch",
        ),
        (
            "sim://wormhole_b0[1]?mesh=1x2",
            "mesh 1x2 does not fit, sim://wormhole_b0[1] has 1x1; it fits sim://wormhole_b0",
        ),
        ("t3000", "mesh 2x4 does not fit, sim://wormhole_b0 has 1x2; it fits no other device of this arch"),
        ("local?mesh=1x1&seed=1&timing=cycle", "params unsupported by host devices: mesh, timing"),
        ("embedded://grayskull?cqs=1", "params unsupported by embedded devices: cqs"),
        ("sim://blackhole?boot_ns=5", "params unsupported by sim devices: boot_ns"),
    ],
)
def test_every_miss_has_its_reason(text, reason):
    """T20: what is wrong with a term, with counts and shapes."""
    assert miss(text) == [reason]


def test_a_scheme_of_which_there_is_nothing():
    """T20: the reason names the scheme."""
    assert miss("local", inventory("sim://blackhole")) == ["no host device is declared"]
    assert miss("#0", []) == ["index 0 out of range, 0 declared devices"]


def test_a_program_may_refuse_a_device():
    """T20, T23: the reason of `accepts` is the reason of the miss, for targets, aliases and ordinals."""

    def only_wormhole(info):
        return None if info.arch == "wormhole_b0" else f"no program variant for {info.arch}"

    assert first_id("sim://blackhole,#0,local,wormhole_b0", accepts=only_wormhole) == 2
    assert reasons("sim://blackhole,#0,local,wormhole_b0", accepts=only_wormhole) == [
        "no program variant for blackhole",
        "no program variant for local",
        "no program variant for local",
        "chosen",
    ]
    assert miss("sim://blackhole", accepts=only_wormhole) == ["no program variant for blackhole"]


def test_not_found_says_everything():
    """T20: every term with its reason, the available specs, the nearest one."""
    with pytest.raises(DeviceNotFound) as caught:
        select(parse_devices("cpu=local; gpu=sim://wormhole_b[1],#9,sim://blackhole?mesh=8x8"), MIXED)
    error = caught.value
    assert error.where == {
        "name": "gpu",
        "terms": [
            {"term": "sim://wormhole_b[1]", "reason": "no such arch; sim devices are blackhole, wormhole_b0"},
            {"term": "#9", "reason": "index 9 out of range, 6 declared devices"},
            {
                "term": "sim://blackhole?mesh=8x8",
                "reason": "mesh 8x8 does not fit, sim://blackhole has 1x1; it fits no other device of this arch",
            },
        ],
        "available": [info.spec for info in MIXED],
        "closest": "sim://wormhole_b0[1]",
    }
    for entry in error.where["terms"]:
        assert f"{entry['term']}: {entry['reason']}" in str(error)
    assert "available: host://local, sim://blackhole, sim://wormhole_b0, sim://blackhole[1]" in str(error)
    assert "closest match: sim://wormhole_b0[1]" in str(error)
    assert "none' makes a device optional" in error.hint


def test_not_found_without_anything_near():
    """T20: no near match, nothing declared."""
    with pytest.raises(DeviceNotFound, match="available: nothing") as caught:
        select(parse_devices("local"), [])
    assert caught.value.where["closest"] is None
    assert "declare the device" in caught.value.hint


def test_aliases_are_expanded_when_they_are_tried(monkeypatch):
    """T22: a user's alias selects, its params are defaults, and those that are given win."""
    monkeypatch.setattr(specs, "_ALIASES", dict(specs._ALIASES))
    register_alias("lab", "sim://wormhole_b0?cqs=2&seed=5")
    chosen = select(parse_devices("a=lab[1]?seed=6; b=n300"), MIXED)
    assert chosen["a"].info.id == 4 and chosen["a"].params == {"cqs": 2, "seed": 6}
    assert chosen["b"].info.id == 2 and chosen["b"].params == {"mesh": (1, 2)}


def test_a_users_chip_by_name_and_by_path():
    """T18: an arch may be a YAML's name or path; two paths are two files."""
    mine = inventory("sim://chips/big.yaml", "sim://small")
    assert first_id("sim://chips/big.yaml", mine) == 0
    assert first_id("sim://big", mine) == 0
    assert first_id("sim://other/small.yaml", mine) == 1
    assert miss("sim://other/big.yaml", mine) == ["no such arch; sim devices are chips/big.yaml, small"]


def test_the_default_is_named_or_the_first_declared():
    """T21: `default=`, else the first declared device that is there; order is the text's, not the alphabet's."""
    text = "z?=sim://quasar,none; y=local; a=#1"
    assert select(parse_devices(text), MIXED).default == "y"
    assert select(parse_devices(text), MIXED, default="a").default == "a"
    assert select(parse_devices("local;#1"), MIXED).default == "device0"
    assert select(parse_devices("z?=none"), MIXED).default is None
    with pytest.raises(DeviceNotFound, match="the default device 'z' is none"):
        select(parse_devices(text), MIXED, default="z")
    with pytest.raises(DeviceNotFound, match="'gpuu' is not declared") as caught:
        select(parse_devices("gpu=#1"), MIXED, default="gpuu")
    assert caught.value.where["closest"] == "gpu" and "did you mean 'gpu'?" in caught.value.hint


def test_one_device_asked_for_twice_is_one_device():
    """T18: two specs of one device agree or name different keys; both get the params of both."""
    chosen = select(parse_devices("a=#1; b=sim://blackhole?cqs=2; c=blackhole?seed=1&cqs=2"), MIXED)
    assert chosen["a"].info is chosen["b"].info is chosen["c"].info
    assert chosen["a"].params == chosen["b"].params == chosen["c"].params == {"cqs": 2, "seed": 1}


def test_one_device_with_two_values_of_a_key():
    """T18: conflicting params of one physical device, with both sides."""
    with pytest.raises(DeviceConfigConflict, match="two values of cqs") as caught:
        select(parse_devices("a=blackhole?cqs=1; b=sim://*?cqs=2"), MIXED)
    assert caught.value.where == {
        "device": "sim://blackhole",
        "key": "cqs",
        "sides": [
            {"name": "a", "spec": "a=blackhole?cqs=1", "cqs": 1},
            {"name": "b", "spec": "b=sim://*?cqs=2", "cqs": 2},
        ],
    }
    assert "'@a' is the same device" in caught.value.hint
    assert ids("a=blackhole?cqs=1; b=blackhole[1]?cqs=2") == {"a": 1, "b": 3}


def test_more_queues_than_the_chip_has_is_a_warning():
    """T17: `cqs` goes to 64, two are the hardware's."""
    with pytest.warns(TensimWarning, match="gpu: cqs=3, but sim://blackhole has 2 hardware queues"):
        select(parse_devices("gpu=blackhole?cqs=3"), MIXED)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        select(parse_devices("gpu=blackhole?cqs=2"), MIXED)


def test_the_report_has_every_term_and_why():
    """T20: the dry run of a whole list."""
    chosen = select(parse_devices("cpu=local; gpu=sim://quasar,#2,@cpu; x?=none"), MIXED)
    assert str(chosen).splitlines() == [
        "cpu: #0 host://local",
        "  local: chosen",
        "gpu: #2 sim://wormhole_b0",
        "  sim://quasar: no such arch; sim devices are blackhole, wormhole_b0",
        "  #2: chosen",
        "  @cpu: not tried, an earlier term was chosen",
        "x: none",
        "  none: chosen",
        "default: cpu",
    ]


words = st.sampled_from(
    [
        "sim://quasar",
        "sim://blackhole[1]",
        "wormhole_b0[1]",
        "#4",
        "#9",
        "n300",
        "n300[1]",
        "t3000",
        "local?timing=cycle",
        "local",
    ]
)


@given(st.lists(words, min_size=1, max_size=5), st.lists(words, max_size=3))
def test_later_terms_never_change_the_choice(terms, others):
    """I12: the first viable term is chosen, whatever follows it."""
    viable = [term for term in terms if ids(f"a?={term}")["a"] is not None]
    choice = select(parse_devices(f"a?={','.join(terms)}"), MIXED)["a"]
    if not viable:
        assert choice.info is None
        return
    assert str(choice.term) == viable[0]
    kept = terms[: terms.index(viable[0]) + 1]
    changed = select(parse_devices(f"a?={','.join(kept + others)}"), MIXED)["a"]
    assert (changed.info, changed.term, changed.params) == (choice.info, choice.term, choice.params)
