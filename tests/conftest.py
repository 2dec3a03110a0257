"""Settings of all tests."""

from hypothesis import settings

# The first example of a property may compile for seconds; the machines that run these tests are noisy.
settings.register_profile("tensim", deadline=None, derandomize=True)
settings.load_profile("tensim")
