"""Sub-devices: groups of worker cores."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tensim.ttnn.cores import CoreRangeSet
    from tensim.types import CoreRangeSet as HostCores


class SubDevice:
    """Cores of a sub-device: a list with a CoreRangeSet of worker cores first."""

    def __init__(self, cores: Iterable[CoreRangeSet]) -> None:
        self.cores = list(cores)

    def host(self) -> HostCores:
        """The cores as the host API takes them."""
        return self.cores[0].host()


class SubDeviceId:
    """Number of a sub-device."""

    def __init__(self, number: int) -> None:
        self.id = int(number)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SubDeviceId) and self.id == other.id

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        return f"SubDeviceId({self.id})"
