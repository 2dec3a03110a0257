"""`to_layout` and its kin: plans of `tensim.runtime.planner` carried out (docs/hardware/runtime.md#layout-conversion).

Steps of the host charge the host timeline with their modelled time; uploads and downloads are buffer writes and reads;
steps of a device are commands that take their modelled time and then change the bytes.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from tensim.runtime.arguments import device_of, layout_of, of_system, tensor_of
from tensim.runtime.chip_copies import transfer_into
from tensim.runtime.encoding import convert
from tensim.runtime.errors import EmbeddedTransfer, LayoutMismatch
from tensim.runtime.functions import CONVERT, describe_layout, describe_tensor
from tensim.runtime.placement import ANY
from tensim.runtime.planner import HOST, apply_host_step, plan_conversion
from tensim.runtime.storage import HostStorage
from tensim.runtime.sync import wait as host_wait
from tensim.runtime.timeline import HOST_CONVERT

if TYPE_CHECKING:
    from tensim.runtime.devices import AnyDevice, SimAccelerator
    from tensim.runtime.layouts import Layout
    from tensim.runtime.placement import Queues
    from tensim.runtime.planner import LayoutPlan, Step
    from tensim.runtime.sync import Event, Waitable
    from tensim.runtime.system import System
    from tensim.runtime.tensors import Tensor


def plan_layout(
    src: Tensor, layout: Layout, device: AnyDevice | None = None, *, allow_host_bounce: bool = True
) -> LayoutPlan:
    """The `LayoutPlan` that `to_layout` would carry out.  `device`: for layouts in DRAM or L1; None: where `src` is."""
    return _plan(src, *_target(src, layout, device), allow_host_bounce)


def to_layout(
    src: Tensor,
    layout: Layout,
    device: AnyDevice | None = None,
    *,
    retain: bool | None = None,
    allow_host_bounce: bool = True,
    wait: Waitable = (),
    queue: Queues = ANY,
    label: str = "",
) -> Tensor:
    """`src` in another layout or place, asynchronously; itself where nothing changes.

    `retain=False` frees `src` once it is read; the result inherits `src.retain` otherwise.  LayoutUnsupported when it needs
    a host bounce and may not; EmbeddedTransfer for embedded devices.
    """
    layout, device = _target(src, layout, device)
    plan = _plan(src, layout, device, allow_host_bounce)
    result = _carry_out(src, plan, device, None, wait, queue, label)
    if result is not src:
        result.retain = src.retain if retain is None else retain
        if retain is False:
            src.release()
    return result


def to_layout_into(
    dst: Tensor,
    src: Tensor,
    *,
    allow_host_bounce: bool = True,
    wait: Waitable = (),
    queue: Queues = ANY,
    label: str = "",
) -> Event | None:
    """Convert `src` into the memory of `dst`, whose readers end first; returns the Event of the last step."""
    for tensor in (dst, src):
        tensor_of(tensor, "to_layout_into")
    of_system(dst.system, [src], "to_layout_into")
    if dst.desc.shape != src.desc.shape:
        raise LayoutMismatch(
            f"to_layout_into: expected shape {dst.desc.shape}, found {src.desc.shape}",
            where={"shape": (dst.desc.shape, src.desc.shape)},
            hint="Tensor.empty(src.desc, layout, device) makes one of its shape",
        )
    plan = _plan(src, dst.layout, dst.device, allow_host_bounce)
    if not plan.steps:  # the same layout at the same place: the bytes still move
        return _copy_alike(dst, src, wait, queue, label)
    _carry_out(src, plan, dst.device, dst, wait, queue, label)
    return dst.event


def download(src: Tensor, *, wait: Waitable = (), queue: Queues = ANY, label: str = "") -> Tensor:
    """A device tensor in host memory, in rows or tiles as it is there."""
    src.storage  # noqa: B018  raises when it is gone
    return _download(src, src.layout.on_host(), None, wait, queue, label)


def _target(src: Tensor, layout: Layout, device: AnyDevice | None) -> tuple[Layout, SimAccelerator | None]:
    """(layout, device) that a tensor comes to; device None: host memory, in which the tensors of host devices lie, too."""
    tensor_of(src, "to_layout")
    layout_of(layout, "to_layout")
    if layout.space.on_host or device is None:
        return layout, None if layout.space.on_host else src.device
    return device_of(device, "to_layout").home_of(layout)


def _plan(src: Tensor, layout: Layout, device: SimAccelerator | None, allow_host_bounce: bool) -> LayoutPlan:
    if device is not None:
        of_system(device.system, [src], f"the conversion to {device.name}")
    for end in (src.device, device):
        if end is not None and end.scheme == "embedded":
            raise EmbeddedTransfer(
                f"{src.name} cannot be moved to or from {end.name}: an embedded device exchanges no tensors",
                where={"tensor": src.id, "device": end.name},
                hint="build it into the image, or use sim:// instead of embedded://",
            )
    src.storage  # noqa: B018  raises when it is gone
    places = [HOST if end is None else end.name for end in (src.device, device)]
    return src.system.plans.get(src, layout, places, [src.device, device], allow_host_bounce)


class Plans:
    """Plans by what decides them, so that each is made once."""

    def __init__(self, system: System) -> None:
        self.system, self.known = system, {}

    def get(
        self,
        src: Tensor,
        layout: Layout,
        places: Sequence[str],
        devices: Sequence[SimAccelerator | None],
        allow_host_bounce: bool,
    ) -> LayoutPlan:
        """The plan from a tensor to a layout; `places`, `devices`: of source and target."""
        key = (src.desc, src.layout, layout, *places, allow_host_bounce)
        if key not in self.known:
            chips = {
                place: cast("SimAccelerator", device)
                for place, device in zip(places, devices, strict=True)
                if place != HOST
            }
            capabilities: dict[Hashable, Any] = {place: device.capabilities() for place, device in chips.items()}
            self.known[key] = plan_conversion(
                src.desc, src.layout, layout, src_place=places[0], dst_place=places[1], capabilities=capabilities,
                costs=self.system.rates.between(*devices), allow_host_bounce=allow_host_bounce,
            )  # fmt: skip
        return self.known[key]


def _carry_out(
    src: Tensor, plan: LayoutPlan, device: Any, target: Tensor | None, wait: Waitable, queue: Queues, label: str
) -> Tensor:
    """Do the steps; the last one writes into `target`, if there is one.  Only the first waits for `wait`."""
    here, borrowed, reader = src, True, None
    last_download = max((n for n, step in enumerate(plan.steps) if step.op == "download"), default=None)
    to_host = last_download is not None and not any(step.op == "upload" for step in plan.steps[last_download:])
    for number, step in enumerate(plan.steps):
        into = target if number == len(plan.steps) - 1 else None
        name = label or f"{step.op} {src.name}"
        if to_host and number == last_download:
            reader = here.device
        after = _do(here, step, device, into, wait, queue, name, reader)
        if not borrowed:
            here.release()
        here, borrowed, wait = after, False, ()
    return here


def _do(
    here: Tensor, step: Step, device: Any, into: Tensor | None, wait: Waitable, queue: Queues, label: str, reader: Any
) -> Tensor:
    if step.where == HOST and reader is not None:
        return _step_of_reader(here, step, into, reader, queue, label)
    if step.where == HOST:
        return _host_step(here, step, into, wait, label)
    if step.op == "upload":
        return _upload(here, step, device, into, wait, queue, label)
    if step.op == "download":
        return _download(here, step.layout, into, wait, queue, label)
    return _device_step(here, step, device, into, wait, queue, label)


def _bytes_of(tensor: Tensor) -> np.ndarray:
    """The bytes of a tensor in host memory, which are there."""
    return cast(np.ndarray, cast(HostStorage, tensor.storage).data)


def _ready(here: Tensor, wait: Waitable) -> None:
    """The host needs the bytes now."""
    host_wait([wait, here.event])


def _host_step(here: Tensor, step: Step, into: Tensor | None, wait: Waitable, label: str) -> Tensor:
    _ready(here, wait)
    system = here.system
    system.timeline_host.charge(label, step.op, step.est_ns, step.nbytes)
    data = apply_host_step(_bytes_of(here), step, here.desc, here.layout)
    if into is not None:
        into.overwrite(data)
        return into
    return here.held_by(HostStorage(np.asarray(data), here.name), step.layout)


def _step_of_reader(here: Tensor, step: Step, into: Tensor | None, reader: Any, queue: Queues, label: str) -> Tensor:
    """A step on the host behind a download: a queue of the device that was read carries it out, so that no caller waits."""
    target = into or here.held_by(HostStorage(None, here.name), step.layout)
    desc, before, layout = here.desc, here.layout, target.layout
    reader.run_on_host(
        HOST_CONVERT, label, lambda data: convert(data, desc, before, layout), step.est_ns, here, target, queue=queue,
        nbytes=step.nbytes,
    )  # fmt: skip
    return target


def _upload(
    here: Tensor, step: Step, device: Any, into: Tensor | None, wait: Waitable, queue: Queues, label: str
) -> Tensor:
    _ready(here, ())
    target = into or here.empty(here.desc, step.layout, device, name=here.name)
    data = convert(_bytes_of(here), here.desc, here.layout, step.layout).tobytes()
    device.write(target, data, wait=wait, queue=queue, label=label)
    return target


def _download(here: Tensor, layout: Layout, into: Tensor | None, wait: Waitable, queue: Queues, label: str) -> Tensor:
    storage = HostStorage(None, here.name) if into is None else cast(HostStorage, into.storage)
    desc, before = here.desc, here.layout
    cast("SimAccelerator", here.device).read(
        here, storage, wait=wait, queue=queue, label=label or f"download {here.name}",
        arrived=lambda data: convert(data, desc, before, layout),
    )  # fmt: skip
    if into is None:
        return here.held_by(storage, layout)
    into.written()
    return into


def _device_step(
    here: Tensor, step: Step, device: Any, into: Tensor | None, wait: Waitable, queue: Queues, label: str
) -> Tensor:
    source = cast("SimAccelerator", here.device)
    owner = source if step.where == source.name else device
    if owner is not source:
        target = into or here.empty(here.desc, step.layout, owner, name=here.name)
        transfer_into(target, here, wait=wait, queue=queue, label=label)
        return target
    target = into or here.empty(here.desc, step.layout, owner, name=here.name)
    parameters = {"before": describe_tensor(here.desc, here.layout), "after": describe_layout(target.layout)}
    owner.run_function(
        step.op, label, CONVERT, step.est_ns, parameters=parameters, reads=[here], writes=[target], wait=wait,
        queue=queue, nbytes=step.nbytes,
    )  # fmt: skip
    return target


def _copy_alike(dst: Tensor, src: Tensor, wait: Waitable, queue: Queues, label: str) -> Event | None:
    if dst.device is None:
        _ready(src, wait)
        dst.system.timeline_host.charge(
            label or f"copy {src.name}",
            "copy",
            dst.system.rates.between(None, None).step_ns("copy", HOST, src.nbytes),
            src.nbytes,
        )
        dst.overwrite(_bytes_of(src))
        return dst.event
    return dst.device.queue_for(queue).copy(dst, src, wait=wait, label=label or None)
