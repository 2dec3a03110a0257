"""What the networks share: the command line, the device, tensors on it, and the comparison with torch.

A network's file has `run(session)`: it makes random weights, calls the library, and hands each result to
`session.check` with a function that computes the same with torch.  `main` does the rest.
"""

import argparse
import sys
from pathlib import Path

import torch
import ttnn

PCC = 0.99  # least correlation with torch
SEED = 0
L1_SMALL = 32768  # bytes of L1 for tables of convolutions and pools
TRACE_REGION = 1 << 24  # bytes of DRAM for metal traces

BF16, BFP8 = ttnn.bfloat16, ttnn.bfloat8_b
TILE, ROWS = ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT
DRAM, L1 = ttnn.DRAM_MEMORY_CONFIG, ttnn.L1_MEMORY_CONFIG


class Session:
    """A network's run on one device.  `options`: what the command line said; `pccs`: {name of a result: PCC} so far."""

    def __init__(self, device, options):
        self.device, self.options, self.pccs = device, options, {}
        grid = device.compute_with_storage_grid_size()
        self.columns, self.rows = grid.x, grid.y

    def put(self, tensor, dtype=BF16, layout=TILE, memory=DRAM):
        """A torch tensor on the device."""
        return ttnn.from_torch(tensor, dtype=dtype, layout=layout, device=self.device, memory_config=memory)

    def put_all(self, tensors, matrices=BFP8):
        """A dict of parameters on the device: matrices in the format `matrices`, rows (biases, norms) in bfloat16."""
        return {
            name: self.put(one, matrices if min(one.shape[-2:]) > 1 else BF16) for name, one in tensors.items()
        }  # fmt: skip

    def grid(self, columns=8, rows=8):
        """A grid of cores, as large as asked for or as the chip has."""
        return ttnn.CoreGrid(x=min(columns, self.columns), y=min(rows, self.rows))

    def compute(self, fidelity=ttnn.MathFidelity.HiFi2):
        """Settings of the compute kernels: 16-bit Dst, partial results accumulated in L1 by the packer."""
        return ttnn.init_device_compute_kernel_config(
            self.device.arch(), math_fidelity=fidelity, math_approx_mode=True, fp32_dest_acc_en=False, packer_l1_acc=True
        )  # fmt: skip

    def repeated(self, step):
        """What `step()` gives; with --replays it is run once, which compiles its kernels, captured, and replayed so often."""
        found = step()
        if not self.options.replays:
            return found
        del found
        trace = ttnn.begin_trace_capture(self.device, cq_id=0)
        found = step()
        ttnn.end_trace_capture(self.device, trace, cq_id=0)
        for _ in range(self.options.replays):
            ttnn.execute_trace(self.device, trace, cq_id=0, blocking=False)
        ttnn.synchronize_device(self.device)
        ttnn.release_trace(self.device, trace)
        return found

    def check(self, name, found, expected):
        """Note the PCC of a tensor of the device and `expected()`, a torch tensor of as many values."""
        if self.options.compare:
            found, expected = ttnn.to_torch(found).double().flatten(), expected().double().flatten()
            self.pccs[name] = float(torch.corrcoef(torch.stack([found, expected]))[0, 1])


def parser(description, layers, batch):
    """The command line of all networks; a network adds its own options to it."""
    made = argparse.ArgumentParser(description=description.split("\n")[0])
    made.add_argument("--layers", type=int, default=layers, help="default %(default)s")
    made.add_argument("--batch", type=int, default=batch, help="default %(default)s")
    made.add_argument(
        "--no-compare", dest="compare", action="store_false", help="do not compute the network with torch"
    )
    return made


def add_replays(made):
    """Let a command line have --replays, of a network whose layers `Session.repeated` runs."""
    made.add_argument("--replays", type=int, default=0, help="of a metal trace of the layers; default: no trace")


def main(run, options, mesh=None):
    """Run a network on a chip, or on an open mesh; prints the PCC of each result and exits with 1 when one is below `PCC`."""
    torch.manual_seed(SEED)
    device = mesh or ttnn.open_device(device_id=0, l1_small_size=L1_SMALL, trace_region_size=TRACE_REGION)
    try:
        session = Session(device, options)
        with torch.no_grad():
            run(session)
        ttnn.synchronize_device(device)
    finally:
        (ttnn.close_device if mesh is None else ttnn.close_mesh_device)(device)
    name = Path(sys.argv[0]).stem
    if not options.compare:
        print(f"{name}: not compared")
        return
    print(f"{name}: PCC", ", ".join(f"{result} {pcc:.5f}" for result, pcc in session.pccs.items()))
    wrong = [result for result, pcc in session.pccs.items() if not pcc >= PCC]
    if wrong:
        sys.exit(f"{name}: {', '.join(wrong)}: PCC below {PCC}")


def matrix(rows, columns):
    """Random weights of a product, whose results have the size of its inputs."""
    return torch.randn(rows, columns) / rows**0.5


def bias(columns):
    """A random row, small beside the results it is added to."""
    return torch.randn(1, columns) * 0.1


def scale(columns):
    """A random row of factors of a normalisation, near 1."""
    return 1 + torch.randn(1, columns) * 0.1
