"""What the pages write with a submodule works after `import tensim.ttnn` alone."""

import subprocess
import sys


def test_devices_needs_no_import_of_its_own():
    text = "import tensim.ttnn; print(tensim.ttnn.devices.configure(arch='blackhole').arch)"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.strip() == "wormhole_b0", done.stderr


def test_tensors_compute_before_an_operation_was_named():
    text = "import tensim.ttnn as ttnn; one = ttnn.from_torch([1.0, 2.0]); print((2 - one * one / 2 + -one).to_list())"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.strip() == "[0.5, -2.0]", done.stderr
