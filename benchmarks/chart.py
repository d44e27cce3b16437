"""The chart of the figures: how many times as fast as each peer, with the target marked."""

import json
import re
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias

MET, MISSED, INK = "#2a9d8f", "#e76f51", "#222222"
WIDTH = 48  # of the bars of a terminal
MEASURED = re.compile(r" [\d.,]+ (?:M rows/s|MB/s|s|us a round)$")
CAPTION = "Speed beside other libraries; figures from docs/benchmarks.md"
KEY = "figures"  # of the metadata of the chart that holds what is drawn

Cells: TypeAlias = tuple[str, ...]  # a row of a table: work, ours, peer, figure, target, verdict


class Bar(NamedTuple):
    """What is drawn of a row; the figure is the one of the table."""

    title: str
    figure: float
    target: float
    met: bool


def select_bars(rows: Sequence[Cells]) -> list[Bar]:
    """The rows that say how many times as fast we are."""
    found = []
    for work, _, peer, figure, target, verdict in rows:
        if figure.endswith(" x") and target.startswith(">= "):
            title = f"{work.partition(' (')[0]}, beside {MEASURED.sub('', peer)}"
            found.append(Bar(title, float(figure[:-2]), float(target[3:-2]), verdict == "met"))
    return found


def draw_text(rows: Sequence[Cells]) -> list[str]:
    """The chart in letters: a bar for every ratio, and a mark at the target."""
    bars = select_bars(rows)
    most = max((max(bar.figure, bar.target) for bar in bars), default=1.0)
    lines = []
    for bar in bars:
        text = list("#" * max(1, round(WIDTH * bar.figure / most)) + " " * WIDTH)[: WIDTH + 1]
        text[min(WIDTH, round(WIDTH * bar.target / most))] = "|"
        lines.append(f"  {''.join(text)}  {bar.figure:5.3g} x  {bar.title}")
    return lines


def draw(rows: Sequence[Cells], path: Path) -> bool:
    """Draw the chart, with its figures as metadata; returns False where matplotlib is missing."""
    try:
        import matplotlib
    except ImportError:
        return False
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    bars = select_bars(rows)
    shown = list(reversed(bars))
    figure, axes = plt.subplots(figsize=(9.0, 0.6 + 0.34 * len(shown)), layout="constrained")
    axes.barh(range(len(shown)), [bar.figure for bar in shown], color=[MET if bar.met else MISSED for bar in shown])
    for at, bar in enumerate(shown):
        axes.plot([bar.target, bar.target], [at - 0.42, at + 0.42], color=INK, linewidth=1.5)
        axes.text(
            bar.figure if bar.met else max(bar.figure, bar.target),
            at,
            f" {bar.figure:.3g}",
            va="center",
            fontsize=8,
            color=INK,
        )
    axes.set_yticks(range(len(shown)), [bar.title for bar in shown], fontsize=8)
    axes.set_xscale("log")
    axes.set_xlabel("times as fast as the peer in the same run; the line is our target", fontsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_title(CAPTION, fontsize=9, loc="left")
    figure.savefig(path, dpi=120, metadata={KEY: json.dumps(bars)})
    plt.close(figure)
    return True


def read_bars(path: Path) -> list[Bar]:
    """What a chart shows, from its metadata."""
    content, at = path.read_bytes(), 8
    while at < len(content):
        (size,) = struct.unpack(">I", content[at : at + 4])
        kind, data = content[at + 4 : at + 8], content[at + 8 : at + 8 + size]
        if kind == b"tEXt" and data.startswith(KEY.encode() + b"\0"):
            return [Bar(*bar) for bar in json.loads(data[len(KEY) + 1 :])]
        at += size + 12
    return []
