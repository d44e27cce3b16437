"""Mistakes of Winnow and of the perceptron on an or of four features, as the features that do not matter grow."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import noregret as nr
from figures import COLOURS, show

RELEVANT = 4
FEATURES = (50, 100, 200, 500, 1000, 2000, 5000)


class Row(NamedTuple):
    """Both learners on one stream, with what their theorems allow."""

    features: int
    winnow: int
    winnow_bound: float
    perceptron: int
    perceptron_bound: float


def measure(features: Sequence[int] = FEATURES, rounds: int = 40_000, seed: int = 0) -> list[Row]:
    """A quarter of all features is on in every round; the label is +1 when one of the relevant ones is."""
    rows = []
    for n in features:
        on = n // 4
        stream = f"disjunction:features={n},relevant={RELEVANT},active={on},rows={rounds},seed={seed}"
        multiplies = nr.make("winnow", alpha=2.0, theta=n)
        adds = nr.make("perceptron", bias=True)
        for batch in nr.open_source(stream):
            multiplies.learn(batch.X, batch.y)
            adds.learn(batch.X, batch.y)
        # u has ones at the relevant features and -1/2 at the constant one: y u.x is at least 1/2.
        margin = 0.5 / (RELEVANT + 0.25) ** 0.5
        radius = (on + 2.0) ** 0.5
        rows.append(
            Row(
                n,
                multiplies.mistakes,
                multiplies.card.bound(multiplies.params, features=n, relevant=RELEVANT),
                adds.mistakes,
                adds.card.bound(adds.params, radius=radius, margin=margin),
            )
        )
    return rows


def draw(axes: Any, rows: Sequence[Row]) -> None:
    n = [row.features for row in rows]
    axes.loglog(n, [row.perceptron_bound for row in rows], "--", color=COLOURS[1], label="perceptron, bound")
    axes.loglog(n, [row.perceptron for row in rows], "o-", color=COLOURS[1], label="perceptron")
    axes.loglog(n, [row.winnow_bound for row in rows], "--", color=COLOURS[0], label="Winnow, bound")
    axes.loglog(n, [row.winnow for row in rows], "o-", color=COLOURS[0], label="Winnow")
    axes.set(xlabel="features, 4 of them relevant", ylabel="mistakes")
    axes.legend(frameon=False)


if __name__ == "__main__":
    measured = measure()
    show("winnow_against_perceptron", Row._fields, measured, lambda axes: draw(axes, measured))
