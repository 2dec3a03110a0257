"""tt-metal's names of headers.  All of them stand for the one header that has what this processor's kernels can call."""

FORWARD = """
dataflow_api.h compute_kernel_api.h dataflow_api_addrgen.h
api/dataflow/dataflow_api.h api/dataflow/noc.h api/dataflow/dataflow_buffer.h api/dataflow/circular_buffer.h
api/debug/dprint.h api/debug/assert.h debug/dprint.h debug/assert.h debug/waypoint.h api/debug/waypoint.h
"""


def forwarders():
    """{header name: text}."""
    return {name: '#pragma once\n#include "tensim/kernel.h"\n' for name in FORWARD.split()}
