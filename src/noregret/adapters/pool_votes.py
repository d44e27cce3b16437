"""What a pool makes of its entries: the losses that weigh them, and one prediction of their predictions.

Every loss is in [0, 1]. A round of an entry that did not play it costs 1, and it has no vote there.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.data.labels import UNIVERSUM, as_array
from noregret.data.query_groups import count_ordered, group_slices
from noregret.data.transcript import Transcript
from noregret.errors import BadValue
from noregret.learner.model import Model
from noregret.learner.shared_rows import PlayedRounds
from noregret.learner.transcribe import join_labels

Floats = NDArray[np.float64]
Rounds = Transcript | PlayedRounds  # what an entry did
DEVIATIONS = 4.0  # the range of targets, in deviations of those so far: an error as large costs 1
FEW = 16  # classes that are looked for one by one
FEW_VOTED, MANY = 4, 64  # classes, and rows from which on, the votes for each class are added entry by entry
TWO, MANY_CLASSES = 2, 3  # classes; with fewer than the latter, the task has two sides unless it was asked for
ABSTAINS = -1  # the code of an entry that has no vote


class Combination(ABC):
    """How the entries of one task are weighed and combined. `shares` holds the weight of every entry in every round."""

    def __init__(self, model: Model) -> None:
        self.task, self.labels = model.task, model.labels

    @abstractmethod
    def losses(self, played: Sequence[Rounds | None]) -> Floats:
        """The loss of every entry in every round; an entry that did not play loses 1."""

    @abstractmethod
    def combine(self, predictions: Sequence[Any], shares: Floats, lists: NDArray[np.int64] | None = None) -> Floats:
        """The scores of the pool, from what its entries predict; None for one that predicts nothing."""

    def read(self, played: Rounds) -> Any:
        """What an entry predicted in the rounds it played."""
        return played.predictions

    def ask(self, learner: Any, X: Any) -> Any:
        """What an entry predicts for some rows."""
        return learner.predict(X)

    def share_of(self, said: Any, share: float, label: Any) -> float:
        """What an entry with this weight adds to the prediction for one row, from what it said about it."""
        return share if said[0] == label else -share

    @abstractmethod
    def mistakes(self, scores: Floats, played: Rounds) -> NDArray[np.bool_]:
        """Which rounds the pool predicted wrongly, as any entry tells the truth of them."""

    def decide(self, scores: Floats) -> NDArray[Any]:
        """The predictions that these scores stand for."""
        return self.task.decide(self.labels, scores)


def any_of(played: Sequence[Rounds | None]) -> Rounds:
    """The transcript of an entry that played all rounds."""
    return max((one for one in played if one is not None), key=lambda one: one.rounds)


def mistakes_as_losses(played: Sequence[Rounds | None]) -> Floats:
    """1 for a mistake, and for a round that an entry did not play."""
    found = np.ones((len(played), any_of(played).rounds), bool)
    for number, one in enumerate(played):
        if one is not None:
            found[number, : one.rounds] = one.mistakes
    return found.T.astype(np.float64, order="C")


def place_votes(codes: NDArray[Any], shares: Floats, classes: int) -> Floats:
    """The weight that votes for every class, by row: that of an entry goes to the cell of its code."""
    rows = len(shares)
    voting = codes.T != ABSTAINS
    cells = (np.arange(rows)[:, None] * classes + codes.T)[voting]
    return np.bincount(cells, shares[voting], rows * classes).astype(np.float64).reshape(rows, classes)


def add_votes(codes: NDArray[Any], shares: Floats, classes: int) -> Floats:
    """The same bits as `place_votes`, since a vote for another class adds 0; faster for many rows and few classes."""
    votes, own = np.zeros((classes, len(shares))), np.empty(len(shares))
    for said, weights in zip(codes, np.ascontiguousarray(shares.T), strict=True):
        for number, total in enumerate(votes):
            total += np.multiply(weights, said == number, out=own)
    return votes.T


class Appeared(NamedTuple):
    """The codes of the classes of rounds, and how many classes were known before each of them and after the last."""

    truth: NDArray[np.int64]
    known: NDArray[np.int64]
    binary: bool  # whether the task had two classes when the call began

    @classmethod
    def of(cls, truth: NDArray[np.int64], before: int, binary: bool) -> "Appeared":
        """Where so many classes were known before."""
        return cls(truth, np.maximum.accumulate(np.concatenate(([before - 1], truth))) + 1, binary)


class Codes(NamedTuple):
    """The codes of the labels that an entry predicts in all rounds."""

    codes: Any  # whole numbers


class ClassVotes(Combination):
    """One class for every row: the weight of each entry votes for the class that it predicts."""

    def losses(self, played: Sequence[Rounds | None]) -> Floats:
        return mistakes_as_losses(played)

    def combine(self, predictions: Sequence[Any], shares: Floats, lists: NDArray[np.int64] | None = None) -> Floats:
        rows, classes = len(shares), max(len(self.labels), 1)
        codes = self.encode_all(predictions, rows)
        votes = (
            add_votes(codes, shares, classes)
            if classes <= FEW_VOTED and rows >= MANY
            else place_votes(codes, shares, classes)
        )
        if self.task.many or classes < 2:
            return votes if self.task.many else self.vote_on_first(predictions, shares)
        return self.lead_of_positive(votes)

    def lead_of_positive(self, votes: Floats) -> Floats:
        """Where two classes are known: the weight that votes for the positive one less that for the other."""
        signs = self.labels.signs(TWO)
        return np.asarray(signs[0] * votes[:, 0] + signs[1] * votes[:, 1])

    def read(self, played: Rounds) -> Any:
        return Codes(played.codes) if isinstance(played, PlayedRounds) else played.predictions

    def vote_on_first(self, predictions: Sequence[Any], shares: Floats) -> Floats:
        """Where one class is known: the weight that votes for it less that for another, with its sign."""
        score, known = np.zeros(len(shares)), len(self.labels)
        for number, said in enumerate(predictions):
            if said is not None:
                codes = np.asarray(said.codes if isinstance(said, Codes) else self.encode(said))
                votes = np.where(codes == 0, 1.0, -1.0)
                if not isinstance(said, Codes) and said.dtype == object:
                    votes[[label is None for label in said.tolist()]] = 0.0
                score[: len(votes)] += shares[: len(votes), number] * votes
        return np.asarray(score * (self.labels.signs(1)[0] if known else 1.0))

    def name_rounds(
        self, scores: Floats, predictions: Sequence[Any], shares: Floats, appeared: "Appeared"
    ) -> NDArray[Any]:
        """What would have been predicted before every round, by the classes known then; None where none was."""
        found, known = self.decide(scores), appeared.known[: len(scores)]
        none, one, two = (int(np.searchsorted(known, classes)) for classes in (1, TWO, MANY_CLASSES))
        if not appeared.binary:  # with one class or two known, the votes for each decide as with more
            one = two = none
        elif not self.task.many:  # the two classes that are known now decide, as they did then
            two = one
        if not two:
            return found
        pieces = [as_array([None] * none), self.name_sides(1, self.vote_on_first(predictions, shares)[none:one])]
        if one < two:
            pieces.append(self.name_sides(TWO, self.lead_of_positive(scores[one:two])))
        return join_labels([piece for piece in (*pieces, found[two:]) if len(piece)])

    def name_sides(self, known: int, scores: Floats) -> NDArray[Any]:
        """What scores stood for while so many classes were known, one or two: the label of their side."""
        return np.asarray(as_array(list(self.labels.sides(known)))[(scores >= 0.0).astype(np.int64)])

    def encode_all(self, predictions: Sequence[Any], rows: int) -> NDArray[Any]:
        """The codes of the labels that every entry predicts, by entry and row."""
        codes = np.full((len(predictions), rows), ABSTAINS, np.int8 if len(self.labels) < 1 << 7 else np.int64)
        for number, labels in enumerate(predictions):
            if isinstance(labels, Codes):
                codes[number] = labels.codes
            elif labels is not None:
                codes[number, : len(labels)] = self.encode(labels)
        return codes

    def encode(self, predictions: NDArray[Any]) -> NDArray[np.int64]:
        """The code of every predicted label; none for a prediction that is not one of the classes."""
        order = self.labels.order
        if len(order) <= FEW and predictions.dtype.kind in "fiubU":
            codes = np.full(len(predictions), ABSTAINS)
            for number, label in enumerate(order):
                codes[predictions == label] = number
            return codes
        code = dict(self.labels.code)
        return np.fromiter((code.get(label, ABSTAINS) for label in predictions.tolist()), np.int64, len(predictions))

    def mistakes(self, scores: Floats, played: Rounds) -> NDArray[np.bool_]:
        return wrong_labels(self.decide(scores), played.truth)


def wrong_labels(predictions: NDArray[Any], truth: NDArray[Any]) -> NDArray[np.bool_]:
    """Which of these predictions are not the truth; no prediction is wrong where there is none."""
    if truth.dtype == object or predictions.dtype == object:
        pairs = zip(predictions.tolist(), truth.tolist(), strict=True)
        return np.array([label is not UNIVERSUM and said != label for said, label in pairs], bool)
    return np.asarray(predictions != truth)


class TargetMeans(Combination):
    """A number for every row: the mean of the entries' predictions, by their weights.

    An error as large as 4 deviations of the targets so far, this round's included, costs 1; smaller ones cost the
    square of their share of it. `seen` holds how many targets there were, the first, and the sums of the differences
    from it and of their squares.
    """

    def __init__(self, model: Model, seen: tuple[int, float, float, float] = (0, 0.0, 0.0, 0.0)) -> None:
        super().__init__(model)
        self.seen = seen

    def losses(self, played: Sequence[Rounds | None]) -> Floats:
        truth = np.asarray(any_of(played).truth, np.float64)
        width = self.ranges(truth)
        found = np.ones((len(truth), len(played)))
        for number, one in enumerate(played):
            if one is not None:
                error = np.abs(np.asarray(one.predictions, np.float64) - truth[: one.rounds])
                range_ = width[: one.rounds]
                found[: one.rounds, number] = loss_of_errors(error, range_)
        return found

    def loss_of_targets(self, predictions: Mapping[int, float], target: float, entries: int) -> Floats:
        """The loss of every entry in one round, by what they predicted; 1 for one that predicted nothing."""
        width = self.ranges(np.array([target]))
        found = np.ones(entries)
        for number, predicted in predictions.items():
            found[number] = loss_of_errors(np.abs(np.array([predicted]) - target), width)[0]
        return found

    def ranges(self, truth: Floats) -> Floats:
        """4 deviations of the targets up to every round; they are added to those seen."""
        count, first, total, squares = self.seen
        if not len(truth):
            return np.zeros(0)
        first = float(truth[0]) if count == 0 else first
        with np.errstate(over="ignore", invalid="ignore"):
            apart = truth - first
            totals = np.cumsum(np.concatenate(([total], apart)))[1:]
            of_squares = np.cumsum(np.concatenate(([squares], apart * apart)))[1:]
            counts = count + np.arange(1, len(truth) + 1)
            variance = np.maximum(of_squares / counts - (totals / counts) ** 2, 0.0)
        self.seen = count + len(truth), first, float(totals[-1]), float(of_squares[-1])
        return np.where(np.isfinite(variance), DEVIATIONS * np.sqrt(variance), np.inf)

    def combine(self, predictions: Sequence[Any], shares: Floats, lists: NDArray[np.int64] | None = None) -> Floats:
        return weighted_mean([None if one is None else np.asarray(one, np.float64) for one in predictions], shares)

    def share_of(self, said: Any, share: float, label: Any) -> float:
        return share * float(said[0])

    def mistakes(self, scores: Floats, played: Rounds) -> NDArray[np.bool_]:
        return np.zeros(len(scores), bool)


def loss_of_errors(errors: Floats, width: Floats) -> Floats:
    """The square of the share that each error is of the range; 1 at most, and for any error where the range is 0."""
    share = np.divide(errors, width, out=np.where(errors > 0.0, 1.0, 0.0), where=width > 0.0)
    return np.asarray(np.minimum(share, 1.0) ** 2)


class LabelVotes(Combination):
    """A set of labels for every row: a label is predicted where more than half of the weight predicts it.

    A round costs an entry 1 - F1: the labels it has wrong or missing, over the sizes of both sets.
    """

    def losses(self, played: Sequence[Rounds | None]) -> Floats:
        found = np.ones((any_of(played).rounds, len(played)))
        for number, one in enumerate(played):
            if one is not None:
                predicted, truth = one.scores > 0.0, np.asarray(one.relevant)
                sizes = predicted.sum(axis=1) + truth.sum(axis=1)
                found[: one.rounds, number] = (predicted != truth).sum(axis=1) / np.maximum(sizes, 1)
        return found

    def read(self, played: Rounds) -> Any:
        return played.scores > 0.0

    def ask(self, learner: Any, X: Any) -> Any:
        return learner.scores(X) > 0.0

    def share_of(self, said: Any, share: float, label: Any) -> float:
        wanted = set(label) if isinstance(label, (tuple, list, set, frozenset)) else {label}
        chosen = {one for one, code in self.labels.code.items() if code < len(said[0]) and said[0][code]}
        return share if chosen == wanted else -share

    def combine(self, predictions: Sequence[Any], shares: Floats, lists: NDArray[np.int64] | None = None) -> Floats:
        votes = np.zeros((len(shares), len(self.labels)))
        for number, sets in enumerate(predictions):
            if sets is not None:
                votes[: len(sets), : sets.shape[1]] += shares[: len(sets), number, None] * sets
        return votes - 0.5

    def mistakes(self, scores: Floats, played: Rounds) -> NDArray[np.bool_]:
        truth = np.zeros(scores.shape, bool)
        truth[:, : played.relevant.shape[1]] = played.relevant  # type: ignore[union-attr]
        return np.asarray(((scores > 0.0) != truth).any(axis=1))


class RankMeans(Combination):
    """An order of the rows of every list: by the mean of the places that the entries give them.

    A list costs an entry the share of its pairs in the wrong order, equal scores counting half.
    """

    def read(self, played: Rounds) -> Any:
        return played.scores

    def ask(self, learner: Any, X: Any) -> Any:
        return learner.scores(X)

    def share_of(self, said: Any, share: float, label: Any) -> float:
        raise BadValue("auto cannot explain one row in ranking: what it says is an order of all rows of a list")

    def losses(self, played: Sequence[Rounds | None]) -> Floats:
        found = np.ones((any_of(played).rounds, len(played)))
        for number, one in enumerate(played):
            if one is not None and one.lists is not None:
                for place, rows in enumerate(group_slices(one.lists)):
                    found[place, number] = misordered_share(one.truth[rows], one.scores[rows])
        return found

    def combine(self, predictions: Sequence[Any], shares: Floats, lists: NDArray[np.int64] | None = None) -> Floats:
        rows = max(len(one) for one in predictions if one is not None)  # some may have stopped before the last list
        groups = [slice(0, rows)] if lists is None else group_slices(lists)
        scores = np.zeros(rows)
        for place, some in enumerate(groups):
            for number, one in enumerate(predictions):
                if one is not None and some.stop <= len(one):
                    scores[some] += shares[place, number] * places(one[some])
        return scores

    def mistakes(self, scores: Floats, played: Rounds) -> NDArray[np.bool_]:
        groups = [] if played.lists is None else group_slices(played.lists)
        return np.array([misordered_share(played.truth[rows], scores[rows]) > 0.0 for rows in groups], bool)


def misordered_share(relevance: Floats, scores: Floats) -> float:
    """The share of the pairs of a list in the wrong order; 0 where there is no pair."""
    pairs, halves = count_ordered(relevance, scores)
    return (2 * pairs - halves) / (2.0 * pairs) if pairs else 0.0


def places(scores: Floats) -> Floats:
    """The place of every row of a list, from 0 for the lowest score to 1 for the highest; equal ones share theirs."""
    ordered = np.sort(scores)
    below, above = np.searchsorted(ordered, scores, "left"), np.searchsorted(ordered, scores, "right")
    return np.asarray((below + above - 1.0) / (2.0 * max(len(scores) - 1, 1)))


def weighted_mean(predictions: Sequence[Floats | None], shares: Floats) -> Floats:
    """The mean of what entries predict, by their weights; those without a prediction are left out."""
    total, weight = np.zeros(len(shares)), np.zeros(len(shares))
    for number, one in enumerate(predictions):
        if one is not None:
            total[: len(one)] += shares[: len(one), number] * one
            weight[: len(one)] += shares[: len(one), number]
    return np.divide(total, weight, out=np.zeros(len(shares)), where=weight > 0.0)


def combination_of(model: Model, seen: tuple[int, float, float, float]) -> Combination:
    """How entries that play the task of a model are combined."""
    if model.task.needs_query:
        return RankMeans(model)
    if model.task.prediction == "target":
        return TargetMeans(model, seen)
    return ClassVotes(model) if model.task.one_label else LabelVotes(model)
