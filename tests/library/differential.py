"""Operations of the vendor's library against torch, operation by operation and type by type: run by the library's Python below
`tensim ttnn --library`.  Arguments: the file that its lines go to, the numbers of the first case and of the step to the next
one, then kinds or names of operations (all without any).

Two lines of JSON per case: number, name and type before it; the outcome, and of a difference the operands, what was found and what
was expected, after it.  Outcomes: `same`, `differs`, `refused` (by the simulator, by name), `unsupported` (by the library, for
this type).  Without torch a few operations are compared with numpy.
"""

import json
import math
import os
import sys
from pathlib import Path

import numpy as np
import operations
import ttnn
from operations import RANGES

TYPES = {name: getattr(ttnn, name) for name in operations.EVERY}
# Two roundings to the type, of the chip's and of ours, or tf32 operands of the matrix unit; the vector unit's own error is smaller
TOLERANCES = {"bfloat16": 2.0**-7, "float32": 2e-5, "bfloat8_b": 2.0**-5}
BLOCK = 16  # of a bfloat8_b
LAUNCH_FAILED = "[core ("  # in the message of a launch that failed: where
STOPPED = 3  # exit status: a launch failed, the cases behind it were not run
TINY = 2.0**-120  # below: flushed, on the way in or out
HUGE = 3.38e38  # above: infinity after a rounding


def put(array, kind):
    """A tensor on the device and what it holds, in float64 or int64."""
    if operations.torch is None:
        tensor = ttnn.Tensor(array.reshape(-1).tolist(), list(array.shape), TYPES[kind], ttnn.TILE_LAYOUT).to(device)
        return tensor, get(tensor)
    wide = operations.torch.from_numpy(array)
    if kind != "uint32":
        wide = wide.to(operations.torch.int32 if kind in RANGES else operations.torch.float32)
    tensor = ttnn.from_torch(wide, dtype=TYPES[kind], layout=ttnn.TILE_LAYOUT, device=device)
    return tensor, get(tensor)


def get(tensor):
    """The array that a tensor holds, in float64 or int64."""
    if operations.torch is not None:
        found = ttnn.to_torch(tensor)
        whole = not found.is_floating_point()
        return found.to(operations.torch.int64 if whole else operations.torch.float64).numpy()
    tensor = tensor.cpu()
    values = np.array(tensor.to(ttnn.ROW_MAJOR_LAYOUT).to_list()).reshape([int(size) for size in tensor.shape])
    return values.astype(np.int64 if type_of(tensor) in RANGES else np.float64)


def type_of(tensor):
    return str(tensor.dtype).rsplit(".", maxsplit=1)[-1].lower()


def wrapped(expected, kind):
    """Integers as the type holds them, and numbers as integers when the library says so."""
    if kind not in RANGES:
        return expected.astype(np.float64)
    low, high = RANGES[kind]
    if expected.dtype.kind == "f":
        return np.nan_to_num(expected, nan=0.0, posinf=high - 1, neginf=low).clip(low, high - 1).astype(np.int64)
    return (expected.astype(np.int64) - low) % (high - low) + low


def of_blocks(size):
    """The largest of the 16 neighbours that share an exponent: beside it the others are coarse, beside infinity nothing."""
    rows = np.nan_to_num(np.atleast_1d(size), nan=math.inf, posinf=math.inf)
    padded = np.pad(rows, [(0, 0)] * (rows.ndim - 1) + [(0, -rows.shape[-1] % BLOCK)])
    largest = np.repeat(padded.reshape(-1, BLOCK).max(-1), BLOCK).reshape(padded.shape)
    return largest[..., : rows.shape[-1]].reshape(size.shape)


def different(found, expected, kind, operand_kind, tolerance, absolute):
    """Where two arrays differ by more than the types, or a tolerance of the operation's own, allow."""
    if kind in RANGES:
        return found != expected
    tolerance = tolerance or max(TOLERANCES[kind], TOLERANCES.get(operand_kind, 0.0))
    size = np.abs(expected)
    if kind == "bfloat8_b":
        size = of_blocks(size)
    with np.errstate(invalid="ignore"):
        near = np.abs(found - expected) <= tolerance * size + max(absolute, TINY)
        alike = (np.isnan(found) & np.isnan(expected)) | ((found == expected) & np.isinf(expected))
        if kind != "float32":  # the packer makes infinity of NaN (docs/hardware/numerics.md#packer-conversions)
            alike |= np.isinf(found) & np.isnan(expected)
        beyond = (np.abs(expected) >= HUGE) & (np.abs(found) >= HUGE) & (np.sign(found) == np.sign(expected))
    return ~(near | alike | beyond)


def differences(operation, kind):
    """A line's outcome of one case."""
    if operation.reduces:
        arrays = [operations.columns(kind, 1)]
    else:
        arrays = operations.elements(kind, 1, operation.operands, operation.second)
    tensors, held = zip(*(put(array, kind) for array in arrays), strict=True)
    arguments = [TYPES[a] if isinstance(a, str) else a for a in operation.arguments]
    result = getattr(ttnn, operation.name)(*tensors, *arguments, **operation.keywords)
    result = result[0] if isinstance(result, list) else result
    found, target = get(result), type_of(result)
    expected = wrapped(np.asarray(operation.expected(held)), target)
    found = found.reshape(expected.shape)
    wrong = different(found, expected, target, kind, operation.tolerance, operation.absolute)
    if found.shape == held[0].shape:
        wrong &= ~operation.excused(held, kind)
    if not wrong.any():
        return {"outcome": "same", "result": target}
    places = np.flatnonzero(wrong)
    shown = []
    for place in places[:: max(1, len(places) // 6)][:6].tolist():
        operands = [h.flat[place].item() for h in held] if found.size == held[0].size else []
        shown.append([operands, found.flat[place].item(), expected.flat[place].item()])
    return {"outcome": "differs", "result": target, "wrong": len(places), "of": found.size, "shown": shown}


def plain(value):
    """Numbers that JSON has: others as text."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return [plain(one) for one in value] if isinstance(value, list) else value


def outcome(operation, kind):
    try:
        return differences(operation, kind)
    except Exception as error:  # noqa: BLE001
        text = " ".join(str(error).split()).partition(" backtrace:")[0]
        ours = "not modelled" in text or LAUNCH_FAILED in text or "tensim" in text
        return {"outcome": "refused" if ours else "unsupported", "why": f"{type(error).__name__}: {text}"}


if __name__ == "__main__":
    report, first, step, *names = sys.argv[1:]
    device = ttnn.open_device(device_id=0)
    chosen = operations.cases(names)
    with Path(report).open("a") as file:
        for number in range(int(first), len(chosen), int(step)):
            operation, kind = chosen[number]
            file.write(json.dumps({"number": number, "name": operation.title, "type": kind}) + "\n")
            file.flush()
            line = outcome(operation, kind)
            file.write(json.dumps(line | {"number": number, "shown": plain(line.get("shown", []))}) + "\n")
            file.flush()
            if LAUNCH_FAILED in line.get("why", ""):
                os._exit(STOPPED)  # the device has stopped
    ttnn.close_device(device)
