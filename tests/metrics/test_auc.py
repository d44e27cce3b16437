"""The area under the ROC curve, held against scikit-learn and against counting all pairs."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import noregret as nr
from noregret.data.transcript import Transcript
from noregret.metrics import Auc, Metric, auc


def transcript(scores: np.ndarray, truth: np.ndarray) -> Transcript:
    none = np.zeros(len(scores), bool)
    return Transcript(scores, truth, none * 0.0, none, none, truth)


def draw(seed: int, rows: int, ties: bool = False) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    truth = rng.random(rows) < 0.3
    scores = rng.normal(size=rows) + truth
    return np.round(scores) if ties else scores, np.where(truth, "yes", "no")


def measure(scores: np.ndarray, truth: np.ndarray, *cuts: int) -> Auc:
    metric = Auc("yes")
    for start, stop in zip((0, *cuts), (*cuts, len(scores)), strict=True):
        metric.see(None, transcript(scores[start:stop], truth[start:stop]))
    return metric


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("cuts", [(), (1, 30, 31)])
def test_it_is_that_of_scikit_learn(ties: bool, cuts: tuple[int, ...]) -> None:
    scores, truth = draw(0, 200, ties)
    metric = measure(scores, truth, *cuts)
    assert isinstance(metric, Metric)
    assert metric.report() == {"auc": pytest.approx(roc_auc_score(truth == "yes", scores), abs=1e-12)}
    pairs = [(a > b) + (a == b) / 2 for a in scores[truth == "yes"] for b in scores[truth == "no"]]
    assert metric.report()["auc"] == pytest.approx(np.mean(pairs))


def test_zeros_of_both_signs_are_equal_and_infinite_scores_are_ordered() -> None:
    scores = np.array([-0.0, 0.0, -np.inf, np.inf])
    assert measure(scores, np.array(["yes", "no", "no", "yes"])).report() == {"auc": 0.875}


def test_past_the_limit_its_error_is_bounded_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auc, "EXACT", 100)
    scores, truth = draw(1, 3000)
    exact = roc_auc_score(truth == "yes", scores)
    report = measure(scores, truth, 60, 120, 2000).report()
    assert abs(report["auc"] - exact) <= report["auc_error"] < 1e-3
    assert measure(scores, truth).report() == report


@pytest.mark.parametrize("limit", [0, 50, 100, 150, 300])
def test_merged_parts_report_what_the_whole_would(limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auc, "EXACT", limit)
    scores, truth = draw(2, 300)
    first, second = measure(scores[:110], truth[:110]), measure(scores[110:], truth[110:])
    whole = measure(scores, truth)
    assert first.merge(second).report() == second.merge(first).report() == whole.report()
    assert first.merge(Auc("yes")).report() == first.report()


def test_labels_may_be_numbers_or_words() -> None:
    scores, truth = draw(4, 50)
    expected = measure(scores, truth).report()
    for positive, labels in ((1, (truth == "yes") * 1.0), (True, truth == "yes"), ("yes", truth.astype(object))):
        metric = Auc(positive)
        metric.see(None, transcript(scores, labels))
        assert metric.report() == expected
    mixed = Auc("yes")
    mixed.see(None, transcript(scores, np.zeros(50)))
    assert mixed.report() == {}


def test_one_class_has_no_curve() -> None:
    assert Auc("yes").report() == {}
    assert measure(np.array([1.0]), np.array(["yes"])).report() == {}


def test_evaluate_reports_it_for_two_classes() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 2))
    y = np.where(X[:, 0] + rng.normal(size=300) > 0, "b", "a")
    learner = nr.make("arow", native=False).learn(X[:200], y[:200])
    positive = {score: label for label, score in zip(learner.predict(X), learner.scores(X) >= 0, strict=True)}[True]
    report = nr.evaluate((X[200:], y[200:]), learner)
    assert report["auc"] == pytest.approx(roc_auc_score(y[200:] == positive, learner.scores(X[200:])))
    three = nr.make("pa1", native=False).learn(np.eye(3), ["a", "b", "c"])
    assert "auc" not in nr.evaluate((np.eye(3), ["a", "b", "c"]), three)
