"""Headers of the stand-in for the vendor's library, which say where its mailboxes lie (`stand_in.PLACES`): texts of ours."""

from tests.library.stand_in import IDLE_ETHERNET_GO, PLACES

FAMILIES = {"wormhole_b0": "wormhole", "blackhole": "blackhole"}
# Address of the mailboxes, and what `x << shift` the table of banks holds
LINKED_ETHERNET = 0x3DD50  # of Wormhole's Ethernet cores with a link; Blackhole's are those without
ROUTING_TABLES = {
    ("0.66.0", "wormhole_b0"): 27392, ("0.66.0", "blackhole"): 27968, ("0.81.1", "wormhole_b0"): 29504,
    ("0.81.1", "blackhole"): 34272,
}  # fmt: skip
BASES, SHIFTS = {"wormhole_b0": 0x10, "blackhole": 0x60}, {"wormhole_b0": 4, "blackhole": 0}
# Launch messages, in the order of memory (`stand_in.launch_message`): name, type, offset; at the end the size
MESSAGES = {
    "0.66.0": (
        ("sem_offset", "unsigned short", 12), ("local_cb_offset", "unsigned short", 18), ("rta_offset", "unsigned short", 22),
        ("mode", "unsigned char", 42),
        ("kernel_text_offset", "unsigned", 44), ("local_cb_mask", "unsigned", 64), ("host_assigned_id", "unsigned", 72),
        ("enables", "unsigned", 76), (None, None, 96),
    ),
    "0.81.1": (
        ("sem_offset", "unsigned short", 16), ("local_cb_offset", "unsigned short", 24), ("rta_offset", "unsigned short", 28),
        ("mode", "unsigned char", 48),
        ("kernel_text_offset", "unsigned", 52), ("local_cb_mask", "unsigned long long", 96), ("host_assigned_id", "unsigned", 108),
        ("enables", "unsigned", 112), (None, None, 144),
    ),
}  # fmt: skip
SIZES = {"unsigned char": 1, "unsigned short": 2, "unsigned": 4, "unsigned long long": 8}


def texts(release):
    """{path below the folder of the package: text} of the headers of a release that has a place in `stand_in.PLACES`."""
    inside = "tt_metal/hw/inc"
    found = {f"{inside}/hostdev/dev_msgs.h": _messages(release)}
    for chip, family in FAMILIES.items():
        launch, go, _, banks = PLACES[release, chip]
        base = BASES[chip]
        idle = IDLE_ETHERNET_GO[release, chip] - (go - base)
        numbers = {
            "MEM_MAILBOX_BASE": base, "MEM_IERISC_MAILBOX_BASE": idle,
            "MEM_AERISC_MAILBOX_BASE": LINKED_ETHERNET if chip == "wormhole_b0" else idle,
            "MEM_TENSIX_ROUTING_TABLE_BASE": ROUTING_TABLES[release, chip],
            "MEM_BANK_TO_NOC_SCRATCH": banks, "NOC_COORD_REG_OFFSET": SHIFTS[chip], "LAUNCH_AT": launch - base,
            "GO_AT": go - base,
        }  # fmt: skip
        found[f"{inside}/internal/tt-1xx/{family}/dev_mem_map.h"] = "".join(
            f"#define {name} {value}\n" for name, value in numbers.items()
        )
    return found


def _messages(release):
    lines, at = ["#pragma once", '#include "dev_mem_map.h"', "struct kernel_config_msg_t {"], 0
    for name, kind, offset in MESSAGES[release]:
        if offset > at:
            lines.append(f"    char before_{offset}[{offset - at}];")
        if name is not None:
            lines.append(f"    {kind} {name};")
            at = offset + SIZES[kind]
    lines += ["} __attribute__((packed));", "struct launch_msg_t { kernel_config_msg_t kernel_config; };"]
    lines += ["struct mailboxes_t {", "    char head[LAUNCH_AT];", "    launch_msg_t launch[1];"]
    lines += ["    char before_go[GO_AT - LAUNCH_AT - sizeof(launch_msg_t)];", "    unsigned go_messages[1];", "};", ""]
    return "\n".join(lines)
