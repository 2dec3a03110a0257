"""Programs of the DRAM and congestion benchmarks: which core moves what, and the rate or time that is reported.

Flows are the unit: a core that reads or writes one channel, interleaved pages or another core.  All flows of a program
start together, as behind the barrier of the probes.
"""

import random
from collections import Counter

import tensim as tt
from tensim.sim.arch import load_arch
from tensim.sim.chip import statistics
from tensim.sim.errors import UsageError
from tensim.sim.noc.packet_state import DEFAULT_VC, DYNAMIC_VC, STATIC_VCS
from tensim.sim.noc.topology import next_hop
from tensim.validation.dram import kernels

ALL_TILES = (("board", "n150_physical"),)  # in the rows of the ISA pages no core is set aside for dispatch
SEEDS = 12  # random placements whose mean stands for "randomly chosen"
MIB = 1 << 20
READERS = 8  # cores that read one channel together, when their number is not stated
BLOCKS_BUFFERED = 3  # of a core that reads and forwards


class Bench:
    """A program on a fresh chip; it moves data only with `numerics` "fast"."""

    def __init__(self, arch, overrides=(), numerics="off"):
        self.arch = load_arch(arch, dict(overrides))
        self.device = tt.create_device(0, arch=self.arch, numerics=numerics)
        self.program = tt.create_program()
        self.width, self.height = self.arch.noc_size
        self.scratch = self.arch.l1_user_base
        self.buffers = []  # kept until the end: a dropped one is freed, and the next one takes its place

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        tt.close_device(self.device)

    @property
    def packet(self):
        """Bytes of the longest packet."""
        return self.arch["noc.max_packet_bytes"]

    def noc_xy(self, core):
        """NoC coordinate (x, y) of a logical core."""
        at = self.device.worker_core_from_logical_core(tt.CoreCoord(*core))
        return int(at.x), int(at.y)

    def worker(self, core):
        """Index of a logical core."""
        return core[1] * self.arch.grid[0] + core[0]

    def cores(self, count=None):
        """The first `count` logical cores, row by row; UsageError when the chip has fewer."""
        columns, rows = self.arch.grid
        cores = [(x, y) for y in range(rows) for x in range(columns)]
        if count is not None and count > len(cores):
            raise UsageError(f"{count} cores on a chip of {len(cores)}")
        return cores[:count]

    def add(self, core, kernel, args, noc=0, riscv=0):
        """A flow: a data-movement kernel on one core."""
        config = tt.DataMovementConfig(processor=tt.DataMovementProcessor(riscv), noc=tt.NOC(noc))
        handle = tt.create_kernel(self.program, kernel, tt.CoreCoord(*core), config)
        tt.set_runtime_args(self.program, handle, tt.CoreCoord(*core), [int(value) for value in args])

    def buffer(self, core, pages, size, index=0, dtype=tt.DataFormat.UInt32):
        """Circular buffer `index` of a core."""
        config = tt.CircularBufferConfig(pages * size, {index: dtype}).set_page_size(index, size)
        tt.create_circular_buffer(self.program, tt.CoreCoord(*core), config)

    def compute(self, core, kernel, compile_args=(), fidelity=tt.MathFidelity.HiFi4, fp32=False):
        """A compute kernel on one core; `fp32`: 32-bit destination."""
        config = tt.ComputeConfig(math_fidelity=fidelity, fp32_dest_acc_en=fp32, compile_args=list(compile_args))
        tt.create_kernel(self.program, kernel, tt.CoreCoord(*core), config)

    def semaphore(self, core):
        """Id of a semaphore of a core, 0 at the start."""
        return tt.create_semaphore(self.program, tt.CoreCoord(*core), 0)

    def pages(self, size, count, data=None):
        """Address of `count` interleaved DRAM pages, which hold `data` (bytes) if given."""
        config = tt.InterleavedBufferConfig(
            device=self.device, size=size * count, page_size=size, buffer_type=tt.BufferType.DRAM
        )
        buffer = tt.create_buffer(config)
        if data is not None:
            tt.enqueue_write_buffer(self.device.command_queue(0), buffer, data)
        self.buffers.append(buffer)
        return buffer.address

    def run(self):
        """Cycles from the first start to the last end."""
        queue = self.device.command_queue(0)
        tt.enqueue_program(queue, self.program, blocking=False)
        tt.finish(queue)
        return statistics.program_cycles(self.device.chip)

    def run_ns(self):
        """ns from the first start to the last end."""
        return self.run() * 1000 / self.arch.clock_mhz

    def tile(self, core):
        """Tile of a logical core."""
        x, y = self.arch.worker_coords[self.worker(core)]
        return y * self.width + x

    def endpoint(self, bank, noc):
        """Tile of a channel's endpoint for requests on a NoC."""
        x, y, _ = self.arch.dram_endpoints[noc][bank]
        return y * self.width + x

    def path(self, source, target, noc):
        """Links (tile, direction) of the way between two tiles."""
        links = []
        while source != target:
            direction, following = next_hop(self.width, self.height, noc, source, target)
            links.append((source, direction))
            source = following
        return links

    def place(self, count, banks, noc, is_write, near, seed=0):
        """[(core, bank)]: `count` cores shared out evenly over `banks` channels, near them or at random."""
        cores = self.cores()
        if not near:
            return [(core, i % banks) for i, core in enumerate(random.Random(seed).sample(cores, count))]
        paths, result = Paths(), []
        for i in range(count):
            bank = i % banks
            end = self.endpoint(bank, noc)
            ways = {
                core: self.path(self.tile(core), end, noc) if is_write else self.path(end, self.tile(core), noc)
                for core in cores
            }
            core = paths.take(bank, ways)
            cores.remove(core)
            result.append((core, bank))
        return result


class Paths:
    """Ways that have been given out: the next one shares the fewest links with them and is the shortest of those."""

    def __init__(self):
        self.users = {}  # link -> flows that pass it

    def take(self, flow, ways):
        """The best key of `ways` {key: links} for a flow, which uses its links from now on; its own do not disturb it."""

        def cost(key):
            return sum(len(self.users.get(link, set()) - {flow}) for link in ways[key]), len(ways[key])

        best = min(ways, key=cost)
        for link in ways[best]:
            self.users.setdefault(link, set()).add(flow)
        return best


def gb_per_s(bench, moved, cycles):
    """10^9 bytes a second at the chip's clock."""
    return moved / cycles * bench.arch.clock_mhz / 1000


# --- streams between cores and channels


def channel_streams(arch, cores, banks, near, is_write, dynamic, noc):
    """GB/s of `cores` cores that each move 1 MiB in longest packets; the mean over random placements.

    `dynamic`: the data go on dynamic virtual channels.
    """
    rates = []
    for seed in range(1 if near else SEEDS):
        with Bench(arch, ALL_TILES) as bench:
            kernel = kernels.write_channel if is_write else kernels.read_channel_few_in_flight
            for i, (core, bank) in enumerate(bench.place(cores, banks, noc, is_write, near, seed)):
                args = (bank, i * MIB, MIB // bench.packet, bench.packet, bench.packet, bench.scratch)
                bench.add(core, kernel, (*args, DYNAMIC_VC if dynamic else DEFAULT_VC), noc)
            rates.append(gb_per_s(bench, cores * MIB, bench.run()))
    return sum(rates) / len(rates)


def channel_readers(arch, overrides, readers, banks, count, size):
    """B/cycle of `readers` cores with `count` reads of `size` bytes each, spread over `banks` channels; first cores first."""
    with Bench(arch, overrides) as bench:
        for i, core in enumerate(bench.cores(readers)):
            bench.add(
                core,
                kernels.read_channel,
                (i % banks, i // banks * count * size, count, size, size, bench.scratch, DEFAULT_VC),
            )
        return readers * count * size / bench.run()


def block_shape(total_bytes, blocks, tile_bytes, packet):
    """(bytes of a page, pages of a block): the longest pages of whole tiles that fill a block evenly."""
    block = total_bytes // blocks
    page = packet // tile_bytes * tile_bytes
    while block % page:
        page -= tile_bytes
    return page, block // page


def with_vcs(placed, chosen):
    """(core, bank, static VC of its requests) of each (core, bank).

    `chosen`: readers of one row have VCs of their own, so that requests for a busy channel do not hold up those for others, as
    the report "Saturating DRAM bandwidth" of tt-metal has it; otherwise all have the default one.
    """
    rows = Counter()
    for core, bank in placed:
        yield core, bank, rows[core[1]] % STATIC_VCS if chosen else DEFAULT_VC
        rows[core[1]] += 1


def sharded_reads(arch, overrides, cores, near, bank_bytes, blocks, tile_bytes, unit, noc=0):
    """GB/s (or B/cycle per core) of one core per channel that reads its shard in blocks, two transaction ids in flight."""
    with Bench(arch, overrides) as bench:
        size, count = block_shape(bank_bytes, blocks, tile_bytes, bench.packet)
        placed = (
            bench.place(cores, cores, noc, False, True) if near else zip(bench.cores(cores), range(cores), strict=True)
        )
        for core, bank, vc in with_vcs(placed, near):
            bench.add(core, kernels.read_channel_blocks, (bank, 0, blocks, count, size, bench.scratch, vc), noc, 1)
        cycles = bench.run()
        moved = cores * blocks * count * size
        return gb_per_s(bench, moved, cycles) if unit == "GB/s" else moved / cycles / cores


def read_and_forward(arch, cores, bank_bytes, blocks, tile_bytes):
    """GB/s of one core per channel that reads its shard (NoC 0) and writes it on to another core (NoC 1).

    Kernels of Grayskull have no transaction ids.
    """
    with Bench(arch) as bench:
        size, count = block_shape(bank_bytes, blocks, tile_bytes, bench.packet)
        reader = kernels.read_channel_to_buffer if arch != "grayskull" else kernels.read_channel_block_by_block
        placed = bench.place(cores, cores, 0, False, True)
        readers = {core for core, _ in placed}
        others = [core for core in bench.cores() if core not in readers]
        paths = Paths()
        for core, bank, vc in with_vcs(placed, True):
            target = paths.take(bank, {item: bench.path(bench.tile(core), bench.tile(item), 1) for item in others})
            others.remove(target)
            bench.buffer(core, BLOCKS_BUFFERED, size * count)
            bench.add(core, reader, (bank, 0, blocks, count, size, vc), 0, 1)
            bench.add(core, kernels.forward_buffer, (*bench.noc_xy(target), bench.scratch, blocks, size * count), 1, 0)
        return gb_per_s(bench, cores * blocks * count * size, bench.run())


def channel_share(arch, size, count):
    """Share of a channel's peak (%) that cores get which read its pages of `size` bytes in turn, `count` pages each."""
    with Bench(arch) as bench:
        for i, core in enumerate(bench.cores(READERS)):
            bench.add(core, kernels.read_channel, (0, i * size, count, size, READERS * size, bench.scratch, DEFAULT_VC))
        return 100 * READERS * count * size / bench.run() / bench.arch["dram.bank_bytes_per_cycle"]


def page_reads(arch, overrides, cores, size, pages, per_barrier, unit):
    """Interleaved pages read by `cores` cores on NoC 0, each a run of them: GB/s or ns."""
    with Bench(arch, overrides) as bench:
        chosen = bench.cores(cores)
        address, share = bench.pages(size, pages), pages // len(chosen)
        for i, core in enumerate(chosen):
            args = (address, size, i * share, 1, share, per_barrier, bench.scratch)
            bench.add(core, kernels.read_pages, args, 0, 1)
        cycles = bench.run()
        moved = share * len(chosen) * size
        return cycles * 1000 / bench.arch.clock_mhz if unit == "ns" else gb_per_s(bench, moved, cycles)


def request_period(arch, size, count):
    """Cycles per read request of `size` bytes at one endpoint on NoC 0, of which all cores make `count` each."""
    with Bench(arch) as bench:
        for core in bench.cores():
            bench.add(core, kernels.read_channel, (0, 0, count, size, size, bench.scratch, DEFAULT_VC))
        return bench.run() / (len(bench.cores()) * count)


def page_copy(arch, size, pages):
    """GB/s read and written by a copy of interleaved pages, reader and writer on every core."""
    with Bench(arch) as bench:
        chosen = bench.cores()
        source, target, share = bench.pages(size, pages), bench.pages(size, pages), pages // len(chosen)
        for i, core in enumerate(chosen):
            bench.buffer(core, 2, size)
            bench.add(core, kernels.read_pages_to_buffer, (source, size, i * share, 1, share), 0, 1)
            bench.add(core, kernels.write_pages_from_buffer, (target, size, i * share, 1, share), 1, 0)
        return gb_per_s(bench, 2 * share * len(chosen) * size, bench.run())


# --- flows between cores


def core_flows(arch, overrides, flows, count, size, mine):
    """Cycles of flow `mine` of `flows`: (master, subordinate, NoC, VC, RISC-V, is_read), logical cores, all at once.

    The kernels of the probe are told NoC and VC at run time.
    """
    with Bench(arch, overrides) as bench:
        for i, (master, other, noc, vc, riscv, is_read) in enumerate(flows):
            target = bench.scratch + (i + 1) * size  # flows that share a subordinate write apart from each other
            if is_read:
                args = (*bench.noc_xy(other), count, size, bench.scratch, noc, vc)
            else:
                args = (*bench.noc_xy(other), count, size, bench.scratch, target, noc, vc)
            bench.add(master, kernels.read_core if is_read else kernels.write_core, args, noc, riscv)
        bench.run()
        return statistics.core_cycles(bench.device.chip, bench.worker(flows[mine][0]))


def core_reads(arch, overrides, master, sources, count, size, source_stride, target_stride):
    """Cycles of a core that reads `count` times `size` bytes from `sources` in turn; one barrier."""
    with Bench(arch, overrides, numerics="fast") as bench:  # the kernel loads addresses
        args = []
        for source in sources:
            args += bench.noc_xy(source)
        bench.add(
            master, kernels.read_cores, (len(sources), count, size, source_stride, target_stride, bench.scratch, *args)
        )
        bench.run()
        return statistics.core_cycles(bench.device.chip, bench.worker(master))


def one_write(arch, is_multicast, size):
    """Cycles of one write of `size` bytes to a core beside the sender."""
    with Bench(arch) as bench:
        x, y = bench.noc_xy((1, 1))
        if is_multicast:
            bench.add((0, 0), kernels.multicast_once, (x, y, x, y, 1, size, bench.scratch))
        else:
            bench.add((0, 0), kernels.write_once, (x, y, size, bench.scratch))
        return bench.run()
