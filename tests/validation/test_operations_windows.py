"""The image of a convolution from the sticks of its padded input, and what rows of networks take from their neighbours."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensim.validation.operations.convolutions import DILATIONS, TILE, Window, window_of
from tensim.validation.operations.descriptions import description
from tensim.validation.operations.networks import network_of
from tensim.validation.operations.rows import networks
from tensim.validation.rows import Row, Skip

COLUMNS = ("trace", "arch", "op", "math_fidelity", "core_count", "inputs", "outputs")
HALO = "1x1x30960x128:BFLOAT16:ROW_MAJOR:L1_HEIGHT_SHARDED"
TILES = "1x1x8256x128:BFLOAT8_B:TILE:L1_HEIGHT_SHARDED"
WEIGHTS = "1x1x1152x128:BFLOAT8_B:TILE:DRAM_INTERLEAVED"
CONV = ("Conv2dDeviceOperation", "88", f"{HALO} | {WEIGHTS}", TILES.replace("8256", "8192"))


def file_of(*lines):
    """Rows of a network of (operation, cores, inputs, outputs)."""
    rows = []
    for number, (operation, cores, inputs, outputs) in enumerate(lines, 1):
        columns = {
            "trace": "bh_p100_dlv3",
            "arch": "blackhole",
            "op": operation,
            "math_fidelity": "LoFi",
            "core_count": cores,
        }
        columns |= {
            f"{side}_shape_dtype_layout_memory": text for side, text in (("inputs", inputs), ("outputs", outputs))
        }
        rows.append(Row(f"m.csv:{number}", number + 1, columns | {"matmul_program_config": ""}, rows))
    return rows


def held(window, outputs):
    """Most sticks that a core holds: first to last that its outputs need in the padded image, one output after the other."""
    most, row = 0, window.width * window.stride + 2 * window.padding
    for first in range(0, window.height * window.width, outputs):
        needed = [
            (place // window.width * window.stride + y * window.dilation) * row
            + place % window.width * window.stride
            + x * window.dilation
            for place in range(first, min(first + outputs, window.height * window.width))
            for y in range(window.size)
            for x in range(window.size)
        ]
        most = max(most, max(needed) - min(needed) + 1)
    return most


windows = st.builds(
    Window, st.integers(2, 40), st.integers(2, 40), st.sampled_from((1, 2, 3, 5)), st.sampled_from((1, 2)),
    st.sampled_from(DILATIONS[:3]), st.integers(1, 12),
)  # fmt: skip


@given(windows, st.integers(1, 4))
def test_a_core_holds_what_lies_between_its_first_and_last_stick(window, tiles):
    assert window.sticks(tiles * TILE) == held(window, tiles * TILE)


@pytest.mark.parametrize(
    ("window", "outputs"),
    [
        (Window(96, 320, 3, 1, 1, 20), 30720),
        (Window(24, 80, 3, 2, 1, 20), 1920),
        (Window(32, 64, 3, 1, 6, 8), 2048),
        (Window(40, 159, 3, 1, 1, 20), 6368),  # eight of padding
    ],
)
def test_the_image_is_found_from_its_sticks(window, outputs):
    share = -(-outputs // window.cores // TILE) * TILE
    assert window_of(window.cores * window.sticks(share), outputs, window.size, range(window.cores, 0, -1)) == window


def test_sticks_of_no_image_are_a_reason_to_skip():
    with pytest.raises(Skip, match="no image"):
        window_of(7, 1024, 3, (1,))


def test_a_halo_takes_the_window_of_the_convolution_that_reads_it():
    halo, conv = file_of(("HaloDeviceOperation", "86", TILES, HALO), CONV)
    window = description(conv)["window"]
    assert (window["height"], window["width"], window["cores"], window["pads"]) == (64, 128, 86, [1] * 4)
    assert description(halo)["window"] == window and description(conv)["relu"]
    (alone,) = file_of(("HaloDeviceOperation", "86", TILES, HALO))
    with pytest.raises(Skip, match="not among the rows"):
        description(alone)


def test_a_pool_that_writes_rows_keeps_no_whole_tiles_on_a_core():
    """A halo and the pool that reads it as a network's rows have them: 159 x 159 pixels, 1,265 a core."""
    padded, pooled = (f"1x1x{sticks}x32:BFLOAT16:ROW_MAJOR:L1_HEIGHT_SHARDED" for sticks in (32100, 25281))
    image = padded.replace("32100", "25312")
    halo, _ = file_of(("HaloDeviceOperation", "20", image, padded), ("Pool2D", "20", padded, pooled))
    made = description(halo)
    assert made["pool"] and made["window"]["cores"] == 20
    assert [made["window"][side] for side in ("height", "width", "lines", "size", "stride")] == [159, 159, 159, 3, 1]


def test_a_halo_of_a_slice_has_padding_only_where_its_image_ends():
    """Slices of 159 x 159 pixels in DRAM as a network's rows have them: 81 lines and one above them make 80, the last 80 make 79;
    of images of 40 lines in between, 42 are taken."""
    shards = "1x1x{}x256:BFLOAT16:ROW_MAJOR:L1_HEIGHT_SHARDED".format
    image, weights = "1x159x159x256:BFLOAT16:ROW_MAJOR:DRAM_INTERLEAVED", "1x1x2304x32:BFLOAT16:TILE:DRAM_INTERLEAVED"
    first, last, middle, whole = [
        ("HaloDeviceOperation", "20", shards(sticks), shards(padded))
        for sticks, padded in ((12879, 19440), (12720, 19440), (6678, 12960), (6360, 12960))
    ]
    convolutions = [
        (
            "Conv2dDeviceOperation",
            "20",
            f"{shards(padded)} | {weights}",
            f"1x1x{outputs}x32:BFLOAT16:TILE:L1_HEIGHT_SHARDED",
        )
        for padded, outputs in ((19440, 12736), (12960, 6368))
    ]
    slices = ("PaddedSliceDeviceOperation", "20", image, shards(12879))
    made = [description(row)["window"] for row in file_of(first, last, middle, slices, *convolutions)[:3]]
    assert [(one["lines"], one["height"], one["pads"]) for one in made] == [
        (81, 80, [1, 0, 1, 1]), (80, 79, [0, 1, 1, 1]), (42, 40, [0, 0, 1, 1])
    ]  # fmt: skip
    wider = (*slices[:2], image.replace("159x256", "256x256"), slices[3])
    for others in ((), (wider,)):  # nothing of its network, or nothing of its width, is sliced
        alone = description(file_of(whole, *others, *convolutions)[0])["window"]
        assert (alone["lines"], alone["height"], alone["pads"]) == (40, 40, [1] * 4)


def test_a_tensor_moves_over_the_freed_input_of_its_halo():
    move, _ = file_of(("MoveDeviceOperation", "86", HALO, HALO), ("HaloDeviceOperation", "86", TILES, HALO))
    assert description(move)["hole"]["shape"] == [1, 1, 8256, 128]
    with pytest.raises(Skip, match="how far"):
        description(*file_of(("MoveDeviceOperation", "86", TILES, TILES)))


@pytest.mark.parametrize(
    ("trace", "arch", "board", "grid"),
    [
        ("resnet50_p100_b16", "blackhole", "p100", (11, 10)),
        ("llama", "blackhole", "p150", (11, 10)),
        ("whisper_n300", "wormhole_b0", "n300", (8, 7)),
        ("bert", "wormhole_b0", "n150", (8, 8)),
    ],
)
def test_a_network_that_is_not_known_has_a_whole_board(trace, arch, board, grid):
    network = network_of(trace, arch)
    assert (network.arch, network.board, network.grid) == (arch, board, grid)
    with pytest.raises(Skip, match="which chip"):
        network_of(trace, "")


def test_sums_of_a_network_count_each_call_and_those_of_another_release_apart():
    rows = [
        {"columns": {"trace": "bert", "calls": calls}, "evidence": evidence, "measured": measured, "simulated": simulated}
        for calls, evidence, measured, simulated in (
            ("3", "predicted", 10.0, 11.0), ("1", "predicted", 70.0, 77.0), ("2", "another release", 50.0, 30.0)
        )
    ]  # fmt: skip
    assert networks(rows) == {
        "bert": {
            "rows": 2, "calls": 4, "measured_ns": 100.0, "simulated_ns": 110.0, "err_pct": pytest.approx(10.0),
            "another_release": {
                "rows": 1, "calls": 2, "measured_ns": 100.0, "simulated_ns": 60.0, "err_pct": pytest.approx(-40.0)
            },
        }
    }  # fmt: skip
    (only,) = networks(rows[2:]).values()
    assert only["rows"] == 0 and only["err_pct"] is None and only["another_release"]["rows"] == 1
