"""Runs the tests of a survey in the library's process: a selection of their parametrisations, a line of JSON for each.

This file is run by the library's Python, without tensim: it imports the standard library, pytest and the library.

    python child.py survey_child.py SETTINGS

SETTINGS is a JSON file: `folder`, that names are relative to; `files`, to run; `limit`, of parametrisations of a function;
`done`, names of tests to leave out; `own_configuration`, whether the folder's own files configure pytest; `root`, of the checkout
that the tests import from, or null; `report`, the file to write; `mesh`, [rows, columns] of the chips; `chosen`,
[{"function", "values"}]: of each the first parametrisation that has these values is run, and nothing else; [] for a selection by
`limit`.
"""

from __future__ import annotations

import json
import math
import os
import random
import sys
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import is_dataclass
from enum import Enum
from typing import Any, NoReturn

import pytest

# of tests that drive the device by themselves (the vendor's LLK suite)
OWN_OPTIONS = ["--run-simulator", "-q", "--tb=no", "-o", "log_cli=false", "-p", "no:cacheprovider"]
OWN_OPTIONS += ["--continue-on-collection-errors"]
LONGEST = 20_000  # characters of an error that are kept: its begin and its end


def shortened(text: str) -> str:
    """An error's text without its middle where that is long."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST // 2]}\n...\n{text[-LONGEST // 2 :]}"


def spread(items: list[Any], limit: int) -> list[Any]:
    """At most `limit` of some items, the first and the last among them, at even distances."""
    if len(items) <= limit:
        return items
    if limit == 1:
        return items[:1]
    return [items[round(i * (len(items) - 1) / (limit - 1))] for i in range(limit)]


def values_of(parameters: Mapping[str, Any]) -> dict[str, str]:
    """{name: value in words} of a parametrisation; of what has parts, each by its own name or its place (`combos[1]`)."""
    found = {}
    for name, value in parameters.items():
        if isinstance(value, Enum):
            found[name] = value.name
        elif isinstance(value, (list, tuple)):
            found |= {name: str(value)} | values_of({f"{name}[{place}]": part for place, part in enumerate(value)})
        elif is_dataclass(value) and not isinstance(value, type):
            found |= values_of(vars(value))
        else:
            found[name] = str(value)
    return found


def parameters_of(item: Any) -> dict[str, Any]:
    """A test's parameters by name."""
    return item.callspec.params if hasattr(item, "callspec") else {}


def first_of(items: list[Any], function: str, values: Mapping[str, str]) -> Any:
    """The first of some tests that is of a function and has these values; None where there is none."""
    candidates = (item for item in items if item.nodeid.partition("[")[0] == function)
    return next((item for item in candidates if values.items() <= values_of(parameters_of(item)).items()), None)


class Survey:
    """The hooks of pytest."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self._limit, self._done = settings["limit"], set(settings["done"])
        self._choices = settings["chosen"]
        self._reported: dict[Any, int] = {}  # rows of each report of a file's that are known
        self._file = open(settings["report"], "a", encoding="utf-8")
        self._found: dict[str, Any] = {}  # what the phases of the test that runs have brought

    def say(self, **record: Any) -> None:
        """Write a line."""
        self._file.write(json.dumps(record) + "\n")
        self._file.flush()

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: Any, items: list[Any]) -> None:
        """Leave at most so many parametrisations of each function, and of these what is not done."""
        functions = {}
        for item in items:
            functions.setdefault(item.nodeid.partition("[")[0], []).append(item)
        chosen = {item for group in functions.values() for item in spread(group, self._limit)}
        if self._choices:
            chosen = {first_of(items, choice["function"], choice["values"]) for choice in self._choices}
        self.say(selected=[item.nodeid for item in items if item in chosen])
        items[:] = [item for item in items if item in chosen and item.nodeid not in self._done]

    def pytest_collectreport(self, report: Any) -> None:
        """A file that cannot be imported, or that wants to be skipped, is one test."""
        if report.outcome != "passed" and report.nodeid not in self._done:
            self.say(test=report.nodeid, **self._outcome(report, "import"), seconds=0.0)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """A test begins."""
        self._found = {"outcome": "passed", "phase": "call", "error": "", "message": ""}
        self._seconds = 0.0
        self.say(begins=nodeid)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: Any, call: Any) -> Generator[None, Any, None]:
        """A phase of it has ended.  A device that could not be closed is no device for the next test: the process ends."""
        report = (yield).get_result()
        self._seconds += report.duration
        if report.outcome != "passed" and self._found["outcome"] != "failed":
            self._found = self._outcome(report, call.when, call.excinfo)
        if call.when == "call" and (times := self._times(item)):
            self._found |= {"values": values_of(parameters_of(item)), "times": times}
        if report.failed and call.when == "teardown":
            item.session.shouldstop = "a fixture could not be taken down"

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """A test ends."""
        self.say(test=nodeid, **self._found, seconds=round(self._seconds, 3))

    def _times(self, item: Any) -> list[dict[str, Any]]:
        """What a test of the LLK suite has measured: a row for each zone of its kernels, columns as in the suite's files."""
        report = item.funcargs.get("perf_report")
        if report is None:
            return []
        frame, known = report.frame(), self._reported.get(report, 0)
        self._reported[report] = len(frame)
        kept = [name for name in frame if name in ("marker", "loop_factor", "tile_cnt") or name.startswith("mean(")]
        return json.loads(frame[known:][kept].to_json(orient="records"))

    def _outcome(self, report: Any, phase: str, raised: Any = None) -> dict[str, Any]:
        if report.outcome == "skipped":
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else getattr(report, "wasxfail", "")
            return {"outcome": "skipped", "phase": phase, "error": "", "message": str(reason)}
        if raised is None:
            error, text = "", str(report.longrepr)
        elif isinstance(raised.value, pytest.FixtureLookupError):
            error, text = "", f"there is no fixture {raised.value.argname}"
        else:
            error, text = raised.type.__name__, str(raised.value)
        return {"outcome": "failed", "phase": phase, "error": error, "message": shortened(text)}


FABRIC = ("reliability_mode", "num_planes", "fabric_tensix_config")  # of `device_params`, beside "fabric_config"


class Fixtures:
    """What the vendor's `conftest.py` gives to its tests; `mesh`: (rows, columns) of the chips."""

    def __init__(self, mesh: tuple[int, int] = (1, 1)) -> None:
        self._mesh = mesh

    @pytest.fixture
    def device_params(self, request: Any) -> dict[str, Any]:
        """Arguments of `CreateDevice`, as a test parametrises them."""
        return getattr(request, "param", {})

    @pytest.fixture
    def device(self, device_params: dict[str, Any]) -> Iterator[Any]:
        """An open device, the default one, for one test."""
        import ttnn

        yield from opened(ttnn, lambda: ttnn.CreateDevice(device_id=0, **device_params), ttnn.close_device)

    @pytest.fixture
    def mesh_device(self, request: Any, device_params: dict[str, Any]) -> Iterator[Any]:
        """A mesh of the shape that a test asks for, (rows, columns) or so many chips, or of all chips; tests that ask for more are
        skipped."""
        rows, columns = self._mesh
        shape = getattr(request, "param", rows * columns)
        yield from self._opened_mesh((1, shape) if isinstance(shape, int) else shape, device_params)

    @pytest.fixture
    def n300_mesh_device(self, device_params: dict[str, Any]) -> Iterator[Any]:
        """A mesh of two chips."""
        yield from self._opened_mesh((1, 2), device_params)

    @pytest.fixture
    def t3k_mesh_device(self, device_params: dict[str, Any]) -> Iterator[Any]:
        """A mesh of eight chips."""
        yield from self._opened_mesh((2, 4), device_params)

    @pytest.fixture
    def bh_1d_mesh_device(self, device_params: dict[str, Any]) -> Iterator[Any]:
        """A mesh of one column with all chips."""
        yield from self._opened_mesh((self._mesh[0] * self._mesh[1], 1), device_params)

    @pytest.fixture
    def bh_2d_mesh_device(self, device_params: dict[str, Any]) -> Iterator[Any]:
        """A mesh of all chips as they are linked."""
        yield from self._opened_mesh(self._mesh, device_params)

    def _opened_mesh(self, shape: tuple[int, ...], device_params: dict[str, Any]) -> Iterator[Any]:
        import ttnn

        chips = self._mesh[0] * self._mesh[1]
        if math.prod(shape) > chips:
            there = "one chip is" if chips == 1 else f"{chips} chips are"
            pytest.skip(f"{there} simulated, the test wants a mesh of {shape}")
        settings = dict(device_params)
        fabric, more = settings.pop("fabric_config", None), {name: settings.pop(name, None) for name in FABRIC}
        if fabric is not None:
            ttnn.set_fabric_config(fabric, **{name: value for name, value in more.items() if value is not None})
        mesh = ttnn.MeshShape(*shape)
        yield from opened(ttnn, lambda: ttnn.open_mesh_device(mesh, **settings), ttnn.close_mesh_device)
        if fabric is not None:
            ttnn.set_fabric_config(ttnn.FabricConfig.DISABLED)

    @pytest.fixture(autouse=True)
    def reset_seeds(self) -> None:
        """The same random numbers in every test."""
        random.seed(0)
        if "numpy" in sys.modules:
            sys.modules["numpy"].random.seed(0)
        if "torch" in sys.modules:
            sys.modules["torch"].manual_seed(0)

    @pytest.fixture
    def function_level_defaults(self) -> None:
        """Nothing to set."""

    @pytest.fixture
    def is_ci_env(self) -> bool:
        """Not on the vendor's CI."""
        return False


def opened(ttnn: Any, open_one: Callable[[], Any], close: Callable[[Any], None]) -> Iterator[Any]:
    """A fixture's device."""
    device = open_one()
    ttnn.SetDefaultDevice(device)
    yield device
    close(device)


def main(path: str) -> NoReturn:
    with open(path, encoding="utf-8") as file:
        settings = json.load(file)
    sys.path.pop(0)  # this file's folder
    if settings["root"]:
        sys.path.append(settings["root"])  # behind what is installed
    survey = Survey(settings)
    survey.say(started=pytest.__version__)
    folder = settings["folder"]
    if settings["own_configuration"]:  # which looks at the command line
        os.chdir(folder)
        sys.argv[1:] = [*OWN_OPTIONS, *settings["files"]]
        sys.exit(pytest.main(sys.argv[1:], plugins=[survey]))
    options = ["-c", os.devnull, f"--rootdir={folder}", f"--confcutdir={folder}", "--import-mode=importlib"]
    options += ["-p", "no:cacheprovider", "--continue-on-collection-errors", "--tb=no", "-q", "--capture=fd"]
    plugins = [survey, Fixtures(tuple(settings["mesh"]))]
    sys.exit(pytest.main([*options, *settings["files"]], plugins=plugins))


if __name__ == "__main__":
    main(sys.argv[1])
