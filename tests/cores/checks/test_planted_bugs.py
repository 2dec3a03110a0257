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
}  # fmt: skip


@pytest.mark.parametrize("bug", [pytest.param(bug, id=name) for name, bug in (BUFFERS | TRANSFERS).items()])
def test_a_planted_bug_is_found(bug, monkeypatch):
    kind, line, *place = bug
    if CPP in place:
        pytest.importorskip("ziglang", reason="C++ kernels need the extra tensim[cpp]")
    finds(monkeypatch, kind, line, *place)
