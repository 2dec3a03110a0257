"""Recordings of NoC events as rows of `make validate`: recorded against simulated cycles, in both modes and NoC models."""

import functools
import hashlib
from pathlib import Path

from tensim.sim.arch import load_arch
from tensim.sim.chip.chip import Chip
from tensim.sim.chip.noc_replay import MODES, replay
from tensim.sim.errors import UsageError
from tensim.traces.noc_events import read_recordings
from tensim.validation.rows import Case, Row
from tensim.validation.runner import Selection

ARCH = "wormhole_b0"  # the chip of the recordings
INDEX = "index.json"  # of golden cases
SECONDS = 3e-5  # processor time per transfer, roughly
MODELS = {"packet": 1, "flit": 6}  # NoC models: how much longer they take
WAYS = [(mode, noc) for noc in MODELS for mode in MODES]


def selections(folders):
    """A `Selection` per mode and NoC model of all recordings below the folders, [] when there are none."""
    chosen = [Selection(_name(mode, noc), __name__, seconds=SECONDS * MODELS[noc]) for mode, noc in WAYS]
    for folder in folders:
        for path in sorted(Path(folder).rglob("*.json")):
            if path.name != INDEX:
                _select_file(chosen, path)
    return [item for item in chosen if item.cases or item.skipped or item.bad]


def _select_file(chosen, path):
    try:
        recordings = _recordings(str(path.resolve()), _digest(path))
    except UsageError as error:
        for one in chosen:
            one.bad.append({"id": path.name, "why": str(error)})
        return
    for (mode, noc), one in zip(WAYS, chosen, strict=True):
        _select(one, mode, noc, path, recordings)


def _name(mode, noc):
    return f"replay-noc {mode}" if noc == "packet" else f"replay-noc {mode} {noc}"


def _select(chosen, mode, noc, path, recordings):
    for number, recording in enumerate(recordings):
        if not recording.transfers() or recording.cycles <= 0:
            chosen.skipped.append({"id": recording.id, "why": "no transfer to simulate"})
            continue
        spec = (str(path.resolve()), _digest(path), number, mode, noc)
        group = f"{ARCH}/{recording.memories()}"
        case = Case(spec, group, float(recording.cycles), "cycles", float(recording.transfers()))
        chosen.cases.append((Row(recording.id, number, {"kept_gap_share": recording.kept_gap_share(mode)}), case))


def _digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()[:24]


@functools.lru_cache(maxsize=1)
def _recordings(path, digest):
    """The recordings of a file with these contents."""
    return read_recordings(path, load_arch(ARCH))


def simulate(spec):
    """Cycles of a replayed recording."""
    path, digest, number, mode, noc = spec
    recording = _recordings(path, digest)[number]
    chip = Chip(recording.arch, numerics="off", noc=noc)
    return replay(chip, recording.events, recording.origin, mode)
