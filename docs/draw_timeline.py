"""Draw docs/timeline.png from a timeline that `tensim run --timeline` wrote: python docs/draw_timeline.py timeline.json."""

import json
import sys

import matplotlib.pyplot as plt

CORES = (0, 9)
THREADS = ("BRISC", "NCRISC", "TRISC0", "TRISC1", "TRISC2")


def main(source, target):
    events = json.load(open(source))["traceEvents"]
    figure, (threads, memory) = plt.subplots(2, 1, figsize=(11, 5.5), sharex=True, height_ratios=(3, 1))
    labels = []
    for i, core in enumerate(CORES):
        for slot, name in enumerate(THREADS):
            row = len(THREADS) * i + slot
            labels.append(f"core {core} {name}")
            mine = [e for e in events if e["ph"] == "X" and e["pid"] == core and e["tid"] == slot]
            for busy, colour in ((True, "tab:green"), (False, "lightcoral")):
                spans = [(e["ts"], e["dur"]) for e in mine if e["name"].startswith("wait") != busy]
                threads.broken_barh(spans, (row - 0.4, 0.8), facecolors=colour, rasterized=True)
    threads.set_yticks(range(len(labels)), labels)
    threads.invert_yaxis()
    threads.set_title("busy (green) and stalled (red) threads")
    for name in ("NoC 0", "NoC 1"):
        samples = [e for e in events if e["ph"] == "C" and e["name"] == name]
        memory.plot([e["ts"] for e in samples], [e["args"]["B/cycle"] for e in samples], label=name)
    memory.set_ylabel("B/cycle")
    memory.set_xlabel("simulated time (µs)")
    memory.legend(loc="upper right")
    figure.tight_layout()
    figure.savefig(target, dpi=110)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "docs/timeline.png")
