"""The stand-in's `ttnn._ttnn`: in slow dispatch the library refuses traces."""

from types import SimpleNamespace


class MeshTraceId(int):
    """The number of a trace."""


def refused(*arguments, **named):
    raise RuntimeError("Not supported for slow dispatch")


operations = SimpleNamespace(
    trace=SimpleNamespace(
        MeshTraceId=MeshTraceId, begin_trace_capture=refused, end_trace_capture=refused, execute_trace=refused,
        release_trace=refused,
    )
)  # fmt: skip
device = SimpleNamespace(is_trace_capture_active=refused)
