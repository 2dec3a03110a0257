"""One coprocessor instruction that up to three threads issue again and again."""

from tensim.sim.cores.coprocessor.instruction_table import instructions
from tensim.validation.instruction.kernels import Threads, text_of, zone_cycles
from tensim.validation.instruction.lone_core import LoneCore, programs
from tensim.validation.rows import Skip

FEW, MANY, ROUNDS = 32, 64, 32  # words of a loop, between which the slope is taken; how often it is run
THREADS = {1: (1,), 2: (0, 1), 3: (0, 1, 2)}  # those that take part, by their number
# Results apart from what is read, so that no instruction waits for the one before; sums are added to what Dst holds
APART = {"SFPU": {"lreg_dest": 4}, "THCON": {"ResultRegIndex": 4}, "MATH": {"dest_accum_en": 1}}
# sources that the matrix unit reads belong to it from the start: the unpackers' thread hands both banks over
PREPARE = "UNPACK((TT_SETDVALID(3))); tensix_sync();"
# Where the math thread steps through Dst, its instructions go by an address modifier of their own
STEP = {"addr_mode": 1, "addr_mode_bot": 1}
SET_STEP = "MATH((addr_mod_t{.dest = {.incr = 8}}.set(ADDR_MOD_1)));"
BY_PROBE = {"tt_nop": "NOP", "tt_sfpnop": "SFPNOP", "tt_setdmareg": "SETDMAREG", "tt_adddmareg": "ADDDMAREG"}


def instruction_of_probe(probe):
    """The instruction's name; Skip for a probe of several ones."""
    name = BY_PROBE.get(probe, probe)
    if name not in instructions("blackhole"):
        raise Skip(f"probe {probe} is not one coprocessor instruction")
    return name


def _loop(word, words):
    """Statements that issue a word so many times in each of the loops."""
    return f"for (std::uint32_t i = 0; i < loops; i++) {{ {f'TTI_INSN({word}u);' * words} }}"


def cycles_per_instruction(arch, name, threads, thread, steps=False):
    """Cycles that a thread takes for one of the instructions, as the slope over the length of a loop.

    `steps`: the math thread's instructions go on to the next block of Dst, those of the others stay at theirs.
    """
    instruction = instructions(arch)[name]
    apart = {field: value for field, value in APART.get(instruction.unit, {}).items() if field in instruction.fields}
    step = {field: value for field, value in STEP.items() if steps and field in instruction.fields}
    taken = []
    for words in (FEW, MANY):
        active = THREADS[threads]
        bodies = {
            part: _loop(instruction.word(**apart | step if part == "math" else apart), words)
            for number, part in enumerate(("unpack", "math", "pack")) if number in active
        }  # fmt: skip
        prepare = PREPARE + SET_STEP if step else PREPARE
        core = LoneCore(arch, programs(arch, text_of(Threads(prepare=prepare, **bodies)), []), [], (ROUNDS, 1))
        core.run()
        taken.append(zone_cycles(core.results[thread if threads > 1 else 1]))
    return (taken[1] - taken[0]) / ((MANY - FEW) * ROUNDS)
