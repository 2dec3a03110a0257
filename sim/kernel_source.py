"""Kernels by file or text: which front end takes them."""

from pathlib import Path

from tensim.sim.cores.riscv.cpp_texts import SUFFIXES, is_cpp


def kernel_from_file(path, include_paths=(), defines=(), budget=None):
    """The kernel in a file: C++ by its suffix, else the kernel language; `include_paths`, `defines`, `budget`: see `CppKernel`."""
    if Path(path).suffix in SUFFIXES:
        from tensim.sim.cores.riscv.kernel import CppKernel

        return CppKernel(path, include_paths=include_paths, defines=defines, budget=budget)
    from tensim.sim.cores.kernels.compiler import kernel_from_file as parse

    return parse(path)


def kernel_from_text(text, name=None, file="kernel.cpp", binaries=None, budget=None):
    """The kernel in a text: C++ if it defines an entry function of tt-metal, else the kernel language.

    `name` picks one of several in the kernel language.  `file` names a C++ kernel in messages; `binaries`: see `CppKernel`.
    `budget`: the `CompileBudget` of a file that somebody else wrote, whose kernels are compiled with limits of time and memory
    and without the user's files.
    """
    if is_cpp(text):
        from tensim.sim.cores.riscv.kernel import CppKernel

        return CppKernel(file, text, binaries=binaries, budget=budget)
    from tensim.sim.cores.kernels.compiler import kernel_from_source

    return kernel_from_source(text, name, budget=budget)
