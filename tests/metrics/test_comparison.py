"""Comparing learners: paired mistakes, McNemar, mean ranks; held against scipy and sums by hand."""

import math

import numpy as np
import pytest
from scipy.stats import binomtest, chi2, friedmanchisquare

import noregret as nr
from noregret.data.transcript import Transcript
from noregret.metrics.comparison import PairedMistakes, compute_mcnemar, mean_ranks, sliding_difference


def transcript(mistakes: np.ndarray) -> Transcript:
    return Transcript(None, None, mistakes * 1.0, mistakes, mistakes, None)


@pytest.mark.parametrize(("one", "other"), [(0, 0), (3, 9), (9, 3), (5, 5), (400, 500)])
def test_few_rounds_are_tested_exactly(one: int, other: int) -> None:
    expected = binomtest(one, one + other, 0.5).pvalue if one + other else 1.0
    assert compute_mcnemar(one, other).p_value == pytest.approx(expected)
    assert compute_mcnemar(one, other).exact


def test_many_rounds_are_tested_by_chi_squared() -> None:
    assert compute_mcnemar(900, 1000).p_value == pytest.approx(chi2.sf(99.0**2 / 1900, 1))
    assert not compute_mcnemar(900, 1000).exact
    assert compute_mcnemar(900, 1000).p_value == pytest.approx(binomtest(900, 1900, 0.5).pvalue, rel=0.02)


@pytest.mark.parametrize("cuts", [[], [7, 40], [1, 2, 3]])
def test_mistakes_are_counted_in_pairs_whatever_the_batches(cuts: list[int]) -> None:
    rng = np.random.default_rng(0)
    one, other = rng.random(100) < 0.4, rng.random(100) < 0.2
    pair = PairedMistakes(window=10)
    for start, stop in zip([0, *cuts], [*cuts, 100], strict=True):
        pair.see(transcript(one[start:stop]), transcript(other[start:stop]))
    assert (pair.rounds, pair.both) == (100, int((one & other).sum()))
    assert (pair.only_first, pair.only_second) == (int((one & ~other).sum()), int((other & ~one).sum()))
    assert pair.report()["difference"] == pytest.approx(one.mean() - other.mean())
    assert pair.report()["p_value"] == pair.test().p_value == compute_mcnemar(pair.only_first, pair.only_second).p_value
    sliding = sliding_difference(transcript(one), transcript(other), 10)
    by_hand = [one[t : t + 10].mean() - other[t : t + 10].mean() for t in range(91)]
    assert sliding.tolist() == pytest.approx(by_hand)
    assert [rounds for rounds, _ in pair.curve] == list(range(10, 101, 10))
    assert [difference for _, difference in pair.curve] == pytest.approx(by_hand[::10])


@pytest.mark.parametrize("seed", range(3))
def test_mean_ranks_and_friedman_are_those_of_scipy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    losses = np.round(rng.random((7, 4)) * (10 if seed else 1000))
    found = mean_ranks("abcd", losses)
    statistic, p_value = friedmanchisquare(*losses.T)
    assert found.statistic == pytest.approx(float(statistic))
    assert found.p_value == pytest.approx(float(p_value))
    assert sum(found.ranks) == pytest.approx(10.0)


def test_the_critical_difference_is_that_of_the_tables() -> None:
    table = {2: 1.960, 3: 2.343, 5: 2.728, 10: 3.164}  # q for alpha = 0.05, Demsar 2006
    for count, q in table.items():
        found = mean_ranks([str(k) for k in range(count)], np.tile(np.arange(count), (15, 1)))
        assert found.critical_difference == pytest.approx(q * math.sqrt(count * (count + 1) / 90), abs=2e-3)
        assert found.ranks == tuple(range(1, count + 1))
    assert found.differ("0", "9")
    assert not found.differ("3", "4")
    assert found.as_good_as_best() == ["0", "1", "2", "3"]
    tied = mean_ranks("ab", np.ones((3, 2)))
    assert (tied.p_value, tied.ranks, tied.as_good_as_best()) == (1.0, (1.5, 1.5), ["a", "b"])


def test_what_cannot_be_compared_is_refused() -> None:
    wrong = np.zeros(3, bool)
    with pytest.raises(nr.BadValue, match="3 and 2 rounds"):
        PairedMistakes().see(transcript(wrong), transcript(wrong[:2]))
    with pytest.raises(nr.BadValue, match="window"):
        PairedMistakes(window=0)
    with pytest.raises(nr.BadValue, match="window"):
        sliding_difference(wrong, wrong, 4)
    with pytest.raises(nr.BadValue, match="3 and 2 rounds"):
        sliding_difference(wrong, wrong[:2], 1)
    with pytest.raises(nr.BadValue, match="negative"):
        compute_mcnemar(-1, 2)
    with pytest.raises(nr.BadValue, match="at least 2 streams"):
        mean_ranks("ab", [[1.0, 2.0]])
    with pytest.raises(nr.BadValue, match="a column for each of 2"):
        mean_ranks("ab", [[1.0], [2.0]])
    with pytest.raises(nr.BadValue, match="finite"):
        mean_ranks("ab", [[1.0, math.nan], [1.0, 2.0]])
    with pytest.raises(nr.BadValue, match="alpha"):
        mean_ranks("ab", [[1.0, 2.0], [1.0, 2.0]], alpha=1.0)
