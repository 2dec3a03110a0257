"""What is made for others of the project: a wheel that brings the engine's machine code (`python -m release`)."""
