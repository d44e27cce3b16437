"""The twins themselves, against runs worked out by hand and against scikit-learn."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from . import Kernel, binary, kernel, multiclass, regression, streams
from .gradient import slope
from .rules import Array, Round
from .tasks import Labels, TaskRow

sklearn = import_module("sklearn.linear_model")
ONE_PASS = {"fit_intercept": False, "shuffle": False, "max_iter": 1, "tol": None}


def after_each_round(twin: TaskRow, X: Array, y: Labels, name: str = "w") -> Array:
    """Run row by row and return the named state after every row."""
    states = []
    for t in range(len(X)):
        twin.run(X[t : t + 1], y[t : t + 1])
        states.append(twin.state[name].copy())
    return np.array(states)


def near(found: npt.NDArray[np.floating[Any]], expected: Any) -> None:
    """Equal to the six digits that were written down."""
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-6)


def same(found: Array, expected: Any) -> None:
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)


def test_perceptron_updates_on_a_zero_score_and_converges_after_one_pass() -> None:
    X, y = streams.four()
    twin = binary("perceptron", eta=1.0)
    scores, updated = twin.run(X, y)
    near(y * scores, [0, -4, 1, -4])
    assert updated.tolist() == [True, True, False, True]
    near(twin.state["w"], [1, -3])
    scores, updated = twin.run(X, y)
    assert not updated.any()
    assert (np.sign(scores) == y).all()


def test_averaged_perceptron_predicts_with_the_mean_of_all_five_vectors() -> None:
    X, y = streams.four()
    twin = binary("perceptron_averaged")
    w = after_each_round(twin, X, y)
    near(w, [[4, 0], [3, -1], [3, -1], [1, -3]])
    near(w.sum(axis=0), [11, -5])
    near(twin.final(np.eye(2)), [2.2, -1.0])
    near(twin.state["w"] - twin.state["u"] / 5, [2.2, -1.0])


@pytest.mark.parametrize(
    ("name", "params", "expected"),
    [
        ("pa", {}, [[0.25, 0], [-0.375, -0.625], [-0.375, -1], [-0.375, -1]]),
        ("pa1", {"C": 0.1}, [[0.25, 0], [0.15, -0.1], [0.15, -0.2], [-0.05, -0.4]]),
        (
            "pa2",
            {"C": 0.1},
            [[0.190476, 0], [0.020408, -0.170068], [0.020408, -0.30839], [-0.044828, -0.373626]],
        ),
    ],
)
def test_passive_aggressive_vectors(name: str, params: dict[str, float], expected: Any) -> None:
    X, y = streams.four()
    near(after_each_round(binary(name, **params), X, y), expected)


def test_adaline_vectors() -> None:
    X, y = streams.four()
    expected = [[0.4, 0], [0.26, -0.14], [0.26, -0.226], [0.0464, -0.4396]]
    near(after_each_round(binary("adaline", rho=0.1), X, y), expected)
    near(after_each_round(regression("adaline", rho=0.1), X, y), expected)


def test_second_order_perceptron_vectors() -> None:
    X, y = streams.four()
    twin = binary("sop", covariance="full")
    scores, updated = twin.run(X, y)
    near(scores, [0, 0.114286, -0.396226, 0.261682])
    assert updated.tolist() == [True, True, False, False]
    near(twin.state["v"], [3, -1])
    near(np.linalg.inv(twin.state["sigma"]), [[18, 1], [1, 2]])


def test_arow_full_vectors() -> None:
    X, y = streams.four()
    means = after_each_round(binary("arow", r=1.0, covariance="full"), X, y)
    sigmas = after_each_round(binary("arow", r=1.0, covariance="full"), X, y, "sigma")
    mean_3, sigma_3 = [0.207547, -0.735849], [0.056604, -0.018868, -0.018868, 0.339623]
    near(means, [[0.235294, 0], [0.2, -0.6], mean_3, mean_3])
    near(
        sigmas.reshape(4, 4),
        [[0.058824, 0, 0, 1], [0.057143, -0.028571, -0.028571, 0.514286], sigma_3, sigma_3],
    )


def boolean(d: int, *on: int) -> Array:
    """A row of zeros with ones at the 1-based places named."""
    x = np.zeros(d)
    x[np.array(on, dtype=int) - 1] = 1.0
    return x


def test_winnow_lecture_run() -> None:
    n = 1024
    rows = [np.ones(n), boolean(n), boolean(n, 3, 4, 5), boolean(n, 1), boolean(n, 1, 3, 4)]
    X = np.array([*rows, boolean(n, 1, 3, 1024)])
    y = np.array([1.0, -1.0, -1.0, 1.0, 1.0, 1.0])
    twin = binary("winnow", alpha=2.0, theta=float(n))
    scores, updated = twin.run(X, y)
    near(scores + n, [1024, 0, 3, 1, 4, 7])
    assert updated.tolist() == [False, False, False, True, True, True]
    expected = np.ones(n)
    expected[[0, 2, 3, 1023]] = [8, 4, 2, 2]
    near(twin.state["w"], expected)


def test_winnow_promotes_one_variable_exactly_ten_times() -> None:
    twin = binary("winnow", alpha=2.0, theta=1024.0)
    _, updated = twin.run(np.tile(boolean(1024, 1), (20, 1)), np.ones(20))
    assert updated.tolist() == [True] * 10 + [False] * 10


def test_winnow_without_a_threshold_counts_the_coordinates_in_use() -> None:
    X = np.array([boolean(8, 2), boolean(8, 1), boolean(8, 5), boolean(8, 1)])
    scores, _ = binary("winnow", alpha=2.0, theta=0.0).run(X, -np.ones(4))
    near(scores, [1 - 2, 1 - 2, 1 - 5, 1 - 5])


def test_balanced_winnow_learns_a_negated_variable() -> None:
    rows = np.array([[a, b, c, d, 1.0] for a in (0, 1) for b in (0, 1) for c in (0, 1) for d in (0, 1)])
    y = np.where((rows[:, 0] == 1.0) | (rows[:, 1] == 0.0), 1.0, -1.0)
    twin = binary("winnow_balanced")
    assert [int(twin.run(rows, y)[1].sum()) for _ in range(30)][-1] == 0


def test_multiclass_passive_aggressive_vectors() -> None:
    X = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0], [1.0, 1.0]])
    y = np.array([0, 1, 2, 0])
    expected = [
        [[0.5, 0], [-0.5, 0], [0, 0]],
        [[0.5, -0.5], [-0.5, 0.5], [0, 0]],
        [[0.75, -0.25], [-0.5, 0.5], [-0.25, -0.25]],
        [[0.875, -0.125], [-0.625, 0.375], [-0.25, -0.25]],
    ]
    near(after_each_round(multiclass("pa", k=3, fixed=True), X, y), expected)


def test_rda_vectors() -> None:
    X = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 2.0]])
    y = np.array([1.0, -1.0, 1.0])
    params: dict[str, Any] = {"lam": 0.1, "gamma": 1.0, "loss": "hinge"}
    G = after_each_round(binary("rda", **params), X, y, "G")
    near(G / np.array([[1], [2], [3]]), [[-1, 0], [0, 0.5], [0, -0.333333]])
    w = after_each_round(binary("rda", **params), X, y)
    near(w, [[0.9, 0], [0, -0.565685], [0, 0.404145]])


@pytest.mark.parametrize("seed", range(3))
class TestScikitLearn:
    """Oracles that are exact up to rounding."""

    def test_perceptron(self, seed: int) -> None:
        X, y = streams.sparse(300, 20, density=0.3, seed=seed)
        twin = binary("perceptron", eta=1.0)
        twin.run(X, y)
        same(twin.state["w"], sklearn.Perceptron(**ONE_PASS).fit(X, y).coef_[0])

    @pytest.mark.parametrize("name", ["pa1", "pa2"])
    def test_passive_aggressive(self, seed: int, name: str) -> None:
        X, y = streams.dense(300, 20, seed=seed)
        twin = binary(name, C=0.3)
        twin.run(X, y)
        oracle = sklearn.SGDClassifier(
            loss="hinge",
            penalty=None,
            learning_rate=name,
            eta0=0.3,
            **ONE_PASS,
        )
        same(twin.state["w"], oracle.fit(X, y).coef_[0])

    def test_averaged_perceptron_has_its_direction(self, seed: int) -> None:
        X, y = streams.dense(300, 20, seed=seed)
        twin = binary("perceptron_averaged")
        twin.run(X, y)
        oracle = sklearn.SGDClassifier(
            loss="perceptron",
            penalty=None,
            learning_rate="constant",
            eta0=1.0,
            average=True,
            **ONE_PASS,
        )
        # scikit-learn leaves out w_1 = 0 and divides by T, not by T + 1.
        same(twin.final(np.eye(20)) * 301 / 300, oracle.fit(X, y).coef_[0])

    def test_passive_aggressive_regression(self, seed: int) -> None:
        X, y, _ = streams.linear(300, 20, seed=seed)
        twin = regression("pa1", eps=0.1, C=0.05)
        twin.run(X, y)
        oracle = sklearn.SGDRegressor(
            loss="epsilon_insensitive",
            penalty=None,
            learning_rate="pa1",
            eta0=0.05,
            epsilon=0.1,
            **ONE_PASS,
        )
        same(twin.state["w"], oracle.fit(X, y).coef_)


FIRST_ORDER: list[tuple[str, dict[str, Any]]] = [
    ("perceptron", {"eta": 0.5}),
    ("perceptron_averaged", {}),
    ("perceptron_margin", {"b": 0.3, "eta": 0.5}),
    ("pa", {}),
    ("pa1", {"C": 0.1}),
    ("pa2", {"C": 0.1}),
    ("ogd", {"eta0": 0.2, "loss": "logistic", "schedule": "inv_sqrt"}),
    ("adaline", {"rho": 0.05}),
]


@pytest.mark.parametrize(("name", "params"), FIRST_ORDER)
def test_the_linear_kernel_repeats_the_plain_twin(name: str, params: dict[str, Any]) -> None:
    X, y, _ = streams.blobs(80, 5, k=4)
    X[7] = 0.0
    plain = multiclass(name, k=4, **params)
    expansion = kernel(name, Kernel("linear"), k=4, **params)
    scores, updated = plain.run(X, y)
    kernel_scores, kernel_updated = expansion.run(X, y)
    same(kernel_scores, scores)
    assert (kernel_updated == updated).all()
    same(expansion.final(X), plain.final(X))


def test_a_quadratic_kernel_repeats_the_explicit_map() -> None:
    X, y = streams.dense(100, 3)
    pairs = np.einsum("ni,nj->nij", X, X).reshape(100, 9)
    explicit = np.hstack([pairs, np.sqrt(2.0) * X, np.ones((100, 1))])
    plain, _ = binary("pa1", C=0.2).run(explicit, y)
    lifted, _ = kernel("pa1", Kernel("polynomial", coef0=1.0, degree=2), C=0.2).run(X, y)
    same(lifted, plain)


def test_two_classes_repeat_the_binary_learner_with_twice_the_c() -> None:
    X, y = streams.dense(100, 6)
    two, one = multiclass("pa1", k=2, fixed=True, C=0.1), binary("pa1", C=0.2)
    two.run(X, (y > 0.0).astype(int))
    one.run(X, y)
    same(two.state["w"][1] - two.state["w"][0], one.state["w"])


def test_full_arow_adds_its_precisions_and_keeps_its_dual_identity() -> None:
    X, y = streams.dense(60, 5)
    h = np.random.default_rng(1).integers(0, 3, size=60).astype(float)
    twin = binary("arow", r=0.7, covariance="full")
    _, updated = twin.run(X, y, weight=h)
    precision = np.eye(5) + (X[updated].T * h[updated]) @ X[updated] / 0.7
    theta = (h * y)[updated] @ X[updated] / 0.7
    same(twin.state["sigma"], np.linalg.inv(precision))
    same(twin.state["w"], np.linalg.solve(precision, theta))
    assert not updated[h == 0.0].any()
    assert twin.t == int(np.sum(h > 0.0))


@pytest.mark.parametrize("covariance", ["diagonal", "drop"])
@pytest.mark.parametrize("name", ["arow", "sop"])
def test_in_one_dimension_a_diagonal_is_the_whole_matrix(name: str, covariance: str) -> None:
    X, y = streams.dense(60, 1)
    scores, _ = binary(name, covariance=covariance).run(X, y)
    same(scores, binary(name, covariance="full").run(X, y)[0])


def test_full_second_order_perceptron_solves_its_system() -> None:
    X, y = streams.dense(60, 5)
    scores, updated = binary("sop", covariance="full").run(X, y)
    A, v = np.eye(5), np.zeros(5)
    for t in range(60):
        A_t = A + np.outer(X[t], X[t])
        same(scores[t], v @ np.linalg.solve(A_t, X[t]))
        if updated[t]:
            A, v = A_t, v + y[t] * X[t]


def test_a_class_takes_part_from_the_round_of_its_first_label() -> None:
    X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    scores, updated = multiclass("pa", k=3).run(X, np.array([2, 2, 0]))
    near(scores, [[-np.inf, -np.inf, 0], [-np.inf, -np.inf, 0], [0, -np.inf, 0]])
    assert updated.tolist() == [False, False, True]


WEIGHED: list[tuple[str, dict[str, Any]]] = [
    ("perceptron", {}),
    ("perceptron_margin", {"b": 0.3}),
    ("pa1", {"C": 0.1}),
    ("pa2", {"C": 0.1}),
    ("ogd", {"schedule": "inv_t"}),
    ("adaline", {"rho": 0.05}),
    ("arow", {"covariance": "drop"}),
    ("rda", {"lam": 0.05}),
]


@pytest.mark.parametrize(("name", "params"), WEIGHED)
def test_a_round_of_weight_zero_is_as_if_it_had_not_been(name: str, params: dict[str, Any]) -> None:
    X, y, _ = streams.blobs(80, 5, k=4)
    h = np.random.default_rng(2).integers(0, 3, size=80).astype(float)
    heavy, light = multiclass(name, k=4, **params), multiclass(name, k=4, **params)
    scores, updated = heavy.run(X, y, weight=h)
    kept = h > 0.0
    light_scores, light_updated = light.run(X[kept], y[kept], weight=h[kept])
    same(scores[kept], light_scores)
    assert (updated[kept] == light_updated).all()
    assert not updated[~kept].any()


def test_slopes_are_derivatives() -> None:
    x, none = np.ones(1), np.zeros(1)
    losses: dict[str, Callable[[float], float]] = {
        "hinge": lambda m: max(0.0, 1.0 - m),
        "logistic": lambda m: float(np.log1p(np.exp(-m))),
        "squared": lambda m: (m - 1.0) ** 2,
        "perceptron": lambda m: max(0.0, -m),
        "squared_hinge": lambda m: max(0.0, 1.0 - m) ** 2,
        "exponential": lambda m: float(np.exp(-m)),
    }
    for m in [-1.3, 0.4, 2.2]:
        for name, loss in losses.items():
            numeric = (loss(m + 1e-6) - loss(m - 1e-6)) / 2e-6
            assert slope(name, Round(x, none, m, wrong=False)) == pytest.approx(numeric, abs=1e-6)


@pytest.mark.parametrize("loss", ["squared", "eps_insensitive", "absolute", "huber"])
def test_regression_steps_down_the_gradient(loss: str) -> None:
    X, y, _ = streams.linear(50, 4)
    twin = regression("ogd", eps=0.5, eta0=0.05, loss=loss, schedule="constant")
    scores, updated = twin.run(X, y)
    residual = scores - y
    of_score = {
        "squared": 2.0 * residual,
        "eps_insensitive": np.sign(residual) * (abs(residual) > 0.5),
        "absolute": np.sign(residual),
        "huber": np.clip(residual, -1.0, 1.0),
    }[loss]
    same(twin.state["w"], -0.05 * of_score @ X)
    assert (updated == (of_score != 0.0)).all()


@pytest.mark.parametrize("name", ["pa", "perceptron_averaged", "sop", "winnow", "winnow_balanced"])
def test_learners_without_weights_refuse_them(name: str) -> None:
    X, y = streams.four()
    with pytest.raises(ValueError, match="does not take weights"):
        binary(name).run(X, y, weight=np.ones(4))


@pytest.mark.parametrize("name", ["perceptron", "perceptron_averaged", "perceptron_margin", "sop", "winnow"])
def test_classification_rules_refuse_regression(name: str) -> None:
    with pytest.raises(ValueError, match="does not play regression"):
        regression(name)


def test_the_streams_are_what_they_say() -> None:
    X, y, u = streams.separable(200, 7, margin=0.1)
    margins = y * (X @ u)
    same(margins.min(), 0.1)
    assert np.linalg.norm(X, axis=1).max() <= 1.0 + 1e-12
    X, y, relevant = streams.disjunction(100, 50, k=3)
    assert ((X[:, relevant].max(axis=1) > 0.0) == (y > 0.0)).all()
    X, labels, U = streams.blobs(100, 4, k=5)
    assert (np.argmax(X @ U.T, axis=1) == labels).all()
    assert (streams.relabel(labels, 5, rate=1.0) != labels).all()
    assert (streams.flip(y, rate=1.0) == -y).all()
