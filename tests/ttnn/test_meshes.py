"""Meshes of several chips: tensors on them, programs by chip, what is sent over the fabric, and what is refused."""

import numpy as np
import pytest

import tensim.ttnn as ttnn
from tensim.ttnn import devices, measurements
from tests.ttnn.test_programs import CORES, ONE, SOURCE, idle, program

SEND = """
#include "dataflow_api.h"
#include "tt_metal/fabric/hw/inc/edm_fabric/edm_fabric_worker_adapters.hpp"

// Send the pages of a tensor to another chip; wait for as many from there.
void kernel_main() {
    size_t argument = 0;
#if ROUTING_MODE & ROUTING_MODE_2D
    auto connections = tt::tt_fabric::RoutingPlaneConnectionManager::build_from_args(argument, 1);
    auto& router = connections.get(0).sender;
#else
    auto router = tt::tt_fabric::WorkerToFabricEdmSender::build_from_args<ProgrammableCoreType::TENSIX>(argument);
#endif
    const uint32_t source = get_arg_val<uint32_t>(argument++), target = get_arg_val<uint32_t>(argument++);
    const uint32_t arrived = get_arg_val<uint32_t>(argument++), pages = get_arg_val<uint32_t>(argument++);
    const uint32_t hops = get_arg_val<uint32_t>(argument++);
    constexpr uint32_t page = get_tile_size(0);
    const InterleavedAddrGenFast<true> own = {source, page, get_dataformat(0)}, far = {target, page, get_dataformat(0)};
    auto header = reinterpret_cast<volatile tt_l1_ptr PACKET_HEADER_TYPE*>(get_write_ptr(1));
#if ROUTING_MODE & ROUTING_MODE_2D
    tt::tt_fabric::fabric_set_unicast_route(
        header, connections.get(0).dst_dev_id, connections.get(0).dst_mesh_id);
#else
    header->to_chip_unicast(hops);
#endif
    router.open();
    for (uint32_t i = 0; i < pages; i++) {
        noc_async_read_tile(i, own, get_write_ptr(0));
        header->to_noc_fused_unicast_write_atomic_inc({get_noc_addr(i, far), get_noc_addr(arrived), 1, i == pages - 1}, page);
        noc_async_read_barrier();
        router.wait_for_empty_write_slot();
        router.send_payload_without_header_non_blocking_from_address(get_write_ptr(0), page);
        router.send_payload_flush_blocking_from_address(uint32_t(header), sizeof(PACKET_HEADER_TYPE));
    }
    router.close();
    noc_semaphore_wait_min(reinterpret_cast<volatile tt_l1_ptr uint32_t*>(arrived), pages);
}
"""
ORIGIN = ttnn.CoreCoord(0, 0)


def opened(board, config, shape=None, trace_region_size=0, **fabric):
    """A mesh of a board; the settings are as before when it has been closed."""
    before = devices.configure(board=board)
    ttnn.set_fabric_config(config, **fabric)
    try:
        with ttnn.create_mesh_device(shape, trace_region_size=trace_region_size) as mesh:
            yield mesh
    finally:
        ttnn.set_fabric_config(ttnn.FabricConfig.DISABLED)
        devices.configure(board=before.board, arch=before.arch)


@pytest.fixture(scope="module")
def line():
    """The two chips of an n300."""
    yield from opened("n300", ttnn.FabricConfig.FABRIC_1D, trace_region_size=1 << 20)


def shards(mesh, seed=0):
    """A tensor of which each chip has 64x64 values, and all of them as numpy has them."""
    values = np.random.default_rng(seed).integers(-128, 128, (64 * mesh.get_num_devices(), 64)).astype(np.float32)
    return on(mesh, values), values


def on(mesh, values):
    mapper = ttnn.ShardTensorToMesh(mesh, dim=0)
    return ttnn.from_torch(values, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=mesh, mesh_mapper=mapper)


def all_of(tensor, mesh):
    return np.asarray(ttnn.to_torch(tensor, mesh_composer=ttnn.ConcatMeshToTensor(mesh, dim=0)), np.float32)


def range_of(*place):
    return ttnn.MeshCoordinateRange(ttnn.MeshCoordinate(*place), ttnn.MeshCoordinate(*place))


def cb(index, page):
    return ttnn.CBDescriptor(page, ONE, [ttnn.CBFormatDescriptor(index, ttnn.bfloat16, page)])


def sending(x, y, arrived, connect, hops=1):
    """A program that sends the pages of `x` to `y` of another chip; `connect(program)`: the words of its connection; `hops`: on a
    line to that chip.
    """
    kernel = ttnn.KernelDescriptor(SEND, SOURCE, ONE, config=ttnn.WriterConfigDescriptor())
    built = ttnn.ProgramDescriptor(kernels=[kernel], cbs=[cb(0, 2048), cb(1, 256)])
    words = connect(built)
    words += [x.buffer_address(), y.buffer_address(), ttnn.get_global_semaphore_address(arrived), x.buffer_num_pages()]
    built.kernels[0].runtime_args[0][0] = [*words, hops]
    return built


def test_a_mesh_and_its_chips(line):
    assert repr(line) == "MeshDevice(1x2 grid, wormhole_b0, 2 devices)" and line.shape == (1, 2)
    assert line.get_num_devices() == ttnn.get_num_devices() == 2 and line.get_device_ids() == ttnn.get_device_ids() == [
        0,
        1,
    ]
    assert line.get_device_id(ttnn.MeshCoordinate(0, 1)) == 1
    assert repr([line.get_fabric_node_id(place) for place in line.shape.coordinates()]) == (
        "[FabricNodeId(M0, D0), FabricNodeId(M0, D1)]"
    )
    assert ttnn.get_fabric_config() == ttnn.FabricConfig.FABRIC_1D
    assert (
        line.host.arch.board == "n300"
        and line.compute_with_storage_grid_size() == (8, 8)
        and line.worker_core_from_logical_core((1, 2)) == (19, 20)
    )
    second = line.create_submesh(ttnn.MeshShape(1, 1), ttnn.MeshCoordinate(0, 1))
    assert second.get_device_ids() == [1] and line.create_submeshes(ttnn.MeshShape(1, 1))[1] is second
    assert line.create_submesh((1, 2)).get_device_ids() == [0, 1]
    line.reshape(ttnn.MeshShape(2, 1))
    assert line.get_device_id((1, 0)) == 1
    line.reshape((1, 2))
    with pytest.raises(RuntimeError, match=r"lies outside the mesh of MeshShape\(\[1, 2\]\)"):
        line.get_device_id(ttnn.MeshCoordinate(1, 0))
    with pytest.raises(RuntimeError, match="cannot become"):
        line.reshape((1, 1))
    with pytest.raises(RuntimeError, match="has no submesh"):
        line.create_submesh((1, 2), (0, 1))


def test_ranges_that_make_one_are_merged():
    """As ttnn 0.81.1 merges the same ranges."""
    found, whole = ttnn.MeshCoordinateRangeSet(), ttnn.MeshCoordinateRange(ttnn.MeshShape(2, 4))
    sizes = []
    for begin, end in (
        ((0, 0), (0, 1)),
        ((1, 1), (1, 1)),
        ((1, 0), (1, 0)),
        ((0, 1), (1, 2)),
        ((0, 3), (1, 3)),
        ((0, 0), (0, 0)),
    ):
        found.merge(ttnn.MeshCoordinateRange(ttnn.MeshCoordinate(*begin), ttnn.MeshCoordinate(*end)))
        sizes.append(len(found.ranges))
    assert sizes == [1, 2, 1, 1, 1, 1] and found == ttnn.MeshCoordinateRangeSet(whole)
    assert (
        repr(found)
        == "MeshCoordinateRangeSet([MeshCoordinateRange(start=MeshCoordinate([0, 0]), end=MeshCoordinate([1, 3]))])"
    )


def test_shapes_change_chip_by_chip(line):
    tensor, values = shards(line)
    parts = values.reshape(2, 64, 64)
    for found, expected in (
        (tensor.reshape(32, 128), parts.reshape(2, 32, 128)),
        (ttnn.reshape(tensor, (1, 64, 64)), parts.reshape(2, 1, 64, 64)),
        (ttnn.permute(tensor, (1, 0)), parts.transpose(0, 2, 1)),
        (ttnn.slice(tensor, (0, 0), (32, 64)), parts[:, :32]),
        (tensor[:, 32:], parts[:, :, 32:]),
        (ttnn.concat([tensor, tensor], dim=1), np.concatenate([parts, parts], 2)),
    ):
        assert found.device() is line and np.array_equal(all_of(found, line), np.concatenate(expected))
    assert np.array_equal(all_of(tensor.cpu().pad((64, 96), (0, 0), 1)[:, 64:], line), np.ones((128, 32)))
    assert tensor.device_coords() == [(0, 0), (0, 1)] and ttnn.get_device_tensors(tensor)[1].device_coords() == [(0, 1)]
    with pytest.raises(RuntimeError, match="device_coords: the tensor is on the host"):
        tensor.cpu().device_coords()


def test_sub_devices_are_those_of_every_chip(line):
    second = ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(0, 1), ttnn.CoreCoord(0, 1))])
    manager = line.create_sub_device_manager([ttnn.SubDevice([CORES]), ttnn.SubDevice([second])])
    line.load_sub_device_manager(manager)
    assert [len(chip.host.get_sub_device_ids()) for chip in line.chips] == [2, 2]
    line.set_sub_device_stall_group([ttnn.SubDeviceId(0)])
    tensor, values = shards(line)
    copied = ttnn.allocate_tensor_on_device(tensor.spec, line)
    ttnn.generic_op([tensor, copied], program(tensor, copied))
    ttnn.synchronize_device(line, sub_device_ids=[ttnn.SubDeviceId(0)])
    line.reset_sub_device_stall_group()
    assert np.array_equal(all_of(copied, line), values)
    line.clear_loaded_sub_device_manager()
    line.remove_sub_device_manager(manager)
    assert [len(chip.host.get_sub_device_ids()) for chip in line.chips] == [1, 1]
    ttnn.generic_op([tensor, copied], program(tensor, copied))  # known, and built anew for all cores


def test_tensors_have_their_parts_at_one_address(line):
    tensor, values = shards(line)
    assert np.array_equal(all_of(tensor, line), values) and tensor.device() is line and tensor.shape == (64, 64)
    parts = ttnn.get_device_tensors(tensor)
    assert [one.buffer_address() for one in parts] == [tensor.buffer_address()] * 2
    assert np.array_equal(parts[1].to_numpy().astype(np.float32), values[64:])
    again = ttnn.combine_device_tensors(tensors=parts)
    assert again.device() is line and np.array_equal(all_of(again, line), values)
    same = ttnn.from_torch(values, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=line)
    assert np.array_equal(all_of(same, line), np.tile(values, (2, 1)))
    assert np.array_equal(all_of(ttnn.to_layout(tensor + tensor, ttnn.ROW_MAJOR_LAYOUT), line), 2 * values)
    ttnn.copy_host_to_device_tensor(on(line, -values).cpu(), tensor)
    assert np.array_equal(all_of(tensor.cpu(), line), -values)
    with pytest.raises(RuntimeError, match="has a part on each of 2 chips.*\n.*mesh_composer"):
        ttnn.to_torch(tensor)
    with pytest.raises(RuntimeError, match="one of each chip of an open mesh"):
        ttnn.combine_device_tensors(tensors=parts[::-1])
    ttnn.deallocate(tensor)
    assert not parts[0].is_allocated() and not parts[1].is_allocated()


def test_a_tensor_at_several_addresses_is_refused(line):
    held = on(line.chips[0], np.ones((64, 64), np.float32))
    with pytest.raises(RuntimeError, match="different addresses of the chips.*\n.*allocated on a part of the mesh"):
        shards(line)
    ttnn.deallocate(held)


def test_programs_run_on_their_chips_at_the_same_time(line):
    (x, values), y = shards(line), on(line, np.zeros((128, 64), np.float32))
    work = program(x, y)
    ttnn.generic_op([x, y], ttnn.MeshProgramDescriptor({range_of(0, 1): work}))
    assert np.array_equal(all_of(y, line), np.concatenate([np.zeros((64, 64)), values[64:]]))
    ttnn.generic_op([x, y], work)
    assert np.array_equal(all_of(y, line), values)
    (last, told), (other, _) = (
        (one.operations[-1], one.operations[-1].told) for one in map(measurements.measurements_of, line.chips)
    )
    assert last.started == other.started and told == {"chip": 0}
    entries = line.num_program_cache_entries()
    ttnn.generic_op([y, x], program(y, x))
    assert line.num_program_cache_entries() == entries


def test_what_a_mesh_does_is_recorded_and_replayed(line):
    line.clear_program_cache()  # what is older than a recording cannot be in it
    ttnn.light_metal_begin_capture()
    try:
        (x, values), y = shards(line), on(line, np.zeros((128, 64), np.float32))
        ttnn.generic_op([x, y], program(x, y))
        assert np.array_equal(all_of(y, line), values)
    finally:
        binary = ttnn.light_metal_end_capture()
    replay = ttnn.LightMetalReplay.create(binary)
    assert replay.run()
    with pytest.raises(RuntimeError, match="a mesh of several chips.*\n.*a replay opens its own"):
        ttnn.LightMetalReplay.create(binary, line)


WRONG = {
    r"MeshCoordinateRange\(.*\) lies outside the mesh": {range_of(0, 2): idle()},
    r"MeshCoordinate\(\[0, 1\]\) has two programs": {
        range_of(0, 1): idle(), ttnn.MeshCoordinateRange(ttnn.MeshShape(1, 2)): idle()
    },
    "it holds no program": {},
}  # fmt: skip


@pytest.mark.parametrize("message", WRONG)
def test_refused_workloads(line, message):
    x, _ = shards(line)
    with pytest.raises(RuntimeError, match=message):
        ttnn.generic_op([x, x], ttnn.MeshProgramDescriptor(WRONG[message]))


def test_pages_go_to_the_neighbour_and_back(line):
    (x, values), y = shards(line), on(line, np.zeros((128, 64), np.float32))
    nodes = [line.get_fabric_node_id((0, column)) for column in (0, 1)]
    arrived = ttnn.create_global_semaphore(line, ONE, 0)
    for link in (0, 1):
        ttnn.reset_global_semaphore_value(arrived, 0)
        work = ttnn.MeshProgramDescriptor()
        for chip in (0, 1):
            ends = nodes[chip], nodes[1 - chip], link
            connect = lambda built, ends=ends: ttnn.setup_fabric_connection(*ends, built, ORIGIN)  # noqa: E731
            work[range_of(0, chip)] = sending(x, y, arrived, connect)
        ttnn.generic_op([x, y], work)
        assert np.array_equal(all_of(y, line), np.roll(values, 64, axis=0))
    carried = {(row["chip"], row["link"]): row["packets"] for row in line.joined.link_utilization()}
    assert carried == {(0, 0): 4, (0, 1): 4, (1, 0): 4, (1, 1): 4}


def test_traces_and_events_of_a_mesh(line):
    (x, values), y = shards(line), on(line, np.zeros((128, 64), np.float32))
    work, turned = program(x, y), on(line, -values).cpu()
    ttnn.generic_op([x, y], work)
    trace = ttnn.begin_trace_capture(line, cq_id=0)
    ttnn.generic_op([x, y], work)
    ttnn.end_trace_capture(line, trace, cq_id=0)
    ttnn.copy_host_to_device_tensor(turned, x)
    ttnn.execute_trace(line, trace, blocking=False)
    event = ttnn.record_event(line, 0)
    ttnn.wait_for_event(0, event)
    ttnn.event_synchronize(event)
    ttnn.synchronize_device(line)
    assert len({measurements.measurements_of(chip).operations[-1].started for chip in line.chips}) == 1
    assert np.array_equal(all_of(y, line), -values)
    ttnn.release_trace(line, trace)
    with pytest.raises(RuntimeError, match="is none of MeshDevice"):
        ttnn.execute_trace(line, trace)


def test_connections_that_are_not_there(line):
    here, there = (line.get_fabric_node_id((0, column)) for column in (0, 1))
    built = ttnn.ProgramDescriptor()
    for ends, message in (
        ((here, here), "src and dst are both"),
        ((here, ttnn.FabricNodeId(ttnn.MeshId(0), 5)), r"FabricNodeId\(M0, D5\) is no chip of the mesh, which has 2"),
    ):
        with pytest.raises(RuntimeError, match=message):
            ttnn.setup_fabric_connection(*ends, 0, built, ORIGIN)
    with pytest.raises(RuntimeError, match="chip 0 has no link 2 to the east"):
        ttnn.setup_fabric_connection(here, there, 2, built, ORIGIN)
    assert built.semaphores == []
    with pytest.raises(RuntimeError, match="kernel_idx 0: the program has 0 kernels"):
        ttnn.setup_routing_plane_connection(here, [there], [], built, 0, ORIGIN)
    with pytest.raises(RuntimeError, match="two connections leave to the east"):
        ttnn.setup_routing_plane_connection(here, [there, there], [0, 1], idle(), 0, ORIGIN)


def test_what_open_meshes_forbid(line):
    with pytest.raises(RuntimeError, match="devices are open"):
        ttnn.set_fabric_config(ttnn.FabricConfig.FABRIC_2D)
    with pytest.raises(RuntimeError, match="device 1 is already open"):
        ttnn.open_device(device_id=1)
    with pytest.raises(RuntimeError, match="from_torch spreads a tensor over the chips"):
        ttnn.Tensor(np.ones((32, 32), np.float32), ttnn.bfloat16, line)
