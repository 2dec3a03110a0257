"""docs/kernel_api.md: its tables are those of the kernel compiler."""

from docs import write_kernel_api
from tensim.sim.cores.kernels.lowering_calls import METHODS, SPECIAL_METHODS, call_names
from tensim.sim.cores.kernels.lowering_inlining import library


def test_the_page_is_up_to_date():
    text = write_kernel_api.PAGE.read_text()
    assert write_kernel_api.page(text) == text, "run python -m docs.write_kernel_api"


def test_the_page_names_every_call():
    text = write_kernel_api.PAGE.read_text()
    missing = [
        name for name in call_names() if f"`{name}`" not in text and f"`{name}(" not in text and f"`{name}[" not in text
    ]
    assert [name for name in missing if not name.endswith("_tile_init")] == []


def test_the_page_names_every_method():
    listed = {(kind, method) for kind, methods in write_kernel_api.METHODS.items() for method in methods}
    assert {name for name in SPECIAL_METHODS if not name.startswith("dspec_")} <= {
        f"{kind}_{method}" for kind, method in listed
    }
    for (kind, method), function in METHODS.items():
        if function.startswith("_"):  # written out on the page, since the library's function has no name of its own
            names = [argument.arg for argument in library()[function].tree.args.args]
            own = "sem_addr" if kind == "semaphore" else "noc"
            assert write_kernel_api.parameters(write_kernel_api.METHODS[kind][method][0]).keys() == set(names) - {own}
