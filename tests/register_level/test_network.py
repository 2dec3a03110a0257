"""Tiles that send each other what their cores write into command buffers: reads, writes, inline writes, atomics, multicasts."""

import itertools

import pytest

from tensim.cli.options import NOC_MODELS
from tensim.sim.arch import load_arch
from tensim.sim.cores.coprocessor import stream_registers as streams
from tensim.sim.cores.coprocessor.debug_registers import SOFT_RESET
from tensim.sim.cores.coprocessor.tile_registers import STREAMS
from tensim.sim.register_level import niu
from tensim.sim.register_level.chip import RegisterChip
from tensim.sim.register_level.core_sets import TENSIX
from tensim.sim.register_level.host_memory import HOST_BIT, PCIE_TILE
from tensim.sim.register_level.memory import SparseMemory
from tests.cores.riscv.assembler import A0, A1, li, store
from tests.register_level.test_tile import RESULT, counts, jump, waits_for

CHIPS = ("wormhole_b0", "blackhole")
BRISC_ALONE = TENSIX.in_reset & ~(1 << TENSIX.reset_bits[3])
SOURCE, TARGET, FLAG = 0x10000, 0x20000, 0x30000
DRAM, DRAM_PORT = (30, 30), (0, 0)  # a name that no other tile has, and where it is


class Chip:
    """A chip whose cores run what the tests give them."""

    def __init__(self, name, settings=None, noc="packet"):
        self.arch, self.errors, self.noc = load_arch(name, settings or {}), [], noc
        self.memory = SparseMemory()  # of the host
        channels = [[DRAM_PORT, DRAM]]
        self.chip = RegisterChip(self.arch, channels, [], [], self.errors.append, lambda: self.memory, noc=noc)
        self.names = list(self.arch.kernel_coords)

    def start(self, place, program):
        tile = self.chip.tile(*place)
        tile.write(0, b"".join(word.to_bytes(4, "little") for word in program))
        tile.write(0xFFB121B0, BRISC_ALONE.to_bytes(4, "little"))

    def command(self, noc, control, target, back, length=0, data=0, buffer=0):
        """Instructions that fill a command buffer and send it; `target`, `back`: (address, word with coordinates)."""
        size, at_data, go, *_ = niu.LAYOUTS[self.arch.name]
        base = niu.NIUS + noc * niu.NIU_BYTES + buffer * size
        words = [*self._words(niu.TARGET, target), *self._words(niu.RETURN, back)]
        words += [(niu.CONTROL, control), (niu.LENGTH, length), (at_data, data), (go, 1)]
        return [
            one for place, value in words for one in (*li(A1, base + place), *li(A0, value), store("sw", A0, A1, 0))
        ]

    def _words(self, place, address):
        where, coordinates = address
        if self.arch.name == "blackhole":
            return [(place, where & 0xFFFFFFFF), (place + 4, where >> 32), (place + 8, coordinates)]
        return [(place, where & 0xFFFFFFFF), (place + 4, where >> 32 | coordinates << 4)]

    def counter(self, place, number, noc=0):
        at = niu.NIUS + noc * niu.NIU_BYTES + niu.STATUS + 4 * number
        return int.from_bytes(self.chip.tile(*place).read(at, 4), "little")


@pytest.fixture(params=itertools.product(CHIPS, NOC_MODELS), ids="-".join)
def chip(request):
    name, noc = request.param
    return Chip(name, noc=noc)


def xy(place):
    return place[0] | place[1] << 6


def number(value):
    return value.to_bytes(4, "little")


CONTENT = bytes(range(64))


def test_a_write_arrives_and_is_acknowledged(chip):
    one, other = chip.names[0], chip.names[-1]
    chip.chip.write(*one, SOURCE, CONTENT)
    control = niu.WRITE | niu.MARKED
    chip.start(one, [*chip.command(0, control, (SOURCE, xy(one)), (TARGET, xy(other)), 64), jump(0)])
    chip.chip.run(2000)
    assert chip.chip.tile(*other).read(TARGET, 64) == CONTENT
    assert [chip.counter(one, which) for which in (niu.WRITES_SENT, niu.WRITE_ACKS, niu.OUTSTANDING)] == [1, 1, 0]
    assert not chip.errors and not chip.chip.is_busy


@pytest.mark.parametrize("noc", [0, 1])
def test_a_read_brings_what_lies_in_dram(chip, noc):
    one = chip.names[5]
    chip.chip.write(*DRAM, 0x4000, CONTENT)
    chip.start(one, [*chip.command(noc, niu.MARKED, (0x4000, xy(DRAM)), (TARGET, xy(one)), 64), jump(0)])
    chip.chip.run(3000)
    assert chip.chip.tile(*one).read(TARGET, 64) == CONTENT
    assert chip.counter(one, niu.READS_SENT, noc) == chip.counter(one, niu.READ_RESPONSES, noc) == 1


def test_reads_of_the_next_tile_bring_what_lies_there_whenever_they_are_made(chip):
    """The answer comes over one hop of NoC 1, to a tile that is run before the one that it comes from."""
    one, other = chip.names[0], chip.names[1]
    content = bytes(range(1, 65))
    chip.chip.write(*other, SOURCE, content * 4)
    wait, program = li(A0, 0), []
    for number in range(40):
        back = TARGET + 64 * number
        program += [*chip.command(1, niu.MARKED, (SOURCE, xy(other)), (back, xy(one)), 32), *wait * (number % 23)]
    chip.start(one, [*program, jump(0)])
    chip.chip.run(20000)
    assert [chip.chip.tile(*one).read(TARGET + 64 * number, 32) for number in range(40)] == 40 * [content[:32]]


def test_an_inline_write_wakes_who_waits_for_it_no_sooner_than_a_head_needs(chip):
    one, other = chip.names[0], chip.names[-1]
    control = niu.WRITE | niu.INLINE
    chip.start(other, waits_for(FLAG))
    chip.start(one, [*chip.command(0, control, (FLAG, xy(other)), (0, 0), 0xF, 1), jump(0)])
    chip.chip.run(2000)
    waiting = chip.chip.tile(*other).cores.records[3]
    sent = chip.chip.tile(*one).cores.records[3]["clock"]
    (x, y), (tx, ty) = chip.chip.physical(one), chip.chip.physical(other)
    assert chip.chip.tile(*other).read(FLAG, 4) == number(1)
    assert waiting["clock"] - sent >= chip.arch["noc.hop_cycles"] * (tx - x + ty - y)
    assert chip.counter(one, niu.POSTED_WRITES_SENT) == 1


def test_atomics_of_two_tiles_add_up(chip):
    one, two, target = chip.names[0], chip.names[1], chip.names[9]
    increment = 1 << 12 | 31 << 2
    for place in (one, two):
        program = chip.command(0, niu.ATOMIC | niu.MARKED, (FLAG, xy(target)), (SOURCE, xy(place)), increment, 5)
        chip.start(place, [*program, jump(0)])
    chip.chip.run(3000)
    assert chip.chip.tile(*target).read(FLAG, 4) == number(10)
    olds = {chip.chip.tile(*place).read(SOURCE, 4) for place in (one, two)}
    assert olds == {number(0), number(5)}
    assert all(chip.counter(place, niu.ATOMIC_RESPONSES) == 1 for place in (one, two))


def test_tiles_take_the_same_time_together_and_alone(chip):
    places, alone = chip.names[:3], {}
    programs = [[*li(A0, 0)] * number + counts() for number in range(3)]
    for place, program in zip(places, programs, strict=True):
        other = Chip(chip.arch.name, noc=chip.noc)
        other.start(place, program)
        other.chip.run(3000)
        alone[place] = (other.chip.tile(*place).read(RESULT, 4), other.chip.tile(*place).retired)
        chip.start(place, program)
    chip.chip.run(3000)
    assert {
        place: (chip.chip.tile(*place).read(RESULT, 4), chip.chip.tile(*place).retired) for place in places
    } == alone
    assert len({retired["BRISC"] for _, retired in alone.values()}) > 1


def test_a_tile_that_stops_leaves_the_others_going(chip):
    counting, failing = chip.names[0], chip.names[1]
    chip.start(counting, counts())
    chip.start(failing, [*li(A1, 0x1000_0000), store("sw", A0, A1, 0), *counts()])
    chip.chip.run(1000)
    before = chip.chip.tile(*counting).retired["BRISC"]
    chip.chip.run(2000)
    (error,) = chip.errors
    assert f"tile {failing[0]}-{failing[1]}" in str(error) and chip.chip.tile(*failing).read(RESULT, 4) == number(0)
    assert chip.chip.tile(*counting).retired["BRISC"] > before > 100


def test_a_host_that_reads_soft_resets_again_does_not_wait_for_another_value(chip):
    """Debuggers do so before each access; of other places the chip runs on until something changes."""
    place = chip.names[0]
    chip.start(place, counts())
    for address, waits in ((SOFT_RESET, False), (FLAG, True)):
        first, begun = chip.chip.read(*place, address, 4), chip.chip.now
        assert chip.chip.read(*place, address, 4) == first
        latency = chip.arch["pcie.read_latency_ns"] * chip.arch.clock_mhz / 1000
        assert (chip.chip.now - begun > 2 * latency) == waits


@pytest.mark.parametrize("includes", [False, True])
def test_a_multicast_reaches_the_rectangle(chip, includes):
    """Corners as kernels give them: the last one in the low bits."""
    width = chip.arch.grid[0]
    one, last = chip.names[0], chip.names[width + 2]  # two rows of three
    control = niu.WRITE | niu.MARKED | niu.BROADCAST | (niu.INCLUDES_SOURCE if includes else 0)
    chip.chip.write(*one, SOURCE, CONTENT)
    chip.start(one, [*chip.command(0, control, (SOURCE, xy(one)), (TARGET, xy(last) | xy(one) << 12), 64), jump(0)])
    chip.chip.run(3000)
    reached = [place for place in chip.names if chip.chip.tile(*place).read(TARGET, 64) == CONTENT]
    expected = [chip.names[row * width + column] for row in range(2) for column in range(3)]
    assert reached == (expected if includes else expected[1:])
    assert chip.counter(one, niu.WRITE_ACKS) == len(reached)


@pytest.mark.parametrize("kind", [niu.WRITE, niu.WRITE | niu.INLINE])
def test_a_multicast_that_nobody_gets_ends(chip, kind):
    one = chip.names[0]
    place = xy(one) | xy(one) << 12  # its own tile alone, which does not count itself in
    back = (TARGET, xy(one)) if kind & niu.INLINE else (TARGET, place)
    target = (TARGET, place) if kind & niu.INLINE else (SOURCE, xy(one))
    chip.start(one, [*chip.command(0, kind | niu.MARKED | niu.BROADCAST, target, back, 64), jump(0)])
    chip.chip.run(3000)
    assert not chip.errors and not chip.chip.is_busy and not chip.chip.network._under_way


class Order:
    """Addresses to which others write, in their order."""

    def __init__(self):
        self.addresses = []

    def written(self, tile, address, content, cycle):
        self.addresses.append(address)


def test_a_linked_multicast_is_not_overtaken_when_others_have_the_path(chip):
    """Of two tiles that send data and a flag behind them to the same receivers, one has to wait with both."""
    width = chip.arch.grid[0]
    senders, receivers = (chip.names[0], chip.names[1]), chip.names[width : width + 4]
    rectangle = xy(receivers[-1]) | xy(receivers[0]) << 12
    multicast, large = niu.WRITE | niu.MARKED | niu.BROADCAST, 4096
    orders = {place: Order() for place in receivers}
    for place, order in orders.items():
        chip.chip.tile(*place).observer = order
    for number, place in enumerate(senders):
        data, flag = TARGET + large * number, FLAG + 16 * number
        program = chip.command(0, multicast | niu.LINKED, (SOURCE, xy(place)), (data, rectangle), large, 0, 0)
        program += chip.command(0, multicast, (SOURCE, xy(place)), (flag, rectangle), 4, 0, 1)
        chip.start(place, [*program, jump(0)])
    chip.chip.run(20000)
    for order in orders.values():
        found = [address for address in order.addresses if address in (TARGET, FLAG, TARGET + large, FLAG + 16)]
        assert found in ([TARGET, FLAG, TARGET + large, FLAG + 16], [TARGET + large, FLAG + 16, TARGET, FLAG])


def test_flags_that_come_to_a_tile_as_it_sends_are_there(chip):
    """Whatever cycles lie between what it sends and what comes of two others, while a fourth goes on."""
    inline = niu.WRITE | niu.INLINE
    for delay in range(60):
        again = Chip(chip.arch.name, noc=chip.noc)
        one, *others, counting = again.names[:4]
        send = again.command(0, inline, (FLAG, xy(counting)), (0, 0), 0xF, 1)
        again.start(one, [*li(A0, 0) * 25, *send, jump(0)])
        for which, (other, address) in enumerate(zip(others, (FLAG, FLAG + 64), strict=True)):
            flag = again.command(1, inline, (address, xy(one)), (0, 0), 0xF, 1)
            again.start(other, [*li(A0, 0) * (delay + which), *flag, jump(0)])
        again.start(counting, counts())
        again.chip.run(2000)
        assert [again.chip.tile(*one).read(address, 4) for address in (FLAG, FLAG + 64)] == 2 * [number(1)]


def traffic(name, noc, kind, target, size, senders=1):
    """Cycles after which each of so many tiles has the last answer to its four requests."""
    chip = Chip(name, noc=noc)
    static = niu.MARKED | niu.STATIC | 1 << niu.VC_SHIFT  # as the library's API sends writes
    control, counter = {"read": (niu.MARKED, niu.READ_RESPONSES), "write": (niu.WRITE | static, niu.WRITE_ACKS)}[kind]
    for sender in chip.names[:senders]:
        there = {"neighbour": chip.names[1], "corner": chip.names[-1], "DRAM": DRAM, "itself": sender}[target]
        far, near = (0x4000, xy(there)), (TARGET, xy(sender))
        command = chip.command(0, control, *((far, near) if kind == "read" else (near, far)), size)
        chip.start(sender, [*command * 4, jump(0)])
    found = {}
    while len(found) < senders:
        chip.chip.run(chip.chip.now + 1)
        assert chip.chip.now < 20_000
        for sender in chip.names[:senders]:
            if sender not in found and chip.counter(sender, counter) == 4:
                found[sender] = chip.chip.now
    return list(found.values())


@pytest.mark.parametrize("name", CHIPS)
@pytest.mark.parametrize("target", ["neighbour", "corner", "DRAM", "itself"])
@pytest.mark.parametrize("kind", ["read", "write"])
def test_alone_a_tile_waits_as_long_by_flits_as_by_packets(name, kind, target):
    for size in (16, 1024):
        packet, flit = (traffic(name, noc, kind, target, size)[0] for noc in NOC_MODELS)
        assert abs(packet - flit) <= 1


@pytest.mark.parametrize("name", CHIPS)
@pytest.mark.parametrize("target", ["corner", "DRAM"])
@pytest.mark.parametrize("kind", ["read", "write"])
def test_tiles_that_share_a_target_have_it_for_as_long_by_flits_as_by_packets(name, kind, target):
    packet, flit = (max(traffic(name, noc, kind, target, 1024, senders=8)) for noc in NOC_MODELS)
    assert flit == pytest.approx(packet, rel=0.05)


def test_physical_coordinates_name_the_same_tile(chip):
    name, physical = chip.names[-1], chip.arch.worker_coords[-1]
    chip.chip.write(*name, TARGET, b"same")
    width, height = chip.arch["chip.noc_grid"]
    mirrored = width - 1 - physical[0], height - 1 - physical[1]
    assert chip.chip.place(0, *physical) == name
    if mirrored not in chip.names:
        assert chip.chip.place(1, *mirrored) == name


def test_a_program_takes_the_same_cycles_again(chip):
    clocks = []
    for _ in range(2):
        again = Chip(chip.arch.name, noc=chip.noc)
        one, other = again.names[0], again.names[-1]
        again.start(other, waits_for(FLAG))
        control = niu.WRITE | niu.INLINE
        again.start(one, [*again.command(1, control, (FLAG, xy(other)), (0, 0), 0xF, 1), jump(0)])
        again.chip.run(2000)
        clocks.append(int(again.chip.tile(*other).cores.records[3]["clock"]))
    assert clocks[0] == clocks[1]


REGISTERS = {
    "wormhole_b0": (streams.WORMHOLE_SIZE, streams.WORMHOLE_AVAILABLE, streams.WORMHOLE_UPDATE),
    "blackhole": (streams.BLACKHOLE_SIZE, streams.BLACKHOLE_AVAILABLE, streams.BLACKHOLE_UPDATE),
}


def test_inline_writes_add_to_a_register_of_a_stream(chip):
    """As workers tell tt-metal's dispatcher that they are done; the tile's own core sets the count, and waits for it."""
    one, other = chip.names[0], chip.names[-1]
    size, available, update = (STREAMS + 48 * streams.STREAM_BYTES + 4 * index for index in REGISTERS[chip.arch.name])
    chip.start(other, [*li(A1, size), *li(A0, 5), store("sw", A0, A1, 0), *waits_for(available)])
    chip.chip.run(500)
    assert not chip.chip.is_busy  # the core waits, and costs nothing
    control, enabled = niu.WRITE | niu.INLINE, 15 << update % 32
    add = chip.command(0, control, (update, xy(other)), (0, xy(one)), enabled, 3 << streams.NUMBER_BITS)
    chip.start(one, [*add, *add, jump(0)])
    chip.chip.run(4000)
    assert int.from_bytes(chip.chip.tile(*other).read(available, 4), "little") == 5 + 3 + 3
    assert not chip.errors


def test_the_memory_of_the_host_lies_behind_the_pcie_tile(chip):
    one, (pcie, _) = chip.names[0], PCIE_TILE[chip.arch.name]
    chip.memory.write(0x4000, CONTENT)
    host = HOST_BIT[chip.arch.name]
    fetch = chip.command(0, niu.MARKED, (host | 0x4000, xy(pcie)), (TARGET, xy(one)), 64)
    bring = chip.command(0, niu.WRITE | niu.MARKED, (SOURCE, xy(one)), (host | 0x8000, xy(pcie)), 64, buffer=1)
    chip.chip.write(*one, SOURCE, CONTENT[::-1])
    chip.start(one, [*fetch, *bring, jump(0)])
    chip.chip.run(6000)
    assert chip.chip.tile(*one).read(TARGET, 64) == CONTENT
    assert chip.memory.read(0x8000, 64) == CONTENT[::-1]
    assert not chip.errors and chip.chip.host.written == 1


def test_a_write_is_sent_when_it_has_left(chip):
    """Until then the counter that flushes wait for does not move: the source is read as it leaves."""
    one, other = chip.names[0], chip.names[-1]
    control, words = niu.WRITE | niu.MARKED, 8192
    large = chip.command(0, control, (SOURCE, xy(one)), (TARGET, xy(other)), words)
    chip.start(one, [*large, jump(0)])
    for _ in range(200):
        chip.chip.run(chip.chip.now + 10)
        if chip.counter(one, niu.WRITES_STARTED):
            break
    assert (chip.counter(one, niu.WRITES_STARTED), chip.counter(one, niu.WRITES_SENT)) == (1, 0)
    chip.chip.run(chip.chip.now + 2000)
    assert chip.counter(one, niu.WRITES_SENT) == 1


@pytest.mark.parametrize("name", CHIPS)
@pytest.mark.parametrize("target", ["worker", "DRAM"])
def test_a_core_is_told_later_that_its_write_to_an_l1_has_left(name, target):
    """By `noc.write_sent_cycles`; of a write to DRAM at once."""
    sent = []
    for told in (0, 200):
        chip = Chip(name, {"noc.write_sent_cycles": told})
        one = chip.names[0]
        there = chip.names[-1] if target == "worker" else DRAM
        command = chip.command(0, niu.WRITE | niu.MARKED, (SOURCE, xy(one)), (TARGET, xy(there)), 1024)
        chip.start(one, [*command, jump(0)])
        while not chip.counter(one, niu.WRITES_SENT):
            chip.chip.run(chip.chip.now + 1)
        sent.append(chip.chip.now)
    assert sent[1] - sent[0] == (200 if target == "worker" else 0)


def free_command_buffers(chip, place, noc=0):
    """Cycles at which a tile's first command buffer becomes free, up to 3,000 cycles from now."""
    size, _, go, *_ = niu.LAYOUTS[chip.arch.name]
    found, taken = [], False
    for _ in range(1500):
        chip.chip.run(chip.chip.now + 2)
        was, taken = taken, chip.chip.tile(*place).read(niu.NIUS + noc * niu.NIU_BYTES + go, 4) != bytes(4)
        if was and not taken:
            found.append(chip.chip.now)
    return found


def test_a_command_buffer_is_free_when_its_packet_has_begun_to_leave(chip):
    """The second large write waits in its command buffer until the NIU has sent the first one."""
    one, other, size = chip.names[0], chip.names[-1], 8192
    control = niu.WRITE | niu.MARKED | niu.STATIC | 1 << niu.VC_SHIFT
    first = chip.command(0, control, (SOURCE, xy(one)), (TARGET, xy(other)), size, buffer=1)
    second = chip.command(0, control, (SOURCE, xy(one)), (TARGET, xy(other)), size)
    chip.start(one, [*first, *second, jump(0)])
    (free,) = free_command_buffers(chip, one)
    assert free > size // chip.arch["noc.flit_bytes"]
    assert chip.counter(one, niu.WRITE_ACKS) == 2


def test_writes_of_many_tiles_into_one_take_its_port_in_turn(chip):
    """As in the packet model: its last link carries a flit a cycle, whoever sent it."""
    target, senders, size = chip.names[0], chip.names[1:5], 4096
    control = niu.WRITE | niu.MARKED | niu.STATIC | 1 << niu.VC_SHIFT
    for place in senders:
        chip.start(place, [*chip.command(0, control, (SOURCE, xy(place)), (TARGET, xy(target)), size), jump(0)])
    flits = len(senders) * (size // chip.arch["noc.flit_bytes"])
    while not all(chip.counter(place, niu.WRITE_ACKS) for place in senders):
        chip.chip.run(chip.chip.now + 10)
        assert chip.chip.now < 4 * flits + 1000
    assert chip.chip.now > flits


@pytest.mark.parametrize("noc", [0, 1])
def test_a_request_to_a_place_without_a_tile_is_told_and_goes_nowhere(chip, noc):
    one = chip.names[0]
    chip.start(one, [*chip.command(noc, niu.MARKED, (SOURCE, xy((60, 61))), (TARGET, xy(one)), 64), jump(0)])
    chip.chip.run(3000)
    (error,) = chip.errors
    assert "where no tile is" in str(error) and f"NoC {noc}" in str(error)
    assert chip.counter(one, niu.READ_RESPONSES, noc) == 0
