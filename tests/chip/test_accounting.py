"""What is taken from the machine's tables when a program ends, against sums over those tables."""

import numpy as np
import pytest

import tensim as tt
from tensim.running.options import Options
from tensim.running.runnable import find_program
from tensim.sim import state as st
from tensim.sim.chip.accounting import Accounting
from tensim.sim.chip.interval import TOTALS
from tensim.sim.cores import context as ctx
from tensim.sim.cores.slots import THREADS_PER_CORE, TRISC0

USERS = ((ctx.CB_PRODUCER, "producers"), (ctx.CB_CONSUMER, "consumers"))


def expected(chip, slot, record, launch):
    """(threads by column, stalls, traffic words, cycles of each core, buffers by index) of the tables as they are."""
    table = chip.arrays["threads"]
    mine = np.array(sorted(t for t in record["threads"] if table["launch"][t] == slot and table["ended"][t] > 0))
    threads = {
        name: table[name][mine] for name in ("line_base", "started", "ended", "busy", "issue_busy", "operations")
    }
    traffic = chip.arrays["traffic"].view(np.int64).reshape(len(table), -1)[mine]
    cycles = {
        core: max(table["ended"][mine][mine // THREADS_PER_CORE == core]) - record["started"]
        for core in set(mine // THREADS_PER_CORE)
    }
    buffers = {}
    for index, cores in launch.buffer_cores.items():
        rows, ended = chip.arrays["circular_buffers"][cores, index], int(chip.arrays["launches"][slot]["ended"])
        left = (rows[:, ctx.CB_RECEIVED] - rows[:, ctx.CB_ACKED]).clip(0, rows[:, ctx.CB_PAGES])
        levels = rows[:, ctx.CB_LEVEL_CYCLES : ctx.CB_LEVEL_CYCLES + ctx.CB_LEVELS].sum(axis=0)
        np.add.at(
            levels,
            left * rows[:, ctx.CB_LEVEL_SCALE] + ctx.CB_LEVEL_ONE - 1 >> ctx.CB_LEVEL_BITS,
            ended - rows[:, ctx.CB_LEVEL_AT],
        )
        users = [
            tuple(sorted({(user - 1) % THREADS_PER_CORE for user in rows[:, word].tolist() if user}))
            for word, _ in USERS
        ]
        buffers[index] = (
            int(rows[:, ctx.CB_RECEIVED].sum()), int(left.sum()), int(rows[:, ctx.CB_TILES_PACKED].sum()), levels.tolist(), *users
        )  # fmt: skip
    return mine, threads, chip.arrays["stalls"][mine].copy(), traffic.copy(), cycles, buffers


@pytest.mark.parametrize("arch", ["wormhole_b0", "blackhole"])
@pytest.mark.parametrize("name", ["matmul_multicast", "stencil_halo"])
def test_an_ended_program_is_accounted_for_as_its_tables_say(monkeypatch, arch, name):
    checked, add = [], Accounting.add

    def checked_add(accounting, slot, record, launch):
        chip = accounting._chip
        mine, threads, stalls, traffic, cycles, buffers = expected(chip, slot, record, launch)
        before, before_cycles = chip.work.copy(), chip.core_cycles.copy()
        totals = {counter: getattr(chip, counter) for counter in TOTALS}
        add(accounting, slot, record, launch)
        work, gained = record["work"], chip.core_cycles - before_cycles
        compute = sorted(thread // THREADS_PER_CORE for thread in mine.tolist() if thread % THREADS_PER_CORE == TRISC0)
        assert work.compute_cores.tolist() == compute and chip.compute_cores.issuperset(compute)
        for counter, values in work.core_counters.items():
            assert np.array_equal(values, chip.arrays["cores"][counter][compute])
        for counter, total in totals.items():
            assert getattr(chip, counter) - total == chip.arrays["cores"][counter][compute].sum()
        assert work.threads.tolist() == mine.tolist()
        assert [work.starts.tolist(), work.ends.tolist()] == [threads["started"].tolist(), threads["ended"].tolist()]
        assert np.array_equal(work.stalls.whole(), stalls) and np.array_equal(work.traffic_words.whole(), traffic)
        for column, field in (("busy", "busy"), ("issue", "issue_busy"), ("operations", "operations")):
            assert np.array_equal(chip.work[column][mine] - before[column][mine], threads[field])
        assert np.array_equal(chip.work["stalls"][mine] - before["stalls"][mine], stalls)
        assert np.array_equal(
            chip.work["longest"][mine], np.maximum(before["longest"][mine], threads["ended"] - threads["started"])
        )
        assert {core: gained[core] for core in np.flatnonzero(gained)} == cycles
        assert {
            one.index: (one.pushed, one.left, one.packed, one.levels.tolist(), one.producers, one.consumers)
            for one in work.buffers
        } == buffers
        assert not chip.arrays["stalls"][mine].any() and set(chip.arrays["threads"]["state"][mine]) == {st.IDLE}
        checked.append(len(mine))

    monkeypatch.setattr(Accounting, "add", checked_add)
    with tt.create_device(0, arch=arch, numerics="off") as device:
        for _ in range(2):  # the second is loaded from an image
            find_program(name).run_on(device, Options())
    assert len(checked) >= 2 and all(checked)
