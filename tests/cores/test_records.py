"""Records that kernels read by word and the engine by name: both mean the same words."""

from tensim.sim import state
from tensim.sim.cores import context as ctx

POINTERS = ("own_pointers", "level_cycles")


def test_columns_of_a_circular_buffer_are_fields_of_its_record():
    columns = {name.removeprefix("CB_").lower(): word for name, word in vars(ctx).items() if name.startswith("CB_")}
    fields = {name: offset // 8 for name, (_, offset, *_) in state.CIRCULAR_BUFFER.fields.items()}
    assert fields.items() & columns.items() == {(name, fields[name]) for name in fields.keys() & columns.keys()}
    assert set(POINTERS) < fields.keys() & columns.keys()
    assert state.CIRCULAR_BUFFER_BYTES == 8 * ctx.CB_WORDS
    assert state.CIRCULAR_BUFFER["level_cycles"].shape == (ctx.CB_LEVELS,)
