"""Golden cases as rows of `make validate`: how many of a case's datums equal the hardware's, in percent.

See `tensim.validation.numerics.rows` for the cases themselves.
"""

import hashlib
from pathlib import Path

import tensim as tt
from tensim.sim.errors import UsageError
from tensim.validation.numerics.rows import ARCHS, case_result, describe, read_index
from tensim.validation.rows import Case, Row
from tensim.validation.runner import Selection

SECONDS = 0.3  # processor time of a case, roughly


def selections(folders):
    """[`Selection`] of all golden cases below the folders, [] when there are none."""
    chosen = Selection("numerics", __name__, seconds=SECONDS)
    for folder in folders:
        for index in sorted(Path(folder).rglob("index.json")):
            try:
                records = read_index(index.parent)
            except UsageError:
                continue  # the index of something else
            _select(chosen, index.parent.resolve(), records)
    return [chosen] if chosen.cases or chosen.skipped or chosen.bad else []


def _select(chosen, folder, records):
    digest = _digest(folder)
    for number, record in enumerate(records):
        try:
            name, _ = describe(record)
            arch = ARCHS[record.get("arch", "wh")]
        except KeyError as error:
            chosen.bad.append({"id": f"{folder.name}:{number}", "why": f"the case cannot be read: {error!r}"})
            continue
        case = Case((str(folder), digest, number), f"{arch}/{record['op']}", 100.0, "% of datums equal")
        chosen.cases.append((Row(f"{folder.name}:{name}", number, {}), case))


def _digest(folder):
    """Hash of all files of a folder: results are kept for these very cases."""
    digest = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        if path.is_file():
            digest.update(path.read_bytes())
    return digest.hexdigest()[:24]


def simulate(spec):
    """Percent of the datums of a case that equal the hardware's."""
    folder, _, number = spec
    record = read_index(folder)[number]
    try:
        with tt.create_device(0, arch=ARCHS[record.get("arch", "wh")], numerics="exact") as device:
            bad, total = case_result(Path(folder), record, device)
    except (KeyError, ValueError, OSError) as error:
        raise UsageError(f"the case cannot be read: {error!r}") from None
    return 100.0 * (1 - bad / max(total, 1))
