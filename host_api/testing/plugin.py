"""The pytest plugin: devices and runs for tests, and figures that are pinned in a file beside the test (docs/results.md).

pytest loads it by itself once tensim is installed.  Until a test uses it, it imports nothing of the simulator.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Collection, Generator, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from tensim.device import Device
    from tensim.results.result import Result
    from tensim.sim.host.executor import Simulation
    from tensim.testing.baseline import Pin

Entry: TypeAlias = tuple[str, str, str]  # baseline file, test, name
RUN = {"image_hash": True, "zones": True}  # what `tensim_run` measures unless it is told otherwise
_USED = pytest.StashKey["_Used"]()  # of the configuration: `_Used`


def pytest_addoption(parser: pytest.Parser) -> None:
    """--tensim-update."""
    parser.getgroup("tensim").addoption(
        "--tensim-update",
        action="store_true",
        help="Write what tests pin (tensim_pin, tensim_pin_array) into the files beside them, and remove what no test pins.",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Begin to note what is pinned."""
    config.stash[_USED] = _Used()


@pytest.fixture
def tensim_device(request: pytest.FixtureRequest) -> Iterator[Device]:
    """An open device; parametrised indirectly with a dict, that of these options of `tensim.create_device`.

    It belongs to a system of its own and is closed after the test, however that ends.
    """
    import tensim.device as host
    from tensim.sim.host.executor import Simulation

    before = host.current_system()
    host.use_system(Simulation())
    try:
        device = host.create_device(**getattr(request, "param", {}))
        yield device
        host.close_device(device)  # what was still queued may fail only now
    finally:
        _close_all(host.current_system())
        host.use_system(before)


@pytest.fixture
def tensim_run(request: pytest.FixtureRequest) -> Callable[..., Result]:
    """`tensim.run`, with image hash and profiler zones unless the test says otherwise.

    A program file is looked for beside the test, then in the working directory.
    """
    import tensim

    def run(program: Any, **settings: Any) -> Result:
        beside = request.path.parent / program if isinstance(program, str | os.PathLike) else None
        return tensim.run(beside if beside is not None and beside.is_file() else program, **(RUN | settings))

    return run


@pytest.fixture
def tensim_pin(tensim_pins: _Pins) -> Callable[..., None]:
    """`tensim_pin(result, name=None, tolerance=0)`: fail unless a result is what the file beside the test says.

    A wrong output fails in any case and is never written.
    Cycles, the time from start to end, profiler zones and cycles per core may move by the share `tolerance`, 0.01 for 1 %;
    whether the output was right and the hashes of the memories, if the result has them, are always those of the baseline.
    `name` tells several results of a test apart, by default that of the program.  `pytest --tensim-update` writes the file.
    """
    from tensim.testing import baseline

    pins = tensim_pins

    def pin(result: Result, name: str | None = None, tolerance: float = 0) -> None:
        __tracebackhide__ = True
        name = pins.use(name or result.name.rsplit("/", 1)[-1])
        if result.verified is False:
            pytest.fail(f"the output of {name} is wrong: {result['comparison']['text']}", pytrace=False)
        if pins.update:
            baseline.write(pins.path, pins.test, name, baseline.pin_of(result))
            return
        compared = baseline.compared(name, pins.pinned(name, "checked"), result)
        broken = baseline.broken(compared, tolerance)
        if broken:
            more = f" and {len(broken) - 3} more" if len(broken) > 3 else ""
            pytest.fail(
                f"not as {pins.path.name} says: {', '.join(broken[:3])}{more}"
                f"{f', beyond {tolerance:.3%}' if tolerance else ''}\n{compared.text()}\n"
                "If that is wanted, pytest --tensim-update writes the new figures.",
                pytrace=False,
            )

    return pin


@pytest.fixture
def tensim_pin_array(tensim_pins: _Pins) -> Callable[..., None]:
    """`tensim_pin_array(values, name="output", tolerance=None, pcc=None)`: fail unless an array is the one that was pinned.

    `tolerance`: the largest relative error ||values - pinned|| / ||pinned||, `pcc`: the least correlation coefficient; without
    both every value must be the same.  The array is kept as a .npy file in a folder beside the test.
    """
    from tensim.testing import arrays

    pins = tensim_pins

    def pin(values: ArrayLike, name: str = "output", tolerance: float | None = None, pcc: float | None = None) -> None:
        __tracebackhide__ = True
        pins.use(name)
        if pins.update:
            arrays.write(pins.path, pins.test, name, values)
            return
        found = arrays.differs(arrays.read(pins.path, pins.pinned(name, "array")), values, tolerance, pcc)
        if found:
            pytest.fail(
                f"{name} is not what {pins.path.name} says: {found}\n"
                "If that is wanted, pytest --tensim-update writes the new values.",
                pytrace=False,
            )

    return pin


@pytest.fixture
def tensim_pins(request: pytest.FixtureRequest) -> _Pins:
    """What `tensim_pin` and `tensim_pin_array` of a test share."""
    return _Pins(request)


class _Pins:
    """What one test pins: `path` of the baseline, the `test`, whether to `update`."""

    def __init__(self, request: pytest.FixtureRequest) -> None:
        from tensim.testing import baseline

        self.path, self.test = baseline.path_of(request.path), _test_of(request.node.nodeid)
        self.update = request.config.getoption("tensim_update")
        self._baseline, self._used = baseline, request.config.stash[_USED]
        self._seen: set[str] = set()

    def use(self, name: str) -> str:
        """Note that a name is pinned and return it; the test fails when it has pinned that one."""
        __tracebackhide__ = True
        if name in self._seen:
            pytest.fail(f"{name} is pinned twice in one test: give each a name=", pytrace=False)
        self._seen.add(name)
        self._used.pinned(self.path).add((self.test, name))
        return name

    def pinned(self, name: str, kind: str) -> Pin:
        """What the baseline says; the test fails when that is nothing, or of another kind."""
        __tracebackhide__ = True
        pinned = self._baseline.read(self.path).get(self.test, {}).get(name, {})
        if kind not in pinned:
            pytest.fail(
                f"{self.path} has no figures of {name} in {self.test}; pytest --tensim-update writes them",
                pytrace=False,
            )
        return pinned


# --- entries that no test pins


class _Used:
    """What the tests of a session are and pin, to find the entries of baselines that nobody pins any more."""

    def __init__(self) -> None:
        self.tests: dict[str, set[str]] = {}  # {test file: names of its tests}, of files that were collected whole
        self.passed: dict[str, set[str]] = {}  # {test file: tests that ran to their end}
        self._pinned: dict[str, set[tuple[str, str]]] = {}  # {baseline file: {(test, name)}}
        self.unused: set[Entry] = set()  # {(baseline file, test, name)}, of this process and its workers

    def pinned(self, path: Path) -> set[tuple[str, str]]:
        """{(test, name)} that tests have pinned in a baseline file."""
        return self._pinned.setdefault(str(path), set())

    def find_unused(self) -> set[Entry]:
        """{(baseline file, test, name)}: of tests that are gone, of names that a test no longer pins, of files that are gone."""
        found = set()
        for file, tests in self.tests.items():
            path = Path(file).with_suffix(".tensim.yaml")
            for test, names in self._entries(path):
                ended = test in self.passed.get(file, ())
                gone = [
                    name for name in names if test not in tests or (ended and (test, name) not in self.pinned(path))
                ]
                found |= {(str(path), test, name) for name in gone}
        for folder in {Path(file).parent for file in self.tests}:
            for path in folder.glob("*.tensim.yaml"):
                if not path.with_name(path.name.removesuffix(".tensim.yaml") + ".py").exists():
                    found |= {(str(path), test, name) for test, names in self._entries(path) for name in names}
        return found

    @staticmethod
    def _entries(path: Path) -> list[tuple[str, list[str]]]:
        """(test, its names) of a baseline file; none of one that cannot be read, which the test that uses it says."""
        if not path.exists():
            return []
        from tensim.sim.errors import UsageError
        from tensim.testing import baseline

        try:
            return [(test, list(names)) for test, names in baseline.read(path).items()]
        except UsageError:
            return []


def _test_of(node_id: str) -> str:
    return node_id.partition("::")[2]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Note the tests of every file that was collected whole: before -k and -m leave some out."""
    parts = {str(Path(word.partition("::")[0]).resolve()) for word in config.args if "::" in word}
    tests = config.stash[_USED].tests
    for item in items:
        if str(item.path) not in parts:
            tests.setdefault(str(item.path), set()).add(_test_of(item.nodeid))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Note the tests that ran to their end: what they did not pin then, they no longer pin."""
    report = yield
    if report.when == "call" and report.passed:
        item.config.stash[_USED].passed.setdefault(str(item.path), set()).add(_test_of(item.nodeid))
    return report


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Remove what nobody pins, if pins are updated; a worker of pytest-xdist tells its controller."""
    config = session.config
    used = config.stash[_USED]
    if session.testscollected:
        used.unused |= used.find_unused()
    if hasattr(config, "workeroutput"):
        config.workeroutput["tensim_unused"] = sorted(used.unused)
    elif config.getoption("tensim_update") and used.unused:
        _remove(used.unused)


def _remove(unused: Iterable[Entry]) -> None:
    from tensim.testing import arrays, baseline

    for path in {path for path, _, _ in unused}:
        entries, pins = [entry[1:] for entry in unused if entry[0] == path], baseline.read(Path(path))
        held = [pins.get(test, {}).get(name, {}) for test, name in entries]
        baseline.remove(Path(path), entries)
        arrays.remove(Path(path), [pin for pin in held if "array" in pin])


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """What a worker of pytest-xdist has found."""
    unused = getattr(node, "workeroutput", {}).get("tensim_unused", ())
    node.config.stash[_USED].unused |= {tuple(entry) for entry in unused}


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Name the entries that nobody pins."""
    unused = sorted(config.stash[_USED].unused)
    if not unused:
        return
    updated = config.getoption("tensim_update")
    terminalreporter.section(
        "tensim: " + ("removed what no test pins" if updated else "pinned figures that no test pins")
    )
    for path, test, name in unused:
        terminalreporter.line(f"{Path(path).name}: {name} in {test}")
    if not updated:
        terminalreporter.line("pytest --tensim-update removes them.")


# --- devices that a failed test left open


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """Close the devices that a test has opened and, because it failed, not closed: the next one opens its own."""
    before = _OpenDevices()
    try:
        return (yield)
    except BaseException:
        before.close_others()
        raise


class _OpenDevices:
    """The devices that are open now, of the host API and of ttnn, as far as either has been imported."""

    def __init__(self) -> None:
        host, ttnn = sys.modules.get("tensim.device"), sys.modules.get("tensim.ttnn.devices")
        self._system = None if host is None else host.current_system()
        self._numbers: set[int] = set() if self._system is None else set(self._system.executor.devices)
        self._ttnn = [] if ttnn is None else list(ttnn.open_devices().values())

    def close_others(self) -> None:
        """Close all that have been opened since."""
        from tensim.sim.errors import TensimError

        ttnn, host = sys.modules.get("tensim.ttnn.devices"), sys.modules.get("tensim.device")
        if ttnn is not None:
            for device in list(ttnn.open_devices().values()):
                if device not in self._ttnn:
                    with contextlib.suppress(TensimError):
                        ttnn.close_device(device)
        if host is None:
            return
        system = host.current_system()
        _close_all(system, self._numbers if system is self._system else ())
        if self._system is not None:
            host.use_system(self._system)


def _close_all(system: Simulation, without: Collection[int] = ()) -> None:
    """Close the devices of a system; what is queued on them may fail once more, which nobody waits for."""
    from tensim.sim.errors import TensimError
    from tensim.sim.host import commands

    for number in [number for number in system.executor.devices if number not in without]:
        with contextlib.suppress(TensimError):  # it is closed all the same
            system.executor.submit(commands.CloseDevice(number))
