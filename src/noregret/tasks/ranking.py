"""Learning to rank: z = x_i - x_j, margin = f_i - f_j, where row i is more relevant than j in its list.

All rows of a list are scored before any relevance is revealed; then the rule learns from pairs, each a round to it.
y has for every row the number of its list, its relevance, which row of the list has this place by relevance, and the
margin by which more relevant rows must beat it, 1 unless the caller says otherwise.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.algebra.internal_verbs import row, row_difference
from noregret.algebra.verbs import unbound
from noregret.data.blocks import Block, SparseBlock, verify
from noregret.data.inputs import LabelsLike
from noregret.data.labels import Labels, targets
from noregret.data.query_groups import LONGEST, group_offsets, group_slices, pair_margins, query_ids
from noregret.errors import BadValue
from noregret.rules.parameters import Choice
from noregret.state.space import Space
from noregret.tasks import binary
from noregret.tasks.outcome import Outcome, Segment
from noregret.tasks.task import Flags, Floats, G, P, R, S, Task

update = final = row_and_score = taught = unbound
final_differs: Any = unbound  # whether predictions use other weights than training does
LIST, RELEVANCE = 0, 1  # columns of y; the third is the order by relevance, the fourth the required margin


def play(p: P, g: G, s: S, X: R, y: Floats, h: Floats, out: Floats, updated: Flags, aux: Floats) -> None:
    f = aux if final_differs else out
    first = np.int64(0)  # no literal, for which what is called would be compiled once more
    while first < out.size:
        last = first
        while last < out.size and y[last, 0] == y[first, 0]:
            x, f[last] = row_and_score(p, s, X, last)
            if final_differs:
                out[last] = final(p, s, x)
            last += 1
        if h[first] > 0.0:
            updated[first] = taught(p, g, s, X, y, h[first], f, first, last)
        first = last


# ---- by which pairs of a list the rule is taught ---------------------------------------------------------------------


def worst(p: P, g: G, s: S, X: R, y: Floats, h: float, f: Floats, first: int, last: int) -> Any:
    """The pair with the smallest margin; of equals, that of the first rows."""
    top = better = worse = -1
    margin = 0.0
    start = first
    while start < last:
        stop = start
        relevance = y[first + int(y[start, 2]), 1]
        while stop < last and y[first + int(y[stop, 2]), 1] == relevance:
            i = first + int(y[stop, 2])
            if top >= 0:
                lead = f[i] - f[top]
                if better < 0 or lead < margin or (lead == margin and i < better):
                    better, worse, margin = i, top, lead
            stop += 1
        for k in range(start, stop):
            i = first + int(y[k, 2])
            if top < 0 or f[i] > f[top] or (f[i] == f[top] and i < top):
                top = i
        start = stop
    if better < 0:
        return False
    s.n.t += 1.0
    margin -= y[worse, 3] - 1.0
    return update(p, s, row_difference(row(X, better), row(X, worse), g.places, g.values), margin, h)


def max_loss(p: P, g: G, s: S, X: R, y: Floats, h: float, f: Floats, first: int, last: int) -> Any:
    """The pair whose required margin is missed by most; of equals, that of the first rows."""
    better = worse = -1
    margin = 0.0
    for i in range(first, last):
        for j in range(first, last):
            if y[j, 1] < y[i, 1]:
                found = f[i] - f[j] - (y[j, 3] - 1.0)
                if better < 0 or found < margin:
                    better, worse, margin = i, j, found
    if better < 0:
        return False
    s.n.t += 1.0
    return update(p, s, row_difference(row(X, better), row(X, worse), g.places, g.values), margin, h)


def each(p: P, g: G, s: S, X: R, y: Floats, h: float, f: Floats, first: int, last: int) -> Any:
    """Every row that should be above another, against the highest of these, in the order of the rows."""
    any_updated = False
    for i in range(first, last):
        rival = -1
        highest = 0.0
        for j in range(first, last):
            if y[j, 1] < y[i, 1]:
                _, found = row_and_score(p, s, X, j)
                if rival < 0 or found > highest:
                    rival, highest = j, found
        if rival >= 0:
            x, own = row_and_score(p, s, X, i)
            margin = own - highest - (y[rival, 3] - 1.0)
            s.n.t += 1.0
            if update(p, s, row_difference(x, row(X, rival), g.places, g.values), margin, h):
                any_updated = True
    return any_updated


def every(p: P, g: G, s: S, X: R, y: Floats, h: float, f: Floats, first: int, last: int) -> Any:
    """Every pair: the better rows in their order, and for each the worse ones in theirs."""
    any_updated = False
    for i in range(first, last):
        for j in range(first, last):
            if y[j, 1] < y[i, 1]:
                x, own = row_and_score(p, s, X, i)
                other, rival = row_and_score(p, s, X, j)
                margin = own - rival - (y[j, 3] - 1.0)
                s.n.t += 1.0
                if update(p, s, row_difference(x, other, g.places, g.values), margin, h):
                    any_updated = True
    return any_updated


PAIRS = {"all": every, "each": each, "worst": worst, "max_loss": max_loss}


class Ranking(Task):
    """Scores are the predictions. A list is wrong when some pair of its rows is in the wrong order, or tied.

    The loss of a list is the mean over its pairs, each of a row and one that is less relevant. aux are the scores that
    the rule trained on, where predictions use other weights.
    """

    name = "ranking"
    about = "lists of rows to be put in order of relevance"
    options = {"pairs": Choice("all", PAIRS, "which pairs of a list the rule learns from", binds="taught")}
    arrays = ("places", "values")
    truth_dimensions = 2
    labelled = False
    real = True
    needs_query = True
    metrics = ("ranking",)
    races = ("adagrad",)
    sort_keys = ("-pair_accuracy", "mistakes", "loss")
    prediction = "score"
    columns = ("pairs right", "NDCG", "NDCG@10", "wrong lists", "mean loss")
    reading = {"targets": True, "lists": True}
    bias_by_default = False  # what all rows share orders none of them
    notes = ("rows come in lists, and a list is a round",)
    no_classes = "ranking has relevances, not classes"
    play, score_rows = staticmethod(play), staticmethod(binary.score_rows)

    # ---- relevances in -------------------------------------------------------------------------------------------

    def accept(self, y: LabelsLike, query: Any) -> Any:
        if query is None:
            raise BadValue("ranking learns from lists: say with query which list each row belongs to")
        relevance, required = split_margins(y)
        ends = check_query(query, relevance.size)
        numbers = np.repeat(np.arange(ends.size - 1), np.diff(ends))
        order = np.lexsort((relevance, numbers))
        return np.column_stack((numbers, relevance, order - ends[:-1][numbers], required)).astype(np.float64)

    def encode(self, labels: Labels, y: LabelsLike, rows: int) -> tuple[Any, list[Segment]]:
        if not isinstance(y, np.ndarray) or y.ndim != 2:
            raise BadValue("ranking learns from lists, not from single rows: give all rows of a list to learn, as in "
                           "learn(X, y, query=q)")  # fmt: skip
        return y, [Segment(0, rows, 0)] if rows else []

    def arrange(self, block: Block) -> Block:
        """Rows are subtracted in the order of their features, in which those that came as dicts need not be.

        All are checked before: two rows are read at a time, and rows that are checked as they are read share memory.
        """
        return verify(block._replace(ready=False)) if isinstance(block, SparseBlock) else block

    def check_weights(self, h: Floats, codes: Any) -> Floats:
        ends = group_offsets(codes[:, LIST])
        other = np.flatnonzero(h != np.repeat(h[ends[:-1]], np.diff(ends)))
        if other.size:
            at = int(other[0])
            raise BadValue(f"row {at}: its weight is {h[at]:g}, and the list it belongs to began with another; the "
                           "rows of a list have one weight", row=at)  # fmt: skip
        return h

    def boundaries(self, y: Any) -> Sequence[int]:
        ends: list[int] = group_offsets(y[:, LIST]).tolist()
        return ends

    def make_arrays(self, space: Space, labels: Labels) -> list[NDArray[Any]]:
        return [np.zeros(space.room, np.uint32), np.zeros(space.room)]

    # ---- orders out ----------------------------------------------------------------------------------------------

    def report_truth(self, labels: Labels, y: LabelsLike) -> NDArray[Any]:
        return np.asarray(y[:, RELEVANCE].copy())

    def groups(self, y: Any) -> NDArray[np.int64] | None:
        return np.asarray(y[:, LIST].astype(np.int64))

    def decide(self, labels: Labels, scores: Floats) -> NDArray[Any]:
        return scores

    def updated(self, outcome: Outcome) -> NDArray[np.bool_]:
        return np.asarray(outcome.updated[group_offsets(outcome.truth[:, LIST])[:-1]], bool)

    def mistakes(self, labels: Labels, outcome: Outcome) -> NDArray[np.bool_]:
        """From the highest score down, the less relevant row first where scores tie, relevance must never rise."""
        numbers, relevance = outcome.truth[:, LIST], outcome.truth[:, RELEVANCE]
        order = np.lexsort((relevance, -outcome.scores, numbers))
        rises = np.flatnonzero((np.diff(relevance[order]) > 0.0) & (np.diff(numbers) == 0.0)) + 1
        ends = group_offsets(numbers)
        wrong = np.zeros(ends.size - 1, bool)
        wrong[np.searchsorted(ends, rises, "right") - 1] = True
        return wrong

    def losses(self, labels: Labels, outcome: Outcome) -> Floats:
        loss, truth = self.loss.value, outcome.truth
        lists = group_slices(truth[:, LIST])
        return np.array([mean_loss(loss, truth[some, RELEVANCE], outcome.scores[some]) for some in lists])

    @classmethod
    def summarize(cls, report: Mapping[str, float]) -> str:
        return f"{100 * report['pair_accuracy']:.2f} % of pairs in the right order"


def split_margins(y: Any) -> tuple[Floats, Floats]:
    """Relevances, and the margins by which more relevant rows must beat each row: a second column of y, or 1."""
    if not isinstance(y, np.ndarray) or y.ndim != 2 or y.shape[1] != 2:
        relevance = targets(y, "relevance")
        return relevance, np.ones(relevance.size)
    return targets(y[:, 0], "relevance"), targets(y[:, 1], "required margin")


def mean_loss(loss: Callable[[Any], Any], relevance: np.ndarray, f: np.ndarray) -> float:
    """What is suffered on a pair of a list on average; nothing where there is no pair."""
    total, count = 0.0, 0
    for lead in pair_margins(relevance, f):
        total += float(loss(lead).sum())
        count += lead.size
    return total / max(count, 1)


def check_query(query: LabelsLike, rows: int) -> np.ndarray:
    """Where lists begin and end, each of two rows at least."""
    ids = query_ids(query)
    if ids is None:
        raise BadValue("query must say for every row which list it belongs to, as a list or an array")
    if ids.size != rows:
        raise BadValue(f"y has {rows} labels and query has {ids.size} entries; they must match")
    ends = group_offsets(ids)
    lengths = np.diff(ends)
    for fault, why in (
        (lengths == 1, "has this row only; a list has two rows at least, one after the other"),
        (lengths > LONGEST, f"has {{:,}} rows; a list has at most {LONGEST:,}"),
    ):
        if fault.any():
            at = int(np.argmax(fault))
            row = int(ends[at])
            raise BadValue(f"row {row}: query {ids[row]!s} {why.format(lengths[at])}", row=row)
    return ends
