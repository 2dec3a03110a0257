"""`tensim validate dispatch`: the published time per back-to-back program, and host transfers by page size.

A row's `configuration` is a sentence of a small vocabulary (processors, cores, circular buffers, arguments, semaphores,
kernel groups, traced or not); `parse` reads it word by word, so that configurations outside the shared rows are
understood too.  See `tensim.validation.dispatch.programs` for the programs.
"""

import re
from dataclasses import asdict, dataclass

from tensim.validation.dispatch.programs import Shape, time_per_program, transfer_time
from tensim.validation.rows import Case, Skip

SECONDS = 0.05  # processor time per unit of a case's work, roughly
COLUMNS = {
    "programs": ("arch", "configuration", "kernel_or_payload_bytes", "repetition", "time_per_program_ns"),
    "transfers": ("platform", "direction", "page_bytes", "transfer_bytes", "arg3_buffer_type", "arg4_device"),
}
ARCHS = ("wormhole_b0", "blackhole")
GROUPS = 8  # kernel groups of a row that says so without a number (docs/hardware/dispatch.md#published-dispatch-times)
# "N_shadow": a slow program, then N fast ones (the same)
SHADOW = {"cycles": 40_000, "kernel_groups": 0, "all_cores": True}
SEMAPHORES = 4  # of a row that says "sems" without a number (the same)
MAXED = {"cbs": 32, "args": 128, "semaphores": 4, "all_cores": True}  # "maxed_config_params" (the same)
UNKNOWN_PROGRAM = {"prefetcher", "eth", "subdevices", "subdevice"}  # words whose program the name does not tell
COUNTED = {"cb": "cbs", "cbs": "cbs", "rta": "args", "crta": "common_args", "sem": "semaphores", "sems": "semaphores"}


@dataclass
class Words:
    """The words of a configuration, read from the left."""

    left: list

    def take(self, *phrase):
        """Whether the next words are these; they are then read."""
        if self.left[: len(phrase)] != list(phrase):
            return False
        del self.left[: len(phrase)]
        return True

    def take_count(self, units):
        """(number, unit) of "32_cb", "32cb" or "8g" if it comes next, else None."""
        joined = re.fullmatch(r"(\d+)([a-z]+)", self.left[0])
        if joined and joined[2] in units:
            del self.left[0]
            return int(joined[1]), joined[2]
        if self.left[0].isdigit() and self.left[1:2] and self.left[1] in units:
            number, unit = self.left[:2]
            del self.left[:2]
            return int(number), unit
        return None


def parse(configuration, payload):
    """`Shape` of a program; `payload`: of the column kernel_or_payload_bytes.  `Skip` for words that name no known program."""
    words, found = Words(configuration.lower().split("_")), {"text_bytes": payload}
    unknown = UNKNOWN_PROGRAM.intersection(words.left)
    if unknown:
        raise Skip(f"configuration {configuration}: its program cannot be told from {min(unknown)}")
    while words.left:
        if not _read_word(words, found, payload):
            raise Skip(f"configuration {configuration}: no meaning is known for {words.left[0]}")
    return Shape(**found)


def _read_word(words, found, payload):
    """Read the next word or phrase into `found`; False when it is not in the vocabulary."""
    if words.take("maxed", "config", "params"):
        found |= MAXED
    elif words.take("kernel", "groups"):
        found |= {"kernel_groups": GROUPS, "all_cores": True}
    elif words.take("all", "processors"):
        found.setdefault("processors", ("brisc", "ncrisc", "trisc"))
    elif words.take("all", "cores"):
        found["all_cores"] = True
    elif words.take("sems"):
        found["semaphores"] = SEMAPHORES
    elif words.take("no", "trace") or words.take("untraced"):
        found["traced"] = False
    elif any(words.take(word) for word in ("only", "trace", "traced")):
        pass
    elif words.left[0] in ("brisc", "ncrisc", "trisc"):
        found["processors"] = (*found.get("processors", ()), words.left.pop(0))
    elif any(words.take("one", unit) or words.take("1", unit) for unit in ("processor", "processors")):
        found["processors"] = ("brisc",)
    elif words.take("1", "core") or words.take("one", "core"):
        found["all_cores"] = False
    else:
        return _read_count(words.take_count({*COUNTED, "g", "bytes", "kernel", "shadow"}), found, payload)
    return True


def _read_count(counted, found, payload):
    if counted is None:
        return False
    number, unit = counted
    if unit == "bytes":  # the column then holds the run time of the kernels
        found |= {"text_bytes": number, "cycles": payload, "all_cores": True}
    elif unit == "shadow":
        found |= {**SHADOW, "fast": number}
    elif unit == "kernel":
        found["cycles"] = number
    else:
        found["cb_groups" if unit == "g" else COUNTED[unit]] = number
    return True


def read(row, layout):
    """The case of one row; ValueError for a malformed one, `Skip` for one that names no known program."""
    return _read_transfer(row) if layout == "transfers" else _read_program(row)


def _read_program(row):
    arch = row["arch"]
    if arch not in ARCHS:
        raise Skip(f"no dispatch times of {arch} are described")
    payload = row.integer("kernel_or_payload_bytes")
    if payload < 0:
        raise ValueError(f"column kernel_or_payload_bytes is {payload}")
    shape = parse(row["configuration"], payload)
    spec = ("program", arch, tuple(asdict(shape).items()))
    traced = "traced" if shape.traced else "untraced"
    return Case(spec, f"{arch}/{traced}", row.number("time_per_program_ns"), "ns", 1.0 + shape.cycles / 1000)


def _read_transfer(row):
    words = row["platform"].lower().split()
    arch = next((arch for arch in ARCHS if words and arch.startswith(words[0])), None)
    if arch is None or words[1:] not in ([], ["default"]):
        raise Skip(f"platform {row['platform']}: only the default set-up of Wormhole and Blackhole cards is described")
    direction, remote = row["direction"].lower(), row.integer("arg4_device")
    page, size, memory = row.integer("page_bytes"), row.integer("transfer_bytes"), row.integer("arg3_buffer_type")
    if direction not in ("read", "write") or memory not in (0, 1) or page < 1 or size < page:
        raise ValueError(f"a {direction} of {size} bytes in pages of {page} from memory {memory} is not possible")
    if remote not in (0, 1) or (remote and arch != "wormhole_b0"):
        raise Skip(f"device {remote} of {row['platform']}: only the two chips of an n300 card are described")
    spec = ("transfer", arch, remote, direction, memory, page, size)
    return Case(spec, f"{arch}/transfers", row.number("median_real_time_ns"), "ns", 10.0)


def simulate(spec):
    """ns per program, or ns of a transfer."""
    kind, *arguments = spec
    if kind == "transfer":
        return transfer_time(*arguments)
    arch, shape = arguments
    return time_per_program(arch, Shape(**dict(shape)))
