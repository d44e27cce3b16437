"""Labels become classes as they come, and the state grows with the classes and the features that appear."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import noregret as nr
from noregret.learner.model_file import pack
from tests.support import by_name, by_number, refused, small_stream
from tests.support.model_files import tensors


def plain(rule: str = "pa1", **told: Any) -> nr.RuleLearner:
    return nr.make(rule, native=False, **told)


# ---- classes ------------------------------------------------------------------------------------------------------


def test_classes_are_numbered_by_first_appearance_also_inside_a_batch() -> None:
    learner = plain().learn(np.eye(5), ["b", "a", "b", "c", "a"])
    assert learner.classes == ["b", "a", "c"]
    assert learner.learn(np.eye(5)[:2], ["d", "a"]).classes == ["b", "a", "c", "d"]


@pytest.mark.parametrize("as_array", [True, False], ids=["array", "list"])
def test_a_hundred_classes_are_numbered_by_first_appearance(as_array: bool) -> None:
    y = np.random.default_rng(0).integers(100, size=300)
    learner = plain("perceptron").learn(np.ones((300, 1)), y if as_array else y.tolist())
    assert learner.classes == list(dict.fromkeys(y.tolist()))


@pytest.mark.parametrize(
    ("first", "second", "positive"),
    [
        (-1, 1, 1),
        (1, -1, 1),
        (0, 1, 1),
        (1, 0, 1),
        (0.0, 1.0, 1.0),
        (False, True, True),
        (True, False, True),
        (1, 2, 2),
        (2, 1, 1),
        (1, "one", "one"),
        ("yes", "no", "no"),
        ("no", "yes", "yes"),
    ],
)
def test_known_pairs_keep_their_sign_and_of_others_the_first_is_negative(
    first: Any, second: Any, positive: Any
) -> None:
    rows, labels = np.eye(2), [first, second]
    learner = plain().learn(np.tile(rows, (3, 1)), labels * 3)
    scores = learner.scores(rows)
    assert [label for label, score in zip(labels, scores, strict=True) if score > 0.0] == [positive]
    assert learner.predict(rows).tolist() == labels


@pytest.mark.parametrize("size", [1, 2], ids=["one call each", "one call"])
@pytest.mark.parametrize("row", [[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]], ids=["like", "unlike", "other"])
@pytest.mark.parametrize(
    ("first", "second", "guess"),
    [(1, 2, 1), (1, "b", 1), (2, 1, None), ("a", "b", None), (1, -1, 1), (-1, 1, 1), (0, 1, 1), (True, False, True)],
)
def test_the_round_of_a_new_class_is_predicted_from_the_classes_before(
    first: Any, second: Any, guess: Any, row: list[float], size: int
) -> None:
    """A guess on the very first round is made where the label says what the other one is."""
    rows, labels = np.array([[1.0, 0.0], row]), [first, second]
    said = plain(bias=False).learn(rows[:1], labels[:1]).predict_one(rows[1])
    learner = plain(bias=False)
    played = [learner.play(rows[at : at + size], labels[at : at + size]) for at in range(0, 2, size)]
    assert [label for part in played for label in part.predictions.tolist()] == [guess, said]
    assert [wrong for part in played for wrong in part.mistakes.tolist()] == [guess != first, said != second]


def test_one_is_opposed_to_minus_one_until_zero_appears() -> None:
    learner = plain(bias=False)
    assert learner.play([[1.0]], [1]).predictions.tolist() == [1]
    assert learner.predict_one(np.array([-1.0])) == -1
    zero = learner.play([[-1.0]], [0])
    assert (zero.predictions.tolist(), zero.mistakes.tolist()) == ([0], [False])


def test_one_alone_is_positive_and_turns_when_two_appears() -> None:
    X, _ = small_stream()
    learner = plain().learn(X, [1] * len(X))
    before = learner.scores(X)
    assert learner.scores(X[-1:])[0] > 0.0
    learner.learn(np.zeros((1, 4)), [2])
    np.testing.assert_array_equal(learner.scores(X), -before)


@pytest.mark.parametrize("algebra", ["sparse", "dense", "reference"])
@pytest.mark.parametrize("labels", [(-1, 1), (1, -1), ("a", "b"), (1, 2)])
def test_a_third_class_halves_the_weights_and_copies_the_covariance(labels: tuple[Any, Any], algebra: str) -> None:
    X, y = small_stream()
    y[:2] = -1, 1
    learner = plain("arow", algebra=algebra).learn(X, [labels[0] if sign < 0 else labels[1] for sign in y])
    two = tensors(learner)
    first, second = (1, 0) if labels == (1, -1) else (0, 1)
    before = learner.predict(X)
    three = tensors(learner.learn(np.zeros((1, 4)), ["third"]))
    w, sigma = two["state.w"][0], two["state.sigma"][0]
    np.testing.assert_array_equal(three["state.w"][[first, second, 2]], [-w / 2, w / 2, 0 * w])
    np.testing.assert_array_equal(three["state.sigma"][:2], [sigma, sigma])
    assert np.array_equal(three["state.sigma"][2], np.eye(4) if sigma.ndim == 2 else np.ones(4))
    assert learner.predict(X).tolist() == before.tolist()


def test_scores_are_one_number_a_row_until_a_third_class_comes() -> None:
    X, y = small_stream()
    learner = plain().learn(X, y)
    assert learner.scores(X).shape == (20,)
    assert learner.learn(X[:1], ["third"]).scores(X).shape == (20, 3)
    assert list(learner.scores_one(X[0])) == learner.classes
    assert plain(task="regression").learn(X, X[:, 0]).scores(X).shape == (20,)


@pytest.mark.parametrize("task", [None, "multiclass"])
def test_played_scores_are_minus_infinity_for_classes_not_seen_before(task: str | None) -> None:
    y = ["a", "b", "a", "c", "b", "c"]
    scores = plain(task=task).play(np.ones((6, 1)), y).scores
    unseen = [[label not in y[:t] for label in "abc"] for t in range(6)]
    np.testing.assert_array_equal(np.isneginf(scores), unseen)


@pytest.mark.parametrize("loss", ["hinge", "logistic", "squared"])
def test_a_round_without_a_rival_costs_nothing(loss: str) -> None:
    losses = plain("ogd", loss=loss, task="multiclass").play(np.eye(3), ["a", "a", "b"]).losses
    assert losses[:2].tolist() == [0.0, 0.0]
    assert 0.0 < losses[2] < np.inf


def test_fixed_classes_are_known_from_the_start_and_others_are_refused() -> None:
    learner = plain(classes=["a", "b", "c"])
    assert np.isfinite(learner.play(np.eye(2), ["b", "a"]).scores).all()
    assert learner.classes == ["a", "b", "c"]
    message = refused(learner, lambda: learner.learn(np.eye(2), ["a", "d"]))
    assert "'d'" in message
    assert "['a', 'b', 'c']" in message


def test_fixed_classes_decide_the_sign() -> None:
    learner = plain(classes=["a", "b"]).learn(np.eye(2), ["b", "a"])
    assert (learner.scores(np.eye(2)) > 0.0).tolist() == [True, False]


def test_the_binary_task_refuses_a_third_label() -> None:
    X, y = small_stream()
    learner = plain(task="binary").learn(X, y)
    message = refused(learner, lambda: learner.learn(X[:3], [1, -1, "third"]))
    assert "'third'" in message
    assert 'task="multiclass"' in message


def test_regression_is_never_guessed() -> None:
    learner = plain().learn(np.eye(4), [0.0, 1.0, 2.0, 3.0])
    assert learner.task == "multiclass"
    assert 'task="regression"' in refused(learner, lambda: learner.learn(np.eye(4), [0.0, 0.5, 1.0, 1.5]))


@pytest.mark.parametrize(
    ("y", "dtype"),
    [
        (["no", "yes"], "<U3"),
        ([False, True], "bool"),
        ([3, 7], "int64"),
        ([3.0, 7.0], "float64"),
        (np.array([3, 7], np.int8), "int64"),
        (np.array([3, 7], np.float32), "float64"),
        (np.array([False, True]), "bool"),
        (np.array(["no", "yes"]), "<U3"),
        (np.array(["no", 7], dtype=object), "object"),
    ],
)
def test_predictions_are_of_the_kind_of_the_labels(y: Any, dtype: str) -> None:
    learner = plain().learn(np.eye(2), y)
    predictions = learner.predict(np.eye(2))
    assert predictions.dtype == dtype
    assert predictions.tolist() == list(y)
    assert learner.predict_one([1.0, 0.0]) == y[0]
    assert type(learner.predict_one([1.0, 0.0])) in (str, bool, int, float)


def test_before_any_label_nothing_is_predicted() -> None:
    learner = plain()
    assert learner.predict_one({"a": 1.0}) is None
    for ask in (learner.predict, learner.scores):
        with pytest.raises(nr.NotLearned):
            ask(np.eye(2))
    for ask_one in (learner.scores_one, learner.explain_one):
        with pytest.raises(nr.NotLearned):
            ask_one({"a": 1.0})


# ---- features -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sparse", [True, False], ids=["sparse", "dense"])
def test_the_state_grows_with_wider_rows_and_narrow_rows_are_padded_with_zeros(sparse: bool) -> None:
    X, y = small_stream(columns=9)
    kind = sp.csr_array if sparse else np.asarray
    grown = plain("arow", columns="grow").learn(kind(X[:7, :2]), y[:7]).learn(kind(X[7:]), y[7:])
    padded = X.copy()
    padded[:7, 2:] = 0.0
    at_once = plain("arow", columns="grow").learn(kind(padded), y)
    assert pack(grown) == pack(at_once)
    np.testing.assert_array_equal(grown.scores(X[:, :3]), grown.scores(np.hstack([X[:, :3], np.zeros((20, 6))])))


WIDTHS: dict[str, dict[str, Any]] = {
    "plain": {},
    "constant and scaled": {"bias": True, "scale": True},
    "pairs": {"transforms": [nr.pairs()]},
    "kernel": {"algebra": "kernel"},
    "reference": {"algebra": "reference"},
}


@pytest.mark.parametrize("told", WIDTHS.values(), ids=WIDTHS)
def test_another_number_of_columns_is_refused_unless_growth_is_asked_for(told: dict[str, Any], tmp_path: Path) -> None:
    X, y = small_stream(columns=4)
    learner = plain(**told).learn(X, y)
    learner.save(tmp_path / "m.nr")
    loaded = nr.load(tmp_path / "m.nr")
    for wrong in (X[:, :3], np.hstack([X, X[:, :1]])):
        for one in (learner, loaded):
            actions = (
                lambda one=one, wrong=wrong: one.learn(wrong, y),
                lambda one=one, wrong=wrong: one.predict(wrong),
                lambda one=one, wrong=wrong: one.scores(wrong.tolist()),
                lambda one=one, wrong=wrong: one.learn_one(wrong[0], 1),
                lambda one=one, wrong=wrong: one.predict_one(list(wrong[0])),
                lambda one=one, wrong=wrong: one.explain_one(wrong[0]),
            )
            for action in actions:
                message = refused(one, action)
                assert f"the rows have {wrong.shape[1]} columns" in message
                assert "learned rows with 4" in message
                assert 'columns="grow"' in message
    assert learner.learn(X, y).rounds == 2 * len(X)
    growing = plain(**told, columns="grow").learn(X[:, :3], y).learn(X, y)
    growing.save(tmp_path / "g.nr")
    assert nr.load(tmp_path / "g.nr").learn(np.hstack([X, X]), y).predict(X[:, :1]).shape == (len(X),)


def test_sparse_rows_and_dicts_may_have_any_features() -> None:
    X, y = small_stream(columns=4)
    learner = plain().learn(sp.csr_array(X), y)
    learner.learn(sp.csr_array(X[:, :2]), y).learn([{9: 1.0}], [1])
    assert learner.scores(sp.csr_array(np.hstack([X, X]))).shape == (len(X),)


def test_columns_is_fixed_or_grow() -> None:
    assert 'columns must be "fixed" or "grow", not 3' in refused(plain(), lambda: plain(columns=3))


def test_rows_by_number_equal_the_rows_of_a_sparse_matrix() -> None:
    X, y = small_stream()
    X[X < -0.5] = 0.0
    matrix = plain("arow").learn(sp.csr_array(X), y)
    dicts = plain("arow").learn([by_number(row) for row in X], y)
    loop = plain("arow")
    for row, label in zip(X, y, strict=True):
        loop.learn_one(by_number(row), label)
    assert pack(matrix) == pack(dicts) == pack(loop)


def test_names_are_kept_in_the_order_they_came() -> None:
    learner = plain().learn([{"sun": 1.0, "rain": -1.0}, {"snow": 2.0, "sun": 0.5}], ["go", "stay"])
    assert learner.model.names.as_list() == ["sun", "rain", "snow"]
    assert set(learner.explain_one({"snow": 1.0, "sun": 1.0})) == {"snow", "sun"}


def test_names_and_columns_are_not_mixed() -> None:
    X, y = small_stream()
    named = plain().learn([by_name(row) for row in X], y)
    numbered = plain().learn(X, y)
    for learner, other in ((named, X), (named, [by_number(X[0])]), (numbered, [by_name(X[0])])):
        assert "features by" in refused(learner, lambda a=learner, b=other: a.learn(b, [1] * len(b)))  # type: ignore[misc]
        assert "features by" in refused(learner, lambda a=learner, b=other: a.predict(b))  # type: ignore[misc]
    assert "a name is a string" in refused(named, lambda: named.learn([{"f0": 1.0, 3: 1.0}], [1]))


def test_predicting_does_not_decide_between_names_and_columns() -> None:
    learner = plain().learn([{}, {}], [1, -1])
    learner.predict(np.eye(2))
    assert learner.learn_one({"sun": 1.0}, 1).model.names.as_list() == ["sun"]


def test_features_never_learned_are_ignored_in_predictions() -> None:
    X, y = small_stream()
    named = plain().learn([by_name(row) for row in X], y)
    assert named.scores_one({**by_name(X[0]), "new": 9.0}) == named.scores_one(by_name(X[0]))
    numbered = plain(columns="grow").learn(X, y)
    np.testing.assert_array_equal(numbered.scores(np.hstack([X, X])), numbered.scores(X))
    assert pack(named) == pack(plain().learn([by_name(row) for row in X], y))


@pytest.mark.parametrize("native", [False, True], ids=["interpreted", "compiled"])
def test_for_winnow_a_new_feature_counts_with_its_first_weight(native: bool) -> None:
    rows = [{"a": 1.0}, {"a": 1.0, "b": 1.0}, {"c": 1.0}]
    learner = nr.make("winnow", native=native, theta=1.5).learn(rows, [1, 1, -1])
    new = {"a": 1.0, "never": 1.0, "seen": 1.0}
    assert learner.scores_one(new) == pytest.approx(learner.scores_one({"a": 1.0}) + 2.0, abs=1e-12)
    foreseen = learner.scores([new])
    np.testing.assert_array_equal(learner.play([new], [1]).scores, foreseen)


@pytest.mark.parametrize(
    "told",
    [
        {"rule": "arow"},
        {"rule": "pa1", "algebra": "kernel"},
        {"rule": "pa1", "algebra": "kernel", "task": "multiclass"},
        {"rule": "sop", "covariance": "drop"},
        {"rule": "sop", "covariance": "full"},
        {"rule": "sop", "covariance": "full", "algebra": "dense"},
        {"rule": "winnow", "algebra": "dense"},
    ],
    ids=str,
)
def test_a_row_with_new_features_is_scored_as_playing_it_would(told: dict[str, str]) -> None:
    X, y = small_stream()
    learner = plain(**told, columns="grow").learn(X[:, :2], y)
    foreseen = learner.scores(X[:1])
    np.testing.assert_allclose(learner.play(X[:1], y[:1]).scores, foreseen, rtol=1e-12)


# ---- what a learner says of itself --------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", ["perceptron", "perceptron_averaged", "pa1", "arow", "ogd", "rda"])
def test_the_shares_of_a_linear_score_add_up_and_come_largest_first(rule: str) -> None:
    X, y = small_stream()
    learner = plain(rule).learn([by_name(row) for row in X], y)
    shares = learner.explain_one(by_name(X[0]))
    assert set(shares) == {"f0", "f1", "f2", "f3"}
    assert sum(shares.values()) == pytest.approx(learner.scores_one(by_name(X[0])), abs=1e-9)
    assert list(map(abs, shares.values())) == sorted(map(abs, shares.values()), reverse=True)


@pytest.mark.parametrize("told", [{"rule": "sop", "covariance": "full"}, {"rule": "pa1", "algebra": "kernel"}])
def test_where_scores_are_no_sums_a_share_is_what_the_score_would_lose(told: dict[str, str]) -> None:
    X, y = small_stream()
    learner = plain(**told).learn(X, y)
    for feature, share in learner.explain_one(X[0]).items():
        without = X[0].copy()
        without[feature] = 0.0
        assert share == pytest.approx(learner.scores_one(X[0]) - learner.scores_one(without), abs=1e-9)


def test_with_many_classes_the_predicted_one_is_explained_or_the_one_asked_for() -> None:
    X, _ = small_stream()
    learner = plain().learn(X, ["a", "b", "c", "d"] * 5)
    scores, predicted = learner.scores_one(X[0]), learner.predict_one(X[0])
    assert sum(learner.explain_one(X[0]).values()) == pytest.approx(scores[predicted], abs=1e-9)
    assert sum(learner.explain_one(X[0], label="b").values()) == pytest.approx(scores["b"], abs=1e-9)
    assert "'z'" in refused(learner, lambda: learner.explain_one(X[0], label="z"))


def test_a_class_weight_is_the_weight_of_every_round_of_the_class() -> None:
    X, y = small_stream()
    weighed = plain(class_weight={1: 3.0, -1: 0.0}).learn(X, y)
    told = plain().learn(X, y, weight=np.where(y > 0, 3.0, 0.0))
    np.testing.assert_array_equal(weighed.scores(X), told.scores(X))
    both = plain(class_weight={1: 3.0}).learn(X, y, weight=np.full(20, 0.5))
    np.testing.assert_array_equal(both.scores(X), plain().learn(X, y, weight=np.where(y > 0, 1.5, 0.5)).scores(X))


def test_params_are_those_of_the_rule_and_the_task_as_in_use() -> None:
    start = {"random_start": 0.0}
    assert plain(C=0.5).params == {"C": 0.5, "gate": "loss", "universum": 0.1, **start}
    assert plain(task="regression").params == {"C": 1.0, "gate": "loss", "eps": 0.1, "scale_target": "yes", **start}
    assert plain("rda", loss="logistic").params == {
        "lam": 1e-4, "gamma": 0.0, "beta": "sqrt", "loss": "logistic", "universum": 0.1,
    }  # fmt: skip
    assert plain("ogd", task="regression").params["loss"] == "eps_insensitive"


def test_a_learner_shows_what_it_was_told_and_how_far_it_is() -> None:
    X, y = small_stream()
    learner = nr.make("pa1", C=0.5, native=False).learn(X, y)
    assert repr(learner) == f"<pa1, C=0.5, native=False: binary, 20 rounds, {learner.mistakes} mistakes>"
