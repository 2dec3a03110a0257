"""Programs bound to devices: one variant per device, inputs converted and constants uploaded where that is asked for, outputs
allocated, kernels built once per set of buffers (docs/hardware/runtime.md#binaries-and-submit).
"""

from __future__ import annotations

import json
import typing
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tensim.runtime.arguments import device_of, of_system, tensor_of
from tensim.runtime.conversion import plan_layout, to_layout, to_layout_into
from tensim.runtime.dtypes import cast
from tensim.runtime.encoding import encode
from tensim.runtime.errors import (
    AffinityConflict,
    BinaryIncompatible,
    LayoutMismatch,
    NoVariant,
    PrivateProgram,
    UnresolvedPromise,
    UseAfterDonate,
)
from tensim.runtime.functions import call_on_arrays, describe_tensor, name_of
from tensim.runtime.meshes import MeshDevice, Replicate, ShardedTensor, distribute, spread_alike
from tensim.runtime.placement import ANY, Affinity, Promise, choose, executable_with, resolve
from tensim.runtime.storage import buffers_of
from tensim.runtime.sync import Event, settle
from tensim.runtime.tensors import Tensor
from tensim.sim.errors import UsageError
from tensim.sim.host import commands as c
from tensim.sim.loop.environment import FS_PER_NS

if TYPE_CHECKING:
    from tensim.runtime.binaries import Binary
    from tensim.runtime.devices import AnyDevice
    from tensim.runtime.hooks import Hooks
    from tensim.runtime.opening import DeviceMap
    from tensim.runtime.placement import Optimal, QueueMask, Queues
    from tensim.runtime.program_info import ProgramInfo, TensorInfo, Variant
    from tensim.runtime.queues import Queue
    from tensim.runtime.sync import Waitable
    from tensim.runtime.system import System

PROGRAMS_KEPT = 64  # built programs per bound binary


@dataclass
class SubmitPlan:
    """What a submit did besides running: conversions and, of tensors that live elsewhere, transfers to the program's device
    or from it, as (argument, LayoutPlan); uploads of constants; the queue.
    """

    device: object
    queue: int
    conversions: list
    uploads: list
    transfers: list


@dataclass
class Submission:
    """A program on its way.  On a mesh `outputs` are ShardedTensors and `plan` is a list, of one plan per chip."""

    outputs: list
    event: Event
    plan: Any  # a SubmitPlan, or a list of them


class BoundBinary:
    """A binary whose programs have devices.  `max_in_flight`: submits that may be under way before the host blocks."""

    def __init__(self, binary: Binary, devices: AnyDevice | DeviceMap, max_in_flight: int | None) -> None:
        if max_in_flight is not None and max_in_flight < 1:
            raise UsageError(
                f"max_in_flight is {max_in_flight}; it must be at least 1", hint="leave it out for any number"
            )
        self.binary, self.max_in_flight = binary, max_in_flight
        self.names = devices if isinstance(devices, Mapping) else {}
        self.default = devices.default if isinstance(devices, Mapping) else device_of(devices, "bind")
        self._check_promises()
        self.places = [self._place(program) for program in binary.programs]
        self.variants = [self._variant(p, place) for p, place in zip(binary.programs, self.places, strict=True)]
        self._built, self._under_way, self.resident = OrderedDict(), deque(), {}

    @property
    def system(self) -> System:
        return typing.cast("AnyDevice", self.default).system

    def _check_promises(self) -> None:
        missing = [name for name in self.binary.devices if name not in self.names]
        if missing:
            keys = ", ".join(self.names) or "none"
            raise UnresolvedPromise(
                f"the binary needs devices {', '.join(missing)}; the map has: {keys}",
                where={"missing": missing, "devices": list(self.names)},
                hint="bind it to a DeviceMap with these names",
            )

    def _place(self, program: ProgramInfo) -> Affinity | Optimal:
        """Affinity of a program, or an Optimal of several."""
        place = program.placement
        if isinstance(place, Promise) and self.names.get(place.name, 0) is None:
            raise NoVariant(
                f"program {program.name} is for device {place.name}, which is optional and absent",
                where={"program": program.name, "device": place.name},
                hint="bind it to a host device",
            )
        return typing.cast("Affinity | Optimal", resolve(place, self.names, default=self.default))

    def _variant(self, program: ProgramInfo, place: Affinity | Optimal) -> dict[Any, Variant]:
        """{device: variant} for every device that the program may run on."""
        found: dict[Any, Variant] = {}
        members: tuple[Any, ...] = getattr(place, "choices", (place,))
        for member in members:
            _check_mesh(program, member.device)
            variant = next((v for v in program.variants if v.runs_on(member.device)), None)
            if variant is None:
                have = ", ".join(v.target for v in program.variants) or "none"
                raise NoVariant(
                    f"program {program.name} has no variant for {member.device.name} (it has: {have})",
                    where={"program": program.name, "device": member.device.name, "variants": have},
                    hint="add a variant, or bind to another device",
                )
            found[member.device] = variant
        return found

    # --- running

    def submit(
        self,
        program: int | str,
        inputs: Sequence[Any],
        *,
        outputs: Sequence[Any] | None = None,
        donate: Iterable[int] = (),
        layouts: str = "strict",
        wait: Waitable = (),
        queue: Queues = ANY,
        label: str = "",
        hooks: Hooks | None = None,
    ) -> Submission:
        """See `submit`."""
        index = self.binary.index(program)
        info = self.binary.programs[index]
        if info.private:
            raise PrivateProgram(
                f"program {info.name} is private", where={"program": info.name}, hint="submit a public one"
            )
        if layouts not in ("strict", "convert"):
            raise UsageError(f"layouts is {layouts!r}", hint="'strict' or 'convert'")
        place = self.place_of(index)
        spread = isinstance(place.device, MeshDevice)
        return (self._submit_on_mesh if spread else self._submit_on)(
            index, info, place, inputs, outputs=outputs, donate=donate, layouts=layouts, wait=wait, queue=queue,
            label=label, hooks=hooks,
        )  # fmt: skip

    def _submit_on_mesh(
        self,
        index: int,
        info: ProgramInfo,
        place: Affinity,
        inputs: Sequence[Any],
        *,
        outputs: Sequence[Any] | None,
        layouts: str,
        **settings: Any,
    ) -> Submission:
        """Run the program on every chip of a mesh, each on its parts of the tensors."""
        mesh = typing.cast(MeshDevice, place.device)
        _check_count(info, inputs)
        inputs = [_spread(wanted, x, mesh, layouts) for wanted, x in zip(info.inputs, inputs, strict=True)]
        faces = [(x.desc, x.placements) for x in outputs or ()] or [
            spread_alike(wanted, inputs, mesh) for wanted in info.outputs
        ]
        parts = [
            self._submit_on(
                index, info, Affinity(chip, place.queues), [x.shards[position] for x in inputs], layouts=layouts,
                outputs=[x.shards[position] for x in outputs] if outputs else None, **settings,
            )
            for position, chip in enumerate(mesh.devices)
        ]  # fmt: skip
        results = outputs or [
            ShardedTensor(*face[:1], mesh, face[1], [part.outputs[number] for part in parts])
            for number, face in enumerate(faces)
        ]
        return Submission(list(results), Event.all_of(*[part.event for part in parts]), [part.plan for part in parts])

    def _submit_on(
        self,
        index: int,
        info: ProgramInfo,
        place: Affinity,
        inputs: Sequence[Any],
        *,
        outputs: Sequence[Any] | None,
        donate: Iterable[int],
        layouts: str,
        wait: Waitable,
        queue: Queues,
        label: str,
        hooks: Hooks | None,
    ) -> Submission:
        device: Any = place.device
        inputs, outputs = _tensors(info, inputs, self.system), outputs and _tensors(info, outputs, self.system)
        donated, plan = _donated(info, inputs, outputs, donate), SubmitPlan(device, -1, [], [], [])
        self._limit()
        mask = _queues(queue, place)
        device.queue_for(mask)  # BadQueueMask now, before anything is issued
        ready = self._inputs(info, inputs, device, layouts, plan, wait)
        written, results = self._outputs(info, outputs, device, ready, donated)
        event, plan.queue = self._run(index, info, device, ready, written, mask, wait, label or info.name, hooks)
        event = self._bring_home(info, written, results, event, plan)
        for position in donated:
            self._give_away(info, inputs[position], results, position)
        if self.max_in_flight is not None:
            self._under_way.append(event)
        return Submission(results, event, plan)

    def place_of(self, index: int) -> Affinity:
        """The Affinity where a program would run now."""
        return choose(self.places[index], load=_load, cost=lambda candidate: self._cost(index, candidate))

    def _limit(self) -> None:
        if self.max_in_flight is None:
            return
        self.system.executor.catch_up()
        while self._under_way and self._under_way[0].done:
            self._under_way.popleft()
        if len(self._under_way) >= self.max_in_flight:
            settle(self._under_way.popleft())

    def _cost(self, index: int, place: Affinity) -> float:
        """Estimated ns on a device: the variant's cost where it states one, and the queues' load."""
        variant = self.variants[index][place.device]
        cost = variant.cost_ns
        return (cost(*[i.desc for i in self.binary.programs[index].inputs]) if callable(cost) else cost) + _load(place)

    def _inputs(
        self, info: ProgramInfo, inputs: Sequence[Any], device: Any, layouts: str, plan: SubmitPlan, wait: Waitable
    ) -> list[Tensor]:
        _check_count(info, inputs)
        return [
            self._input(position, wanted, tensor, device, layouts, plan, wait)
            for position, (wanted, tensor) in enumerate(zip(info.inputs, inputs, strict=True))
        ]

    def _input(
        self,
        position: int,
        wanted: TensorInfo,
        tensor: Tensor,
        device: Any,
        layouts: str,
        plan: SubmitPlan,
        wait: Waitable,
    ) -> Tensor:
        """The tensor of an input on the program's device: from its home, where `strict` wants it to be."""
        tensor.storage  # noqa: B018  raises when it is gone
        home = self.home(wanted, device)
        resident = is_resident(wanted, tensor, home)
        differences = _different_data(wanted, tensor) if resident else _differences(wanted, tensor, home)
        if differences and ("shape" in differences or layouts == "strict"):
            raise _mismatch(position, wanted, differences)
        if resident:
            tensor = _upload(wanted, tensor, home, plan)
        elif differences:
            plan.conversions.append((wanted.name, plan_layout(tensor, wanted.wanted, home)))
            tensor = to_layout(tensor, wanted.wanted, home, wait=wait, label=f"convert {wanted.name}")
        if _lies_on(device, wanted, tensor.device):
            return tensor
        plan.transfers.append((wanted.name, plan_layout(tensor, wanted.wanted, device)))
        return to_layout(tensor, wanted.wanted, device, wait=wait, label=f"bring {wanted.name}")

    def home(self, wanted: TensorInfo, device: Any) -> Any:
        """The device on which a tensor of a program that runs on `device` lies before and after it."""
        if wanted.placement is None:
            return device
        place = typing.cast("Affinity | Optimal", resolve(wanted.placement, self.names, default=self.default))
        home = choose(place, load=_load, cost=_load).device
        return device if device in getattr(home, "devices", ()) else home

    def _outputs(
        self,
        info: ProgramInfo,
        outputs: Sequence[Any] | None,
        device: Any,
        inputs: Sequence[Any],
        donated: Iterable[int],
    ) -> tuple[list[Tensor], list[Tensor]]:
        """(tensors that the program writes, tensors that they become at their homes)."""
        if outputs is not None and len(outputs) != len(info.outputs):
            raise LayoutMismatch(
                f"{info.name} gives {len(info.outputs)} outputs, {len(outputs)} were given",
                where={"expected": [wanted.name for wanted in info.outputs], "found": len(outputs)},
                hint="one tensor per output, in this order, or none at all",
            )
        homes = [self.home(wanted, device) for wanted in info.outputs]
        for position, (wanted, home, tensor) in enumerate(zip(info.outputs, homes, outputs or (), strict=False)):
            differences = _differences(wanted, tensor, home)
            if differences:
                raise _mismatch(position, wanted, differences, kind="output")
        aliases = {info.inputs[i].aliases_output: inputs[i] for i in donated}
        written, results = [], []
        for position, (wanted, home) in enumerate(zip(info.outputs, homes, strict=True)):
            result = outputs[position] if outputs else None
            if not _lies_on(device, wanted, home.home_of(wanted.wanted)[1]):
                written.append(Tensor.empty(wanted.desc, wanted.layout, device, name=wanted.name))
                results.append(result or Tensor.empty(wanted.desc, wanted.layout, home, name=wanted.name))
                continue
            written.append(
                result
                or aliases.get(position)
                or Tensor.empty(wanted.desc, wanted.layout, device, name=wanted.name, system=self.system)
            )
            results.append(written[-1])
        return written, results

    def _bring_home(
        self, info: ProgramInfo, written: Sequence[Tensor], results: list[Tensor], event: Event, plan: SubmitPlan
    ) -> Event:
        """Move outputs to their homes; returns the event of everything."""
        events = [event]
        for wanted, here, home in zip(info.outputs, written, results, strict=True):
            if here is not home:
                plan.transfers.append((wanted.name, plan_layout(here, home.layout, home.device)))
                events.append(typing.cast(Event, to_layout_into(home, here, label=f"bring {wanted.name}")))
                here.release()
        return Event.all_of(*events)

    def _run(
        self,
        index: int,
        info: ProgramInfo,
        device: Any,
        inputs: Sequence[Any],
        outputs: Sequence[Any],
        mask: QueueMask,
        wait: Waitable,
        label: str,
        hooks: Hooks | None,
    ) -> tuple[Event, int]:
        variant, queue = self._variant_on(index, device), device.queue_for(mask)
        reads, writes = [t.storage for t in inputs], [t.storage for t in outputs]
        emit = (self._function if variant.function is not None and variant.build is None else self._program)(
            index, info, variant, device, queue, inputs, outputs
        )
        around = device.system.hooks.around_program(hooks, info, inputs, outputs)
        event = queue.issue("program", label, emit, wait=wait, reads=reads, writes=writes, around=around)
        for tensor in outputs:
            tensor.written()
        if device.system.recorder is not None:
            device.system.recorder.submitted(info, inputs, outputs, event)
        if device.system.capturing is not None:
            device.system.capturing.use([*inputs, *outputs])
        return event, queue.id

    def _variant_on(self, index: int, device: Any) -> Variant:
        found = self.variants[index]
        return next(variant for place, variant in found.items() if device in getattr(place, "devices", (place,)))

    def _program(
        self,
        index: int,
        info: ProgramInfo,
        variant: Variant,
        device: Any,
        queue: Queue,
        inputs: Sequence[Any],
        outputs: Sequence[Any],
    ) -> Callable[[], Any]:
        program = self._built_program(index, variant, device, inputs, outputs)
        if program is None:
            return lambda: None
        return lambda: device.system.executor.submit(c.EnqueueProgram(device.number, queue.id, program.id, False))

    def _built_program(
        self, index: int, variant: Variant, device: Any, inputs: Sequence[Any], outputs: Sequence[Any]
    ) -> Any:
        """The program over these buffers: built before, given other buffers, or built now."""
        if variant.build is None:
            return None
        buffers = [t.storage.buffer for t in inputs], [t.storage.buffer for t in outputs]
        key: tuple[int, ...] = (index, device.number)
        if variant.rebind is None:
            key += tuple(b.unique_id for side in buffers for b in side)
        program = self._built.get(key)
        if program is None:
            program = self._built[key] = variant.build(device.metal, *buffers)
            if len(self._built) > PROGRAMS_KEPT:
                self._built.popitem(last=False)
        elif variant.rebind is not None:
            variant.rebind(program, *buffers)
        return program

    def _function(
        self,
        index: int,
        info: ProgramInfo,
        variant: Variant,
        device: Any,
        queue: Queue,
        inputs: Sequence[Any],
        outputs: Sequence[Any],
    ) -> Callable[[], Any]:
        cost = variant.cost_ns(*[t.desc for t in inputs]) if callable(variant.cost_ns) else variant.cost_ns
        storages = [t.storage for t in (*inputs, *outputs)]
        memories = [storage.memory() for storage in storages]
        faces = {"inputs": inputs, "outputs": outputs}
        parameters = {side: [describe_tensor(t.desc, t.layout) for t in tensors] for side, tensors in faces.items()}
        function = typing.cast(Callable, variant.function)
        name = name_of(function) or f"program {info.name}"  # only a registered one can be replayed
        return queue.emit_function(
            name, lambda: call_on_arrays(function, parameters, memories), round(cost * FS_PER_NS),
            buffers_of(storages), json.dumps(parameters),
        )  # fmt: skip

    def _give_away(self, info: ProgramInfo, tensor: Tensor, results: list[Tensor], position: int) -> None:
        output = info.inputs[position].aliases_output
        error = UseAfterDonate(
            f"{tensor.name} was donated to program {info.name}",
            hint="its memory went to the program: leave it out of donate, or use the outputs",
            where={"tensor": tensor.id, "program": info.name},
        )
        if output is not None and results[output] is tensor:
            kept = results[output] = Tensor(
                tensor.system, tensor.desc, tensor.layout, tensor.storage, device=tensor.device
            )
            kept.version = tensor.version
            tensor._storage, tensor.lost = None, error
            tensor.system.tensors.pop(tensor.id, None)
        else:
            tensor.lose(error)

    # --- embedded

    def run_resident(self, entry: int | str, wait: Waitable) -> tuple[dict[str, Tensor], Event]:
        """Run a program on tensors that live in the device: ({name: output}, Event).  Inputs begin as their goldens or zero."""
        index = self.binary.index(entry)
        info, device = self.binary.programs[index], self.default
        inputs = [self._resident(wanted, device, info.goldens.get(wanted.name)) for wanted in info.inputs]
        outputs = [self._resident(wanted, device, None) for wanted in info.outputs]
        event, _ = self._run(index, info, device, inputs, outputs, ANY, wait, info.name, None)
        return {wanted.name: tensor for wanted, tensor in zip(info.outputs, outputs, strict=True)}, event

    def _resident(self, wanted: TensorInfo, device: Any, value: Any) -> Tensor:
        if wanted.name not in self.resident:
            tensor = self.resident[wanted.name] = Tensor.empty(wanted.desc, wanted.layout, device, name=wanted.name)
            if value is not None:
                tensor.poke(encode(cast(np.asarray(value), wanted.desc.dtype), wanted.desc, wanted.layout))
        return self.resident[wanted.name]


def _load(place: Affinity) -> int:
    """Commands outstanding on the queues of an affinity."""
    devices = getattr(place.device, "devices", [place.device])
    return sum(queue.outstanding for device in devices for queue in device.queues if place.queues >> queue.id & 1)


def _queues(queue: Any, place: Any) -> QueueMask:
    if queue != ANY and not executable_with(Affinity(place.device, queue), place):
        raise AffinityConflict(
            f"the submit asks for queues {queue:#x}, the program is placed on queues {place.queues:#x} of {place.device.name}",
            where={"asked": queue, "placed": place.queues},
            hint="leave queue out, or name queues of the placement",
        )
    return queue if queue != ANY else place.queues


def _check_count(info: ProgramInfo, inputs: Sequence[Any]) -> None:
    if len(inputs) != len(info.inputs):
        raise LayoutMismatch(
            f"{info.name} takes {len(info.inputs)} inputs, {len(inputs)} were given",
            where={"expected": [wanted.name for wanted in info.inputs], "found": len(inputs)},
            hint="one tensor per input, in this order",
        )


def _spread(wanted: TensorInfo, x: Any, mesh: MeshDevice, layouts: str) -> ShardedTensor:
    """An input of a program on a mesh: spread over it; `convert` gives a whole tensor to every chip."""
    if isinstance(x, ShardedTensor) and x.mesh.devices == mesh.devices:
        return x
    if layouts == "convert" and not isinstance(x, ShardedTensor):
        return distribute(x, mesh, [Replicate() for _ in mesh.shape], layout=wanted.wanted)
    found = f"spread over {x.mesh.name}" if isinstance(x, ShardedTensor) else f"{x!r}"
    raise LayoutMismatch(
        f"input {wanted.name}: expected a tensor spread over {mesh.name}, found {found}",
        where={"name": wanted.name, "diff": {"device": (mesh.name, found)}},
        hint="distribute(tensor, mesh, placements), or submit(..., layouts='convert') to give every chip the whole",
    )


def _tensors(info: ProgramInfo, tensors: Iterable[Any], system: System) -> list[Tensor]:
    """A list of tensors of this system."""
    call = f"program {info.name}"
    if hasattr(tensors, "desc"):
        raise UsageError(f"{call} takes a list of tensors, not one", hint="[tensor]")
    tensors = [tensor_of(tensor, call) for tensor in tensors]
    of_system(system, tensors, call)
    return tensors


def _donated(
    info: ProgramInfo, inputs: Sequence[Tensor], outputs: Sequence[Any] | None, donate: Iterable[int]
) -> list[int]:
    """The positions that were donated, each tensor once."""
    donated = {}
    for position in donate:
        if not 0 <= position < len(inputs):
            raise UsageError(
                f"donate names input {position}; {info.name} has {len(info.inputs)}",
                hint="donate=[0] is the first input",
            )
        if any(inputs[position] is output for output in outputs or ()):
            raise UsageError(
                f"{inputs[position].name} is donated to {info.name} and an output of it", hint="leave it out of donate"
            )
        donated.setdefault(inputs[position].id, position)
    return list(donated.values())


def _lies_on(device: Any, wanted: TensorInfo, place: AnyDevice | None) -> bool:
    """Whether tensors at `place` (a device, None: host memory) are where a program on `device` has them."""
    return device.home_of(wanted.wanted)[1] is place


def _differences(wanted: TensorInfo, tensor: Tensor, home: Any) -> dict[str, tuple[object, object]]:
    """{field: (expected, found)} between a described and a given tensor."""
    layout, device = home.home_of(wanted.wanted)
    found: dict[str, tuple[object, object]] = {}
    if tensor.desc.shape != wanted.desc.shape:
        found["shape"] = (wanted.desc.shape, tensor.desc.shape)
    both_on_host = layout.space.on_host and tensor.layout.space.on_host  # of two kinds
    have = replace(tensor.layout, space=layout.space) if both_on_host else tensor.layout
    if not have.serves(layout):
        found |= layout.diff(have)
    if tensor.device is not device:
        found["device"] = (home.name, "host memory" if tensor.device is None else tensor.device.name)
    return found


def _different_data(wanted: TensorInfo, tensor: Tensor) -> dict[str, tuple[object, object]]:
    """As `_differences`, for a tensor whose layout and place do not matter."""
    pairs = {"shape": (wanted.desc.shape, tensor.desc.shape), "dtype": (wanted.desc.dtype, tensor.desc.dtype)}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def _mismatch(
    position: int, wanted: TensorInfo, differences: dict[str, tuple[object, object]], kind: str = "input"
) -> LayoutMismatch:
    lines = [f"{name}: expected {expected}, found {found}" for name, (expected, found) in differences.items()]
    hint = f"to_layout(tensor, binary.layout(program, {position}), device), or submit(..., layouts='convert')"
    if kind == "output":
        hint = f"allocate_output_tensor(binary, program, {position})"
    elif "shape" in differences:
        hint = f"give a tensor of shape {wanted.desc.shape}; no conversion changes a shape"
    return LayoutMismatch(
        f"{kind} {position} ({wanted.name}): " + "; ".join(lines),
        where={
            "argument": position,
            "name": wanted.name,
            "diff": {k: tuple(map(str, v)) for k, v in differences.items()},
        },
        hint=hint,
    )


def _check_mesh(program: ProgramInfo, device: Any) -> None:
    """A program that is made for a mesh of some shape runs on such a one only."""
    shape = getattr(device, "shape", (1, 1))
    if tuple(program.mesh_shape) not in ((1, 1), shape):
        wanted = "x".join(map(str, program.mesh_shape))
        raise BinaryIncompatible(
            f"program {program.name} is for a mesh of {wanted} chips, {device.name} has {'x'.join(map(str, shape))}",
            where={"program": program.name, "expected": list(program.mesh_shape), "found": list(shape)},
            hint=f"open a mesh: sim://ARCH?mesh={wanted}",
        )


def is_resident(wanted: TensorInfo, tensor: Tensor, home: Any) -> bool:
    """Whether an input is a constant of the host, which is uploaded once."""
    return wanted.const and tensor.device is None and home.scheme != "host"


def _upload(wanted: TensorInfo, tensor: Tensor, home: Any, plan: SubmitPlan) -> Tensor:
    before = tensor.system.stats["residency.misses"]
    resident = tensor.system.residency.get(tensor, home, wanted.wanted)
    if tensor.system.stats["residency.misses"] > before:
        plan.uploads.append((wanted.name, resident.nbytes))
    return resident
