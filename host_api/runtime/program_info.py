"""What programs say of themselves: inputs, outputs and variants (docs/hardware/runtime.md#binaries-and-submit)."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tensim.runtime.arguments import layout_of
from tensim.runtime.layouts import Layout, TensorDesc
from tensim.runtime.placement import Affinity, Optimal, Promise

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from tensim.buffer import Buffer
    from tensim.device import Device as MetalDevice
    from tensim.program import Program
    from tensim.runtime.devices import AnyDevice


@dataclass(frozen=True)
class TensorInfo:
    """An input or output of a program.

    `placement`: where it must be when the program starts (None: the program's device); `const`: uploaded once per value;
    `aliases_output`: the output whose memory it may become when it is donated.
    """

    name: str
    desc: TensorDesc
    layout: Layout
    placement: Affinity | Promise | Optimal | None = None
    const: bool = False
    aliases_output: int | None = None

    def __post_init__(self) -> None:
        layout_of(self.layout, f"the description of {self.name}")

    @functools.cached_property
    def wanted(self) -> Layout:
        """The layout with its stored type named."""
        return self.layout.resolved(self.desc)


@dataclass(frozen=True)
class Variant:
    """One way to run a program.

    `target`: "sim", "host" or "embedded", or one with an architecture ("sim://blackhole").  `build(device, inputs, outputs)`:
    a host API `Program` over buffers; `rebind(program, inputs, outputs)`: gives a built program other buffers (None: it is
    built anew for other buffers).  `function(*arrays) -> arrays`: the same in numpy, in `cost_ns` (a number, or a function of
    the arrays' descriptions).
    """

    target: str = "sim"
    build: Callable[[MetalDevice, list[Buffer], list[Buffer]], Program] | None = None
    rebind: Callable[[Program, list[Buffer], list[Buffer]], object] | None = None
    function: Callable[..., Any] | None = None  # of as many arrays as there are inputs
    cost_ns: float | Callable[..., float] = 0.0

    def runs_on(self, device: AnyDevice) -> bool:
        """Whether it was made for a device, or for the chips of a mesh."""
        if hasattr(device, "devices"):
            return all(map(self.runs_on, device.devices))
        scheme, _, arch = self.target.partition("://")
        if arch and arch not in (device.info.arch, device.info.arch_name):
            return False
        if scheme == "host":
            return device.scheme == "host" or getattr(device, "timing", "cycle") == "functional"
        return device.scheme in (scheme, "embedded") and getattr(device, "timing", "cycle") == "cycle"


@dataclass(frozen=True)
class ProgramInfo:
    """A program: its face and its variants.  `goldens`: outputs of reference inputs, by name."""

    name: str
    inputs: tuple[TensorInfo, ...]
    outputs: tuple[TensorInfo, ...]
    variants: tuple[Variant, ...]
    private: bool = False
    mesh_shape: tuple[int, int] = (1, 1)
    placement: Affinity | Promise | Optimal | None = None
    goldens: Mapping[str, ArrayLike] = field(default_factory=dict)
