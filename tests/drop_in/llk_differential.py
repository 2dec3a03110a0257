"""The vendor's LLK tests on its functional simulator and on our chip at register level: the same programs, the same bits?

    python -m tests.drop_in.llk_differential CHIP FOLDER [--limit N] [--most N] [--match REGEX] [FILE ...]

runs files of the suite (`FILES` without any), a selection of their tests, and prints a table; records stay in FOLDER, and what lies
there is not run again.  TENSIM_FUNCTIONAL_SIMULATORS, TENSIM_LIBRARY_PYTHON: `functional_simulator`;
TENSIM_SUITE_PYTHON names an interpreter that has tt-exalens and what the suite needs (docs/device.md).
"""

import argparse
import json
import os
import re
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from tensim.drop_in import suite
from tensim.library.environment import find_library
from tests.drop_in import functional_simulator
from tests.drop_in.functional_simulator import WITHOUT_MACROS

PYTHON = os.environ.get("TENSIM_SUITE_PYTHON")
RECORDER = Path(__file__).with_name("llk_recorder.py")
TESTS = "tt_metal/tt-llk/tests/python_tests"  # below the library's package
SAME, DIFFERS, INPUTS, REFUSED_THERE, REFUSED_HERE, NONE = OUTCOMES = (
    "same", "differs", "other inputs", "refused there", "refused here", "no results",
)  # fmt: skip
REFUSED = "refused"  # outcome of a record
ERROR = re.compile(r"ERROR: ([^\n]+)")  # by which the functional simulator ends the process
SAME_ORDER = {"PYTHONHASHSEED": "0"}  # of the sets from which the suite's fuser writes programs
# Unpackers, matrix and vector unit, packers, formats and rounding; without files of very many parametrisations
FILES = """
    test_bcast test_block_max8 test_dense_pack_untilize test_dest_copy test_eltwise_add_scalar test_eltwise_bcast_col_custom
    test_eltwise_binary test_eltwise_binary_broadcast test_eltwise_binary_sfpu test_eltwise_mul_scalar_block
    test_eltwise_unary_datacopy test_eltwise_unary_sfpu test_eltwise_unary_typecast test_fast_tilize test_fast_untilize
    test_gelu_derivative_specials test_hadamard test_matmul test_matmul_custom test_matmul_pack_untilize
    test_matmul_unpack_tilize test_mul_reduce_scalar test_pack test_pack_dest_bank test_pack_rows test_pack_untilize test_reduce
    test_reduce_block_max test_rope test_sdpa_reduce_row test_sfpu_add_rsqrt test_sfpu_binary_pow_zero_base
    test_sfpu_binop_scalar test_sfpu_clamped_silu test_sfpu_comp_unary_threshold test_sfpu_ema test_sfpu_logit_softcap
    test_sfpu_reduce test_sfpu_ternary test_sfpu_zero_pad test_sum_reduce_scalar test_tanh_lut_consistency test_tanh_specials
    test_tilize_calculate_untilize_L1 test_topk test_transpose_dest test_unpack_A test_unpack_a_bcast_eltwise
    test_unpack_reduce_col_tilizeA_strided test_unpack_tilize
""".split()


@dataclass
class Record:
    """What one device did in a test: its outcome by pytest, [(digest of inputs, address, bytes)] that were read."""

    outcome: str = REFUSED
    why: str = "the process has ended in it"
    blocks: tuple = ()


def records(report):
    """{test: `Record`} of a file of `llk_recorder`."""
    found, now = {}, None
    for line in _lines(report):
        if "selected" in line:
            continue
        if "begins" in line:
            now = found[line["begins"]] = Record(blocks=[])
        elif "address" in line:
            now.blocks.append((line["inputs"], line["address"], bytes.fromhex(line["data"])))
        else:
            now.outcome, now.why = line["outcome"], line["why"]
    return found


def _lines(report):
    return map(json.loads, report.read_text().splitlines() if report.exists() else ())


def compared(there, here):
    """(one of `OUTCOMES`, text) of two `Record`s of a test."""
    for outcome, record in ((REFUSED_THERE, there), (REFUSED_HERE, here)):
        if record is None or record.outcome == REFUSED:
            return outcome, record.why if record else "it was not run"
    if not there.blocks and not here.blocks:
        return NONE, here.why or there.why
    if [(inputs, address, len(data)) for inputs, address, data in there.blocks] != [
        (inputs, address, len(data)) for inputs, address, data in here.blocks
    ]:
        return INPUTS, "not the same programs, operands and blocks"
    for (_, address, data), (_, _, found) in zip(there.blocks, here.blocks, strict=True):
        if data != found:
            return DIFFERS, _difference(address, data, found)
    return SAME, ""


def _difference(address, there, here):
    """First word that differs, and how many do."""
    words = [number for number in range(0, len(there), 4) if there[number : number + 4] != here[number : number + 4]]
    first = words[0]
    values = " and ".join(
        f"{int.from_bytes(data[first : first + 4], 'little'):#010x} {name}"
        for data, name in ((there, "there"), (here, "here"))
    )
    return f"at {address + first:#x} {values}; {len(words)} of {len(there) // 4} words"


@dataclass(frozen=True)
class Selection:
    """Which tests run: files by their names without .py, at most `most` tests of each, `limit` of a function, if names match."""

    files: tuple
    limit: int
    most: int
    match: str = ""
    seconds: int = 200


def run_there(chip, selection, folder):
    """{test: `Record`} of the functional simulator."""
    (folder / "there").mkdir(exist_ok=True)
    tests = _tests(chip)
    environment = functional_simulator.environment_of(chip, folder / "there")
    return _Run([], environment, selection, folder, f"{chip}-there").records(tests)


def run_here(chip, selection, folder):
    """{test: `Record`} of our chip."""
    tests = _tests(chip)
    words = [sys.executable, "-m", "tensim", "device", "--arch", chip, "--python", functional_simulator.PYTHON, "--"]
    return _Run(words, os.environ | WITHOUT_MACROS, selection, folder, f"{chip}-here").records(tests)


class _Run:
    """Tests on one device, by as many processes as it takes: the functional simulator ends its own at what it refuses."""

    def __init__(self, words, environment, selection, folder, name):
        self._words, self._environment, self._selection = words, environment, selection
        self._settings, self._report, self._log = (folder / f"{name}.{ending}" for ending in ("json", "jsonl", "log"))

    def records(self, tests):
        """{test: `Record`}; what is on record already is not run again."""
        left = [f"{name}.py" for name in self._selection.files]
        while left:
            before = len(records(self._report))
            self._run(tests, left)
            found = records(self._report)
            selected = {test for line in _lines(self._report) for test in line.get("selected", ())}
            left = sorted({test.partition("::")[0] for test in selected - set(found)}) if len(found) > before else []
        return found

    def _run(self, tests, files):
        selection, done = self._selection, list(records(self._report))
        limits = {
            "limit": selection.limit,
            "most": selection.most,
            "match": selection.match,
            "seconds": selection.seconds,
        }
        places = {"folder": str(tests), "report": str(self._report), "log": str(self._log)}
        self._settings.write_text(json.dumps(limits | places | {"files": files, "done": done}))
        with open(self._log, "ab") as log:
            begin = log.tell()
            command = [*self._words, PYTHON, str(RECORDER), str(self._settings)]
            subprocess.run(command, stdout=log, stderr=log, env=self._environment | SAME_ORDER)
        self._say_why_it_ended(self._log.read_bytes()[begin:].decode(errors="replace"))

    def _say_why_it_ended(self, said):
        """Put on record what the process has said in the test in which it ended."""
        lines = list(_lines(self._report))
        begun = next((line["begins"] for line in reversed(lines) if "begins" in line), None)
        error = ERROR.findall(said)
        if begun is not None and error and "test" not in lines[-1]:
            with open(self._report, "a", encoding="utf-8") as report:
                report.write(json.dumps({"test": begun, "outcome": REFUSED, "why": error[-1]}) + "\n")


def _tests(chip):
    """The copy of the suite that runs; it builds the programs of a chip in one place, which the environment names from now on."""
    tests = suite.prepared(find_library(functional_simulator.PYTHON).folder / TESTS)
    suite.build_apart(tests, chip)
    return tests


def compare(chip, selection, folder):
    """{test: (outcome, text)}."""
    there, here = run_there(chip, selection, folder), run_here(chip, selection, folder)
    return {test: compared(there.get(test), here.get(test)) for test in sorted(there | here)}


def table(found):
    """The comparison in lines of text."""
    families = {}
    for test, (outcome, _) in found.items():
        families.setdefault(test.partition(".py")[0], Counter())[outcome] += 1
    width = max(map(len, (*families, "total")))
    lines = ["  ".join([f"{'family':{width}}", *(f"{name:>13}" for name in OUTCOMES)])]
    total = sum(families.values(), Counter())
    for family, counts in (*sorted(families.items()), ("total", total)):
        lines.append("  ".join([f"{family:{width}}", *(f"{counts[name]:13}" for name in OUTCOMES)]))
    lines += [
        f"{outcome}: {test}: {' '.join(text.split())[-200:]}"
        for test, (outcome, text) in found.items()
        if outcome != SAME
    ]
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("chip", choices=functional_simulator.BUILDS)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--limit", type=int, default=2, help="parametrisations of a test function")
    parser.add_argument("--most", type=int, default=4, help="tests of a file")
    parser.add_argument("--match", default="", help="a regular expression that is found in names of tests")
    parser.add_argument("files", nargs="*", default=FILES)
    given = parser.parse_intermixed_args()
    needed = "TENSIM_FUNCTIONAL_SIMULATORS", "TENSIM_LIBRARY_PYTHON", "TENSIM_SUITE_PYTHON"
    missing = [name for name in needed if not os.environ.get(name)]
    if missing:
        parser.error(f"not set: {', '.join(missing)} (docs/device.md)")
    given.folder.mkdir(parents=True, exist_ok=True)
    selection = Selection(tuple(given.files), given.limit, given.most, given.match)
    print("\n".join(table(compare(given.chip, selection, given.folder))))


if __name__ == "__main__":
    main()
