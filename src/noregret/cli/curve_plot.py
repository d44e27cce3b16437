"""The learning curve as a picture; needs matplotlib, which is an extra."""

from collections.abc import Sequence

from noregret.errors import BadValue, import_extra
from noregret.metrics.basic import CurvePoint


def draw_curve(path: str, points: Sequence[CurvePoint], title: str, counts_mistakes: bool) -> None:
    """Draw the share of mistakes, or the mean loss, over the rounds, on logarithmic scales."""
    import_extra("matplotlib", "plots", "--plot")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.0, 4.0), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    rounds = [point.rounds for point in points]
    values = [(point.mistakes if counts_mistakes else point.loss) / max(point.rounds, 1) for point in points]
    axes.plot(rounds, values, marker="o")
    axes.set_xscale("log", base=2)
    axes.set_xlabel("rounds")
    axes.set_ylabel("share of mistakes so far" if counts_mistakes else "mean loss so far")
    axes.set_title(title)
    axes.set_ylim(bottom=0.0)
    try:
        figure.savefig(path)
    except (OSError, ValueError) as error:
        raise BadValue(f"--plot {path}: the picture cannot be written: {error}") from None
