"""The record of what data-movement threads ask of the NoC: calls with their times, for NoC event traces."""

from tensim.sim.cores import context as ctx
from tensim.sim.cores.operations import FIRST_NOC_CALL, LAST_NOC_CALL, Op
from tensim.sim.cores.slots import FIRST_COMPUTE_SLOT
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.memory import load_i64
from tensim.sim.engine.state import NOC_CALL, noc_calls_of

CALLED, RETURNED = 0, 1
N_ARGUMENTS = NOC_CALL["arguments"].shape[0]


@compiled()
def record_call(m, t, index, time):
    """Note the operation that thread record `t` has posted, if it is one of the NoC's or the kernel's end."""
    operation = t.operation
    is_call = FIRST_NOC_CALL <= operation <= LAST_NOC_CALL or operation == Op.SEM_WAIT or operation == Op.SEM_WAIT_MIN
    if operation < 0 or is_call:
        _append(m, t, index, time, CALLED)


@compiled()
def record_return(m, t, index, time):
    """Note that the operation of `t` is over, if it is a barrier or the kernel's start."""
    if t.operation < 0 or t.operation == Op.NOC_BARRIER:
        _append(m, t, index, time, RETURNED)


@compiled()
def _append(m, t, index, time, moment):
    if t.slot < FIRST_COMPUTE_SLOT and m.n_noc_calls < m.noc_calls_capacity:
        call = noc_calls_of(m)[m.n_noc_calls]
        call.thread, call.operation, call.moment, call.time = index, t.operation, moment, time
        for i in range(N_ARGUMENTS):
            call.arguments[i] = load_i64(t.context + 8 * (ctx.ARG0 + i))
        m.n_noc_calls += 1
