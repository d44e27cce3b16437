"""One-class learning (novelty detection): u = (x - w) / |x - w|, margin = 1 - (|x - w| - reach).

The reach is the radius that was given or, without one, the distance of the farthest row so far from the centre of its
round; the centre begins at the first row then. A radius is learned by the height of the centre above the rows: the ball
cuts the rows in one of radius sqrt(reach^2 - height^2). Rows labelled as outside are scored, and not learned.

A rule that keeps a level itself has no ball: a row is inside if its score is at least the level (`level_set`).
"""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.algebra.centre import distance, toward
from noregret.algebra.internal_verbs import row
from noregret.algebra.verbs import add, unbound
from noregret.data.inputs import LabelsLike
from noregret.data.labels import Labels
from noregret.errors import BadValue, shown
from noregret.rules.parameters import Choice, Param
from noregret.rules.rule_card import RuleCard
from noregret.state.space import Shape
from noregret.tasks import level_set
from noregret.tasks.costs import Costs
from noregret.tasks.outcome import Outcome, Segment
from noregret.tasks.task import Flags, Floats, G, P, R, S, Task

update = follow = unbound


def play(p: P, g: G, s: S, X: R, y: Floats, h: Floats, out: Floats, updated: Flags, aux: Floats) -> None:
    for t in range(y.size):
        x = row(X, t)
        away = distance(s.w, x)
        out[t] = away - s.n.reach
        if h[t] > 0.0 and y[t] > 0.0:
            s.n.t += 1.0
            now = follow(s, x, away)
            changed = update(p, s, toward(s.w, x, now), 1.0 - (now - s.n.reach), h[t])
            updated[t] = changed or now != away


def score_rows(p: P, g: G, s: S, X: R, out: Floats) -> None:
    for t in range(out.size):
        out[t] = distance(s.w, row(X, t)) - s.n.reach


def keep_reach(s: S, x: R, away: float) -> float:
    """The distance of a row from the centre; the reach stays as it is."""
    return away


def follow_rows(s: S, x: R, away: float) -> float:
    """Reach as far as this row, if none was so far; returns its distance from the centre after that.

    The first row is the centre. A larger reach lifts the centre, so that the radius among the rows stays the same.
    """
    if s.n.t == 1.0:
        add(s.w, away, toward(s.w, x, away))
        return 0.0
    square = max(away * away - s.n.w_height * s.n.w_height, 0.0)
    if square <= s.n.reach * s.n.reach:
        return away
    s.n.w_height = math.sqrt(s.n.w_height * s.n.w_height + square - s.n.reach * s.n.reach)
    s.n.reach = math.sqrt(square)
    return math.sqrt(square + s.n.w_height * s.n.w_height)


FEW = 50  # with fewer rounds, nothing is said about the radius


class OneClass(Task):
    """A score is how far a row lies outside the ball, or below the level; up to 0 it is inside, which is label +1."""

    name = "one-class"
    about = "a ball around rows of one kind, and how far outside it others are"
    params = {
        "radius": Param(1.0, at_least=0.0, about="how far from the centre a row may be; without it, it is learned")
    }
    options = {
        "learn_radius": Choice(
            "rows",
            {"yes": keep_reach, "no": keep_reach, "rows": follow_rows},
            "whether the radius is learned: from 0 up to the one that is given (yes), not at all (no: the default if "
            "one is given), or from the rows alone (rows: the default without one)",
            binds="follow",
        )
    }
    labelled = False
    measured = True
    needs_labels = False
    default_learner = "pa1"
    scores_unknown = True
    own_params = ("radius",)  # the radius of a set to stay in means nothing where rows have a centre
    reading = {"labelled": False, "label_left_out": True}
    bias_by_default = False
    notes = ("rows are learned as one class; those labelled -1 are scored, not learned",)
    no_classes = "one-class has a single class"
    play, score_rows = staticmethod(play), staticmethod(score_rows)

    @classmethod
    def why_not(cls, card: RuleCard, rule_options: Any = None) -> str | None:
        if super().why_not(card, rule_options) is None:
            return None
        return "its weights do not only move by steps toward a row, or it updates on mistakes"

    @classmethod
    def configure(
        cls, card: RuleCard, rule_options: Mapping[str, str], cost: Costs | None, given: dict[str, Any]
    ) -> Task:
        radius, learns = cls.take(given, "radius"), cls.take(given, "learn_radius")
        if card.level is not None and (radius is not None or learns is not None):
            raise BadValue(f"{card.name} finds a level of the scores, not a ball; leave radius and learn_radius out")
        if learns is None:
            learns = "rows" if radius is None else "no"
        if isinstance(learns, bool):
            learns = "yes" if learns else "no"
        given["learn_radius"] = learns
        if learns == "rows" and radius is not None:
            raise BadValue("learn_radius='rows' learns the radius from the rows alone; leave radius out")
        if radius is not None:
            given["radius"] = radius
        return super().configure(card, rule_options, cost, given)

    @classmethod
    def why_no_average(cls) -> str | None:
        return "a centre cannot be averaged; leave average out"

    @classmethod
    def why_no_random_start(cls) -> str | None:
        return "a centre begins at the first row"

    @classmethod
    def select_loop(cls, card: RuleCard, chosen: Mapping[str, str]) -> Callable[..., Any]:
        return cls.play if card.level is None else level_set.play

    @classmethod
    def select_scoring(cls, card: RuleCard) -> Callable[..., Any]:
        return cls.score_rows if card.level is None else level_set.score_rows

    def state_shape(self, average: int | None) -> Shape:
        if self.card.level is not None:
            return super().state_shape(average)
        learns, radius = self.chosen["learn_radius"], self.numbers["radius"]
        return self.card.centre_shape(radius if learns == "yes" else 0.0, 0.0 if learns == "rows" else radius)

    def default_labels(self, rows: int) -> Any:
        return np.ones(rows, np.int64)

    def encode(self, labels: Labels, y: LabelsLike, rows: int) -> tuple[Any, list[Segment]]:
        return sides(y), [Segment(0, rows, 0)] if rows else []

    def decide(self, labels: Labels, scores: Floats) -> NDArray[Any]:
        return np.where(scores <= 0.0, 1, -1)

    def mistakes(self, labels: Labels, outcome: Outcome) -> NDArray[np.bool_]:
        return np.asarray((outcome.scores <= 0.0) != (outcome.truth > 0.0))

    def warnings(self, counters: Any, updates: int) -> Iterator[str]:
        rounds = 0.0 if counters is None else float(counters.t)
        if self.chosen["learn_radius"] == "no" and rounds >= FEW and updates > rounds / 2:
            yield (f"most rows lie outside the radius {self.numbers['radius']:g}: --set radius=R makes it larger, "
                   "--set learn_radius=yes learns it up to the one that is given, and without a radius it is learned "
                   "from the rows")  # fmt: skip

    def margins(self, labels: Labels, outcome: Outcome) -> Floats:
        return np.where(outcome.truth > 0.0, 1.0 - outcome.scores, np.inf)


def sides(y: LabelsLike) -> np.ndarray:
    """+1 for rows inside and -1 for those outside; a row without a label is inside."""
    try:
        labels = np.asarray(y)
    except ValueError:
        raise BadValue("y must be one label for every row") from None
    if labels.ndim != 1:
        raise BadValue(f"y must be one label for every row, not an array of shape {labels.shape}")
    if labels.dtype.kind == "b":
        found = np.where(labels, 1.0, -1.0)
    elif labels.dtype.kind in "iuf":
        found = np.select([(labels == 1) | np.isnan(labels), labels == -1], [1.0, -1.0])
    else:
        found = np.array([side(label) for label in labels.tolist()])
    wrong = np.flatnonzero(found == 0.0)
    if wrong.size:
        row = int(wrong[0])
        expected = f"1 or True for a row inside, -1 or False for one outside, not {shown(labels.item(row))}"
        raise BadValue(f"row {row}: the labels of one-class are {expected}; leave y out to learn all rows", row=row)
    return found


def side(label: Any) -> float:
    """+1 inside, -1 outside, 0 for what is no label of this task."""
    label = label.item() if isinstance(label, np.generic) else label
    if label is None or label is True or (isinstance(label, float) and label != label):
        return 1.0
    if label is False:
        return -1.0
    return float(label) if isinstance(label, (int, float)) and label in (-1, 1) else 0.0
