"""The small kernels of `tensim.validation.kernels.rows`: one module per family or per few families of one structure."""
