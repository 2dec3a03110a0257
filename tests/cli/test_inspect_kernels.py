"""`tensim inspect` of binaries whose kernels are files of a library: which they are, whether they are there and compile."""

import json
import os
from pathlib import Path

import pytest

from tests.cli.test_light_metal import tensim
from tests.traces.light_metal.test_era_e2 import e2_file
from tests.ttnn.library.harness import roots

BINARIES = os.environ.get("TENSIM_GENUINE_BINARIES")
NAME = "ops/copy/kernels/reader.cpp"
COPY = """#include "api/dataflow/dataflow_api.h"
void kernel_main() {
    constexpr uint32_t bytes = get_compile_time_arg_val(0);
    noc_async_read(get_noc_addr(0, 0, get_arg_val<uint32_t>(0)), 600000, bytes);
    noc_async_read_barrier();
}
"""
UNKNOWN = COPY.replace("noc_async_read(", "noc_async_teleport(")
FABRIC = '#include "tt_metal/fabric/hw/inc/edm_fabric/edm_handshake.hpp"\n' + COPY


@pytest.fixture
def library(tmp_path):
    """Writes the kernel below a folder that looks like an unpacked wheel of a release; gives its root."""

    def written(text, release="0.66.0"):
        file = tmp_path / "ttnn" / NAME
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        (tmp_path / f"ttnn-{release}.dist-info").mkdir()
        return tmp_path / "ttnn"

    return written


def inspected(capsys, tmp_path, *options, compile_args=(64, 2)):
    """(what `--json` holds about library kernels, the lines of the text)."""
    path = tmp_path / "file.bin"
    path.write_bytes(e2_file(NAME, compile_args=compile_args))
    code, out, err = tensim(capsys, "inspect", path, *options, "--json")
    assert code == 0, err
    code, text, err = tensim(capsys, "inspect", path, *options)
    assert code == 0, err
    return json.loads(out)["library"], text


def test_without_a_path_the_files_and_the_release_are_named(capsys, tmp_path):
    found, text = inspected(capsys, tmp_path)
    assert found["files"] == [NAME] and found["kernels"][0]["status"] is None
    assert found["release"] == "0.67 or earlier" and "1 kernel files of ttnn are needed, 0.67 or earlier" in text
    assert f"  {NAME}\n" in text and "--kernel-path FOLDER" in text


@pytest.mark.parametrize(
    ("arguments", "release"),
    [((7, 2), "0.67 or earlier"), ((7, 0), "0.67 or earlier"), ((7, 2, 64), "0.68 or later"), ((7, 5), None)],
)
def test_arguments_of_accessors_tell_the_release(capsys, tmp_path, arguments, release):
    assert inspected(capsys, tmp_path, compile_args=arguments)[0]["release"] == release


def test_a_kernel_that_compiles(capsys, tmp_path, library):
    root = library(COPY)
    found, text = inspected(capsys, tmp_path, "--kernel-path", root)
    (kernel,) = found["kernels"]
    assert kernel["status"] == "built" and kernel["path"] == str(root / NAME) and kernel["missing"] == []
    assert found["found_release"] == "0.66.0" and found["fits"] is True and f"{NAME}: compiles" in text


def test_calls_that_it_misses_are_named(capsys, tmp_path, library):
    found, text = inspected(capsys, tmp_path, "--kernel-path", library(UNKNOWN))
    (kernel,) = found["kernels"]
    assert kernel["status"] == "failed" and kernel["missing"] == ["noc_async_teleport"]
    assert "does not compile, misses noc_async_teleport" in text


def test_what_is_refused_is_named(capsys, tmp_path, library):
    found, text = inspected(capsys, tmp_path, "--kernel-path", library(FABRIC))
    (kernel,) = found["kernels"]
    assert kernel["status"] == "refused" and kernel["refused"] == "fabric" and "refused (fabric)" in text


def test_a_file_that_is_not_there(capsys, tmp_path):
    found, text = inspected(capsys, tmp_path, "--kernel-path", tmp_path)
    assert found["kernels"][0]["status"] == "not found" and f"{NAME}: not found" in text


def test_a_library_of_another_release(capsys, tmp_path, library):
    found, text = inspected(capsys, tmp_path, "--kernel-path", library(COPY, "0.81.1"))
    assert found["fits"] is False and "0.81.1, which is not what the file was made with" in text


def test_files_that_hold_their_kernels_need_none(capsys, tmp_path):
    path = tmp_path / "add.bin"
    assert tensim(capsys, "capture", "eltwise_add", "-o", path, "--shape", "64x64")[0] == 0
    assert json.loads(tensim(capsys, "inspect", path, "--json")[1])["library"] is None


@pytest.mark.skipif(not BINARIES, reason="TENSIM_GENUINE_BINARIES names no folder")
def test_what_genuine_files_need(capsys):
    needed = {}
    for path in sorted(Path(BINARIES).glob("*.bin")):
        library = json.loads(tensim(capsys, "inspect", path, "--json")[1])["library"]
        if library is not None:
            needed[path.stem] = (len(library["files"]), library["release"])
    assert needed == {
        "v0.66.0_clone_64x64": (2, "0.67 or earlier"),
        "v0.66.0_interleaved_to_sharded": (2, "0.67 or earlier"),
        "v0.66.0_matmul_64x64_bf16": (5, "0.67 or earlier"),
        "v0.66.0_softmax_64x64": (3, "0.67 or earlier"),
        "v0.69.0_matmul_64x64_bf16": (5, "0.68 to 0.80"),
    }


@pytest.mark.skipif(not (BINARIES and roots("classic")), reason="no genuine binaries, or no unpacked wheel up to 0.66")
def test_genuine_files_with_their_library(capsys):
    files = sorted(Path(BINARIES).glob("v0.66.0_*.bin"))
    _, out, _ = tensim(capsys, "inspect", *files, "--kernel-path", roots("classic")[0], "--json")
    found = [one["library"] for one in json.loads(out)["results"] if one["library"] is not None]
    assert len(found) == 4 and all(one["fits"] for one in found)
    assert {kernel["status"] for one in found for kernel in one["kernels"]} == {"built"}
