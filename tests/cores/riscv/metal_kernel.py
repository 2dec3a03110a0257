"""A compute kernel as tt-metal's own build leaves it, by the stand-in for the vendor's compiler: an ELF file for each processor,
linked beside the firmware that ships with the release."""

from pathlib import Path

from tensim.drop_in.compiler import compile as vendor_compiler
from tensim.sim.arch import load_arch
from tensim.sim.cores.riscv.compiler import Processor
from tensim.sim.cores.riscv.kernel_elf import chip_of
from tensim.sim.cores.riscv.layout import local_bytes
from tensim.sim.cores.riscv.llk.build import LlkBuild, defines, generated
from tensim.sim.cores.riscv.llk.tree import FAMILIES, find_tree

MACHINES = {"wormhole_b0": "tt-wh-tensix", "blackhole": "tt-bh-tensix"}
OF_OUR_BUILD = ("TENSIM_LLK", "TENSIM_LLK_TYPED", "TENSIM_UPPER_BUFFERS", "__riscv_xtttensixwh", "__riscv_xtttensixbh")
COMPILER = "-std=c++17 -O3 -flto -fno-exceptions -fno-use-cxa-atexit -ffast-math -Wall".split()


def firmware_of(tree, chip, number):
    """The symbols of the released firmware of TRISC `number`, as tt-metal links kernels against them."""
    for file in sorted(tree.root.glob(f"tt_metal/pre-compiled/*/trisc{number}/trisc{number}_weakened.elf")):
        if chip_of(file.read_bytes()) == chip:
            return file
    raise FileNotFoundError(f"no firmware for {chip} below {tree.root}")


def run(arguments, folder):
    status, messages = vendor_compiler(arguments, folder)
    assert status == 0, messages.decode()


def build(folder, chip, text, buffers):
    """Paths of the ELF files of a kernel's text; `buffers`: [(index, format)] of circular buffers of 32x32 tiles."""
    return [_build(Path(folder), chip, text, buffers, number) for number in range(3)]


def _build(folder, chip, text, buffers, number):
    arch, tree, processor = load_arch(chip), find_tree(), Processor(2 + number)
    folder = folder / f"trisc{number}"
    folder.mkdir(parents=True)
    build = LlkBuild(
        processor, arch, text=text, tree=tree, circular_buffers=tuple((index, int(code), 32, 32) for index, code in buffers),
        local_memory=local_bytes(arch, processor.value),
    )  # fmt: skip
    for name, content in generated(build, text).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    (folder / "defines_generated.h").write_text("#pragma once\n")
    names = {name: value for name, value in defines(build).items() if name not in OF_OUR_BUILD}
    flags = [f"-mcpu={MACHINES[chip]}", *COMPILER, *(f"-D{name}={value}" for name, value in names.items()), "-I."]
    flags += [f"-I{one}" for one in tree.include_folders(chip)]
    run([*flags, "-c", "-o", "trisck.o", str(tree.root / "tt_metal/hw/firmware/src/tt-1xx/trisck.cc")], folder)
    family, hardware = FAMILIES[chip], tree.root / "runtime/hw"
    objects = [hardware / f"lib/{family}/{name}.o" for name in ("tdma_xmov", "substitutes")]
    symbols = firmware_of(tree, chip, number)
    run(
        [*flags, "-nostartfiles", f"-T{hardware}/toolchain/{family}/kernel_trisc{number}.ld", "-Wl,--emit-relocs",
         f"-Wl,--just-symbols={symbols}", "trisck.o", *map(str, objects), "-o", f"trisc{number}.elf"], folder,
    )  # fmt: skip
    return folder / f"trisc{number}.elf"
