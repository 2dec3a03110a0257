"""Operations of the vendor's library against numpy: run by the library's Python below `tensim ttnn --library`.

The cases stand in `case_groups`, by subject.  A line of JSON per case goes to the file that the first argument names: name,
whether it held, the largest error relative to the largest expected value, what was raised.  Further arguments are names of cases;
without any all are run.  TENSIM_CASES_VALUES names a folder for the values that each has found (NAME.npy).
"""

import json
import os
import sys
from importlib import import_module

import numpy as np
import ttnn
from case_groups.tools import CASES, device, get

for group in "elementwise products rows places attention chance images models".split():
    import_module(f"case_groups.{group}")  # adds its cases to CASES, in this order

VALUES = os.environ.get("TENSIM_CASES_VALUES")


def run(name):
    """What became of a case."""
    function, tolerance = CASES[name]
    try:
        tensor, expected = function()
        found, expected = get(tensor), np.asarray(expected, np.float64)
        if found.shape != expected.shape:
            return {"held": False, "error": None, "raised": f"shape {found.shape} instead of {expected.shape}"}
        error = float(np.abs(found - expected).max() / max(np.abs(expected).max(), 1e-9))
        if VALUES:
            np.save(os.path.join(VALUES, name), found)
        return {"held": error <= tolerance, "error": error, "raised": None}
    except Exception as error:
        return {"held": False, "error": None, "raised": f"{type(error).__name__}: {error}"[:4000]}


def main(report, *names):
    with open(report, "w") as file:
        for name in names or CASES:
            file.write(json.dumps({"name": name} | run(name)) + "\n")
            file.flush()
    ttnn.close_device(device)


if __name__ == "__main__":
    main(*sys.argv[1:])
