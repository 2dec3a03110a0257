"""What ttnn-visualizer's topology page shows: the chips, how they lie in the mesh, and the Ethernet links between them.

`cluster_descriptor.yaml` in the form of tt-umd's description of a cluster, `physical_chip_mesh_coordinate_mapping.yaml` as tt-metal
writes it beside; of both what the page reads (ttnn-visualizer 0.108).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from tensim.sim.output_files import write_output
from tensim.tool_files.device_log import family

if TYPE_CHECKING:
    from tensim.tool_files.recording import DeviceRecord

CLUSTER, MESH = "cluster_descriptor.yaml", "physical_chip_mesh_coordinate_mapping.yaml"
CHIPS_IN_A_ROW = 4  # of chips that nothing connects


def write_topology(folder: str | Path, devices: Sequence[DeviceRecord]) -> None:
    """Write both files for the `DeviceRecord`s of a run; chips of a fabric have its places and links."""
    arch = {device.id: family(device.arch) for device in devices}
    places, links = {}, []
    for fabric in {id(device.fabric): device.fabric for device in devices if device.fabric is not None}.values():
        numbers = [device.id for device in fabric.devices]
        if not set(numbers) & arch.keys():
            continue
        columns, below = fabric.shape[1], 1 + max((y for _, y in places.values()), default=-1)
        places |= {number: (i % columns, below + i // columns) for i, number in enumerate(numbers)}
        arch |= {device.id: family(device.arch) for device in fabric.devices}
        tile, ports = fabric.wiring.tile, fabric.wiring.ports
        links += [
            [(numbers[chip], tile(chip, *ports[chip][port])) for chip, port in ends] for ends in fabric.wiring.links
        ]
    alone, below = sorted(arch.keys() - places.keys()), 1 + max((y for _, y in places.values()), default=-1)
    places |= {number: (i % CHIPS_IN_A_ROW, below + i // CHIPS_IN_A_ROW) for i, number in enumerate(alone)}
    chips = {number: list(places[number]) for number in sorted(places)}
    cluster = {
        "arch": dict(sorted(arch.items())),
        "chips": {number: [*place, 0, 0] for number, place in chips.items()},
        "chip_unique_ids": {number: number + 1 for number in chips},
        "ethernet_connections": [[{"chip": chip, "chan": channel} for chip, channel in ends] for ends in links],
        "chips_with_mmio": [{number: number} for number in chips],
    }
    write_output(Path(folder) / CLUSTER, yaml.safe_dump(cluster, sort_keys=False))
    write_output(Path(folder) / MESH, yaml.safe_dump({"chips": chips}))
