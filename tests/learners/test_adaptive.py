"""AdaGrad (Duchi et al. 2011), Adadelta (Zeiler 2012) and FTRL-Proximal (McMahan et al. 2013)."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import noregret as nr
from tests.conformance.plays import state
from tests.learners.reading import after_each_round, bound_of, steps, weights, written
from tests.naive import streams
from tests.naive.rules import Array
from tests.support.engines import engines

SLOPES = {
    "hinge": lambda m: -1.0 * (m < 1.0),
    "logistic": lambda m: -1.0 / (1.0 + np.exp(m)),
    "squared": lambda m: 2.0 * (m - 1.0),
}
LOSSES = {
    "hinge": lambda m: np.maximum(0.0, 1.0 - m),
    "logistic": lambda m: np.logaddexp(0.0, -m),
    "squared": lambda m: (1.0 - m) ** 2,
}


def noisy(rounds: int, seed: int) -> tuple[Array, Array]:
    """Columns of very different sizes, of which few rows have many."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rounds, 5)) * np.array([3.0, 1.0, 0.3, 1.0, 2.0]) * (rng.random((rounds, 5)) < 0.6)
    return X, streams.flip(np.sign(X @ np.array([0.2, -1.0, 2.0, 0.0, 0.4]) + 1e-9), 0.1, seed)


def followed(learner: nr.RuleLearner, X: Array, y: Array, loss: str) -> tuple[float, Array, Array]:
    """What was suffered, the weights before every round, and the gradient of every round."""
    path, gradients, suffered = [], [], 0.0
    for t in range(len(X)):
        path.append(weights(learner, X.shape[1]) if t else np.zeros(X.shape[1]))
        gradients.append(SLOPES[loss](y[t] * path[-1] @ X[t]) * y[t] * X[t])
        suffered += float(learner.play(X[t : t + 1], y[t : t + 1]).losses[0])
    return suffered, np.array(path), np.array(gradients)


def comparators(X: Array, y: Array, seed: int) -> list[Array]:
    d = X.shape[1]
    return [np.zeros(d), *np.random.default_rng(seed).normal(size=(6, d)), np.linalg.lstsq(X, y, rcond=None)[0]]


# ---- AdaGrad ------------------------------------------------------------------------------------------------------


def test_adagrad_by_hand() -> None:
    learner = nr.make("adagrad", eta=0.5, delta=1e-12, native=False)
    learner.learn(np.array([[3.0, 0.0]]), [1])
    written(weights(learner, 2), [0.5, 0.0])
    learner.learn(np.array([[-4.0, 2.0]]), [1])
    written(weights(learner, 2), [0.5 - 0.5 * 4.0 / 5.0, 0.5])


def test_the_first_step_of_adagrad_does_not_depend_on_how_large_a_column_is() -> None:
    sizes = np.array([1e-3, 10.0, -1.0, 1e4, 0.5])
    learner = nr.make("adagrad", eta=0.2, delta=1e-300, native=False).learn(sizes[None, :], [1])
    np.testing.assert_allclose(weights(learner, 5), 0.2 * np.sign(sizes), rtol=1e-12)


@pytest.mark.parametrize(("loss", "onto"), list(product(LOSSES, ["everywhere", "box"])))
def test_a_step_of_adagrad_solves_its_problem_in_the_norm_of_all_gradients(loss: str, onto: str) -> None:
    """g.u + (u - w)'H (u - w) / (2 eta), H the roots of the sums of squares, is least at the next weights."""
    X, y = noisy(40, seed=4)
    eta, delta, radius, squares, walls = 0.3, 0.05, 0.15, np.zeros(5), 0
    told: dict[str, Any] = {"radius": radius} if onto == "box" else {}
    learner = nr.make("adagrad", loss=loss, onto=onto, eta=eta, delta=delta, native=False, **told)
    before = np.zeros(5)
    for t, after in enumerate(after_each_round(learner, X, y)):
        g = SLOPES[loss](y[t] * before @ X[t]) * y[t] * X[t]
        squares += g**2
        reach = radius if onto == "box" else 10.0
        for j in np.flatnonzero(g):
            held = (np.sqrt(squares[j]) + delta) / (2.0 * eta)
            found = minimize_scalar(
                lambda u, j=j, g=g, w=before, held=held: g[j] * u + held * (u - w[j]) ** 2,
                bounds=(-reach, reach),
                method="bounded",
                options={"xatol": 1e-9},
            )
            assert after[j] == pytest.approx(found.x, abs=1e-6)
            walls += int(abs(after[j]) == radius)
        still = g == 0.0
        assert after[still].tolist() == before[still].tolist()
        before = after
    assert (walls > 10) == (onto == "box")


@pytest.mark.thinned(4)
@pytest.mark.parametrize(("loss", "eta", "seed"), list(product(LOSSES, [0.02, 0.5], range(2))))
def test_adagrad_keeps_its_bound_with_the_distance_it_went(loss: str, eta: float, seed: int) -> None:
    X, y = noisy(150, seed)
    learner = nr.make("adagrad", loss=loss, eta=eta, native=False)
    suffered, path, gradients = followed(learner, X, y, loss)
    roots, active = float(np.sum(np.sqrt(np.sum(gradients**2, axis=0)))), float(gradients.any(axis=0).sum())
    for u in comparators(X, y, seed):
        reach = float(np.abs(path - u).max())
        theirs = float(LOSSES[loss](y * (X @ u)).sum())
        bound = bound_of(learner, distance_inf=reach, coordinate_gradients=roots, active_features=active)
        assert suffered - theirs <= bound


@pytest.mark.thinned(4)
@pytest.mark.parametrize(("loss", "seed"), list(product(LOSSES, range(3))))
def test_adagrad_in_a_box_keeps_its_bound(loss: str, seed: int) -> None:
    X, y = noisy(150, seed)
    radius = 0.3
    eta = 2.0 * radius / np.sqrt(2.0)
    learner = nr.make("adagrad", loss=loss, eta=eta, onto="box", radius=radius, native=False)
    suffered, path, gradients = followed(learner, X, y, loss)
    assert np.abs(path).max() == radius
    roots, active = float(np.sum(np.sqrt(np.sum(gradients**2, axis=0)))), float(gradients.any(axis=0).sum())
    most = bound_of(learner, norm_inf=radius, coordinate_gradients=roots, active_features=active)
    assert most == pytest.approx(np.sqrt(2.0) * 2.0 * radius * roots)
    for u in comparators(X, y, seed):
        best = np.clip(u, -radius, radius)
        theirs = float(LOSSES[loss](y * (X @ best)).sum())
        far = float(np.abs(best).max())
        bound = bound_of(learner, norm_inf=far, coordinate_gradients=roots, active_features=active)
        assert suffered - theirs <= bound <= most


@pytest.mark.parametrize("label", [1, -1])
def test_a_weight_that_would_leave_the_box_stops_at_its_wall(label: int) -> None:
    learner = nr.make("adagrad", eta=0.5, onto="box", radius=0.3, native=False).learn(np.array([[2.0, -2.0]]), [label])
    assert weights(learner, 2).tolist() == [0.3 * label, -0.3 * label]


# ---- Adadelta -----------------------------------------------------------------------------------------------------


def test_adadelta_by_hand() -> None:
    told: dict[str, Any] = {"rho": 0.9, "delta": 0.01, "eta": 1.0, "native": False}
    learner = nr.make("adadelta", **told).learn(np.array([[2.0, 0.0]]), [1])
    first = np.sqrt(0.01) / np.sqrt(0.1 * 4.0 + 0.01) * 2.0
    written(weights(learner, 2), [first, 0.0])
    learner.learn(np.array([[1.0, 0.0]]), [-1])
    squares = 0.9 * 0.4 + 0.1
    written(weights(learner, 2), [first - np.sqrt(0.1 * first**2 + 0.01) / np.sqrt(squares + 0.01), 0.0])
    half = nr.make("adadelta", **{**told, "eta": 0.5}).learn(np.array([[2.0, 0.0]]), [1])
    written(weights(half, 2), [0.5 * first, 0.0])


@pytest.mark.parametrize(("rho", "eta"), list(product([0.0, 0.5, 0.95], [1.0, 0.3])))
def test_a_move_of_adadelta_is_bounded_by_those_before_it_whatever_the_gradient(rho: float, eta: float) -> None:
    """A gradient is at most 1 / sqrt(1 - rho) times the root of the mean square it has just entered."""
    rng, delta = np.random.default_rng(5), 0.01
    X = rng.normal(size=(150, 4)) * 10.0 ** rng.integers(-6, 7, size=(150, 4)) * (rng.random((150, 4)) < 0.7)
    y, moves, nearest, before = rng.choice([-1.0, 1.0], size=150), np.zeros(4), 0.0, np.zeros(4)
    learner = nr.make("adadelta", loss="squared", rho=rho, delta=delta, eta=eta, native=False)
    for t, after in enumerate(after_each_round(learner, X, y)):
        move, limit = np.abs(after - before) / eta, np.sqrt((moves + delta) / (1.0 - rho))
        assert (move <= limit * (1.0 + 1e-9)).all()
        nearest = max(nearest, float((move / limit).max()))
        moved = X[t] != 0.0
        moves[moved] = rho * moves[moved] + (1.0 - rho) * move[moved] ** 2
        before = after
    assert nearest > 0.999


def test_adadelta_does_not_care_by_what_all_losses_are_multiplied() -> None:
    X, y = noisy(100, seed=3)
    one, many = (nr.make("adadelta", delta=1e-14, native=False).learn(X, y, weight=h) for h in (1.0, 1000.0))
    np.testing.assert_allclose(weights(many, 5), weights(one, 5), rtol=1e-6)
    assert np.abs(weights(one, 5)).min() > 0.0


# ---- FTRL-Proximal ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("l1", "l2", "beta"), list(product([0.0, 0.7], [0.0, 0.4], [0.0, 1.0])))
def test_ftrl_minimises_all_gradients_held_near_the_weights_that_met_them(l1: float, l2: float, beta: float) -> None:
    X, y = noisy(60, seed=4)
    alpha = 0.3
    learner = nr.make("ftrl", alpha=alpha, beta=beta, l1=l1, l2=l2, native=False)
    _, path, G = followed(learner, X, y, "logistic")
    roots = np.sqrt(np.vstack((np.zeros(5), np.cumsum(G**2, axis=0))))
    sigma = np.diff(roots, axis=0) / alpha
    found = weights(learner, 5)
    for j in range(5):

        def objective(w: float, j: int = j) -> float:
            held = 0.5 * np.sum(sigma[:, j] * (w - path[:, j]) ** 2)
            return float(G[:, j].sum() * w + held + l1 * abs(w) + 0.5 * (l2 + beta / alpha) * w**2)

        best = minimize_scalar(objective, bounds=(-20.0, 20.0), method="bounded", options={"xatol": 1e-10})
        assert found[j] == pytest.approx(best.x, abs=1e-5)
        assert objective(found[j]) <= best.fun + 1e-10


@pytest.mark.parametrize(("loss", "l1", "seed"), list(product(LOSSES, [0.0, 2.0], range(2))))
@pytest.mark.thinned(4)
def test_ftrl_keeps_its_bound(loss: str, l1: float, seed: int) -> None:
    X, y = noisy(150, seed)
    told = {"alpha": 0.2, "beta": 0.5, "l1": l1, "l2": 0.1}
    learner = nr.make("ftrl", loss=loss, native=False, **told)
    suffered, path, gradients = followed(learner, X, y, loss)
    roots = float(np.sum(np.sqrt(np.sum(gradients**2, axis=0))))
    for u in comparators(X, y, seed):
        reach = float(np.abs(path - u).max())
        theirs = float(LOSSES[loss](y * (X @ u)).sum())
        sizes = {"norm": float(np.linalg.norm(u)), "norm_1": float(np.abs(u).sum())}
        assert suffered - theirs <= bound_of(learner, distance_inf=reach, coordinate_gradients=roots, **sizes)


def test_ftrl_without_penalties_takes_the_steps_of_adagrad() -> None:
    X, y = noisy(80, seed=5)
    leader = nr.make("ftrl", loss="hinge", alpha=0.4, beta=0.0, l1=0.0, l2=0.0, native=False)
    stepper = nr.make("adagrad", loss="hinge", eta=0.4, delta=1e-300, native=False)
    for t, before, after, said in steps(leader, X, y, rounds=79):
        np.testing.assert_allclose(after, weights(stepper.learn(X[t - (t == 1) : t + 1], y[t - (t == 1) : t + 1]), 5))
        assert said.updated[0] or (after == before).all()


def test_ftrl_keeps_weights_that_little_pulls_at_exactly_zero() -> None:
    X, y = noisy(300, seed=6)
    X = np.hstack((X, 1e-3 * np.random.default_rng(6).normal(size=(300, 20))))
    found = weights(nr.make("ftrl", l1=0.5, native=False).learn(X, y), 25)
    assert not found[5:].any()
    assert np.count_nonzero(found[:5]) >= 3


def test_merged_pulls_and_squares_are_sums() -> None:
    X, y = noisy(80, seed=7)
    a, b = (nr.make("ftrl", native=False).learn(X[part], y[part]) for part in (slice(0, 30), slice(30, 80)))
    both = a.merge(b)
    for name in ("z", "squares"):
        np.testing.assert_allclose(
            getattr(both.model.arrays, name)[:5], sum(getattr(x.model.arrays, name)[:5] for x in (a, b))
        )
    assert both.rounds == 80


@engines
def test_a_weight_that_ftrl_never_met_is_zero_also_where_nothing_holds_it_back(native: bool) -> None:
    learner = nr.make("ftrl", beta=0.0, l1=0.0, native=native, algebra="sparse")
    learner.learn([{0: 1.0}, {0: 2.0, 2: 1.0}], [1, -1])
    assert learner.scores_one({1: 1.0}) == 0.0
    assert learner.scores_one({0: 1.0, 1: 1.0}) == learner.scores_one({0: 1.0}) != 0.0


def test_adadelta_leaves_untouched_coordinates_and_their_running_means_as_they_are() -> None:
    """A coordinate without a gradient neither decays nor moves, so that sparse rows cost only their non-zeros."""
    learner = nr.make("adadelta", native=False)
    learner.learn([{0: 1.0, 1: 2.0}, {1: 1.0}], [1, -1])
    before = {name: found.copy() for name, found in state(learner).items()}
    learner.learn([{1: -3.0}] * 5, [1] * 5)
    after = state(learner)
    assert {name: found[..., 0].tolist() for name, found in before.items()} == {
        name: found[..., 0].tolist() for name, found in after.items()
    }
    assert all((before[name][..., 1] != after[name][..., 1]).all() for name in ("w", "squares", "moves"))
    dense = nr.make("adadelta", algebra="dense", native=False)
    dense.learn(np.array([[1.0, 2.0], [0.0, 1.0], *[[0.0, -3.0]] * 5]), [1, -1, *[1] * 5])
    np.testing.assert_array_equal(state(dense)["squares"], after["squares"])


# ---- Ada-RDA ------------------------------------------------------------------------------------------------------


def test_ada_rda_by_hand() -> None:
    learner = nr.make("ada_rda", eta=0.5, delta=1.0, lam=0.25, native=False)
    learner.learn(np.array([[3.0, 0.0]]), [1])
    written(weights(learner, 2), [0.5 * (3.0 - 0.25) / 4.0, 0.0])
    learner.learn(np.array([[-4.0, 2.0]]), [1])  # the sums are -(-1) and -2
    written(weights(learner, 2), [-0.5 * (1.0 - 0.5) / 6.0, 0.5 * (2.0 - 0.5) / 3.0])


@pytest.mark.parametrize(("loss", "lam", "delta"), list(product(LOSSES, [0.0, 0.05], [0.1, 2.0])))
def test_ada_rda_minimises_the_mean_gradient_its_penalty_and_its_proximal_term(
    loss: str, lam: float, delta: float
) -> None:
    X, y = noisy(40, seed=5)
    learner = nr.make("ada_rda", eta=0.3, delta=delta, lam=lam, loss=loss, native=False)
    _, path, gradients = followed(learner, X, y, loss)
    for t in (1, 7, 39):
        mean, H = gradients[:t].mean(axis=0), delta + np.sqrt((gradients[:t] ** 2).sum(axis=0))

        def objective(w: Array, t: int = t, mean: Array = mean, H: Array = H) -> Any:
            return mean * w + lam * np.abs(w) + H * w**2 / (2.0 * 0.3 * t)

        least = objective(path[t])
        for step in (1e-6, 1e-3, 0.1):
            assert (least <= objective(path[t] + step) + 1e-14).all()
            assert (least <= objective(path[t] - step) + 1e-14).all()


@pytest.mark.thinned(4)
@pytest.mark.parametrize(("loss", "lam", "eta"), list(product(["hinge", "logistic"], [0.0, 0.02], [0.05, 0.5])))
def test_ada_rda_keeps_its_bound(loss: str, lam: float, eta: float) -> None:
    X, y = noisy(200, seed=6)
    learner = nr.make("ada_rda", eta=eta, delta=float(np.abs(X).max()), lam=lam, loss=loss, native=False)
    suffered, path, gradients = followed(learner, X, y, loss)
    total = float(np.sqrt((gradients**2).sum(axis=0)).sum())
    for u in comparators(X, y, seed=6):
        regret = suffered + lam * np.abs(path).sum() - LOSSES[loss](y * (X @ u)).sum() - lam * 200 * np.abs(u).sum()
        size = {"norm": float(np.linalg.norm(u)), "norm_inf": float(np.abs(u).max())}
        assert regret <= bound_of(learner, coordinate_gradients=total, **size)


def test_ada_rda_keeps_weights_whose_mean_gradient_is_small_at_exactly_zero() -> None:
    rng = np.random.default_rng(7)
    X = rng.normal(size=(300, 25))
    y = np.sign(X[:, 0] - X[:, 1])
    found = weights(nr.make("ada_rda", lam=0.1, native=False).learn(X, y), 25)
    assert found[0] > 0.0 > found[1]
    assert (found[2:] == 0.0).sum() > 15
