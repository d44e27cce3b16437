"""Mistakes, losses and metrics of ranking: pairs in the right order, NDCG, lists of any length."""

import numpy as np
import pytest
from sklearn.metrics import ndcg_score

import noregret as nr
from noregret.data import query_groups as ground
from noregret.metrics import InputOrder
from noregret.metrics import Ranking as RankingMetric
from noregret.metrics.ranking import ndcg
from tests.tasks.graded_lists import stream


def test_mistakes_and_losses_are_those_of_pairs() -> None:
    X, y, query = stream(seed=3, count=25)
    transcript = nr.make("ogd", task="ranking", loss="logistic", native=False).play(X, y, query=query)
    assert transcript.rounds == 25
    assert transcript.truth.tolist() == y.tolist()
    for q in range(25):
        f, grades = transcript.scores[query == q], y[query == q]
        leads = [f[i] - f[j] for i in range(f.size) for j in range(f.size) if grades[i] > grades[j]]
        assert transcript.mistakes[q] == any(lead <= 0.0 for lead in leads)
        assert transcript.losses[q] == pytest.approx(np.mean(np.logaddexp(0.0, np.negative(leads))) if leads else 0.0)
    assert not transcript.mistakes[4]
    assert not transcript.updated[4]


def test_long_lists_are_looked_at_some_rows_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    relevance, f = rng.integers(0, 4, 50).astype(float), rng.normal(size=50)
    at_once = np.concatenate(list(ground.pair_margins(relevance, f)))
    monkeypatch.setattr(ground, "PAIRS", 20)
    parts = list(ground.pair_margins(relevance, f))
    assert len(parts) == 50
    assert np.concatenate(parts).tolist() == at_once.tolist()


def test_ndcg_is_that_of_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    for _ in range(100):
        size = int(rng.integers(2, 30))
        relevance, f = rng.integers(0, 5, size).astype(float), rng.integers(0, 9, size).astype(float)
        if relevance.min() < relevance.max():
            for most in (None, 10, 3):
                assert ndcg(relevance, f, most) == pytest.approx(ndcg_score([2**relevance - 1], [f], k=most))


def test_ndcg_of_negative_and_of_huge_relevances() -> None:
    f = np.array([3.0, 1.0, 2.0])
    assert ndcg(np.array([-2.0, 0.0, 1.0]), f) == ndcg(np.array([0.0, 2.0, 3.0]), f)
    assert ndcg(np.array([5000.0, 1.0, 2.0]), f) == 1.0
    assert ndcg(np.array([1.0, 5000.0, 2.0]), f) == pytest.approx(1.0 / np.log2(4))


def test_pairs_in_the_right_order_are_counted_and_ties_half() -> None:
    orders = RankingMetric()
    nothing = np.zeros(2, bool)
    orders.see(None, nr.Transcript(np.array([2.0, 1.0, 1.0, 5.0, 6.0]), np.zeros(5), np.zeros(2), nothing, nothing,
                             np.array([2.0, 1.0, 0.0, 7.0, 7.0]), lists=np.array([0, 0, 0, 1, 1])))  # fmt: skip
    assert orders.report()["pair_accuracy"] == 2.5 / 3
    assert orders.lists == 1  # one of equal relevances is left out


def test_what_orders_report_is_the_mean_over_lists() -> None:
    orders, given, nothing, none = RankingMetric(), InputOrder(), np.zeros(0), np.zeros(0, bool)
    zeros = {"pair_accuracy": 0.0, "ndcg": 0.0, "ndcg_at_10": 0.0}
    orders.see(None, nr.Transcript(nothing, nothing, nothing, none, none, nothing))  # of a task without lists
    assert orders.report() == zeros
    f, y = np.arange(12.0), np.array([0.0, 1.0] + [2.0] + [0.0] * 9)
    for some in (slice(0, 2), slice(0, 12)):
        size = some.stop
        transcript = nr.Transcript(f[some], f[some], nothing, none, none, y[some], lists=np.zeros(size, np.int64))
        orders.see(None, transcript)
        given.see(None, transcript)
        if size == 2:
            assert orders.report() == dict.fromkeys(zeros, 1.0)
            assert given.report()["ndcg_as_they_come"] == pytest.approx(1.0 / np.log2(3))
    gains = [2**y - 1]
    found = orders.report()
    assert found["ndcg"] == pytest.approx((1.0 + ndcg_score(gains, [f])) / 2)
    assert found["ndcg_at_10"] == pytest.approx((1.0 + ndcg_score(gains, [f], k=10)) / 2)
    assert found["pair_accuracy"] == pytest.approx((1 + 1 + 2) / (1 + 10 + 11))
    assert given.report()["pair_accuracy_as_they_come"] == pytest.approx((0 + 9 + 9) / (1 + 10 + 11))


def test_metrics_see_the_same_in_any_chunks() -> None:
    X, y, query = stream(seed=6, count=40)
    reports = []
    for size in (1, 7, 40):
        learner, metrics = nr.make("pa1", task="ranking", native=False), (RankingMetric(), InputOrder())
        for at in range(0, 40, size):
            some = (query >= at) & (query < at + size)
            transcript = learner.play(X[some], y[some], query=query[some])
            for metric in metrics:
                metric.see(None, transcript)
        reports.append([metric.report() for metric in metrics])
    assert reports[0] == reports[1] == reports[2]
    assert reports[0][0]["pair_accuracy"] > reports[0][1]["pair_accuracy_as_they_come"]


def test_lists_that_are_counted_apart_merge_to_the_whole() -> None:
    rng = np.random.default_rng(4)
    whole, parts = RankingMetric(), (RankingMetric(), RankingMetric())
    for part, lists in zip(parts, (3, 5), strict=True):
        scores, relevance = rng.normal(size=4 * lists), rng.integers(0, 3, 4 * lists).astype(float)
        nothing = np.zeros(lists)
        seen = nr.Transcript(scores, scores, nothing, nothing > 0, nothing > 0, relevance,
                             lists=np.repeat(np.arange(lists), 4))  # fmt: skip
        for metric in (whole, part):
            metric.see(None, seen)
    assert parts[0].merge(parts[1]).report() == pytest.approx(whole.report(), rel=1e-14)
    assert parts[0].merge(RankingMetric()).report() == pytest.approx(parts[0].report())
    without = nr.Transcript(None, None, np.zeros(1), np.zeros(1, bool), np.zeros(1, bool), None, lists=np.zeros(4, int))
    before = whole.report()
    whole.see(None, without)
    assert whole.report() == before
