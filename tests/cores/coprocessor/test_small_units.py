"""Scalar, configuration, sync and counter units: each instruction against what the instruction set says."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tensim.sim.cores.coprocessor.instruction_table import CHIPS, instructions
from tensim.sim.cores.coprocessor.tile import Tile
from tensim.sim.errors import SimulatorError

WORD = st.integers(0, (1 << 32) - 1)


@pytest.fixture(params=CHIPS)
def chip(request):
    return request.param


def arithmetic(name, mode, a, b):
    """The scalar unit's results (ADDDMAREG.md and its neighbours)."""
    return {
        "ADDDMAREG": a + b, "SUBDMAREG": a - b, "MULDMAREG": (a & 0xFFFF) * (b & 0xFFFF),
        "BITWOPDMAREG": (a & b, a | b, a ^ b)[mode], "SHIFTDMAREG": (a << (b & 31), a >> (b & 31), 0)[mode],
        "CMPDMAREG": (a > b, a < b, a == b)[mode],
    }[name] & 0xFFFFFFFF  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(
    name=st.sampled_from(["ADDDMAREG", "SUBDMAREG", "MULDMAREG", "BITWOPDMAREG", "SHIFTDMAREG", "CMPDMAREG"]),
    mode=st.integers(0, 2), a=WORD, b=WORD, constant=st.integers(0, 31), is_constant=st.booleans(), thread=st.integers(0, 2),
)  # fmt: skip
def test_scalar_arithmetic(name, mode, a, b, constant, is_constant, thread):
    entry, tile = instructions("wormhole_b0")[name], Tile("wormhole_b0")
    mode = mode if "OpSel" in entry.fields else 0
    mode = min(mode, 1) if name == "SHIFTDMAREG" else mode
    tile.arrays.gprs[thread, 7], tile.arrays.gprs[thread, 9] = a, b
    select = {"OpSel": mode} if "OpSel" in entry.fields else {}
    operand = constant if is_constant else 9
    tile.execute(
        thread, [entry.word(OpARegIndex=7, OpBRegIndex=operand, ResultRegIndex=11, OpBisConst=is_constant, **select)]
    )
    assert tile.arrays.gprs[thread, 11] == arithmetic(name, mode, a, constant if is_constant else b)


def test_indirect_loads_and_stores_of_every_size(chip):
    table, tile = instructions(chip), Tile(chip)
    tile.l1[0x200:0x240] = np.arange(64)
    gprs = tile.arrays.gprs[1]
    gprs[4], gprs[40:44], gprs[8:16] = 0x200 // 16, 0xFFFFFFFF, 0
    words = [
        table["LOADIND"].word(AddrRegIndex=4, DataRegIndex=40, OffsetIndex=2 * 8, AutoIncSpec=3, SizeSel=0),
        table["LOADIND"].word(AddrRegIndex=4, DataRegIndex=45, OffsetIndex=2 * 8, AutoIncSpec=2, SizeSel=1),
        table["LOADIND"].word(AddrRegIndex=4, DataRegIndex=46, OffsetIndex=2 * 8, AutoIncSpec=1, SizeSel=2),
        table["LOADIND"].word(AddrRegIndex=4, DataRegIndex=47, OffsetIndex=2 * 8, SizeSel=3),
    ]
    tile.execute(1, words)
    assert gprs[40:44].tolist() == [0x03020100, 0x07060504, 0x0B0A0908, 0x0F0E0D0C]
    assert gprs[45:48].tolist() == [0x13121110, 0x1514, 0x16]
    assert gprs[8] == 22


def test_atomics_on_l1(chip):
    table, tile = instructions(chip), Tile(chip)
    gprs, words = tile.arrays.gprs[0], tile.l1[0x300:0x310].view("<u4")
    words[:] = 10, 20, 30, 40
    gprs[1], gprs[2] = 0x300 // 16, 5
    tile.execute(0, [table["ATINCGET"].word(AddrRegIndex=1, DataRegIndex=2, Sel32b=2, WrapVal=31)])
    assert (gprs[2], words.tolist()) == (30, [10, 20, 35, 40])
    gprs[4:8] = 1, 2, 3, 4
    tile.execute(0, [table["ATSWAP"].word(AddrRegIndex=1, DataRegIndex=4, SwapMask=0b11000011)])
    assert words.tolist() == [1, 20, 35, 4]
    words[0] = 7
    tile.execute(0, [table["ATCAS"].word(AddrRegIndex=1, CmpVal=7, SwapVal=9)])
    assert words[0] == 9


def test_configuration_by_thread_and_by_bank(chip):
    table, tile = instructions(chip), Tile(chip)
    tile.arrays.gprs[2, 4:8] = 0x11, 0x22, 0x33, 0x44
    words = [
        table["SETC16"].word(setc16_reg=0, setc16_value=1),  # bank 1
        table["WRCFG"].word(CfgReg=12, GprAddress=5),
        table["WRCFG"].word(CfgReg=16, wr128b=1, GprAddress=4),
        table["RMWCIB1"].word(CfgRegAddr=12, Data=0xAB, Mask=0xF0),
        table["RDCFG"].word(CfgReg=12, GprAddress=9),
    ]
    tile.execute(2, words)
    assert tile.arrays.config[1, 12] == 0xA022 and tile.arrays.config[0, 12] == 0
    assert tile.arrays.config[1, 16:20].tolist() == [0x11, 0x22, 0x33, 0x44]
    assert tile.arrays.gprs[2, 9] == 0xA022
    assert tile.arrays.thread_config[2, 0] == 1 and tile.arrays.thread_config[0, 0] == 0


def test_configuration_that_does_not_exist(chip):
    with pytest.raises(SimulatorError, match="CONFIG_INDEX.*WRCFG"):
        Tile(chip).execute(0, [instructions(chip)["WRCFG"].word(CfgReg=300)])


def test_semaphores_saturate_and_hold_up_threads(chip):
    table, tile = instructions(chip), Tile(chip)
    tile.execute(0, [table["SEMINIT"].word(sem_sel=0b101, init_value=1, max_value=2)])
    tile.execute(1, [table["SEMGET"].word(sem_sel=0b001)] * 3 + [table["SEMPOST"].word(sem_sel=0b100)] * 20)
    assert tile.arrays.semaphores["value"][:3].tolist() == [0, 0, 15]
    waits = table["SEMWAIT"].word(stall_res=0x1FF, sem_sel=1, wait_sem_cond=1)
    with pytest.raises(SimulatorError, match="stuck"):
        tile.execute(2, [waits, table["SEMPOST"].word(sem_sel=2)])
    assert tile.arrays.semaphores["value"][1] == 0
    tile.execute(0, [table["SEMPOST"].word(sem_sel=1)])
    assert tile.arrays.semaphores["value"][1] == 1  # the word that was held up has passed meanwhile


def test_a_mutex_has_one_holder(chip):
    table, tile = instructions(chip), Tile(chip)
    tile.execute(0, [table["ATGETM"].word(mutex_index=3)])
    with pytest.raises(SimulatorError, match="stuck"):
        tile.execute(1, [table["ATGETM"].word(mutex_index=3)])
    tile.execute(0, [table["ATRELM"].word(mutex_index=3)])
    assert tile.arrays.mutexes[3] == 1


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(
    st.sampled_from(["SETADCXY", "SETADCZW", "INCADCXY", "INCADCZW", "ADDRCRXY", "ADDRCRZW"]),
    st.integers(0, 15), st.tuples(*[st.integers(0, 7)] * 4), st.integers(1, 7)), max_size=12))  # fmt: skip
def test_addressing_counters(steps):
    """Any sequence of instructions on the counters, against their description (SETADCXY.md and its neighbours)."""
    table, tile = instructions("blackhole"), Tile("blackhole")
    model = {(owner, channel, axis): [0, 0] for owner in range(3) for channel in range(2) for axis in "xyzw"}
    limit = {"x": 1 << 18, "y": 1 << 13, "z": 1 << 8, "w": 1 << 8}
    words = []
    for name, bits, values, owners in steps:
        fields = dict(zip(("Ch0_X", "Ch0_Y", "Ch1_X", "Ch1_Y"), values, strict=True))
        mask = {} if name.startswith("INC") else {"BitMask": bits}
        words.append(table[name].word(CntSetMask=owners, **fields, **mask))
        axes = "xy" if name.endswith("XY") else "zw"
        for owner in range(3):
            for i, value in enumerate(values):
                key = (owner, i >> 1, axes[i & 1])
                if not owners >> owner & 1:
                    continue
                if name.startswith("INC"):
                    model[key][0] = (model[key][0] + value) % limit[key[2]]
                elif bits >> i & 1:
                    if name.startswith("SET"):
                        model[key] = [value, value]
                    else:
                        model[key] = [(model[key][1] + value) % limit[key[2]]] * 2
    tile.execute(1, words)
    for (owner, channel, axis), (value, base) in model.items():
        adc = tile.arrays.adcs[1, owner, channel]
        assert (adc[axis], adc[axis + "_cr"]) == (value, base)


@pytest.mark.parametrize("other", [0, 1, 2, 3])
def test_a_counter_of_another_thread_is_set_without_the_threads_number(other, chip):
    """Bits 16 and 17 name it, as kernels of tt-llk use them: an end of 255 datums stays one."""
    table, tile = instructions(chip), Tile(chip)
    entry = table["SETADC"]
    tile.execute(0, [entry.word(CntSetMask=1, ChannelIndex=1, DimensionIndex=0, Value=other << 16 | 255)])
    which = 0 if other == 0 else other - 1
    assert [int(tile.arrays.adcs[thread, 0, 1]["x"]) for thread in range(3)] == [
        255 * (thread == which) for thread in range(3)
    ]
