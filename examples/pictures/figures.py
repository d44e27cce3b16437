"""Shared by the picture scripts: print the numbers as a table, save the picture."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

Draw = Callable[[Any], None]  # takes the axes, or a list of them where there are several panels
FOLDER = Path(__file__).parents[2] / "docs" / "pictures"
COLOURS = ("#1b6ca8", "#d1495b", "#2e8b57", "#edae49", "#7a5195")


def cell(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """The numbers as a text table."""
    lines = [tuple(head), *(tuple(map(cell, row)) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join("  ".join(map(str.rjust, line, widths)) for line in lines)


def save(path: Path, draw: Draw, panels: int = 1) -> None:
    """Draw on panels side by side, without a screen, into a small PNG file."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from PIL import Image

    figure = Figure(figsize=(2.6 + 3.2 * panels, 3.6), layout="constrained", dpi=110)
    canvas = FigureCanvasAgg(figure)
    draw(figure.subplots(1, panels))
    for axes in figure.axes:
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(alpha=0.25)
    path.parent.mkdir(parents=True, exist_ok=True)
    canvas.draw()
    Image.fromarray(np.asarray(canvas.buffer_rgba())[..., :3].copy()).quantize(64).save(path, optimize=True)


def show(name: str, head: Sequence[str], rows: Sequence[Sequence[object]], draw: Draw, panels: int = 1) -> None:
    """Print the numbers; save the picture in the folder given on the command line, or in docs/pictures."""
    print(table(head, rows))
    path = (Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER) / f"{name}.png"
    save(path, draw, panels)
    print(f"wrote {path}")
