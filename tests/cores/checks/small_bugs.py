"""Small programs with a mistake each, and how the tests see that it is found, named and placed."""

import pytest

import tensim as tt
from tensim.kernel_api import *  # noqa: F403
from tensim.sim.errors import TensimError
from tests.cores.checks.small_programs import FIRST, FOURTH, SECOND, checked

# ruff: noqa: F405

BOTH, ALL = tt.CoreRange(FIRST, SECOND), tt.CoreRange(FIRST, FOURTH)


@kernel
def push_three(count):
    for _ in range(count):
        cb_reserve_back(0, 1)
        cb_push_back(0, 1)


def bug_of(bugs):
    """A decorator that adds to `bugs` a program refused with a `kind`, at a line with `source` in it ("": at none of a kernel)."""

    def bug(kind, source):
        return lambda function: bugs.setdefault(function.__name__, (function, kind, source)) and function

    return bug


def check_is_found(name, program, kind, source):
    """A program is refused with its error, which has a hint and the place."""
    if name.endswith("cpp"):
        pytest.importorskip("ziglang", reason="C++ kernels need the extra tensim[cpp]")
    with pytest.raises(TensimError) as caught:
        checked(program)
    error = caught.value
    assert error.kind == kind and error.hint, error
    assert source in error.where.get("source", ""), error
    if not source:
        assert error.where["other"], error
