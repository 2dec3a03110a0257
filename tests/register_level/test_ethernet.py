"""Ethernet tiles of two chips: what transmit queues send over a link, and when it is there."""

import math

import pytest

from tensim.sim.arch import load_arch
from tensim.sim.cores.coprocessor import stream_registers as streams
from tensim.sim.cores.coprocessor.state import BRISC
from tensim.sim.cores.coprocessor.tile_registers import ETHERNET, STREAMS
from tensim.sim.errors import UsageError
from tensim.sim.register_level import ethernet
from tensim.sim.register_level.chip import RegisterChip
from tensim.sim.register_level.core_sets import ETHERNET as CORES
from tensim.sim.register_level.core_sets import ETHERNET_ENTRIES
from tensim.sim.register_level.mesh import RegisterMesh
from tests.cores.riscv.assembler import A0, A1, A2, ZERO, branch, li, load, store
from tests.register_level.test_tile import jump

TILES = {
    "wormhole_b0": [((25, 16), (9, 0)), ((18, 16), (1, 0))],
    "blackhole": [((20, 25), (1, 1)), ((21, 25), (16, 1))],
}
SOURCE, TARGET, FLAG, PROGRAM = 0x20000, 0x28000, 0x2F000, 0x10000
CLOCK_AT = 0xFFB121F0


class Pair:
    """Two chips with a link between their first Ethernet tiles."""

    def __init__(self, name):
        self.arch, self.errors = load_arch(name), []
        self.chips = [RegisterChip(self.arch, [], [], TILES[name], self.errors.append) for _ in range(2)]
        self.place, self.without_link = (named for named, _ in TILES[name])
        self.mesh = RegisterMesh(self.chips, [((0, self.place), (1, self.place))])

    def tile(self, chip, place=None):
        return self.chips[chip].tile(*(place or self.place))

    def start(self, chip, program, place=None):
        """Let the first core of an Ethernet tile run a program."""
        tile = self.tile(chip, place)
        tile.write(PROGRAM, b"".join(word.to_bytes(4, "little") for word in program))
        tile.write(ETHERNET_ENTRIES, PROGRAM.to_bytes(4, "little"))
        cores = CORES[self.arch.name]
        tile.write(0xFFB121B0, (cores.in_reset & ~(1 << cores.reset_bits[BRISC])).to_bytes(4, "little"))

    def word(self, chip, address):
        return int.from_bytes(self.tile(chip).read(address, 4), "little")

    def line_cycles(self, size):
        """Cycles of a payload on the line."""
        frames = math.ceil(size / self.arch["ethernet.frame_bytes"])
        bytes_a_cycle = self.arch["ethernet.line_bytes_per_ns"] * 1000 / self.arch.clock_mhz
        return math.ceil((size + frames * self.arch["ethernet.frame_overhead"]) / bytes_a_cycle)


@pytest.fixture(params=TILES)
def pair(request):
    return Pair(request.param)


def command(queue, kind, target, source=0, size=0, value=0):
    """Instructions that give a transmit queue a command."""
    base = ETHERNET + queue * ethernet.QUEUE_BYTES
    settings = [(ethernet.SOURCE, source), (ethernet.SIZE, size), (ethernet.TARGET, target), (ethernet.VALUE, value)]
    words = [*settings, (ethernet.COMMAND, kind)]
    return [
        one for place, content in words for one in (*li(A1, base + place), *li(A0, content), store("sw", A0, A1, 0))
    ]


def stamps(address):
    """Instructions that store the wall clock."""
    return [*li(A1, CLOCK_AT), load("lw", A0, A1), *li(A1, address), store("sw", A0, A1, 0)]


def waits_for_queue(queue):
    """Instructions that wait until a queue takes commands."""
    return [
        *li(A1, ETHERNET + queue * ethernet.QUEUE_BYTES + ethernet.COMMAND),
        load("lw", A0, A1),
        until_equal(A0, ZERO),
    ]


def until_equal(one, other):
    """Branches to the instruction before unless two registers are equal."""
    return branch("bne", one, other, "before")[0](-4)


def waits_for_word(address):
    """Instructions that wait until a word of L1 is no longer zero."""
    return [*li(A1, address), load("lw", A0, A1), branch("beq", A0, ZERO, "before")[0](-4)]


CONTENT = bytes(range(256)) * 16


def test_a_payload_arrives_and_the_word_behind_it_wakes_who_waits(pair):
    size = len(CONTENT)
    pair.tile(0).write(SOURCE, CONTENT)
    pair.start(1, [*waits_for_word(FLAG), *stamps(FLAG + 16), jump(0)])
    behind = command(0, ethernet.REGISTER, FLAG, value=7)
    pair.start(0, [*stamps(FLAG + 16), *command(0, ethernet.DATA, TARGET, SOURCE, size), *behind, jump(0)])
    pair.mesh.run(10_000)
    assert pair.tile(1).read(TARGET, size) == CONTENT and pair.word(1, FLAG) == 7
    took = pair.word(1, FLAG + 16) - pair.word(0, FLAG + 16)
    least = pair.line_cycles(size) + pair.arch["ethernet.signal"] + pair.arch["ethernet.line_latency"]
    assert least <= took < least + 100
    link = pair.chips[0].links[pair.place]
    assert (link.packets, link.bytes) == (1, size) and not pair.errors and not pair.mesh.is_busy


def test_a_queue_waits_for_the_line_and_tells_so(pair):
    """A third payload is taken when the second one begins to leave, which is behind the first."""
    size, program = len(CONTENT), []
    for number in range(3):
        program += [*waits_for_queue(0), *stamps(FLAG + 16 * number), *command(0, ethernet.DATA, TARGET, SOURCE, size)]
    pair.start(0, [*program, jump(0)])
    pair.mesh.run(20_000)
    times = [pair.word(0, FLAG + 16 * number) for number in range(3)]
    line = pair.line_cycles(size)
    assert times[1] - times[0] < line and abs(times[2] - times[0] - line) < 100


def test_a_word_of_another_queue_waits_for_the_payload_on_the_line_alone(pair):
    """Behind two payloads of queue 0, it goes between them."""
    size, times = len(CONTENT), []
    payload = command(0, ethernet.DATA, TARGET, SOURCE, size)
    for queue in (0, 1):
        again = Pair(pair.arch.name)
        again.start(1, [*waits_for_word(FLAG), *stamps(FLAG + 16), jump(0)])
        behind = command(queue, ethernet.REGISTER, FLAG, value=1)
        again.start(0, [*stamps(FLAG + 16), *payload, *waits_for_queue(0), *payload, *behind, jump(0)])
        again.mesh.run(10_000)
        times.append(again.word(1, FLAG + 16) - again.word(0, FLAG + 16))
    assert times[0] - times[1] > pair.line_cycles(size) - 100
    assert times[1] > pair.line_cycles(size) + pair.arch["ethernet.signal_latency"]


def test_a_word_adds_to_a_register_of_the_peers_streams(pair):
    update, available = (
        (streams.BLACKHOLE_UPDATE, streams.BLACKHOLE_AVAILABLE)
        if pair.arch.name == "blackhole"
        else (streams.WORMHOLE_UPDATE, streams.WORMHOLE_AVAILABLE)
    )
    stream = STREAMS + 3 * streams.STREAM_BYTES
    add = command(0, ethernet.REGISTER, stream + 4 * update, value=5 << streams.NUMBER_BITS)
    pair.start(0, [*add, *add, jump(0)])
    pair.mesh.run(5_000)
    assert pair.word(1, stream + 4 * available) == 10


def test_chips_answer_each_other(pair):
    """A word goes there and back ten times; each way takes a signal's latency."""
    counts = 10

    def turn(mine, theirs, begins):
        program = []
        for number in range(1, counts + 1):
            send = command(0, ethernet.REGISTER, theirs, value=number)
            wait = [*li(A1, mine), *li(A2, number), load("lw", A0, A1), until_equal(A0, A2)]
            program += [*send, *wait] if begins else [*wait, *send]
        return [*program, *stamps(FLAG + 64), jump(0)]

    pair.start(0, turn(FLAG, FLAG + 16, True))
    pair.start(1, turn(FLAG + 16, FLAG, False))
    pair.mesh.run(100_000)
    way = pair.arch["ethernet.signal_latency"] + pair.arch["ethernet.signal"]
    assert 2 * counts * way <= pair.word(0, FLAG + 64) < 2 * counts * (way + 100)


def test_what_cannot_be_sent_is_told(pair):
    pair.start(0, [*command(0, ethernet.DATA, TARGET, SOURCE, 24), jump(0)])
    pair.start(0, [*command(0, ethernet.REGISTER, TARGET), jump(0)], pair.without_link)
    pair.mesh.run(2_000)
    said = " ".join(map(str, pair.errors))
    assert "24 bytes" in said and "no link" in said


def test_a_tile_has_one_link(pair):
    links = [((0, pair.place), (1, pair.place)), ((0, pair.place), (1, pair.without_link))]
    with pytest.raises(UsageError, match="two links"):
        RegisterMesh([RegisterChip(pair.arch, [], [], TILES[pair.arch.name], print) for _ in range(2)], links)
