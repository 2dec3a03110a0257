"""`import tensim as tt`: which names there are, when they are imported, and what type checkers see of them."""

import ast
import inspect
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import tensim as tt

SOURCE = Path(tt.__file__)
LATER = ("run", "sweep", "compare", "measure", "trace")  # functions that the package may come to have


def imported_by(code):
    """Names of the top-level packages that are loaded after some code."""
    listing = f"import sys; {code}; print(*sorted({{name.partition('.')[0] for name in sys.modules}}))"
    return set(
        subprocess.run([sys.executable, "-c", listing], capture_output=True, text=True, check=True).stdout.split()
    )


@pytest.mark.parametrize("code", ["import tensim", "import tensim.sim", "import tensim.types, tensim.sim.arch.loader"])
def test_importing_the_package_loads_neither_compiler_nor_arrays(code):
    assert not {"numba", "numpy", "llvmlite", "matplotlib", "rich"} & imported_by(code)


@pytest.mark.parametrize("name", tt.__all__)
def test_a_public_name_is_there(name):
    assert name in dir(tt) and getattr(tt, name) is not None


def test_an_unknown_name_is_an_error():
    with pytest.raises(AttributeError, match="no_such_name"):
        tt.no_such_name  # noqa: B018


def test_type_checkers_see_the_same_names():
    """The block for type checkers imports each name from the module that the lazy import takes it from."""
    (block,) = (node for node in ast.parse(SOURCE.read_text()).body if isinstance(node, ast.If))
    seen = {(node.module, alias.name, alias.asname) for node in block.body for alias in node.names}
    assert seen == {(f"tensim.{module}", name, name) for name, module in tt._MODULES.items()}


def test_no_module_bears_the_name_of_a_public_function():
    """Importing it would put the module in the function's place."""
    modules = {module.name for module in pkgutil.iter_modules([str(SOURCE.parent)])}
    assert len(modules) > 10 and not modules & {*tt.__all__, *LATER}


def test_the_package_is_typed():
    assert SOURCE.with_name("py.typed").exists()


def parameters_without_annotation(function):
    signature = inspect.signature(function)
    missing = [
        name
        for name, one in signature.parameters.items()
        if one.annotation is one.empty and name not in ("self", "cls")
    ]
    returns = ["return"] if signature.return_annotation is signature.empty else []
    return missing + returns


@pytest.mark.parametrize("name", [name for name in tt.__all__ if inspect.isfunction(getattr(tt, name))])
def test_public_functions_are_annotated(name):
    assert parameters_without_annotation(getattr(tt, name)) == []


@pytest.mark.parametrize("name", [name for name in tt.__all__ if inspect.isclass(getattr(tt, name))])
def test_public_methods_are_annotated(name):
    own = vars(getattr(tt, name))
    methods = {
        key: getattr(value, "fget", None) or getattr(value, "__func__", value)
        for key, value in own.items()
        if not key.startswith("_") and (inspect.isfunction(value) or isinstance(value, property | classmethod))
    }
    assert {key: parameters_without_annotation(one) for key, one in methods.items()} == dict.fromkeys(methods, [])
