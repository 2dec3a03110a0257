"""The wheel: what it installs, and that the installed package works by itself, outside the checkout."""

import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

import tensim
from release.wheel import OBJECTS, ROOT, add_objects, build, copy_sources, package_folders
from tensim.results.code_digest import code_digest
from tensim.sim.chip.first_compilation import compile_once
from tensim.sim.engine.cache import DIRECTORY, sources_digest
from tensim.sim.engine.processor import target

FOLDERS = package_folders()


def run(*command, cwd, **environment):
    """Standard output of a command that succeeds."""
    done = subprocess.run(command, cwd=cwd, env={**os.environ, **environment}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel of the sources, with the machine code of the engine that this process's cache holds."""
    folder, out = tmp_path_factory.mktemp("wheel"), tmp_path_factory.mktemp("out")
    copy_sources(folder)
    compile_once()
    add_objects(folder, DIRECTORY / "machine_code")
    return build(folder, out)


@pytest.fixture(scope="module")
def python(wheel, tmp_path_factory):
    """Python of an environment with the wheel and, by reference, the packages that tensim needs."""
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder, symlinks=True)
    python = folder / "bin" / "python"
    install = ("-m", "pip", "--python", str(python), "install", "-q", "--no-deps", "--no-index", str(wheel))
    run(sys.executable, *install, cwd=folder)
    packages = run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=folder).strip()
    Path(packages, "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return python


def contents(wheel):
    """Names of the wheel's files."""
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_one_name_is_installed(wheel):
    names = contents(wheel)
    assert {name.split("/")[0] for name in names} == {"tensim", f"tensim-{tensim.__version__}.dist-info"}
    with zipfile.ZipFile(wheel) as archive:
        (top_level,) = (name for name in names if name.endswith("top_level.txt"))
        assert archive.read(top_level).split() == [b"tensim"]


def test_every_file_of_the_package_folders_is_in_the_wheel(wheel):
    """Modules and what they read: parameters, schemas, kernels, the committed sample and baseline."""
    expected = set()
    for package, folder in FOLDERS.items():
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                expected.add(f"{package.replace('.', '/')}/{path.relative_to(ROOT / folder)}")
    assert {"tensim/validation/baseline.json", "tensim/validation/sample/gemm.csv"} <= expected
    found = {name for name in contents(wheel) if name.startswith("tensim/")}
    assert expected == {name for name in found if not name.startswith(f"tensim/{OBJECTS}/")}


def test_it_says_its_version(python, tmp_path):
    command = python.with_name("tensim")
    assert run(command, "--version", cwd=tmp_path) == f"tensim, version {tensim.__version__}\n"
    assert run(python, "-m", "tensim", "--version", cwd=tmp_path).endswith(f"version {tensim.__version__}\n")
    code = "import tensim, importlib.metadata as m; print(tensim.__file__, m.version('tensim') == tensim.__version__)"
    file, equal = run(python, "-c", code, cwd=tmp_path).split()
    assert Path(file).is_relative_to(python.parents[1]) and equal == "True"


def test_it_brings_the_pytest_plugin(python, tmp_path):
    code = "import importlib.metadata as m; print(*m.distribution('tensim').entry_points.select(group='pytest11'))"
    assert "value='tensim.testing.plugin'" in run(python, "-c", code, cwd=tmp_path)


def test_its_results_name_the_same_code_as_those_of_the_checkout(python, tmp_path):
    code = "from tensim.results.code_digest import code_digest; print(code_digest())"
    assert run(python, "-c", code, cwd=tmp_path).strip() == code_digest()


ENGINE = "loop.event_loop.run-*.o"


def test_its_commands_run(python, tmp_path):
    """It takes the machine code that the checkout has compiled: equal sources share it, wherever they lie.

    Looked at by the event loop's, for other tests may compile other code meanwhile.
    """
    command = python.with_name("tensim")
    run(sys.executable, "-m", "tensim", "run", "add_integers", cwd=ROOT)
    compiled = set(DIRECTORY.rglob(ENGINE))
    assert compiled
    assert "verified against numpy" in " ".join(run(command, "run", "add_integers", cwd=tmp_path).split())
    assert set(DIRECTORY.rglob(ENGINE)) == compiled
    assert "KIND" in run(command, "validate", "noc", "--help", cwd=tmp_path)
    run(command, "capture", "add_integers", "-o", "add.bin", cwd=tmp_path)
    assert "add.bin: ok" in run(command, "verify", "add.bin", cwd=tmp_path)


START = "from tensim.sim.engine.entry_points import run; import sys; print(run.is_compiled, 'numba' in sys.modules)"


def test_its_first_start_compiles_no_engine(wheel, python, tmp_path):
    """In an empty cache; where a source has changed, what it brings counts for nothing."""
    name = f"loop.event_loop.run-{target().name}.o"
    assert f"tensim/{OBJECTS}/{sources_digest()}/{name}" in contents(wheel)
    cache = str(tmp_path / "cache")
    assert run(python, "-c", START, cwd=tmp_path, TENSIM_CACHE_DIR=cache).split() == ["True", "False"]
    (packages,) = python.parents[1].glob("lib/python*/site-packages")
    brought = packages / "tensim" / OBJECTS / sources_digest()
    brought.rename(brought.with_name("of-other-sources"))
    try:
        assert run(python, "-c", START, cwd=tmp_path, TENSIM_CACHE_DIR=cache).split()[0] == "True", (
            "the cache has it now"
        )
        other = str(tmp_path / "other")
        assert run(python, "-c", START, cwd=tmp_path, TENSIM_CACHE_DIR=other).split()[0] == "False"
    finally:
        brought.with_name("of-other-sources").rename(brought)


def test_the_guides_program_runs(python, tmp_path):
    program = (ROOT / "docs" / "python_programs.md").read_text().split("```python\n")[1].split("```")[0]
    (tmp_path / "copy_pages.py").write_text(program)
    assert "cycles on the device" in run(python, "copy_pages.py", cwd=tmp_path)


def test_packages_of_other_peoples_names_do_no_harm(python, tmp_path):
    """Beside somebody's `sim`, `traces`, `host_api`, ... tensim imports its own."""
    for name in ("sim", "traces", "host_api", "examples", "validation", "cli"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("")
    code = "import sim, tensim as tt, tensim.sim.arch as a; print(tt.CoreCoord(1, 2).y, a.load_arch('blackhole').name)"
    assert run(python, "-c", code, cwd=tmp_path, PYTHONPATH=str(tmp_path)).split() == ["2", "blackhole"]
