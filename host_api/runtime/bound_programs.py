"""Programs bound to devices: one variant per device, inputs converted and constants uploaded where that is asked for, outputs
allocated, kernels built once per set of buffers (docs/hardware/runtime.md#binaries-and-submit).
"""

import json
from collections import OrderedDict, deque
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from tensim.runtime.conversion import plan_layout, to_layout
from tensim.runtime.dtypes import cast
from tensim.runtime.encoding import encode
from tensim.runtime.errors import (
    AffinityConflict,
    LayoutMismatch,
    NoVariant,
    PrivateProgram,
    UnresolvedPromise,
    UseAfterDonate,
)
from tensim.runtime.functions import call_on_arrays, describe_tensor, name_of
from tensim.runtime.layouts import MemSpace
from tensim.runtime.placement import ANY, Affinity, Promise, choose, executable_with, resolve
from tensim.runtime.storage import buffers_of
from tensim.runtime.sync import Event
from tensim.runtime.sync import wait as host_wait
from tensim.runtime.tensors import Tensor
from tensim.sim.engine.environment import FS_PER_NS
from tensim.sim.errors import UsageError
from tensim.sim.host import commands as c

PROGRAMS_KEPT = 64  # built programs per bound binary


@dataclass
class SubmitPlan:
    """What a submit did besides running: conversions as (argument, LayoutPlan), uploads of constants, and the queue."""

    device: object
    queue: int
    conversions: list
    uploads: list


@dataclass
class Submission:
    """A program on its way."""

    outputs: list
    event: Event
    plan: SubmitPlan


class BoundBinary:
    """A binary whose programs have devices.  `max_in_flight`: submits that may be under way before the host blocks."""

    def __init__(self, binary, devices, max_in_flight):
        if max_in_flight is not None and max_in_flight < 1:
            raise UsageError(f"max_in_flight is {max_in_flight}; it must be at least 1")
        self.binary, self.max_in_flight = binary, max_in_flight
        self.names = devices if isinstance(devices, Mapping) else {}
        self.default = devices.default if isinstance(devices, Mapping) else devices
        self._check_promises()
        self.places = [self._place(program) for program in binary.programs]
        self.variants = [self._variant(p, place) for p, place in zip(binary.programs, self.places, strict=True)]
        self._built, self._under_way, self.resident = OrderedDict(), deque(), {}

    @property
    def system(self):
        return self.default.system

    def _check_promises(self):
        missing = [name for name in self.binary.devices if name not in self.names]
        if missing:
            keys = ", ".join(self.names) or "none"
            raise UnresolvedPromise(
                f"the binary needs devices {', '.join(missing)}; the map has: {keys}",
                where={"missing": missing, "devices": list(self.names)},
                hint="bind it to a DeviceMap with these names",
            )

    def _place(self, program):
        """Affinity of a program, or an Optimal of several."""
        absent = isinstance(program.placement, Promise) and self.names.get(program.placement.name, 0) is None
        if absent:
            raise NoVariant(
                f"program {program.name} is for device {program.placement.name}, which is optional and absent",
                where={"program": program.name, "device": program.placement.name},
                hint="bind it to a host device",
            )
        return resolve(program.placement, self.names, default=self.default)

    def _variant(self, program, place):
        """{device: variant} for every device that the program may run on."""
        found = {}
        for member in getattr(place, "choices", (place,)):
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
        self, program, inputs, *, outputs=None, donate=(), layouts="strict", wait=(), queue=ANY, label="", hooks=None
    ):
        """See `submit`."""
        index = self.binary.index(program)
        info = self.binary.programs[index]
        if info.private:
            raise PrivateProgram(
                f"program {info.name} is private", where={"program": info.name}, hint="submit a public one"
            )
        if layouts not in ("strict", "convert"):
            raise UsageError(f"layouts is {layouts!r}", hint="'strict' or 'convert'")
        place = choose(self.places[index], load=_load, cost=lambda candidate: self._cost(index, candidate))
        device = place.device
        inputs, donated = list(inputs), _donated(info, inputs, donate)
        plan = SubmitPlan(device, -1, [], [])
        self._limit()
        ready = self._inputs(info, inputs, device, layouts, plan, wait)
        results = self._outputs(info, outputs, device, ready, donated)
        mask = _queues(queue, place)
        event, plan.queue = self._run(index, info, device, ready, results, mask, wait, label or info.name, hooks)
        for position in donated:
            self._give_away(info, inputs[position], results, position)
        self._under_way.append(event)
        return Submission(results, event, plan)

    def _limit(self):
        while self._under_way and self._under_way[0].done:
            self._under_way.popleft()
        if self.max_in_flight is not None and len(self._under_way) >= self.max_in_flight:
            host_wait(self._under_way.popleft())

    def _cost(self, index, place):
        """Estimated ns on a device: the variant's cost where it states one, and the queues' load."""
        variant = self.variants[index][place.device]
        cost = variant.cost_ns
        return (cost(*[i.desc for i in self.binary.programs[index].inputs]) if callable(cost) else cost) + _load(place)

    def _inputs(self, info, inputs, device, layouts, plan, wait):
        if len(inputs) != len(info.inputs):
            raise LayoutMismatch(
                f"{info.name} takes {len(info.inputs)} inputs, {len(inputs)} were given",
                where={"expected": [wanted.name for wanted in info.inputs], "found": len(inputs)},
                hint="one tensor per input, in this order",
            )
        return [
            self._input(position, wanted, tensor, device, layouts, plan, wait)
            for position, (wanted, tensor) in enumerate(zip(info.inputs, inputs, strict=True))
        ]

    def _input(self, position, wanted, tensor, device, layouts, plan, wait):
        tensor.storage  # noqa: B018  raises when it is gone
        target = self._home(wanted, device)
        if wanted.const and tensor.device is None and target.scheme != "host":
            before = tensor.system.stats["residency.misses"]
            resident = tensor.system.residency.get(tensor, target, wanted.layout)
            if tensor.system.stats["residency.misses"] > before:
                plan.uploads.append((wanted.name, resident.nbytes))
            return resident
        differences = _differences(wanted, tensor, target)
        if not differences:
            return tensor
        if "shape" in differences or layouts == "strict":
            raise _mismatch(position, wanted, differences, target)
        plan.conversions.append((wanted.name, plan_layout(tensor, wanted.layout, target)))
        return to_layout(tensor, wanted.layout, target, wait=wait, label=f"convert {wanted.name}")

    def _home(self, wanted, device):
        if wanted.placement is None:
            return device
        return choose(resolve(wanted.placement, self.names, default=self.default), load=_load, cost=_load).device

    def _outputs(self, info, outputs, device, inputs, donated):
        if outputs is None:
            aliases = {
                info.inputs[i].aliases_output: inputs[i] for i in donated if info.inputs[i].aliases_output is not None
            }
            return [
                aliases.get(position)
                or Tensor.empty(wanted.desc, wanted.layout, self._home(wanted, device), name=wanted.name)
                for position, wanted in enumerate(info.outputs)
            ]
        if len(outputs) != len(info.outputs):
            raise LayoutMismatch(f"{info.name} gives {len(info.outputs)} outputs, {len(outputs)} were given")
        for position, (wanted, tensor) in enumerate(zip(info.outputs, outputs, strict=True)):
            differences = _differences(wanted, tensor, self._home(wanted, device))
            if differences:
                raise _mismatch(position, wanted, differences, device, kind="output")
        return list(outputs)

    def _run(self, index, info, device, inputs, outputs, mask, wait, label, hooks):
        variant, queue = self.variants[index][device], device.queue_for(mask)
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

    def _program(self, index, info, variant, device, queue, inputs, outputs):
        program = self._built_program(index, variant, device, inputs, outputs)
        if program is None:
            return lambda: None
        return lambda: device.system.executor.submit(c.EnqueueProgram(device.number, queue.id, program.id, False))

    def _built_program(self, index, variant, device, inputs, outputs):
        """The program over these buffers: built before, given other buffers, or built now."""
        if variant.build is None:
            return None
        buffers = [t.storage.buffer for t in inputs], [t.storage.buffer for t in outputs]
        key = (index, device.number)
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

    def _function(self, index, info, variant, device, queue, inputs, outputs):
        cost = variant.cost_ns(*[t.desc for t in inputs]) if callable(variant.cost_ns) else variant.cost_ns
        storages = [t.storage for t in (*inputs, *outputs)]
        memories = [storage.memory() for storage in storages]
        faces = {"inputs": inputs, "outputs": outputs}
        parameters = {side: [describe_tensor(t.desc, t.layout) for t in tensors] for side, tensors in faces.items()}
        name = name_of(variant.function) or f"program {info.name}"  # only a registered one can be replayed
        return queue.emit_function(
            name, lambda: call_on_arrays(variant.function, parameters, memories), round(cost * FS_PER_NS),
            buffers_of(storages), json.dumps(parameters),
        )  # fmt: skip

    def _give_away(self, info, tensor, results, position):
        output = info.inputs[position].aliases_output
        error = UseAfterDonate(
            f"{tensor.name} was donated to program {info.name}", where={"tensor": tensor.id, "program": info.name}
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

    def run_resident(self, entry, wait):
        """Run a program on tensors that live in the device: ({name: output}, Event).  Inputs begin as their goldens or zero."""
        index = self.binary.index(entry)
        info, device = self.binary.programs[index], self.default
        inputs = [self._resident(wanted, device, info.goldens.get(wanted.name)) for wanted in info.inputs]
        outputs = [self._resident(wanted, device, None) for wanted in info.outputs]
        event, _ = self._run(index, info, device, inputs, outputs, ANY, wait, info.name, None)
        return {wanted.name: tensor for wanted, tensor in zip(info.outputs, outputs, strict=True)}, event

    def _resident(self, wanted, device, value):
        if wanted.name not in self.resident:
            tensor = self.resident[wanted.name] = Tensor.empty(wanted.desc, wanted.layout, device, name=wanted.name)
            if value is not None:
                tensor.poke(encode(cast(np.asarray(value), wanted.desc.dtype), wanted.desc, wanted.layout))
        return self.resident[wanted.name]


def _load(place):
    """Commands outstanding on the queues of an affinity."""
    return sum(queue.outstanding for queue in place.device.queues if place.queues >> queue.id & 1)


def _queues(queue, place):
    if queue != ANY and not executable_with(Affinity(place.device, queue), place):
        raise AffinityConflict(
            f"the submit asks for queues {queue:#x}, the program is placed on queues {place.queues:#x} of {place.device.name}",
            where={"asked": queue, "placed": place.queues},
            hint="leave queue out, or name queues of the placement",
        )
    return queue if queue != ANY else place.queues


def _donated(info, inputs, donate):
    donate = list(donate)
    for position in donate:
        if not 0 <= position < len(inputs):
            raise UsageError(f"donate names input {position}; {info.name} has {len(info.inputs)}")
    return donate


def _differences(wanted, tensor, device):
    """{field: (expected, found)} between a described and a given tensor."""
    if tensor.device is device and tensor.layout == wanted.wanted and tensor.desc == wanted.desc:
        return {}
    found = {}
    if tensor.desc.shape != wanted.desc.shape:
        found["shape"] = (wanted.desc.shape, tensor.desc.shape)
    want, have = wanted.wanted, tensor.layout
    if device.scheme == "host":  # host memory holds a device's layouts, too
        want, have = replace(want, space=MemSpace.HOST), replace(have, space=MemSpace.HOST)
        here = tensor.device is None or tensor.device is device
    else:
        here = tensor.device is device
    found |= want.diff(have)
    if not here:
        found["device"] = (device.name, "host memory" if tensor.device is None else tensor.device.name)
    return found


def _mismatch(position, wanted, differences, device, kind="input"):
    lines = [f"{name}: expected {expected}, found {found}" for name, (expected, found) in differences.items()]
    call = f"to_layout(tensor, binary.layout(program, {position}), device)"
    return LayoutMismatch(
        f"{kind} {position} ({wanted.name}): " + "; ".join(lines),
        where={
            "argument": position,
            "name": wanted.name,
            "diff": {k: tuple(map(str, v)) for k, v in differences.items()},
        },
        hint=f"{call}, or submit(..., layouts='convert')"
        if kind == "input"
        else f"allocate_output_tensor(binary, program, {position})",
    )
