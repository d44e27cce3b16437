"""The theorem of a learner beside what it did: the bound of its card, filled in when the run is over.

A theorem about any comparator holds for each one. So the bound that is shown is the smallest over several: the best
comparator and shorter ones in its direction, or those that a certificate finds.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.evaluation.capabilities import config_of
from noregret.evaluation.hindsight import Fixed, Played, Rounds
from noregret.evaluation.theorem_quantities import Quantities
from noregret.evaluation.weight_path import Path
from noregret.learner.protocol import Learner
from noregret.metrics.comparator import Comparator
from noregret.rules.card import Card
from noregret.rules.guarantee import Guarantee

Floats = NDArray[np.float64]
LENGTHS = (*(0.5**step for step in range(20)), 0.0)
REGRETS = ("regret", "regularised regret")
KINDS = ("signs", "codes", "targets")
KINDS_WITHOUT = {
    "sets": "the theorems are about rounds with one example, and here a round has one or two steps of several labels",
    "lists": "the theorems are about rounds with one example, and here a round has many pairs",
    "sides": "the theorems are about weights, and here a centre is learned",
}
OF_SEPARATORS = ("separating", "lossless")
MEASURED: Mapping[str, Callable[[Played], Any]] = {
    "mistakes": lambda played: np.count_nonzero(played.mistakes),
    "updates": lambda played: np.count_nonzero(played.updated),
    "squared loss": lambda played: (played.losses**2).sum(),
    "squared loss on updates": lambda played: (played.losses[played.updated] ** 2).sum(),
    "squared errors": lambda played: played.losses.sum(),
    "regret": lambda played: played.losses.sum(),
    "regularised regret": lambda played: played.losses.sum(),
}
"""What a theorem bounds, of the rounds that were played; of a regret, the losses of the learner."""


@dataclass(frozen=True)
class BoundPoint:
    """What was measured after so many rounds, and what it can be at most."""

    rounds: int
    measured: float
    bound: float


@dataclass(frozen=True)
class BoundCurve:
    """A theorem beside what was measured, as the rounds go by."""

    bounds: str
    says: str
    when: str
    points: tuple[BoundPoint, ...]

    @property
    def of_regret(self) -> bool:
        return self.bounds in REGRETS

    @property
    def says_nothing(self) -> bool:
        """Whether it allows as many mistakes or updates as there were rounds."""
        last = self.points[-1]
        return self.bounds in ("mistakes", "updates") and last.bound >= last.rounds


def bound_curve(
    learner: Learner, rounds: Rounds, played: Played, solved: Sequence[tuple[int, Comparator]], path: Path | None
) -> BoundCurve | str:
    """The curve of the theorem with the smallest bound, of those that can be filled in; or why there is none."""
    reason = why_no_bound(learner)
    if reason is not None:
        return reason
    if rounds.kind not in KINDS:
        return KINDS_WITHOUT[rounds.kind]
    theorem = Theorem.of(learner, rounds.kind)
    refusals = [] if theorem.valid else [str(learner.card.why_no_guarantee(theorem.options))]
    curves = []
    for guarantee in theorem.valid:
        curve = theorem.refuse(guarantee) or fill_in(theorem, guarantee, Run(rounds, played, path), solved)
        if isinstance(curve, BoundCurve):
            curves.append(curve)
        else:
            refusals.append(curve)
    alike = [curve for curve in curves if curve.bounds == curves[0].bounds]
    return min(alike, key=lambda curve: curve.points[-1].bound) if alike else refusals[0]


def why_no_bound(learner: Learner) -> str | None:
    """Why no theorem is about this run; None where one may be."""
    config = config_of(learner)
    assert config is not None
    if config.class_weight is not None:
        return "the theorems are about rounds that weigh the same"
    if config.task.cost is not None:
        return "the theorems are about mistakes that all cost the same"
    if config.weight_decay is not None:
        return "the theorems are about weights that do not decay"
    if config.average is not None:
        return "the theorems are about the weights that are trained, not about their average"
    if config.task.chosen.get("scale_target") == "yes":
        return "the theorems are about targets as they are given (scale_target=no)"
    if config.task.many and config.task.chosen.get("competitor") == "rest":
        return "the theorems are about a class against its best rival, not against each of the others"
    if config.own_functions:
        return "a function of your own is in force, which the theorems know nothing of"
    return None


class Theorem:
    """The theorems of a card with some options in force."""

    def __init__(self, card: Card, options: Mapping[str, Any], kind: str) -> None:
        self.card, self.options, self.kind = card, dict(options), kind
        self.valid = card.guarantees_for(self.options)
        self.p, self.chosen = card.in_force(self.options)
        self.loss, self.eps = "hinge", 0.0

    @staticmethod
    def of(learner: Learner, kind: str) -> "Theorem":
        """The theorems of a learner, for the loss that it suffers."""
        config = config_of(learner)
        assert config is not None
        options = {**config.numbers, **dict(config.choices), "covariance": config.covariance}
        new = Theorem(config.card, options, kind)
        new.loss = config.task.rule_options.get("loss", config.task.default_loss)
        new.eps = config.task.numbers.get("eps", 0.0)
        return new

    def refuse(self, guarantee: Guarantee) -> str | None:
        """Why a theorem cannot be filled in, whatever was played; None where it may be."""
        if guarantee.bounds not in MEASURED:
            return f"its theorem is about the {guarantee.bounds}, not about whole runs"
        if guarantee.comparator == "disjunction":
            return "its theorem is about rows whose labels are a disjunction of features, which is not looked for"
        penalty = getattr(self.card, "penalty", None)
        if guarantee.bounds == "regularised regret" and penalty is None:
            return "the penalty in its theorem is not one of the norms that are computed here"
        counts_features = "features" in guarantee.needs and "classes" not in guarantee.needs
        if self.kind == "codes" and (counts_features or "two classes" in guarantee.when):
            return "its theorem is about two classes"
        if guarantee.bounds in REGRETS and getattr(self.card, "final", None) is not None:
            return "its theorem is about the weights that are trained, and it predicts with others"
        return None

    def counts_cells(self, guarantee: Guarantee) -> bool:
        """Whether the weights share a sum, so that a new feature changes all of them."""
        return guarantee.comparator in ("simplex", "l1 ball") and "features" in self.card.numbers

    def penalty(self, u: Floats) -> float:
        """What the objective adds to the loss of each round."""
        penalty = getattr(self.card, "penalty", None)
        return 0.0 if penalty is None else float(penalty(self.p, float(np.linalg.norm(u)), float(np.abs(u).sum())))

    def candidates(self, guarantee: Guarantee, given: Fixed, rounds: Rounds) -> Iterable[Fixed]:
        """Comparators that a theorem is about: the best of the set of weights, and others of the set."""
        if guarantee.comparator in OF_SEPARATORS:
            if given.separates:
                yield rounds.scale(given, 1.0 / given.least)
            return
        if guarantee.comparator == "simplex" or self.chosen.get("onto") == "simplex":
            yield from mix(given, rounds)
            return
        lengths = LENGTHS
        if "comparator_loss_on_updates" in guarantee.needs:  # the zero vector would only count the updates
            lengths = lengths[:1]
        for length in lengths:
            yield rounds.scale(given, length)


def mix(given: Fixed, rounds: Rounds) -> Iterable[Fixed]:
    """A point of the simplex, and others on the way to its middle, which are nearer to the weights at the start."""
    middle = np.full_like(given.weights, float(given.weights.sum()) / max(given.weights.size, 1))
    for length in LENGTHS:
        yield rounds.fix(length * given.weights + (1.0 - length) * middle)


@dataclass(frozen=True)
class Run:
    """A run that is over: its rounds, what the learner did on them, and the path of its weights where it is known."""

    rounds: Rounds
    played: Played
    path: Path | None

    def quantities(self, stop: int, theorem: Theorem) -> Quantities:
        """What the first rounds say."""
        longest = None if self.path is None else self.path.longest(stop)
        return Quantities(self.rounds.cut(stop), self.played.cut(stop), theorem, longest)


def fill_in(
    theorem: Theorem, guarantee: Guarantee, run: Run, solved: Iterable[tuple[int, Comparator]]
) -> BoundCurve | str:
    """The curve of one theorem, or why there is none."""
    points, of_regret = [], guarantee.bounds in REGRETS
    for stop, best in solved:
        quantities = run.quantities(stop, theorem)
        if theorem.counts_cells(guarantee) and not quantities.knows_features():
            return "its theorem is about a number of features that is known from the start (features=...)"
        missing = quantities.missing(guarantee.needs)
        if missing:
            return f"its bound needs {', '.join(missing)}, which is not computed here"
        given = quantities.rounds.fix(best.weights)
        bound = smallest_bound(theorem, guarantee, quantities, theorem.candidates(guarantee, given, quantities.rounds))
        if not np.isfinite(bound[0]):
            separate = guarantee.comparator in OF_SEPARATORS
            return f"its theorem needs {'a comparator without mistakes, and none was found' if separate else 'more'}"
        measured, base = float(MEASURED[guarantee.bounds](quantities.played)), best.loss if of_regret else 0.0
        points.append(BoundPoint(stop, measured - base, bound[0] - base))
    return BoundCurve(guarantee.bounds, guarantee.says, guarantee.condition, tuple(points))


def smallest_bound(
    theorem: Theorem, guarantee: Guarantee, quantities: Quantities, candidates: Iterable[Fixed]
) -> tuple[float, str | None]:
    """The smallest bound over comparators, and the name of the one; of a regret, on the losses of the learner.

    Infinite, for a comparator, where the theorem says nothing; without a name, where none could be filled in.
    """
    found: tuple[float, str | None] = np.inf, None
    for u in candidates:
        filled = quantities.find(guarantee.needs, u)
        if filled is None:
            continue
        try:
            bound = guarantee.evaluate(theorem.p, filled)
        except (ZeroDivisionError, OverflowError):
            continue
        if guarantee.bounds in REGRETS:
            bound += quantities.loss_of(u.margins) + len(quantities.rounds.truths) * theorem.penalty(u.weights)
        if found[1] is None or bound < found[0]:
            found = bound, u.name
    return found
