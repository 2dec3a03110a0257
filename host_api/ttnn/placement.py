"""Which worker core reads a DRAM bank best."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tensim.sim.arch.loader import Arch

RECORDED_BOARD = "n150"


def workers_of_banks(arch: Arch, noc: int) -> list[tuple[int, ...]]:
    """Logical (x, y) of a core for each DRAM bank, no core twice: the recorded ones of a board, else the nearest by hops."""
    recorded = arch["ttnn.bank_workers"]
    if recorded and arch.board == RECORDED_BOARD:
        return [tuple(map(int, text.split("-"))) for text in recorded]
    taken: set[int] = set()
    result: list[tuple[int, ...]] = []
    for x, y, _ in arch.dram_endpoints[noc]:
        free = (index for index in range(len(arch.worker_coords)) if index not in taken)
        best = min(free, key=lambda index: (_hops(arch.noc_size, noc, (x, y), arch.worker_coords[index]), index))
        taken.add(best)
        result.append((best % arch.grid[0], best // arch.grid[0]))
    return result


def _hops(size: tuple[int, int], noc: int, source: tuple[int, int], target: tuple[int, int]) -> int:
    """Hops of the route from a tile to another: NoC 0 runs towards larger coordinates, NoC 1 towards smaller ones."""
    step = 1 if noc == 0 else -1
    return sum(step * (b - a) % n for a, b, n in zip(source, target, size, strict=True))
