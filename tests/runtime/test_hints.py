"""Does every error of the runtime say what to do?"""

import ast
from pathlib import Path

import pytest

import tensim.runtime.errors as runtime_errors
from tensim.sim import errors

FILES = sorted(Path(runtime_errors.__file__).parent.glob("*.py"))
ERRORS = {
    name
    for module in (errors, runtime_errors)
    for name, found in vars(module).items()
    if isinstance(found, type) and issubclass(found, errors.TensimError) and name != "SpecSyntax"  # it has its own
}
# Failures of commands, whose hint CommandFailed gives
ERRORS -= {"CommandFault"}


@pytest.mark.parametrize("file", FILES, ids=[file.stem for file in FILES])
def test_every_error_has_a_hint(file):
    calls = (node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Call))
    without = [
        call.lineno
        for call in calls
        if getattr(call.func, "id", "") in ERRORS and not any(keyword.arg == "hint" for keyword in call.keywords)
    ]
    assert not without, f"{file.name}, lines {without}"
