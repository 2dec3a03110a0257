"""The small kernels whose structure is described: ttnn programs with C++ kernels (`tensim.validation.kernels.rows`).

A module holds one program, an entry function `NAME(tensors..., options)` that launches it, and for its family
- `spec(row) -> (arch, (option, value)...)`: the arguments that a row stands for;
- `time_ns(arch, *options) -> float`: what the row's metric states of it;
- `check(device, **options)`: runs it on random data; AssertionError when its result is not the right one.
"""
