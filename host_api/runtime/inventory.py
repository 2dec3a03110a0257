"""What a system declares: its chips, the host, and the chips once more as embedded targets."""

from __future__ import annotations

import fnmatch
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tensim.runtime.selection import DeviceInfo

if TYPE_CHECKING:
    from tensim.runtime.systems import ChipConfig, SystemConfig
    from tensim.sim.arch import Arch


class Inventory(Sequence[DeviceInfo]):
    """The DeviceInfos of a system's chips (`config.chips`, with their parameters `archs`), in the order declared."""

    def __init__(self, config: SystemConfig, archs: Sequence[Arch]) -> None:
        self._chips, self._infos, self._matches = len(config.chips), [], Counter()
        chips = list(zip(config.chips, archs, strict=True))
        for chip, arch in chips:
            self._declare_chip("sim", chip, arch)
        host: dict[str, Any] = {
            "mmio": True,
            "remote_of": None,
            "mesh_shape": (1, 1),
            "queues": 64,
            "clock_mhz": 0,
            "grid": (0, 0),
        }
        host["arch_name"] = "local"
        self._declare("host", "local", **host)
        for chip, arch in chips:
            self._declare_chip("embedded", chip, arch)

    def __getitem__(self, index: int) -> DeviceInfo:  # type: ignore[override]
        return self._infos[index]

    def __len__(self) -> int:
        return len(self._infos)

    def _declare(self, scheme: str, arch: str, **details: Any) -> None:
        match = self._matches[scheme, arch]
        self._infos.append(DeviceInfo(len(self), f"{scheme}://{arch}[{match}]", scheme, arch, match, **details))
        self._matches[scheme, arch] += 1

    def _declare_chip(self, scheme: str, chip: ChipConfig, arch: Arch) -> None:
        self._declare(
            scheme, chip.arch, mmio=chip.remote_of is None, remote_of=chip.remote_of, mesh_shape=chip.group_shape,
            queues=int(arch["dispatch.max_queues"]), clock_mhz=arch.clock_mhz, grid=tuple(arch.grid),
            arch_name=arch.name,
        )  # fmt: skip

    def chip_of(self, info: DeviceInfo) -> int:
        """Position of the chip behind a declared device."""
        return info.id if info.scheme == "sim" else info.id - self._chips - 1

    def matching(self, pattern: str) -> list[DeviceInfo]:
        """The devices whose spec matches a shell pattern."""
        return [info for info in self if pattern == "*" or fnmatch.fnmatch(info.spec, pattern)]
