"""The universal portfolio in plain Python: its integral, its points, and what a file may hold."""

import math
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.learner.model_file import pack, unpack
from tests.experts.portfolio.streams import draw_relatives, make
from tests.naive import portfolio as naive


def integrate_in_logs(relatives: np.ndarray) -> tuple[float, float]:
    """ln wealth and the share of the first stock after all days: the sum over k of Q_k / (t choose k), in logarithms.

    ln Q_k is computed without scaling, so numbers of any size are exact.
    """
    logs = np.array([0.0])
    for x in np.log(relatives):
        logs = np.logaddexp(np.append(logs, -np.inf) + x[1], np.insert(logs, 0, -np.inf) + x[0])
    t, ks = len(relatives), np.arange(len(relatives) + 1)
    choose = np.array([math.lgamma(t + 1) - math.lgamma(k + 1) - math.lgamma(t - k + 1) for k in ks])
    terms = logs - choose
    total = np.logaddexp.reduce(terms)
    share = np.exp(np.logaddexp.reduce(terms + np.log(ks + 1.0)) - total) / (t + 2)
    return float(total - math.log(t + 1)), float(share)


WILD = {
    "one ahead, then the other": np.array([[1e60, 1.0]] * 20 + [[1.0, 1e60]] * 20),
    "turns": np.array([[1e120, 1.0], [1.0, 1e100], [1e-90, 1.0]] * 12),
    "random": np.exp(80.0 * np.random.default_rng(3).standard_normal((40, 2))),
    "one falls": np.tile([1.0, 1e-200], (15, 1)),
    "the other falls": np.tile([1e-200, 1.0], (15, 1)),
    "far behind, back, and ahead": np.array([[1.0, 1e-150]] * 12 + [[1.0, 1e150]] * 24),
}


@pytest.mark.parametrize("kind", WILD)
def test_numbers_of_any_size_are_integrated(kind: str) -> None:
    relatives = WILD[kind]
    learner = make("universal")
    for day, x in enumerate(relatives):
        learner.learn([x])
        log_wealth, share = integrate_in_logs(relatives[: day + 1])
        assert learner.log_wealth == pytest.approx(log_wealth, abs=1e-8), day
        assert learner.portfolio[0] == pytest.approx(share, rel=1e-9), day
    assert learner.state.values.n.deep == 1.0


def test_the_bound_holds_in_plain_python_too() -> None:
    for seed in range(3):
        relatives = draw_relatives(60, 2, seed, 0.1 * (1 + seed))
        learner = make("universal").learn(relatives)
        assert learner.bound().value == pytest.approx(math.log(61.0))
        assert nr.best_constant_portfolio(relatives, native=False).log_wealth - learner.log_wealth <= math.log(61.0)
    card: Any = nr.learners()["universal"]
    assert card.bound({}, experts=4.0, rounds=9.0) == pytest.approx(3.0 * math.log(10.0))


@pytest.mark.parametrize("count", [1, 4, 9, 14])
@pytest.mark.parametrize("stocks", [2, 5])
def test_every_point_counts(count: int, stocks: int) -> None:
    points = np.random.default_rng(count).dirichlet(np.ones(stocks), count)
    relatives = draw_relatives(20, stocks, seed=count, spread=0.5)
    expected, _ = naive.play("universal", relatives, points=points)
    assert make("universal", points=points).play(relatives).predictions == pytest.approx(expected, abs=1e-12)


def test_points_are_drawn_from_the_prior() -> None:
    """The second moment of a share is (a + 1) / (m (m a + 1)) for the Dirichlet distribution with parameters a."""
    x = draw_relatives(1, 3)
    for prior, a in (("uniform", 1.0), ("jeffreys", 0.5)):
        points = make("universal", prior=prior, samples=20_000, seed=1).learn(x).state.values.points
        assert points.sum(axis=1) == pytest.approx(1.0)
        assert points.mean(axis=0) == pytest.approx(1.0 / 3.0, abs=0.01)
        assert (points**2).mean(axis=0) == pytest.approx((a + 1.0) / (3.0 * (3.0 * a + 1.0)), abs=0.01)
    first, again, other = (make("universal", samples=9, seed=seed).learn(x).portfolio for seed in (1, 1, 2))
    assert first == again != other


def test_two_stocks_are_sampled_with_another_prior() -> None:
    learner = make("universal", prior="jeffreys", samples=50).learn(draw_relatives(5, 2))
    assert learner.state.values.points.shape == (50, 2)
    assert learner.bound() is None


# ---- files -----------------------------------------------------------------------------------------------------------


def broken(learner: Any, name: str, change: Any) -> None:
    """Load a file of a learner with an array changed."""
    header, arrays = learner.dump()
    array = arrays[name].copy()
    change(array)
    kind = type(learner)
    kind.restore(header, {**arrays, name: array}, nr.learners().__getitem__)


def set_to(place: Any, value: Any) -> Any:
    def change(array: np.ndarray) -> None:
        array[place] = value

    return change


@pytest.mark.parametrize(
    ("stocks", "name", "change", "said"),
    [
        (3, "points", set_to((0, 0), 0.9), "points must be portfolios"),
        (3, "points", lambda points: points.__imul__(0.5), "points must be portfolios"),
        (3, "points", set_to((0, slice(0, 2)), [-0.5, 1.0]), "points must be portfolios"),
        (3, "wealths", set_to(1, -1.0), "the wealth of portfolios must not be negative"),
        (2, "terms", set_to(1, -1.0), "the wealth of portfolios must not be negative"),
        (2, "terms", set_to(slice(None), 0.0), "the wealth of portfolios must not be negative"),
        (2, "powers", set_to(0, 0.5), "powers must be whole numbers"),
        (2, "b", set_to(0, 2.0), "b must be a portfolio"),
        (2, "b", set_to(slice(None), [-1.0, 2.0]), "b must be a portfolio"),
        (2, "held", set_to(0, 0.9), "held must be a portfolio"),
        (2, "held", set_to(0, math.nan), "held must be 2 finite numbers"),
        (2, "counters", set_to(0, 7.0), "the counters contradict each other"),
        (2, "counters", set_to(3, -0.5), "counter least is -0.5"),
        (2, "counters", set_to(3, 1.5), "the counters contradict each other"),
        (2, "counters", set_to(4, 0.5), "the cost contradicts the counters"),
        (2, "counters", set_to(2, -1.0), "counter turnover is -1"),
        (2, "counters", set_to(1, math.inf), "counter log_wealth is inf"),
    ],
)
def test_arrays_that_cannot_be_are_refused(stocks: int, name: str, change: Any, said: str) -> None:
    learner = make("universal", samples=6).learn(draw_relatives(4, stocks, seed=1))
    with pytest.raises(nr.BadValue, match=f"corrupt model file: {said}"):
        broken(learner, name, change)


def test_wealth_and_shares_may_be_zero_in_a_file() -> None:
    corners = np.eye(3)
    learner = make("universal", points=corners).learn([[1e-300, 1e-300, 1e300]] * 3)
    assert learner.state.values.wealths[0] == 0.0
    assert unpack(pack(learner), "model.nr").portfolio == learner.portfolio
