"""`--device SPEC` of the commands that open one device of their own."""

from dataclasses import dataclass, field

import click

from sim.arch.loader import architectures
from sim.errors import UsageError

device_option = click.option(
    "--device", "spec", metavar="SPEC",
    help="The device by its spec, e.g. 'sim://blackhole?cqs=2' or 'sim://quasar,sim://wormhole_b0' (see tensim query).",
)  # fmt: skip


@dataclass(frozen=True)
class Chosen:
    """What a spec comes to: an architecture, parameter overrides, and the sizes that a device is opened with."""

    arch: str
    overrides: dict = field(default_factory=dict)
    num_hw_cqs: int = 1
    l1_small_size: int = 0
    trace_region_size: int = 0


def chosen_device(spec):
    """`Chosen` for the text of one device over one chip of every architecture.  DeviceNotFound, SpecSyntax, UsageError."""
    from host_api.runtime.selection import select
    from host_api.runtime.specs import parse_devices
    from host_api.runtime.system import System

    with System(",".join(architectures())) as system:
        selection = select(parse_devices(spec), system.inventory)
    if len(selection) != 1:
        raise UsageError(f"--device names {len(selection)} devices", hint="give one; a list of terms is tried in order")
    choice = next(iter(selection.values()))
    if choice.info is None or choice.info.scheme != "sim":
        raise UsageError(f"--device {spec}: a simulated chip is needed", hint="sim://wormhole_b0, sim://blackhole, ...")
    params = choice.params
    overrides = {"clock.aiclk_mhz": params["clock_mhz"]} if "clock_mhz" in params else {}
    sizes = (int(params.get(name, default)) for name, default in (("cqs", 1), ("l1_small", 0), ("trace_region", 0)))
    return Chosen(choice.info.arch, overrides, *sizes)
