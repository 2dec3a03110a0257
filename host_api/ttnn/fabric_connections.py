"""How kernels of a program reach the routers of their chip: runtime arguments, and what they need beside them.

Arguments are those of `WorkerToFabricEdmSender::build_from_args` and `RoutingPlaneConnectionManager::build_from_args`
(docs/fabric.md): the Ethernet channel of the router and two semaphores, which the sender of tt-metal needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tensim.sim.chip.routers import DIRECTION_NAMES, header_bytes
from tensim.sim.cores.fabric.layout import EAST, NORTH, SOUTH, WEST
from tensim.sim.cores.fabric.worker_area import DIRECTION_CODES
from tensim.ttnn.cores import CoreRange, CoreRangeSet, pair
from tensim.ttnn.descriptors import ProgramDescriptor, SemaphoreDescriptor
from tensim.ttnn.devices import FABRIC_HINT, open_devices
from tensim.ttnn.enums import CoreType
from tensim.ttnn.errors import ArgumentError, check_type
from tensim.ttnn.fabric import FabricNodeId

if TYPE_CHECKING:
    from tensim.sim.host.fabric import Fabric
    from tensim.ttnn.cores import CoreLike

SEMAPHORES = 2  # of a worker's connection


def _fabric(what: str) -> Fabric:
    """The fabric of the open mesh; ArgumentError when there is none."""
    for mesh in open_devices().values():
        if mesh.joined is not None and mesh.joined.has_fabric:
            return mesh.joined.fabric
    raise ArgumentError(f"{what}: no open mesh has a fabric", hint=FABRIC_HINT)


def _direction(what: str, fabric: Fabric, source: FabricNodeId, target: FabricNodeId) -> int:
    """The direction in which packets from a chip to another one leave; ArgumentError when no route leads there."""
    for name, node in (("src_fabric_node_id", source), ("dst_fabric_node_id", target)):
        check_type(what, name, node, FabricNodeId)
        if node.mesh_id != 0 or not 0 <= node.chip_id < len(fabric.devices):
            raise ArgumentError(f"{what}: {name}: {node} is no chip of the mesh, which has {len(fabric.devices)}")
    if source == target:
        raise ArgumentError(f"{what}: src and dst are both {source}")
    around = fabric.wiring.around
    way = _around(fabric, source.chip_id, target.chip_id) if around else _in_grid(fabric, source, target)
    if way is None:
        raise ArgumentError(
            f"{what}: no line leads from {source} to {target}", hint="chips of one row or column, or FABRIC_2D"
        )
    return way


def _around(fabric: Fabric, source: int, target: int) -> int:
    """On a line around the mesh the way there; on a ring the shorter one, east of two that are alike."""
    order = fabric.wiring.ring_order()
    return EAST if _forward(order.index(target) - order.index(source), len(order), fabric.closed) else WEST


def _in_grid(fabric: Fabric, source: FabricNodeId, target: FabricNodeId) -> int | None:
    """First along the column, then along the row, as routes in a mesh have it; None for a line that would turn."""
    rows, columns = fabric.shape
    down, across = (
        b - a for a, b in zip(divmod(source.chip_id, columns), divmod(target.chip_id, columns), strict=True)
    )
    if down and across and not fabric.mesh:
        return None
    if down:
        return SOUTH if _forward(down, rows, fabric.closed) else NORTH
    return EAST if _forward(across, columns, fabric.closed) else WEST


def _forward(distance: int, size: int, closed: bool) -> bool:
    """Whether the way to larger numbers is the one to take; where the ends are linked the shorter one."""
    return 2 * (distance % size) <= size if closed and size > 2 else distance > 0


def _sender_args(
    what: str, source: FabricNodeId, target: FabricNodeId, link: int, program: ProgramDescriptor, core: CoreLike
) -> tuple[int, list[int]]:
    """(direction, arguments) of a connection; its semaphores join the program's."""
    fabric = _fabric(what)
    way = _direction(what, fabric, source, target)
    connection = fabric.connection(source.chip_id, way, link)
    cores = CoreRangeSet([CoreRange(pair(core), pair(core))])
    taken = {one.id for one in program.semaphores if not one.core_ranges.cores().isdisjoint(cores.cores())}
    ids = [number for number in range(len(taken) + SEMAPHORES) if number not in taken][:SEMAPHORES]
    program.semaphores = [*program.semaphores, *(SemaphoreDescriptor(number, core_ranges=cores) for number in ids)]
    return way, [connection.channel, *ids]


def setup_fabric_connection(
    src_fabric_node_id: FabricNodeId,
    dst_fabric_node_id: FabricNodeId,
    link_idx: int,
    program_descriptor: ProgramDescriptor,
    worker_core: CoreLike,
    core_type: CoreType = CoreType.WORKER,
) -> list[int]:
    """Runtime arguments of a worker's connection to the router on the way from its chip to another one.

    The connection's semaphores are added to the program.  ArgumentError when no route leads there, UsageError for a link that the
    chips do not have.
    """
    what = "setup_fabric_connection"
    if core_type != CoreType.WORKER:
        raise ArgumentError(f"{what}: core_type: kernels run on workers, not on {core_type}")
    return _sender_args(what, src_fabric_node_id, dst_fabric_node_id, link_idx, program_descriptor, worker_core)[1]


def setup_routing_plane_connection(
    src_fabric_node_id: FabricNodeId,
    dst_nodes: Sequence[FabricNodeId],
    connection_link_indices: Sequence[int],
    program_descriptor: ProgramDescriptor,
    kernel_idx: int,
    worker_core: CoreLike,
) -> list[int]:
    """Runtime arguments of a worker's connections, one to each of `dst_nodes`.

    `connection_link_indices`: one per connection, one for all, or none: the first link.  Semaphores and what kernels of the fabric
    must have defined are added to the program.
    """
    what = "setup_routing_plane_connection"
    kernels, count = program_descriptor.kernels, len(dst_nodes)
    if not 0 <= kernel_idx < len(kernels):
        raise ArgumentError(f"{what}: kernel_idx {kernel_idx}: the program has {len(kernels)} kernels")
    if len(connection_link_indices) not in (0, 1, count):
        raise ArgumentError(f"{what}: connection_link_indices: {len(connection_link_indices)} for {count} connections")
    links = list(connection_link_indices or [0]) * (1 if len(connection_link_indices) == count else count)
    args, ways = list[int](), list[int]()
    for node, link in zip(dst_nodes, links, strict=True):
        way, words = _sender_args(what, src_fabric_node_id, node, link, program_descriptor, worker_core)
        if way in ways:
            raise ArgumentError(f"{what}: dst_nodes: two connections leave to the {DIRECTION_NAMES[way]}")
        ways.append(way)
        args += [DIRECTION_CODES[way], *words]
    kernel = kernels[kernel_idx]
    kernel.defines = [*kernel.defines, *(one for one in get_fabric_kernel_defines() if one not in kernel.defines)]
    if _fabric(what).mesh:
        args += [src_fabric_node_id.chip_id, int(src_fabric_node_id.mesh_id)]
        args += [word for node in dst_nodes for word in (node.chip_id, int(node.mesh_id))]
    return args


def get_fabric_kernel_defines(api_type: str = "Linear") -> list[tuple[str, str]]:
    """What kernels that use the open mesh's fabric must have defined; `api_type`: Linear or Mesh."""
    if api_type not in ("Linear", "Mesh"):
        raise ArgumentError(f"get_fabric_kernel_defines: api_type {api_type!r} is neither Linear nor Mesh")
    mesh = [("FABRIC_2D", "1")] if _fabric("get_fabric_kernel_defines").mesh else []
    return [*mesh, (f"API_TYPE_{api_type}", "1")]


def get_tt_fabric_packet_header_size_bytes() -> int:
    """Bytes of a packet header."""
    fabric = _fabric("get_tt_fabric_packet_header_size_bytes")
    return header_bytes(fabric.arch, fabric.mesh)


def get_tt_fabric_max_payload_size_bytes() -> int:
    """Bytes of the largest payload of a packet."""
    return _fabric("get_tt_fabric_max_payload_size_bytes").slots.payload
