"""Shared by the picture scripts: print the numbers as a table, save the picture."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from noregret.plots.figure import COLOURS as COLOURS
from noregret.plots.figure import make_figure

Draw = Callable[[Any], None]  # takes the axes, or a list of them where there are several panels
FOLDER = Path(__file__).parents[2] / "docs" / "pictures"


def cell(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """The numbers as a text table."""
    lines = [tuple(head), *(tuple(map(cell, row)) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join("  ".join(map(str.rjust, line, widths)) for line in lines)


def save(path: Path, draw: Draw, panels: int = 1) -> None:
    """Draw on panels side by side, without a screen, into a small PNG file."""
    figure, axes = make_figure(panels, width=3.2 + 1.8 / panels)
    draw(axes if panels > 1 else axes[0])
    save_small(figure, path)


def save_small(figure: Any, path: Path) -> None:
    """Write a figure as a PNG file of few colours."""
    from PIL import Image

    path.parent.mkdir(parents=True, exist_ok=True)
    figure.canvas.draw()
    Image.fromarray(np.asarray(figure.canvas.buffer_rgba())[..., :3].copy()).quantize(64).save(path, optimize=True)


def show(name: str, head: Sequence[str], rows: Sequence[Sequence[object]], draw: Draw, panels: int = 1) -> None:
    """Print the numbers; save the picture in the folder given on the command line, or in docs/pictures."""
    print(table(head, rows))
    path = (Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER) / f"{name}.png"
    save(path, draw, panels)
    print(f"wrote {path}")
