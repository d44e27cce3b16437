"""The choice of a learning rate on a sample, as Bottou's programs make it: by steps of a factor of two."""

import math
from typing import Any

import numpy as np

from noregret.data.inputs import LabelsLike, RowsLike
from noregret.errors import BadValue, shown
from noregret.learner.factory import card_of, make
from noregret.learner.labelled_rows import LabelledRows

FACTOR, START, MOST = 2.0, 1.0, 60


def choose_rate(rule: Any, X: RowsLike, y: LabelsLike, parameter: str = "eta0", **options: Any) -> float:
    """The learning rate with the least mean loss in one pass over a sample, to give to `make` with the same options.

    Begins at 1 and multiplies by 2, or divides by 2, for as long as the loss falls (Bottou 2010). The loss of a round
    is that of the prediction before it. `parameter` is the number of the card that is chosen.
    """
    card = card_of(rule)
    if parameter not in card.numbers:
        has = ", ".join(card.numbers) or "none"
        raise BadValue(f"{card.name} has no number {shown(parameter)} to choose; it has {has}")
    if parameter in options:
        raise BadValue(f"{card.name}: {parameter} is what choose_rate chooses; leave it out")
    rows = LabelledRows(X, y, None).require_rows()
    limits = card.numbers[parameter]

    refused: list[BadValue] = []

    def cost(value: float) -> float:
        """The mean loss; infinite beyond the limits of the parameter and where the weights overflow."""
        if not limits.allows(value):
            return math.inf
        try:
            found = float(np.mean(rows.play(make(card, **{**options, parameter: value})).losses))
        except BadValue as error:
            refused.append(error)
            return math.inf
        return found if math.isfinite(found) else math.inf

    best, least = START, cost(START)
    for factor in (FACTOR, 1.0 / FACTOR):
        for _ in range(MOST):
            found = cost(best * factor)
            if not found < least and (math.isfinite(least) or factor > 1.0):
                break
            best, least = best * factor, found
        if best > START:
            break
    if math.isfinite(least):
        return best
    if refused:
        raise refused[0]
    raise BadValue(f"{card.name}: no {parameter} up to {START:g} has a finite loss on these rows")
