"""Instruction words into the text of a function, in place of the calls."""

from tensim.sim.cores.riscv.vector.instructions import is_constant
from tensim.sim.cores.riscv.vector.program_text import PREFIX, TOKEN

BUFFER = 0xFFE40000  # where a store issues a Tensix instruction


class Words:
    """Words of instructions, once their registers are chosen: `registers` {value: number}."""

    def __init__(self, registers):
        self._registers = registers

    def number(self, value):
        return int(value[1:]) if is_constant(value) else self._registers[value]

    def word(self, instruction):
        """The word without what comes at run time; None for a copy within one register."""
        if instruction.kind == "raw":
            return instruction.word
        if instruction.copy and self.number(instruction.reads[0][1]) == self.number(instruction.result):
            return None
        word = instruction.opcode << 24
        for low, value in instruction.fields.items():
            word |= value << low if isinstance(value, int) else 0
        for low, value in instruction.reads[: 0 if instruction.choice else None]:
            word |= self.number(value) << low
        if instruction.result:
            word |= self.number(instruction.result) << instruction.at
        if instruction.second:
            word |= self.number(instruction.second[1]) << instruction.second[0]
        return word


def rewritten(function, blocks, words):
    """The function's lines with instruction words instead of vector calls."""
    inserted = {}
    for instructions in blocks.values():
        for instruction in instructions:
            if instruction.kind == "vector" and words.word(instruction) is not None:
                inserted.setdefault(instruction.line, []).append(instruction)
    ends = {block.end for block in function.blocks.values()}
    result, names = [], iter(range(1 << 30))
    for number, line in enumerate(function.lines):
        made = [text for one in inserted.get(number, ()) for text in _texts(one, words, names)]
        if number in ends:
            result += [*made, line]
        elif TOKEN in line or f"@{PREFIX}" in line:
            result += made
        else:
            result += [line, *made]
    return result


def _texts(instruction, words, names):
    """Lines of IR that issue an instruction."""
    place = f", !dbg {instruction.place}" if instruction.place else ""
    word = words.word(instruction)
    parts = [(value, low) for low, value in instruction.fields.items() if not isinstance(value, int)]
    if not parts and instruction.choice is None:
        yield f'  call void asm sideeffect ".ttinsn $0", "i"(i32 {word}) nounwind{place}'
        return
    current = str(word)
    for (name, shift, mask), low in parts:
        shifted, masked, moved, joined = (f"%tensim.word.{next(names)}" for _ in range(4))
        yield f"  {shifted} = lshr i32 {name}, {shift}{place}"
        yield f"  {masked} = and i32 {shifted}, {mask}{place}"
        yield f"  {moved} = shl i32 {masked}, {low}{place}"
        yield f"  {joined} = or i32 {moved}, {current}{place}"
        current = joined
    if instruction.choice is not None:
        chosen, joined = (f"%tensim.word.{next(names)}" for _ in range(2))
        (low, a), (_, b) = instruction.reads
        first, second = words.number(a) << low, words.number(b) << low
        yield f"  {chosen} = select i1 {instruction.choice}, i32 {first}, i32 {second}{place}"
        yield f"  {joined} = or i32 {chosen}, {current}{place}"
        current = joined
    yield f"  store volatile i32 {current}, ptr inttoptr (i32 {BUFFER} to ptr), align 4{place}"
