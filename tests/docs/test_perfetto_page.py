"""The queries of docs/perfetto.md, asked of a timeline, where Perfetto's native program is there.

The environment variable TENSIM_TRACE_PROCESSOR names it (trace_processor_shell); the package would fetch it at first use.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "perfetto.md"
QUERIES = re.findall(r"^```sql\n(.*?)^```$", PAGE.read_text(), re.M | re.S)
PROGRAM = os.environ.get("TENSIM_TRACE_PROCESSOR")


def test_the_page_has_queries():
    assert len(QUERIES) == 4 and all(query.lstrip().startswith("SELECT") for query in QUERIES)


@pytest.mark.skipif(PROGRAM is None, reason="TENSIM_TRACE_PROCESSOR names no trace_processor_shell")
def test_every_query_answers(tmp_path):
    processor = pytest.importorskip("perfetto.trace_processor")
    timeline = tmp_path / "timeline.json"
    command = [
        Path(sys.executable).with_name("tensim"),
        "run",
        "matmul_multicast",
        "--shape",
        "128x128x128",
        "--grid",
        "2x2",
    ]
    subprocess.run([*command, "--timeline", timeline], check=True, capture_output=True, timeout=300)
    settings = processor.TraceProcessorConfig(bin_path=PROGRAM)
    with processor.TraceProcessor(trace=str(timeline), config=settings) as trace:
        for query in QUERIES:
            assert list(trace.query(query)), query
