"""Data races: accesses of two threads or cores to one place that nothing orders are found, ordered ones are not."""

import pytest

import tensim as tt
from tensim.kernel_api import *  # noqa: F403
from tensim.sim.cores.riscv.kernel import CppKernel
from tensim.sim.errors import ProgramError

# ruff: noqa: F405
FIRST, SECOND, THIRD = (tt.CoreCoord(x, 0) for x in range(3))
BRISC, NCRISC = tt.WriterDataMovementConfig, tt.ReaderDataMovementConfig
PLACE, OTHER = 0x80000, 0x90000  # L1 addresses far from circular buffers


def run(*parts, programs=1, numerics="fast"):
    """Run kernels, (core, processor's configuration, kernel, arguments), as one program with two semaphores, with checks."""
    with tt.create_device(0, arch="wormhole_b0", check=True, numerics=numerics, max_cycles=1_000_000) as device:
        program = tt.create_program()
        for _ in range(2):
            tt.create_semaphore(program, [tt.CoreRange(FIRST, THIRD)], 0)
        for place in (PLACE, OTHER):
            device.chip.memory.write_l1(0, place, bytes(64))
        for core, config, kernel_function, *args in parts:
            handle = tt.create_kernel(program, kernel_function, core, config())
            tt.set_runtime_args(program, handle, core, args)
        for _ in range(programs):
            tt.enqueue_program(device.command_queue(0), program, blocking=False)
        tt.finish(device.command_queue(0))


def place_of(core):
    """NoC coordinates of a core, as kernels take them."""
    with tt.create_device(0, arch="wormhole_b0") as device:
        place = device.worker_core_from_logical_core(core)
    return place.x, place.y


def finds(kind, line, other_line, *parts, **options):
    """Assert that the program is refused at a line, because of another one; returns the error."""
    with pytest.raises(ProgramError) as caught:
        run(*parts, **options)
    error = caught.value
    assert error.kind == kind, error
    assert (error.where["source"], error.where["other"]["source"]) == (line, other_line), error
    assert error.where["other"]["cycle"] <= error.where["cycle"] and error.hint
    return error


# --- kernels of one core


@kernel
def store_word(delay, value):
    riscv_wait(delay)
    words = l1_ptr(0x80000, uint32)
    words[0] = value


@kernel
def store_and_tell(value):
    words = l1_ptr(0x80000, uint32)
    words[0] = value
    noc_semaphore_set(get_semaphore(0), 1)


@kernel
def store_once_told(value):
    noc_semaphore_wait(get_semaphore(0), 1)
    words = l1_ptr(0x80000, uint32)
    words[0] = value


@kernel
def load_word(delay):
    riscv_wait(delay)
    words = l1_ptr(0x80000, uint32)
    value = words[0]
    assert value < 100


@kernel
def poll_word():
    words = l1_ptr(0x80000, uint32)
    while words[0] != 7:
        pass
    data = l1_ptr(0x90000, uint32)
    value = data[0]
    assert value == 9


@kernel
def store_data_and_flag():
    data = l1_ptr(0x90000, uint32)
    data[0] = 9
    words = l1_ptr(0x80000, uint32)
    words[0] = 1
    words[0] = 7


@kernel
def store_neighbour():
    words = l1_ptr(0x80000, uint32)
    words[1] = 3


def test_two_stores_to_a_word():
    error = finds(
        "race_writes", "words[0] = value", "words[0] = value",
        (FIRST, BRISC, store_word, 0, 1), (FIRST, NCRISC, store_word, 500, 2),
    )  # fmt: skip
    assert (error.where["thread"], error.where["other"]["thread"]) == ("NCRISC", "BRISC")
    assert "L1 0x80000 of core (0,0) (+4)" in str(error)


def test_a_store_of_what_is_there_is_no_race():
    run((FIRST, BRISC, store_word, 0, 1), (FIRST, NCRISC, store_word, 500, 1))


def test_a_semaphore_orders_two_stores():
    run((FIRST, BRISC, store_and_tell, 1), (FIRST, NCRISC, store_once_told, 2))


def test_stores_to_neighbouring_words_are_no_race():
    run((FIRST, BRISC, store_word, 0, 1), (FIRST, NCRISC, store_neighbour))


def test_a_load_of_what_another_thread_has_stored():
    parts = (FIRST, BRISC, store_word, 0, 1), (FIRST, NCRISC, load_word, 500)
    finds("race_read", "value = words[0]", "words[0] = value", *parts)


def test_races_are_found_without_data():
    parts = (FIRST, BRISC, store_word, 0, 1), (FIRST, NCRISC, store_word, 500, 2)
    finds("race_writes", "words[0] = value", "words[0] = value", *parts, numerics="off")


def test_a_loop_that_waits_for_a_word_orders():
    run((FIRST, BRISC, store_data_and_flag), (FIRST, NCRISC, poll_word))


def test_a_program_comes_behind_the_one_before():
    run((FIRST, BRISC, store_word, 0, 1), programs=3)


# --- kernels of two cores


@kernel
def read_from(x, y, delay):
    riscv_wait(delay)
    noc_async_read(get_noc_addr(x, y, 0x80000), 0x90000, 64)
    noc_async_read_barrier()


@kernel
def read_once_told(x, y):
    noc_semaphore_wait(get_semaphore(0), 1)
    noc_async_read(get_noc_addr(x, y, 0x80000), 0x90000, 64)
    noc_async_read_barrier()


@kernel
def store_and_tell_core(x, y):
    words = l1_ptr(0x80000, uint32)
    words[0] = 5
    noc_semaphore_inc(get_noc_addr(x, y, get_semaphore(0)), 1)
    noc_async_atomic_barrier()


@kernel
def write_to(x, y, delay):
    words = l1_ptr(0x90000, uint32)
    words[0] = 5
    riscv_wait(delay)
    noc_async_write(0x90000, get_noc_addr(x, y, 0x80000), 64)
    noc_async_write_barrier()


@kernel
def write_and_tell(x, y, to_x, to_y, waits):
    """Write to core (x, y), then tell core (to_x, to_y)."""
    words = l1_ptr(0x90000, uint32)
    words[0] = 5
    noc_async_write(0x90000, get_noc_addr(x, y, 0x80000), 64)
    if waits:
        noc_async_write_barrier()
    noc_semaphore_inc(get_noc_addr(to_x, to_y, get_semaphore(0)), 1)
    noc_async_full_barrier()


@kernel
def pass_on(x, y):
    noc_semaphore_wait(get_semaphore(0), 1)
    noc_semaphore_inc(get_noc_addr(x, y, get_semaphore(0)), 1)
    noc_async_atomic_barrier()


@kernel
def send_long(to_x, to_y):
    """Send many bytes away, and tell the other thread that it may overwrite them although they have not left."""
    noc_async_write(0x80000, get_noc_addr(to_x, to_y, 0xA0000), 65536)
    noc_semaphore_set(get_semaphore(0), 1)
    noc_async_write_barrier()


@kernel
def write_once_told(x, y):
    words = l1_ptr(0x90000, uint32)
    words[0] = 5
    noc_semaphore_wait(get_semaphore(0), 1)
    noc_async_write(0x90000, get_noc_addr(x, y, 0x80000 + 61440), 64)
    noc_async_write_barrier()


@kernel
def tell_and_reset(x, y):
    noc_semaphore_inc(get_noc_addr(x, y, get_semaphore(0)), 1)
    noc_semaphore_set(get_semaphore(1), 2)
    noc_semaphore_wait_min(get_semaphore(1), 3)


@kernel
def answer(x, y):
    noc_semaphore_wait(get_semaphore(0), 1)
    noc_semaphore_inc(get_noc_addr(x, y, get_semaphore(1)), 1)
    noc_async_atomic_barrier()


def test_a_read_of_another_core_before_it_says_that_it_has_written():
    parts = (FIRST, BRISC, store_word, 0, 1), (SECOND, NCRISC, read_from, *place_of(FIRST), 2000)
    error = finds("race_read", "noc_async_read(get_noc_addr(x, y, 0x80000), 0x90000, 64)", "words[0] = value", *parts)
    assert (error.where["core"], error.where["other"]["core"]) == ("(1,0)", "(0,0)")


def test_a_read_of_another_core_that_waits_for_it():
    run((FIRST, BRISC, store_and_tell_core, *place_of(SECOND)), (SECOND, NCRISC, read_once_told, *place_of(FIRST)))


def test_a_write_to_a_core_that_may_still_read():
    finds(
        "race_write", "noc_async_write(0x90000, get_noc_addr(x, y, 0x80000), 64)",
        "noc_async_read(get_noc_addr(x, y, 0x80000), 0x90000, 64)",
        (FIRST, BRISC, write_to, *place_of(SECOND), 5000), (THIRD, NCRISC, read_from, *place_of(SECOND), 0),
    )  # fmt: skip


def test_writes_of_two_cores_to_one_place():
    finds(
        "race_writes", *["noc_async_write(0x90000, get_noc_addr(x, y, 0x80000), 64)"] * 2,
        (FIRST, BRISC, write_to, *place_of(SECOND), 0), (THIRD, BRISC, write_to, *place_of(SECOND), 5000),
    )  # fmt: skip


@pytest.mark.parametrize("waits", [True, False])
def test_a_third_core_is_told_of_data_only_behind_a_barrier(waits):
    parts = (
        (FIRST, BRISC, write_and_tell, *place_of(SECOND), *place_of(THIRD), waits),
        (THIRD, NCRISC, read_once_told, *place_of(SECOND)),
    )
    if waits:
        run(*parts)
        return
    finds(
        "race_read", "noc_async_read(get_noc_addr(x, y, 0x80000), 0x90000, 64)",
        "noc_async_write(0x90000, get_noc_addr(x, y, 0x80000), 64)", *parts,
    )  # fmt: skip


@kernel
def write_and_set(x, y, noc):
    words = l1_ptr(0x90000, uint32)
    words[0] = 5
    noc_async_write(0x90000, get_noc_addr(x, y, 0x80000), 64, noc=0)
    noc_semaphore_set_remote(0x90000, get_noc_addr(x, y, get_semaphore(0)), noc=noc)
    noc_async_write_barrier(noc=0)
    noc_async_write_barrier(noc=1)


@kernel
def use_once_set():
    noc_semaphore_wait(get_semaphore(0), 5)
    words = l1_ptr(0x80000, uint32)
    value = words[0]
    assert value == 5


@pytest.mark.parametrize("noc", [0, 1])
def test_a_semaphore_is_written_behind_data_on_one_noc_only(noc):
    parts = (FIRST, BRISC, write_and_set, *place_of(SECOND), noc), (SECOND, BRISC, use_once_set)
    if noc == 0:
        run(*parts)
        return
    finds(
        "signal_before_data", "noc_semaphore_set_remote(0x90000, get_noc_addr(x, y, get_semaphore(0)), noc=noc)",
        "noc_async_write(0x90000, get_noc_addr(x, y, 0x80000), 64, noc=0)", *parts,
    )  # fmt: skip


def test_order_goes_through_a_core_between():
    run(
        (FIRST, BRISC, write_and_tell, *place_of(THIRD), *place_of(SECOND), 1),
        (SECOND, BRISC, pass_on, *place_of(THIRD)),
        (THIRD, NCRISC, read_once_told, *place_of(THIRD)),
    )


def test_a_write_arrives_where_bytes_have_not_left():
    finds(
        "source_overwritten", "noc_async_write(0x90000, get_noc_addr(x, y, 0x80000 + 61440), 64)",
        "noc_async_write(0x80000, get_noc_addr(to_x, to_y, 0xA0000), 65536)",
        (FIRST, BRISC, send_long, *place_of(THIRD)), (FIRST, NCRISC, write_once_told, *place_of(FIRST)),
    )  # fmt: skip


def test_a_semaphore_is_set_when_others_may_count_it():
    finds(
        "race_writes", "noc_semaphore_inc(get_noc_addr(x, y, get_semaphore(1)), 1)", "noc_semaphore_set(get_semaphore(1), 2)",
        (FIRST, BRISC, tell_and_reset, *place_of(SECOND)), (SECOND, BRISC, answer, *place_of(FIRST)),
    )  # fmt: skip


# --- whole blocks of L1 (`tensim.sim.cores.checks.shadow.BLOCK`) and parts of them


@kernel
def write_bytes(x, y, offset, size, delay):
    words = l1_ptr(0x90000, uint32)
    words[0] = 5
    riscv_wait(delay)
    noc_async_write(0x90000, get_noc_addr(x, y, 0x80400 + offset), size)
    noc_async_write_barrier()


@kernel
def read_bytes(x, y, offset, size, delay):
    riscv_wait(delay)
    noc_async_read(get_noc_addr(x, y, 0x80400 + offset), 0x90000, size)
    noc_async_read_barrier()


@kernel
def write_twice_and_tell(x, y, to_x, to_y, size, offset, part):
    """Write many bytes and a part of them; then tell a core."""
    noc_async_write(0x90000, get_noc_addr(x, y, 0x80400), size)
    noc_async_write_barrier()
    noc_async_write(0x90000, get_noc_addr(x, y, 0x80400 + offset), part)
    noc_async_write_barrier()
    noc_semaphore_inc(get_noc_addr(to_x, to_y, get_semaphore(0)), 1)
    noc_async_atomic_barrier()


@kernel
def read_bytes_once_told(x, y, offset, size):
    noc_semaphore_wait(get_semaphore(0), 1)
    noc_async_read(get_noc_addr(x, y, 0x80400 + offset), 0x90000, size)
    noc_async_read_barrier()


WRITE_BYTES = "noc_async_write(0x90000, get_noc_addr(x, y, 0x80400 + offset), size)"
READ_BYTES = "noc_async_read(get_noc_addr(x, y, 0x80400 + offset), 0x90000, size)"
# (offset, bytes) of two accesses: whole blocks of 2048 bytes from 0x80400 on, parts, several with parts before and behind
OVERLAPS = [
    ((0, 2048), (0, 2048)), ((0, 2048), (64, 64)), ((64, 64), (0, 2048)), ((0, 8192), (2048, 2048)), ((1024, 4096), (2048, 2048)),
    ((2048, 2048), (1024, 4096)), ((0, 2048), (2032, 32)), ((1008, 32), (1024, 1024)),
]  # fmt: skip
APART = [((0, 2048), (2048, 2048)), ((0, 2048), (2048, 16)), ((2032, 16), (2048, 2048)), ((64, 64), (128, 1920))]


@pytest.mark.parametrize(("first", "second"), OVERLAPS)
@pytest.mark.parametrize(
    ("kernels", "kind"),
    [
        ((write_bytes, write_bytes), "race_writes"),
        ((write_bytes, read_bytes), "race_read"),
        ((read_bytes, write_bytes), "race_write"),
    ],
    ids=["writes", "read", "write"],
)
def test_accesses_of_blocks_and_parts_that_nothing_orders(kernels, kind, first, second):
    there = place_of(SECOND)
    error = finds(
        kind, *(WRITE_BYTES if one is write_bytes else READ_BYTES for one in kernels[::-1]),
        (FIRST, BRISC, kernels[0], *there, *first, 0), (THIRD, BRISC, kernels[1], *there, *second, 9000), numerics="off",
    )  # fmt: skip
    assert f"(+{second[1]})" in str(error), "all that is accessed, not the block"


@pytest.mark.parametrize(("first", "second"), APART)
def test_accesses_beside_each_other_are_no_race(first, second):
    there = place_of(SECOND)
    run(
        (FIRST, BRISC, write_bytes, *there, *first, 0), (THIRD, BRISC, write_bytes, *there, *second, 9000), numerics="off"
    )  # fmt: skip


@pytest.mark.parametrize("size", [2048, 6144])
@pytest.mark.parametrize(("offset", "part"), [(0, 2048), (64, 64), (2000, 48)])
@pytest.mark.parametrize("read", [(0, 2048), (0, 6144), (64, 16), (1024, 2048)])
def test_ordered_accesses_of_blocks_and_parts_are_no_race(size, offset, part, read):
    run(
        (FIRST, BRISC, write_twice_and_tell, *place_of(SECOND), *place_of(THIRD), size, offset, part),
        (THIRD, NCRISC, read_bytes_once_told, *place_of(SECOND), *read), numerics="off",
    )  # fmt: skip


@pytest.mark.parametrize("part", [(0, 2048), (64, 64)])
def test_a_part_that_is_written_again_hides_no_race_with_the_rest(part):
    """One core has written a block, waits for nothing and lets another write; a third reads what lies beside that."""
    there = place_of(SECOND)
    parts = (
        (FIRST, BRISC, write_bytes, *there, 0, 2048, 0), (FIRST, NCRISC, write_bytes, *there, *part, 4000),
        (THIRD, NCRISC, read_bytes, *there, 1024, 64, 9000),
    )  # fmt: skip
    with pytest.raises(ProgramError) as caught:
        run(*parts, numerics="off")
    assert caught.value.kind in ("race_writes", "race_read")


# --- DRAM


@kernel
def write_dram(address, x, y, tells):
    words = l1_ptr(0x90000, uint32)
    words[0] = 5
    noc_async_write_page(0, InterleavedAddrGen(address, page_size=2048, dram=True), 0x90000)
    noc_async_write_barrier()
    if tells:
        noc_semaphore_inc(get_noc_addr(x, y, get_semaphore(0)), 1)
        noc_async_atomic_barrier()


@kernel
def read_dram(address, waits):
    riscv_wait(5000)
    if waits:
        noc_semaphore_wait(get_semaphore(0), 1)
    noc_async_read_page(0, InterleavedAddrGen(address, page_size=2048, dram=True), 0x90000)
    noc_async_read_barrier()


@pytest.mark.parametrize("tells", [True, False])
def test_a_page_of_dram_that_another_core_writes(tells):
    address = 1 << 20
    parts = (
        (FIRST, BRISC, write_dram, address, *place_of(SECOND), int(tells)),
        (SECOND, NCRISC, read_dram, address, int(tells)),
    )
    if tells:
        run(*parts)
        return
    error = finds(
        "race_read", "noc_async_read_page(0, InterleavedAddrGen(address, page_size=2048, dram=True), 0x90000)",
        "noc_async_write_page(0, InterleavedAddrGen(address, page_size=2048, dram=True), 0x90000)", *parts,
    )  # fmt: skip
    assert "DRAM bank 0, offset 0x100000 (+2048)" in str(error)


@kernel
def write_buffer(address, is_dram, delay):
    riscv_wait(delay)
    target = InterleavedAddrGen(address, page_size=2048, dram=is_dram == 1)
    noc_async_write_page(0, target, 0x90000)
    noc_async_write_barrier()


@kernel
def read_buffer(address, is_dram, delay):
    riscv_wait(delay)
    noc_async_read_page(0, InterleavedAddrGen(address, page_size=2048, dram=is_dram == 1), 0x90000)
    noc_async_read_barrier()


@pytest.mark.parametrize("memory", [tt.BufferType.DRAM, tt.BufferType.L1])
@pytest.mark.parametrize("place", ["buffer", "behind"])
def test_writes_to_a_buffer_that_nobody_looks_at_need_no_order(memory, place):
    """Two cores write one page; those of another buffer, and a read, are judged as ever."""
    with tt.create_device(0, check=True) as device:
        config = tt.InterleavedBufferConfig(device=device, size=2048, page_size=2048, buffer_type=memory)
        free, other = tt.create_buffer(config), tt.create_buffer(config)
        free.allow_unordered_writes()
        is_dram, target = int(memory == tt.BufferType.DRAM), free if place == "buffer" else other

        def run_kernels(*parts):
            program = tt.create_program()
            for core, kernel_function, *args in parts:
                handle = tt.create_kernel(program, kernel_function, core, BRISC())
                tt.set_runtime_args(program, handle, core, [target, is_dram, *args])
            tt.enqueue_program(device.command_queue(0), program, blocking=False)
            tt.finish(device.command_queue(0))

        writes = (FIRST, write_buffer, 0), (SECOND, write_buffer, 5000)
        if place == "buffer":
            run_kernels(*writes)
            writes = writes[0], (SECOND, read_buffer, 5000)
        with pytest.raises(ProgramError) as caught:
            run_kernels(*writes)
        assert caught.value.kind == ("race_read" if place == "buffer" else "race_writes")


# --- C++

HEAD = "#include <cstdint>\nusing Words = volatile tt_l1_ptr uint32_t*;\n"
STORES = (
    HEAD
    + """void kernel_main() {
    riscv_wait(get_arg_val<uint32_t>(0));
    Words words = reinterpret_cast<Words>(0x80000);
    words[0] = get_arg_val<uint32_t>(1);
}
"""
)
SIGNALS = (
    HEAD
    + """void kernel_main() {
    Words words = reinterpret_cast<Words>(0x80000), flag = reinterpret_cast<Words>(0x90000);
    words[0] = 5;
    flag[0] = 1;
    flag[0] = 7;
}
"""
)
POLLS = (
    HEAD
    + """void kernel_main() {
    Words words = reinterpret_cast<Words>(0x80000), flag = reinterpret_cast<Words>(0x90000);
    WAIT
    const uint32_t value = words[0];
    words[1] = value;
}
"""
)
LOOP = "while (flag[0] != 7) { invalidate_l1_cache(); }"


def cpp(name, text):
    pytest.importorskip("ziglang", reason="C++ kernels need the extra tensim[cpp]")
    return CppKernel(f"{name}.cpp", text)


def test_two_stores_to_a_word_in_cpp():
    finds(
        "race_writes", *["words[0] = get_arg_val<uint32_t>(1);"] * 2,
        (FIRST, BRISC, cpp("stores", STORES), 0, 1), (FIRST, NCRISC, cpp("stores", STORES), 900, 2),
    )  # fmt: skip


def test_a_loop_that_waits_for_a_word_orders_in_cpp():
    run((FIRST, BRISC, cpp("signals", SIGNALS)), (FIRST, NCRISC, cpp("polls", POLLS.replace("WAIT", LOOP))))


def test_a_load_without_that_loop_in_cpp():
    finds(
        "race_read", "const uint32_t value = words[0];", "words[0] = 5;",
        (FIRST, BRISC, cpp("signals", SIGNALS)), (FIRST, NCRISC, cpp("polls", POLLS.replace("WAIT", "riscv_wait(900);"))),
    )  # fmt: skip
