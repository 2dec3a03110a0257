"""Compute kernels built against the vendor's LLK: an ELF for each of the three processors that run a compute kernel.

The kernel, what tt-metal's build would generate for it, and a start of our own are one translation unit.  Vector programs go the
way C++ to LLVM IR to words (`tensim.sim.cores.riscv.vector`); everything else is compiled as always.

What an ELF is (all of it 32-bit RISC-V, entry `tensim_start`):

| part | where |
|---|---|
| text and read-only text | `text_address` of L1, `LlkBuild.text_address` |
| launch words | the first 64 bytes of local memory, LOCAL_BASE, written by who starts the core |
| data, then zeroed memory | behind them; the loader writes and zeroes them, there is no copy in L1 |
| stack | from the end of local memory downwards; the program sets it |
| Tensix words | in the text, rotated left by two bits (`.ttinsn`); run-time words are stores to 0xFFE40000 |
| end | `ebreak`, behind tensix_sync() |
| `tensim_first_stream` | a word in the text: the overlay stream that counts the pages of circular buffer 0 |

Launch words (little endian): 0x00 L1 address of the unique arguments, 0x04 of the common ones, 0x08 of semaphore 0, 0x0C and 0x10
numbers of arguments, 0x14 x and y of the core for both NoCs, logical x, logical y, x and y inside the sub-device (8 bytes), 0x1C
NoC, 0x20 core, 0x24 slot (`tensim.sim.cores.riscv.layout.firmware_words`); then 0x28 L1 address of the configuration of circular
buffers (four words each: address, size, pages, page size in bytes, as in tt-metal), 0x2C and 0x30 the mask of those in use, 0x34
and 0x38 address and first index of remote ones.

The start does what the firmware does before it calls a kernel: general registers zero, configuration state 0, lanes enabled and
LReg 11 at -1 and Dst cleared (TRISC1), source registers cleared (TRISC0), local interfaces of circular buffers by the
vendor's own header (TRISC0, TRISC2).  What BRISC's firmware does at boot beside is the machine's state after reset.
"""

import json
import re
import tempfile
from dataclasses import dataclass, field, fields
from pathlib import Path

from tensim.sim.cores.riscv import compiler as kernels
from tensim.sim.cores.riscv import toolchain
from tensim.sim.cores.riscv.layout import LOCAL_BASE, TEXT_ADDRESSES
from tensim.sim.cores.riscv.llk import formats
from tensim.sim.cores.riscv.llk.translation import GUARDS, closed, pass_digest, tools_for, translate
from tensim.sim.cores.riscv.llk.tree import FAMILIES, LlkTree
from tensim.sim.errors import KernelCompileError

INCLUDE = Path(__file__).resolve().parent / "include"
LAUNCH_BYTES = 64
DESCRIPTORS = "chlkc_descriptors.h"
DESCRIPTORS_OF_EARLIER_RELEASES = tuple(
    f"chlkc_{name}.h"
    for name in "dst_accum_mode dst_sync_mode math_approx_mode math_fidelity unpack_data_format unpack_tile_dims "
    "pack_data_format pack_tile_dims".split()
)
NO_PCIE = {"PCIE_NOC_X": 0, "PCIE_NOC_Y": 0}


@dataclass(frozen=True)
class LlkBuild(kernels.Build):
    """A `Build` for a compute processor, against the sources of `tree`.

    `descriptors`: the tables of formats and shapes that tt-metal's build has generated, None to make them here.
    `text_address`: of L1; `to_dest`: 1 for each circular buffer whose 32-bit numbers are unpacked to Dst as they are;
    `pack_precise`: packers read full numbers for Bfp8 outputs; `whole_program`: only the kernel itself writes to its variables,
    as in tt-metal's builds (-flto), but not in those of tt-llk's own tests.
    """

    tree: LlkTree | None = field(default=None)
    text_address: int = 0
    to_dest: tuple = ()
    pack_precise: bool = False
    whole_program: bool = True
    descriptors: str | None = None

    def compile(self):
        return compile_kernel(self)


def builds(operations, parameters, tree, descriptors=None):
    """[`LlkBuild`] of a compute kernel, one for each of its processors, of its builds at the operation level (`Build`)."""
    return [
        LlkBuild(
            **{one.name: getattr(build, one.name) for one in fields(kernels.Build)}, tree=tree,
            text_address=TEXT_ADDRESSES[build.processor.value], to_dest=parameters.unpack_to_dest_mode,
            pack_precise=parameters.bfp8_pack_precise, descriptors=descriptors,
        )
        for build in operations
    ]  # fmt: skip


def defines(build):
    """{macro: value} of tt-metal's build for a processor's kernel."""
    chip, arch = build.arch.name, build.arch
    names = {
        "TENSIM_LLK": 1, "TENSIM_LLK_TYPED": int(build.tree.is_typed), GUARDS[chip]: 1,
        f"ARCH_{FAMILIES[chip].upper()}": "", "TENSIX_FIRMWARE": "", "KERNEL_BUILD": "",
        "LOCAL_MEM_EN": 0, "DISABLE_CB_ASSEMBLY": 1, "PROCESSOR_INDEX": build.processor.value, "PROGRAMMABLE_CORE_TYPE": 0,
        "TENSIM_UPPER_BUFFERS": int(build.tree.circular_buffers(chip) > 32), "NOC_INDEX": build.noc, "NOC_MODE": build.noc_mode,
        "DISPATCH_MESSAGE_ADDR": 0, "ROUTING_FW_ENABLED": "",
        **build.processor.defines, **NO_PCIE,
    }  # fmt: skip
    for kind, banks in (("DRAM", arch.dram_banks), ("L1", len(arch.worker_coords))):
        names[f"NUM_{kind}_BANKS"] = banks
        power = banks & (banks - 1) == 0
        names |= (
            {f"LOG_BASE_2_OF_NUM_{kind}_BANKS": banks.bit_length() - 1}
            if power
            else {f"IS_NOT_POW2_NUM_{kind}_BANKS": 1}
        )
    names["NAMESPACE"] = "chlkc_" + ("unpack", "math", "pack")[build.processor.value - 2]
    if build.compile_args:
        names["KERNEL_COMPILE_TIME_ARGS"] = ",".join(str(int(value) & 0xFFFFFFFF) for value in build.compile_args)
    if build.named_args:
        pairs = (f"{{{json.dumps(name)},{int(value) & 0xFFFFFFFF}u}}" for name, value in sorted(build.named_args))
        names["KERNEL_COMPILE_TIME_ARG_MAP"] = ",".join(pairs)
    return names


def translation_unit(build):
    """The whole text that the compiler gets, beside `generated` files."""
    lines = [f"#define {name} {value}" for name, value in defines(build).items()]
    lines += [
        '#include "tensim_words.h"',
        '#include "internal/firmware_common.h"',
        '#include "api/compile_time_args.h"',
    ]
    lines += ['#include "chlkc_list.h"', '#include "tensim_startup.h"', ""]
    return "\n".join(lines)


def generated(build, text):
    """{name: text} of the files that tt-metal's build generates and headers include; `text`: the kernel's source."""
    descriptors = build.descriptors or formats.descriptors(
        build.circular_buffers,
        is_typed=build.tree.is_typed,
        fidelity=build.math_fidelity,
        approximate=build.approximate,
        fp32_dest=build.fp32_dest,
        full_sync=build.full_sync,
        to_dest=build.to_dest,
        precise=build.pack_precise,
    )
    files = {DESCRIPTORS: f"#pragma once\n{descriptors}"}
    files |= moved_headers(build.tree, text)
    files |= dict.fromkeys(DESCRIPTORS_OF_EARLIER_RELEASES, f'#include "{DESCRIPTORS}"\n')
    return files | dict.fromkeys(("chlkc_unpack.cpp", "chlkc_math.cpp", "chlkc_pack.cpp"), _kernel_file(build, text))


# The compute API's headers in earlier releases and in later ones
HEADER = re.compile(r'^\s*#\s*include\s*["<]((compute_kernel_api|api/compute)(/[\w/]+)?\.h)[">]', re.M)


def moved_headers(tree, text):
    """{name that a kernel includes: text that includes the same header where this release has it}."""
    found = {}
    for name, _, rest in HEADER.findall(text):
        inside = (rest or "/compute_kernel_api").removeprefix("/")
        old = f"compute_kernel_api/{inside}.h" if inside != "compute_kernel_api" else "compute_kernel_api.h"
        metal, new = tree.root / "tt_metal", f"api/compute/{inside}.h"
        if name != new and (metal / "hw/inc" / new).is_file():
            found[name] = f'#pragma once\n#include "{new}"\n'
        elif name != old and (metal / "include" / old).is_file():
            found[name] = f'#pragma once\n#include "{old}"\n'
    return found


def _kernel_file(build, text):
    """The kernel under the entry that its release calls: kernel_main(), or a MAIN in a namespace for each processor."""
    is_main = kernels.MAIN.search(kernels.COMMENTS.sub("", text))
    lines = [f"#define {name} {value}" for name, value in build.defines]
    if is_main and build.tree.is_typed:
        lines.append(f"#define MAIN tensim_kernel{'' if is_main[1] else '()'}")
    if not is_main:
        lines.append("void kernel_main();")
    lines.append(build.stand_in)
    if build.source is not None:
        lines.append(f'#include "{Path(build.source).resolve()}"')
    else:
        lines.append(f'#line 1 "{build.name}"\n{text}')
    if is_main and build.tree.is_typed:
        lines.append("inline void kernel_main() { NAMESPACE::tensim_kernel(); }")
    if not is_main and not build.tree.is_typed:
        entry = ("unpack", "math", "pack")[build.processor.value - 2]
        lines.append(f"namespace NAMESPACE {{ inline void {entry}_main() {{ ::kernel_main(); }} }}")
    return "\n".join([*lines, ""])


def link_script(build):
    """Text in L1, data behind the launch words in local memory."""
    end = LOCAL_BASE + build.local_memory
    return f"""ENTRY(tensim_start)
tensim_launch = 0x{LOCAL_BASE:x};
__instrn_buffer = 0xffe40000;
tensim_stack = 0x{end:x};
PHDRS {{ text PT_LOAD FLAGS(5); data PT_LOAD FLAGS(6); }}
SECTIONS {{
  .text 0x{build.text_address:x} : {{ *(.text.tensim_start) *(.text .text.*) . = ALIGN(4); }} :text
  .rodata : {{ KEEP(*(.rodata.tensim_first_stream)) *(.rodata .rodata.* .srodata .srodata.*)
    . = ALIGN(4); tensim_constructors = .; KEEP(*(SORT(.init_array*))) tensim_constructors_end = .; }} :text
  .data 0x{LOCAL_BASE + LAUNCH_BYTES:x} : {{ *(.data .data.* .sdata .sdata.*) . = ALIGN(4); }} :data
  .bss : {{ *(.bss .bss.* .sbss .sbss.* COMMON) }} :data
  tensim_data_end = .;
  /DISCARD/ : {{ *(.comment) *(.eh_frame) *(.note*) *(.riscv.attributes) *(.device_print*) *(.tt_zone*) }}
}}
ASSERT(tensim_data_end <= 0x{end - kernels.STACK_BYTES:x}, "local memory is full")
"""


def flags_of(build, tools):
    include, _ = toolchain.prepared(tools, build.level)
    folders = [INCLUDE, *build.include_paths, *build.tree.include_folders(build.arch.name)]
    return [*tools.flags, f"-{build.level}", *include, "-I.", *(f"-I{folder}" for folder in folders)]


def compile_kernel(build):
    """The `Object` of an `LlkBuild`, from the cache if nothing that went in has changed.  KernelCompileError."""
    if build.budget is not None:
        raise KernelCompileError(
            f"the kernel {build.name} of a saved file is not built against the LLK, whose sources are the user's own",
            where={"file": build.name, "line": 1, "processor": build.processor.name},
            hint="run the program itself, or the file at the operation level",
        )
    tools = tools_for(build.arch.name)
    toolchain.mend_prepared(tools, build.level)
    unit, files = translation_unit(build), generated(build, kernels.source_text(build))
    flags, script = flags_of(build, tools), link_script(build)
    elf = kernels.cached_build(
        (unit, files, flags, script, tools.version, build.whole_program, pass_digest()),
        lambda: _build(build, tools, {"unit.cpp": unit, "kernel.ld": script, **files}, flags),
    )
    return kernels.describe(elf, str(build.source or build.name))


def _build(build, tools, files, flags):
    """(ELF, files that went in); `files`: {name: text} of what is generated."""
    with tempfile.TemporaryDirectory(prefix="tensim-") as folder:
        folder = Path(folder)
        for name, text in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
        source, script, target, elf = (folder / name for name in ("unit.cpp", "kernel.ld", "kernel.o", "kernel.elf"))

        def failed(messages):
            raise kernels.compile_error(build, messages, source, is_refused=lambda *_: None)

        prepare = closed if build.whole_program else None
        inputs = translate(
            tools, flags, build.level, build.arch.name, source, target, folder, failed, prepare, is_short=True
        )
        kernels.link(build, tools, script, target, elf, toolchain.run)
        return elf.read_bytes(), inputs
