"""The five kernel threads of a worker core: slot s of core c is thread c * THREADS_PER_CORE + s."""

BRISC, NCRISC, TRISC0, TRISC1, TRISC2 = range(5)
THREAD_NAMES = ("BRISC", "NCRISC", "TRISC0", "TRISC1", "TRISC2")
THREADS_PER_CORE = len(THREAD_NAMES)
UNPACK_SLOT, MATH_SLOT, PACK_SLOT = TRISC0, TRISC1, TRISC2
FIRST_COMPUTE_SLOT = TRISC0  # the slots before it move data: they alone reach the NoC
