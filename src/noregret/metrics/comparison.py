"""Comparing learners: two on the same rounds, or several over many streams, with tests of significance."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.data.transcript import Transcript
from noregret.errors import BadValue

Floats = NDArray[np.float64]
FEW = 1000  # rounds on which exactly one learner is wrong: up to so many, the test is exact


class McNemar(NamedTuple):
    """The test of McNemar: how likely numbers of mistakes so different are, if the learners are equally good."""

    p_value: float
    exact: bool


def compute_mcnemar(only_first: int, only_second: int) -> McNemar:
    """Compare two learners by the rounds on which only one of them was wrong.

    Up to 1,000 such rounds by the binomial distribution, above by chi squared with the correction of Edwards.
    """
    if only_first < 0 or only_second < 0:
        raise BadValue(f"numbers of rounds cannot be negative: {only_first}, {only_second}")
    from scipy.stats import binom, chi2

    total = only_first + only_second
    if total <= FEW:
        return McNemar(min(1.0, 2.0 * float(binom.cdf(min(only_first, only_second), total, 0.5))), True)
    statistic = (abs(only_first - only_second) - 1.0) ** 2 / total
    return McNemar(float(chi2.sf(statistic, 1)), False)


class PairedMistakes:
    """Counts the rounds on which two learners were wrong, and how the difference moved.

    `curve` holds, each time `window` rounds have passed, the rounds so far and the difference of the rates of mistakes
    over these rounds: below 0 where the first learner was better. Both must have played the same rounds.
    """

    def __init__(self, window: int = 1000) -> None:
        if type(window) is not int or window < 1:
            raise BadValue(f"window must be a whole number of at least 1, not {window!r}")
        self.window = window
        self.rounds = self.both = self.only_first = self.only_second = 0
        self.curve: list[tuple[int, float]] = []
        self.differences = np.zeros(0, np.int8)  # of the last rounds, fewer than a window

    def see(self, first: Transcript, second: Transcript) -> None:
        """Count the rounds of one batch that both learners have played."""
        if first.rounds != second.rounds:
            raise BadValue(f"the learners have played {first.rounds} and {second.rounds} rounds; they must be the same")
        one, other = np.asarray(first.mistakes, bool), np.asarray(second.mistakes, bool)
        self.both += int(np.count_nonzero(one & other))
        self.only_first += int(np.count_nonzero(one & ~other))
        self.only_second += int(np.count_nonzero(other & ~one))
        waiting = np.concatenate([self.differences, one.astype(np.int8) - other.astype(np.int8)])
        start = self.rounds - len(self.differences)
        whole = len(waiting) // self.window
        for number, total in enumerate(waiting[: whole * self.window].reshape(whole, self.window).sum(axis=1).tolist()):
            self.curve.append((start + (number + 1) * self.window, total / self.window))
        self.differences = waiting[whole * self.window :]
        self.rounds += first.rounds

    def test(self) -> McNemar:
        """The test of McNemar on all rounds so far."""
        return compute_mcnemar(self.only_first, self.only_second)

    def report(self) -> dict[str, float]:
        difference = (self.only_first - self.only_second) / max(self.rounds, 1)
        return {
            "rounds": self.rounds, "both_wrong": self.both, "only_first_wrong": self.only_first,
            "only_second_wrong": self.only_second, "difference": difference, "p_value": self.test().p_value,
        }  # fmt: skip


def sliding_difference(first: Any, second: Any, window: int) -> Floats:
    """From the window-th round on: the rate of mistakes of the first less that of the second, over the last rounds.

    `first` and `second` are transcripts, or arrays that mark the mistakes.
    """
    one, other = (np.asarray(getattr(given, "mistakes", given), bool).astype(np.int64) for given in (first, second))
    if one.shape != other.shape or one.ndim != 1:
        raise BadValue(f"the learners have played {one.size} and {other.size} rounds; they must be the same")
    if type(window) is not int or not 1 <= window <= one.size:
        raise BadValue(f"window must be a whole number from 1 to the {one.size} rounds, not {window!r}")
    total = np.concatenate(([0], np.cumsum(one - other)))
    return np.asarray((total[window:] - total[:-window]) / window)


# ---- several learners over several streams --------------------------------------------------------------------------


@dataclass(frozen=True)
class MeanRanks:
    """The mean ranks of learners over streams, 1 being the best; equal results share the mean of their ranks.

    `p_value` is that of the Friedman test: how likely ranks so different are if all learners are equally good. Two
    learners whose mean ranks differ by `critical_difference` or more differ at the level `alpha` (Nemenyi).
    """

    names: tuple[str, ...]
    ranks: tuple[float, ...]
    streams: int
    statistic: float
    p_value: float
    critical_difference: float
    alpha: float

    def differ(self, one: str, other: str) -> bool:
        """Whether two learners differ significantly."""
        by_name = dict(zip(self.names, self.ranks, strict=True))
        return abs(by_name[one] - by_name[other]) >= self.critical_difference

    def as_good_as_best(self) -> list[str]:
        """The learners that do not differ significantly from the best, best first."""
        ordered = sorted(zip(self.ranks, self.names, strict=True))
        return [name for rank, name in ordered if rank - ordered[0][0] < self.critical_difference]


def mean_ranks(names: Sequence[str], losses: Any, alpha: float = 0.05) -> MeanRanks:
    """Rank learners (columns) by their losses or mistakes on several streams (rows), the smallest first."""
    from scipy.stats import chi2, rankdata, studentized_range

    table = np.asarray(losses, np.float64)
    if table.ndim != 2 or table.shape[1] != len(names):
        raise BadValue(f"losses must have a row for each stream and a column for each of {len(names)} learners")
    streams, count = table.shape
    if streams < 2 or count < 2:
        raise BadValue(f"mean ranks compare at least 2 learners on at least 2 streams, not {count} on {streams}")
    if not np.isfinite(table).all():
        raise BadValue("every learner needs a finite result on every stream")
    if not 0.0 < alpha < 1.0:
        raise BadValue(f"alpha must be between 0 and 1, not {alpha!r}")
    ranks = rankdata(table, axis=1)
    mean = ranks.mean(axis=0)
    spread = float(((ranks - (count + 1) / 2.0) ** 2).sum())
    statistic = 0.0
    if spread > 0.0:
        statistic = streams**2 * (count - 1) * float(((mean - (count + 1) / 2.0) ** 2).sum()) / spread
    q = float(studentized_range.ppf(1.0 - alpha, count, np.inf)) / math.sqrt(2.0)
    critical = q * math.sqrt(count * (count + 1) / (6.0 * streams))
    p_value = float(chi2.sf(statistic, count - 1))
    return MeanRanks(tuple(names), tuple(mean.tolist()), streams, statistic, p_value, critical, alpha)
