"""The stand-in's `ttnn._ttnn`: in slow dispatch the library refuses traces and managers of sub-devices."""

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
device = SimpleNamespace(is_trace_capture_active=refused, close_device=lambda device: device.close())
profiler = SimpleNamespace(tracy_message=lambda source, color=0: None)


class MeshDevice:
    """What `ttnn._ttnn` has of a device's methods."""

    def create_sub_device_manager(self, sub_devices, local_l1_size):
        return SimpleNamespace(sub_devices=sub_devices)

    def load_sub_device_manager(self, sub_device_manager_id):
        refused()

    def clear_loaded_sub_device_manager(self):
        refused()


multi_device = SimpleNamespace(MeshDevice=MeshDevice)
