"""What the library sees as the memories of a chip: workers, DRAM, registers, and the words by which cores are started."""

import random
from types import SimpleNamespace

import pytest

import tensim as tt
from tensim.library.descriptions import as_seen, dram_places
from tensim.library.environment import find_library
from tensim.library.mailbox_layout import layout_of
from tensim.library.server import HEAD, WRITE
from tensim.library.tiles import LOG_ROOM, Tiles
from tensim.sim.arch import load_arch
from tensim.sim.errors import UsageError
from tests.library import stand_in

WORMHOLE = [["0-0", "0-1", "0-11"], ["0-5", "0-6", "0-7"], ["5-0"], ["5-2"], ["5-3"], ["5-5", "5-6", "5-7"]]
BLACKHOLE = [["0-0"], ["0-2"], ["0-9"], ["0-5"], ["9-0"], ["9-2"], ["9-9"], ["9-5"]]
LACKING = {
    ("0.66.0", "wormhole_b0"): 0,
    ("0.66.0", "blackhole"): 0,
    ("0.81.1", "wormhole_b0"): 1,
    ("0.81.1", "blackhole"): 2,
}  # rows or columns
INIT, GO = bytes([0, 0, 0, 0x40]), bytes([0, 0, 0, 0x80])


@pytest.fixture(scope="module", params=stand_in.PLACES, ids=" ".join)
def chip(request, installed):
    """`tiles` of a release's chip; `device`; `workers` as the release names them."""
    release, name = request.param
    library = find_library(installed.of(release))
    arch = load_arch(name, as_seen(library, load_arch(name)))
    device = tt.create_device(0, arch=arch)
    channels = dram_places({"dram": WORMHOLE if name == "wormhole_b0" else BLACKHOLE}, arch)
    tiles = Tiles(device._state, layout_of(library, arch), channels)
    yield SimpleNamespace(
        tiles=tiles, device=device._state, arch=arch, workers=stand_in.workers(name, LACKING[release, name])
    )
    tt.close_device(device)


def test_workers_have_the_releases_coordinates(chip):
    assert list(chip.tiles.workers) == chip.workers


def test_l1_is_the_chips_and_mailboxes_are_the_librarys(chip):
    tiles, (x, y), end = chip.tiles, chip.workers[5], chip.tiles.config_end
    tiles.write(x, y, end, b"tensor")
    assert chip.device.chip.memory.read_l1(5, end, 6) == b"tensor"
    tiles.write(x, y, end - 4, b"abcdefgh")
    assert chip.device.chip.memory.read_l1(5, end, 4) == b"efgh" and tiles.config[5][end - 4 :].tobytes() == b"abcd"
    assert tiles.read(x, y, end - 4, 8) == b"abcdefgh" and tiles.read(x, y, end - 4, 4) == b"abcd"
    assert tiles.sizes([5])[5][end - 4] == 4, "bytes of the mailboxes alone"
    assert chip.device.chip.memory.read_l1(5, end - 4, 4) == bytes(4), "memory of the chip's own programs"


def test_all_coordinates_of_a_dram_channel_are_one_memory(chip):
    tiles, per_tile = chip.tiles, chip.arch["dram.banks_per_tile"]
    places = {"wormhole_b0": [(0, 5), (0, 6), (0, 7)], "blackhole": [(0, 2), (17, 15), (17, 16), (17, 17)]}[
        chip.arch.name
    ]
    for bank in range(per_tile):
        address = bank * chip.arch.dram_bank_bytes + 0x4000
        for number, (x, y) in enumerate(places):
            tiles.write(x, y, address, bytes([bank, number]))
            assert chip.device.chip.memory.read_dram(per_tile + bank, 0x4000, 2) == bytes([bank, number])
            assert all(tiles.read(*other, address, 2) == bytes([bank, number]) for other in places)


def test_the_channels_of_blackhole_lie_in_two_columns():
    channels = dram_places({"dram": BLACKHOLE}, load_arch("blackhole"))
    assert channels[0] == ((0, 0), (17, 12), (17, 13), (17, 14)) and channels[3][-1] == (17, 23)
    assert channels[4] == ((9, 0), (18, 12), (18, 13), (18, 14)) and channels[7][-1] == (18, 23)


@pytest.mark.parametrize(
    "lacking, tops",
    [  # of the last port of each channel that is left, as 0.81.1 names it
        (7, [(17, 14), (17, 17), (17, 20), (17, 23), (18, 14), (18, 17), (18, 20)]),
        (5, [(17, 14), (17, 23), (17, 17), (17, 20), (18, 14), (18, 17), (18, 20)]),
        (0, [(18, 14), (18, 17), (18, 20), (17, 23), (17, 14), (17, 17), (17, 20)]),
    ],
)
def test_a_channel_that_a_board_lacks_moves_others(lacking, tops):
    left = [channel for channel in range(8) if channel != lacking]
    arch = load_arch("blackhole", {"board": "p100", "boards.p100.dram_channels": left})
    channels = dram_places({"dram": BLACKHOLE}, arch)
    assert [places[-1] for places in channels] == tops
    assert [f"{x}-{y}" for (x, y), *_ in channels] == [BLACKHOLE[channel][0] for channel in left]


def test_a_core_is_told_by_its_go_word(chip):
    tiles, (x, y), go = chip.tiles, chip.workers[3], chip.tiles.layout.go
    tiles.write(x, y, go, INIT)
    assert tiles.read(x, y, go, 4) == bytes(4) and not tiles.told, "firmware is not built: it has always begun"
    tiles.write(x, y, go, GO)
    assert tiles.told == [3] and tiles.read(x, y, go, 4) == GO
    assert tiles.polls(x, y, go, 4) and not tiles.polls(x, y, go - 4, 4) and not tiles.polls(0, 0, go, 4)
    assert tiles.go_words().tolist()[3] == [x, y, 1 << 31]
    tiles.answer(3, 0)
    assert tiles.read(x, y, go, 4) == bytes(4) and tiles.go_words().tolist()[3] == [x, y, 0]
    assert tiles.take_told() == ([3], []) and not tiles.told


def test_ethernet_cores_are_always_done(chip):
    tiles, go = chip.tiles, chip.tiles.layout.idle_ethernet_go
    tiles.write(20, 16 if chip.arch.name == "wormhole_b0" else 25, go - 2, bytes([1, 2]) + INIT)
    assert tiles.read(20, 16 if chip.arch.name == "wormhole_b0" else 25, go - 2, 6) == bytes([1, 2]) + bytes(4)


def test_registers_and_other_tiles_keep_what_is_written(chip):
    tiles = chip.tiles
    for x, y, address in ((*chip.workers[0], 0xFFB121B0), (0, 0, 0xFFB20000), (40, 40, 4094), (0, 10, 0x8100000C4)):
        assert tiles.read(x, y, address, 8) == bytes(8)
        tiles.write(x, y, address, b"register")
        assert tiles.read(x, y, address, 8) == b"register"
    assert tiles.read(40, 40, 4096, 2) == b"gi"


def test_wrong_addresses_are_refused(chip):
    tiles, worker, end = chip.tiles, chip.workers[0], chip.arch.l1_size
    bank = {"wormhole_b0": (0, 0), "blackhole": (17, 12)}[chip.arch.name]
    size = chip.arch.dram_bank_bytes * chip.arch["dram.banks_per_tile"]
    for what, place, address in (
        ("L1", worker, end - 2),
        ("L1", worker, end),
        ("DRAM", bank, size - 2),
        ("DRAM", bank, size),
    ):
        if address + 4 > 0xFF000000:
            continue  # where Blackhole's memory ends, registers begin
        with pytest.raises(UsageError, match=what):
            tiles.write(*place, address, bytes(4))
        with pytest.raises(UsageError, match=what):
            tiles.read(*place, address, 4)


def messages(chip, seed):
    """Writes of a driver as (x, y, address, data): to mailboxes, over their end, to the go word, to other memories."""
    rng, tiles = random.Random(seed), chip.tiles
    places = [rng.choice(chip.workers) for _ in range(60)]
    go, end = tiles.layout.go, tiles.config_end
    addresses = [rng.choice([rng.randrange(0, end - 64), go, go - 2, end - 3, end + 64]) for _ in places]
    data = [rng.randbytes(rng.choice([0, 1, 4, 7, 32])) for _ in places]
    data = [
        rng.choice([INIT, GO]) if address == go else content for address, content in zip(addresses, data, strict=True)
    ]
    return [(x, y, address, content) for (x, y), address, content in zip(places, addresses, data, strict=True)]


@pytest.mark.parametrize("seed", range(3))
def test_many_writes_at_once_are_the_same_as_one_by_one(chip, seed):
    told, tiles, workers = messages(chip, seed), chip.tiles, range(len(chip.workers))
    tiles.launched(workers)
    tiles.config[:] = 0
    for message in told:
        tiles.write(*message)
    memory, noted, told_workers = tiles.config.copy(), tiles.writes(workers).tolist(), tiles.take_told()
    tiles.launched(workers)
    tiles.config[:] = 0
    stream, at = bytearray(), 0
    for x, y, address, content in told:
        stream += HEAD.pack(WRITE, x, y, len(content), address) + content
    stream += HEAD.pack(WRITE, *chip.workers[0], 100, 0)  # its bytes have not arrived
    while (at := tiles.take_writes(stream, at)) < len(stream) - HEAD.size:
        _, x, y, size, address = HEAD.unpack_from(stream, at)
        at += HEAD.size + size
        tiles.write(x, y, address, bytes(stream[at - size : at]))
    assert at == len(stream) - HEAD.size and (tiles.config == memory).all()
    assert tiles.writes(workers).tolist() == noted and tiles.take_told() == told_workers


def test_a_launch_forgets_the_writes_of_its_own_workers(chip):
    tiles, (first, second) = chip.tiles, chip.workers[:2]
    tiles.launched(range(len(chip.workers)))
    tiles.write(*first, 64, b"1234")
    tiles.write(*second, 128, b"12345678")
    tiles.launched([0])
    assert tiles.sizes([0, 1]) == {0: {}, 1: {128: 8}}


def test_more_writes_than_are_noted_at_once(chip):
    tiles, (x, y) = chip.tiles, chip.workers[3]
    tiles.launched(range(len(chip.workers)))
    stream = bytearray(HEAD.pack(WRITE, x, y, 1, 80) + b"a") * (LOG_ROOM + 10)
    at = tiles.take_writes(stream, 0)
    assert at == LOG_ROOM * (HEAD.size + 1), "the rest goes one by one, which makes room"
    tiles.write(x, y, 80, b"b")
    assert tiles.take_writes(stream, at) == len(stream) and len(tiles.writes([3])) == LOG_ROOM + 11
    tiles.launched([3])
