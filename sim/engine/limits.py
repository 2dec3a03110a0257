"""Sizes of a core that are the same on every chip."""

N_CIRCULAR_BUFFERS = 32  # docs/hardware/host_api.md#circular-buffers
N_SEMAPHORES = 16  # docs/hardware/host_api.md#semaphores
SEMAPHORE_STRIDE = 16  # bytes: one L1 alignment unit each (docs/hardware/host_api.md#semaphores)
MAX_RUNTIME_ARGS = 341  # unique and common ones of a kernel (docs/hardware/host_api.md#runtime-arguments)
