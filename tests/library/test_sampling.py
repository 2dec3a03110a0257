"""Launches that stand for others: which are equal, what they take, and how far a sampled run is from the full one."""

import json
import textwrap
from types import SimpleNamespace

import pytest

from tensim.library.sampling import Observed, Sampler
from tensim.sim.arch import load_arch
from tensim.sim.errors import UsageError
from tensim.sim.host.commands import DataMovementParameters
from tensim.sim.host.frozen_program import FrozenCircularBuffer, FrozenKernel, FrozenProgram
from tests.library.test_device import COPY, launches

ARCH = load_arch("blackhole")
KERNEL = SimpleNamespace(name="reader")
BASE = 0x200000


def program(*, args=(BASE, 8, BASE + 2048), core=(0, 0), kernel=KERNEL, size=4096):
    reader = FrozenKernel(kernel, DataMovementParameters(0, 0, 0), (core,), ((core, args),), ())
    buffer = FrozenCircularBuffer((core,), 0x20000, size, ((0, 5),), ((0, 2048),), ((0, 32, 32),), True)
    return FrozenProgram(1, (reader,), (buffer,), (), 0)


def operation(name="ttnn.add", shape=(1, 1, 32, 32), address=BASE, **settings):
    tensor = {"shape": [*shape], "dtype": "bfloat16", "buffer": "DRAM", "address": address}
    return {"name": name, "tensors": [tensor], "settings": settings}


@pytest.fixture
def sampler():
    return Sampler(2, ARCH)


def test_addresses_may_differ_as_long_as_each_takes_the_place_of_one_other(sampler):
    one = sampler.key(program(), operation())
    assert sampler.key(program(args=(BASE + 65536, 8, BASE)), operation(address=BASE + 65536)) == one
    assert sampler.key(program(args=(BASE, 8, BASE)), operation()) != one, "what was two buffers is one"


@pytest.mark.parametrize(
    "other",
    [
        (program(args=(BASE, 9, BASE + 2048)), operation()),
        (program(args=(BASE + 8, 8, BASE + 2048)), operation()),
        (program(core=(1, 0)), operation()),
        (program(kernel=SimpleNamespace(name="reader")), operation()),
        (program(size=8192), operation()),
        (program(), operation(name="ttnn.sub")),
        (program(), operation(shape=(1, 1, 64, 32))),
        (program(), operation(fidelity="HiFi4")),
        (program(), None),
    ],
)
def test_launches_that_differ(sampler, other):
    assert sampler.key(*other) != sampler.key(program(), operation())


def test_the_first_are_simulated_and_the_summary_says_how_many(sampler):
    key = sampler.key(program(), operation())
    for cycles in (1000, 1020):
        assert sampler.stands_for(key) is None
        sampler.note(key, Observed(SimpleNamespace(cycles=cycles), cycles, 0))
    assert [len(sampler.stands_for(key)) for _ in range(3)] == [2, 2, 2]
    summary = sampler.summary()
    assert (summary["simulated"], summary["stood_for"]) == (2, 3)
    assert summary["estimated_error_pct"] == pytest.approx(100 * 3 * 10 / 5050, abs=1e-3)


def test_one_occurrence_tells_no_error():
    sampler = Sampler(1, ARCH)
    sampler.note("key", Observed(SimpleNamespace(cycles=10), 10, 0))
    assert sampler.stands_for("key") and sampler.summary()["estimated_error_pct"] is None
    with pytest.raises(UsageError):
        Sampler(0, ARCH)


NO_REFRESH = ("--set", "dram.t_refi_ns=100000000")
REPEATED = """
class Config:
    '''Settings whose text holds where they lie.'''


Config.__module__ = "ttnn.configs"
kept = [Config() for _ in range(40)]
for config in kept:
    ttnn.decorators.FastOperation("ttnn.copy", lambda *tensors, **settings: copy())(tensor, config=config)
"""


def test_a_sampled_run_against_the_full_one(library, tmp_path):
    """The cycles and the clock agree within a percent; one launch in thirteen is simulated.  (A refresh of DRAM falls into one
    in five of launches as short as these.)
    """
    program = textwrap.dedent(launches(COPY, more=REPEATED)).split("for number in range(4):")[0] + "device.close()\n"
    found = {}
    for options in (("--numerics", "off"), ("--sample",)):
        file = tmp_path / "out.json"
        done = library.run(program, options=(*options, *NO_REFRESH, "--json", str(file)))
        assert done.returncode == 0, done.stderr
        found[options[0]] = json.loads(file.read_text()), done.stderr
    (full, _), (sampled, said) = found.values()
    assert len(full["operations"]) == len(sampled["operations"]) == 40
    assert sampled["cycles"] == pytest.approx(full["cycles"], rel=0.01)
    last = [one["operations"][-1]["started"] for one in (full, sampled)]
    assert last[1] == pytest.approx(last[0], rel=0.01)
    assert sampled["sampled"] | {"estimated_error_pct": 0} == {
        "simulated": 3,
        "stood_for": 37,
        "estimated_error_pct": 0,
    }
    assert sum("sampled" in one for one in sampled["operations"]) == 37
    assert "3 launches were simulated, 37 took the time of equal ones" in said and sampled["numerics"] == "off"
    # for kernels that read data
    done = library.run(program, options=("--sample", "--numerics", "fast", "--json", str(file)))
    assert json.loads(file.read_text())["numerics"] == "fast", done.stderr


@pytest.mark.parametrize(
    "options, why",
    [
        (("--sample", "--occurrences", "0"), "at least one launch"),
        (("--sample", "--timeline", "line.json"), "would hold that part alone"),
    ],
)
def test_options_that_do_not_go_together(library, options, why):
    done = library.run("import ttnn", options=options)
    assert done.returncode == 2 and why in done.stderr
