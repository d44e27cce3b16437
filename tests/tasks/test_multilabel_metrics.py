"""The metric of sets of labels: five measures, the same in whatever chunks the rounds come."""

import numpy as np
import pytest
from sklearn import metrics

import noregret as nr
from noregret.data.transcript import Transcript
from noregret.metrics import Multilabel
from tests.tasks.test_multilabel import LABELS, made, names, stream


def seen(scores: list[list[float]], truth: list[list[int]]) -> dict[str, float]:
    """What the metric says of rounds with these scores and labels."""
    rows = np.array(scores)
    nothing = np.zeros(len(rows))
    relevant = np.array(truth, bool)
    metric = Multilabel()
    metric.see(None, Transcript(rows, nothing, nothing, nothing > 0, nothing > 0, nothing, relevant=relevant))
    return metric.report()


def test_the_measures_are_those_of_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(200, 6))
    truth = rng.random((200, 6)) < 0.3 + 0.2 * (scores > 0)
    truth[:, 0] |= ~truth.any(axis=1)
    found = seen(scores.tolist(), truth.astype(int).tolist())
    guess = scores > 0.0
    assert found["hamming_loss"] == pytest.approx(metrics.hamming_loss(truth, guess))
    assert found["ranking_loss"] == pytest.approx(metrics.label_ranking_loss(truth, scores))
    assert found["micro_f1"] == pytest.approx(metrics.f1_score(truth, guess, average="micro"))
    assert found["macro_f1"] == pytest.approx(metrics.f1_score(truth, guess, average="macro"))
    assert found["one_error"] == np.mean(~truth[np.arange(200), scores.argmax(axis=1)])


def test_equal_scores_are_half_a_wrong_pair() -> None:
    assert seen([[1.0, 1.0, 0.0]], [[1, 0, 0]])["ranking_loss"] == 0.25
    assert seen([[1.0, 2.0, 1.0]], [[1, 0, 0]])["ranking_loss"] == 0.75


def test_a_label_a_row_brings_ranks_last_and_labels_to_come_do_not_count() -> None:
    unknown = -np.inf
    found = seen([[2.0, -1.0, unknown, unknown]], [[1, 0, 1, 0]])
    assert found["hamming_loss"] == pytest.approx(1 / 3)
    assert found["ranking_loss"] == pytest.approx(1 / 2)
    assert found["one_error"] == 0.0


def test_a_round_of_new_labels_alone_is_wrong_and_has_no_pairs() -> None:
    found = seen([[-np.inf, -np.inf]], [[1, 0]])
    assert (found["hamming_loss"], found["ranking_loss"], found["one_error"]) == (1.0, 0.0, 1.0)


def test_the_mean_over_labels_leaves_out_those_that_never_came_up() -> None:
    found = seen([[1.0, -1.0, -1.0, 1.0], [1.0, -1.0, -1.0, -1.0]], [[1, 0, 0, 0], [1, 1, 0, 0]])
    assert found["macro_f1"] == pytest.approx((1.0 + 0.0 + 0.0) / 3)  # found twice, missed once, wrong once, never
    assert found["micro_f1"] == pytest.approx(4 / 6)


def test_a_label_at_the_threshold_is_not_predicted() -> None:
    assert seen([[0.0, 1.0]], [[0, 1]])["hamming_loss"] == 0.0


def test_rounds_without_scores_are_passed_over() -> None:
    metric, nothing = Multilabel(), np.zeros(2)
    none = nothing > 0
    metric.see(None, Transcript(None, nothing, nothing, none, none, nothing, relevant=np.eye(2) > 0))
    assert set(metric.report().values()) == {0.0}


def test_rounds_of_one_label_are_passed_over() -> None:
    metric = Multilabel()
    metric.see(None, nr.make("pa1", native=False).play(np.eye(2), [1, -1]))
    assert set(metric.report().values()) == {0.0}


@pytest.mark.parametrize("threshold", ["virtual", "zero"])
def test_chunks_change_nothing(threshold: str) -> None:
    X, sets = stream(seed=13)
    reports = []
    for size in (1, 7, len(X)):
        learner, metric = made("pa1", threshold=threshold), Multilabel()
        for start in range(0, len(X), size):
            metric.see(None, learner.play(X[start : start + size], names(sets)[start : start + size]))
        reports.append(metric.report())
    assert reports[0] == reports[1] == reports[2]
    assert 0.0 < reports[0]["ranking_loss"] < 0.5 < reports[0]["micro_f1"] < 1.0


def test_every_run_and_race_of_sets_reports_them() -> None:
    X, sets = stream(seed=14)
    told = nr.play((X, sets), made("pa1"))
    assert {"hamming_loss", "ranking_loss", "one_error", "micro_f1", "macro_f1"} < set(told)
    race = nr.race((X, sets), ["pa1", "arow"], task="multilabel", native=False)
    assert race["pa1"].measures["ranking_loss"] == told["ranking_loss"]
    head, *_ = str(race).splitlines()
    assert "ranking loss  micro F1" in head
    assert f"{told['micro_f1']:.4f}" in str(race)
    assert race.baselines["majority"] > race.winner.mistakes
    matrix = np.array([[c in row for c in range(LABELS)] for row in sets])
    fixed = nr.race((X, matrix), ["pa1"], task="multilabel", classes=list("abcde"), native=False)
    assert fixed.winner.classes == list("abcde")


def test_other_tasks_have_no_such_columns() -> None:
    race = nr.race("iris", ["pa1"], native=False)
    assert "ranking" not in str(race)
    assert race["pa1"].measures == {}
