"""What all figures share: how they are made, their colours, and how they are saved."""

import warnings
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any, TypeAlias

from noregret.errors import BadValue, import_extra

COLOURS = (
    "#1b6ca8", "#d1495b", "#2e8b57", "#edae49", "#7a5195", "#e07a1f", "#5a5f6b", "#17a2b8", "#8d5b4c", "#9a9b1c",
)  # fmt: skip
GREY = "#8c8c8c"

Figure: TypeAlias = Any  # matplotlib.figure.Figure, which is imported only when something is drawn
Axes: TypeAlias = Any


def make_figure(columns: int = 1, rows: int = 1, width: float = 4.2, height: float = 3.6) -> tuple[Figure, list[Axes]]:
    """A figure with panels side by side, and its panels; it needs no screen, and notebooks show it."""
    import_extra("matplotlib", "plots", "a plot")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as MatplotlibFigure

    figure = MatplotlibFigure(figsize=(width * columns + 0.8, height * rows), layout="constrained", dpi=110)
    FigureCanvasAgg(figure)
    axes = figure.subplots(rows, columns, squeeze=False).ravel().tolist()
    for one in axes:
        decorate(one)
    figure._repr_png_ = partial(to_png, figure)
    return figure, axes


def decorate(axes: Axes) -> None:
    """The style of a panel."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25)
    axes.set_axisbelow(True)


def to_png(figure: Figure) -> bytes:
    """The picture, for notebooks."""
    out = BytesIO()
    write(figure, out, format="png")
    return out.getvalue()


def write(figure: Figure, target: Any, **options: Any) -> None:
    """Draw; characters that the font has not are boxes, without a warning for each."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from", UserWarning)
        figure.savefig(target, **options)


def check_picture(path: str, option: str) -> None:
    """Refuse, before any work is done, a file whose extension is no format of pictures."""
    import_extra("matplotlib", "plots", option)
    from matplotlib.backend_bases import FigureCanvasBase

    kind = Path(path).suffix.lower()
    if kind[1:] not in FigureCanvasBase.get_supported_filetypes():
        what = f"{kind} is" if kind else "a name without an extension is"
        raise BadValue(f"{option} {path}: {what} not a format of pictures; use .png, .svg or .pdf")


def save_figure(figure: Figure, path: str, option: str) -> None:
    """Write a figure to a file whose extension is its format; an error names the option that gave the path."""
    check_picture(path, option)
    try:
        write(figure, path)
    except (OSError, ValueError) as error:
        raise BadValue(f"{option} {path}: the picture cannot be written: {error}") from None


def literal(text: object, longest: int = 40) -> str:
    """A name as it is: a dollar sign begins no formula, and a long name is cut."""
    shown = " ".join(str(text).split())
    shown = shown if len(shown) <= longest else f"{shown[: longest - 1]}…"
    shown = "".join(one if one.isprintable() else "�" for one in shown).replace("$", r"\$")
    return f" {shown}" if shown.startswith("_") else shown  # a legend leaves out what begins with an underscore
