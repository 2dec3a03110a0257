"""Published measurements against simulation: `tensim validate KIND FILE...`."""

KINDS = {
    "noc": "NoC latencies",
    "dram": "DRAM channels and congestion",
    "issue": "RISC-V and instruction issue",
    "numerics": "golden cases",
    "compute": "compute time",
    "instruction": "engines by their instructions",
    "kernels": "small kernels",
    "gemm": "matrix products",
    "streaming": "streaming by size",
    "dispatch": "dispatch and host transfers",
    "firmware": "dispatch by its own firmware",
    "operations": "operations of networks",
    "fabric": "packets between chips",
}
