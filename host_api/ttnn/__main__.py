"""`python -m tensim.ttnn`: as `tensim ttnn`."""

import sys

from tensim.ttnn.runner import main

main(sys.argv[1:], "python -m tensim.ttnn")
