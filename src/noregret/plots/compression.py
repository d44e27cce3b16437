"""How much of a picture is lost, by the number of components that are kept."""

from collections.abc import Sequence

from noregret.plots.figure import COLOURS, GREY, Figure, literal, make_figure


def compression(errors: Sequence[float], best: Sequence[float] | None, name: str) -> Figure:
    """The share that is lost by the number of components, beside the least possible where that is known."""
    figure, (axes,) = make_figure()
    ranks = range(1, len(errors) + 1)
    if best is None:
        axes.plot(ranks, errors, color=COLOURS[0])
        axes.set_xlabel("atoms of a patch")
    else:
        axes.plot(ranks, errors, color=COLOURS[0], label="one pass over the lines")
        axes.plot(ranks, best, color=GREY, linestyle="--", label="best possible")
        axes.set_xlabel("components")
        axes.legend(fontsize=8)
    axes.set_ylabel("relative error")
    axes.set_title(literal(name))
    return figure
