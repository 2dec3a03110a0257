"""The small kernels whose structure is described: what they compute is right, in the chip's own arithmetic."""

import importlib

import pytest

from tensim.validation.kernels.programs.measuring import profiled_device

WORMHOLE, BLACKHOLE = "wormhole_b0", "blackhole"
STREAM = {"tiles": 64, "kernel_iters": 2, "block": 4}
REDUCED = {"Ht": 2, "Wt": 3, "NC": 2, "kernel_iters": 2}
RUNS = [
    *(
        (WORMHOLE, "double_buffer", {"dtype": dtype, "tiles": 8, "variant": f"{depth}_buffered", "block": 3, "num_cores": 2})
        for dtype, depth in (("bf16", "double"), ("bfp8_b", "single"), ("fp32", "double"))
    ),
    *((WORMHOLE, "dram_saturation", {"shape": (256, 512), "variant": variant, "num_cores": 9})
      for variant in ("spread", "stacked")),
    *((WORMHOLE, "noc_placement", STREAM | {"op": op, "noc": "noc1", "placement": "diagonal", "num_cores": 4})
      for op in ("copy", "read", "write")),
    *((WORMHOLE, "page_walk_order", {"pages": 48, "page_bytes": 64, "stride": stride, "block": 10}) for stride in (1, 12, 13)),
    *((WORMHOLE, "split_reader", {"num_cores": 8, "split_reader": split, "transaction_bytes": 512})
      for split in (False, True)),
    *(
        (BLACKHOLE, "noc_one_packet", {"page_bytes": 64, "variant": variant, "num_cores": 4, "pages_per_core": 8,
                                       "dest_spread": spread})
        for variant, spread in (("generic", True), ("one_packet", False), ("generic_runtime_size", True))
    ),
    *((WORMHOLE, "constant_synthesis", {"rows": 32, "variant": variant, "num_cores": 3})
      for variant in ("synthesize", "stream_from_dram")),
    *((WORMHOLE, "index_staging", {"rows": 2, "width": 64, "is_sorted": False, "variant": variant, "kernel_iters": 2})
      for variant in ("l1_staged", "remote_per_index")),
    *((WORMHOLE, "transfer_alignment", {"rows": 3, "variant": variant, "span_bytes": 256})
      for variant in ("aligned", "misaligned")),
    (BLACKHOLE, "trid_double_issue", {"dtype": "bf16", "tiles": 18, "block": 4, "variant": "full_barrier", "ahead": 3}),
    (BLACKHOLE, "trid_double_issue",
     {"dtype": "bfp8_b", "tiles": 18, "block": 4, "variant": "trid_double_issue", "num_trids": 3}),
    *((WORMHOLE, "compute_block_size", {"block_rows": rows, "kernel_iters": 2, "reconfig": rows > 2}) for rows in (2, 8)),
    *(
        (BLACKHOLE, "reduce_block", REDUCED | {"variant": variant, "dim": dim})
        for variant in ("reduce_tile", "accumulate_via_add", "accumulate_via_add_inline")
        for dim in ("row", "col", "scalar")
    ),
    (BLACKHOLE, "reduce_block",
     {"Ht": 1, "Wt": 4, "variant": "accumulate_via_add_inline", "dim": "row", "accumulate_first": False}),
    *(
        (WORMHOLE, "row_reduce_accumulate", {"method": method, "precision": precision, "width_tiles": width, "kernel_iters": 2})
        for method in (
            "reduce_fold", "l1_accum", "dest_accum", "dest_accum_pairs", "dest_accum_sfpu", "dest_accum_pairs_sfpu"
        )
        for precision, width in (("fp32-fp32", 4), ("bf16-fp32", 3), ("bf16-bf16", 2))
    ),
    *((BLACKHOLE, "eltwise_l1_vs_dest_accumulate", {"variant": variant, "num_blocks": 8, "kernel_iters": 2})
      for variant in ("rmw", "pack_l1_acc", "dest_acc")),
    *((WORMHOLE, "tensix_all_reduce_compute", {"variant": variant, "num_blocks": 4, "num_tiles": 6, "kernel_iters": 2})
      for variant in ("sfpu_serial_bf16", "fpu_dest_reuse_bf16", "fpu_dest_reuse_fp32")),
    *(
        (WORMHOLE, "row_unicast_vs_mcast",
         {"variant": variant, "num_rows": 2, "row_width": 4, "num_tiles": 2, "num_writes": 4, "kernel_iters": 2})
        for variant in ("unicast", "mcast")
    ),
    *(
        (WORMHOLE, "ring_transport",
         {"variant": variant, "group_shape": (2, 8), "num_groups": 4, "num_tiles": 6, "kernel_iters": 3})
        for variant in ("semaphore_only", "payload_ring_noc1")
    ),
    *((BLACKHOLE, "shared_input_reuse", {"variant": variant, "rows": 2, "columns": 11, "tiles": 48, "chunk_tiles": 16})
      for variant in ("per_core_dram", "mcast")),
]  # fmt: skip


@pytest.mark.parametrize(("arch", "name", "options"), RUNS)
def test_a_program_gives_the_right_result(arch, name, options):
    program = importlib.import_module(f"tensim.validation.kernels.programs.{name}")
    with profiled_device(arch, numerics="exact") as device:
        program.check(device, **options)
