"""Operations whose numbers the machine refuses by itself: the checker, which looks before it does, passes them by."""

from tensim.sim.cores.context import MAX_ARGS
from tensim.sim.cores.domains import mask_of, within
from tensim.sim.cores.operations import ARGUMENTS, DOMAINS, Op
from tensim.sim.cores.threads import argument
from tensim.sim.engine.compiled import compiled

# Which argument of an operation is the NoC, and which a transaction id (-1: none)
_NOC_ARGUMENTS = {
    Op.NOC_READ: (3, 4), Op.NOC_WRITE: (3, 4), Op.NOC_MULTICAST: (6, -1), Op.NOC_INLINE_WRITE: (3, -1), Op.NOC_ATOMIC_INC: (2, -1),
    Op.NOC_BARRIER: (1, 2), Op.NOC_SET_STATE: (3, 6), Op.NOC_READ_WITH_STATE: (3, 4), Op.NOC_WRITE_WITH_STATE: (3, 4),
    Op.NOC_MULTICAST_INC: (3, -1), Op.NOC_INC_ISSUED: (1, -1), Op.NOC_READS_ENDED: (0, 1),
}  # fmt: skip
_OPERATIONS = max(Op) + 1


def _by_number(values: dict[int, int], otherwise: int, count: int = _OPERATIONS) -> tuple[int, ...]:
    return tuple(values.get(number, otherwise) for number in range(count))


NOC_AT = _by_number({int(op): noc for op, (noc, _) in _NOC_ARGUMENTS.items()}, -1)
TRID_AT = _by_number({int(op): trid for op, (_, trid) in _NOC_ARGUMENTS.items()}, -1)
# Operations all of whose arguments are numbers of tiles, or smaller: how many these are
_OF_TILES = {
    Op.UNPACK_A, Op.UNPACK_AB, Op.UNPACK_MATMUL, Op.UNPACK_REUSE, Op.MATH_COPY, Op.MATH_BINARY, Op.MATH_MATMUL, Op.MATH_REDUCE,
    Op.PACK,
}  # fmt: skip
TILE_NUMBERS = _by_number({int(op): len(ARGUMENTS[op]) for op in _OF_TILES}, 0)
_MASKS = {
    int(op) * MAX_ARGS + place: mask_of(domain) for op, domains in DOMAINS.items() for place, domain in domains.items()
}
MASKS = _by_number(_MASKS, 0, _OPERATIONS * MAX_ARGS)  # of the domain of each argument, 0 where it has none
MASKED = _by_number(
    {int(op): 1 + max(domains) for op, domains in DOMAINS.items()}, 0
)  # arguments up to the last with one


@compiled()
def refused(m, t):
    """Whether an operation names a NoC, a transaction id or a form that there is not, or more tiles than any memory has bytes."""
    op = t.operation
    if not 0 <= op < len(NOC_AT):
        return False
    if NOC_AT[op] >= 0 and not 0 <= argument(t, NOC_AT[op]) <= 1:
        return True
    if TRID_AT[op] >= 0 and not (0 if op == Op.NOC_READS_ENDED else -1) <= argument(t, TRID_AT[op]) <= 15:
        return True
    for place in range(TILE_NUMBERS[op]):
        if not -1 <= argument(t, place) <= m.l1_size:
            return True
    for place in range(MASKED[op]):
        mask = MASKS[op * MAX_ARGS + place]
        if mask != 0 and not within(mask, argument(t, place)):
            return True
    return False
