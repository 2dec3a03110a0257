"""The runtime, which builds on the host API: tensors and layouts, binaries, several devices, affinities, evaluation.

from tensim.runtime import System, Tensor, Layout, MemSpace, submit
"""

from tensim.runtime.binaries import Binary, allocate_input_tensor, allocate_output_tensor, submit
from tensim.runtime.bound_programs import BoundBinary, Submission, SubmitPlan
from tensim.runtime.builder import BinaryBuilder, ProgramBuilder
from tensim.runtime.conversion import plan_layout, to_layout, to_layout_into
from tensim.runtime.counters import Counters, counter_names
from tensim.runtime.description import CompatReport, check, describe
from tensim.runtime.devices import Device, EmbeddedDevice, HostDevice, SimAccelerator
from tensim.runtime.dtypes import DType
from tensim.runtime.evaluation import EvalResult, ValidationReport, evaluate
from tensim.runtime.functions import host_function
from tensim.runtime.hooks import Hooks, hooks
from tensim.runtime.layouts import Interleaved, Layout, MemSpace, Sharded, TensorDesc
from tensim.runtime.meshes import MeshDevice, Replicate, Shard, ShardedTensor, distribute, gather
from tensim.runtime.opening import DeviceMap
from tensim.runtime.placement import ANY, Affinity, Optimal, Promise, executable_with, join_and, join_or
from tensim.runtime.planner import LayoutPlan, Step
from tensim.runtime.profiling import Profile
from tensim.runtime.program_info import ProgramInfo, TensorInfo, Variant
from tensim.runtime.queues import Queue
from tensim.runtime.recording import replay
from tensim.runtime.specs import parse_devices, register_alias
from tensim.runtime.sync import Event, Timeline, wait
from tensim.runtime.system import System
from tensim.runtime.systems import SystemConfig
from tensim.runtime.tensors import Tensor
from tensim.runtime.transfers import pin, transfer

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
