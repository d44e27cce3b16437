"""The softmax loss: -log p of the truth, whose gradient is what is expected minus what was observed."""

from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize
from scipy.sparse import csr_array
from scipy.special import log_softmax, softmax
from sklearn._loss.loss import HalfMultinomialLoss
from sklearn.linear_model._linear_loss import LinearModelLoss
from sklearn.metrics import log_loss

import noregret as nr
from noregret.sklearn import OGDClassifier, SoftmaxClassifier
from noregret.tasks.softmax import observed_minus_expected, softmax_losses
from tests.conformance.plays import arrays, by_appearance, near, rows_of, same_bits
from tests.naive import rule, streams
from tests.naive.rules import Array
from tests.naive.tasks import Multiclass
from tests.support import refusal
from tests.support.cover import seeds

K = 4
STEPS = ("ogd", "adagrad", "adadelta", "ftrl", "fobos", "rda")


def rounds(seed: int = 0, count: int = 60, dense: bool = False) -> tuple[Array, Any]:
    X, _ = streams.dense(count, 6, seed) if dense else streams.sparse(count, 12, density=0.3, seed=seed)
    U = np.random.default_rng(seed).normal(size=(K, X.shape[1]))
    return X, by_appearance(streams.relabel(np.argmax(X @ U.T, axis=1), K, rate=0.3, seed=seed))


def plain(name: str = "ogd", **told: Any) -> nr.RuleLearner:
    return nr.make(name, **{"loss": "softmax", "native": False, **told})


def weights_of(learner: nr.RuleLearner, features: int) -> Array:
    """The weights, classes in rows."""
    return np.asarray(learner.scores(np.eye(features))).T


def total_loss(W: Array, X: Array, y: Any) -> float:
    return -float(log_softmax(X @ W.reshape(-1, X.shape[1]).T, axis=1)[np.arange(len(y)), y].sum())


# ---- the gradient ----------------------------------------------------------------------------------------------------


@seeds(3)
def test_a_step_is_the_rate_times_the_gradient_of_minus_log_p(seed: int) -> None:
    X, y = rounds(seed, dense=True)
    learner = plain(classes=range(K), eta0=0.1, schedule="constant").learn(X[:-1], y[:-1])
    before = weights_of(learner, X.shape[1])
    slope = approx_fprime(before.ravel(), total_loss, 1e-7, X[-1:], y[-1:]).reshape(before.shape)
    learner.learn(X[-1:], y[-1:])
    np.testing.assert_allclose(weights_of(learner, X.shape[1]), before - 0.1 * slope, atol=1e-7)


@seeds(2)
def test_its_gradient_is_that_of_multinomial_regression_in_scikit_learn(seed: int) -> None:
    """A batch of as many rows as there are: the first step of gradient_batch is along the sum of all gradients."""
    X, y = rounds(seed, count=40, dense=True)
    learner = plain("gradient_batch", classes=range(K), batch=len(X), eta=0.25, reduction="sum").learn(X, y)
    theirs = LinearModelLoss(base_loss=HalfMultinomialLoss(n_classes=K), fit_intercept=False)
    start = np.zeros((K, X.shape[1]), order="F")
    gradient = theirs.gradient(start, X, y.astype(float), sample_weight=np.ones(len(y)), l2_reg_strength=0.0)
    np.testing.assert_allclose(weights_of(learner, X.shape[1]), -0.25 * len(X) * gradient, atol=1e-12)


def test_the_gradient_keeps_its_digits_where_p_is_almost_one() -> None:
    learner = plain(classes=[0, 1, 2], eta0=1.0, schedule="constant")
    learner.learn([[1.0]], [0], weight=[60.0])  # the scores are then 40, -20 and -20
    near(learner.scores([[1.0]]), [[40.0, -20.0, -20.0]])
    first = learner.play([[1.0]], [0])
    assert first.losses[0] == pytest.approx(2.0 * np.exp(-60.0), rel=1e-12)
    assert first.updated[0]
    for name in ("adagrad", "ftrl"):  # steps do not depend on the scale of gradients
        big = plain(name, classes=[0, 1, 2]).learn([[1e3], [1e3]], [0, 0])
        assert np.isfinite(big.scores([[1e3]])).all()


def test_large_scores_overflow_nowhere() -> None:
    learner = plain(classes=[0, 1, 2], eta0=1.0, schedule="constant").learn([[1e3]], [0])
    transcript = learner.play([[1e3]], [1])
    assert transcript.losses[0] == pytest.approx(1e6, rel=1e-12)
    np.testing.assert_allclose(learner.predict_proba([[1e-9]]).sum(), 1.0)


# ---- twins -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", STEPS)
def test_weights_of_rounds_scale_the_gradient_as_in_its_twin(name: str) -> None:
    X, y = rounds(seed=5)
    h = np.random.default_rng(5).choice([0.0, 0.5, 2.0], size=len(y))
    h[[int(np.argmax(y == c)) for c in range(K)]] = 1.0
    learner = plain(name)
    twin = Multiclass(rule(name, **learner.config.numbers, **dict(learner.config.choices)), K, False, "softmax")
    learner.play(X, y, weight=h)
    twin.run(X, y, weight=h)
    near(learner.scores(X), twin.final(X))
    weighed = plain(name, class_weight={1: 3.0}).learn(X, y)
    near(weighed.scores(X), plain(name).learn(X, y, weight=np.where(y == 1, 3.0, 1.0)).scores(X))


@pytest.mark.compiles
def test_the_compiled_loop_is_the_plain_text() -> None:
    X, y = rounds(seed=3)
    for rows, told in ((csr_array(X), {}), (X, {}), (X, {"algebra": "kernel", "kernel": "rbf", "gamma": 0.3})):
        name = "ogd" if told else "adagrad"
        told = {"loss": "softmax", **told}
        one, other = (nr.make(name, native=native, **told).play(rows, y) for native in (True, False))
        near(one.scores, other.scores, 1e-12)
        near(one.losses, other.losses, 1e-12)
    singly = nr.make("adagrad", loss="softmax")
    for row, label in zip(rows_of(X), y.tolist(), strict=True):
        singly.learn_one(row, label)
    together = nr.make("adagrad", loss="softmax").learn(rows_of(X), y.tolist())
    assert all(same_bits(one, arrays(together)[name]) for name, one in arrays(singly).items())


def test_every_algebra_learns_the_same() -> None:
    X, y = rounds(seed=4)
    for told in ({}, {"eta0": 0.3}):
        ours = [plain("ogd", algebra=one, **told).learn(X, y).scores(X) for one in ("sparse", "dense", "reference")]
        ours.append(plain("ogd", algebra="kernel", kernel="linear", **told).learn(X, y).scores(X))
        for scores in ours[1:]:
            near(scores, ours[0], 1e-9)


# ---- two classes -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "rate"), [("ogd", "eta0"), ("adagrad", "eta")])
def test_two_classes_learn_as_the_logistic_loss_does_at_twice_the_rate(name: str, rate: str) -> None:
    """Both blocks move by the same step, so that the difference of the scores moves by two."""
    X, y = streams.sparse(80, 12, density=0.3, seed=6)
    told = {"schedule": "constant"} if name == "ogd" else {}
    many = plain(name, classes=[-1, 1], **{rate: 0.2}, **told).play(X, y)
    two = plain(name, task="binary", **{rate: 0.4, "loss": "logistic"}, **told).play(X, y)
    near(many.scores[:, 1] - many.scores[:, 0], two.scores)
    near(many.losses, two.losses)


def test_p_of_two_classes_is_the_logistic_function_of_their_difference() -> None:
    X, y = streams.sparse(80, 12, density=0.3, seed=6)
    learner = plain(classes=[-1, 1]).learn(X, y)
    f = learner.scores(X)
    np.testing.assert_allclose(learner.predict_proba(X)[:, 1], 1.0 / (1.0 + np.exp(f[:, 0] - f[:, 1])), rtol=1e-12)


# ---- regret ----------------------------------------------------------------------------------------------------------


@pytest.mark.thinned(2)
@pytest.mark.parametrize("schedule", ["constant", "inv_sqrt"])
@pytest.mark.parametrize("seed", range(3))
def test_gradient_descent_keeps_its_regret_bound(schedule: str, seed: int) -> None:
    """Zinkevich 2003: the loss is convex, and no gradient is longer than sqrt(2) R."""
    X, y = rounds(seed, count=200, dense=True)
    learner = plain(classes=range(K), eta0=0.2, schedule=schedule)
    W, largest, distance, losses = np.zeros((K, X.shape[1])), 0.0, 0.0, 0.0
    best = minimize(total_loss, W.ravel() + 1e-3, (X, y)).x.reshape(W.shape)
    best = best * min(1.0, 3.0 / float(np.linalg.norm(best)))
    squares = 0.0
    for x, label in zip(X, y, strict=True):
        g = np.outer(softmax(W @ x) - np.eye(K)[label], x)
        squares += float((g**2).sum())
        largest, distance = max(largest, float(np.linalg.norm(g))), max(distance, float(np.linalg.norm(W - best)))
        losses += learner.play(x[None], [label]).losses.sum()
        W = weights_of(learner, X.shape[1])
    assert largest <= np.sqrt(2.0) * np.linalg.norm(X, axis=1).max()
    quantities = {"norm": float(np.linalg.norm(best)), "squared_gradients": squares}
    if schedule == "inv_sqrt":
        quantities = {"distance": distance, "largest_gradient": largest, "rounds": float(len(y))}
    regret = losses - total_loss(best, X, y)
    assert 0.0 < regret <= learner.card.bound({**learner.params}, **quantities)


# ---- probabilities ---------------------------------------------------------------------------------------------------


def test_the_loss_is_the_log_loss_of_the_probabilities_before_each_round() -> None:
    X, y = rounds(seed=8)
    learner, before = plain("adagrad", classes=range(K)), []
    losses = []
    learner.learn(X[:1], y[:1])
    for x, label in zip(X[1:], y[1:], strict=True):
        before.append(learner.predict_proba(x[None])[0])
        losses.append(learner.play(x[None], [label]).losses[0])
    assert np.mean(losses) == pytest.approx(log_loss(y[1:], np.array(before), labels=range(K)), rel=1e-12)


def test_probabilities_are_the_softmax_of_the_scores_and_need_no_calibration() -> None:
    X, y = rounds(seed=9)
    for learner in (plain("ogd").learn(X, y), plain("ogd", average=True).learn(X, y)):
        assert learner.model.recent is None
        np.testing.assert_allclose(learner.predict_proba(X), softmax(learner.scores(X), axis=1), rtol=1e-12)
        one = [list(learner.predict_proba_one(x).values()) for x in X[:10]]
        np.testing.assert_allclose(one, learner.predict_proba(X[:10]), rtol=1e-12)


def test_labels_drawn_by_a_softmax_get_calibrated_probabilities() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(6000, 4))
    p = softmax(X @ rng.normal(size=(4, 3)), axis=1)
    y = (p.cumsum(axis=1) < rng.random(6000)[:, None]).sum(axis=1)
    learner = nr.make("softmax", native=False).learn(X[:4000], y[:4000])
    found = learner.predict_proba(X[4000:])[:, np.argsort(learner.classes)]
    assert np.abs(found - p[4000:]).mean() < 0.05
    assert log_loss(y[4000:], found) < log_loss(y[4000:], p[4000:]) + 0.03
    report = nr.evaluate((X[4000:], y[4000:]), learner)
    assert report["calibration_error"] < 0.05
    assert report["log_loss"] == pytest.approx(log_loss(y[4000:], found), rel=1e-9)


# ---- batches, files, doors -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", STEPS)
def test_batches_files_and_classes_that_come_later_change_no_bit(name: str, tmp_path: Path) -> None:
    X, y = rounds(seed=10)
    words = np.array(["a", "b", "c", "d"])[y]
    whole = plain(name).learn(X, words)
    parts = plain(name)
    for at in range(0, len(X), 7):
        parts.learn(X[at : at + 7], words[at : at + 7])
        parts.save(tmp_path / "m.nr")
        parts = nr.load(tmp_path / "m.nr")
        parts.interpret()
    assert all(same_bits(one, arrays(parts)[key]) for key, one in arrays(whole).items())
    assert parts.predict_proba(X).tolist() == whole.predict_proba(X).tolist()


def test_the_first_class_alone_teaches_nothing() -> None:
    learner = plain()
    told = learner.play([[1.0]], ["a"])
    assert not told.updated[0]
    assert told.losses[0] == 0.0
    assert learner.play([[2.0]], ["b"]).losses[0] == np.log(2.0)  # a class that was not known has the score 0


def test_scikit_learn_has_it_for_two_classes_and_for_many() -> None:
    X, y = rounds(seed=11, count=200, dense=True)
    for estimator in (SoftmaxClassifier(shuffle=False), OGDClassifier(loss="softmax", shuffle=False)):
        many = estimator.fit(X, y)
        assert many.decision_function(X).shape == (len(X), K)
        np.testing.assert_allclose(many.predict_proba(X), softmax(many.decision_function(X), axis=1), rtol=1e-9)
        two = estimator.fit(X, y > 1)
        assert two.decision_function(X).shape == (len(X),)
        np.testing.assert_allclose(
            two.predict_proba(X)[:, 1], 1.0 / (1.0 + np.exp(-two.decision_function(X))), rtol=1e-9
        )
        assert two.predict(X).tolist() == (two.decision_function(X) > 0.0).tolist()


@pytest.mark.parametrize(
    ("name", "told", "said"),
    [
        ("ogd", {"competitor": "rest"}, "ogd: the softmax loss compares the truth with all others together"),
        ("ogd", {"cost": {"a": {"b": 2.0}}}, "ogd: the softmax loss asks for no margin; leave cost and margin out"),
        ("ogd", {"margin": "unit"}, "leave cost and margin out, or use class_weight"),
        ("ogd", {"task": "binary"}, "the loss 'softmax' does not fit binary"),
        ("ogd", {"loss": "hinge", "competitor": "softmax"}, 'competitor="softmax" is for loss="softmax"'),
        ("softmax", {"task": "binary"}, "softmax cannot play binary"),
        ("softmax", {"eta": 0.0}, "softmax: eta must be above 0"),
        ("softmax", {"loss": "hinge"}, "softmax has no parameter 'loss'"),
    ],
)
def test_what_makes_no_sense_with_it_is_refused(name: str, told: dict[str, Any], said: str) -> None:
    given = {"loss": "softmax", **told} if name == "ogd" else told
    assert said in refusal(lambda: nr.make(name, **given))


def test_the_card_is_adagrad_by_another_name(tmp_path: Path) -> None:
    X, y = rounds(seed=12)
    named = nr.make("softmax", native=False).learn(X, y)
    own = {name: named.params[name] for name in ("eta", "delta")}
    assert same_bits(named.scores(X), plain("adagrad", **own).learn(X, y).scores(X))
    named.save(tmp_path / "m.nr")
    assert nr.load(tmp_path / "m.nr").card is nr.learners()["softmax"]


def test_shares_of_scores_of_any_size_sum_to_0() -> None:
    """An exponential of 900 is no number; of the truth, what is expected of all others is left."""
    shares = np.empty(3)
    for order in permutations([-900.0, 0.0, 900.0]):
        for truth in range(3):
            observed_minus_expected(np.array(order), truth, shares)
            expected = np.eye(3)[truth] - np.eye(3)[order.index(900.0)]
            assert shares.tolist() == expected.tolist()


def test_averaged_scores_are_told_and_plain_ones_are_learned_from() -> None:
    """The weights of both are the same; scores before a round are those of the mean of all weights so far."""
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(15, 3)), rng.integers(0, 3, 15)
    told: dict[str, Any] = {"loss": "softmax", "task": "multiclass", "classes": [0, 1, 2], "native": False}
    plain, averaged = nr.make("ogd", **told), nr.make("ogd", average=True, **told)
    found = [np.zeros((18, 3))]
    rows = np.vstack([np.eye(3), X])
    played = averaged.play(X, y)
    for t in range(15):
        np.testing.assert_allclose(played.scores[t], np.mean(found, axis=0)[3 + t], rtol=1e-9, atol=1e-12)
        found.append(plain.learn(X[t : t + 1], y[t : t + 1]).scores(rows))
    np.testing.assert_allclose(averaged.scores(rows), np.mean(found, axis=0), rtol=1e-9, atol=1e-12)


def test_only_rounds_whose_label_is_asked_for_are_learned() -> None:
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 3, 60)
    told: dict[str, Any] = {"loss": "softmax", "task": "multiclass", "classes": [0, 1, 2], "native": False}
    learner = nr.make("ogd", labels="asked", ask=0.05, **told)
    transcript = learner.play(X, y)
    assert 0 < learner.asked < 60
    assert np.count_nonzero(transcript.updated) == learner.asked


def test_a_loss_keeps_its_digits_where_the_truth_is_almost_sure() -> None:
    losses = softmax_losses(np.array([[40.0, 0.0, 0.0], [0.0, 40.0, 40.0], [0.5, 0.0, 0.0]]), np.zeros(3, int))
    expected = [2.0 * np.exp(-40.0), np.log(2.0) + 40.0, np.log1p(2.0 * np.exp(-0.5))]
    np.testing.assert_allclose(losses, expected, rtol=1e-13)
