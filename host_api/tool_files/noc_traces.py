"""NoC event traces in the form of tt-npe's directory tool: a file for each operation and device, and `topology.json`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tensim.sim.output_files import output_file, write_output
from tensim.tool_files.device_log import family
from tensim.tool_files.text import file_part
from tensim.traces.noc_events import events_of

if TYPE_CHECKING:
    from tensim.tool_files.operands import Described
    from tensim.tool_files.recording import DeviceRecord, Operation

TOPOLOGY = "topology.json"
CLUSTERS = {"wormhole_b0": "N150", "blackhole": "P150", "grayskull": "E150"}


def file_name(operation: Operation, name: str) -> str:
    """Name of an operation's trace."""
    trace = "" if operation.trace is None else f"_traceID{operation.trace[0]}"
    return f"noc_trace_dev{operation.device.id}_{file_part(name)}_ID{operation.run_id}{trace}.json"


def write_noc_traces(folder: str | Path, described: Iterable[Described], devices: Sequence[DeviceRecord]) -> None:
    """Write the traces of all operations, and what connects the `devices`: nothing, as far as kernels can tell.

    `described`: the operations (`operands.Described`).
    """
    folder = Path(folder)
    for one in described:
        operation, device = one.operation, one.operation.device
        about = {"run_host_id": operation.run_id, "op_name": one.name, "src_device_id": device.id}
        calls = device.during(operation, device.calls)
        with output_file(folder / file_name(operation, one.name)) as file:
            file.write(
                "[\n" + ",\n".join(json.dumps(about | event) for event in events_of(calls, device.arch)) + "\n]\n"
            )
    numbers = [device.id for device in devices]
    topology = {
        "cluster_type": CLUSTERS.get(family(devices[0].arch), "CUSTOM") if len(set(numbers)) == 1 else "CUSTOM",
        "fabric_config": "DISABLED",
        "mesh_shapes": [{"mesh_id": 0, "shape": [1, len(set(numbers))]}],
        "routing_planes": [],
        "device_id_to_fabric_node_id": {str(number): [0, place] for place, number in enumerate(dict.fromkeys(numbers))},
        "eth_chan_to_coord": {},
    }
    write_output(folder / TOPOLOGY, json.dumps(topology, indent=1) + "\n")
