"""What the module raises: errors of the host API that are also the Python exceptions ttnn's callers catch."""

from typing import Any, TypeVar, overload

from tensim.sim.errors import UsageError

T = TypeVar("T")


class ArgumentError(UsageError):
    """A value that the library refuses; the message names the class and the field."""


class ArgumentTypeError(UsageError, TypeError):
    """An argument of a type that a signature does not take."""


class NotAnOperation(ArgumentError):
    """A library operation whose device kernels tensim does not have."""

    kind = "not_an_operation"


@overload
def check_type(owner: str, field: str, value: object, types: type[T]) -> T: ...
@overload
def check_type(owner: str, field: str, value: object, types: tuple[type, ...]) -> Any: ...
def check_type(owner: str, field: str, value: object, types: type | tuple[type, ...]) -> object:
    """ArgumentTypeError unless `value` is one of `types` (a type or a tuple); returns it."""
    if not isinstance(value, types):
        names = " or ".join(item.__name__ for item in (types if isinstance(types, tuple) else (types,)))
        raise ArgumentTypeError(f"{owner}: {field} takes {names}, not {type(value).__name__}")
    return value


def unsigned(owner: str, field: str, value: Any, bits: int = 32) -> int:
    """A whole number of `bits` bits; ArgumentTypeError for floats, negative numbers and larger ones."""
    try:
        number = value.__index__()
    except (AttributeError, TypeError):
        raise ArgumentTypeError(f"{owner}: {field} takes unsigned whole numbers, not {value!r}") from None
    if not 0 <= number < 1 << bits:
        raise ArgumentTypeError(f"{owner}: {field}: {number} is not an unsigned {bits}-bit number")
    return number
