"""The perceptron (Rosenblatt 1958, Novikoff 1963), its average (Freund and Schapire 1999), and a margin to keep."""

import numpy as np
import pytest

import noregret as nr
from tests.learners.reading import (
    ONE_PASS,
    after_each_round,
    bound_of,
    comparators,
    hinge,
    radius_of,
    same,
    sklearn,
    steps,
    two_classes,
    weights,
    written,
)
from tests.naive import streams
from tests.support.cover import seeds

BOTH = ["perceptron", "perceptron_averaged"]


# ---- worked examples ----------------------------------------------------------------------------------------------


def test_a_zero_score_updates_but_is_no_mistake_on_a_positive_example() -> None:
    X, y = streams.four()
    learner = nr.make("perceptron", native=False)
    transcript = learner.play(X, y)
    written(y * transcript.scores, [0, -4, 1, -4])
    assert transcript.updated.tolist() == [True, True, False, True]
    assert transcript.mistakes.tolist() == [False, True, False, True]
    written(weights(learner, 2), [1, -3])
    assert not learner.play(X, y).updated.any()


def test_the_weights_of_the_four_points() -> None:
    X, y = streams.four()
    path = after_each_round(nr.make("perceptron", native=False), X, y)
    written(path, [[4, 0], [3, -1], [3, -1], [1, -3]])
    written(path.sum(axis=0), [11, -5])


def test_the_average_of_the_four_points_counts_the_zero_vector() -> None:
    X, y = streams.four()
    learner = nr.make("perceptron_averaged", native=False)
    transcript = learner.play(X, y)
    written(transcript.margins, [0, -4, 1, -4])
    written(weights(learner, 2), [2.2, -1.0])


def test_a_margin_of_exactly_b_is_enough() -> None:
    X, y = streams.four()
    learner = nr.make("perceptron_margin", b=1.0, native=False)
    transcript = learner.play(X, y)
    written(y * transcript.scores, [0, -4, 1, -4])
    assert transcript.updated.tolist() == [True, True, False, True]
    more = nr.make("perceptron_margin", b=1.5, native=False)
    assert more.play(X, y).updated.tolist() == [True, True, True, True]
    written(weights(more, 2), [1, -4])


def test_a_margin_of_nothing_is_the_perceptron_itself() -> None:
    X, y = streams.sparse(200, 12, density=0.3, seed=4)
    plain, bare = nr.make("perceptron", native=False), nr.make("perceptron_margin", b=1e-300, native=False)
    assert plain.play(X, y).updated.tolist() == bare.play(X, y).updated.tolist()
    assert (weights(plain, 12) == weights(bare, 12)).all()


def test_a_margin_to_keep_is_no_loss_and_plays_no_regression() -> None:
    assert "regression" not in nr.learners()["perceptron_margin"].tasks


def epochs(learner: nr.RuleLearner, X: np.ndarray, y: np.ndarray) -> tuple[int, int]:
    """Passes until one without an update, and the updates made."""
    for epoch in range(1, 100):
        if not learner.play(X, y).updated.any():
            return epoch, learner.updates
    raise AssertionError("did not converge")


def test_exclusive_or_is_learned_with_the_product_of_its_inputs() -> None:
    X = np.array([[1.0, a, b, a * b] for a in (0, 1) for b in (0, 1)])
    y = np.array([-1.0, 1.0, 1.0, -1.0])
    learner = nr.make("perceptron", native=False)
    assert epochs(learner, X, y) == (12, 29)
    written(weights(learner, 4), [-1, 2, 2, -5])


def test_an_interval_is_learned_with_the_square_of_its_input() -> None:
    points = np.array([-2.0, -1.5, -0.5, 0.0, 0.5, 1.5, 2.0])
    X, y = np.stack([np.ones(7), points, points**2], axis=1), np.where(np.abs(points) < 1.0, 1.0, -1.0)
    learner = nr.make("perceptron", native=False)
    assert epochs(learner, X, y) == (3, 4)
    written(weights(learner, 3), [2, 1, -3.5])


# ---- one step -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("eta", [0.3, 1.0, 2.5])
def test_an_update_raises_the_margin_by_eta_times_the_squared_length(eta: float) -> None:
    X, y = streams.dense(80, 6, seed=1)
    moved = 0
    for t, before, after, said in steps(nr.make("perceptron", eta=eta, native=False), X, y, rounds=40):
        margin = y[t] * before @ X[t]
        assert said.updated[0] == (margin <= 0.0)
        gain = eta * X[t] @ X[t] if said.updated[0] else 0.0
        assert y[t] * after @ X[t] == pytest.approx(margin + gain)
        moved += int(said.updated[0])
    assert 5 < moved < 35


@pytest.mark.parametrize(("b", "eta"), [(0.5, 1.0), (1.0, 0.3), (3.0, 2.5)])
def test_an_example_short_of_b_gains_eta_times_its_squared_length(b: float, eta: float) -> None:
    X, y = streams.dense(80, 6, seed=1)
    moved = right = 0
    for t, before, after, said in steps(nr.make("perceptron_margin", b=b, eta=eta, native=False), X, y, rounds=60):
        margin = y[t] * before @ X[t]
        assert said.updated[0] == (margin < b)
        gain = eta * X[t] @ X[t] if margin < b else 0.0
        assert y[t] * after @ X[t] == pytest.approx(margin + gain)
        moved += int(said.updated[0])
        right += int(0.0 < margin < b)
    assert 5 < moved < 60
    assert right > 0


def test_only_the_ratio_of_b_and_eta_matters() -> None:
    X, y = streams.dense(200, 6, seed=2)
    small, large = (nr.make("perceptron_margin", b=b, eta=2.0 * b, native=False) for b in (1.0, 4.0))
    assert small.play(X, y).updated.tolist() == large.play(X, y).updated.tolist()
    same(weights(large, 6), 4.0 * weights(small, 6))


def test_only_the_length_of_the_weights_depends_on_eta() -> None:
    X, y = streams.dense(200, 6, seed=2)
    one, three = (nr.make("perceptron", eta=eta, native=False) for eta in (1.0, 3.0))
    assert one.play(X, y).mistakes.tolist() == three.play(X, y).mistakes.tolist()
    same(weights(three, 6), 3.0 * weights(one, 6))


def test_the_average_is_the_mean_of_every_vector_the_perceptron_went_through() -> None:
    X, y = streams.dense(60, 5, seed=3)
    path = after_each_round(nr.make("perceptron", native=False), X, y)
    averages = after_each_round(nr.make("perceptron_averaged", native=False), X, y)
    for t in range(60):
        same(averages[t], path[: t + 1].sum(axis=0) / (t + 2))


def test_the_average_trains_as_the_perceptron() -> None:
    X, y = streams.sparse(200, 12, density=0.3, seed=4)
    plain, averaged = nr.make("perceptron", native=False).play(X, y), nr.make("perceptron_averaged").play(X, y)
    np.testing.assert_allclose(averaged.margins, y * plain.scores, atol=1e-12)
    assert averaged.updated.tolist() == plain.updated.tolist()


# ---- the theorem --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("margin", [0.02, 0.1, 0.4])
@seeds(5)
@pytest.mark.parametrize("name", BOTH)
def test_updates_are_at_most_radius_over_margin_squared(name: str, seed: int, margin: float) -> None:
    X, y, u = streams.separable(400, 6, margin, seed)
    learner = nr.make(name, native=False)
    bound = bound_of(learner, radius=radius_of(X), margin=float((y * (X @ u)).min()))
    while learner.play(X, y).updated.any() and learner.updates <= bound:
        pass
    assert 0 < learner.updates <= bound


@seeds(5)
@pytest.mark.parametrize("name", [*BOTH, "perceptron_voted", "perceptron_pocket"])
def test_on_noisy_rows_updates_are_few_beside_any_comparator(name: str, seed: int) -> None:
    X, y, u = streams.separable(300, 6, 0.1, seed)
    y = streams.flip(y, 0.1, seed)
    learner = nr.make(name, native=False).learn(X, y)
    for v in [*comparators(X, y, seed), *(scale * u for scale in (0.3, 1.0, 3.0, 10.0))]:
        squares = float(np.sum(hinge(v, X, y) ** 2))
        bound = bound_of(learner, radius=radius_of(X), norm=float(np.linalg.norm(v)), comparator_squares=squares)
        assert learner.updates <= bound
    assert learner.updates > 40


def test_an_update_on_every_round_is_all_that_a_comparator_of_zero_allows() -> None:
    X, y = np.tile([[1.0], [-1.0]], (8, 1)), np.ones(16)
    learner = nr.make("perceptron", native=False).learn(X, y)
    assert learner.updates == 16 == bound_of(learner, radius=1.0, norm=0.0, comparator_squares=16.0)


@pytest.mark.many_rounds
@pytest.mark.parametrize(("b", "eta"), [(0.0, 1.0), (0.01, 1.0), (1.0, 1.0), (1.0, 20.0)])
@pytest.mark.parametrize("margin", [0.05, 0.4])
@seeds(3)
def test_with_a_margin_to_keep_the_bound_grows_by_twice_b_over_eta(
    seed: int, margin: float, b: float, eta: float
) -> None:
    X, y, u = streams.separable(400, 6, margin, seed)
    learner = nr.make("perceptron_margin", b=b, eta=eta)
    bound = bound_of(learner, radius=radius_of(X), margin=float((y * (X @ u)).min()))
    while learner.play(X, y).updated.any() and learner.updates <= bound:
        pass
    assert 0 < learner.updates <= bound
    assert (y * learner.scores(X)).min() >= b


def test_one_row_again_and_again_takes_as_many_updates_as_the_bound_allows() -> None:
    X, y = np.tile([[1.0, 0.0]], (20, 1)), np.ones(20)
    learner = nr.make("perceptron_margin", b=5.0, native=False).learn(X, y)
    assert learner.updates == 5
    assert bound_of(learner, radius=1.0, margin=1.0) == 11.0


@seeds(3)
def test_many_classes_make_at_most_twice_that_many_mistakes(seed: int) -> None:
    X, y, U = streams.blobs(600, 6, k=4, seed=seed)
    U = U / np.linalg.norm(U)
    scores = X @ U.T
    rivals = scores.copy()
    rivals[np.arange(600), y] = -np.inf
    margins = scores[np.arange(600), y] - rivals.max(axis=1)
    clear = margins > np.quantile(margins, 0.3)
    X, y = X[clear], y[clear]
    learner = nr.make("perceptron", task="multiclass", classes=range(4), native=False)
    bound = bound_of(learner, radius=np.sqrt(2.0) * radius_of(X), margin=float(margins[clear].min()))
    while learner.play(X, y).updated.any() and learner.updates <= bound:
        pass
    assert learner.updates <= bound


# ---- the same weights as scikit-learn -----------------------------------------------------------------------------


@pytest.mark.parametrize("data", ["breast_cancer", "digits"])
def test_has_the_weights_of_scikit_learn(data: str) -> None:
    X, y = two_classes(data)
    oracle = sklearn.Perceptron(**ONE_PASS).fit(X, y)
    same(weights(nr.make("perceptron").learn(X, y), X.shape[1]), oracle.coef_[0])


@pytest.mark.parametrize("data", ["breast_cancer", "digits"])
def test_the_average_has_the_direction_of_scikit_learn(data: str) -> None:
    X, y = two_classes(data)
    oracle = sklearn.SGDClassifier(
        loss="perceptron", penalty=None, learning_rate="constant", eta0=1.0, average=True, **ONE_PASS
    ).fit(X, y)
    # scikit-learn leaves the zero vector out of its mean: T vectors instead of T + 1.
    found = weights(nr.make("perceptron_averaged").learn(X, y), X.shape[1]) * (len(X) + 1) / len(X)
    same(found, oracle.coef_[0])
