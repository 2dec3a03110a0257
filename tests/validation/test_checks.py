"""The kernels of validations make no mistakes: each family of them runs with checks."""

import functools
from pathlib import Path

import pytest

import tensim as tt
import tensim.validation as validation
from tensim.kernel_api import *  # noqa: F403
from tensim.runtime.systems import SystemConfig
from tensim.sim.errors import ProgramError
from tensim.ttnn import devices
from tensim.validation.dispatch import programs as dispatch
from tensim.validation.dram.programs import Bench
from tensim.validation.everything import modules, table_of
from tensim.validation.kernels.rows import FAMILIES
from tensim.validation.rows import cases_of

# ruff: noqa: F405
KINDS = modules()
SAMPLE = sorted((Path(validation.__file__).parent / "sample").glob("*.csv"))
# Configurations without times of all small kernels, the fastest of each variant (performance lab, as in the sample)
SMALL_KERNELS = Path(__file__).parent / "small_kernels.csv"


@pytest.fixture
def checked(monkeypatch):
    """Devices that validations open check kernels."""
    monkeypatch.setattr(tt, "create_device", functools.partial(tt.create_device, check=True))
    named = functools.partial(SystemConfig.named, check=True)
    monkeypatch.setattr(dispatch, "SystemConfig", type("Checked", (), {"named": staticmethod(named)}))
    before = devices.configure(check=True)
    yield
    devices.configure(check=before.check)


def cases(kind, path):
    """The cases of a file, [] when the kind does not read it."""
    table = table_of(path, KINDS[kind])
    return [case for _, case in cases_of(*table, KINDS[kind].read)[0]] if table else []


def smallest(kind):
    """{group: its smallest case} of the sample's rows of a kind."""
    groups = {}
    for case in (case for path in SAMPLE for case in cases(kind, path)):
        if case.group not in groups or case.work < groups[case.group].work:
            groups[case.group] = case
    return groups


def shortened(spec):
    """A program that makes the same mistakes in less time: a copy of a million pages has some hundreds for each core left."""
    if spec[0] == "page_copy":
        name, arch, size, pages = spec
        return name, arch, size, pages // 16
    return spec


@pytest.mark.parametrize(
    "kind", sorted(set(KINDS) - {"kernels", "operations", "fabric"})
)  # no fabric with checks (docs/fabric.md)
def test_programs_of_every_group_make_no_mistakes(kind, checked):
    found, groups = {}, smallest(kind)
    assert groups
    for group, case in groups.items():
        for spec in case.specs:
            try:
                KINDS[kind].simulate(shortened(spec))
            except ProgramError as mistake:
                found[group] = str(mistake)
    assert not found


@pytest.mark.parametrize("example", FAMILIES)
def test_small_kernels_of_every_family_make_no_mistakes(example, checked):
    mine = [case for case in cases("kernels", SMALL_KERNELS) if case.group.endswith(f"/{example}")]
    assert mine
    for case in mine:
        KINDS["kernels"].simulate(case.spec)


@kernel
def leaves_at_once(address):
    noc_async_read(get_noc_addr_from_bank_id(0, address), 0x80000, 64)


def test_a_mistake_in_a_program_of_a_validation_would_be_found(checked):
    with Bench("wormhole_b0") as bench:
        bench.add((0, 0), leaves_at_once, (bench.pages(64, 1),))
        with pytest.raises(ProgramError) as caught:
            bench.run()
        assert caught.value.kind == "reads_at_end"
