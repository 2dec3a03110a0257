"""Registers that show the value of something else."""

from tensim.sim.cores.coprocessor.debug_registers import CONFIG_INDEX, CONFIG_VALUE, DEBUG, DST, ROW_COMMAND, ROW_VALUE
from tensim.sim.cores.coprocessor.state import DST_ROWS
from tensim.sim.cores.riscv.layout import WALL_CLOCK_HIGH, WALL_CLOCK_HIGH_AT, WALL_CLOCK_LOW
from tensim.sim.register_level import debug_daisychain


def show(tile):
    """Let registers that show something else have its value: a word of the configuration, the wall clock, a row of Dst, the
    daisychain."""
    bank, index = divmod(tile.word(DEBUG + CONFIG_INDEX) & 0x7FF, tile.config_words)
    tile.set_word(DEBUG + CONFIG_VALUE, int(tile.arrays.config[bank, index]) if bank < 2 else 0)
    for clock, value in (
        (WALL_CLOCK_LOW, tile.now),
        (WALL_CLOCK_HIGH, tile.now >> 32),
        (WALL_CLOCK_HIGH_AT, tile.now >> 32),
    ):
        tile.set_word(clock, value)
    tile.set_word(
        debug_daisychain.DATA, debug_daisychain.shown(tile.word(debug_daisychain.CONTROL), tile.cores.records["pc"])
    )
    command = tile.word(DEBUG + ROW_COMMAND)
    row, pair, array = command & 0xFFF, command >> 12 & 15, command >> 16 & 7
    if array == DST and row < DST_ROWS and pair < 8:
        low, high = (int(value) for value in tile.arrays.dst[row, 2 * pair : 2 * pair + 2])
        tile.set_word(DEBUG + ROW_VALUE, low | high << 16)
