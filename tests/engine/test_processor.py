"""Which processors share machine code."""

import pytest

from tensim.sim.engine import processor
from tensim.sim.engine.processor import X86_64_V3, target

FLAGS = {"model": "17", "flags": " ".join(sorted(X86_64_V3 | {"fpu", "avx512f"}))}


@pytest.fixture
def told(monkeypatch):
    """Says what Linux tells of the processor, and gives its target."""
    for name in processor.BY_HAND:
        monkeypatch.delenv(name, raising=False)

    def told(words):
        target.cache_clear()
        monkeypatch.setattr(processor, "_told_by_linux", lambda: words)
        return target()

    yield told
    target.cache_clear()


def test_processors_of_a_level_share_it(told):
    assert told(FLAGS) == told(FLAGS | {"model": "18"}) == ("x86_64_v3", "x86-64-v3")


@pytest.mark.parametrize("extension", sorted(X86_64_V3))
def test_one_that_lacks_an_extension_is_for_itself(extension, told):
    less = FLAGS | {"flags": " ".join(sorted(X86_64_V3 - {extension}))}
    assert told(less).cpu is None and told(less) != told(less | {"model": "18"})


def test_another_operating_system_asks_llvm(told):
    assert told({}).cpu is None and len(told({}).name) == 8


@pytest.mark.parametrize("name", processor.BY_HAND)
def test_who_chooses_a_processor_gets_it(name, told, monkeypatch):
    before = told(FLAGS)
    monkeypatch.setenv(name, "generic")
    assert told(FLAGS).cpu is None and told(FLAGS) != before
