"""Tile arithmetic on several threads: the bits, the cycles and the errors of one, whatever the program."""

import multiprocessing
import threading
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

import tensim as tt
from tensim.running.options import Options
from tensim.running.runnable import find_program
from tensim.sim.chip import numerics_threads
from tensim.sim.chip.numerics_threads import PATIENCE, TEAM_OF_PROCESS, VARIABLE, Team, helpers, set_numerics_threads
from tensim.sim.chip.statistics import program_cycles
from tensim.sim.cores.numerics.data_format import DataFormat
from tensim.sim.cores.numerics.host_formats import encode
from tensim.sim.errors import ProgramError, UsageError
from tests.cores.tensix.test_compute import IN0, IN1, SCALERS, run, scaler_tiles, section, tiles

PROGRAMS = {
    "matmul_multicast": Options("256x256x256", "bf16", "HiFi2", "4x4"),
    "matmul_reuse": Options("128x256x128", "bfp8", "LoFi", "2x2"),
    "reduction_tree": Options("64x128", "bf16", None, "3x2"),
    "sfpu_chain": Options("128x128", "bf16", None, "2x2"),
}


@pytest.fixture(autouse=True)
def eager(monkeypatch):
    """Threads begin with the first long operation; afterwards everything is as usual again."""
    monkeypatch.setattr(numerics_threads, "PATIENCE", 1)
    yield
    TEAM_OF_PROCESS.end()
    set_numerics_threads(None)


def outcome(name, numerics, threads, room=None):
    """(cycles, hash of DRAM) of a program on a device of its own."""
    set_numerics_threads(threads)
    device = tt.create_device(0, numerics=numerics)
    try:
        if room is not None:
            device.chip.machine["queue_room"] = room
        find_program(name).run_on(device, PROGRAMS[name])
        return program_cycles(device.chip), device.chip.memory.image_sha256()["dram"]
    finally:
        tt.close_device(device)


@pytest.mark.parametrize("numerics", ["fast", "exact"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_number_of_threads_changes_neither_cycles_nor_bits(name, numerics):
    alone = outcome(name, numerics, 1)
    assert [outcome(name, numerics, threads) for threads in (2, 4)] == [alone, alone]


@pytest.mark.parametrize("room", [1, 2, 3])
def test_queues_with_little_room(room):
    """Hundreds of times the event loop's thread waits for another one, and takes over."""
    assert outcome("matmul_multicast", "exact", 4, room) == outcome("matmul_multicast", "exact", 1)


def test_long_products_of_fast_numerics_go_to_other_threads():
    """Operands with infinities among them."""
    with_infinity = np.full((4 * 32, 32), np.inf, np.float32)
    with_infinity[::3] = 0
    data = encode(with_infinity, DataFormat.Float16_b)
    lines = section(*("matmul_tiles(0, 1, 0, 0, 0)", "matmul_tiles(0, 1, 1, 1, 0)") * 8)

    def product(threads):
        set_numerics_threads(threads)
        device = tt.create_device(0, numerics="fast")
        try:
            found = run(device, lines, {IN0: data, IN1: data, SCALERS: data}, 1, DataFormat.Float16_b, False)
            return found, bool(device.chip.machine["team_at"])
        finally:
            tt.close_device(device)

    alone, helped = product(1), product(3)
    assert (alone[0], alone[1], helped[1]) == (helped[0], False, True)


# --- random sequences of operations on the tiles of Dst


REDUCED = ("SUM", "ROW"), ("SUM", "COL"), ("MAX", "SCALAR")
OPERATIONS = (
    ("matmul_tiles(0, 1, {a}, {b}, {d})",) * 4
    + ("copy_tile(0, {a}, {d})", "add_tiles(0, 1, {a}, {b}, {d})", "mul_tiles(0, 1, {a}, {b}, {d})")
    + tuple(f"reduce_tile(0, 2, {{a}}, 0, {{d}}, pool=PoolType.{pool}, dim=ReduceDim.REDUCE_{dim})" for pool, dim in REDUCED)
    + ("abs_tile({d})", "exp_tile({d})", "add_binary_tile({d}, {e}, {d})", "copy_dest_values({d}, {e})", "transpose_dest({d})")
)  # fmt: skip


@some.composite
def sections(draw):
    """Lines of sections, each with operations on four tiles of Dst, and a tile that it packs."""
    place = some.integers(0, 3)
    lines = []
    for _ in range(draw(some.integers(1, 3))):
        chosen = draw(some.lists(some.sampled_from(OPERATIONS), min_size=1, max_size=8))
        body = [one.format(a=draw(place), b=draw(place), d=draw(place), e=draw(place)) for one in chosen]
        lines.append(section(*body, pack=f"pack_tile({draw(place)}, 16)"))
    return lines


@settings(max_examples=8)
@given(sections())
def test_random_operations(given_sections):
    results = {tuple(in_threads(given_sections, threads, room)) for threads, room in ((1, 16), (2, 1), (4, 16))}
    assert len(results) == 1


def in_threads(given_sections, threads, room):
    """Bytes that the sections leave with both numerics."""
    set_numerics_threads(threads)
    (_, in0), (_, in1) = tiles(1, DataFormat.Float16_b), tiles(2, DataFormat.Float16_b)
    inputs = {IN0: in0, IN1: in1, SCALERS: scaler_tiles(DataFormat.Float16_b)}
    for numerics in ("fast", "exact"):
        device = tt.create_device(0, numerics=numerics)
        try:
            device.chip.machine["queue_room"] = room
            lines = [line for one in given_sections for line in one]
            yield run(device, lines, inputs, len(given_sections), DataFormat.Float16_b, False)
        finally:
            tt.close_device(device)


# --- what reads Dst, and what goes wrong


def test_a_fault_behind_waiting_operations_is_said_alike():
    lines = section(*("matmul_tiles(0, 1, 0, 0, 0)",) * 8, "copy_tile(0, 0, 99)")
    (_, in0), (_, in1) = tiles(1, DataFormat.Float16_b), tiles(2, DataFormat.Float16_b)
    said = set()
    for threads in (1, 3):
        set_numerics_threads(threads)
        device = tt.create_device(0, numerics="exact")
        with pytest.raises(ProgramError) as error:
            run(device, lines, {IN0: in0, IN1: in1, SCALERS: in0}, 1, DataFormat.Float16_b, False)
        said.add(str(error.value))
        tt.close_device(device)
    assert len(said) == 1 and "99" in said.pop()


def test_a_print_of_dst_waits_for_its_operations():
    lines = section(*("matmul_tiles(0, 1, 0, 0, 0)",) * 8, "dprint_tensix_dest_reg(0)")
    (_, in0), (_, in1) = tiles(1, DataFormat.Float16_b), tiles(2, DataFormat.Float16_b)
    shown = set()
    for threads in (1, 3):
        set_numerics_threads(threads)
        device, text = tt.create_device(0, numerics="exact"), []
        device.chip.printer.on_print = text.append
        run(device, lines, {IN0: in0, IN1: in1, SCALERS: in0}, 1, DataFormat.Float16_b, False)
        tt.close_device(device)
        shown.add("\n".join(text))
    assert len(shown) == 1 and len(shown.pop()) > 1000


# --- when there are threads, and how many


def test_short_programs_and_fast_numerics_start_no_thread(monkeypatch):
    begun, begin = [], Team.begin
    monkeypatch.setattr(Team, "begin", lambda team, count: begun.append(count) or begin(team, count))
    monkeypatch.setattr(numerics_threads, "PATIENCE", PATIENCE)
    outcome("sfpu_chain", "exact", 4)
    outcome("matmul_reuse", "exact", 4)
    outcome("matmul_multicast", "fast", 4)
    assert begun == []
    outcome("matmul_multicast", "exact", 4)
    assert begun == [3]


def serving():
    return [thread for thread in threading.enumerate() if thread.name.startswith("tensim numerics")]


def test_threads_without_work_end():
    outcome("matmul_multicast", "exact", 3)
    until = time.monotonic() + 20
    while serving() and time.monotonic() < until:
        time.sleep(0.05)
    assert not serving()
    assert outcome("matmul_multicast", "exact", 3) == outcome("matmul_multicast", "exact", 1)


def test_a_forked_process_has_threads_of_its_own():
    expected = outcome("matmul_multicast", "exact", 3)
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.apply(outcome, ("matmul_multicast", "exact", 3)) == expected
    assert outcome("matmul_multicast", "exact", 3) == expected


def test_a_system_without_threads_left(monkeypatch):
    expected, start = outcome("matmul_multicast", "exact", 1), threading.Thread.start

    def only_the_first(thread):
        if thread.name.startswith("tensim numerics") and not thread.name.endswith(" 1"):
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", only_the_first)
    assert outcome("matmul_multicast", "exact", 4) == expected
    assert not serving() and helpers("exact") == 0


def test_how_many_threads(monkeypatch):
    numerics_threads._said_by_environment.cache_clear()
    monkeypatch.setenv(VARIABLE, "5")
    assert (helpers("exact"), helpers("fast"), helpers("off")) == (4, 4, 0)
    set_numerics_threads(2)
    assert helpers("exact") == 1
    set_numerics_threads(None)
    numerics_threads._said_by_environment.cache_clear()
    monkeypatch.setenv(VARIABLE, "many")
    with pytest.raises(UsageError, match="'many'"):
        helpers("exact")
    numerics_threads._said_by_environment.cache_clear()
    for count in (0, 65):
        with pytest.raises(UsageError, match="1 to 64"):
            set_numerics_threads(count)


@pytest.mark.parametrize(
    ("processors", "sharing", "count"), [(1, "", 1), (2, "", 2), (2, "2", 1), (64, "", 16), (64, "4", 4)]
)
def test_the_usual_number_follows_the_processors(monkeypatch, processors, sharing, count):
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(processors)), raising=False)
    monkeypatch.setenv("PYTEST_XDIST_WORKER_COUNT", sharing)
    assert numerics_threads._usual.__wrapped__() == count
