"""Launch messages of both releases, byte by byte as their structures say, and what they become here."""

import struct

import pytest

from tensim.library.mailboxes import LAYOUTS, known_release, l1_banks, parse
from tests.library import stand_in

FIRST = {"0.66.0": 66, "0.81.1": 81}
BOTH = pytest.mark.parametrize("release, arch", stand_in.PLACES)


def layout_of(release, arch):
    return LAYOUTS[FIRST[release], arch]


def memory_with(release, arch, **message):
    launch, _, base, _ = stand_in.PLACES[release, arch]
    data = stand_in.launch_message(release, base, **message)
    assert len(data) == (96 if release == "0.66.0" else 144)
    return bytes(launch) + data + bytes(0x1000)


@BOTH
def test_places(release, arch):
    layout = layout_of(release, arch)
    launch, go, _, banks = stand_in.PLACES[release, arch]
    assert (layout.launch, layout.go, layout.banks) == (launch, go, banks)
    assert layout.idle_ethernet_go == stand_in.IDLE_ETHERNET_GO[release, arch]


@BOTH
def test_a_message(release, arch):
    unique, common = (0, 16, 48, 48, 48), (8, 32, 0, 0, 64)
    texts = (0x300, 0x380, 0x400, 0x480, 0x500)
    message = parse(
        layout_of(release, arch),
        memory_with(
            release,
            arch,
            enables=0b11101,
            mask=1 << 16 | 1 << 31 | 1,
            host_id=77,
            unique=unique,
            common=common,
            texts=texts,
        ),
    )
    base = stand_in.PLACES[release, arch][2]
    assert message.host_id == 77 and message.enabled == (0, 2, 3, 4)
    assert message.unique == tuple(base + offset for offset in unique)
    assert message.common == (base + 8, base + 32, 0, 0, base + 64), "0: the processor has none"
    assert message.text == tuple(base + offset for offset in texts)
    assert message.semaphores == base + stand_in.SEMAPHORES
    assert message.buffers == {i: base + stand_in.BUFFERS + 16 * i for i in (0, 16, 31)}
    assert set(message.bounds) >= {base + 0x300, base + stand_in.SEMAPHORES, base + stand_in.BUFFERS}
    assert list(message.bounds) == sorted(message.bounds)


def test_the_newer_release_has_64_circular_buffers():
    mask = 1 << 40
    new = memory_with("0.81.1", "wormhole_b0", enables=1, mask=mask, host_id=1)
    assert list(parse(layout_of("0.81.1", "wormhole_b0"), new).buffers) == [40]
    old = memory_with("0.66.0", "wormhole_b0", enables=1, mask=1 << 31, host_id=1)
    assert list(parse(layout_of("0.66.0", "wormhole_b0"), old).buffers) == [31]


@pytest.mark.parametrize("arch, shift, dram", [("wormhole_b0", 4, 12), ("blackhole", 0, 8)])
def test_the_table_of_banks(arch, shift, dram):
    layout, places = layout_of("0.81.1", arch), [(18, 25), (1, 2), (63, 9)]
    words = [0xFFFF] * (2 * dram) + [(y << 6 | x) << shift for x, y in places]
    memory = bytes(layout.banks) + struct.pack(f"<{len(words)}H", *words)
    assert l1_banks(layout, memory, dram, len(places)) == places


@pytest.mark.parametrize(
    "release, known",
    [("0.66.0", 66), ("0.81.1", 81), ("0.81.0rc3", 81), ("0.70.0", None), ("1.81.0", None), ("0", None), ("x", None)],
)
def test_releases(release, known):
    assert known_release(release) == known
