"""What gdb reads and writes of a RISC-V core: registers, text, L1, local memory.

Text is linked at 0, where L1 also begins: reads below the end of the text give the text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensim.sim.chip import inspection
from tensim.sim.cores.riscv.decode import INSTRUCTION_BYTES
from tensim.sim.cores.riscv.layout import LOCAL_BASE
from tensim.sim.cores.slots import THREADS_PER_CORE

if TYPE_CHECKING:
    from tensim.debugger.session import Session
    from tensim.sim.chip.chip import Chip
    from tensim.sim.cores.riscv.program import ThreadProgram

PC = 32  # number of the pc among gdb's registers of RISC-V


def is_l1(chip: Chip, address: int, size: int) -> bool:
    return 0 <= address <= chip.arch.l1_size - size


def read_memory(session: Session, thread: int, program: ThreadProgram, address: int, size: int) -> bytes:
    """Bytes that a core would read there, nothing outside of memories."""
    chip, code = session.chip, program.image.text
    if address < len(code):
        return code[address : address + size]
    if is_l1(session.chip, address, size):
        return bytes(chip.memory.read_l1(thread // THREADS_PER_CORE, address, size))
    inside, local = address - LOCAL_BASE, int(chip.loader.riscv.cores["local_bytes"][thread])
    return chip.loader.riscv.local[thread][inside : min(inside + size, local)].tobytes() if 0 <= inside < local else b""


def write_memory(session: Session, thread: int, program: ThreadProgram, address: int, data: bytes) -> bool:
    """Write bytes of local memory or L1; False where there is neither, or text."""
    chip = session.chip
    inside, local = address - LOCAL_BASE, int(chip.loader.riscv.cores["local_bytes"][thread])
    if 0 <= inside <= local - len(data):
        chip.loader.riscv.local[thread][inside : inside + len(data)] = list(data)
    elif address >= len(program.image.text) and is_l1(chip, address, len(data)):
        chip.memory.write_l1(thread // THREADS_PER_CORE, address, data, chip.cycle)
    else:
        return False
    return True


def put_register(session: Session, thread: int, program: ThreadProgram, number: int, data: bytes) -> bool:
    """Set a register by its number; False for a pc that the core cannot go on at."""
    chip, value = session.chip, int.from_bytes(data, "little", signed=True)
    if number == PC:
        pc = value & 0xFFFFFFFF
        if pc == inspection.pc_of(chip, thread):
            return True
        if not session.stops.at_break(thread) or pc % INSTRUCTION_BYTES or pc >= len(program.image.text):
            return False
        chip.loader.riscv.cores["pc"][thread] = pc
        chip.arrays["threads"]["line"][thread] = pc // INSTRUCTION_BYTES
    elif number:
        chip.loader.riscv.registers[thread][number] = value
    return True
