"""What a system declares: its chips, the host, and the chips once more as embedded targets."""

import fnmatch
from collections import Counter
from collections.abc import Sequence

from tensim.runtime.selection import DeviceInfo


class Inventory(Sequence):
    """The DeviceInfos of a system's chips (`config.chips`, with their parameters `archs`), in the order declared."""

    def __init__(self, config, archs):
        self._chips, self._infos, self._matches = len(config.chips), [], Counter()
        chips = list(zip(config.chips, archs, strict=True))
        for chip, arch in chips:
            self._declare_chip("sim", chip, arch)
        host = {"mmio": True, "remote_of": None, "mesh_shape": (1, 1), "queues": 64, "clock_mhz": 0, "grid": (0, 0)}
        host["arch_name"] = "local"
        self._declare("host", "local", **host)
        for chip, arch in chips:
            self._declare_chip("embedded", chip, arch)

    def __getitem__(self, index):
        return self._infos[index]

    def __len__(self):
        return len(self._infos)

    def _declare(self, scheme, arch, **details):
        match = self._matches[scheme, arch]
        self._infos.append(DeviceInfo(len(self), f"{scheme}://{arch}[{match}]", scheme, arch, match, **details))
        self._matches[scheme, arch] += 1

    def _declare_chip(self, scheme, chip, arch):
        self._declare(
            scheme, chip.arch, mmio=chip.remote_of is None, remote_of=chip.remote_of, mesh_shape=chip.group_shape,
            queues=int(arch["dispatch.max_queues"]), clock_mhz=arch.clock_mhz, grid=tuple(arch.grid),
            arch_name=arch.name,
        )  # fmt: skip

    def chip_of(self, info):
        """Position of the chip behind a declared device."""
        return info.id if info.scheme == "sim" else info.id - self._chips - 1

    def matching(self, pattern):
        """The devices whose spec matches a shell pattern."""
        return [info for info in self if pattern == "*" or fnmatch.fnmatch(info.spec, pattern)]
