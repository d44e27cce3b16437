"""Mistake bounds of learners of Boolean concepts: their theorems are about labels that a concept explains."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from noregret.data.batch import Batch
from noregret.errors import BadValue
from noregret.evaluation.bounds import Theorem
from noregret.evaluation.hindsight import Rounds, extents
from noregret.learner.protocol import Learner
from noregret.metrics.comparator_problem import Matrix
from noregret.rules.guarantee import Guarantee

OF_CONCEPTS = ("concept", "disjunction")


def smallest_concept_bound(
    learner: Learner, theorem: Theorem, rounds: Rounds, batches: Sequence[Batch]
) -> tuple[Guarantee, float, str] | None:
    """The theorem about a concept, its bound, and the concept; None where the card has no such theorem.

    The learner has played all batches. An error says why the theorem does not apply to these rows.
    """
    usable = [one for one in theorem.valid if one.comparator in OF_CONCEPTS and one.bounds == "mistakes"]
    if not usable:
        return None
    if rounds.kind != "signs":
        raise BadValue("its theorem is about two classes")
    if not (rounds.X.data == 1.0).all():
        raise BadValue("its theorem is about rows of 0 and 1")
    if usable[0].comparator == "disjunction":
        return usable[0], *bound_disjunction(theorem, usable[0], rounds)
    concept: Any = learner
    if not all(concept.explains(batch.X, batch.y) for batch in batches):
        raise BadValue("its theorem needs labels that a concept of its class explains, and none does")
    return usable[0], float(concept.bound), "a concept that explains all labels"


def bound_disjunction(theorem: Theorem, guarantee: Guarantee, rounds: Rounds) -> tuple[float, str]:
    """The bound against a small disjunction that explains all labels, and the number of its features."""
    n = int(extents(rounds.X).max(initial=0))
    check_conditions(theorem.p, rounds.X, n)
    relevant = cover_positives(rounds.X, rounds.truths > 0)
    if relevant is None:
        raise BadValue("its theorem needs labels that are a disjunction of features, and no disjunction explains them")
    return guarantee.evaluate(theorem.p, {"features": n, "relevant": relevant}), f"a disjunction of {relevant} features"


def check_conditions(p: Any, X: Matrix, n: int) -> None:
    """Refuse rows and parameters for which the number of features is not what the theorem takes it to be."""
    if hasattr(p, "features"):
        if p.features != n:
            raise BadValue(f"its theorem is about a number of features that is known from the start: features = {n}")
        if (np.diff(X.indptr) == 0).any():
            raise BadValue("its theorem is about rows that are not all zero; --bias adds a constant feature")
    elif p.theta == 0.0 and extents(X)[0] < n:
        raise BadValue(f"its theorem is about a threshold that is known from the start: theta = {n}")


def cover_positives(X: Matrix, positive: Any) -> int | None:
    """The number of features in a disjunction that explains all labels; None where there is none.

    Elimination finds the largest one. The smallest is a set cover, which is hard to find, so features are chosen
    greedily: each time the one that is on in most rows that are not explained yet.
    """
    wrong = np.asarray(X[~positive].sum(axis=0)).reshape(-1) > 0.0
    rows = X[positive][:, np.flatnonzero(~wrong)].tocsr()
    count = 0
    while rows.shape[0]:
        sums = np.asarray(rows.sum(axis=0)).reshape(-1)
        if not sums.size or sums.max() == 0.0:
            return None
        chosen = np.asarray(rows[:, [int(np.argmax(sums))]].todense()).reshape(-1) > 0.0
        rows, count = rows[~chosen], count + 1
    return count
