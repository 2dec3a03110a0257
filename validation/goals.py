"""What the validations must reach: median |error| in percent per chip, as the project states it."""

MEDIAN = {
    "noc": 4.0,
    "dram": 5.0,
    "compute": 6.0,
    "gemm": 6.0,
    "kernels": 10.0,
    "streaming": 15.0,
    "dispatch": 15.0,
    "numerics": 0.0,
    "replay-noc closed": 4.0,
    "replay-noc open": 3.0,
}
MEAN = {"replay-noc closed", "replay-noc open"}  # judged by the mean
