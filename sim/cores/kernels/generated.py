"""Generated kernels (`lowering`) to object code."""

from tensim.sim.errors import KernelCompileError


def compile_generated(name, source, file):
    """`tensim.sim.engine.numba_compiler.ObjectCode` of generated source.  Raises KernelCompileError."""
    import numba as nb  # takes a third of a second

    from tensim.sim.engine.numba_compiler import object_code

    module = {"__name__": f"kernel_{name}"}
    try:
        exec(compile(source, f"<generated from {name}>", "exec"), module)
        return object_code(module["generated"], 1, error_model="numpy")
    except (nb.core.errors.NumbaError, SyntaxError, RecursionError) as error:
        reason = str(error).splitlines()[0]
        where = {"file": file, "kernel": name}
        raise KernelCompileError(f"kernel {name} cannot be compiled: {reason}", where=where) from error
