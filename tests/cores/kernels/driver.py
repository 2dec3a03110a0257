"""A tiny machine for kernel tests: resumes a compiled kernel and interprets its operations in Python.

It has one core with L1, circular buffers without blocking, no NoC; it records every operation that a kernel posts.
"""

import ctypes
import itertools

import numpy as np

from tensim.sim.cores import context as ctx
from tensim.sim.cores.operations import Op, Role
from tensim.sim.engine.coroutine import FINISHED

L1_BYTES = 1 << 16
SEMAPHORES = 0x100
ARGUMENTS_AT = 0x200
COSTS = {ctx.COST_ALU: 1, ctx.COST_BRANCH: 10, ctx.COST_MUL: 100, ctx.COST_DIV: 1000, ctx.COST_LOAD: 10000}
COSTS |= {ctx.COST_MUL_USE: 100_000, ctx.ICACHE_LINES: 256, ctx.FETCH_MISS: 1}
READY = 500  # cycle at which loaded values can be used; operations take no time here
DRAM_BANKS = 4
L1_BANKS = 3


RESUME = ctypes.PYFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)


def coroutine(code, context):
    """What a kernel's machine code yields over a context block; RuntimeError when it stops the thread."""
    frame, resume = code.frame(context), RESUME(code.address)
    value, error = ctypes.c_int64(), ctypes.c_void_p()
    while True:
        status = resume(ctypes.addressof(value), ctypes.addressof(error), frame.ctypes.data)
        if status == FINISHED:
            return
        if status:
            raise RuntimeError(status)
        yield value.value


class Driver:
    """One thread's surroundings.  `args`: unique runtime arguments; `cbs`: {index: {column: value}}."""

    def __init__(self, args=(), common=(), compile_args=(), role=Role.DATA_MOVEMENT, cbs=None, free_code=False):
        self.words = np.zeros(ctx.CONTEXT_WORDS, np.int64)
        self.l1 = np.zeros(L1_BYTES, np.uint8)
        self.args, self.common = np.array([*args, 0], np.uint32), np.array([*common, 0], np.uint32)
        self.compile_args = np.array([*compile_args, 0], np.int64)
        self.cb_table = np.zeros((32, ctx.CB_WORDS), np.int64)
        for index, columns in (cbs or {}).items():
            for column, value in columns.items():
                self.cb_table[index, column] = value
        self.dram_banks = np.array([[(bank << 36) | (y << 42) for bank in range(DRAM_BANKS)] for y in (8, 9)], np.int64)
        self.l1_banks = np.array([((bank + 1) << 36) | (1 << 42) for bank in range(L1_BANKS)], np.int64)
        values = {
            ctx.L1: self.l1.ctypes.data, ctx.L1_SIZE: L1_BYTES,
            ctx.N_ARGS: len(args), ctx.ARGS: self.args.ctypes.data,
            ctx.N_COMMON_ARGS: len(common), ctx.COMMON_ARGS: self.common.ctypes.data,
            ctx.N_COMPILE_ARGS: len(compile_args), ctx.COMPILE_ARGS: self.compile_args.ctypes.data,
            ctx.MY_X: 3, ctx.MY_Y: 5, ctx.LOGICAL_X: 2, ctx.LOGICAL_Y: 4, ctx.RELATIVE_X: 1, ctx.RELATIVE_Y: 0,
            ctx.NOC: 1, ctx.ROLE: int(role),
            ctx.N_DRAM_BANKS: DRAM_BANKS, ctx.DRAM_BANKS: self.dram_banks.ctypes.data,
            ctx.N_L1_BANKS: L1_BANKS, ctx.L1_BANKS: self.l1_banks.ctypes.data,
            ctx.DRAM_ALIGNMENT: 32, ctx.L1_ALIGNMENT: 16, ctx.SEMAPHORE_BASE: SEMAPHORES,
            ctx.CBS: self.cb_table.ctypes.data, ctx.POINTERS: ctx.CB_WRITE_PTR, ctx.MAX_BURST: 8192, ctx.L1_ARGS: ARGUMENTS_AT,
        }  # fmt: skip
        if not free_code:
            values |= COSTS
        for word, value in values.items():
            self.words[word] = value

    def run(self, compiled, limit=10_000):
        """[(Op, arguments...)] of the kernel until it ends, fails or has posted `limit` operations."""
        self.records = []
        box = coroutine(compiled.code, self.words.ctypes.data)
        for _ in itertools.islice(box, limit):
            op = Op(int(self.words[ctx.OPCODE]))
            args = tuple(int(value) for value in self.words[ctx.ARG0 : ctx.ARG0 + ctx.MAX_ARGS])
            self.records.append((op, args, int(self.words[ctx.LINE]), int(self.words[ctx.CYCLES])))
            self.act(op, args)
            if op == Op.FAIL:
                break
        return self.records

    def act(self, op, args):
        """Effect of an operation on this machine."""
        if op == Op.LOAD:
            data = self.l1[args[0] : args[0] + args[1]].tobytes()
            self.words[ctx.RESULT] = int.from_bytes(data, "little", signed=bool(args[2]))
            self.words[ctx.READY] = READY
        elif op == Op.STORE:
            value = (args[1] & ((1 << (8 * args[2])) - 1)).to_bytes(args[2], "little")
            self.l1[args[0] : args[0] + args[2]] = np.frombuffer(value, np.uint8)
        elif op == Op.CB_PUSH_BACK:
            self.cb_table[args[0], ctx.CB_WRITE_PTR] += args[1] * self.cb_table[args[0], ctx.CB_PAGE_SIZE]
        elif op in (Op.CB_PAGES_AVAILABLE, Op.CB_PAGES_RESERVABLE):
            self.words[ctx.RESULT] = 1

    def word(self, address):
        """The uint32 at an L1 address."""
        return int(self.l1[address : address + 4].view(np.uint32)[0])
