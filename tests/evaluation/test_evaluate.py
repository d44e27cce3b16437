"""Evaluating a learner changes nothing and counts what predict says."""

from typing import Any

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score

import noregret as nr
from noregret.data.batch import Batch
from noregret.evaluation.evaluate import Evaluation
from noregret.learner.model_file import pack
from noregret.metrics import Mistakes
from tests.naive import streams


def halves(task: str) -> tuple[Any, Any, Any, Any]:
    X, y = streams.dense(120, 5, seed=3)
    labels: dict[str, Any] = {
        "binary": y,
        "multiclass": [("a", "b", "c")[int(k)] for k in np.argmax(X[:, :3], axis=1)],
        "regression": X @ np.arange(5.0) + 7.0,
        "multilabel": [tuple(name for name, x in zip("abc", row, strict=False) if x > 0.0) or ("d",) for row in X],
    }
    return X[:80], labels[task][:80], X[80:], labels[task][80:]


@pytest.mark.parametrize("task", ["binary", "multiclass", "regression", "multilabel"])
def test_it_counts_what_predict_says_and_learns_nothing(task: str) -> None:
    X, y, new_rows, truth = halves(task)
    learner = nr.make("pa1", task=task, native=False).learn(X, y)
    before, predicted = pack(learner), learner.predict(new_rows).tolist()
    report = nr.evaluate((new_rows, truth), learner)
    assert pack(learner) == before
    assert report["rows"] == 40
    if task == "regression":
        assert "mistakes" not in report
        assert report["mae"] == pytest.approx(np.abs(np.array(predicted) - truth).mean())
        assert report["r2"] > 0.5
        return
    wrong = (
        [set(one) != set(other) for one, other in zip(predicted, truth, strict=True)]
        if task == "multilabel"
        else [one != other for one, other in zip(predicted, truth, strict=True)]
    )
    assert report["mistakes"] == sum(wrong)
    if task == "multilabel":
        assert 0.0 < report["micro_f1"] <= 1.0
    else:
        assert report["balanced_accuracy"] == pytest.approx(balanced_accuracy_score(truth, predicted))
        counts = np.unique(np.array(truth), return_counts=True)[1]
        assert report["most_frequent_label_errs"] == 40 - counts.max()


def test_ranking_is_measured_by_its_lists() -> None:
    X, _ = streams.dense(60, 4, seed=1)
    relevance, query = np.round(X[:, 0] + 2.0), np.repeat(np.arange(12), 5)
    learner = nr.make("pa1", task="ranking", native=False).learn(X, relevance, query=query)
    report = nr.evaluate((X, relevance, query), learner)
    assert report["pair_accuracy"] > 0.8
    assert 0.8 < report["ndcg"] <= 1.0


def test_what_cannot_be_evaluated_is_refused() -> None:
    X, y, new_rows, truth = halves("binary")
    with pytest.raises(nr.NotLearned):
        nr.evaluate((new_rows, truth), nr.make("pa1"))
    with pytest.raises(nr.BadValue, match="a learner"):
        nr.evaluate((new_rows, truth), "pa1")  # type: ignore[arg-type]
    learner = nr.make("pa1", native=False).learn(X, y)
    with pytest.raises(nr.BadValue, match="no labels"):
        Evaluation(learner).see(Batch(new_rows, None, None))


def test_metrics_of_ones_own_are_asked() -> None:
    X, y, new_rows, truth = halves("binary")
    learner = nr.make("pa1", native=False).learn(X, y)
    report = nr.evaluate((new_rows, truth), learner, metrics=[Mistakes()])
    assert set(report) == {"rows", "rounds", "mistakes", "rate"}
