"""Mistakes on a disjunction as irrelevant features are added: Winnow and the perceptron, elimination and halving."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import noregret as nr
from figures import COLOURS, show, table

RELEVANT = 4
FEATURES = (50, 100, 200, 500, 1000, 2000, 5000)
FEW = 2  # relevant features where all concepts are listed, and irrelevant ones that are on in a row
SIZES = (16, 32, 64, 128, 256, 512)


class Row(NamedTuple):
    """Both learners on one stream, with their bounds."""

    features: int
    winnow: int
    winnow_bound: float
    perceptron: int
    perceptron_bound: float


class ConceptRow(NamedTuple):
    """Three learners of disjunctions on one stream, with their bounds; that of elimination is `features`."""

    features: int
    elimination: int
    winnow: int
    winnow_bound: float
    halving: int
    halving_bound: float


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


def measure_concepts(features: Sequence[int] = SIZES, rounds: int | None = None, seed: int = 0) -> list[ConceptRow]:
    """Two relevant features, and two others that are on in every round: a mistake tells elimination about few."""
    rows = []
    for n in features:
        count = 30 * n if rounds is None else rounds
        stream = f"disjunction:features={n},relevant={FEW},active={FEW},rows={count},seed={seed}"
        winnow: Any = nr.make("winnow", alpha=2.0, theta=n)
        elimination: Any = nr.make("elimination", concept="disjunction", features=n)
        halving: Any = nr.make("halving", concepts=nr.k_disjunctions(n, FEW))
        for batch in nr.open_source(stream):
            for learner in (winnow, elimination, halving):
                learner.learn(batch.X, batch.y)
        bound = winnow.card.bound(winnow.params, features=n, relevant=FEW)
        rows.append(ConceptRow(n, elimination.mistakes, winnow.mistakes, bound, halving.mistakes, halving.bound))
    return rows


def draw_concepts(axes: Any, rows: Sequence[ConceptRow]) -> None:
    n = [row.features for row in rows]
    axes.loglog(n, n, "--", color=COLOURS[1], label="elimination, bound")
    axes.loglog(n, [row.elimination for row in rows], "o-", color=COLOURS[1], label="elimination")
    axes.loglog(n, [row.winnow_bound for row in rows], "--", color=COLOURS[0], label="Winnow, bound")
    axes.loglog(n, [row.winnow for row in rows], "o-", color=COLOURS[0], label="Winnow")
    axes.loglog(n, [row.halving_bound for row in rows], "--", color=COLOURS[2], label="halving, bound")
    axes.loglog(n, [row.halving for row in rows], "o-", color=COLOURS[2], label="halving")
    axes.set(xlabel="features, 2 of them relevant", ylabel="mistakes")
    axes.set_xticks(n, labels=map(str, n))
    axes.minorticks_off()
    axes.legend(frameon=False, fontsize="small")


def draw_both(axes: Any, rows: Sequence[Row], concepts: Sequence[ConceptRow]) -> None:
    draw(axes[0], rows)
    draw_concepts(axes[1], concepts)


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
    concepts = measure_concepts()
    print(table(ConceptRow._fields, concepts))
    show("winnow_against_perceptron", Row._fields, measured, lambda axes: draw_both(axes, measured, concepts), panels=2)
