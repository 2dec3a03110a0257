"""Light Metal: record every host call that reaches a device in a binary, and replay such a binary.

Capture observes the executor's command records; a replay hands the same records to an executor of its own.  There is no
second way to run a workload, so a replay with the same device parameters takes the same cycles and leaves the same bytes.
"""
