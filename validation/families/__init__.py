"""The small kernels of `validation.kernels`: one module per family or per few families of one structure."""
