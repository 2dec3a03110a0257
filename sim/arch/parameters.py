"""What the values of parameters may be: type and range of each, and how several must fit together.

Types and ranges are JSON schemas: those of a unit in units.json, narrower where a leaf of the model declares a `range`,
[lowest, highest], of whole numbers or (with a point) of any.
"""

import functools
import json
import operator
from pathlib import Path

import fastjsonschema

SHOWN = 60  # characters of a wrong value in a message

COMPARISONS = {
    "over": operator.gt,
    "under": operator.lt,
    "at least": operator.ge,
    "at most": operator.le,
    "a multiple of": lambda value, other: value % other == 0,
}
OVERLAPPED = "read", "read_dram", "read_stateful"  # calls with an overlap of their own
RELATIONS = (
    ("l1.reserved_end", "under", "l1.user_base"),
    ("l1.user_base", "under", "l1.size"),
    ("noc.max_packet_bytes", "a multiple of", "noc.flit_bytes"),
    *((f"riscv.issue.{read}_overlap", "under", f"riscv.issue.{read}") for read in OVERLAPPED),
    ("dram.user_base", "under", "dram.bank_bytes"),
    ("dram.banks", "a multiple of", "dram.banks_per_tile"),
    ("dram.write_high", "over", "dram.write_low"),
    ("dram.write_high", "at most", "dram.write_queue"),
    ("dram.interleaved_groups", "at most", "dram.bank_groups"),
    ("dram.bank_groups", "at most", "dram.internal_banks"),
    ("dram.transfers_per_clock", "at most", "dram.burst_length"),
    ("dram.t_rfc_ns", "under", "dram.t_refi_ns"),
    ("dram.t_ccd_s_ck", "at most", "dram.t_ccd_l_ck"),
    ("dram.t_rrd_s_ns", "at most", "dram.t_rrd_l_ns"),
    ("dram.t_wtr_s_ns", "at most", "dram.t_wtr_l_ns"),
    ("dram.t_rrd_s_ns", "at most", "dram.t_faw_ns"),
    ("dram.t_rcd_ns", "at most", "dram.t_ras_ns"),
    ("tensix.dst.tiles32", "at most", "tensix.dst.tiles16"),
    ("tensix.fifo.call_instructions", "at most", "tensix.fifo.unpack"),
    ("tensix.fifo.call_instructions", "at most", "tensix.fifo.math"),
    ("tensix.fifo.call_instructions", "at most", "tensix.fifo.pack"),
    ("tensix.fifo.reuse_instructions", "at most", "tensix.fifo.math"),
    ("dispatch.trace_page_min_bytes", "at most", "dispatch.trace_page_max_bytes"),
)
POWERS_OF_TWO = (
    "alignment.l1", "alignment.dram_read", "alignment.dram_write", "alignment.dram_page", "alignment.l1_page",
    "alignment.l1_block", "noc.flit_bytes", "dram.channel_bits", "dram.burst_length", "dram.transfers_per_clock",
    "dram.bank_groups", "dram.interleaved_groups", "dram.internal_banks", "dram.row_bytes",
)  # fmt: skip
LONGEST_ROUTE = 32  # links, as many as a packet of `tensim.sim.noc.packet` has room for
PACKET_FLITS = 10_000  # counted in 16 bits
ALIGNMENT = 16  # of the semaphores and arguments that begin behind l1.reserved_end
LAUNCH_BYTES = 16 * 16 + 5 * 1376  # semaphores, and arguments of each thread: `tensim.sim.chip.arrays`
DRAM_TILE_BYTES = 1 << 36  # what a NoC address reaches in a tile


@functools.cache
def units():
    """{unit: JSON schema of the values in it}."""
    return json.loads(Path(__file__).with_name("units.json").read_text())


def schema_of(unit, limits=None):
    """JSON schema of a parameter's values."""
    schema = units()[unit]
    if limits is None:
        return schema
    low, high = limits
    number = {"type": "number" if float in map(type, limits) else "integer", "minimum": low, "maximum": high}
    return schema | ({"items": number} if schema["type"] == "array" else number)


@functools.cache
def _validator(schema):
    return fastjsonschema.compile(json.loads(schema))


def checked(value, unit, limits=None):
    """The value, a whole number as int; ValueError that says what is allowed for one that is not."""
    schema = schema_of(unit, limits)
    try:
        _validator(json.dumps(schema))(value)
        if value != value:  # no number, which compares with no limit
            raise ValueError
    except (ValueError, fastjsonschema.JsonSchemaValueException):
        raise ValueError(f"is {_shown(value)}; it must be {_allowed(schema, unit)}") from None
    return int(value) if schema["type"] == "integer" else value


def _shown(value):
    text = repr(value)
    return text if len(text) <= SHOWN else text[:SHOWN] + "..."


def _allowed(schema, unit):
    """What a schema allows, in words."""
    if schema["type"] != "array":
        whole = "a whole number" if schema["type"] == "integer" else "a number"
        low, high = (int(limit) if limit == int(limit) else limit for limit in (schema["minimum"], schema["maximum"]))
        return f"from {low} to {high} ({whole}, in {unit})" if unit else f"from {low} to {high} ({whole})"
    items = schema["items"]
    if items["type"] == "string":
        return "a list of NoC coordinates 'x-y'"
    kind = "different whole numbers" if schema.get("uniqueItems") else "whole numbers"
    return f"a list [{unit}] of {kind} from {items['minimum']} to {items['maximum']}"


def contradiction(values):
    """(keys, what is wrong with them) of the first values of a chip that do not fit together, or None.

    `values`: {dotted key: plain value}, each of its own type and range.
    """
    if len(values["chip.noc_grid"]) != 2:
        return ("chip.noc_grid",), f"chip.noc_grid is [columns, rows], not {values['chip.noc_grid']}"
    if sum(values["chip.noc_grid"]) > LONGEST_ROUTE:
        return ("chip.noc_grid",), (
            f"chip.noc_grid is {values['chip.noc_grid']}; columns and rows together must be at most {LONGEST_ROUTE}, the links "
            "of a route"
        )
    if len(values["noc.translated_workers"]) not in (0, 2):
        return ("noc.translated_workers",), f"noc.translated_workers is [x, y], not {values['noc.translated_workers']}"
    for key, may_be_empty in (("dram.endpoints", False), ("dram.endpoints_noc1", True)):
        tiles = len(values[key])
        if tiles != values["dram.banks"] and not (may_be_empty and tiles == 0):
            as_noc0 = "; [] stands for the tiles of dram.endpoints" if may_be_empty else ""
            return ("dram.banks", key), f"{key} lists {tiles} tiles for {values['dram.banks']} banks{as_noc0}"
    for key in POWERS_OF_TWO:
        if values[key] & (values[key] - 1):
            return (key,), f"{key} is {values[key]}; it must be a power of two"
    for key, relation, other in RELATIONS:
        if not COMPARISONS[relation](values[key], values[other]):
            return (key, other), f"{key} is {values[key]}; it must be {relation} {other}, {values[other]}"
    if values["noc.max_packet_bytes"] > PACKET_FLITS * values["noc.flit_bytes"]:
        keys = "noc.max_packet_bytes", "noc.flit_bytes"
        return keys, f"noc.max_packet_bytes is {values['noc.max_packet_bytes']}, more than {PACKET_FLITS} flits"
    room = values["l1.user_base"] - -(-values["l1.reserved_end"] // ALIGNMENT) * ALIGNMENT
    if room < LAUNCH_BYTES:
        keys = "l1.user_base", "l1.reserved_end"
        return keys, (
            f"l1.user_base is {values['l1.user_base']}; between l1.reserved_end and it must be {LAUNCH_BYTES} B, for semaphores "
            f"and runtime arguments, not {room}"
        )
    burst = values["dram.burst_length"] * values["dram.channel_bits"] // 8
    if not 1 <= burst <= values["dram.row_bytes"]:
        keys = "dram.row_bytes", "dram.burst_length", "dram.channel_bits"
        return keys, f"dram.row_bytes is {values['dram.row_bytes']}; it must hold a burst, {burst} B"
    if values["dram.banks_per_tile"] * values["dram.bank_bytes"] > DRAM_TILE_BYTES:
        keys = "dram.bank_bytes", "dram.banks_per_tile"
        return keys, f"dram.bank_bytes is {values['dram.bank_bytes']}; the banks of a tile must fit into 64 GiB"
    return None
