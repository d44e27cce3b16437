"""Lists of rows to be put in order: a list is a round, and every row of it has a relevance."""

from collections.abc import Callable, Iterator
from itertools import pairwise, starmap
from typing import TYPE_CHECKING, Any

import numpy as np

from noregret.errors import BadValue
from noregret.labels import as_array, targets
from noregret.tasks.task import Outcome, Segment, Task, loss_value

if TYPE_CHECKING:
    from noregret.learner import Learner

LONGEST = 100_000  # rows of a list; it may have five billion pairs
PAIRS = 1 << 20  # pairs that are looked at in one go
LIST, RELEVANCE, SORTED = 0, 1, 2  # the columns of what the game is told


class Lists(Task):
    """Scores are the predictions. A list is wrong when some pair of its rows is in the wrong order, or level.

    The loss of a list is the mean over its pairs, each of a row and one that is less relevant.
    """

    labelled = False

    # ---- in --------------------------------------------------------------------------------------------------

    def told(self, y: Any, query: Any) -> Any:
        if query is None:
            raise BadValue("ranking learns from lists: say with query which list each row belongs to")
        relevance = targets(y, "relevance")
        numbers = numbered(query, relevance.size)
        order = np.lexsort((relevance, numbers))
        return np.column_stack((numbers, relevance, order - firsts(numbers)[numbers]))

    def taken(self, learner: "Learner", y: Any, rows: int) -> tuple[Any, list[Segment]]:
        if not isinstance(y, np.ndarray) or y.ndim != 2:
            raise BadValue("ranking learns from lists, not from single rows: give all rows of a list to learn, as in "
                           "learn(X, y, query=q)")  # fmt: skip
        return y, [Segment(0, rows, 0)] if rows else []

    def weighed(self, h: np.ndarray, codes: Any) -> np.ndarray:
        starts = firsts(codes[:, LIST])
        other = np.flatnonzero(h != np.repeat(h[starts], np.diff([*starts, h.size])))
        if other.size:
            row = int(other[0])
            raise BadValue(f"row {row}: its weight is {h[row]:g}, and the list it belongs to began with another; the "
                           "rows of a list have one weight", row=row)  # fmt: skip
        return h

    def borders(self, y: Any) -> Any:
        return np.append(firsts(y[:, LIST]), len(y)).tolist()

    def arrays(self, learner: "Learner") -> list[np.ndarray]:
        assert learner.space is not None
        return [np.zeros(learner.space.room, np.uint32), np.zeros(learner.space.room)]

    # ---- out -------------------------------------------------------------------------------------------------

    def shown(self, y: Any) -> tuple[np.ndarray, np.ndarray | None]:
        return y[:, RELEVANCE].copy(), y[:, LIST].astype(np.int64)

    def decided(self, learner: "Learner", scores: np.ndarray) -> np.ndarray:
        return scores

    def updated(self, outcome: Outcome) -> np.ndarray:
        return outcome.moved[firsts(outcome.truth[:, LIST])].astype(bool)

    def mistaken(self, learner: "Learner", outcome: Outcome) -> np.ndarray:
        """Seen from the highest score down, the worse row first where scores are level, relevance must never rise."""
        f, numbers, relevance = outcome.scores, outcome.truth[:, LIST], outcome.truth[:, RELEVANCE]
        order = np.lexsort((relevance, -f, numbers))
        rises = np.flatnonzero((np.diff(relevance[order]) > 0.0) & (np.diff(numbers) == 0.0)) + 1
        wrong = np.zeros(firsts(numbers).size, bool)
        wrong[np.searchsorted(firsts(numbers), rises, "right") - 1] = True
        return wrong

    def losses(self, learner: "Learner", outcome: Outcome) -> np.ndarray:
        loss, truth = loss_value(learner), outcome.truth
        return np.array([mean_loss(loss, truth[some, RELEVANCE], outcome.scores[some])
                         for some in each_list(truth[:, LIST])])  # fmt: skip


def mean_loss(loss: Callable[[Any], Any], relevance: np.ndarray, f: np.ndarray) -> float:
    total, count = 0.0, 0
    for lead in leads(relevance, f):
        total += float(loss(lead).sum())
        count += lead.size
    return total / max(count, 1)


def firsts(numbers: np.ndarray) -> np.ndarray:
    """The first row of every list."""
    return np.flatnonzero(np.diff(numbers, prepend=-1.0))


def each_list(numbers: np.ndarray) -> Iterator[slice]:
    """The rows of every list."""
    return starmap(slice, pairwise([*firsts(numbers).tolist(), numbers.size]))


def leads(relevance: np.ndarray, f: np.ndarray) -> Iterator[np.ndarray]:
    """By how much each row of a list is above each one that is less relevant; of a long list, some rows at a time."""
    some = max(PAIRS // max(f.size, 1), 1)
    for at in range(0, f.size, some):
        better = relevance[at : at + some, None] > relevance
        yield (f[at : at + some, None] - f)[better]


def numbered(query: Any, rows: int) -> np.ndarray:
    """The number of the list of each row: the same query again after another is another list."""
    ids = query if isinstance(query, np.ndarray) else as_array(list(query)) if hasattr(query, "__iter__") else None
    if ids is None or isinstance(query, (str, bytes)) or ids.ndim != 1:
        raise BadValue("query must tell for every row which list it belongs to, as a list or an array")
    if ids.size != rows:
        raise BadValue(f"y has {rows} labels and query has {ids.size} entries; they must match")
    numbers = np.zeros(rows, np.int64)
    numbers[1:] = np.cumsum(ids[1:] != ids[:-1])
    lengths = np.bincount(numbers)
    alone = np.flatnonzero(lengths == 1)
    if alone.size:
        row = int(np.argmax(numbers == alone[0]))
        raise BadValue(f"row {row}: query {ids[row]!s} has this row only; a list has two rows at least, one after the "
                       "other", row=row)  # fmt: skip
    if rows and lengths.max() > LONGEST:
        row = int(np.argmax(numbers == np.argmax(lengths)))
        raise BadValue(f"row {row}: query {ids[row]!s} has {lengths.max():,} rows; a list has at most {LONGEST:,}", row=row)
    return numbers
