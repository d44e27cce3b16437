"""Steps from outside: z and the required margin are computed elsewhere (structured output, joint features).

Every row is a signed example z = Phi(x, y) - Phi(x, rival); margin = w . z - (required - 1), so that a rule asks for
the required margin as it asks for 1 elsewhere.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.algebra.internal_verbs import row
from noregret.algebra.verbs import unbound
from noregret.data.inputs import LabelsLike
from noregret.data.labels import Labels, targets
from noregret.rules.rule_card import RuleCard
from noregret.tasks import binary
from noregret.tasks.outcome import Outcome, Segment
from noregret.tasks.task import Flags, Floats, G, P, R, S, Task

score = update = unbound


def play(p: P, g: G, s: S, X: R, y: Floats, h: Floats, out: Floats, updated: Flags, aux: Floats) -> None:
    for t in range(y.size):
        z = row(X, t)
        out[t] = score(p, s, z)
        if h[t] > 0.0:
            s.n.t += 1.0
            updated[t] = update(p, s, z, out[t] - (y[t] - 1.0), h[t])


class Structured(Task):
    """Scores are w . z; a round is wrong when z has no positive score."""

    name = "structured"
    about = "signed examples and required margins computed elsewhere"
    follows_rows = False
    labelled = False
    real = True
    from_source = False
    needs_labels = False
    bias_by_default = False  # what the right and the wrong output share cancels
    no_classes = "structured output has no classes of its own"
    play, score_rows = staticmethod(play), staticmethod(binary.score_rows)

    @classmethod
    def why_not(cls, card: RuleCard, rule_options: Mapping[str, str] | None = None) -> str | None:
        reason = super().why_not(card, rule_options)
        if reason is None:
            return None
        if card.kind == "prototype":
            return "it moves the weights of every class at once, and outputs are not classes"
        if card.kind == "bandit":
            return "it is told only whether its choice was right"
        if card.algebras == ("kernel",) or any(field.kind == "reservoir" for field in card.state.values()):
            return "it remembers rows, and a difference of features is none"
        return reason or "its update is not made for differences of features"

    def default_labels(self, rows: int) -> Any:
        return np.ones(rows)

    def encode(self, labels: Labels, y: LabelsLike, rows: int) -> tuple[Any, list[Segment]]:
        return targets(y, "required margin"), [Segment(0, rows, 0)] if rows else []

    def report_truth(self, labels: Labels, y: LabelsLike) -> NDArray[Any]:
        return np.asarray(y, np.float64)

    def decide(self, labels: Labels, scores: Floats) -> NDArray[Any]:
        return scores

    def mistakes(self, labels: Labels, outcome: Outcome) -> NDArray[np.bool_]:
        return np.asarray(outcome.scores <= 0.0)

    def margins(self, labels: Labels, outcome: Outcome) -> Floats:
        return np.asarray(outcome.scores - (outcome.truth - 1.0))
