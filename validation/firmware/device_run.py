"""Runs a program of the library's Python below `tensim device --dispatch fast`: the cycles at which its launches began.

The dispatchers, which the host launches, are not among them.
"""

import json
import sys
import tempfile
from pathlib import Path

from tensim.library.environment import find_library
from tensim.validation.library_process import output_of


def begun(script, listed, arch, *options):
    """Cycles at which each launch began; `listed`: what the script reads from the JSON file that is its argument."""
    with tempfile.TemporaryDirectory() as folder:
        file, report = Path(folder, "listed.json"), Path(folder, "report.json")
        file.write_text(json.dumps(listed))
        command = [sys.executable, "-m", "tensim", "device", "--arch", arch, *options, "--dispatch", "fast"]
        command += ["--numerics", "off", "--json", str(report)]
        command += ["--", str(find_library().python), str(script), str(file)]
        output_of(command)
        launches = json.loads(report.read_text())["device"]["launches"]
        return [one["begin_cycles"] for one in launches if one["by"] == "dispatcher"]
