"""One class for every row: two of them, or many. A learner of two becomes one of many when the third appears."""

from typing import TYPE_CHECKING, Any

import numpy as np

from noregret.data.labels import UNIVERSUM, as_array
from noregret.errors import BadValue
from noregret.rules.card import loss_driven
from noregret.rules.losses import LOSSES
from noregret.tasks.costs import matrix
from noregret.tasks.task import Outcome, Segment, Task, loss_value, refuse_third, suffered

if TYPE_CHECKING:
    from noregret.learner.rule_learner import Learner

NONE = np.zeros(0, np.int64)


class Classes(Task):
    """What two classes and many have in common."""

    def taken(self, learner: "Learner", y: Any, rows: int) -> tuple[Any, list[Segment]]:
        codes = learner.labels.encode(y)
        return codes, cut(learner, codes, rows)

    def scores(self, learner: "Learner", outcomes: list[Outcome]) -> np.ndarray:
        """One array for all rounds; when a third class came on the way, earlier rounds are shown as it sees them."""
        if all(outcome.scores.ndim == 1 for outcome in outcomes):
            return super().scores(learner, outcomes)
        classes = max(outcome.segment.known for outcome in outcomes)
        return np.concatenate([widened(learner, outcome, classes) for outcome in outcomes])


def cut(learner: "Learner", codes: np.ndarray, rows: int) -> list[Segment]:
    """The rounds between appearances of new classes."""
    labels, before = learner.labels, learner.classes_before
    labels.refuse_new(before, codes)
    refuse_third(learner)
    total = len(labels)
    if total == before:
        return [Segment(0, rows, total)] if rows else []
    if total - before <= 8:
        firsts = np.array([np.argmax(codes == code) for code in range(before, total)])
    else:
        highest = np.maximum.accumulate(np.concatenate(([before - 1], codes[:-1])))
        firsts = np.flatnonzero(codes > highest)
    segments = [Segment(0, int(firsts[0]), before)] if firsts[0] > 0 else []
    stops = [*firsts[1:].tolist(), rows]
    for number, (start, stop) in enumerate(zip(firsts.tolist(), stops, strict=True)):
        segments.append(Segment(start, stop, before + number + 1, 1))
    return segments


def widened(learner: "Learner", outcome: Outcome, classes: int) -> np.ndarray:
    """The scores of a slice with a column for each class, -inf for those not yet seen."""
    wide = np.full((len(outcome.truth), classes), -np.inf)
    if outcome.scores.ndim == 2:
        wide[:, : outcome.scores.shape[1]] = outcome.scores
        return wide
    for code, sign in enumerate(learner.labels.signs(outcome.segment.known)):
        wide[:, code] = 0.5 * sign * outcome.scores
    if outcome.known_at_first < outcome.segment.known:
        wide[0, outcome.segment.known - 1] = -np.inf
    return wide


def universum(y: Any) -> np.ndarray:
    """The rows whose label says that they are of neither class."""
    if isinstance(y, np.ndarray) and y.dtype != object:
        return NONE
    return np.array([row for row, label in enumerate(y) if label is UNIVERSUM], np.int64)


def refuse_neither(rows: np.ndarray, reason: str) -> None:
    if rows.size:
        raise BadValue(f"row {rows[0]}: a round of UNIVERSUM cannot be learned: {reason}", row=int(rows[0]))


def must_pull(learner: "Learner", rows: np.ndarray) -> None:
    """Only a rule that moves while there is a loss, and not beyond, can pull a score to zero and stop there."""
    loss = dict(learner.settings.choices).get("loss")
    if learner.card.kind == "margin":
        pulls = loss_driven(learner.card, learner.settings.choices)
    else:
        pulls = loss is not None and LOSSES[loss].slope(0.999) < 0.0 and LOSSES[loss].slope(1.0) == 0.0
    if not pulls:
        what = learner.card.name if loss is None else f"{learner.card.name} with the loss {loss!r}"
        refuse_neither(rows, f"{what} does not move just where the hinge loss is left; use pa1, arow or that loss")


class Two(Classes):
    """A sign for each of two classes, and none for examples of neither."""

    def taken(self, learner: "Learner", y: Any, rows: int) -> tuple[Any, list[Segment]]:
        neither = universum(y)
        if not neither.size:
            return super().taken(learner, y, rows)
        must_pull(learner, neither)
        codes = learner.labels.encode(filled(learner, y))
        codes[neither] = -1
        third = np.flatnonzero(codes >= 2)
        if third.size:
            refuse_neither(neither[neither > third[0]], "a third class came before it, and then there is no neither")
        return codes, cut(learner, codes, rows)

    def truth(self, learner: "Learner", segment: Segment, codes: Any) -> np.ndarray:
        own = codes[segment.start : segment.stop]
        return np.where(own < 0, 0.0, learner.labels.signs(segment.known)[own])

    def decided(self, learner: "Learner", scores: np.ndarray) -> np.ndarray:
        return np.asarray(as_array(list(learner.labels.sides(len(learner.labels))))[(scores >= 0.0).astype(int)])

    def mistaken(self, learner: "Learner", outcome: Outcome) -> np.ndarray:
        f, y = outcome.scores, outcome.truth
        wrong = (f >= 0.0) != (y > 0.0)
        negative, positive = learner.labels.sides(outcome.segment.known)
        if outcome.segment.known == 1 and negative == positive:
            wrong[:] = False
        if outcome.known_at_first < outcome.segment.known:
            first = first_sides(learner, outcome)[int(f[0] >= 0.0)]
            wrong[0] = first != learner.labels.order[outcome.segment.known - 1]
        return np.asarray(wrong & (y != 0.0))

    def predicted(self, learner: "Learner", outcome: Outcome) -> np.ndarray:
        f = outcome.scores
        labels_of_sides = as_array(list(learner.labels.sides(outcome.segment.known)))
        found = labels_of_sides[(f >= 0.0).astype(int)]
        if outcome.known_at_first < outcome.segment.known:
            first = first_sides(learner, outcome)[int(f[0] >= 0.0)]
            return as_array([first, *found[1:].tolist()])
        return np.asarray(found)

    def margins(self, learner: "Learner", outcome: Outcome) -> np.ndarray:
        margins, neither = outcome.truth * outcome.scores, outcome.truth == 0.0
        eps = learner.settings.setting_of(self.task)["universum"]
        margins[neither] = 1.0 - np.abs(outcome.scores[neither]) + eps
        return np.asarray(margins)


def filled(learner: "Learner", y: Any) -> list[Any]:
    """The labels with each UNIVERSUM standing under the label before it, which some round must have had."""
    labels = list(y)
    last: Any = learner.labels.order[0] if len(learner.labels) else UNIVERSUM
    for row, label in enumerate(labels):
        if label is UNIVERSUM and last is UNIVERSUM:
            refuse_neither(np.array([row]), "no class is known yet; learn a round of one first")
        last = labels[row] = last if label is UNIVERSUM else label
    return labels


def first_sides(learner: "Learner", outcome: Outcome) -> tuple[Any, Any]:
    """The two labels that could be predicted on the round that brought a new class."""
    known = outcome.known_at_first
    negative, positive = learner.labels.sides(known)
    if known == 0:
        negative, positive = learner.labels.sides(1)
        if negative == positive:
            return None, None
    elif learner.labels.turns(2):
        return positive, negative
    elif learner.labels.has_signs():
        return learner.labels.sides(2)
    return negative, positive


class Many(Classes):
    """A block of weights, and a score, for every class."""

    def taken(self, learner: "Learner", y: Any, rows: int) -> tuple[Any, list[Segment]]:
        refuse_neither(universum(y), "it is of neither of two classes, and this learner has many")
        return super().taken(learner, y, rows)

    def arrays(self, learner: "Learner") -> list[np.ndarray]:
        assert learner.space is not None
        room = learner.space.class_room
        return [np.zeros(room), np.zeros(room), required_margins(learner, room)]

    def seal(self, outcome: Outcome) -> None:
        if outcome.known_at_first < outcome.segment.known:
            outcome.scores[0, outcome.known_at_first :] = -np.inf

    def decided(self, learner: "Learner", scores: np.ndarray) -> np.ndarray:
        return np.asarray(as_array(learner.labels.order)[np.argmax(scores, axis=1)])

    def mistaken(self, learner: "Learner", outcome: Outcome) -> np.ndarray:
        wrong = np.argmax(outcome.scores, axis=1) != outcome.truth
        wrong[np.isneginf(outcome.scores).all(axis=1)] = True
        return np.asarray(wrong)

    def predicted(self, learner: "Learner", outcome: Outcome) -> np.ndarray:
        f, labels = outcome.scores, learner.labels.order[: outcome.segment.known]
        nothing = np.atleast_1d(np.isneginf(f).all(axis=1))
        if nothing.any():
            chosen = [None if none else labels[c] for none, c in zip(nothing, np.argmax(f, axis=1), strict=True)]
            return as_array(chosen)
        return np.asarray(as_array(labels)[np.argmax(f, axis=1)])

    def margins(self, learner: "Learner", outcome: Outcome) -> np.ndarray:
        f, truth, k = outcome.scores, outcome.truth.astype(int), outcome.scores.shape[1]
        rounds, setup = np.arange(len(truth)), dict(learner.settings.setup_of(self.task))
        if k == 1:
            return np.full(len(truth), np.inf)
        own = np.where(np.isneginf(f), 0.0, f)[rounds, truth]
        others = f.copy()
        others[rounds, truth] = -np.inf
        owed = np.broadcast_to(required_margins(learner, k), (k, k))[truth]
        rival = np.argmax(others + owed if setup["competitor"] == "max_loss" else others, axis=1)
        margin = own - others[rounds, rival] - (owed[rounds, rival] - 1.0)
        if setup["competitor"] == "predicted":
            margin[np.argmax(f, axis=1) == truth] = np.inf
        return np.asarray(margin)

    def losses(self, learner: "Learner", outcome: Outcome) -> np.ndarray:
        """Of one rival its loss; where each class plays against the rest, the sum of theirs."""
        if dict(learner.settings.setup_of(self.task))["competitor"] != "rest":
            return super().losses(learner, outcome)
        f = np.where(np.isneginf(outcome.scores), 0.0, outcome.scores)
        own = np.arange(f.shape[1]) == outcome.truth[:, None]
        return np.asarray(suffered(loss_value(learner), np.where(own, f, -f)).sum(axis=1))


def required_margins(learner: "Learner", room: int) -> np.ndarray:
    """By how much the class of a row must beat that of a column; one cell where all it takes is 1."""
    how = dict(learner.settings.setup_of("multiclass"))["margin"]
    if how == "unit":
        return np.ones((1, 1))
    costs = matrix(learner.settings.cost, learner.labels.order, room)
    return np.sqrt(costs) if how == "sqrt" else costs
