"""A set of labels for every row; labels are numbered as they appear, and several may be new in one row."""

from collections.abc import Iterable, Set
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from noregret.data.labels import Labels
from noregret.errors import BadValue, shown
from noregret.tasks.task import Outcome, Segment, Task, loss_value, suffered

if TYPE_CHECKING:
    from noregret.learner.rule_learner import Learner


class Codes(NamedTuple):
    """The numbers of the labels of all rows, one row after the other, and where each row begins."""

    starts: np.ndarray
    labels: np.ndarray


class Sets(Task):
    """A score for every label, measured from the threshold: the predicted set is the labels above it.

    The loss of a round is the sum of those of its steps, at the scores it was predicted with.
    """

    ahead = 1  # the block of the virtual label

    def arrays(self, learner: "Learner") -> list[np.ndarray]:
        assert learner.space is not None
        return [np.zeros(learner.space.class_room)]

    # ---- in --------------------------------------------------------------------------------------------------

    def taken(self, learner: "Learner", y: Any, rows: int) -> tuple[Any, list[Segment]]:
        labels, before = learner.labels, learner.classes_before
        codes = by_columns(labels, y) if getattr(y, "ndim", 1) == 2 else by_rows(labels, y)
        sizes = np.diff(codes.starts)
        of_row = np.repeat(np.arange(rows), sizes)
        if labels.fixed and len(labels) > before:
            row = int(of_row[np.argmax(codes.labels >= before)])
            told, new = labels.order[:before], labels.order[before]
            raise at_row(f"the label {new!r} is not one of the classes of this learner: {told}", row, rows)
        if labels.fixed and bool((sizes == len(labels)).any()):
            row = int(np.argmax(sizes == len(labels)))
            raise at_row(f"every label there is is the row's, all {len(labels)} of them; leave the row out", row, rows)
        if not rows:
            return codes, []
        highest = np.full(rows, before - 1)
        np.maximum.at(highest, of_row, codes.labels)
        if getattr(y, "ndim", 1) == 2:  # a matrix names all its columns at once
            highest[:] = len(labels) - 1
        known = np.maximum.accumulate(highest) + 1
        starts = np.flatnonzero(np.diff(known, prepend=-1))
        fresh = np.diff(known[starts], prepend=before)
        stops = [*starts[1:].tolist(), rows]
        return codes, [
            Segment(start, stop, int(known[start]), new)
            for start, stop, new in zip(starts.tolist(), stops, fresh.tolist(), strict=True)
        ]

    def truth(self, learner: "Learner", segment: Segment, codes: Any) -> np.ndarray:
        starts = codes.starts[segment.start : segment.stop + 1]
        found = np.zeros((segment.stop - segment.start, segment.known))
        found[np.repeat(np.arange(len(found)), np.diff(starts)), codes.labels[starts[0] : starts[-1]]] = 1.0
        return found

    def shown(self, learner: "Learner", y: Any) -> np.ndarray:
        codes = by_columns(learner.labels, y) if getattr(y, "ndim", 1) == 2 else by_rows(learner.labels, y)
        parts = np.split(codes.labels, codes.starts[1:-1]) if len(codes.starts) > 1 else []
        return tuples([sorted(part.tolist()) for part in parts], learner.labels.order)

    def room(self, rows: int, known: int) -> np.ndarray:
        return np.zeros((rows, known))

    def seal(self, outcome: Outcome) -> None:
        if outcome.known_at_first < outcome.segment.known:
            outcome.scores[0, outcome.known_at_first :] = -np.inf

    # ---- out -------------------------------------------------------------------------------------------------

    def decided(self, learner: "Learner", scores: np.ndarray) -> np.ndarray:
        return tuples([np.flatnonzero(row).tolist() for row in scores > 0.0], learner.labels.order)

    def scores(self, learner: "Learner", outcomes: list[Outcome]) -> np.ndarray:
        return widened([outcome.scores for outcome in outcomes], -np.inf)

    def relevance(self, learner: "Learner", outcomes: list[Outcome]) -> np.ndarray:
        return np.asarray(widened([outcome.truth for outcome in outcomes], 0.0) > 0.0)

    def mistaken(self, learner: "Learner", outcome: Outcome) -> np.ndarray:
        return np.asarray(((outcome.scores > 0.0) != (outcome.truth > 0.0)).any(axis=1))

    def margins(self, learner: "Learner", outcome: Outcome) -> np.ndarray:
        """The smaller of the margins of the two steps, or that of the only one."""
        own, others = self.steps(learner, outcome)
        return np.asarray(np.minimum(own, others))

    def losses(self, learner: "Learner", outcome: Outcome) -> np.ndarray:
        loss = loss_value(learner)
        own, others = self.steps(learner, outcome)
        return np.asarray(suffered(loss, own) + suffered(loss, others))

    def steps(self, learner: "Learner", outcome: Outcome) -> tuple[np.ndarray, np.ndarray]:
        """The margins of both steps, as the row was predicted; infinite where there is no such step."""
        others = -np.max(np.where(outcome.truth > 0.0, -np.inf, outcome.scores), axis=1)
        if dict(learner.settings.setup_of(self.task))["threshold"] == "virtual":
            return outcome.aux, others
        return np.full(len(others), np.inf), outcome.aux + others


def widened(parts: list[np.ndarray], empty: float) -> np.ndarray:
    """Arrays one below the other, with as many columns as the widest has."""
    found = np.full((sum(map(len, parts)), max(part.shape[1] for part in parts)), empty)
    start = 0
    for part in parts:
        found[start : start + len(part), : part.shape[1]] = part
        start += len(part)
    return found


def tuples(codes: list[list[int]], order: list[Any]) -> np.ndarray:
    """Tuples of labels as an array of objects."""
    found = np.empty(len(codes), object)
    for row, numbers in enumerate(codes):
        found[row] = tuple(order[number] for number in numbers)
    return found


# ---- what a user hands over ------------------------------------------------------------------------------------


def at_row(message: str, row: int, rows: int) -> BadValue:
    return BadValue(f"row {row}: {message}" if rows > 1 else message, row)


def by_rows(labels: Labels, y: Any) -> Codes:
    """The labels of every row: any collection of them, or one alone. New ones of a set come in the order of sorting."""
    if not isinstance(y, np.ndarray):
        y = list(y)
    starts, found = [0], list[int]()
    for row, given in enumerate(y if isinstance(y, list) else y.tolist()):
        try:
            found += dict.fromkeys(labels.code[label] for label in listed(given))
        except TypeError:
            raise at_row(f"labels must be numbers, strings or truth values, not {shown(given)}", row, len(y)) from None
        except BadValue as error:
            raise at_row(str(error), row, len(y)) from None
        if len(found) == starts[-1]:
            raise at_row("the set of labels is empty; every row needs at least one label", row, len(y))
        starts.append(len(found))
    return Codes(np.array(starts), np.array(found, np.int64))


def listed(given: Any) -> Iterable[Any]:
    """The labels of one row, in an order that does not depend on how they were hashed."""
    if isinstance(given, np.ndarray):
        given = given.tolist()
    if isinstance(given, Set):
        return sorted(given, key=lambda label: (isinstance(label, str), label))
    return given if isinstance(given, (list, tuple)) else (given,)


def by_columns(labels: Labels, y: Any) -> Codes:
    """The labels of a matrix of 0 and 1, whose columns are the classes: those told beforehand, or their numbers."""
    y = np.asarray(y)
    if not labels.fixed and labels.order != list(range(len(labels))):
        raise BadValue("the columns of y are classes, and this learner knows others by name; tell it classes=[...]")
    if (labels.fixed or len(labels)) and y.shape[1] != len(labels):
        raise BadValue(f"y has {y.shape[1]} columns and the learner {len(labels)} classes; they must match")
    sound = y.dtype.kind in "fiub" and bool(((y == 0) | (y == 1)).all())
    if not sound:
        wrong = int(np.argmax(~((y == 0) | (y == 1)).all(axis=1))) if y.dtype.kind in "fiub" else None
        raise BadValue(f"{'' if wrong is None else f'row {wrong}: '}an array of labels holds only 0 and 1", wrong)
    sizes = np.count_nonzero(y, axis=1)
    if not sizes.all():
        row = int(np.argmin(sizes))
        raise at_row("the set of labels is empty; every row needs at least one label", row, len(y))
    for column in range(y.shape[1]):
        if not labels.fixed:
            labels.code[column]
    return Codes(np.concatenate(([0], np.cumsum(sizes))), np.nonzero(y)[1])
