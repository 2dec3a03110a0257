"""Files that the tools of the ecosystem open: tt-perf-report, ttnn-visualizer, tt-npe, speedscope (docs/tool_files.md).

`recording` notes what a block does on its devices, `report` writes the folder; every other module is one format.
"""
