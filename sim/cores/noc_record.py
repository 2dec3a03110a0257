"""The record of the NoC's use: what data-movement threads ask of it, for NoC event traces, and when each packet's data
arrived, for the files of other tools; and the zones of all threads.
"""

from tensim.sim.cores import context as ctx
from tensim.sim.cores.operations import FIRST_NOC_CALL, LAST_NOC_CALL, Op
from tensim.sim.cores.slots import FIRST_COMPUTE_SLOT
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.memory import load_i64
from tensim.sim.state import NOC_CALL, noc_calls_of, transactions_of

CALLED, RETURNED = 0, 1
# no call: a packet's data is where it goes; `operation` is the transaction's kind, `time` that of its issue
ARRIVED = 2
ARRIVAL, NOC, SOURCE, TARGET, SIZE, ADDRESS = range(6)  # arguments of such an entry: cycle, NoC, tiles, bytes, offset
N_ARGUMENTS = NOC_CALL["arguments"].shape[0]


@compiled()
def record_call(m, t, index, time):
    """Note the operation that thread record `t` has posted, if it is one of the NoC's or the kernel's end."""
    operation = t.operation
    if operation == Op.ZONE_BEGIN or operation == Op.ZONE_END:
        _append(m, t, index, time, CALLED)
        return
    is_call = FIRST_NOC_CALL <= operation <= LAST_NOC_CALL or operation == Op.SEM_WAIT or operation == Op.SEM_WAIT_MIN
    if (operation < 0 or is_call) and t.slot < FIRST_COMPUTE_SLOT:
        _append(m, t, index, time, CALLED)


@compiled()
def record_return(m, t, index, time):
    """Note that the operation of `t` is over, if it is a barrier or the kernel's start."""
    if (t.operation < 0 or t.operation == Op.NOC_BARRIER) and t.slot < FIRST_COMPUTE_SLOT:
        _append(m, t, index, time, RETURNED)


@compiled()
def _append(m, t, index, time, moment):
    if m.n_noc_calls < m.noc_calls_capacity:
        call = noc_calls_of(m)[m.n_noc_calls]
        call.thread, call.operation, call.moment, call.time = index, t.operation, moment, time
        for i in range(N_ARGUMENTS):
            call.arguments[i] = load_i64(t.context + 8 * (ctx.ARG0 + i))
        m.n_noc_calls += 1


@compiled()
def record_arrival(m, transaction, now):
    """Note that the data of a transaction's packet is where it goes, unless that is a multicast's own, on its way to all."""
    x = transactions_of(m)[transaction]
    if x.target >= 0 and m.n_noc_calls < m.noc_calls_capacity:
        entry = noc_calls_of(m)[m.n_noc_calls]
        entry.thread, entry.operation, entry.moment, entry.time = x.thread, x.kind, ARRIVED, x.issued
        entry.arguments[ARRIVAL], entry.arguments[NOC] = now, x.noc
        entry.arguments[SOURCE], entry.arguments[TARGET] = x.source, x.target
        entry.arguments[SIZE], entry.arguments[ADDRESS] = x.size, x.address
        m.n_noc_calls += 1
