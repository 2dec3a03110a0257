"""Light Metal: the system around the devices of a recording: chips, links, host devices, what host calls cost."""

import json
import math

from tensim.sim.errors import BinaryError
from tensim.sim.host.topology import HOST, Link, Topology
from tensim.traces.flatbuffers.tables import Node


def system_fields(chips, links, hosts, host_costs):
    """Fields of the root table.  `chips`: architecture names; `hosts`: (device id, queues) of open host devices;
    `host_costs`: {parameter: value} of host calls.
    """
    names = ("src", "dst", "kind", "bytes_per_ns", "latency_ns", "lanes")
    return {
        "chips": [Node("ChipDescription", {"arch": arch}) for arch in chips],
        "links": [Node("LinkDescription", {name: getattr(link, name) for name in names}) for link in links],
        "host_devices": [Node("CreateHostDeviceCommand", {"device_id": d, "num_queues": n}) for d, n in hosts],
        "host_costs": [Node("ArchParameter", {"key": k, "value": json.dumps(v)}) for k, v in sorted(host_costs.items())],
    }  # fmt: skip


def spec_names(archs):
    """Specs of chips by their architectures: `sim://ARCH[n]`, n counts the chips of one architecture."""
    return [f"sim://{arch}[{archs[:number].count(arch)}]" for number, arch in enumerate(archs)]


def chip_names(root):
    """Specs of the recorded chips, chip 0 first."""
    return spec_names([chip.arch or "" for chip in root.chips or ()])


def restore_system(root, system):
    """Give a `tensim.sim.host.executor.Simulation` the links of a recording, and what host calls cost; other files say
    nothing of them.

    UsageError or BinaryError for figures that no link can have.
    """
    if root.chips:
        links = [
            Link(n.src or "", n.dst or "", n.kind or "", n.bytes_per_ns, n.latency_ns, n.lanes)
            for n in root.links or ()
        ]
        system.topology = Topology(system.env, links, [HOST, *(f"chip{number}" for number in range(len(root.chips)))])
    if root.host_costs and not root.devices:  # a device brings those of its host
        system.host.use_costs(_Costs(root.host_costs))


class _Costs:
    """The section `host` of an architecture, as far as a recording holds it."""

    def __init__(self, nodes):
        self.values = {node.key: _number(node) for node in nodes}

    def section(self, name):
        return self.values


def _number(node):
    try:
        value = float(json.loads(node.value or ""))
    except (ValueError, TypeError):
        value = math.nan
    if not 0 <= value < math.inf:
        raise BinaryError(
            f"host cost {node.key!r} is not a time", where={"offset": node.position, "field": "host_costs"}
        )
    return value
