"""Regression: z = sign(error) x, margin = 1 - |error| + eps, where an error is measured in deviations.

The rule sees targets from which the mean so far is taken, divided by their deviation so far; a prediction is the mean
plus so many deviations. Only earlier targets count, each as much as its round weighs. Until two targets differ there is
no deviation: the mean is predicted, and no step is made. As they are, targets have the mean 0 and the deviation 1.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from noregret.algebra.internal_verbs import scaled_by
from noregret.algebra.verbs import unbound
from noregret.data.inputs import LabelsLike
from noregret.data.labels import Labels, targets
from noregret.errors import BadValue
from noregret.rules.losses import LOSSES
from noregret.rules.parameters import Choice, Param
from noregret.rules.rule_card import RuleCard
from noregret.tasks.outcome import Outcome, Segment
from noregret.tasks.task import Flags, Floats, G, P, R, S, Task

update = final = final_row = row_and_score = unbound
measured: Any = unbound  # whether targets are scaled
final_differs: Any = unbound  # whether predictions use other weights than training does


def play(p: P, g: G, s: S, X: R, y: Floats, h: Floats, out: Floats, updated: Flags, aux: Floats) -> None:
    for t in range(y.size):
        x, score = row_and_score(p, s, X, t)
        deviation = 1.0
        if measured:
            deviation = math.sqrt(s.n.target_squares / s.n.target_count) if s.n.target_count > 0.0 else 0.0
        aux[t] = deviation
        f = s.n.target_mean + deviation * score
        out[t] = s.n.target_mean + deviation * final(p, s, x) if final_differs else f
        if h[t] > 0.0:
            s.n.t += 1.0
            if deviation > 0.0:
                error = (y[t] - f) / deviation
                updated[t] = update(p, s, scaled_by(x, math.copysign(1.0, error)), 1.0 - abs(error) + g.eps, h[t])
            if measured:
                off, before = y[t] - s.n.target_mean, s.n.target_count
                s.n.target_count += h[t]
                step = off * (h[t] / s.n.target_count)
                s.n.target_mean += step
                s.n.target_squares += before * off * step


def score_rows(p: P, g: G, s: S, X: R, out: Floats) -> None:
    deviation = 1.0
    if measured:
        deviation = math.sqrt(s.n.target_squares / s.n.target_count) if s.n.target_count > 0.0 else 0.0
    for t in range(out.size):
        out[t] = s.n.target_mean + deviation * final_row(p, s, X, t)


class Regression(Task):
    """Scores are the predictions; there are no mistakes, only losses. aux is the deviation of the targets so far."""

    name = "regression"
    about = "a real target for every row"
    params = {"eps": Param(0.1, at_least=0.0, about="errors up to this size, in deviations, cost nothing")}
    options = {
        "scale_target": Choice(
            "yes", {"yes": True, "no": False}, "whether targets are centred and scaled as they come", "measured"
        )
    }
    counters = {"target_count": 0.0, "target_mean": 0.0, "target_squares": 0.0}
    labelled = False
    real = True
    measured = True
    default_loss = "eps_insensitive"
    prediction = "target"
    counts_mistakes = False
    columns: ClassVar[tuple[str, ...]] = ("loss", "mean loss", "MAE", "RMSE", "R2")
    metrics = ("target_errors",)
    reading = {"targets": True}
    bias_by_default = True
    races: ClassVar[tuple[str, ...]] = ("adadelta", "adagrad")
    notes = ("the labels are real targets; the loss decides",)
    no_classes = "regression has targets, not classes"
    play, score_rows = staticmethod(play), staticmethod(score_rows)

    @classmethod
    def check_params(cls, card: RuleCard, rule_options: Mapping[str, str], given: dict[str, Any]) -> dict[str, float]:
        loss = rule_options.get("loss")
        if loss is None or LOSSES[loss].insensitive:
            return super().check_params(card, rule_options, given)
        if cls.take(given, "eps") is not None:
            raise BadValue(f"{card.name}: eps belongs to the eps_insensitive loss, not to {loss}")
        return {"eps": 0.0}

    @property
    def scales_targets(self) -> bool:
        """Whether targets are centred and scaled."""
        return self.chosen["scale_target"] == "yes"

    def encode(self, labels: Labels, y: LabelsLike, rows: int) -> tuple[Any, list[Segment]]:
        return targets(y), [Segment(0, rows, 0)] if rows else []

    def mean_loss(self, errors: Floats, counters: Any) -> float:
        """The mean loss of predictions so far from their targets, after the rounds that the counters tell of."""
        return float(self.error_loss(errors, self.deviation(counters)).mean())

    def decide(self, labels: Labels, scores: Floats) -> NDArray[Any]:
        return scores

    def mistakes(self, labels: Labels, outcome: Outcome) -> NDArray[np.bool_]:
        return np.zeros(len(outcome.truth), bool)

    def losses(self, labels: Labels, outcome: Outcome) -> Floats:
        return self.error_loss(outcome.truth - outcome.scores, outcome.aux)

    def error_loss(self, errors: Floats, deviation: Any) -> Floats:
        """The loss of predictions so far from their targets, while the targets have this deviation."""
        loss = self.loss.of_errors
        assert loss is not None
        with np.errstate(over="ignore"):
            return np.asarray(loss(np.abs(errors), self.numbers["eps"], deviation if self.scales_targets else 1.0))

    def deviation(self, counters: Any) -> float:
        """The deviation of the targets seen so far, from the counters of a state; 1 where they are not scaled."""
        if not self.scales_targets:
            return 1.0
        seen = counters is not None and counters.target_count > 0.0
        return float(np.sqrt(counters.target_squares / counters.target_count)) if seen else 0.0

    @classmethod
    def summarize(cls, report: Mapping[str, float]) -> str:
        if "mean_loss" in report:
            return f"a mean loss of {report['mean_loss']:.4g}"
        return f"mean absolute error {report['mae']:.4g}, R2 {report['r2']:.4f}"

    def warnings(self, counters: Any, updates: int) -> Iterator[str]:
        eps = self.numbers["eps"]
        if self.deviation(counters) == 0.0:
            yield "all targets are the same, so nothing was learned but their mean"
        elif updates == 0 and eps:
            yield (f"every prediction was within eps = {eps:g}, so nothing was learned; "
                   "use a smaller one, --set eps=0.001")  # fmt: skip
