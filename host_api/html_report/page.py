"""The page: a result's data in the template, every text escaped, no resource from outside."""

from __future__ import annotations

import functools
import html
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tensim.analysis.verdict import headline
from tensim.html_report import figures
from tensim.html_report.sources import sources
from tensim.sim.output_files import write_output

if TYPE_CHECKING:
    import jinja2

TEMPLATE = "report.html"
SHOWN = {
    "what_if": 30,
    "operations": 200,
    "by_operation": 40,
    "links": 12,
    "channels": 64,
    "fabric_links": 64,
    "kernels": 40,
}  # rows of tables
FRAME_HEIGHT = 900  # pixels of the page in a notebook


def html_page(data: Mapping[str, Any]) -> str:
    """The HTML text of a simulation; `data`: what `Result.to_dict` gives.

    It works for results without verdicts, cores or sources, as of an older tensim: what is not there is left out.
    """
    operations, occupancy = data.get("operations"), data.get("occupancy") or {}
    return _template().render(
        data=data,
        identity=data.get("identity") or {},
        verdict=data.get("verdict"),
        headline=headline(data["verdict"]) if data.get("verdict") else None,
        advice=data.get("advice") or [],
        what_if=sorted(data.get("what_if") or [], key=lambda one: -(one["gain_pct"] or 0))[: SHOWN["what_if"]],
        tiles=figures.key_figures(data),
        grid=figures.grid(data.get("cores")),
        roofline=figures.roofline(data.get("roofline")),
        threads=figures.thread_bars(data.get("breakdown") or {}),
        buffers=figures.buffers(data.get("circular_buffers") or []),
        strip=figures.strip(data.get("launches") or [], data.get("programs") or []),
        sources=sources(data.get("lines") or []),
        operations=operations[: SHOWN["operations"]] if isinstance(operations, list) else [],
        by_operation=(data.get("by_operation") or [])[: SHOWN["by_operation"]],
        links=figures.with_occupancy(
            (data.get("noc") or {}).get("links", [])[: SHOWN["links"]],
            occupancy.get("links", []),
            "noc",
            "from",
            "kind",
        ),
        channels=figures.with_occupancy(
            (data.get("dram") or {}).get("channels", [])[: SHOWN["channels"]], occupancy.get("channels", []), "channel"
        ),
        mesh=figures.mesh(data.get("fabric")),
        fabric_links=sorted(
            (row for row in (data.get("fabric") or {}).get("links", []) if row["packets"]),
            key=lambda row: -row["line_share"],
        )[: SHOWN["fabric_links"]],
        spark=figures.SPARK,
        kernels=(data.get("identity") or {}).get("kernels", [])[: SHOWN["kernels"]],
    )


def notebook_frame(data: Mapping[str, Any]) -> str:
    """The page as an element of a notebook: a frame of its own, whose styles touch nothing else."""
    page = html.escape(html_page(data), quote=True)
    return f'<iframe srcdoc="{page}" style="width:100%;height:{FRAME_HEIGHT}px;border:0" sandbox=""></iframe>'


def write_html(path: str | Path, data: Mapping[str, Any]) -> None:
    """Write the page to a file.  OSError when that fails."""
    write_output(path, html_page(data))


@functools.cache
def _template() -> jinja2.Template:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent), autoescape=True, trim_blocks=True, lstrip_blocks=True,
        undefined=jinja2.ChainableUndefined,
    )  # fmt: skip
    environment.filters |= {"percent": percent, "count": count, "size": size, "micros": micros}
    return environment.get_template(TEMPLATE)


def percent(share: Any) -> str:
    """A share as text; nothing for none."""
    return "" if not isinstance(share, int | float) else f"{100 * share:.1f} %"


def count(number: Any) -> Any:
    """A whole number with separators; another value as it is."""
    return f"{number:,}" if isinstance(number, int) else number


def size(number: float) -> str:
    """Bytes in the unit that fits."""
    if number < 1024:
        return f"{number:,.0f} B"
    for unit in ("KiB", "MiB"):
        number /= 1024
        if number < 1024:
            return f"{number:,.2f} {unit}"
    return f"{number / 1024:,.2f} GiB"


def micros(seconds: float) -> str:
    """Seconds as microseconds."""
    return f"{seconds * 1e6:,.2f} µs"
