"""Online convex optimization: play a point, suffer any convex loss there, learn from its gradient.

Every row is the gradient g of the loss at the point w that was played. The rule takes its step by the linear loss
w . g, which has the same gradient and at least the same regret. y is the loss that was suffered, NaN where only the
gradient was given.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.algebra.internal_verbs import row, scaled_by
from noregret.algebra.verbs import unbound
from noregret.data.inputs import LabelsLike
from noregret.data.labels import Labels, targets
from noregret.errors import BadValue, shown
from noregret.rules.parameters import Param
from noregret.rules.rule_card import RuleCard
from noregret.tasks.costs import Costs
from noregret.tasks.outcome import Outcome, Segment
from noregret.tasks.task import Flags, Floats, G, P, R, S, Task

score = update = final = unbound
Projection = Callable[[Floats], Any]
MOST = 10_000_000


def play(p: P, g: G, s: S, X: R, y: Floats, h: Floats, out: Floats, updated: Flags, aux: Floats) -> None:
    for t in range(y.size):
        x = row(X, t)
        out[t] = score(p, s, x)
        aux[t] = y[t] if y[t] == y[t] else out[t]
        if h[t] > 0.0:
            s.n.t += 1.0
            s.n.total_loss += h[t] * aux[t]
            updated[t] = update(p, s, scaled_by(x, -1.0), -out[t], h[t])


def score_rows(p: P, g: G, s: S, X: R, out: Floats) -> None:
    for t in range(out.size):
        out[t] = final(p, s, row(X, t))


class Convex(Task):
    """The score of a gradient is w . g, the linear loss; aux is the loss suffered."""

    name = "convex"
    about = "online convex optimization: points played, losses suffered"
    params = {"dimension": Param(1.0, at_least=1.0, at_most=MOST, about="how many coordinates a point has")}
    counters = {"total_loss": 0.0}
    labelled = False
    real = True
    measured = True
    from_source = False
    needs_labels = False
    default_loss = "linear"
    columns = ("loss", "mean loss")
    bias_by_default = False
    scores_unknown = True
    no_classes = "convex optimization has no classes"
    play, score_rows = staticmethod(play), staticmethod(score_rows)
    project: Projection | None = None  # onto a set of the caller's, after every step

    @classmethod
    def why_no_average(cls) -> str | None:
        return "the point that is played is the one that the gradient is taken at"

    @classmethod
    def configure(
        cls, card: RuleCard, rule_options: Mapping[str, str], cost: Costs | None, given: dict[str, Any]
    ) -> Task:
        project = given.pop("project", None)
        if "dimension" not in given and "task.dimension" not in given:
            raise BadValue("convex optimization needs dimension=, the number of coordinates of a point")
        task = super().configure(card, rule_options, cost, given)
        if not float(task.numbers["dimension"]).is_integer():
            raise BadValue(f"dimension must be a whole number, not {task.numbers['dimension']:g}")
        if project is not None:
            if not callable(project):
                raise BadValue(f"project must be a function of a point that returns a point, not {shown(project)}")
            if card.weight is not None or card.score is not None or "w" not in card.state:
                raise BadValue(f"{card.name} keeps no weights that could be projected; use ogd, adagrad or adadelta")
            task.project = project  # type: ignore[attr-defined]
        return task

    @property
    def dimension(self) -> int:
        return int(self.numbers["dimension"])

    def default_labels(self, rows: int) -> Any:
        return np.full(rows, np.nan)

    def encode(self, labels: Labels, y: LabelsLike, rows: int) -> tuple[Any, list[Segment]]:
        given = np.asarray(y)
        unknown = given.dtype == np.float64 and given.ndim == 1 and bool(np.isnan(given).all())
        return given if unknown else targets(y, "loss"), [Segment(0, rows, 0)] if rows else []

    def report_truth(self, labels: Labels, y: LabelsLike) -> NDArray[Any]:
        return np.asarray(y, np.float64)

    def decide(self, labels: Labels, scores: Floats) -> NDArray[Any]:
        return scores

    def mistakes(self, labels: Labels, outcome: Outcome) -> NDArray[np.bool_]:
        return np.zeros(len(outcome.truth), bool)

    def losses(self, labels: Labels, outcome: Outcome) -> Floats:
        return outcome.aux
