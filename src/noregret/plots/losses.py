"""Losses as functions of the margin."""

from collections.abc import Sequence

import numpy as np

from noregret.errors import BadValue, shown
from noregret.plots.figure import COLOURS, GREY, Figure, make_figure
from noregret.rules.losses import LOSSES

CLASSIFICATION = ("hinge", "logistic", "squared", "perceptron", "squared_hinge", "exponential", "huber")


def losses(names: Sequence[str] = CLASSIFICATION) -> Figure:
    """Losses for classification against the margin y w.x, beside the 0-1 loss that most of them bound from above.

    The logistic loss is drawn with base 2, so that it is 1 at margin 0.
    """
    for name in names:
        if name not in LOSSES:
            raise BadValue(f"there is no loss {shown(name)}; there are {', '.join(CLASSIFICATION)}")
    figure, (panel,) = make_figure(width=5.6, height=3.8)
    margin = np.linspace(-2.0, 3.0, 501)
    panel.step([-2.0, 0.0, 3.0], [1.0, 0.0, 0.0], where="post", color=GREY, linewidth=1.2, label="0-1")
    for place, name in enumerate(names):
        value = LOSSES[name].value(margin) / (np.log(2.0) if name == "logistic" else 1.0)
        panel.plot(margin, value, color=COLOURS[place % len(COLOURS)], label=name,
                   linestyle="--" if name == "squared_hinge" else "-")  # fmt: skip
    panel.set(xlabel="margin y w·x", ylabel="loss", ylim=(-0.1, 4.0), xlim=(-2.0, 3.0))
    panel.legend(frameon=False, fontsize=8)
    return figure
