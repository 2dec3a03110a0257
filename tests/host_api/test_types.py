"""Value types of the host API."""

import pytest

import tensim as tt
from tensim.sim.errors import UsageError


def test_ranges():
    one = tt.CoreRange((1, 2), (3, 4))
    assert one.size() == 9 and list(one)[:4] == [(1, 2), (2, 2), (3, 2), (1, 3)]
    assert one.contains(tt.CoreCoord(3, 4)) and not one.contains(tt.CoreRange((0, 2), (1, 2)))
    assert tt.CoreRange((5, 5)).end_coord == tt.CoreCoord(5, 5)
    with pytest.raises(UsageError, match="before its start"):
        tt.CoreRange((1, 1), (0, 3))
    with pytest.raises(UsageError, match="not a core coordinate"):
        tt.CoreRange(7)


def test_range_sets():
    cores = tt.CoreRangeSet([tt.CoreRange((0, 0), (1, 1)), tt.CoreRange((4, 2))])
    assert cores.num_cores() == 5
    assert cores.bounding_box() == tt.CoreRange((0, 0), (4, 2))
    assert cores.contains((4, 2)) and not cores.contains(tt.CoreRange((1, 1), (2, 1)))
    assert cores.merge(tt.CoreRange((1, 1), (2, 1))).num_cores() == 6
    assert cores == tt.CoreRangeSet([(0, 0), (0, 1), (1, 0), (1, 1), (4, 2)])
    with pytest.raises(UsageError, match="overlap"):
        tt.CoreRangeSet([tt.CoreRange((0, 0), (2, 2)), tt.CoreRange((2, 2), (3, 3))])
    with pytest.raises(UsageError, match="no bounding box"):
        tt.CoreRangeSet().bounding_box()


def test_presets():
    reader, writer = tt.ReaderDataMovementConfig(), tt.WriterDataMovementConfig()
    assert (reader.processor, reader.noc) == (tt.DataMovementProcessor.RISCV_1, tt.NOC.NOC_0)
    assert (writer.processor, writer.noc) == (tt.DataMovementProcessor.RISCV_0, tt.NOC.NOC_1)
    default = tt.DataMovementConfig()
    assert (default.processor, default.noc) == (tt.DataMovementProcessor.RISCV_0, tt.NOC.NOC_0)
    assert tt.ComputeConfig().math_fidelity == tt.MathFidelity.HiFi4
    assert default.opt_level == tt.KernelBuildOptLevel.O2
    assert tt.ComputeConfig().opt_level == tt.KernelBuildOptLevel.O3
    ethernet = tt.EthernetConfig()
    assert (ethernet.eth_mode, ethernet.noc, ethernet.processor, ethernet.opt_level) == (
        tt.Eth.SENDER, tt.NOC.NOC_0, tt.DataMovementProcessor.RISCV_0, tt.KernelBuildOptLevel.Os
    )  # fmt: skip


@pytest.mark.parametrize(
    "kind, codes",
    [
        (tt.BufferType, {"DRAM": 0, "L1": 1, "SYSTEM_MEMORY": 2, "L1_SMALL": 3, "TRACE": 4}),
        (tt.ShardOrientation, {"ROW_MAJOR": 0, "COL_MAJOR": 1}),
        (tt.ShardMode, {"PHYSICAL": 0, "LOGICAL": 1}),
        (tt.Eth, {"SENDER": 0, "RECEIVER": 1, "IDLE": 2}),
        (tt.NOC_MODE, {"DM_DEDICATED_NOC": 0, "DM_DYNAMIC_NOC": 1}),
        (tt.MathFidelity, {"LoFi": 0, "HiFi2": 2, "HiFi3": 3, "HiFi4": 4, "Invalid": 255}),
        (tt.UnpackToDestMode, {"Default": 0, "UnpackToDestFp32": 1}),
        (tt.KernelBuildOptLevel, dict(zip("O1 O2 O3 O0 Os Ofast Oz".split(), range(7), strict=True))),
    ],
)
def test_codes(kind, codes):
    assert {name: int(value) for name, value in kind.__members__.items()} == codes


def test_ids_have_their_widths():
    assert tt.SubDeviceId(255) == 255 and repr(tt.SubDeviceId(3)) == "SubDeviceId(3)"
    assert tt.SubDeviceManagerId((1 << 64) - 1) == (1 << 64) - 1
    for kind, value in ((tt.SubDeviceId, 256), (tt.SubDeviceId, -1), (tt.SubDeviceManagerId, 1 << 64)):
        with pytest.raises(UsageError, match=f"{value} is not a {kind.__name__}"):
            kind(value)


def test_tiles():
    config = tt.CircularBufferConfig(4096, {0: tt.DataFormat.Float16_b}).set_tile_dims(0, tt.Tile((16, 32)))
    assert config.tiles == {0: (16, 32)} and tt.Tile().tile_shape == (32, 32)
    for shape in ((24, 32), (32, 8), (0, 16)):
        with pytest.raises(UsageError, match=f"no tiles of {shape[0]}x{shape[1]}"):
            tt.Tile(shape)
    with pytest.raises(UsageError, match="transposed"):
        tt.Tile((32, 32), transpose_tile=True)


def test_a_physical_shard_shape_belongs_to_logical_mode():
    grid = tt.CoreRangeSet([tt.CoreRange((0, 0))])
    logical = tt.ShardSpec(grid, (30, 30), mode=tt.ShardMode.LOGICAL, physical_shard_shape=(32, 32))
    assert logical.device_shape == (32, 32) and tt.ShardSpec(grid, (64, 32)).device_shape == (64, 32)
    with pytest.raises(UsageError, match="LOGICAL"):
        tt.ShardSpec(grid, (30, 30), physical_shard_shape=(32, 32))


def test_sub_devices_have_no_ethernet_cores():
    worker, ethernet = (tt.CoreRangeSet([tt.CoreRange((x, 0))]) for x in (0, 1))
    assert tt.SubDevice([worker, tt.CoreRangeSet()]).ranges() == ((0, 0, 0, 0),)
    with pytest.raises(UsageError, match="ethernet"):
        tt.SubDevice([worker, ethernet])


def test_circular_buffer_config():
    config = tt.CircularBufferConfig(4096, {0: tt.DataFormat.Float16_b}).set_page_size(0, 2048)
    config.index(3).set_data_format(tt.DataFormat.Float32).set_page_size(4096).set_tile_dims((16, 32))
    assert config.formats == {0: tt.DataFormat.Float16_b, 3: tt.DataFormat.Float32}
    assert config.page_sizes == {0: 2048, 3: 4096} and config.tiles == {3: (16, 32)}
    with pytest.raises(UsageError, match="index 1 is not declared"):
        config.set_page_size(1, 2048)
    with pytest.raises(UsageError, match="4096 B is not a multiple of the page size 1000 B"):
        config.set_page_size(0, 1000)


def test_circular_buffer_on_a_buffer(device):
    def buffer(size, kind):
        return tt.create_buffer(tt.InterleavedBufferConfig(device, size, 1024, kind))

    config = tt.CircularBufferConfig(2048, {0: tt.DataFormat.Float16_b})
    with pytest.raises(UsageError, match="not one in DRAM"):
        config.set_globally_allocated_address(buffer(1024, tt.BufferType.DRAM))
    small = buffer(1024 * 64, tt.BufferType.L1)
    with pytest.raises(UsageError, match="2048 B is larger than the 1024 B per bank"):
        config.set_globally_allocated_address(small)
    assert config.set_globally_allocated_address_and_total_size(small, 1024).buffer is small
