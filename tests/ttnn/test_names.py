"""Names that `tensim.ttnn` does not have: what it says of them."""

import pytest

import tensim.ttnn as ttnn


def test_an_unknown_name_is_no_attribute():
    assert not hasattr(ttnn, "foo")
    with pytest.raises(AttributeError, match="tensim.ttnn has no 'foo'.*docs/ttnn.md.*ttnn.generic_op"):
        ttnn.foo  # noqa: B018


def test_near_names_are_told():
    with pytest.raises(AttributeError, match="has no 'generic_ops'; near it are generic_op"):
        ttnn.generic_ops  # noqa: B018


@pytest.mark.parametrize("name", ["matmul", "softmax", "all_gather", "experimental.paged_update_cache"])
def test_library_operations_name_the_way_out(name):
    operation = ttnn
    for part in name.split("."):
        operation = getattr(operation, part)
    with pytest.raises(RuntimeError, match=f"ttnn.{name} runs kernels of the vendor's library.*\n.*ttnn.generic_op"):
        operation(1)


@pytest.mark.parametrize("name", ["Mcast", "Mcast1D", "Mcast2D", "McastConfig", "reduce_planner.plan"])
def test_pipes_of_the_librarys_kernels_are_refused(name):
    call = ttnn
    for part in name.split("."):
        call = getattr(call, part)
    with pytest.raises(RuntimeError, match="multicast pipes or reduction plans.*\n.*noc_async_write_multicast"):
        call()
