"""Lists of rows to be put in order: a list is a round, and every row of it has a relevance."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from noregret.data.blocks import Block, SparseBlock, verify
from noregret.data.labels import targets
from noregret.data.query_groups import LONGEST, group_offsets, group_slices, pair_margins, query_ids
from noregret.errors import BadValue
from noregret.tasks.task import Outcome, Segment, Task, loss_value

if TYPE_CHECKING:
    from noregret.learner.rule_learner import Learner

LIST, RELEVANCE = 0, 1  # columns of what the task is told; the third is the order by relevance


class Lists(Task):
    """Scores are the predictions. A list is wrong when some pair of its rows is in the wrong order, or level.

    The loss of a list is the mean over its pairs, each of a row and one that is less relevant.
    """

    labelled = False
    real = True

    # ---- in --------------------------------------------------------------------------------------------------

    def told(self, y: Any, query: Any) -> Any:
        if query is None:
            raise BadValue("ranking learns from lists: say with query which list each row belongs to")
        relevance = targets(y, "relevance")
        ends = checked(query, relevance.size)
        numbers = np.repeat(np.arange(ends.size - 1), np.diff(ends))
        order = np.lexsort((relevance, numbers))
        return np.column_stack((numbers, relevance, order - ends[:-1][numbers])).astype(np.float64)

    def taken(self, learner: "Learner", y: Any, rows: int) -> tuple[Any, list[Segment]]:
        if not isinstance(y, np.ndarray) or y.ndim != 2:
            raise BadValue("ranking learns from lists, not from single rows: give all rows of a list to learn, as in "
                           "learn(X, y, query=q)")  # fmt: skip
        return y, [Segment(0, rows, 0)] if rows else []

    def arranged(self, block: Block) -> Block:
        """Rows are subtracted in the order of their features, in which those that came as dicts need not be."""
        return verify(block._replace(ready=False)) if isinstance(block, SparseBlock) and block.ready else block

    def weighed(self, h: np.ndarray, codes: Any) -> np.ndarray:
        ends = group_offsets(codes[:, LIST])
        other = np.flatnonzero(h != np.repeat(h[ends[:-1]], np.diff(ends)))
        if other.size:
            row = int(other[0])
            raise BadValue(f"row {row}: its weight is {h[row]:g}, and the list it belongs to began with another; the "
                           "rows of a list have one weight", row=row)  # fmt: skip
        return h

    def borders(self, y: Any) -> Sequence[int]:
        ends: list[int] = group_offsets(y[:, LIST]).tolist()
        return ends

    def arrays(self, learner: "Learner") -> list[np.ndarray]:
        assert learner.space is not None
        return [np.zeros(learner.space.room, np.uint32), np.zeros(learner.space.room)]

    # ---- out -------------------------------------------------------------------------------------------------

    def shown(self, learner: "Learner", y: Any) -> np.ndarray:
        return np.asarray(y[:, RELEVANCE].copy())

    def lists(self, y: Any) -> np.ndarray | None:
        return np.asarray(y[:, LIST].astype(np.int64))

    def decided(self, learner: "Learner", scores: np.ndarray) -> np.ndarray:
        return scores

    def updated(self, outcome: Outcome) -> np.ndarray:
        return np.asarray(outcome.updated[group_offsets(outcome.truth[:, LIST])[:-1]], bool)

    def mistaken(self, learner: "Learner", outcome: Outcome) -> np.ndarray:
        """Seen from the highest score down, the worse row first where scores are level, relevance must never rise."""
        numbers, relevance = outcome.truth[:, LIST], outcome.truth[:, RELEVANCE]
        order = np.lexsort((relevance, -outcome.scores, numbers))
        rises = np.flatnonzero((np.diff(relevance[order]) > 0.0) & (np.diff(numbers) == 0.0)) + 1
        ends = group_offsets(numbers)
        wrong = np.zeros(ends.size - 1, bool)
        wrong[np.searchsorted(ends, rises, "right") - 1] = True
        return wrong

    def losses(self, learner: "Learner", outcome: Outcome) -> np.ndarray:
        loss, truth = loss_value(learner), outcome.truth
        lists = group_slices(truth[:, LIST])
        return np.array([mean_loss(loss, truth[some, RELEVANCE], outcome.scores[some]) for some in lists])


def mean_loss(loss: Callable[[Any], Any], relevance: np.ndarray, f: np.ndarray) -> float:
    """What is suffered on a pair of a list on average; nothing where there is no pair."""
    total, count = 0.0, 0
    for lead in pair_margins(relevance, f):
        total += float(loss(lead).sum())
        count += lead.size
    return total / max(count, 1)


def checked(query: Any, rows: int) -> np.ndarray:
    """Where lists begin and end, each of two rows at least."""
    ids = query_ids(query)
    if ids is None:
        raise BadValue("query must tell for every row which list it belongs to, as a list or an array")
    if ids.size != rows:
        raise BadValue(f"y has {rows} labels and query has {ids.size} entries; they must match")
    ends = group_offsets(ids)
    lengths = np.diff(ends)
    for fault, why in (
        (lengths == 1, "has this row only; a list has two rows at least, one after the other"),
        (lengths > LONGEST, f"has {lengths.max(initial=0):,} rows; a list has at most {LONGEST:,}"),
    ):
        if fault.any():
            row = int(ends[np.argmax(fault)])
            raise BadValue(f"row {row}: query {ids[row]!s} {why}", row=row)
    return ends
