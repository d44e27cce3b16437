"""Tasks of the twins: each turns (x, y) and the scores into a signed example and its margin."""

from typing import Any

import numpy as np
import numpy.typing as npt

from ..rules import Array, Round, Rule

Flags = npt.NDArray[np.bool_]
Labels = npt.NDArray[Any]


class TaskRow:
    """Scores every row before its label is used; a second call of run goes on from the first."""

    def __init__(self, rule: Rule, k: int) -> None:
        self.rule = rule
        self.k = k
        self.started = False

    def run(self, X: Array, y: Labels, weight: Array | None = None) -> tuple[Array, Flags]:
        """Return what predict would score before each round, and whether the round changed the rule."""
        if weight is not None and not self.rule.weighs:
            raise ValueError(f"{type(self.rule).__name__} does not take weights")
        if not self.started:
            self.rule.start(self.k, X.shape[1])
            self.started = True
        weights = np.ones(len(X)) if weight is None else weight
        scores, updated = [], []
        for x, label, h in zip(X, y, weights, strict=True):
            if h > 0.0:
                self.rule.see(x)
                self.meet(label)
            s, final = self.hide(self.rule.scores(x)), self.hide(self.rule.final_scores(x))
            changed = False
            if h > 0.0:
                self.rule.count()
                r = self.challenge(x, label, s, float(h))
                changed = r is not None and self.rule.learn(r)
            scores.append(final)
            updated.append(changed)
        return self.shape(np.array(scores).reshape(-1, self.k)), np.array(updated, dtype=bool)

    def final(self, X: Array) -> Array:
        """Return the scores that predict uses after the run."""
        rows = [self.hide(self.rule.final_scores(x)) for x in X]
        return self.shape(np.array(rows).reshape(-1, self.k))

    @property
    def t(self) -> int:
        """Rounds counted so far."""
        return self.rule.t

    @property
    def state(self) -> dict[str, Array]:
        per_score = {name: value[0] for name, value in self.rule.state().items()}
        return {**per_score, **self.rule.shared_state()}

    def shape(self, scores: Array) -> Array:
        return scores[:, 0]

    def meet(self, label: Any) -> None:
        """Take note of the label's class."""

    def hide(self, scores: Array) -> Array:
        return scores

    def challenge(self, x: Array, label: Any, s: Array, h: float) -> Round | None:
        raise NotImplementedError


class Binary(TaskRow):
    """Labels -1 and +1; a zero score predicts +1."""

    def __init__(self, rule: Rule) -> None:
        super().__init__(rule, 1)

    def challenge(self, x: Array, label: Any, s: Array, h: float) -> Round:
        y, f = float(label), float(s[0])
        return Round(x, np.array([y]), y * f, wrong=(f >= 0.0) != (y > 0.0), weight=h)


class Regression(TaskRow):
    """The signed example points to the truth; margin 1 is reached when |y - f| = eps.

    Scaled, errors are in deviations of the targets seen, each of them counted with its weight.
    """

    def __init__(self, rule: Rule, eps: float, scaled: bool = False) -> None:
        super().__init__(rule, 1)
        self.eps, self.scaled = eps, scaled
        self.told: list[tuple[float, float]] = []

    def measures(self) -> tuple[float, float]:
        """The mean and the deviation of the targets so far."""
        if not self.scaled:
            return 0.0, 1.0
        if not self.told:
            return 0.0, 0.0
        y, h = np.array(self.told).T
        mean = np.average(y, weights=h)
        return float(mean), float(np.sqrt(np.average((y - mean) ** 2, weights=h))) if np.ptp(y) > 0.0 else 0.0

    def hide(self, scores: Array) -> Array:
        mean, deviation = self.measures()
        return mean + deviation * scores

    def challenge(self, x: Array, label: Any, s: Array, h: float) -> Round | None:
        deviation = self.measures()[1]
        self.told.append((float(label), h))
        if deviation == 0.0:
            return None
        error = (float(label) - float(s[0])) / deviation
        sign = np.copysign(1.0, error)
        margin = 1.0 - abs(error) + self.eps
        return Round(x, np.array([sign]), margin, wrong=margin < 1.0, weight=h, error=error)


class Multiclass(TaskRow):
    """Labels 0..k-1; the label is held against the best other class (Crammer et al. 2006).

    A class takes part from the round where it first is the label, or from the start if fixed. The competitor may also
    be the predicted class, or the one whose required margin rho[label, class] is missed by most. With "softmax" all
    classes take part, each by its probability.
    """

    def __init__(
        self, rule: Rule, k: int, fixed: bool, competitor: str = "runner_up", rho: Array | None = None
    ) -> None:
        super().__init__(rule, k)
        self.competitor = competitor
        self.rho = np.ones((k, k)) if rho is None else rho
        self.seen: Flags = np.full(k, fixed)
        rule.seen = self.seen

    @property
    def state(self) -> dict[str, Array]:
        return {**self.rule.state(), **self.rule.shared_state()}

    def shape(self, scores: Array) -> Array:
        return scores

    def meet(self, label: Any) -> None:
        self.seen[int(label)] = True

    def hide(self, scores: Array) -> Array:
        return np.where(self.seen, scores, -np.inf)

    def challenge(self, x: Array, label: Any, s: Array, h: float) -> Round | None:
        y = int(label)
        rivals = [c for c in range(self.k) if c != y and self.seen[c]]
        if not rivals:
            return None
        if self.competitor == "softmax":
            known = np.exp(np.where(self.seen, s - s[self.seen].max(), -np.inf))
            expected = known / known.sum()
            return Round(x, np.eye(self.k)[y] - expected, 0.0, wrong=False, weight=h, joint=True)
        rival = max(rivals, key=lambda c: float(s[c]))  # the first of equals
        if self.competitor == "predicted" and (s[y] > s[rival] or (s[y] == s[rival] and y < rival)):
            return None
        if self.competitor == "max_loss":
            rival = max(rivals, key=lambda c: float(s[c] + self.rho[y, c]))
        signs = np.zeros(self.k)
        signs[y], signs[rival] = 1.0, -1.0
        margin = float(s[y] - s[rival])
        return Round(x, signs, margin - (self.rho[y, rival] - 1.0), wrong=margin <= 0.0, weight=h)
