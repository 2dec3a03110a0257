"""`tensim debug`: a program stopped at a kernel's line, an operation, a cycle or a write, and looked at (docs/debugging.md)."""
