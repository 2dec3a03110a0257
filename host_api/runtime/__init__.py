"""The runtime above the host API: tensors and layouts, binaries, several devices, affinities, evaluation.

from host_api.runtime import System, Tensor, Layout, MemSpace, submit
"""

from host_api.runtime.binaries import (
    Binary,
    BoundBinary,
    ProgramInfo,
    Submission,
    SubmitPlan,
    TensorInfo,
    Variant,
    allocate_input_tensor,
    allocate_output_tensor,
    submit,
)
from host_api.runtime.builder import BinaryBuilder, ProgramBuilder
from host_api.runtime.conversion import plan_layout, to_layout, to_layout_into
from host_api.runtime.counters import Counters, counter_names
from host_api.runtime.description import CompatReport, check, describe
from host_api.runtime.devices import Device, EmbeddedDevice, HostDevice, SimAccelerator
from host_api.runtime.dtypes import DType
from host_api.runtime.evaluation import EvalResult, ValidationReport, evaluate
from host_api.runtime.functions import host_function
from host_api.runtime.hooks import Hooks, hooks
from host_api.runtime.layouts import Interleaved, Layout, MemSpace, Sharded, TensorDesc
from host_api.runtime.meshes import MeshDevice, Replicate, Shard, ShardedTensor, distribute, gather
from host_api.runtime.placement import ANY, Affinity, Optimal, Promise, executable_with, join_and, join_or
from host_api.runtime.planner import LayoutPlan, Step
from host_api.runtime.profiling import Profile
from host_api.runtime.queues import Queue
from host_api.runtime.recording import replay
from host_api.runtime.specs import parse_devices, register_alias
from host_api.runtime.sync import Event, Timeline, wait
from host_api.runtime.system import DeviceMap, System, SystemConfig
from host_api.runtime.tensors import Tensor
from host_api.runtime.transfers import pin, transfer

__all__ = [
    "ANY", "Affinity", "Binary", "BinaryBuilder", "BoundBinary", "CompatReport", "Counters", "DType", "Device",
    "DeviceMap", "EmbeddedDevice", "EvalResult", "Event", "Hooks", "HostDevice", "Interleaved", "Layout",
    "LayoutPlan", "MemSpace", "MeshDevice", "Optimal", "Profile", "ProgramBuilder", "ProgramInfo", "Promise",
    "Queue", "Replicate", "Shard", "Sharded", "ShardedTensor", "SimAccelerator", "Step", "Submission", "SubmitPlan",
    "System", "SystemConfig", "Tensor", "TensorDesc", "TensorInfo", "Timeline", "ValidationReport", "Variant",
    "allocate_input_tensor", "allocate_output_tensor", "check", "counter_names", "describe", "distribute",
    "evaluate", "executable_with", "gather", "hooks", "host_function", "join_and", "join_or", "parse_devices",
    "pin", "plan_layout", "register_alias", "replay", "submit", "to_layout", "to_layout_into", "transfer", "wait",
]  # fmt: skip
