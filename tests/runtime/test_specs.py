"""Device specs.

Source: docs/hardware/runtime.md#device-specs: what reads, what does not and at which column, and that every spec renders back.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensim.runtime import specs
from tensim.runtime.errors import SpecSyntax
from tensim.runtime.specs import (
    Alias,
    Fallback,
    NamedSpec,
    NoneTerm,
    Ordinal,
    Target,
    expand,
    parse_devices,
    register_alias,
)
from tensim.sim.errors import UsageError


@pytest.fixture
def aliases(monkeypatch):
    """Registrations of a test end with it."""
    monkeypatch.setattr(specs, "_ALIASES", dict(specs._ALIASES))


def one(text):
    (spec,) = parse_devices(text)
    (term,) = spec.terms
    return term


@pytest.mark.parametrize(
    "text, term",
    [
        ("sim://wormhole_b0", Target("sim", "wormhole_b0")),
        ("sim://wormhole_b0[1]", Target("sim", "wormhole_b0", 1)),
        ("sim://*[12]", Target("sim", "*", 12)),
        ("host://local?cqs=1", Target("host", "local", 0, (("cqs", 1),))),
        ("embedded://grayskull?boot_ns=1.5e3", Target("embedded", "grayskull", 0, (("boot_ns", 1500.0),))),
        (
            "sim://../chips/my-chip.v2.yaml[1]?mesh=2x4",
            Target("sim", "../chips/my-chip.v2.yaml", 1, (("mesh", (2, 4)),)),
        ),
        (
            "sim://blackhole?timing=functional&cqs=64",
            Target("sim", "blackhole", 0, (("cqs", 64), ("timing", "functional"))),
        ),
        ("sim://blackhole?harvest=0x800", Target("sim", "blackhole", 0, (("harvest", 2048),))),
        (
            "sim://blackhole ? seed = 7 & clock_mhz = 1350.5 & l1_small=0 & trace_region = 4096",
            Target(
                "sim", "blackhole", 0, (("clock_mhz", 1350.5), ("l1_small", 0), ("seed", 7), ("trace_region", 4096))
            ),
        ),
        ("n300", Alias("n300")),
        ("n300[1]?cqs=2", Alias("n300", 1, (("cqs", 2),))),
        (" n300 [ 1 ] ", Alias("n300", 1)),
        ("#3", Ordinal(3)),
    ],
)
def test_a_term_reads_as_what_it_says(text, term):
    """T17: the valid strings, each with its term."""
    assert one(text) == term


def test_devices_keep_their_order_names_and_terms():
    """T17: several devices, optional ones, fallbacks; the text of each is kept."""
    text = "cpu = local ; gpu=sim://blackhole , sim://wormhole_b0[1],@cpu; accel ? = sim://quasar, none"
    assert parse_devices(text) == [
        NamedSpec("cpu", False, (Alias("local"),)),
        NamedSpec("gpu", False, (Target("sim", "blackhole"), Target("sim", "wormhole_b0", 1), Fallback("cpu"))),
        NamedSpec("accel", True, (Target("sim", "quasar"), NoneTerm())),
    ]
    assert [spec.text for spec in parse_devices(text)] == [
        "cpu = local",
        "gpu=sim://blackhole , sim://wormhole_b0[1],@cpu",
        "accel ? = sim://quasar, none",
    ]
    assert [spec.name for spec in parse_devices("local;n150;#0")] == [None, None, None]


@pytest.mark.parametrize(
    "text, column, expected",
    [
        # empty devices and terms
        ("", 1, "a device"),
        ("   ", 4, "a device"),
        ("local;", 7, "a device"),
        (";local", 1, "a device"),
        ("local,,n150", 7, "a device"),
        ("a=local, ,n150", 10, "a device"),
        ("a=", 3, "a device"),
        ("a=local;b=;c=local", 11, "a device"),
        ("a=local;", 9, "NAME= (name all devices or none)"),
        # ordinals
        ("cuda[x]", 6, specs.INDEX_WORDS),
        ("cuda[]", 6, specs.INDEX_WORDS),
        ("n300[-1]", 6, specs.INDEX_WORDS),
        ("n300[1", 7, "']'"),
        ("n300[1.5]", 7, "']'"),
        ("sim://wormhole_b0[one]", 19, specs.INDEX_WORDS),
        ("sim://wormhole_b0[1234567890]", 19, specs.INDEX_WORDS),
        ("sim://wormhole_b0[1][2]", 21, "','"),
        ("#", 2, specs.INDEX_WORDS),
        ("# 1", 2, specs.INDEX_WORDS),
        ("#x", 2, specs.INDEX_WORDS),
        ("#1?cqs=2", 3, "','"),
        # schemes, architectures, aliases
        ("smi://wormhole_b0", 1, "sim://"),
        ("a=local;b=replay://x", 11, "sim://"),
        ("sim://", 7, "an architecture"),
        ("sim:// wormhole_b0", 7, "an architecture"),
        ("sim://[1]", 7, "an architecture"),
        ("sim:/wormhole_b0", 4, "','"),
        ("wormhole_b0 n300", 13, "','"),
        ("sim://wormhole_b0 n300", 19, "';'"),
        ("local, n30", 8, "SCHEME://ARCH"),
        ("1chip", 1, "a device"),
        # names
        ("a=local;n300", 9, "NAME= (name all devices or none)"),
        ("local; a=n300", 8, "a device without a name"),
        ("a=local;b=n150; a=n300", 17, "a name not used before"),
        ("a==local", 3, "a device"),
        # fallbacks and none
        ("@cpu", 2, "a device declared earlier (there is none)"),
        ("a=@b;b=local", 4, "a device declared earlier (there is none)"),
        ("a=@a", 4, "a device declared earlier (there is none)"),
        ("cpu=local;b=n300,@ cpu", 19, "a name"),
        ("none", 1, "a device (none is allowed for NAME? only)"),
        ("a=n300,none", 8, "a device (none is allowed for NAME? only)"),
        ("a?=none,n300", 8, "the end"),
        ("a?=n300,none[0]", 13, "';'"),
        # params
        ("n300?", 6, f"a key ({', '.join(specs.PARAMS)})"),
        ("n300?cqs", 9, "'='"),
        ("n300?cqs=", 10, specs.PARAMS["cqs"][1]),
        ("n300?cqs=0", 10, specs.PARAMS["cqs"][1]),
        ("n300?cqs=65", 10, specs.PARAMS["cqs"][1]),
        ("n300?cqs=two", 10, specs.PARAMS["cqs"][1]),
        ("n300?cqs=2&", 12, f"a key ({', '.join(specs.PARAMS)})"),
        ("n300?cqs=2&&seed=1", 12, f"a key ({', '.join(specs.PARAMS)})"),
        ("n300?cqs=2&cqs=2", 12, "a key not given before"),
        ("n300?queues=2", 6, f"a key ({', '.join(specs.PARAMS)})"),
        ("sim://wormhole_b0?mesh=2", 24, specs.PARAMS["mesh"][1]),
        ("sim://wormhole_b0?mesh=0x2", 24, specs.PARAMS["mesh"][1]),
        ("sim://wormhole_b0?mesh=2x2x2", 24, specs.PARAMS["mesh"][1]),
        ("n300?timing=fast", 13, "cycle or functional"),
        ("n300?clock_mhz=0", 16, specs.PARAMS["clock_mhz"][1]),
        ("n300?clock_mhz=inf", 16, specs.PARAMS["clock_mhz"][1]),
        ("n300?clock_mhz=1e999", 16, specs.PARAMS["clock_mhz"][1]),
        ("n300?boot_ns=-1", 14, specs.PARAMS["boot_ns"][1]),
        ("n300?seed=1_000", 11, specs.PARAMS["seed"][1]),
        ("n300?seed=" + "9" * 5000, 11, specs.PARAMS["seed"][1]),
        ("n300?trace_region=-1", 19, specs.PARAMS["trace_region"][1]),
    ],
)
def test_what_is_wrong_is_named_by_its_column(text, column, expected):
    """T17: the invalid strings: column from 1, and what was expected there."""
    with pytest.raises(SpecSyntax) as caught:
        parse_devices(text)
    where = caught.value.where
    assert (where["text"], where["column"]) == (text, column)
    assert expected in where["expected"]
    assert caught.value.hint


@pytest.mark.parametrize(
    "text, near",
    [
        ("sin://wormhole_b0", "sim"),
        ("wormhole_bo", "wormhole_b0"),
        ("n300?cq=2", "cqs"),
        ("n300?clock=900", "clock_mhz"),
        ("encoder=local;b=@encodr", "encoder"),
    ],
)
def test_a_near_match_is_in_the_hint(text, near):
    """T17: misspelt schemes, aliases, keys and names."""
    with pytest.raises(SpecSyntax) as caught:
        parse_devices(text)
    assert f"did you mean '{near}'?" in caught.value.hint


def test_text_is_part_of_no_spec_equality():
    assert parse_devices("a = n300 ?cqs=2&seed=1") == parse_devices("a=n300?seed=1&cqs=2")
    assert parse_devices("sim://blackhole[0]") == parse_devices("sim://blackhole")


def test_built_in_aliases():
    """T22: what the names of boards and chips stand for."""
    assert str(expand(Alias("local"))) == "host://local"
    assert str(expand(Alias("n150"))) == "sim://wormhole_b0?mesh=1x1"
    assert str(expand(Alias("n300"))) == "sim://wormhole_b0?mesh=1x2"
    assert str(expand(Alias("t3000"))) == "sim://wormhole_b0?mesh=2x4"
    for chip in ("grayskull", "wormhole_b0", "blackhole"):
        assert str(expand(Alias(chip))) == f"sim://{chip}"


def test_what_an_alias_is_given_overrides_its_target(aliases):
    """T22: params and index of a user's alias are defaults; an alias of an alias is expanded when it is registered."""
    register_alias("lab", "sim://wormhole_b0[1]?cqs=2&seed=5")
    assert expand(one("lab")) == one("sim://wormhole_b0[1]?cqs=2&seed=5")
    assert expand(one("lab[3]?cqs=1&l1_small=64")) == one("sim://wormhole_b0[3]?cqs=1&seed=5&l1_small=64")
    register_alias("bench", "lab?seed=6")
    register_alias("lab", "sim://blackhole", overwrite=True)
    assert expand(one("lab")) == one("sim://blackhole")
    assert expand(one("bench")) == one("sim://wormhole_b0[1]?cqs=2&seed=6")


@pytest.mark.parametrize("name", ["sim", "host", "embedded"])
def test_a_scheme_is_no_alias(aliases, name):
    """Otherwise `sim` in a list of devices would mean something other than `sim://`."""
    with pytest.raises(UsageError, match=f"'{name}' cannot be an alias: it is a scheme"):
        register_alias(name, "sim://blackhole", overwrite=True)


def test_registering_twice_needs_overwrite(aliases):
    """T22: re-registering without overwrite raises and changes nothing."""
    register_alias("lab", "n300")
    with pytest.raises(UsageError, match="alias 'lab' already stands for sim://wormhole_b0.mesh=1x2") as caught:
        register_alias("lab", "n150")
    assert "overwrite=True" in caught.value.hint
    with pytest.raises(UsageError, match="already"):
        register_alias("local", "n150")
    assert expand(Alias("lab")) == expand(Alias("n300"))


@pytest.mark.parametrize("name", ["none", "", "a b", "1a", "a[0]", "é"])
def test_an_alias_is_an_identifier(aliases, name):
    with pytest.raises(UsageError, match="cannot be an alias"):
        register_alias(name, "n300")


@pytest.mark.parametrize("spec", ["n150,n300", "n150;n300", "a=n150", "#0", "a?=none"])
def test_an_alias_stands_for_one_target(aliases, spec):
    with pytest.raises(UsageError, match="is not a single target"):
        register_alias("lab", spec)


def test_an_alias_that_nobody_registered():
    with pytest.raises(SpecSyntax) as caught:
        expand(Alias("n30"))
    assert caught.value.where["column"] == 1 and "'n300'" in caught.value.hint


names = st.from_regex(rf"\A{specs.IDENT}\Z").filter(lambda name: name != "none")
indices = st.integers(0, 999_999_999)
values = {
    "mesh": st.tuples(st.integers(1, 4096), st.integers(1, 4096)),
    "cqs": st.integers(1, 64),
    "timing": st.sampled_from(specs.TIMINGS),
    "clock_mhz": st.floats(0, exclude_min=True, allow_infinity=False, allow_nan=False),
    "boot_ns": st.floats(0, allow_infinity=False, allow_nan=False),
    **{key: st.integers(0, 2**63 - 1) for key in ("l1_small", "trace_region", "harvest", "seed")},
}
params = st.fixed_dictionaries({}, optional=values).map(lambda given: tuple(sorted(given.items())))
arches = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S"), exclude_characters=",;?[]"), min_size=1)
terms = st.one_of(
    st.builds(Target, st.sampled_from(specs.SCHEMES), arches, indices, params),
    st.builds(Alias, st.sampled_from(sorted(specs._ALIASES)), st.none() | indices, params),
    st.builds(Ordinal, indices),
)


@st.composite
def devices(draw):
    """Lists of NamedSpec that the grammar can say."""
    if not draw(st.booleans()):
        return [NamedSpec(None, False, tuple(t)) for t in draw(st.lists(st.lists(terms, min_size=1), min_size=1))]
    result = []
    for name in draw(st.lists(names, min_size=1, unique=True)):
        earlier = [spec.name for spec in result]
        kinds = st.one_of(terms, st.builds(Fallback, st.sampled_from(earlier))) if earlier else terms
        chosen, optional = draw(st.lists(kinds, min_size=1)), draw(st.booleans())
        if optional and draw(st.booleans()):
            chosen.append(NoneTerm())
        result.append(NamedSpec(name, optional, tuple(chosen)))
    return result


@given(devices())
def test_specs_render_to_text_that_reads_back_equal(wanted):
    """T17: `str` of specs, joined, parses to equal specs."""
    assert parse_devices("; ".join(map(str, wanted))) == wanted


@given(st.text(alphabet="an1 =?&,;[]#@:/*._cqsmeh", max_size=40))
def test_any_text_is_read_or_refused_with_a_column_inside_it(text):
    """T17: no text makes anything but specs that render back, or a SpecSyntax."""
    try:
        found = parse_devices(text)
    except SpecSyntax as error:
        assert 1 <= error.where["column"] <= len(text) + 1
    else:
        assert parse_devices(";".join(map(str, found))) == found
