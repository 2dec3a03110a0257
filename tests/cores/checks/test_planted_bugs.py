"""Mistakes in the kernels of real programs, Python and C++: each is found, at the line where it is made."""

import pytest

from tests.cores.checks.planted import finds

PYTHON, CPP = "python", "cpp"
# Kind of the error, the line it names; example, language, kernel; what is replaced there, by what.  In the text of a Python
# kernel constants of its module are numbers.
BUFFERS = {
    "pushed without a reservation": (
        "cb_push_unreserved", "cb_push_back(0, 1)",
        "eltwise_add", PYTHON, "read_pairs", "cb_reserve_back(0, 1)", "pass",
    ),
    "pushed without a reservation, C++": (
        "cb_push_unreserved", "cb_push_back(cb_b, 1)",
        "eltwise_add", CPP, "read_pairs", "cb_reserve_back(cb_b, 1);", "",
    ),
    "a second page is read without a reservation": (
        "cb_read_unreserved", "noc_async_read_tile(i, b_source, get_write_ptr(1) + 2048)",
        "eltwise_add", PYTHON, "read_pairs",
        "noc_async_read_tile(i, b_source, get_write_ptr(1))", "noc_async_read_tile(i, b_source, get_write_ptr(1) + 2048)",
    ),
    "a tile is unpacked that was not waited for": (
        "cb_unpack_unwaited", "add_tiles(0, 1, 1, 0, 0)",
        "eltwise_add", PYTHON, "add_pairs", "add_tiles(0, 1, 0, 0, 0)", "add_tiles(0, 1, 1, 0, 0)",
    ),
    "a tile is unpacked that was not waited for, C++": (
        "cb_unpack_unwaited", "add_tiles(cb_a, cb_b, 0, 1, 0)",
        "eltwise_add", CPP, "add_pairs", "add_tiles(cb_a, cb_b, 0, 0, 0)", "add_tiles(cb_a, cb_b, 0, 1, 0)",
    ),
    "nobody waits for an operand": (
        "cb_unpack_unwaited", "add_tiles(0, 1, 0, 0, 0)",
        "eltwise_add", PYTHON, "add_pairs", "cb_wait_front(1, 1)", "pass",
    ),
    "more is popped than was waited for, C++": (
        "cb_pop_unwaited", "riscv_wait(9000); cb_pop_front(cb_a, 2)",
        "eltwise_add", CPP, "add_pairs",
        "cb_pop_front(cb_a, 1);", "riscv_wait(9000); cb_pop_front(cb_a, 2);",
    ),
    "a thread waits for pages that only it pushes": (
        "cb_own_pages", "cb_wait_front(0, 2)",
        "eltwise_add", PYTHON, "read_pairs", "cb_push_back(1, 1)", "cb_push_back(1, 1)\n        cb_wait_front(0, 2)",
    ),
}  # fmt: skip
TRANSFERS = {
    "a page is popped before its write was flushed": (
        "source_popped", "cb_pop_front(16, 1)",
        "eltwise_add", PYTHON, "write_tiles", "noc_async_writes_flushed()", "pass",
    ),
    "a page is popped before its write was flushed, C++": (
        "source_popped", "cb_pop_front(cb_out, 1)",
        "eltwise_add", CPP, "write_tiles", "noc_async_writes_flushed();", "",
    ),
    "the kernel ends with a write in flight": (
        "writes_at_end", "noc_async_write_page(0, destination, sum_l1)",
        "add_integers", PYTHON, "add_vectors", "noc_async_write_barrier()", "pass",
    ),
    "page 9 of 9": (
        "page_beyond_buffer", "noc_async_read_tile(i + 1, a_source, get_write_ptr(0))",
        "eltwise_add", PYTHON, "read_pairs",
        "noc_async_read_tile(i, a_source, get_write_ptr(0))", "noc_async_read_tile(i + 1, a_source, get_write_ptr(0))",
    ),
    "page 9 of 9, C++": (
        "page_beyond_buffer", "noc_async_write_tile(i + 1, destination, get_read_ptr(cb_out))",
        "eltwise_add", CPP, "write_tiles", "noc_async_write_tile(i,", "noc_async_write_tile(i + 1,",
    ),
    "a page behind the last shard": (
        "kernel_raised", "noc_async_read_page((first_row + row) * pitch + first_column + column + 8, source, address)",
        "reshard", PYTHON, "fetch_shard",
        "(first_row + row) * pitch + first_column + column,", "(first_row + row) * pitch + first_column + column + 8,",
    ),
    "a page behind the last shard, C++": (
        "page_beyond_l1", "noc_async_read_page((first_row + row) * pitch + first_column + column + 8, source, address)",
        "reshard", CPP, "fetch_shard",
        "(first_row + row) * pitch + first_column + column,", "(first_row + row) * pitch + first_column + column + 8,",
    ),
    "a scratch page is read into again before its write has left": (
        "source_overwritten", "noc_async_read_tile(i, source, scratch)",
        "dram_loopback", PYTHON, "copy_pages", "noc_async_write_barrier()", "pass",
    ),
    "a scratch page is read into again before its write has left, C++": (
        "source_overwritten", "noc_async_read_tile(i, source, scratch)",
        "dram_loopback", CPP, "copy_pages", "noc_async_write_barrier();", "",
    ),
    "pages are pushed before their reads are complete": (
        "read_before_barrier", "cb_push_back(0, 1)",
        "eltwise_add", PYTHON, "read_pairs", "noc_async_read_barrier()", "pass",
    ),
    "a semaphore tells of data that may not be there": (
        "signal_before_data", "noc_semaphore_inc(get_noc_addr(parent_x, parent_y, get_semaphore(level)), 1)",
        "reduction_tree", PYTHON, "sender", "noc_async_write_barrier()", "pass",
    ),
    "a semaphore tells of data that may not be there, C++": (
        "signal_before_data", "noc_semaphore_inc(get_noc_addr(parent_x, parent_y, get_semaphore(level)), 1)",
        "reduction_tree", CPP, "sender", "noc_async_write_barrier();", "",
    ),
    "a semaphore that no program makes": (
        "semaphore_missing", "noc_semaphore_inc(get_noc_addr(parent_x, parent_y, get_semaphore(level + 9)), 1)",
        "reduction_tree", PYTHON, "sender", "get_semaphore(level)", "get_semaphore(level + 9)",
    ),
    "a semaphore that no program makes is set": (
        "semaphore_missing", "noc_semaphore_set(get_semaphore(11), 1)",
        "ring_all_gather", PYTHON, "pass_shards",
        "set(get_semaphore(2), 1)", "set(get_semaphore(11), 1)",
    ),
}  # fmt: skip
ARGUMENTS = {
    "an argument is missing": (
        "arguments_missing", "def write_tiles(address, first, count, last):",
        "eltwise_add", PYTHON, "write_tiles", "(address, first, count)", "(address, first, count, last)",
    ),
    "an argument is never read": (
        "arguments_unread", "def write_tiles(address, first, count):",
        "eltwise_add", PYTHON, "write_tiles", "range(first, first + count)", "range(count)",
    ),
    "an argument is never read, C++": (
        "arguments_unread", "void kernel_main() {",
        "eltwise_add", CPP, "write_tiles", "get_arg_val<uint32_t>(1)", "0",
    ),
    "more arguments than the kernel reads, C++": (
        "arguments_unread", "void kernel_main() {",
        "eltwise_add", CPP, "write_tiles", "get_arg_val<uint32_t>(2)", "9",
    ),
    "an argument is missing, C++": (
        "argument_unset", "const uint32_t count = get_arg_val<uint32_t>(2) + get_arg_val<uint32_t>(3)",
        "eltwise_add", CPP, "write_tiles", "get_arg_val<uint32_t>(2)", "get_arg_val<uint32_t>(2) + get_arg_val<uint32_t>(3)",
    ),
    "a template parameter in the place of the first argument": (
        "kernel_compile", "destination = InterleavedAddrGen(True, address, get_tile_size(16))",
        "eltwise_add", PYTHON, "write_tiles",
        "InterleavedAddrGen(address, page_size=get_tile_size(16), dram=True)",
        "InterleavedAddrGen(True, address, get_tile_size(16))",
    ),
    "a name that no call has": (
        "kernel_compile", "noc_async_read_barier()",
        "eltwise_add", PYTHON, "read_pairs", "noc_async_read_barrier()", "noc_async_read_barier()",
    ),
    "an option that the call does not have": (
        "kernel_compile", "mm_init(0, 1, 16, bananas=1)",
        "matmul_multi_core", PYTHON, "multiply", "mm_init(0, 1, 16)", "mm_init(0, 1, 16, bananas=1)",
    ),
    "a compute call in a data-movement kernel": (
        "kernel_compile", "pack_tile(0, 16)",
        "eltwise_add", PYTHON, "write_tiles", "noc_async_writes_flushed()", "pack_tile(0, 16)",
    ),
    "a local that nothing assigns, C++": (
        "kernel_compile", "noc_async_write_tile(i, destination, get_read_ptr(cb_out))",  # the file has it still
        "eltwise_add", CPP, "write_tiles", "noc_async_write_tile(i,", "uint32_t last; noc_async_write_tile(last,",
    ),
    "a local that nothing assigns": (
        "kernel_failed", "noc_async_write_tile(last, destination, get_read_ptr(16))",
        "eltwise_add", PYTHON, "write_tiles",
        "noc_async_write_tile(i,", "if count > 1000:\n            last = i\n        noc_async_write_tile(last,",
    ),
}  # fmt: skip
UNWRITTEN = {
    "an operand that nobody reads from DRAM": (
        "unwritten_l1", "add_tiles(CB_A, CB_B, 0, 0, 0)",
        "eltwise_add", PYTHON, "read_pairs", "noc_async_read_tile(i, b_source, get_write_ptr(1))", "pass",
    ),
    "an operand that nobody reads from DRAM, C++": (
        "unwritten_l1", "matmul_tiles(cb_a, cb_b, 0, 0, 0)",
        "matmul_multi_core", CPP, "read_operands", "noc_async_read_tile(", "if constexpr (__LINE__ % 2) noc_async_read_tile(",
    ),
    "a tile of Dst that nothing computes": (
        "unwritten_dst", "pack_tile(1, 16)",
        "eltwise_add", PYTHON, "add_pairs", "pack_tile(0, 16)", "pack_tile(1, 16)",
    ),
    "a tile of Dst that nothing computes, C++": (
        "unwritten_dst", "pack_tile(2, cb_out)",
        "sfpu_chain", CPP, "softplus", "pack_tile(0, cb_out)", "pack_tile(2, cb_out)",
    ),
}  # fmt: skip
SET_UP = {
    "no initialisation": (
        "init_missing", "matmul_tiles(0, 1, 0, 0, 0)",
        "matmul_multi_core", PYTHON, "multiply", "mm_init(0, 1, 16)", "pass",
    ),
    "no initialisation, C++": (
        "init_missing", "matmul_tiles(cb_a, cb_b, 0, 0, 0)",
        "matmul_multi_core", CPP, "multiply", "mm_init(cb_a, cb_b, cb_out);", "",
    ),
    "an initialisation for a buffer that is not there": (
        "init_buffer", "pack_tile(0, 16)",
        "matmul_multi_core", PYTHON, "multiply", "mm_init(0, 1, 16)", "mm_init(0, 1, 25)",
    ),
    "an initialisation for a buffer that is not there, C++": (
        "init_buffer", "matmul_tiles(cb_a, cb_b, 0, 0, 0)",
        "matmul_multi_core", CPP, "multiply", "mm_init(cb_a, cb_b, cb_out);", "mm_init(25, 24, cb_out);",
    ),
    "the initialisation of another operation": (
        "init_wrong", "add_tiles(0, 1, 0, 0, 0)",
        "eltwise_add", PYTHON, "add_pairs", "add_tiles_init(0, 1)", "mm_init(0, 1, 16)",
    ),
    "a vector function without its constants": (
        "init_missing", "exp_tile(0)",
        "sfpu_chain", PYTHON, "softplus", "exp_tile_init()", "pass",
    ),
    "a vector function with the constants of another one, C++": (
        "init_wrong", "log_tile(0)",
        "sfpu_chain", CPP, "softplus", "log_tile_init();", "",
    ),
    "a product set up for a transposed operand": (
        "init_wrong", "matmul_tiles(0, 1, 0, 0, 0, transpose=0)",
        "matmul_multi_core", PYTHON, "multiply", "mm_init(0, 1, 16)",
        "mm_init(0, 1, 16, transpose=1)\n    cb_wait_front(0, 1)\n    cb_wait_front(1, 1)\n    tile_regs_acquire()\n"
        "    matmul_tiles(0, 1, 0, 0, 0, transpose=0)",
    ),
    "a product set up without a transposed operand, C++": (
        "init_wrong", "matmul_tiles(cb_a, cb_b, 0, 0, 0, 1)",
        "matmul_multi_core", CPP, "multiply", "matmul_tiles(cb_a, cb_b, 0, 0, 0)", "matmul_tiles(cb_a, cb_b, 0, 0, 0, 1)",
    ),
    "units that are set up for no operation, C++": (
        "init_wrong", "add_tiles(cb_a, cb_b, 0, 0, 0)",
        "eltwise_add", CPP, "add_pairs", "add_tiles_init(cb_a, cb_b);", "",
    ),
    "a subtraction set up for an addition": (
        "init_wrong", "sub_tiles(0, 1, 0, 0, 0)",
        "eltwise_add", PYTHON, "add_pairs", "add_tiles(0, 1, 0, 0, 0)", "sub_tiles(0, 1, 0, 0, 0)",
    ),
}  # fmt: skip
RACES = {
    "a core reads what it is sent before it has come": (
        "race_write", "noc_async_write(result, get_noc_addr(parent_x, parent_y, slot), tiles * page)",
        "reduction_tree", PYTHON, "receiver", "noc_semaphore_wait(get_semaphore(level), 1)", "pass",
    ),
    "a core reads what it is sent before it has come, C++": (
        "race_read", "add_tiles(source, cb_incoming, 0, 0, 0)",
        "reduction_tree", CPP, "receiver",
        "noc_semaphore_wait(reinterpret_cast<volatile tt_l1_ptr uint32_t*>(get_semaphore(level)), 1);", "",
    ),
    "a shard is passed on before it has come": (
        "race_read", "noc_async_write(address, get_noc_addr(next_x, next_y, address), shard_bytes)",
        "ring_all_gather", PYTHON, "pass_shards", "noc_semaphore_wait_min(arrived, step)", "pass",
    ),
    "one thread tells the other of a read before its barrier": (
        "race_write", "noc_async_read_tile(position * tiles + i, source, gather_address + position * shard_bytes + i * page)",
        "ring_all_gather", PYTHON, "pass_shards",
        "noc_async_read_barrier()\n        noc_semaphore_set(get_semaphore(2), 1)",
        "noc_semaphore_set(get_semaphore(2), 1)\n        noc_async_read_barrier()",
    ),
    "a halo is used before it has come": (
        "race_read", "matmul_tiles(CB_STATE, CB_COEFFICIENTS, here + 1, LAST_TO_FIRST, 0)",
        "stencil_halo", PYTHON, "exchange", "noc_semaphore_wait_min(get_semaphore(3), iteration)", "pass",
    ),
    "a multicast into cores that still read": (
        "race_write",
        "noc_async_write_multicast(start, get_noc_multicast_addr(x0, y0, x1, y1, start), nbytes, receivers, linked=True)",
        "matmul_multicast", PYTHON, "in0_receiver",
        "cb_reserve_back(0, block_tiles)\n        receive_block(sender_ready, received)",
        "receive_block(sender_ready, received)\n        cb_reserve_back(0, block_tiles)",
    ),
    "a semaphore is cleared while it is being counted up": (
        "race_writes", "noc_semaphore_set(ready, 0)",
        "matmul_multicast", PYTHON, "in0_sender", "noc_semaphore_wait(ready, receivers)", "pass",
    ),
    "a semaphore is cleared behind the request for its value": (
        "race_writes", "noc_semaphore_set_multicast(received, get_noc_multicast_addr(x0, y0, x1, y1, received), receivers)",
        "matmul_multicast", PYTHON, "in0_receiver",
        "noc_semaphore_set(received, 0)\n    noc_semaphore_inc(sender_ready, 1)",
        "noc_semaphore_inc(sender_ready, 1)\n    noc_semaphore_set(received, 0)",
    ),
    "a semaphore tells of data that have left, and are there by chance": (
        "race_read", "add_tiles(source, CB_INCOMING, 0, 0, 0)",
        "reduction_tree", PYTHON, "sender", "noc_async_write_barrier()", "noc_async_writes_flushed()",
    ),
}  # fmt: skip
BUGS = RACES | BUFFERS | TRANSFERS | ARGUMENTS | UNWRITTEN | SET_UP


@pytest.mark.parametrize("bug", [pytest.param(bug, id=name) for name, bug in BUGS.items()])
def test_a_planted_bug_is_found(bug, monkeypatch):
    kind, line, *place = bug
    if CPP in place:
        pytest.importorskip("ziglang", reason="C++ kernels need the extra tensim[cpp]")
    finds(monkeypatch, kind, line, *place)
