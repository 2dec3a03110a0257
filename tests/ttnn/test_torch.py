"""With torch installed its tensors go in and come out: dtypes and values are those that ttnn 0.81.1 gives."""

import subprocess
import sys

import pytest

import tensim.ttnn as ttnn
from tests.ttnn.test_programs import program

torch = pytest.importorskip("torch")
TYPES = {  # torch dtype -> DataType that it becomes
    "bfloat16": "BFLOAT16", "float32": "FLOAT32", "float16": "BFLOAT16", "int8": "INT8", "uint8": "UINT8", "bool": "UINT8",
    "int16": "UINT16", "uint16": "UINT16", "int32": "INT32", "int64": "UINT32", "uint32": "UINT32",
}  # fmt: skip
BACK = {  # DataType -> torch dtype that comes out
    "bfloat16": "bfloat16", "float32": "float32", "bfloat8_b": "float32", "bfloat4_b": "float32", "uint8": "uint8",
    "uint16": "uint16", "uint32": "uint32", "int32": "int32", "int8": "int8",
}  # fmt: skip


@pytest.mark.parametrize("name", TYPES)
def test_what_a_torch_dtype_becomes(name):
    assert ttnn.from_torch(torch.ones(2, 3).to(getattr(torch, name))).dtype.name == TYPES[name]


@pytest.mark.parametrize("layout", [ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT])
@pytest.mark.parametrize("name", BACK)
def test_what_comes_out(device, name, layout):
    if name.endswith("_b"):
        layout = ttnn.TILE_LAYOUT
    values = torch.arange(40 * 50).reshape(1, 2, 20, 50) % 8
    tensor = ttnn.from_torch(values.float(), dtype=getattr(ttnn, name), layout=layout, device=device)
    found = ttnn.to_torch(tensor)
    assert found.dtype == getattr(torch, BACK[name]) and found.shape == values.shape
    assert torch.equal(found.to(torch.int64), values)
    assert ttnn.to_torch(tensor, dtype=torch.float16).dtype == torch.float16


def test_views_gradients_and_scalars():
    values = torch.randn(64, 64, requires_grad=True)
    assert torch.equal(ttnn.to_torch(ttnn.from_torch(values[:, ::2], dtype=ttnn.float32)), values.detach()[:, ::2])
    assert ttnn.from_torch(torch.tensor(3.0)).shape == []
    assert ttnn.to_torch(ttnn.from_torch(torch.ones(1, 1, 4, 4)), torch_rank=2).shape == (4, 4)


def test_a_program_on_torch_tensors(fresh_device):
    values = torch.randn(64, 64, dtype=torch.bfloat16)
    source = ttnn.from_torch(values, layout=ttnn.TILE_LAYOUT, device=fresh_device)
    target = ttnn.allocate_tensor_on_device(source.spec, fresh_device)
    assert torch.equal(ttnn.to_torch(ttnn.generic_op([source, target], program(source, target))), values)


def test_comparison_helpers_take_torch_tensors(monkeypatch):
    monkeypatch.setitem(sys.modules, "ttnn", ttnn)
    from tensim.ttnn.stand_ins import utility_functions, utils_for_testing

    values = torch.randn(32, 32, dtype=torch.bfloat16)
    assert utils_for_testing.assert_with_pcc(values, values, 0.9999)[0] and utils_for_testing.assert_equal(
        values, values
    )
    assert utility_functions.comp_pcc(values, values) == (True, 1.0)
    with pytest.raises(AssertionError):
        utils_for_testing.assert_with_pcc(values, -values, 0.9)


def test_programs_without_torch_do_not_import_it(tmp_path):
    (tmp_path / "plain.py").write_text(
        "import sys\nimport numpy as np\nimport ttnn\nfrom tests.ttnn.utils_for_testing import assert_with_pcc\n"
        "tensor = ttnn.from_torch(np.ones((32, 32), np.float32), dtype=ttnn.bfloat16)\n"
        "print(ttnn.Tensor is not None, 'torch' in sys.modules)\n"
    )
    words = [sys.executable, "-m", "tensim", "ttnn", "plain.py"]
    done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout == "True False\n", done.stdout + done.stderr
