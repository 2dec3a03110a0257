"""The pytest plugin: devices and runs for tests, and figures that are pinned in a file beside the test (docs/results.md).

pytest loads it by itself once tensim is installed.  Until a test uses it, it imports nothing of the simulator.
"""

import contextlib
import sys

import pytest

RUN = {"image_hash": True, "zones": True}  # what `tensim_run` measures unless it is told otherwise


def pytest_addoption(parser):
    """--tensim-update."""
    parser.getgroup("tensim").addoption(
        "--tensim-update", action="store_true", help="Write what tests pin (tensim_pin) into the files beside them."
    )


@pytest.fixture
def tensim_device(request):
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
def tensim_run():
    """`tensim.run`, with image hash and profiler zones unless the test says otherwise."""
    import tensim

    return lambda program, **settings: tensim.run(program, **(RUN | settings))


@pytest.fixture
def tensim_pin(request):
    """`tensim_pin(result, name=None, tolerance=0)`: fail unless a result is what the file beside the test says.

    A wrong output fails in any case and is never written.
    Cycles, profiler zones and cycles per core may move by the share `tolerance`, 0.01 for 1 %; whether the output was right and
    the hashes of the memories, if the result has them, are always those of the baseline.  `name` tells several results of a
    test apart, by default that of the program.  `pytest --tensim-update` writes the file.
    """
    from tensim.testing import baseline

    path, seen = baseline.path_of(request.path), []
    test = request.node.nodeid.partition("::")[2]

    def pin(result, name=None, tolerance=0):
        __tracebackhide__ = True
        name = name or result.name.rsplit("/", 1)[-1]
        if name in seen:
            pytest.fail(f"{name} is pinned twice in one test: give each a name=", pytrace=False)
        seen.append(name)
        if result.verified is False:
            pytest.fail(f"the output of {name} is wrong: {result['comparison']['text']}", pytrace=False)
        measured = baseline.pin_of(result)
        if request.config.getoption("tensim_update"):
            baseline.write(path, test, name, measured)
            return
        pinned = baseline.read(path).get(test, {}).get(name)
        if pinned is None:
            pytest.fail(f"{path} has no figures of {name} in {test}; pytest --tensim-update writes them", pytrace=False)
        compared = baseline.compared(name, pinned, measured)
        broken = baseline.broken(compared, tolerance)
        if broken:
            more = f" and {len(broken) - 3} more" if len(broken) > 3 else ""
            pytest.fail(
                f"not as {path.name} says: {', '.join(broken[:3])}{more}"
                f"{f', beyond {tolerance:.3%}' if tolerance else ''}\n{compared.text()}\n"
                "If that is wanted, pytest --tensim-update writes the new figures.",
                pytrace=False,
            )

    return pin


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Close the devices that a test has opened and, because it failed, not closed: the next one opens its own."""
    before = _OpenDevices()
    try:
        return (yield)
    except BaseException:
        before.close_others()
        raise


class _OpenDevices:
    """The devices that are open now, of the host API and of ttnn, as far as either has been imported."""

    def __init__(self):
        host, ttnn = sys.modules.get("tensim.device"), sys.modules.get("tensim.ttnn.devices")
        self._system = None if host is None else host.current_system()
        self._numbers = set() if host is None else set(self._system.executor.devices)
        self._ttnn = [] if ttnn is None else list(ttnn.open_devices().values())

    def close_others(self):
        """Close all that have been opened since."""
        from tensim.sim.errors import TensimError

        ttnn, host = sys.modules.get("tensim.ttnn.devices"), sys.modules.get("tensim.device")
        for device in [] if ttnn is None else list(ttnn.open_devices().values()):
            if device not in self._ttnn:
                with contextlib.suppress(TensimError):
                    ttnn.close_device(device)
        if host is None:
            return
        system = host.current_system()
        _close_all(system, self._numbers if system is self._system else ())
        if self._system is not None:
            host.use_system(self._system)


def _close_all(system, without=()):
    """Close the devices of a system; what is queued on them may fail once more, which nobody waits for."""
    from tensim.sim.errors import TensimError
    from tensim.sim.host import commands

    for number in [number for number in system.executor.devices if number not in without]:
        with contextlib.suppress(TensimError):  # it is closed all the same
            system.executor.submit(commands.CloseDevice(number))
