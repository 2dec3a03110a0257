"""How long an operation takes on the simulated chip: what a compiler ranks configurations by, without a card.

This file is run by the library's Python, in the program's process, without tensim: it imports nothing but the standard library.
The call has the name and the arguments of the library's C++ (`ttnn::graph::query_op_runtime`), which the wheel's Python does not
offer.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

SUCCESS, ERROR = "Success", "Error"


class RuntimeQueryResponse(NamedTuple):
    """`status`: "Success" or "Error"; `runtime`: ns on the device; `error_message`: what the library says."""

    status: str
    runtime: int | None = None
    error_message: str | None = None


class RunTimes:
    """`elapsed()`: ns that programs have taken on the device so far; `described(arguments, named)`: tensors and settings of a
    call, as JSON allows."""

    def __init__(
        self, library: Any, elapsed: Callable[[], int], described: Callable[[Sequence[Any], Mapping[str, Any]], Any]
    ) -> None:
        self._library, self._elapsed, self._described = library, elapsed, described
        self._known = {}  # call, as text -> its time

    def query_op_runtime(
        self, operation: Callable[..., Any], device: Any, *arguments: Any, **named: Any
    ) -> RuntimeQueryResponse:
        """The time of `operation(*arguments, **named)`, in which a `TensorSpec` stands for a tensor of its own on `device`.

        All programs that it launches count.  Equal calls, wherever their tensors lie, are simulated once.  What it returns and
        the tensors that stand for specifications are freed; tensors that were given stay.
        """
        key = self._key(operation, arguments, named)
        if key not in self._known:
            made = []
            try:
                self._known[key] = self._time(operation, device, arguments, named, made)
            except Exception as error:  # of whatever class the library has for it
                return RuntimeQueryResponse(ERROR, None, str(error).splitlines()[0] if str(error) else repr(error))
            finally:
                for tensor in made:
                    self._library.deallocate(tensor)
        return RuntimeQueryResponse(SUCCESS, self._known[key])

    def _time(
        self,
        operation: Callable[..., Any],
        device: Any,
        arguments: Sequence[Any],
        named: Mapping[str, Any],
        made: list[Any],
    ) -> int:
        arguments = [self._tensor(value, device, made) for value in arguments]
        named = {name: self._tensor(value, device, made) for name, value in named.items()}
        before = self._elapsed()
        result = operation(*arguments, **named)
        after = self._elapsed()
        given = {id(value) for value in (*arguments, *named.values())}
        made += [one for one in _tensors(result) if id(one) not in given and _is_on_device(one)]
        return after - before

    def _tensor(self, value: Any, device: Any, made: list[Any]) -> Any:
        if not isinstance(value, self._library.TensorSpec):
            return value
        made.append(self._library.allocate_tensor_on_device(value, device))
        return made[-1]

    def _key(self, operation: Callable[..., Any], arguments: Sequence[Any], named: Mapping[str, Any]) -> str:
        specs = [
            f"{value.shape} {value.dtype} {value.layout} {value.tile} {value.memory_config}"
            for value in (*arguments, *named.values())
            if isinstance(value, self._library.TensorSpec)
        ]
        name = getattr(operation, "python_fully_qualified_name", repr(operation))
        return json.dumps([name, self._described(arguments, named), specs], sort_keys=True)


def _tensors(result: Any) -> list[Any]:
    if isinstance(result, (list, tuple)):
        return [one for part in result for one in _tensors(part)]
    return [result] if hasattr(result, "layout") else []


def _is_on_device(tensor: Any) -> bool:
    return str(tensor.storage_type()).rsplit(".", 1)[-1] != "HOST" and tensor.is_allocated()
