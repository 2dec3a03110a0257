"""One self-contained HTML page about a simulation, made of its result as data (docs/reading_a_report.md).

`page` puts it together, `figures` computes what is drawn, `sources` finds the kernels' text; `report.html` is the template.
"""
