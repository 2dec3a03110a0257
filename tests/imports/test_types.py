"""Tools find the package's modules in a checkout and behind an editable install: `typings` has a link for each."""

import ast
import inspect
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import tensim
import tensim.ttnn as ttnn
from tensim.ttnn._names import MODULE_OF

ROOT = Path(__file__).parents[2]
LINKS = ROOT / "typings/tensim"
INSTALLED = ROOT / "typings/installed"  # what an editable install has on its path (setup.py)
USER = """
import numpy as np

import tensim as tt
from tensim.examples.common import *
from tensim.examples.result import ExampleResult
from tensim.kernel_api import *
from tensim.sim.arch import load_arch
from tensim.traces import noc_events


@kernel
def reader(address: int, tiles: int) -> None:
    source = InterleavedAddrGen(address, page_size=get_tile_size(0), dram=True)
    for i in range(tiles):
        cb_reserve_back(0, 1)
        noc_async_read_tile(i, source, get_write_ptr(0))
        noc_async_read_barrier()
        cb_push_back(0, 1)


RUN


reveal_type(tt.create_device)
reveal_type(noc_events.TYPE_NAMES)
"""
TTNN = """
import numpy as np

import tensim.ttnn as ttnn


def doubled(device: ttnn.MeshDevice, source: str) -> list[float]:
    values = ttnn.from_torch(np.ones((32, 32), np.float32), ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    output = ttnn.allocate_tensor_on_device(ttnn.Shape([32, 32]), ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    core = ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), ttnn.CoreCoord(0, 0))])
    words = [*ttnn.TensorAccessorArgs(values).get_compile_time_args(), output.buffer_address()]
    reader = ttnn.KernelDescriptor(
        source, core_ranges=core, compile_time_args=words, runtime_args=[((0, 0), [values.buffer_address()])],
        config=ttnn.ReaderConfigDescriptor(),
    )
    page = ttnn.CBFormatDescriptor(0, ttnn.bfloat16, ttnn.tile_size(ttnn.bfloat16))
    program = ttnn.ProgramDescriptor([reader], cbs=[ttnn.CBDescriptor(2 * page.page_size, core, [page])])
    result = 2 * ttnn.generic_op([values, output], program) - ttnn.add(values, 1)
    return [float(value) for value in result.to_list()[0]]


reveal_type(ttnn.open_device)
reveal_type(ttnn.KernelDescriptor.compile_time_args)
reveal_type(ttnn.types.Shape([1]).rank)
"""
UNTYPED = "def run(device, *, shape, dtype, fidelity, grid, rng):"
TYPED = """def run(
    device: tt.Device, *, shape: tuple[int, int], dtype: tt.DataFormat, fidelity: tt.MathFidelity, grid: tuple[int, int],
    rng: np.random.Generator,
) -> ExampleResult:"""


def expected():
    """{name: what it links to} of `typings/tensim`: what lies in the package's own folder, and its folders beside it."""
    folders = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-dir"]
    own = folders.pop("tensim")
    listed = subprocess.run(
        ["git", "ls-files", own], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    names = {Path(path).relative_to(own).parts[0] for path in listed}
    links = {name: f"../../{own}/{name}" for name in names}
    links["__init__.pyi"] = links["__init__.py"]  # a package of stubs has one
    return links | {package.removeprefix("tensim."): f"../../{folder}" for package, folder in folders.items()}


def test_every_module_has_its_link():
    assert {path.name: str(path.readlink()) for path in LINKS.iterdir() if path.is_symlink()} == expected()


def user():
    """The README's program with types, a kernel in Python, and modules that tools use."""
    square = re.search(r"^# square.py\n.*?^(def run.*?)^```", (ROOT / "README.md").read_text(), re.M | re.S)[1]
    assert UNTYPED in square
    return USER.replace("RUN", square.replace(UNTYPED, TYPED))


def test_a_checker_follows_an_editable_install_from_a_folder_of_the_users(tmp_path):
    assert (INSTALLED / "tensim-stubs").readlink() == Path("../tensim")
    (tmp_path / "program.py").write_text(user())
    (tmp_path / "ttnn_program.py").write_text(TTNN)
    files = ["program.py", "ttnn_program.py"]
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", tmp_path / "cache", *files]
    environment = {**os.environ, "MYPYPATH": str(INSTALLED)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    told = {file: [line for line in done.stdout.splitlines() if line.startswith(file)] for file in files}
    assert "def (" in told[files[0]][0] and "tuple[" in told[files[0]][1], done.stdout
    assert "MeshDevice" in told[files[1]][0] and "VectorUInt32" in told[files[1]][1], done.stdout
    assert "int" in told[files[1]][2], done.stdout


def test_the_ttnn_names_that_tools_see_are_those_that_programs_get():
    (block,) = (node for node in ast.parse(Path(ttnn.__file__).read_text()).body if isinstance(node, ast.If))
    imports = [node for node in block.body if isinstance(node, ast.ImportFrom)]
    seen = {
        alias.asname: node.module.removeprefix("tensim.ttnn").strip(".") for node in imports for alias in node.names
    }
    assert seen == MODULE_OF | dict.fromkeys(ttnn.SUBMODULES, "")


def test_an_editable_install_has_that_folder_on_its_path(tmp_path):
    build = "import sys; from setuptools.build_meta import build_editable; print(build_editable(sys.argv[1]))"
    done = subprocess.run([sys.executable, "-c", build, tmp_path], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        assert archive.read("tensim_types.pth").decode() == f"{INSTALLED}\n"


def public_functions(module):
    """(name, function) of the functions that a module exports, of its classes their public methods and properties."""
    for name, value in ((name, getattr(module, name)) for name in dir(module) if not name.startswith("_")):
        if inspect.isfunction(value):
            yield name, value
        for inner, member in vars(value).items() if inspect.isclass(value) else ():
            function = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
            if not inner.startswith("_") and inspect.isfunction(function):
                yield f"{name}.{inner}", function


def test_what_the_host_api_exports_has_complete_signatures():
    functions = [
        (name, function) for name, function in public_functions(tensim) if function.__module__.startswith("tensim")
    ]
    assert len(functions) > 100
    for name, function in functions:
        signature = inspect.signature(function)
        untyped = [
            p.name for p in signature.parameters.values() if p.annotation is p.empty and p.name not in ("self", "cls")
        ]
        assert not untyped and signature.return_annotation is not signature.empty, f"{name}: {untyped}"
