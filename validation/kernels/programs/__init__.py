"""The small kernels whose structure is described: ttnn programs with C++ kernels (`tensim.validation.kernels.rows`).

A module holds one program, the function of its name, and
- `spec(row) -> (chip, options, metric)`: what a row stands for, options as ((name, value), ...);
- `prepared(device, **options) -> launch`: its tensors; `launch()` runs it and returns the result;
- `check(device, **options)`: runs it on random data; AssertionError when the result is wrong;
- `PER_ITERATION`: True when its rows state the time of one of `kernel_iters` iterations of a launch;
- `NUMERICS`: how data move while it is measured, when its data decide what it does; "off" if left out.
"""
