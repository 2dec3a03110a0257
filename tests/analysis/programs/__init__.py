"""Programs with one mistake each, and without it: `run(..., mended=True)` makes the change that the first advice asks for."""
