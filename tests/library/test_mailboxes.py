"""Where releases keep their mailboxes, by their own headers; launch messages, byte by byte as their structures say."""

import os
import struct
from pathlib import Path

import pytest

from tensim.library.environment import Library, find_library
from tensim.library.mailbox_layout import MESSAGES, layout_of
from tensim.library.mailboxes import l1_banks, parse
from tensim.sim.arch import load_arch
from tensim.sim.errors import UsageError
from tests.library import stand_in, stand_in_headers

BOTH = pytest.mark.parametrize("release, arch", stand_in.PLACES)


@pytest.fixture(scope="module")
def layout(installed):
    """Gives the `Layout` that the headers of a release of the stand-in say."""
    return lambda release, arch: layout_of(find_library(installed.of(release)), load_arch(arch))


def memory_with(release, arch, **message):
    launch, _, base, _ = stand_in.PLACES[release, arch]
    data = stand_in.launch_message(release, base, **message)
    assert len(data) == (96 if release == "0.66.0" else 144)
    return bytes(launch) + data + bytes(0x1000)


@BOTH
def test_places(layout, release, arch):
    layout = layout(release, arch)
    launch, go, _, banks = stand_in.PLACES[release, arch]
    assert (layout.launch, layout.go, layout.banks) == (launch, go, banks)
    assert layout.idle_ethernet_go == stand_in.IDLE_ETHERNET_GO[release, arch]


@BOTH
def test_a_message(layout, release, arch):
    unique, common = (0, 16, 48, 48, 48), (8, 32, 0, 0, 64)
    texts = (0x300, 0x380, 0x400, 0x480, 0x500)
    message = parse(
        layout(release, arch),
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


def test_the_newer_release_has_64_circular_buffers(layout):
    mask = 1 << 40
    new = memory_with("0.81.1", "wormhole_b0", enables=1, mask=mask, host_id=1)
    assert list(parse(layout("0.81.1", "wormhole_b0"), new).buffers) == [40]
    old = memory_with("0.66.0", "wormhole_b0", enables=1, mask=1 << 31, host_id=1)
    assert list(parse(layout("0.66.0", "wormhole_b0"), old).buffers) == [31]


@pytest.mark.parametrize("arch, shift, dram", [("wormhole_b0", 4, 12), ("blackhole", 0, 8)])
def test_the_table_of_banks(layout, arch, shift, dram):
    layout, places = layout("0.81.1", arch), [(18, 25), (1, 2), (63, 9)]
    words = [0xFFFF] * (2 * dram) + [(y << 6 | x) << shift for x, y in places]
    memory = bytes(layout.banks) + struct.pack(f"<{len(words)}H", *words)
    assert l1_banks(layout, memory, dram, len(places)) == places


def refusal(library, arch):
    with pytest.raises(UsageError) as raised:
        layout_of(library, load_arch(arch))
    return str(raised.value)


def test_a_release_without_these_headers_is_not_known(tmp_path):
    library = Library("python", tmp_path, "0.50.0")
    assert refusal(library, "wormhole_b0").startswith("ttnn 0.50.0 is not known here: it has no dev_msgs.h")
    assert refusal(library, "grayskull").startswith("ttnn 0.50.0 knows no grayskull")


def test_headers_that_say_something_else_are_told(tmp_path):
    for name, text in stand_in_headers.texts("0.81.1").items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    messages = tmp_path / MESSAGES[0]
    messages.write_text(messages.read_text().replace("unsigned enables", "unsigned starts"))
    said = refusal(Library("python", tmp_path, "0.99.0"), "blackhole")
    assert said.startswith("the headers of ttnn 0.99.0 do not say where its mailboxes lie: ") and "enables" in said


WHEELS = [Path(folder) for folder in os.environ.get("TENSIM_TTNN_SOURCES", "").split(":") if folder]


@pytest.mark.skipif(not WHEELS, reason="no wheel of ttnn: TENSIM_TTNN_SOURCES")
@pytest.mark.parametrize("arch", ["wormhole_b0", "blackhole"])
def test_the_wheels_say_what_was_published(layout, arch):
    found = [layout_of(Library("python", folder / "ttnn", "a wheel"), load_arch(arch)) for folder in WHEELS]
    assert {*found} == {layout(release, arch) for release in ("0.66.0", "0.81.1")}
