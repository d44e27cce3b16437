"""What all learners without labels share: options, labels, results while rows wait, calls cut off, lists, merges."""

import time
from collections.abc import Callable
from functools import partial
from itertools import count
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sparse

import noregret as nr
from noregret.decomposition.decomposed import as_rows
from noregret.decomposition.factors import Factors
from noregret.decomposition.matrix_rows import slices
from noregret.decomposition.parameters import batch_param, check_whole, rank_param, threshold_param
from noregret.decomposition.truth import check_truth
from noregret.decomposition.waiting_rows import WaitingRows
from noregret.learner.model_file import pack
from tests.support import refusal, refused

RNG = np.random.default_rng(7)
X = RNG.normal(size=(40, 5))


def make(name: str, **options: Any) -> Any:
    return nr.make(name, native=False, **options)


# ---- parameters and labels -------------------------------------------------------------------------------------------


def test_parameters_at_their_limits() -> None:
    allowed: list[dict[str, Any]] = [{"rank": 1, "batch": 1, "threshold": 0.0}, {"rank": 1 << 14, "threshold": 0.999}]
    for options in allowed:
        assert make("svd", **options).learn(X).rounds == 40
    for name, value in (("rank", 0), ("rank", 1 << 15), ("threshold", 1.0), ("threshold", 1.5), ("threshold", -1e-9)):
        assert name in refusal(partial(make, "svd", **{name: value}))
    assert make("oja", batch=1).batch == 1
    assert "batch" in refusal(lambda: make("oja", batch=0))
    assert check_whole("svd", "rank", 3.0) == 3
    limits = [(one.default, one.at_least, one.at_most) for one in (rank_param(5.0), batch_param(7.0))]
    assert limits == [(5.0, 1.0, 1 << 14), (7.0, 1.0, 1 << 16)]
    assert (threshold_param(0.5).at_least, threshold_param(0.5).below) == (0.0, 1.0)
    assert refusal(lambda: check_whole("svd", "rank", 2.5)) == "svd: rank must be a whole number, not 2.5"


def test_labels_beside_rows_are_compared_with_what_is_found() -> None:
    truth = check_truth(np.array([3, 1]), 2)
    assert truth is not None
    assert truth.tolist() == [3, 1]
    for labels in (["a", "b"], ("a", None), [True, 2.5], [("a", "b"), 1], [np.int64(3), np.bool_(True)]):
        found = check_truth(labels, 2)
        assert found is not None
        assert list(found) == list(labels)
    assert check_truth(None, 2) is None
    assert check_truth([None, None], 2) is None


WRONG_LABELS = [
    ("ab", "y must be one label for every row, or be left out, not 'ab'"),
    (b"ab", "y must be one label for every row"),
    ({0: 1, 1: 2}, "y must be one label for every row"),
    ({1, 2}, "y must be one label for every row"),
    (7, "y must be one label for every row, or be left out, not 7"),
    (np.int64(7), "y must be one label for every row"),
    (np.array("ab"), "y must be one label for every row"),
    ([1], "there are 2 rows and 1 labels"),
    ([1, {}], "row 1: a label must be a number, a string or None, not {}"),
]


@pytest.mark.parametrize(("y", "message"), WRONG_LABELS, ids=str)
def test_labels_that_are_none_are_refused(y: Any, message: str) -> None:
    assert refusal(lambda: check_truth(y, 2)).startswith(message)


def test_labels_are_in_transcripts_and_change_nothing() -> None:
    learner, other = make("svd", rank=2), make("svd", rank=2)
    labels = [number % 3 for number in range(40)]
    assert learner.play(X, labels).truth.tolist() == labels
    assert learner.evaluate(X, labels).truth.tolist() == labels
    assert learner.evaluate(X).truth is None
    for x in X:
        other.learn_one(x)
    assert pack(other) == pack(learner)
    assert "1 labels" not in refusal(lambda: learner.learn_one(X[0], {}))
    assert "weight" in refused(learner, lambda: learner.learn_one(X[0], None, 2.0))
    assert 'query is for task="ranking"' in refused(learner, lambda: learner.play(X, query=[1] * 40))


# ---- rounds and results ----------------------------------------------------------------------------------------------


def test_seconds_are_those_of_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    learner, clock = make("oja", rank=2), count(100.0, 2.5)
    monkeypatch.setattr(time, "perf_counter", lambda: next(clock))
    assert learner.play(X).seconds == 2.5
    assert learner.evaluate(X).seconds == 2.5


def test_learning_computes_no_losses(monkeypatch: pytest.MonkeyPatch) -> None:
    learner = make("svd", rank=2)

    def fail(state: Any, rows: Any) -> None:
        raise AssertionError("rows are scored")

    monkeypatch.setattr(learner, "score_rows", fail)
    assert learner.learn(X).rounds == 40


@pytest.mark.parametrize("name", ["oja", "kmeans", "svd", "pca_incremental"])
def test_rows_that_wait_for_a_mini_batch_of_a_given_size_score_no_others(name: str) -> None:
    learner = make(name, batch=100)
    losses = [learner.play(X[start : start + 5]).losses for start in range(0, 40, 5)]
    np.testing.assert_allclose(np.concatenate(losses), np.sum(X * X, axis=1))


def test_states_grow_only_for_new_features(monkeypatch: pytest.MonkeyPatch) -> None:
    grown: list[int] = []
    grow = Factors.grow

    def counted(self: Factors, features: int) -> None:
        grown.append(features)
        grow(self, features)

    monkeypatch.setattr(Factors, "grow", counted)
    rows = [{"a": 1.0}, {"a": 2.0}, {"a": 1.0, "b": 1.0}, {"c": 1.0, "b": 2.0}, {"a": 2.0}]
    make("svd", rank=2, batch=1).learn(rows)
    assert grown == [2, 3]


def test_results_are_computed_once_and_again_when_rows_come() -> None:
    for batch in (0, 64):
        learner = make("svd", rank=5, batch=batch).learn(X[:20])
        assert learner.latest is learner.latest
        before = learner.latest
        assert learner.learn(X[20:22]).latest is not before
        np.testing.assert_allclose(learner.mean, X[:22].mean(axis=0))
    full = make("svd", rank=2, batch=2).learn(X)
    assert full.latest is full.state
    assert full.flush() is full
    fresh = make("svd", rank=2)
    assert fresh.flush() is fresh
    with pytest.raises(nr.NotLearned, match="svd has not learned a row yet"):
        assert fresh.components
    assert fresh.predict_one(X[0]) is None
    assert fresh.play(np.zeros((0, 5))).losses.shape == (0,)
    assert fresh.play(np.zeros((0, 5))).scores is None


def test_the_state_with_rows_that_wait_knows_their_features_also_those_that_are_zero() -> None:
    wide = sparse.csr_matrix(np.concatenate((X[:20], np.zeros((20, 3))), axis=1))
    learner = make("svd", rank=2).learn(wide)
    assert learner.learned_rows == 0
    assert learner.components.shape == (2, 8)
    assert learner.flush().components.shape == (2, 8)


def test_looking_at_rows_that_wait_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    learned: list[int] = []
    learner = make("svd", rank=2).learn(np.tile(X[:17], (1, 9)))
    learn_rows = type(learner).learn_rows

    def counted(self: Any, state: Any, rows: Any) -> None:
        learned.append(rows.rows)
        learn_rows(self, state, rows)

    monkeypatch.setattr(type(learner), "learn_rows", counted)
    for _ in range(3):
        learner.score_settled(np.tile(X[:1], (1, 9)))
    assert learned == [16]
    for _ in range(3):
        assert learner.components.shape == (2, 45)
    assert learned == [16, 1]


@pytest.mark.parametrize("name", ["svd", "mean_row"])
def test_many_rows_are_scored_as_each_alone(name: str) -> None:
    learner, many = make(name, batch=1).learn(X), np.tile(X, (15, 1))[:530]
    many[:, 0] += np.arange(530.0)
    whole = learner.score(many)
    assert [len(part) for part in whole] == [530, 530]
    for at in (0, 255, 256, 511, 512, 529):
        alone = learner.score(many[at : at + 1])
        assert alone.losses.tolist() == whole.losses[at : at + 1].tolist()
        assert alone.components.tolist() == whole.components[at : at + 1].tolist()
    assert list(slices(530)) == [(0, 256), (256, 512), (512, 530)]
    assert (list(slices(0)), list(slices(256))) == ([(0, 0)], [(0, 256)])


def test_no_rows_have_no_components() -> None:
    learner = make("svd", rank=2).learn(X)
    empty: list[Any] = [[], np.zeros((0, 5)), sparse.csr_matrix((0, 5))]
    for none in empty:
        assert learner.transform(none).shape == (0, 2)
        assert learner.score(none).losses.shape == (0,)
    assert make("kmeans", k=2, batch=4, start=4).learn(X).predict([]).shape == (0,)


def test_one_row_is_predicted_as_a_plain_value_or_as_an_array() -> None:
    number = make("kmeans", k=2, batch=4, start=4).learn(X).predict_one(X[0])
    assert type(number) is int
    assert type(make("mean_row").learn(X).predict_one(X[0])) is float
    learner = make("svd", rank=2).learn(X)
    assert (
        learner.predict_one(X[3]).tolist() == learner.transform(X)[3].tolist() == learner.transform_one(X[3]).tolist()
    )


def test_components_beyond_those_known_are_zero_and_signs_are_those_of_the_components() -> None:
    learner = make("svd", rank=4).learn(X[:, :3])
    found = learner.transform(X[:, :3])
    np.testing.assert_allclose(found[:, :3], X[:, :3] @ learner.components.T)
    assert found[:, 3].tolist() == [0.0] * 40


@pytest.mark.parametrize("batch", [0, 30])
def test_errors_of_rows_that_wait_name_the_first(batch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    learner = make("svd", rank=2, batch=batch).learn(X[:20])

    def fail(state: Any, rows: Any) -> None:
        raise np.linalg.LinAlgError

    with monkeypatch.context() as patch:
        patch.setattr(learner, "learn_rows", fail)
        words = "row 0: the values are too large for svd, or too small; scale the rows first"
        assert refusal(lambda: learner.components) == words
    states = make("svd", rank=2, batch=1, keep_rows="yes").learn(X)
    with monkeypatch.context() as patch:
        patch.setattr(Factors, "is_finite", lambda self: False)
        assert refused(states, lambda: states.remove(3)) == words
    assert states.remove(3).row_factors.shape == (39, 2)


def test_rows_that_are_not_of_the_method_are_refused_when_they_are_scored() -> None:
    counts = np.ones((300, 2))
    learner = make("lda", k=2, batch=4).learn(counts[:8])
    counts[280, 1] = -1.0
    for call in (learner.transform, learner.score, learner.evaluate, learner.learn):
        assert refused(learner, partial(call, counts)).startswith("row 280")


def test_rows_are_not_drawn() -> None:
    learner = make("oja", rank=2).learn(X)
    assert refusal(lambda: learner.plot(X)) == "oja draws its components and takes no rows: plot()"


@pytest.mark.parametrize("name", ["svd", "oja"])
def test_features_that_do_not_fit_in_memory_are_refused_when_they_come(name: str) -> None:
    wide = sparse.csr_matrix((np.ones(1), (np.zeros(1, int), np.ones(1, int))), shape=(1, 2**31 - 1))
    learner = make(name, batch=1).learn(sparse.csr_matrix(X))
    assert "do not fit in memory" in refused(learner, lambda: learner.learn(wide))
    assert make("oja", rank=3).count_numbers(10) == 30
    assert make("pca").count_numbers(4096) == 4096**2
    assert "pca decomposes a matrix" in refusal(lambda: make("pca").count_numbers(4097))


# ---- calls that were cut off -----------------------------------------------------------------------------------------

CALLS: dict[str, Callable[[Any], Any]] = {
    "play": lambda learner: learner.play(X),
    "learn": lambda learner: learner.learn(X),
    "latest": lambda learner: learner.latest,
    "score": lambda learner: learner.score(X),
    "score_settled": lambda learner: learner.score_settled(X),
    "transform": lambda learner: learner.transform(X),
    "predict": lambda learner: learner.predict(X),
    "predict_one": lambda learner: learner.predict_one(X[0]),
    "flush": lambda learner: learner.flush(),
    "recenter": lambda learner: learner.recenter(),
    "impute": lambda learner: learner.impute(X),
    "features": lambda learner: learner.features,
    "feature_names": lambda learner: learner.feature_names,
    "dump": lambda learner: learner.dump(),
    "undo_of_calls": lambda learner: learner.undo_of_calls()(),
    "keep_steady": lambda learner: learner.keep_steady(),
}
OF_BOTH = ("play", "learn", "learn_one", "transform", "predict", "predict_one", "predict_proba", "features", "dump")


def torn(learner: Any) -> Any:
    """As an interrupt may leave a learner: half changed, and what was cut off is still to be undone."""
    learner._change.undo = learner._own_state()
    learner.rounds += 5
    for name, value in (("state", None), ("pending", WaitingRows())):
        if hasattr(learner, name):
            setattr(learner, name, value)
    return learner


def listed(results: Any) -> list[Any]:
    """Results of a call, as far as they are arrays."""
    return [np.asarray(one).tolist() for one in (results if isinstance(results, tuple) else [results])]


@pytest.mark.parametrize("name", CALLS)
def test_a_call_first_undoes_what_was_cut_off(name: str) -> None:
    learner = make("svd", rank=2, batch=30, missing="nan").learn(X)
    expected = learner.copy()
    results = [CALLS[name](one) for one in (expected, torn(learner))]
    if name not in ("play", "learn", "latest", "flush", "recenter", "dump"):
        assert listed(results[0]) == listed(results[1])
    assert learner._change.undo is None
    assert pack(learner) == pack(expected)


@pytest.mark.parametrize("name", OF_BOTH)
def test_a_call_of_two_learners_first_undoes_what_was_cut_off(name: str) -> None:
    labels = [number % 2 for number in range(40)]
    calls: dict[str, Callable[[Any], Any]] = {
        **CALLS,
        "play": lambda both: both.play(X, labels),
        "learn": lambda both: both.learn(X, labels),
        "learn_one": lambda both: both.learn_one(X[0], 1),
        "predict_proba": lambda both: both.predict_proba(X),
    }
    learner = (make("svd", rank=2, batch=30) | make("ogd", loss="logistic")).learn(X, labels)
    expected = learner.copy()
    calls[name](expected)
    calls[name](torn(learner))
    assert learner._change.undo is None
    assert pack(learner) == pack(expected)


def test_rows_that_wait_are_learned_by_flush_also_after_a_call_that_was_cut_off_between_its_results() -> None:
    learner = make("svd", rank=2, batch=30).learn(X)
    expected = pack(learner.copy().flush())
    assert pack(torn(learner).flush()) == expected


# ---- a decomposition before a learner --------------------------------------------------------------------------------


def test_two_learners_count_as_the_second_does() -> None:
    labels = [number % 2 for number in range(40)]
    both = make("svd", rank=2, batch=4) | make("arow")
    transcript = both.play(X, labels)
    assert (both.rounds, both.mistakes, both.updates) == (40, both.learner.mistakes, both.learner.updates)
    assert transcript.rounds == 40
    assert both.classes == [0, 1]
    assert (make("svd") | make("arow")).classes == []
    assert (make("svd") | make("oja")).classes == []
    assert both.predict_one(X[3]) == both.predict(X)[3]
    assert both.features == 5
    assert (make("svd") | make("arow")).predict_one(X[0]) is None
    probable = (make("svd", rank=2) | make("ogd", loss="logistic")).learn(X, labels)
    found = probable.learner.predict_proba(probable.transform(X))
    assert probable.predict_proba(X).tolist() == found.tolist()
    assert "scale" in repr((nr.scale() | (make("svd") | make("arow"))).decomposition.encoder.transforms[0].name)
    for name in ("oja", "pca_incremental", "kmeans", "mean_row", "gaussian", "lda", "dictionary"):
        assert (make(name) | make("arow")).predict_one(X[0]) is None
    chain = make("svd", rank=2) | make("oja", rank=2)
    assert chain.learn_one(X[0]).rounds == 1
    assert chain.learn_one(X[0], 1).rounds == 2
    assert "label" in refusal(lambda: (make("svd", rank=2) | make("arow")).learn_one(X[0]))


def test_what_can_be_chained() -> None:
    words = 'after a decomposition comes a learner, such as nr.make("arow"), not '
    assert refusal(lambda: make("svd") | 3) == words + "3"
    counted = type("Counted", (type(make("oja")),), {"rounds": 0, "mistakes": 0, "updates": 0, "source": None})
    for kind in (type(make("oja")), type(make("arow")), counted):  # the last has all attributes of a learner
        assert refusal(lambda: make("svd") | kind).startswith(words)  # noqa: B023
    words = 'decomposed needs a decomposition, such as nr.make("svd"), before a learner, not '
    assert refusal(lambda: nr.make("decomposed", decomposition="arow", learner="arow")).startswith(words)
    assert as_rows([[1.0, np.inf], [np.nan, 2.0]]).tolist() == [[1.0, 0.0], [0.0, 2.0]]
    assert as_rows(None).shape == (0, 0)
    for wrong in (np.zeros(3), np.zeros((2, 2, 2))):
        assert "makes components" in refusal(partial(as_rows, wrong))


# ---- words -----------------------------------------------------------------------------------------------------------


def test_words_are_counted_when_they_are_learned() -> None:
    """A word is learned from the second document on that has it."""
    learner = make("unigram", least_documents=2.0).learn(["cat dog", "cat fox", "dog cat"])
    assert learner.feature_names == ["cat", "dog"]
    assert pack(make("unigram", least_documents=2.0).learn_one("cat dog").learn(["cat fox", "dog cat"])) == pack(
        learner
    )
