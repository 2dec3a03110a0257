"""Benchmarks of the simulator; `python -m bench` runs them all."""
