"""What a system holds, as plain data, and whether a binary can run on it (runtime reference sections 1.5, 5.3 and 5.9)."""

import difflib
import json
from dataclasses import dataclass, field

from host_api.runtime.dtypes import DType
from host_api.runtime.errors import BinaryIncompatible

CHIP_FIELDS = {  # field of a chip's description -> parameter of its architecture
    "l1_bytes": "l1.size", "l1_unreserved_base": "l1.user_base", "dram_channels": "dram.banks",
    "dram_channel_bytes": "dram.bank_bytes",
    "l1_alignment": "alignment.l1_page", "dram_alignment": "alignment.dram_page", "dram_read_alignment": "alignment.dram_read",
    "max_packet_bytes": "noc.max_packet_bytes", "dst_tiles_16": "tensix.dst.tiles16", "dst_tiles_32": "tensix.dst.tiles32",
    "queues": "dispatch.max_queues",
}  # fmt: skip
CIRCULAR_BUFFERS = 32
DATA_MOVEMENT_THREADS, COMPUTE_THREADS = 2, 3
TILE_SIZES = ((32, 32), (16, 32), (32, 16), (16, 16))


def describe(system):
    """{"devices", "chips", "links", "default"}: declared devices, what each chip can do, and who is linked to whom."""
    return {
        "devices": [_device(info) for info in system.inventory],
        "chips": [_chip(*one) for one in zip(range(len(system._archs)), system._archs, system.config.chips, strict=True)],
        "links": [
            {
                "from": link.src, "to": link.dst, "kind": link.kind, "bytes_per_ns": link.bytes_per_ns,
                "latency_ns": link.latency_ns, "lanes": link.lanes,
            }
            for link in system.topology.links
        ],
    }  # fmt: skip


def _device(info):
    return {
        "id": info.id, "spec": info.spec, "scheme": info.scheme, "arch": info.arch, "mmio": info.mmio,
        "remote_of": info.remote_of, "mesh": list(info.mesh_shape), "queues": info.queues, "grid": list(info.grid),
        "clock_mhz": info.clock_mhz,
    }  # fmt: skip


def _chip(number, arch, chip):
    values = arch.values()
    return {
        "id": number,
        "arch": arch.name,
        "board": arch.board,
        "host_mmio": chip.remote_of is None,
        "grid": list(arch.grid),
        "clock_mhz": arch.clock_mhz,
        **{name: values[key] for name, key in CHIP_FIELDS.items() if key in values},
        "dtypes": [str(dtype) for dtype in DType],
        "tile_sizes": [list(tile) for tile in TILE_SIZES],
        "circular_buffers": CIRCULAR_BUFFERS,
        "data_movement_threads": DATA_MOVEMENT_THREADS,
        "compute_threads": COMPUTE_THREADS,
    }


@dataclass
class CompatReport:
    """Whether a binary can run somewhere.  `problems`: {"field", "expected", "found"}; `diff`: of whole descriptions."""

    mode: str
    problems: list = field(default_factory=list)
    diff: str = ""

    @property
    def ok(self):
        return not self.problems

    def require(self):
        """BinaryIncompatible when it cannot."""
        if self.ok:
            return self
        lines = [f"{one['field']}: expected {one['expected']}, found {one['found']}" for one in self.problems]
        raise BinaryIncompatible(
            f"the binary cannot run there ({self.mode}): " + "; ".join(lines) + (f"\n{self.diff}" if self.diff else ""),
            where={"problems": self.problems},
            hint="build it for this target"
            if self.mode == "compatible"
            else "mode='compatible' compares only what it uses",
        )

    def as_dict(self):
        """Plain values."""
        return {"ok": self.ok, "mode": self.mode, "problems": self.problems, "diff": self.diff}


def check(binary, target, mode="compatible"):
    """`CompatReport` of a binary on a device or on the description of a system.

    `compatible`: only what the programs use (a variant for the chip, memory for each tensor, stored types); `exact`: the
    description that the binary was made for equals the target's, besides.  UsageError for another mode.
    """
    from sim.errors import UsageError

    if mode not in ("compatible", "exact"):
        raise UsageError(f"mode is {mode!r}", hint="'compatible' or 'exact'")
    report = CompatReport(mode)
    found = describe(target.system) if hasattr(target, "system") else target
    for chip in _targets(target, found):
        for program in binary.programs:
            _check_program(report, program, chip)
    if mode == "exact":
        _check_exact(report, binary.system_desc, found)
    return report


def _targets(target, description):
    """Descriptions of the chips in question; {} stands for the host."""
    if not hasattr(target, "system"):
        return description.get("chips", [])
    if target.scheme == "host":
        return [{}]
    return [description["chips"][target.system.chip_of(target.info)]]


def _check_program(report, program, chip):
    where = f"program {program.name}"
    wanted = [variant.target for variant in program.variants]
    arch = chip.get("arch")
    fits = [t for t in wanted if (t.startswith("host") if arch is None else t in ("sim", f"sim://{arch}", "host"))]
    if not fits:
        report.problems.append({"field": f"{where}: variant", "expected": wanted, "found": arch or "host"})
    if arch is None:
        return
    for info in (*program.inputs, *program.outputs):
        _check_tensor(report, f"{where}: tensor {info.name}", info, chip)


def _check_tensor(report, where, info, chip):
    dtype = str(info.wanted.dtype)
    if dtype not in chip.get("dtypes", [dtype]):
        report.problems.append({"field": f"{where}: type", "expected": dtype, "found": chip["dtypes"]})
    space, nbytes = info.wanted.space.name, info.wanted.nbytes(info.desc)
    capacity = {
        "DRAM": chip.get("dram_channels", 0) * chip.get("dram_channel_bytes", 0),
        "L1": chip.get("l1_bytes", 0) * chip["grid"][0] * chip["grid"][1] if "grid" in chip else 0,
    }.get(space)
    if capacity and nbytes > capacity:
        report.problems.append({"field": f"{where}: {space} bytes", "expected": nbytes, "found": capacity})


def _check_exact(report, expected, found):
    if expected is None:
        report.problems.append({"field": "system description", "expected": "one in the binary", "found": "none"})
        return
    texts = [json.dumps(one, indent=1, sort_keys=True).splitlines() for one in (expected, found)]
    if texts[0] != texts[1]:
        report.diff = "\n".join(difflib.unified_diff(*texts, "binary", "target", lineterm="", n=1))
        report.problems.append({"field": "system description", "expected": "the binary's", "found": "another"})
