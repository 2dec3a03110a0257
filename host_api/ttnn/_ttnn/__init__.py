"""ttnn._ttnn: the names that are not at the top level."""

import tensim.ttnn._ttnn.program_descriptor as program_descriptor

__all__ = ["program_descriptor"]
