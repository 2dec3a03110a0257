"""Meshes of other boards: two dimensions, eight chips, a ring, no fabric; and what a board does not have."""

import contextlib

import numpy as np
import pytest

import tensim.ttnn as ttnn
from tests.ttnn.test_meshes import ORIGIN, all_of, on, opened, range_of, sending, shards
from tests.ttnn.test_programs import ONE, idle, program

Fabric = ttnn.FabricConfig
mesh_of = contextlib.contextmanager(opened)


def test_pages_cross_a_mesh_of_two_dimensions():
    """Each chip sends to the one that lies diagonally across: one hop along the column, one along the row."""
    with mesh_of("p150_x4", Fabric.FABRIC_2D) as mesh:
        (x, values), y = shards(mesh), on(mesh, np.zeros((256, 64), np.float32))
        places = mesh.shape.coordinates()
        nodes = [mesh.get_fabric_node_id(place) for place in places]
        arrived = ttnn.create_global_semaphore(mesh, ONE, 0)
        work = ttnn.MeshProgramDescriptor()
        for chip, place in enumerate(places):
            ends = nodes[chip], [nodes[3 - chip]], []
            connect = lambda built, ends=ends: ttnn.setup_routing_plane_connection(*ends, built, 0, ORIGIN)  # noqa: E731
            work[range_of(*place)] = sending(x, y, arrived, connect)
        ttnn.generic_op([x, y], work)
        assert np.array_equal(all_of(y, mesh), values.reshape(4, 64, 64)[::-1].reshape(256, 64))
        assert ttnn.get_fabric_kernel_defines("Mesh") == [("FABRIC_2D", "1"), ("API_TYPE_Mesh", "1")]
        assert ttnn.get_tt_fabric_max_payload_size_bytes() == 4352


def test_lines_of_a_mesh_do_not_turn():
    router = ttnn.FabricRouterConfig()
    router.max_packet_payload_size_bytes = 8192
    with mesh_of("p150_x4", Fabric.FABRIC_1D, num_planes=1, router_config=router) as mesh:
        here, *others = (mesh.get_fabric_node_id(place) for place in mesh.shape.coordinates())
        built = ttnn.ProgramDescriptor()
        with pytest.raises(RuntimeError, match="no line leads from .*D0. to .*D3.\n.*FABRIC_2D"):
            ttnn.setup_fabric_connection(here, others[2], 0, built, ORIGIN)
        with pytest.raises(RuntimeError, match="chip 0 has no link 1 to the east"):
            ttnn.setup_fabric_connection(here, others[0], 1, built, ORIGIN)
        assert ttnn.get_tt_fabric_max_payload_size_bytes() == 8192


def test_eight_chips_without_a_fabric_compute_their_parts():
    with mesh_of("t3k", Fabric.DISABLED, ttnn.MeshShape(4, 2)) as mesh:
        assert mesh.shape == (4, 2) and mesh.get_device_ids() == [*range(8)]
        (x, values), y = shards(mesh), on(mesh, np.zeros((512, 64), np.float32))
        ttnn.generic_op([x, y], program(x, y))
        assert np.array_equal(all_of(y, mesh), values)
        part = mesh.create_submeshes((2, 1))[2]
        assert part.get_device_ids() == [4, 6] and part.shape == (2, 1)
        held, there = shards(part, seed=1)
        together = ttnn.combine_device_tensors(tensors=ttnn.get_device_tensors(held))
        assert together.device() is part and np.array_equal(all_of(together + 1, part), there + 1)
        with pytest.raises(RuntimeError, match="get_fabric_node_id: the device has no fabric.*\n.*set_fabric_config"):
            mesh.get_fabric_node_id((0, 0))
        node = ttnn.FabricNodeId(ttnn.MeshId(0), 0)
        with pytest.raises(RuntimeError, match="setup_fabric_connection: no open mesh has a fabric"):
            ttnn.setup_fabric_connection(node, node, 0, idle(), ORIGIN)


@pytest.mark.parametrize(("config", "back"), [(Fabric.FABRIC_1D_RING, 1), (Fabric.FABRIC_1D, 3)])
def test_pages_go_along_a_line_around_a_board(config, back):
    """The last chip's pages reach the first one: on a ring one hop on, on a line three hops back."""
    with mesh_of("p150_x4", config, ttnn.MeshShape(1, 4)) as mesh:
        assert mesh.shape == (1, 4) and mesh.get_device_ids() == [0, 1, 3, 2]
        (x, values), y = shards(mesh), on(mesh, np.zeros((256, 64), np.float32))
        nodes = [mesh.get_fabric_node_id(place) for place in mesh.shape.coordinates()]
        arrived = ttnn.create_global_semaphore(mesh, ONE, 0)
        work = ttnn.MeshProgramDescriptor()
        for chip, hops in enumerate((1, 1, 1, back)):
            ends = nodes[chip], nodes[(chip + 1) % 4], 0
            connect = lambda built, ends=ends: ttnn.setup_fabric_connection(*ends, built, ORIGIN)  # noqa: E731
            work[range_of(0, chip)] = sending(x, y, arrived, connect, hops)
        ttnn.generic_op([x, y], work)
        assert np.array_equal(all_of(y, mesh), np.roll(values, 64, axis=0))


@pytest.mark.parametrize(
    "board, config, shape, message",
    [
        ("n300", Fabric.DISABLED, (2, 2), "mesh_shape 2x2: n300 has no such mesh.*\n.*it has 1x2 chips"),
        ("p150_x4", Fabric.FABRIC_2D, (1, 4), "mesh_shape 1x4: p150_x4 has no such mesh.*\n.*one-dimensional fabrics"),
        ("n300", Fabric.FABRIC_1D_RING, (1, 2), "a ring has at least three chips"),
        (None, Fabric.DISABLED, (1, 2), "there is one chip.*\n.*tensim ttnn --mesh NAME"),
        ("n300", Fabric.DISABLED, (2,), "it takes rows and columns"),
    ],
)
def test_meshes_that_a_board_does_not_have(board, config, shape, message):
    with pytest.raises(RuntimeError, match=message), mesh_of(board, config, ttnn.MeshShape([*shape])):
        pass
    ttnn.close_device(ttnn.open_device(device_id=0))  # nothing was left open


@pytest.mark.parametrize(
    "named, message",
    [
        ({"config": Fabric.FABRIC_2D_TORUS_XY}, "config: FabricConfig.FABRIC_2D_TORUS_XY is not modelled"),
        ({"config": Fabric.FABRIC_1D, "fabric_tensix_config": ttnn.FabricTensixConfig.MUX}, "fabric_tensix_config"),
        ({"config": Fabric.FABRIC_1D, "num_planes": 0}, "num_planes: at least one"),
        ({"config": 1}, "config takes FabricConfig, not int"),
    ],
)
def test_fabrics_that_are_not_modelled(named, message):
    with pytest.raises((RuntimeError, TypeError), match=message):
        ttnn.set_fabric_config(**named)
    assert ttnn.get_fabric_config() == Fabric.DISABLED
