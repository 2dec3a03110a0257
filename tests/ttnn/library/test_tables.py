"""What the tables of cases cover; needs no wheel."""

import pytest

from tests.ttnn.library import test_classic_kernels, test_modern_kernels

KINDS = (
    "eltwise_binary", "eltwise_sfpu", "bcast_h", "bcast_w", "bcast_hw", "reduce", "transpose_wh", "tilize", "untilize", "bmm",
    "typecast", "eltwise_copy", "reader_unary", "reader_binary", "writer_unary", "sharded",
)  # fmt: skip


@pytest.mark.parametrize("module", [test_classic_kernels, test_modern_kernels])
def test_forty_kernels_of_each_generation_of_all_kinds(module):
    files = {kernel.path for case in module.CASES for kernel in case.kernels}
    assert len(files) >= 40
    assert [kind for kind in KINDS if not any(kind in path.rsplit("/", 1)[-1] for path in files)] == []
