"""Settings of all tests."""

import signal

from hypothesis import settings

# A background job ignores Ctrl-C and hands that on to its children, among them the programs that tests interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)

# The first example of a property may compile for seconds; the machines that run these tests are noisy.
settings.register_profile("tensim", deadline=None, derandomize=True)
settings.load_profile("tensim")
