"""The theorem of a learner beside what it did: the bound of its card, filled in when the run is over.

A theorem about any comparator holds for each one. So the bound that is shown is the smallest over the best comparator
and shorter ones in its direction.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.evaluation.capabilities import config_of
from noregret.evaluation.hindsight import Played, Quantities, Rounds
from noregret.evaluation.weight_path import Path
from noregret.learner.protocol import Learner
from noregret.metrics.comparator import Comparator
from noregret.rules.guarantee import Guarantee
from noregret.rules.own_functions import OwnFunction

Floats = NDArray[np.float64]
LENGTHS = (*(0.5**step for step in range(20)), 0.0)
REGRETS = ("regret", "regularised regret")
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
    theorem = Theorem(learner, rounds.kind)
    refusals = [] if theorem.valid else [str(learner.card.why_no_guarantee(theorem.options))]
    curves = []
    for guarantee in theorem.valid:
        curve = theorem.refuse(guarantee) or fill_in(theorem, guarantee, rounds, played, solved, path)
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
    if config.weight_decay is not None:
        return "the theorems are about weights that do not decay"
    if config.average is not None:
        return "the theorems are about the weights that are trained, not about their average"
    if config.task.chosen.get("scale_target") == "yes":
        return "the theorems are about targets as they are given (scale_target=no)"
    if any(isinstance(option, OwnFunction) for _, option in config.choices):
        return "a function of your own is in force, which the theorems know nothing of"
    return None


class Theorem:
    """The theorems of a learner with its options in force."""

    def __init__(self, learner: Learner, kind: str) -> None:
        config = config_of(learner)
        assert config is not None
        self.card, self.kind = config.card, kind
        self.options = {**config.numbers, **dict(config.choices), "covariance": config.covariance}
        self.valid = self.card.guarantees_for(self.options)
        self.p, self.chosen = self.card.in_force(self.options)
        self.loss = config.task.rule_options.get("loss", config.task.default_loss)
        self.eps = config.task.numbers.get("eps", 0.0)

    def refuse(self, guarantee: Guarantee) -> str | None:
        """Why a theorem cannot be filled in, whatever was played; None where it may be."""
        if guarantee.bounds not in MEASURED:
            return f"its theorem is about the {guarantee.bounds}, not about whole runs"
        if guarantee.comparator in ("disjunction", "simplex"):
            return f"its theorem is about comparators of one kind only: {guarantee.comparator}"
        if guarantee.bounds == "regularised regret" and self.card.penalty is None:
            return "the penalty in its theorem is not one of the norms that are computed here"
        counts_features = "features" in guarantee.needs and "classes" not in guarantee.needs
        if self.kind == "codes" and (counts_features or "two classes" in guarantee.when):
            return "its theorem is about two classes"
        if guarantee.bounds in REGRETS and self.card.final is not None:
            return "its theorem is about the weights that are trained, and it predicts with others"
        return None

    def penalty(self, u: Floats) -> float:
        """What the objective adds to the loss of each round."""
        if self.card.penalty is None:
            return 0.0
        return float(self.card.penalty(self.p, float(np.linalg.norm(u)), float(np.abs(u).sum())))

    def longest(self, comparator: str) -> float:
        """How large |u|_1 may be, so that a comparator is in the set of the theorem."""
        if comparator == "l1 ball":
            return float(self.p.U)
        onto = self.chosen.get("onto")
        if comparator != "in set" or onto == "everywhere":
            return np.inf
        if onto is None:
            return float(1.0 / np.sqrt(self.p.lam))  # the ball of Pegasos
        return float(self.p.radius) if onto in ("ball", "box", "l1") else 0.0

    def candidates(self, guarantee: Guarantee, best: Comparator, margins: Floats) -> Iterable[tuple[Floats, Floats]]:
        """Comparators that a theorem is about, with their margins."""
        u, comparator = best.weights, guarantee.comparator
        if comparator in ("separating", "lossless"):
            least = float(margins.min(initial=np.inf))
            if 0.0 < least < np.inf:
                yield u / least, margins / least
            return
        limit = self.longest(comparator) / max(float(np.abs(u).sum()), 1e-300)
        lengths = [length for length in LENGTHS if length <= limit] + [limit] * (0.0 < limit < 1.0)
        if "comparator_loss_on_updates" in guarantee.needs:  # the zero vector would only count the updates
            lengths = lengths[:1]
        for length in lengths:
            yield length * u, length * margins if self.kind != "targets" else margins


def fill_in(
    theorem: Theorem,
    guarantee: Guarantee,
    rounds: Rounds,
    played: Played,
    solved: Iterable[tuple[int, Comparator]],
    path: Path | None,
) -> BoundCurve | str:
    """The curve of one theorem, or why there is none."""
    points, of_regret = [], guarantee.bounds in REGRETS
    for stop, best in solved:
        some, done = rounds.cut(stop), played.cut(stop)
        quantities = Quantities(some, done, theorem, None if path is None else path.longest(stop))
        missing = quantities.missing(guarantee.needs)
        if missing:
            return f"its bound needs {', '.join(missing)}, which is not computed here"
        try:
            bound = smallest_bound(theorem, guarantee, quantities, best)
        except KeyError as error:
            return f"its bound needs {error.args[0]}, which is not computed here"
        if not np.isfinite(bound):
            separate = guarantee.comparator in ("separating", "lossless")
            return f"its theorem needs {'a comparator without mistakes, and none was found' if separate else 'more'}"
        measured, base = float(MEASURED[guarantee.bounds](done)), best.loss if of_regret else 0.0
        points.append(BoundPoint(stop, measured - base, bound - base))
    return BoundCurve(guarantee.bounds, guarantee.says, guarantee.condition, tuple(points))


def smallest_bound(theorem: Theorem, guarantee: Guarantee, quantities: Quantities, best: Comparator) -> float:
    """The smallest bound over the comparators; of a regret, on the losses of the learner."""
    found, rounds = np.inf, quantities.rounds
    margins = rounds.margins(best.weights)
    for u, m in theorem.candidates(guarantee, best, margins):
        m = rounds.margins(u) if rounds.kind == "targets" else m
        try:
            bound = guarantee.evaluate(theorem.p, quantities.find(guarantee.needs, u, m))
        except (ZeroDivisionError, OverflowError):
            continue
        if guarantee.bounds in REGRETS:
            bound += quantities.loss_of(m) + len(rounds.truths) * theorem.penalty(u)
        found = min(found, bound)
    return found
