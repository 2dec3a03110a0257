"""Words from one compute thread to another, and what the unpack thread reads for all three."""

import numpy as np
import pytest

import tensim as tt
from tensim.kernel_api import *  # noqa: F403
from tensim.sim.errors import DeadlockError, KernelCompileError, ProgramError

# ruff: noqa: F405
CORE, TILE, TILES = tt.CoreCoord(0, 0), 2048, 3
UNPACKER, MATHS = ThreadId.UnpackThreadId, ThreadId.MathThreadId
ENTRIES = 4  # of a mailbox


@kernel
def reads(counts, tiles):
    """The number of tiles comes late, in a page of its own; then as many tiles."""
    number = InterleavedAddrGen(counts, page_size=TILE, dram=True)
    source = InterleavedAddrGen(tiles, page_size=TILE, dram=True)
    riscv_wait(2000)
    for i in range(2):
        cb_reserve_back(0, 1)
        noc_async_read_page(i, number, get_write_ptr(0))
        noc_async_read_barrier()
        cb_push_back(0, 1)
    for i in range(TILES):
        cb_reserve_back(1, 1)
        noc_async_read_page(i, source, get_write_ptr(1))
        noc_async_read_barrier()
        cb_push_back(1, 1)


@kernel
def copies_as_many_as_said():
    unary_op_init_common(1, 16)
    cb_wait_front(0, 2)
    cb_pop_front(0, 1)
    count = read_tile_value(0, 0, 5)
    here, behind = get_tile_address(0, 0), get_tile_address(0, 1)
    PACK(DPRINT("{}", here - behind))
    for _ in range(count):
        cb_wait_front(1, 1)
        cb_reserve_back(16, 1)
        tile_regs_acquire()
        copy_tile(1, 0, 0)
        tile_regs_commit()
        tile_regs_wait()
        pack_tile(0, 16)
        tile_regs_release()
        cb_push_back(16, 1)
        cb_pop_front(1, 1)
    cb_pop_front(0, 1)


COPIES_AS_MANY_AS_SAID = """
#include "compute_kernel_api/common.h"
#include "compute_kernel_api/cb_api.h"
#include "compute_kernel_api/eltwise_unary/eltwise_unary.h"
#include "compute_kernel_api/tile_move_copy.h"
#include "debug/dprint.h"
namespace NAMESPACE {
void MAIN {
    unary_op_init_common(1, 16);
    cb_wait_front(0, 2);
    cb_pop_front(0, 1);
    const uint32_t count = read_tile_value(0, 0, 5);
    const uint32_t here = get_tile_address(0, 0), behind = get_tile_address(0, 1);
    PACK(DPRINT << int32_t(here - behind) << ENDL());
    for (uint32_t i = 0; i < count; i++) {
        cb_wait_front(1, 1);
        cb_reserve_back(16, 1);
        tile_regs_acquire();
        copy_tile(1, 0, 0);
        tile_regs_commit();
        tile_regs_wait();
        pack_tile(0, 16);
        tile_regs_release();
        cb_push_back(16, 1);
        cb_pop_front(1, 1);
    }
    cb_pop_front(0, 1);
}
}
"""


@kernel
def writes(address):
    target = InterleavedAddrGen(address, page_size=TILE, dram=True)
    for i in range(TILES):
        cb_wait_front(16, 1)
        noc_async_write_page(i, target, get_read_ptr(16))
        noc_async_write_barrier()
        cb_pop_front(16, 1)


@pytest.mark.parametrize("language", ["python", "cpp"])
@pytest.mark.parametrize("arch", ["wormhole_b0", "blackhole"])
def test_a_value_of_a_tile_is_that_which_the_unpack_thread_reads(arch, language):
    """Math and pack thread come to it long before the tile does, and their own pointers are elsewhere."""
    if language == "cpp":
        pytest.importorskip("ziglang", reason="C++ kernels need the extra tensim[cpp]")
    with tt.create_device(0, arch=arch, check=True) as device:
        lines, program, queue = [], tt.create_program(), device.command_queue()
        device.chip.printer.on_print = lines.append
        counts, tiles, result = (
            tt.create_buffer(tt.InterleavedBufferConfig(device, pages * TILE, TILE)) for pages in (2, TILES, TILES)
        )
        words, data = np.zeros((2, TILE // 4), np.uint32), np.arange(TILES * TILE // 4, dtype=np.uint32) + 0x3F803F80
        words[:, 5] = 99, TILES
        tt.enqueue_write_buffer(queue, counts, words.tobytes())
        tt.enqueue_write_buffer(queue, tiles, data.tobytes())
        for index in (0, 1, 16):
            config = tt.CircularBufferConfig(2 * TILE, {index: tt.DataFormat.Float16_b}).set_page_size(index, TILE)
            tt.create_circular_buffer(program, CORE, config)
        if language == "cpp":
            tt.create_kernel_from_string(program, COPIES_AS_MANY_AS_SAID, CORE, tt.ComputeConfig())
        else:
            tt.create_kernel(program, copies_as_many_as_said, CORE, tt.ComputeConfig())
        for one, config, arguments in (
            (reads, tt.ReaderDataMovementConfig(), [counts.address, tiles.address]),
            (writes, tt.WriterDataMovementConfig(), [result.address]),
        ):
            tt.set_runtime_args(program, tt.create_kernel(program, one, CORE, config), CORE, arguments)
        tt.enqueue_program(queue, program)
        assert tt.enqueue_read_buffer(queue, result) == data.tobytes()
        assert [line.partition(": ")[2] for line in lines] == [str(-TILE)]


def run(one):
    """Lines that a compute kernel alone on a core prints."""
    with tt.create_device(0, check=True) as device:
        lines, program = [], tt.create_program()
        device.chip.printer.on_print = lambda line: lines.append(line.removeprefix("(0,0) "))
        make = tt.create_kernel_from_string if isinstance(one, str) else tt.create_kernel
        make(program, one, CORE, tt.ComputeConfig())
        tt.enqueue_program(device.command_queue(), program)
        tt.finish(device.command_queue())
    return lines


@kernel
def sends_more_than_there_is_room_for():
    for i in range(7):
        UNPACK(mailbox_write(MATHS, 100 + i))
        UNPACK(DPRINT("sent {}", i))
    for _ in range(7):
        MATH(riscv_wait(500))
        word = MATH(mailbox_read(UNPACKER))
        MATH(DPRINT("got {}", word))


def test_words_come_in_order_and_a_sender_waits_for_room():
    lines = run(sends_more_than_there_is_room_for)
    assert [line for line in lines if "TRISC1" in line] == [f"TRISC1: got {100 + i}" for i in range(7)]
    first = lines.index("TRISC1: got 100")  # which makes room for one more
    assert lines[:first] == [f"TRISC0: sent {i}" for i in range(ENTRIES + 1)]
    assert lines[first + 1] == f"TRISC0: sent {ENTRIES + 1}"


@kernel
def waits_for_a_word():
    PACK(mailbox_read(MATHS))


def test_a_word_that_nobody_sends_is_a_deadlock():
    with pytest.raises(DeadlockError, match=r"TRISC2 waits at .* for mailbox_read: a word from the math thread"):
        run(waits_for_a_word)


@kernel
def sends_five():
    for i in range(ENTRIES + 1):
        MATH(mailbox_write(UNPACKER, i))


def test_words_that_nobody_reads_are_a_deadlock():
    with pytest.raises(DeadlockError, match=r"TRISC1 waits at .* for room in the mailbox of the unpack thread"):
        run(sends_five)


@kernel
def tells_the_pack_thread(words, reads):
    for i in range(words):
        MATH(mailbox_write(ThreadId.PackThreadId, 10 * words + i))
    if reads:
        word = PACK(mailbox_read(MATHS))
        PACK(DPRINT("got {}", word))


def test_words_of_a_program_that_has_failed_are_gone_behind_a_restart():
    with tt.create_device(0) as device:
        lines, queue, programs = [], device.command_queue(), []
        device.chip.printer.on_print = lambda line: lines.append(line.partition(": ")[2])
        for arguments in ([ENTRIES + 1, 0], [1, 1]):
            program = tt.create_program()
            tt.set_runtime_args(
                program, tt.create_kernel(program, tells_the_pack_thread, CORE, tt.ComputeConfig()), CORE, arguments
            )
            programs.append(program)
        with pytest.raises(DeadlockError, match="room in the mailbox of the pack thread"):
            tt.enqueue_program(queue, programs[0])
            tt.finish(queue)
        device._state.restart()
        tt.enqueue_program(queue, programs[1])
        tt.finish(queue)
    assert lines == ["got 10"]


def test_there_are_three_threads():
    with pytest.raises(
        KernelCompileError, match=r"mailbox_write: MAILBOX_WRITE has no Mailbox 3; it knows UNPACK \(0\)"
    ):
        run("@kernel\ndef sends():\n    mailbox_write(3, 1)\n")
    pytest.importorskip("ziglang", reason="C++ kernels need the extra tensim[cpp]")
    text = '#include "compute_kernel_api/common.h"\nvoid kernel_main() { mailbox_read(ckernel::ThreadId::BriscThreadId); }\n'
    with pytest.raises(ProgramError, match=r"kernel.cpp:2: MAILBOX_READ has no Mailbox 3"):
        run(text)
