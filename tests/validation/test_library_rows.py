"""Which products of the GEMM report the vendor's library runs, and in which group."""

from pathlib import Path

from tensim.validation.library.__main__ import BLOCKS, matmul_rows


def test_products_out_of_box_and_those_with_all_blocks_stated_are_run():
    plain = {
        "chip": "P150", "M": "64", "K": "64", "N": "64", "grid_x": "2", "grid_y": "2", "dtype": "BFLOAT8_B",
        "math_fidelity": "LoFi", "use_trace": "False", "report_generation": "2026-07", "in0_sharded": "True",
        "out_sharded": "", "in0_memory": "L1", "in1_memory": "DRAM", "out_memory": "DRAM",
        "derived_trisc1_kernel_cycles": "1000",
    }  # fmt: skip
    none, blocks = dict.fromkeys(BLOCKS.values(), ""), dict.fromkeys(BLOCKS.values(), "1")
    rows = [
        plain | none | {"config_mode": "out_of_box"},
        plain | blocks | {"config_mode": "manual"},
        plain | none | {"config_mode": "manual"},
        plain | none | {"config_mode": "out_of_box", "use_trace": "True"},
        plain | blocks | {"config_mode": "manual", "use_trace": "True"},
    ]
    found = list(matmul_rows(Path("gemm.csv"), rows))
    assert [(one["id"], one["group"]) for one in found] == [
        ("gemm.csv:1", "blackhole/matmul/BFLOAT8_B"),
        ("gemm.csv:2", "blackhole/matmul/stated blocks"),
        ("gemm.csv:5", "blackhole/matmul/stated blocks"),
    ]
    assert found[0]["blocks"] is None and found[1]["blocks"] == dict.fromkeys(BLOCKS, 1)
    assert found[1]["sharded"] == [True, False]
