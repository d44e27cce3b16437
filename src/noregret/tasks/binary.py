"""Binary classification: z = y x, margin = y f.

An example of neither class (UNIVERSUM, y = 0) pulls its score to zero: z = -sign(f) x, margin = 1 - |f| + universum.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.algebra.internal_verbs import scaled_by
from noregret.algebra.verbs import unbound
from noregret.data.inputs import LabelsLike
from noregret.data.labels import UNIVERSUM, Labels, as_array
from noregret.errors import BadValue
from noregret.rules.losses import LOSSES
from noregret.rules.parameters import Param
from noregret.rules.probing import is_loss_driven
from noregret.tasks.classes import Classification, refuse_universum, universum_rows
from noregret.tasks.label_queries import ASK, LABELS
from noregret.tasks.multiclass import Multiclass
from noregret.tasks.outcome import Outcome, Segment
from noregret.tasks.task import Flags, Floats, G, P, R, S, Task

update = final = final_row = row_and_score = revealed = unbound
final_differs: Any = unbound  # whether predictions use other weights than training does


def play(p: P, g: G, s: S, X: R, y: Floats, h: Floats, out: Floats, updated: Flags, aux: Floats) -> None:
    for t in range(y.size):
        x, f = row_and_score(p, s, X, t)
        out[t] = final(p, s, x) if final_differs else f
        side, margin = y[t], y[t] * f
        if side == 0.0:
            side, margin = -math.copysign(1.0, f), 1.0 - abs(f) + g.universum
        if final_differs:
            aux[t] = margin
        if h[t] > 0.0 and revealed(g, s, abs(f)):
            s.n.t += 1.0
            updated[t] = update(p, s, scaled_by(x, side), margin, h[t])


def score_rows(p: P, g: G, s: S, X: R, out: Floats) -> None:
    for t in range(out.size):
        out[t] = final_row(p, s, X, t)


class Binary(Classification):
    """A sign for each of two classes; where no task was asked for, a third class makes it multiclass.

    aux is the margin that the rule was given, where predictions use other weights than training does.
    """

    name = "binary"
    about = "two classes"
    params = {
        "ask": ASK,
        "universum": Param(0.1, at_least=0.0, about="how far from 0 the score of an example of neither class may be"),
    }
    options = {"labels": LABELS}
    most_classes = 2
    play, score_rows = staticmethod(play), staticmethod(score_rows)

    grows = False  # whether a third class makes the learner multiclass, because no task was asked for

    def check_number(self, labels: Labels) -> None:
        if len(labels) > 2 and not self.grows:
            raise BadValue(
                f"the binary task has two classes, and {labels.order[2]!r} is a third; "
                'leave task out, or make the learner with task="multiclass"'
            )
        if len(labels) > 2 and "multiclass" not in self.card.tasks_with(self.rule_options):
            raise BadValue(f"{self.card.name} plays two classes only, and {labels.order[2]!r} is a third")

    def encode(self, labels: Labels, y: LabelsLike, rows: int) -> tuple[Any, list[Segment]]:
        neither = universum_rows(y)
        if not neither.size:
            return super().encode(labels, y, rows)
        self.check_universum(neither)
        codes = labels.encode(fill_universum(labels, y))
        codes[neither] = -1
        third = np.flatnonzero(codes >= 2)
        if third.size:
            refuse_universum(neither[neither > third[0]], "a third class came before it")
        return codes, self.cut(labels, codes, rows)

    def check_universum(self, rows: NDArray[np.int64]) -> None:
        """Only a rule that updates while there is a loss, and not beyond, can pull a score to zero and stop there."""
        loss = self.rule_options.get("loss")
        if self.card.kind == "margin":
            pulls = is_loss_driven(self.card, tuple(self.rule_options.items()))
        else:
            pulls = loss is not None and LOSSES[loss].slope(0.999) < 0.0 and LOSSES[loss].slope(1.0) == 0.0
        if not pulls:
            what = self.card.name if loss is None else f"{self.card.name} with the loss {loss!r}"
            refuse_universum(rows, f"{what} does not stop where the hinge loss is 0; use pa1, arow or the hinge loss")

    def to_multiclass(self) -> Multiclass:
        return Multiclass(self.card, self.rule_options, self.numbers, self.chosen, self.cost)

    def for_classes(self, labels: Labels) -> Task:
        if len(labels) > 2 and not self.grows:
            raise BadValue(f"the binary task has two classes, not {len(labels)}")
        return self.to_multiclass() if len(labels) > 2 else self

    def grown(self, labels: Labels) -> Task | None:
        return self.to_multiclass() if self.grows else None

    def successor(self, labels: Labels, segment: Segment) -> Task | None:
        return self.to_multiclass() if segment.known == 3 else None

    def merge_with(self, other: Task, labels: Labels) -> Task:
        return self if len(labels) <= 2 and isinstance(other, Binary) else self.to_multiclass()

    def flips(self, labels: Labels, segment: Segment) -> bool:
        return segment.fresh > 0 and labels.turns(segment.known)

    def truth(self, labels: Labels, segment: Segment, codes: Any) -> Floats:
        signs = np.append(labels.signs(segment.known), 0.0)  # an example of neither class has the code -1: the last
        return np.asarray(signs.take(codes[segment.start : segment.stop], mode="wrap"))

    def decide(self, labels: Labels, scores: Floats) -> NDArray[Any]:
        return np.asarray(as_array(list(labels.sides(len(labels))))[(scores >= 0.0).astype(int)])

    def mistakes(self, labels: Labels, outcome: Outcome) -> NDArray[np.bool_]:
        f, y = outcome.scores, outcome.truth
        wrong = (f >= 0.0) != (y > 0.0)
        negative, positive = labels.sides(outcome.segment.known)
        if outcome.segment.known == 1 and negative == positive:
            wrong[:] = False
        if outcome.known_at_first < outcome.segment.known:
            wrong[0] = first_prediction(labels, outcome) != labels.order[outcome.segment.known - 1]
        return np.asarray(wrong & (y != 0.0))

    def predictions(self, labels: Labels, outcome: Outcome) -> NDArray[Any]:
        f = outcome.scores
        sides = as_array(list(labels.sides(outcome.segment.known)))
        found = sides[(f >= 0.0).astype(int)]
        if outcome.known_at_first < outcome.segment.known:
            return as_array([first_prediction(labels, outcome), *found[1:].tolist()])
        return np.asarray(found)

    def training_margins(self, outcome: Outcome) -> Floats | None:
        return outcome.aux

    def margins(self, labels: Labels, outcome: Outcome) -> Floats:
        margins, neither = outcome.truth * outcome.scores, outcome.truth == 0.0
        margins[neither] = 1.0 - np.abs(outcome.scores[neither]) + self.numbers["universum"]
        return np.asarray(margins)


def fill_universum(labels: Labels, y: LabelsLike) -> list[Any]:
    """The labels with each UNIVERSUM replaced by the label before it, which some round must have had."""
    filled = list(y)
    last: Any = labels.order[0] if len(labels) else UNIVERSUM
    for at, label in enumerate(filled):
        if label is UNIVERSUM and last is UNIVERSUM:
            refuse_universum(np.array([at]), "no class is known yet; learn a round of one first")
        last = filled[at] = last if label is UNIVERSUM else label
    return filled


def first_prediction(labels: Labels, outcome: Outcome) -> Any:
    """The label that was predicted on the round that brought a new class; None where none could be."""
    known, f = outcome.known_at_first, outcome.scores[0]
    negative, positive = labels.sides(2 if known == 1 and labels.has_signs() else 1)
    if known == 0 and negative == positive:
        return None
    if labels.turns(outcome.segment.known):  # the weights have changed their sign since
        f = -f
    return positive if f >= 0.0 else negative
