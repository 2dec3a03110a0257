"""What C++ kernels cannot have here, by name: a machine-readable reason and what to do instead."""

import re

ADVICE = {
    "fabric": "docs/fabric.md#kernels says which calls of the fabric are there; others come with the library's own folder",
    "ethernet": "ethernet cores run no kernels here; let the host copy between chips",
    "llk": "use the compute API (copy_tile, add_tiles, matmul_tiles, ...) instead of the library behind it",
    "raw_instructions": "use the compute API instead of single Tensix instructions",
    "sfpi": "use a vector function of the API (exp_tile, ...); code for the vector unit itself cannot run",
    "dispatch": "kernels of the dispatcher itself cannot run; dispatch is modelled",
    "remote_circular_buffers": "global circular buffers are not modelled; use NoC writes and semaphores",
    "reduction": "use SUM, AVG or MAX",
    "data_format": "docs/hardware/kernel_api.md#data-formats-of-vector-calls lists the formats of each call",
    "mode": "use a value of the enumeration that the call documents",
    "hardware_registers": "registers of the chip cannot be reached; use the calls of the API",
    "firmware": "the firmware's own memory does not exist here; take times with DeviceZoneScopedN or get_timestamp()",
    "quasar": "the chip is not modelled",
    "prefetcher": "the prefetcher's pipes are not modelled; use NoC reads and circular buffers",
}
# A member of a namespace that is empty here
MEMBER = re.compile(
    r"no (?:\w+ )*(?:member|type|template) named '(\w+)' in namespace '(sfpi|ckernel::sfpu|ckernel::math)'"
)
MARK = re.compile(r"tensim refuses (\w+): ([^;\n\"]*)")
# Names that a kernel uses without any header of ours declaring them
NAMES = (
    (
        "raw_instructions",
        r"^(TTI?_|TT_OP_|INSTRUCTION_WORD|instrn_buffer|mop_|ckernel_template|ckernel_unpack_template)",
    ),
    (
        "sfpi",
        r"^(sfpi|vFloat|vInt|vUInt|dst_reg|v_if|v_else|v_endif|v_and|v_block|l_reg|_sfpu_|sfpu|calculate_|lut2?)\b",
    ),
    (
        "llk",
        r"^(_?llk_|t6_|p_|addr_mod_|ADDR_MOD|math::|cfg_|reg_read|reg_write|unpack_config|pack_config|THCON_|ALU_|zeroacc)",
    ),
    ("fabric", r"^(tt::tt_fabric|tt_fabric|fabric_|Fabric|WorkerToFabric|PACKET_HEADER|PacketHeaderPool|RoutingPlane)"),
    ("remote_circular_buffers", r"^(remote_cb_|resize_remote_|RemoteSenderCB|RemoteReceiverCB)"),
    ("ethernet", r"^(eth_|erisc|internal_::eth|ncrisc_eth)"),
    (
        "firmware",
        r"^(mailboxes_t|MEM_MAILBOX_BASE|GET_MAILBOX_ADDRESS|kernel_profiler|launch_msg_rd_ptr|kernel_config_msg_t|sem_l1_base)",
    ),
    (
        "hardware_registers",
        r"^(NOC_CMD_BUF_|READ_REG|WRITE_REG|NOC_STATUS_|NOC_CFG|NOC_CTRL|NIU_|noc_reg|noc_fast_|noc_cmd_buf_|ncrisc_noc_|"
        r"noc_\w+_(num_issued|acked)$)",
    ),
)
ABSENT = re.compile(
    r"'(?P<fabric>[^']*fabric[^']*)' file not found|'(?P<llk>[^']*(?:llk|ckernel)[^']*)' file not found"
)
UNDECLARED = re.compile(
    r"(?:use of undeclared identifier|unknown type name|no member named|no template named|no type named|"
    r"use of undeclared namespace|was not declared in this scope:?|is not a class, namespace[^']*) '([\w:~]+)'"
)


def refusal_of(messages, errors):
    """(reason, subject, what to do) when a kernel asks for what tensim does not model, else None."""
    marked = MARK.search(messages)
    if marked:
        return marked[1], marked[2], ADVICE.get(marked[1])
    for text in errors:
        absent = ABSENT.search(text)
        if absent:
            return absent.lastgroup, absent[0].strip("'"), ADVICE[absent.lastgroup]
        member = MEMBER.search(text)
        if member:
            reason = "llk" if member[2] == "ckernel::math" else "sfpi"
            return reason, f"{member[2]}::{member[1]}", ADVICE[reason]
        for name in UNDECLARED.findall(text):
            for reason, pattern in NAMES:
                if re.match(pattern, name):
                    return reason, name, ADVICE[reason]
    return None
