"""The vendor's own ttnn library on simulated chips: its programs run unmodified, with time and bits.

The library runs in a process of its own Python; this package is the device below it.  `tensim.library.runner` starts both.
"""
