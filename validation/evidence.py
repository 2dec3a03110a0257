"""What the agreement of a row is worth: whether parameters of its chip were chosen by rows like it.

The sources of the parameters (`src` in `sim/arch/*.yaml`) say which rows chose them: `FILE.csv (FAMILY, FAMILY)` names the
families of a file, the file alone all its rows; `noc_traces` is the folder of shared recordings, with their memories as
families; "the same" stands for what the parameter above it names.  Rows of other files, a user's own above all, chose nothing.
"""

import functools
import re
from dataclasses import dataclass

from tensim.sim.arch import architectures, load_arch

PREDICTED = "predicted"  # no parameter of the chip was chosen by rows of this family
FITTED = "fitted"  # some were: the row says how well a mechanism fits, not what it predicts
CIRCULAR = "circular"  # a parameter is what these rows measured, so that they must agree
DOCUMENTED = "documented"  # the row measures one number that the documents give: it agrees or they are wrong
OTHER_RELEASE = "another release"  # the row's own figures show that its program is not the one that is simulated
KINDS = (PREDICTED, FITTED, CIRCULAR, DOCUMENTED, OTHER_RELEASE)

INSTRUCTION_LEVEL, COPROCESSOR = "instruction", "coprocessor."  # the kind of validation, and its parameters' keys
CHOSEN = ("fitted", "measured")  # confidence of the parameters that measurements chose
FILE = re.compile(r"([\w.-]+\.csv|\bnoc_traces\b)(?: \(([^)]*)\))?")
RECORDING = re.compile(r"(DRAM|\dx\d_BLOCK)_TO_\dx\d_(BLOCK|HEIGHT)\.json")  # of the folder noc_traces
AGAIN = re.compile(r"\bthe same\b")
# Other names of measurements in the sources: what they stand for.
NAMED = {
    "golden row": "program_dispatch_golden.csv",
    "ISA DRAMTile": "isa_doc_measured.csv (channels)",
    "dramratebench probe": "dramratebench-blackhole-2026-08-09.csv",
    "tt-metal issue 55898": "github_issue_measurements.csv (DRAM endpoint, DRAM page, neg, clone)",
}


@dataclass(frozen=True)
class SingleCost:
    """Rows that measure one parameter and hardly anything else.

    `groups`: regular expression of "KIND: CHIP/GROUP".  `parameters`: beginning of the keys that hold what they measure.
    `evidence`: CIRCULAR or DOCUMENTED.
    """

    groups: str
    parameters: str
    evidence: str
    reason: str


SINGLE_COSTS = (
    SingleCost(r"compute: blackhole/LLK init$", "tensix.short_init", CIRCULAR,
               "the cost of an initialisation is a mean of these rows, or one of them"),
    SingleCost(r"compute: blackhole/wolfpine (?!matmul|MATH)", "tensix.instructions", DOCUMENTED,
               "one coprocessor instruction again and again: one cycle, or three of ThCon"),
    SingleCost(r"compute: blackhole/wolfpine MATH", "tensix.instructions.fpu", CIRCULAR,
               "the spacing of single MATH instructions was measured by these probes"),
    SingleCost(r"issue: blackhole/(ELWADD|ELWMUL|MVMUL)$", "tensix.instructions.fpu", CIRCULAR,
               "the spacing of single MATH instructions was measured by these probes"),
    SingleCost(r"issue: blackhole/([A-Z]+|tt_\w+)$", "tensix.instructions", DOCUMENTED,
               "one coprocessor instruction again and again"),
    SingleCost(r"issue: \w+/(stated )?rv_(div|mul_dep|mul_indep)$", "riscv.", CIRCULAR,
               "one RISC-V instruction again and again, whose cost is the probe's"),
    SingleCost(r"issue: \w+/rv_(addi_dep|addi_indep|load_chase|load_stack)$", "riscv.", DOCUMENTED,
               "one RISC-V instruction again and again"),
    SingleCost(r"dram: \w+/DRAM endpoint read requests", "dram.request_cycles", CIRCULAR,
               "the time between two requests is this row"),
    SingleCost(r"streaming: wormhole_b0/exp/b", "tensix.sfpu_cycles.EXP", CIRCULAR,
               "the cost of exp is the period of these streams, which memory does not bound"),
    SingleCost(r"dispatch: \w+/(un)?traced", "dispatch.", CIRCULAR,
               "every step of the dispatcher costs what differences of these rows give"),
    SingleCost(r"dispatch: \w+/transfers", "pcie.", CIRCULAR,
               "rates and costs per page are what differences of these rows give"),
)  # fmt: skip


def evidence_of(kind, row_id, group):
    """PREDICTED, FITTED, CIRCULAR or DOCUMENTED: of the row `row_id` (FILE:n) of a kind of validation."""
    for cost in SINGLE_COSTS:
        if re.match(cost.groups, f"{kind}: {group}"):
            return cost.evidence
    chip, _, rest = group.partition("/")
    file = "noc_traces" if RECORDING.match(row_id) else row_id.rpartition(":")[0]
    families = cited(chip, kind == INSTRUCTION_LEVEL).get(file, ())
    return FITTED if families is None or is_of(rest, families) else PREDICTED


def is_of(group, families):
    """Whether a group (without its chip) belongs to one of some families, which name its beginning or one of its words."""
    family = group.partition("/")[0]
    return any(word.startswith(name) for name in families for word in (family, *family.split()))


@functools.cache
def cited(chip, instruction_level=False):
    """{file: names of families, None for all its rows} that chose parameters of a chip; {} of a chip that is not ours.

    `instruction_level`: those of `coprocessor`, on which alone the machine of instructions depends; else all others.
    """
    if chip not in architectures():
        return {}
    arch, found, named = load_arch(chip), {}, {}
    for key in arch.values():
        if key.startswith(COPROCESSOR) != instruction_level:
            continue
        leaf = arch.describe(key)
        named = files_of(leaf.get("src", "")) or (named if AGAIN.search(leaf.get("src", "")) else {})
        if leaf.get("conf") not in CHOSEN:
            continue
        for file, families in named.items():
            known = found.setdefault(file, families)
            found[file] = None if None in (known, families) else known | families
    return found


def files_of(source):
    """{file: names of families, None for all} that the source of a parameter names."""
    for name, meaning in NAMED.items():
        source = source.replace(name, meaning)
    found = {}
    for file, families in FILE.findall(source):
        names = frozenset(re.split(r"[,;] *", families)) if families else None
        known = found.setdefault(file, names)
        found[file] = None if None in (known, names) else known | names
    return found
