"""Probabilities of a pool: every entry's scores are calibrated online, and mixed by how probable they made the labels.

An entry turns its scores s into probabilities proportional to exp(slope s_k / size + offset_k), where size is the root
mean square of its scores so far. Slope and offsets follow the log loss by Newton steps with the diagonal of the
Hessian. The pool mixes these probabilities with weights proportional to exp(-log loss so far), so that its own log loss
exceeds that of the best calibrated entry by at most ln N. This is done in the first 4,096 rounds and in every eighth
after them.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.jit.compiled import compile_function, unbound
from noregret.jit.layout import count_words
from noregret.learner.header_fields import corrupt

Floats = NDArray[np.float64]
FIRST, EVERY = 4096, 8  # rounds that are used: so many, and then one of so many
LARGEST = 1e300  # a power beyond this counts as this one
LEAST = 1e-4  # of the probability is shared by all classes, so that no label is impossible
SLOPE, CURVATURE, SQUARES, SEEN, LOSS = range(5)  # the numbers of an entry; SQUARES and SEEN are of its scores
OFFSET, OFFSET_CURVATURE = range(2)  # the numbers of an entry for a class

read_scores = read_truth = read_entries = read_classes = read_total = read_each = unbound
Table = NDArray[np.int64]


def entry(table: Table) -> int:
    """Run `aggregate` on the arrays in the table."""
    aggregate(read_scores(table), read_truth(table), read_entries(table), read_classes(table), read_each(table),
              read_total(table))  # fmt: skip
    return 0


def aggregate(scores: Floats, truth: Any, entries: Floats, classes: Floats, each: Floats, total: Floats) -> None:
    """Learn from rounds: scores by round, entry and class (NaN: the entry did not play), truth by round."""
    rounds, N = scores.shape[:2]
    for t in range(rounds):
        y = truth[t]
        least = math.inf
        for i in range(N):
            least = min(least, entries[LOSS, i])
        mixed = weights = 0.0
        for i in range(N):
            if scores[t, i, 0] == scores[t, i, 0]:
                calibrate(scores[t, i], entries[:, i], classes[:, i], each[i])
                weight = math.exp(least - entries[LOSS, i])
                mixed += weight * each[i, y]
                weights += weight
        if weights == 0.0:
            continue
        own = -math.log(mixed / weights)
        total[0] += own
        total[1] += 1.0
        for i in range(N):
            if scores[t, i, 0] == scores[t, i, 0]:
                entries[LOSS, i] -= math.log(each[i, y])
                improve(scores[t, i], y, entries[:, i], classes[:, i], each[i])
            else:
                entries[LOSS, i] += own


def calibrate(scores: Floats, entry: Floats, classes: Floats, out: Floats) -> None:
    """The probabilities of one entry for one row; a class whose score is -inf is not known to it yet."""
    K = scores.size
    size = math.sqrt(entry[SQUARES] / entry[SEEN]) if entry[SQUARES] > 0.0 else 1.0
    top = -math.inf
    for k in range(K):
        out[k] = -math.inf
        if scores[k] > -math.inf:
            out[k] = max(-LARGEST, min(LARGEST, entry[SLOPE] * scores[k] / size + classes[OFFSET, k]))
        top = max(top, out[k])
    total = known = 0.0
    for k in range(K):
        if out[k] > -math.inf:
            out[k] = math.exp(out[k] - top)
            total += out[k]
            known += 1.0
        else:
            out[k] = 0.0
    for k in range(K):
        if scores[k] > -math.inf:
            out[k] = (1.0 - LEAST) * out[k] / total + LEAST / known


def improve(scores: Floats, y: int, entry: Floats, classes: Floats, probabilities: Floats) -> None:
    """A Newton step on the log loss of one entry in one round."""
    K = scores.size
    size = math.sqrt(entry[SQUARES] / entry[SEEN]) if entry[SQUARES] > 0.0 else 1.0
    gradient = mean = square = squares = known = 0.0
    for k in range(K):
        if scores[k] > -math.inf:
            s, q = scores[k] / size, probabilities[k]
            gradient += (q - (1.0 if k == y else 0.0)) * s
            mean += q * s
            square += q * s * s
            squares += scores[k] * scores[k]
            known += 1.0
            classes[OFFSET_CURVATURE, k] += q * (1.0 - q)
            classes[OFFSET, k] -= (q - (1.0 if k == y else 0.0)) / (1.0 + classes[OFFSET_CURVATURE, k])
    if square < math.inf and mean * mean < math.inf:
        entry[CURVATURE] += max(square - mean * mean, 0.0)
        entry[SLOPE] = max(entry[SLOPE] - gradient / (1.0 + entry[CURVATURE]), 0.0)
    if squares < math.inf:
        entry[SQUARES] += squares
        entry[SEEN] += known


EXAMPLES = {
    "scores": np.zeros((1, 1, 1)),
    "truth": np.zeros(1, np.int64),
    "entries": np.zeros((1, 1)),
    "classes": np.zeros((1, 1, 1)),
    "each": np.zeros((1, 1)),
    "total": np.zeros(1),
}


def place_arrays() -> tuple[dict[str, tuple[int, Any]], int]:
    """The slots of the arrays in the table of `entry`, and how many slots there are."""
    places, slot = {}, 0
    for name, example in EXAMPLES.items():
        places[name] = slot, example
        slot += count_words(example)
    return places, slot


class ProbabilityMixture:
    """Calibrated entries, and what the log loss of each has been. It is replaced, not changed, by a call that fails."""

    def __init__(self, entries: int, native: bool = True) -> None:
        self.native = native
        self.entries = np.zeros((5, entries))
        self.entries[SLOPE] = 1.0
        self.classes = np.zeros((2, entries, 2))
        self.total = np.zeros(2)  # the log loss of the mixture, and in how many rounds

    def learn(self, scores: Floats, truth: NDArray[np.int64]) -> None:
        """Learn from rounds that are used: scores by round, entry and class, and the code of every label."""
        self.widen(scores.shape[2])
        each = np.zeros(scores.shape[1:])
        arrays = (np.ascontiguousarray(scores), truth, self.entries, self.classes, each, self.total)
        if not self.native:
            with np.errstate(all="ignore"):
                aggregate(*arrays)
            return
        places, slots = place_arrays()
        compile_function(entry, places)(np.zeros(slots, np.int64), *arrays)

    def widen(self, classes: int) -> None:
        """Make room for classes that have come."""
        if classes > self.classes.shape[2]:
            wide = np.zeros((2, self.classes.shape[1], classes))
            wide[:, :, : self.classes.shape[2]] = self.classes
            self.classes = wide

    def weights(self) -> Floats:
        """How much of the mixture each entry is."""
        powers = np.exp(self.entries[LOSS].min() - self.entries[LOSS])
        return np.asarray(powers / powers.sum())

    def mix(self, scores: Sequence[Floats | None], rows: int) -> Floats:
        """The probability of every class for rows with these scores, by entry; None for one that has no say."""
        weights, total = self.weights(), 0.0
        found = np.zeros((rows, self.classes.shape[2]))
        for number, own in enumerate(scores):
            if own is not None:
                found += weights[number] * self.calibrate(number, own)
                total += float(weights[number])
        return found / total if total > 0.0 else np.full(found.shape, 1.0 / found.shape[1])

    def calibrate(self, number: int, scores: Floats) -> Floats:
        """The probabilities of one entry for some rows."""
        known = np.isfinite(scores)
        one, offsets = self.entries[:, number], self.classes[OFFSET, number, : scores.shape[1]]
        size = math.sqrt(one[SQUARES] / one[SEEN]) if one[SQUARES] > 0.0 else 1.0
        with np.errstate(invalid="ignore", over="ignore"):
            powers = np.where(known, np.clip(one[SLOPE] * scores / size + offsets, -LARGEST, LARGEST), -np.inf)
            powers = np.exp(powers - powers.max(axis=1, keepdims=True))
        shared = LEAST * known / known.sum(axis=1, keepdims=True)
        found = np.zeros((len(scores), self.classes.shape[2]))
        found[:, : scores.shape[1]] = (1.0 - LEAST) * powers / powers.sum(axis=1, keepdims=True) + shared
        return found

    def copy(self) -> "ProbabilityMixture":
        new = object.__new__(ProbabilityMixture)
        new.native = self.native
        new.entries, new.classes, new.total = self.entries.copy(), self.classes.copy(), self.total.copy()
        return new

    def __deepcopy__(self, memo: Any) -> "ProbabilityMixture":
        return self.copy()

    def dump(self) -> dict[str, NDArray[Any]]:
        """The arrays, for a model file."""
        return {"entries": self.entries, "classes": self.classes, "total": self.total}

    def restore(self, arrays: Mapping[str, NDArray[Any]], classes_known: int) -> None:
        """Take the arrays of a model file, checked; they must have room for the classes that are known, and no more."""
        nothing = np.zeros(0)
        entries, classes, total = (arrays.get(name, nothing) for name in ("entries", "classes", "total"))
        if any(one.dtype != np.float64 or not np.isfinite(one).all() for one in (entries, classes, total)):
            raise corrupt("the probabilities of a pool are not finite numbers")
        fits = entries.shape == self.entries.shape and classes.ndim == 3 and classes.shape[:2] == self.classes.shape[:2]
        if (
            not fits
            or classes.shape[2] != max(classes_known, 2)
            or total.shape != (2,)
            or bool((entries[CURVATURE:] < 0.0).any())
        ):
            raise corrupt("the probabilities of a pool do not fit its entries")
        self.entries, self.classes, self.total = entries.copy(), classes.copy(), total.copy()


def find_used(before: int, rounds: int) -> NDArray[np.int64]:
    """Which of the rounds that follow so many others are used."""
    numbers = np.arange(before, before + rounds)
    return np.flatnonzero((numbers < FIRST) | (numbers % EVERY == 0))


def score_columns(scores: Floats, signs: Floats, classes: int) -> Floats:
    """The scores of an entry with a column for each class; -inf for a class it does not know."""
    if scores.ndim == 1:
        scores = 0.5 * scores[:, None] * signs
    wide = np.full((len(scores), classes), -np.inf)
    wide[:, : scores.shape[1]] = scores
    return wide
