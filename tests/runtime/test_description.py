"""What a system holds, and whether a binary can run there: T36 of the runtime reference, section 7.2."""

import json

import pytest
from programs import DRAM, adder, info, pair_program

from host_api.runtime import Binary, DType, System, TensorDesc, Variant
from host_api.runtime.errors import BinaryIncompatible
from sim.errors import UsageError


def test_a_description_opens_nothing_and_is_plain_data():
    with System("n300") as system:
        described = system.describe()
        assert json.loads(json.dumps(described)) == described
        assert not system.executor.devices and not system.executor.hosts
        assert [chip["host_mmio"] for chip in described["chips"]] == [True, False]
        assert described["chips"][0]["grid"] == [8, 8] and "bf16" in described["chips"][0]["dtypes"]
        for device in described["devices"]:
            assert system.explain(device["spec"])["device0"].info.id == device["id"]  # T43: specs reopen


def test_compatible_compares_only_what_programs_use():
    with System("wormhole_b0,blackhole") as system:
        chip, other = system.open("sim://wormhole_b0"), system.open("sim://blackhole")
        only = Binary([pair_program(variants=(Variant("sim://wormhole_b0"),))])
        assert only.check(chip).ok and adder().check(other).ok
        report = only.check(other)
        assert not report.ok and report.problems[0]["expected"] == ["sim://wormhole_b0"]
        with pytest.raises(BinaryIncompatible, match="expected .'sim://wormhole_b0'., found blackhole"):
            report.require()
        huge = TensorDesc((1 << 34,), DType.U32)
        big = Binary([pair_program(inputs=(info("a", huge, DRAM), info("b")))])
        assert "DRAM bytes" in big.check(chip).problems[0]["field"]


def test_exact_compares_whole_descriptions():
    with System("n150") as system:
        described = system.describe()
        made_here = Binary([pair_program()], system_desc=described)
        assert made_here.check(described, mode="exact").ok
        fewer = {**described, "chips": [{k: v for k, v in described["chips"][0].items() if k != "board"}]}
        assert made_here.check(fewer).ok  # a field that no program uses
        report = made_here.check(fewer, mode="exact")
        assert not report.ok and '-   "board": "n150"' in report.diff
        assert not adder().check(described, mode="exact").ok
        with pytest.raises(UsageError, match="'compatible' or 'exact'"):
            adder().check(described, mode="near")


def test_the_wrong_architecture_fails_both_modes():
    with System("blackhole") as system:
        only = Binary([pair_program(variants=(Variant("sim://wormhole_b0"),))], system_desc=system.describe())
        assert not only.check(system.describe()).ok and not only.check(system.describe(), mode="exact").ok
