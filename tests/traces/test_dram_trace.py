"""Address traces: reading, channel maps, rates, latency under load, the command line."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from tensim.cli.main import main
from tensim.sim.arch import load_arch
from tensim.sim.errors import UsageError
from tensim.traces.dram_trace import (
    ChannelMap,
    Requests,
    latency_load,
    plot_latency_load,
    read_trace,
    serve_requests,
    split,
)
from tests.commands import exit_code

ARCH = load_arch("wormhole_b0")


def write(tmp_path, text, name="trace.txt"):
    path = tmp_path / name
    path.write_text(text)
    return str(path)


def stream(n, size=4096, kind=0):
    return Requests(np.arange(n) * size, np.full(n, size), np.full(n, kind))


def test_lines_are_requests(tmp_path):
    path = write(tmp_path, "# comment\nR 0x40 128\n\nw 4096   # one burst\n")
    requests = read_trace(path, 32)
    assert requests.addresses.tolist() == [64, 4096]
    assert requests.sizes.tolist() == [128, 32]
    assert requests.writes.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("X 0", "'X' is neither R nor W"),
        ("R", "1 words"),
        ("R 0 64 1", "4 words"),
        ("R zz", "'zz' is not a valid address"),
        ("R 0 many", "'many' is not a valid byte count"),
        ("R -32", "outside 48 bits"),
        ("R 0 0", "0 bytes"),
        ("W 0 2000000", "2000000 bytes"),
    ],
)
def test_a_bad_line_is_named_with_its_reason(tmp_path, line, reason):
    path = write(tmp_path, f"R 0 64\n{line}\n")
    with pytest.raises(UsageError, match=f"trace.txt: line 2: .*{reason}"):
        read_trace(path, 32)


def test_an_empty_trace_is_refused(tmp_path):
    with pytest.raises(UsageError, match="no request"):
        read_trace(write(tmp_path, "# nothing\n"), 32)


def test_requests_are_split_into_the_bursts_they_touch():
    owner, addresses = split(Requests(np.array([16, 128]), np.array([32, 64]), np.array([0, 0])), 32)
    assert owner.tolist() == [0, 0, 1, 1]
    assert addresses.tolist() == [0, 32, 128, 160]


def test_channel_maps():
    address = np.array([0, 2048, 2048 * 12 + 5, ARCH.dram_bank_bytes])
    with pytest.raises(UsageError, match=r"request 1: address .* is beyond the memory"):
        ChannelMap(ARCH)(np.array([12 * ARCH.dram_bank_bytes]))
    assert [x.tolist() for x in ChannelMap(ARCH)(address)] == [[0, 0, 0, 1], [0, 2048, 24581, 0]]
    channel, offset = ChannelMap(ARCH, "interleave:2048")(address)
    assert (channel.tolist()[:3], offset.tolist()[:3]) == ([0, 1, 0], [0, 0, 2053])


@pytest.mark.parametrize("text", ["interleave", "interleave:33", "interleave:0", "pages"])
def test_an_unknown_channel_map_is_refused(text):
    with pytest.raises(UsageError, match="is not a channel map"):
        ChannelMap(ARCH, text)


def test_a_stream_runs_at_the_measured_rate_of_a_channel():
    result = serve_requests(ARCH, stream(2000), ChannelMap(ARCH))
    assert result["gb_per_s"] == pytest.approx(22.25, rel=0.02)
    assert result["bytes"] == {"read": 2000 * 4096, "written": 0}


def test_channels_work_in_parallel():
    one = serve_requests(ARCH, stream(2400, 2048), ChannelMap(ARCH))
    all_channels = serve_requests(ARCH, stream(2400, 2048), ChannelMap(ARCH, "interleave:2048"))
    assert len(all_channels["channels"]) == ARCH.dram_banks
    assert all_channels["gb_per_s"] > 10 * one["gb_per_s"]


def test_latency_grows_with_the_load_and_the_rate_follows_it_until_saturation(tmp_path):
    curve = latency_load(ARCH, stream(3000, 512), ChannelMap(ARCH), loads=(0.1, 0.5, 0.99))
    assert curve[0]["share_of_peak"] == pytest.approx(0.1, rel=0.05)
    assert curve[1]["share_of_peak"] == pytest.approx(0.5, rel=0.05)
    assert curve[2]["share_of_peak"] < 0.95
    assert curve[0]["mean_ns"] <= curve[1]["mean_ns"] < curve[2]["mean_ns"]
    plot_latency_load({"stream": curve}, tmp_path / "curve.png")
    assert (tmp_path / "curve.png").stat().st_size > 1000


def test_the_command_serves_good_files_and_names_bad_ones(tmp_path, monkeypatch, capsys):
    good, bad = write(tmp_path, "R 0 4096\nW 8192 64\n", "good.txt"), write(tmp_path, "R 0\nQ 1\n", "bad.txt")
    out = tmp_path / "out.json"
    assert exit_code("dram", good, bad, "--arch", "blackhole", f"--json={out}", "--plot", tmp_path / "plot.png") == 2
    data = json.loads(out.read_text())
    assert data["failed"] == 1
    first, second = data["results"]
    assert (first["requests"], first["arch"], len(first["curve"])) == (2, "blackhole", 12)
    assert "bad.txt: line 2: 'Q' is neither R nor W" in second["error"]["message"]
    assert (tmp_path / "plot.png").exists()


def test_help_tells_the_format():
    assert "R|W ADDRESS" in CliRunner().invoke(main.commands["dram"], ["--help"]).output
