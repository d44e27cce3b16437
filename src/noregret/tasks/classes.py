"""What binary and multiclass classification have in common: one class for every row, numbered as it appears."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from noregret.data.inputs import LabelsLike
from noregret.data.labels import UNIVERSUM, Labels
from noregret.errors import BadValue
from noregret.rules.rule_card import RuleCard
from noregret.state.space import Shape
from noregret.tasks import label_queries
from noregret.tasks.outcome import Outcome, Segment
from noregret.tasks.task import Floats, Task

NONE = np.zeros(0, np.int64)


class Classification(Task):
    """One class for every row."""

    one_label = True
    no_probabilities = None
    races = ("scw1",)
    signed_examples = True
    needs_asked_classes: ClassVar[str] = (
        'labels="asked" needs classes=[...]: a label that is not asked for cannot bring a new class'
    )

    @classmethod
    def check_params(cls, card: RuleCard, rule_options: Any, given: dict[str, Any]) -> dict[str, float]:
        asks = given.get("task.labels", given.get("labels")) == "asked"
        if not asks and {"ask", "task.ask"} & set(given):
            raise BadValue(f'{card.name}: ask is for labels that are asked for; say labels="asked", or leave it out')
        return super().check_params(card, rule_options, given)

    @property
    def queries_labels(self) -> bool:
        return self.chosen["labels"] == "asked"

    @property
    def scores_are_log_odds(self) -> bool:
        return self.rule_options.get("loss") == "logistic"

    def state_shape(self, average: int | None) -> Shape:
        fields, counters = super().state_shape(average)
        return Shape(fields, {**counters, **(label_queries.COUNTERS if self.queries_labels else {})})

    def encode(self, labels: Labels, y: LabelsLike, rows: int) -> tuple[Any, list[Segment]]:
        codes = labels.encode(y)
        return codes, self.cut(labels, codes, rows)

    def cut(self, labels: Labels, codes: NDArray[np.int64], rows: int) -> list[Segment]:
        """The rounds between appearances of new classes."""
        before = labels.committed
        labels.refuse_new(before, codes)
        self.check_number(labels)
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

    def check_number(self, labels: Labels) -> None:
        """Refuse more classes than the task allows."""

    def scores(self, labels: Labels, outcomes: list[Outcome]) -> Floats:
        """One array for all rounds; when a third class came on the way, earlier rounds are shown as it sees them."""
        if all(outcome.scores.ndim == 1 for outcome in outcomes):
            return super().scores(labels, outcomes)
        classes = max(outcome.segment.known for outcome in outcomes)
        return np.concatenate([widen(labels, outcome, classes) for outcome in outcomes])


def widen(labels: Labels, outcome: Outcome, classes: int) -> Floats:
    """The scores of a slice with a column for each class, -inf for those not yet seen."""
    wide = np.full((len(outcome.truth), classes), -np.inf)
    if outcome.scores.ndim == 2:
        wide[:, : outcome.scores.shape[1]] = outcome.scores
        return wide
    for code, sign in enumerate(labels.signs(outcome.segment.known)):
        wide[:, code] = 0.5 * sign * outcome.scores
    if outcome.known_at_first < outcome.segment.known:
        wide[0, outcome.segment.known - 1] = -np.inf
    return wide


def find_classified(truth: Floats, many: bool) -> NDArray[np.bool_] | None:
    """Which rounds have a class, by their truth as the loop reads it; None where all have."""
    return None if many or truth.all() else truth != 0.0


def universum_rows(y: LabelsLike) -> NDArray[np.int64]:
    """The rows whose label says that they belong to neither class."""
    if isinstance(y, np.ndarray) and y.dtype != object:
        return NONE
    return np.array([row for row, label in enumerate(y) if label is UNIVERSUM], np.int64)


def refuse_universum(rows: NDArray[np.int64], reason: str) -> None:
    if rows.size:
        raise BadValue(f"row {rows[0]}: UNIVERSUM cannot be learned: {reason}", row=int(rows[0]))
