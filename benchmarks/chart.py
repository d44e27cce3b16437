"""A picture of the figures: how many times as fast as each peer, with the target marked."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.measure import Row

MET, MISSED, PLAIN, INK = "#2a9d8f", "#e76f51", "#8d99ae", "#222222"
WIDTH = 48  # of the bars of a terminal
FIGURE = re.compile(r" [\d.,]+ (?:M rows/s|MB/s|s|us a round)$")


def ratios(tables: Mapping[str, Sequence[Row]]) -> list[Row]:
    """The rows that say how many times as fast we are."""
    return [row for rows in tables.values() for row in rows if row.unit == "x" and row.figure and row.at_least]


def peer(row: Row) -> str:
    """The peer without its figures."""
    return FIGURE.sub("", row.peer)


def title(row: Row) -> str:
    return f"{row.work.partition(' (')[0]}, beside {peer(row)}"


def bars(tables: Mapping[str, Sequence[Row]]) -> list[str]:
    """The same in letters: a bar for every ratio, and a mark where the target stands."""
    rows = ratios(tables)
    if not rows:
        return []
    most = max(max(row.figure or 0.0, row.at_least or 0.0) for row in rows)
    lines = []
    for row in rows:
        assert row.figure is not None
        assert row.at_least is not None
        bar = list("#" * max(1, round(WIDTH * row.figure / most)) + " " * WIDTH)[: WIDTH + 1]
        bar[min(WIDTH, round(WIDTH * row.at_least / most))] = "|"
        lines.append(f"  {''.join(bar)}  {row.figure:5.2f} x  {title(row)}")
    return lines


def draw(tables: Mapping[str, Sequence[Row]], path: Path, caption: str) -> bool:
    """Draw the chart; False where matplotlib is not installed."""
    try:
        import matplotlib
    except ImportError:
        return False
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    rows = list(reversed(ratios(tables)))
    if not rows:
        return False
    figure, axes = plt.subplots(figsize=(9.0, 0.6 + 0.34 * len(rows)), layout="constrained")
    colours = [{True: MET, False: MISSED, None: PLAIN}[row.met] for row in rows]
    axes.barh(range(len(rows)), [row.figure for row in rows], color=colours, height=0.7)
    for at, row in enumerate(rows):
        target: Any = row.at_least
        axes.plot([target, target], [at - 0.42, at + 0.42], color=INK, linewidth=1.5)
        axes.text(row.figure, at, f" {row.figure:.2f}", va="center", fontsize=8, color=INK)
    axes.set_yticks(range(len(rows)), [title(row) for row in rows], fontsize=8)
    axes.set_xscale("log")
    axes.set_xlabel("times as fast as the peer in the same run; the line is the target", fontsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_title(caption, fontsize=9, loc="left")
    figure.savefig(path, dpi=120)
    plt.close(figure)
    return True
