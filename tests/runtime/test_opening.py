"""What `System.open` takes besides a spec: settings by keyword are those of specs, and a default is a setting, too."""

import pytest

from tensim.runtime import System, SystemConfig
from tensim.runtime.errors import DeviceConfigConflict
from tensim.sim.errors import TensimWarning, UsageError

CHIP = "sim://wormhole_b0"

WRONG = {
    "cqz": 3, "timing": "functonal", "cqs": 100, "clock_mhz": -5, "seed": "x", "l1_small": -1, "trace_region": "big",
    "mesh": "9x9", "boot_ns": 5,
}  # fmt: skip


@pytest.mark.parametrize("key", WRONG)
def test_wrong_settings_are_refused(key):
    with System("n150") as system:
        with pytest.raises(UsageError, match=key) as refused:
            system.open(CHIP, **{key: WRONG[key]})
        assert refused.value.hint and not system.open_devices()


def test_settings_of_another_kind_of_device():
    with System("n150") as system, pytest.raises(UsageError, match="unsupported by host devices: timing"):
        system.open("local", timing="cycle")


def test_settings_mean_what_they_mean_in_specs():
    with System("n150") as system:
        device = system.open(CHIP, cqs="2", clock_mhz=800, l1_small=4096, timing="functional", mesh=(1, 1))
        assert (len(device.queues), device.arch.clock_mhz, device.timing) == (2, 800, "functional")
        assert system.open(f"{CHIP}?cqs=2&clock_mhz=800&l1_small=4096&timing=functional") is device


def test_more_queues_than_the_chip_has():
    with System("n150") as system, pytest.warns(TensimWarning, match="cqs=8"):
        assert len(system.open(CHIP, cqs=8).queues) == 8


@pytest.mark.parametrize("spec", ["n150", "#0", f"{CHIP}?cqs=2", f"{CHIP}?mesh=1x1", f"{CHIP}?timing=cycle&seed=0"])
def test_a_default_is_the_same_setting(spec):
    with System("n150") as system:
        assert system.open(CHIP) is system.open(spec)


@pytest.mark.parametrize("setting", ["cqs=1", "timing=functional", "trace_region=4096", "seed=7"])
def test_another_setting_is_a_conflict(setting):
    with System("n150") as system:
        system.open(CHIP)
        with pytest.raises(DeviceConfigConflict, match=setting.split("=")[0]):
            system.open(f"{CHIP}?{setting}")


def test_a_negative_number_of_counters():
    with pytest.raises(UsageError, match="max_counters is -1"):
        SystemConfig(max_counters=-1)
