"""Mirror descent (Nemirovski and Yudin 1983)."""

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

import noregret as nr
from tests.conformance.plays import near, same_bits
from tests.learners.reading import bound_of, comparators, hinge, steps
from tests.learners.test_exponentiated import divergence, on_the_simplex
from tests.learners.test_p_norm import dual, length
from tests.naive import streams
from tests.naive.rules import Array
from tests.support.cover import seeds

WAYS: list[dict[str, Any]] = [{}, {"algebra": "dense"}, {"algebra": "reference"}, {"task": "multiclass"}]
ways = pytest.mark.parametrize("told", WAYS, ids=str)
losses = pytest.mark.parametrize("loss", ["hinge", "logistic", "squared"])


@ways
@losses
def test_without_a_mirror_it_is_descent_at_a_constant_rate(loss: str, told: dict[str, Any]) -> None:
    X, y = streams.sparse(80, 12, density=0.4, seed=1)
    mine = nr.make("mirror_descent", eta=0.05, loss=loss, native=False, **told).play(X, y)
    other = nr.make("ogd", eta0=0.05, schedule="constant", loss=loss, native=False, **told).play(X, y)
    near(mine.scores, other.scores, tolerance=1e-12)
    assert mine.updated.tolist() == other.updated.tolist()


@ways
@losses
def test_in_the_entropic_mirror_it_is_eg_to_the_last_bit(loss: str, told: dict[str, Any]) -> None:
    X, y = streams.sparse(80, 12, density=0.4, seed=1)
    mine = nr.make("mirror_descent", eta=0.3, link="entropic", loss=loss, features=20, native=False, **told)
    other = nr.make("eg", eta=0.3, loss=loss, features=20, native=False, **{"task": "binary", **told})
    assert same_bits(mine.play(X, y).scores, other.play(X, y).scores)


@pytest.mark.parametrize("p", [2.0, 3.0, 5.5])
def test_a_step_in_the_mirror_of_the_p_norm_solves_its_problem(p: float) -> None:
    """w' is where eta g.w + 1/2 |w|_q^2 - f(w_t).w is least, f being the slope of 1/2 |.|_q^2."""
    X, y = streams.dense(40, 4, seed=2)
    q, eta = dual(p), 0.3
    learner = nr.make("mirror_descent", eta=eta, link="p_norm", p=p, native=False)
    moved, rng = 0, np.random.default_rng(2)
    for t, before, after, said in steps(learner, X, y, rounds=20):
        if not said.updated[0]:
            assert np.array_equal(before, after)
            continue
        f = np.sign(before) * np.abs(before) ** (q - 1.0) / length(before, q) ** (q - 2.0)

        def cost(w: Array, toward: Array = f + eta * y[t] * X[t]) -> float:
            return float(0.5 * length(w, q) ** 2 - toward @ w)

        assert cost(after) <= minimize(cost, before).fun + 1e-12
        assert all(cost(after) < cost(after + 1e-4 * step) for step in rng.normal(size=(50, 4)))
        moved += 1
    assert moved > 5


def test_of_the_p_norm_only_the_order_of_two_is_plain_descent() -> None:
    X, y = streams.dense(60, 5, seed=3)
    scores = {p: nr.make("mirror_descent", link="p_norm", p=p, native=False).play(X, y).scores for p in (2.0, 2.5)}
    plain = nr.make("mirror_descent", native=False).play(X, y).scores
    assert same_bits(scores[2.0], plain)
    assert not np.allclose(scores[2.5], plain)


@seeds(2)
@pytest.mark.parametrize("eta", [0.01, 0.1, 1.0])
@pytest.mark.parametrize(("link", "p"), [("euclidean", 2.0), ("entropic", 4.0), ("p_norm", 3.0), ("p_norm", 8.0)])
def test_the_regret_stays_below_the_bound_of_its_mirror(link: str, p: float, eta: float, seed: int) -> None:
    d = 6
    X, y = streams.dense(250, d, seed)
    y = np.where(np.arange(250) % 3 == 0, y, np.sign(X[:, 0] + 0.5 * X[:, 1]))
    learner = nr.make("mirror_descent", eta=eta, link=link, p=p, features=d)
    said = learner.play(X, y)
    sizes = np.abs(X).max(axis=1) if link == "entropic" else length(X, p)
    squares = float((sizes**2)[said.updated].sum())
    for u in on_the_simplex(d, seed) if link == "entropic" else comparators(X, y, seed):
        quantities = {
            "euclidean": {"norm": float(np.linalg.norm(u)), "squared_gradients": squares},
            "entropic": {"divergence": divergence(np.abs(u)), "squared_gradients_inf": squares},
            "p_norm": {"norm_q": float(length(u, dual(p))), "squared_gradients_p": squares},
        }[link]
        regret = said.losses.sum() - hinge(u, X, y).sum()
        assert regret <= bound_of(learner, **quantities)
