"""Online feature selection (Wang, Zhao, Hoi and Jin 2014)."""

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import noregret as nr
from noregret.algebra import Draw, partial_features
from noregret.algebra.partial_features import remainder
from noregret.algebra.reference import ReferenceExample, ReferenceVector
from noregret.learners import selection
from tests.learners.reading import after_each_round, bound_of, radius_of, steps, weights
from tests.naive import streams
from tests.naive.rules import Array
from tests.support.cover import seeds
from tests.support.engines import engines


def largest(w: Array, B: int) -> Array:
    """w with all but its B largest sizes set to zero."""
    left = np.zeros_like(w)
    stay = np.argsort(-np.abs(w), kind="stable")[:B]
    left[stay] = w[stay]
    return left


@pytest.mark.parametrize("lam", [0.01, 3.0])
def test_a_round_shrinks_steps_stays_in_its_ball_and_keeps_the_largest(lam: float) -> None:
    X, y = streams.sparse(80, 12, density=0.4, seed=1)
    learner, cut, capped = nr.make("ofs", B=4, eta=0.2, lam=lam, native=False), 0, 0
    for t, before, after, said in steps(learner, X, y, 60):
        w = (1.0 - 0.2 * lam) * before
        if y[t] * said.scores[0] <= 1.0:
            w = w + 0.2 * y[t] * X[t]
            capped += int(np.linalg.norm(w) > 1.0 / np.sqrt(lam))
            w = largest(w * min(1.0, 1.0 / (np.sqrt(lam) * np.linalg.norm(w))), 4)
            cut += int(np.count_nonzero(after) == 4)
        np.testing.assert_allclose(after, w, rtol=0.0, atol=1e-13)
    assert cut > 20
    assert (capped > 0) == (lam == 3.0)


@engines
@pytest.mark.parametrize("lam", [0.05, 1.0])
def test_no_more_than_B_weights_and_no_longer_than_allowed(lam: float, native: bool) -> None:
    X, y = streams.sparse(150, 30, density=0.2, seed=2)
    told: dict[str, Any] = {"B": 5, "lam": lam, "eta": 0.7, "native": native}
    learner = nr.make("ofs", algebra="sparse", **told)
    path = after_each_round(learner, X, y)
    assert np.count_nonzero(path, axis=1).max() == 5
    lengths = np.linalg.norm(path, axis=1)
    assert lengths.max() <= bound_of(learner) * (1.0 + 1e-12)
    assert lengths.max() > 0.5 * bound_of(learner)


def test_of_equal_weights_the_lower_feature_stays() -> None:
    X = np.array([[1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 2.0, 0.0]])
    for name in ("ofs", "perceptron_truncated"):
        learner = nr.make(name, B=2, native=False).learn(X[:1], [1.0])
        assert np.flatnonzero(weights(learner, 4)).tolist() == [0, 1]
        learner.learn(X[1:], [1.0])
        assert np.flatnonzero(weights(learner, 4)).tolist() == [0, 2]


def test_the_truncated_perceptron_adds_and_cuts() -> None:
    X, y = streams.sparse(80, 12, density=0.4, seed=3)
    learner, moved = nr.make("perceptron_truncated", B=3, native=False), 0
    for t, before, after, said in steps(learner, X, y, 60):
        wrong = y[t] * said.scores[0] <= 0.0 and X[t].any()
        expected = largest(before + y[t] * X[t], 3) if wrong else before
        np.testing.assert_allclose(after, expected, rtol=0.0, atol=1e-13)
        moved += int(wrong)
    assert moved > 20


@seeds(3)
def test_with_few_features_it_is_the_perceptron_and_keeps_its_bound(seed: int) -> None:
    X, y, _ = streams.separable(300, 5, 0.1, seed)
    learner = nr.make("perceptron_truncated", B=5, native=False)
    told = learner.play(X, y)
    assert told.scores.tolist() == nr.make("perceptron", native=False).play(X, y).scores.tolist()
    assert 0 < told.updated.sum() <= bound_of(learner, radius=radius_of(X), margin=0.1, features=5.0, classes=2.0)


def test_it_finds_the_features_that_matter() -> None:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(2000, 100)) * (rng.random((2000, 100)) < 0.3)
    y = np.where(X[:, :5] @ np.array([2.0, -2.0, 2.0, -2.0, 2.0]) >= 0.0, 1, -1)
    learner = nr.make("ofs", B=5, eta=0.2, algebra="sparse").learn(csr_array(X), y)
    assert np.flatnonzero(weights(learner, 100)).tolist() == [0, 1, 2, 3, 4]
    assert learner.nonzeros == 5


def test_room_for_more_than_there_is_and_no_shrinking() -> None:
    X, y = streams.sparse(60, 8, density=0.4, seed=5)
    learner = nr.make("ofs", B=1e6, lam=0.0, eta=0.1, native=False)
    said = learner.play(X, y)
    w = np.zeros(8)
    for t in range(60):
        assert said.scores[t] == pytest.approx(w @ X[t], abs=1e-13)
        w = w + 0.1 * y[t] * X[t] * (y[t] * said.scores[t] <= 1.0)
    assert said.updated.tolist() == [bool(X[t].any() and y[t] * said.scores[t] <= 1.0) for t in range(60)]


def test_refuses_to_shrink_by_more_than_everything() -> None:
    for lam in (2.0, 2.5, 4.0):
        with pytest.raises(nr.BadValue, match=f"ofs: lam \\* eta must be below 1, not {0.5 * lam:g}"):
            nr.make("ofs", lam=lam, eta=0.5)
    nr.make("ofs", lam=1.99, eta=0.5)


def draws(features: int, times: int, **told: float) -> list[Draw]:
    """What may be read in so many rounds, drawn one after the other."""
    p = SimpleNamespace(**told)
    s = SimpleNamespace(n=SimpleNamespace(random=12345.0, features=float(features), among=0.0, factor=1.0, shift=0.0))
    found = []
    for _ in range(times):
        selection.draw(p, s)
        found.append(selection.readable(p, s))
    return found


def picked(draw: Draw, d: int) -> list[int]:
    return [j for j in range(d) if (draw.a * j + draw.b) % draw.among < draw.most]


@pytest.mark.parametrize(("B", "d"), [(3, 7), (4, 12), (5, 30), (1, 1), (9, 4)])
def test_a_draw_picks_just_B_features_and_each_as_often(B: int, d: int) -> None:
    counts, times = np.zeros(d), 6000
    for one in draws(d, times, B=B + 0.5, eps=1.0):
        assert math.gcd(int(one.a), d) == 1
        assert len(picked(one, d)) == min(B, d)
        counts[picked(one, d)] += 1.0
    share = min(B, d) / d
    assert (np.abs(counts - times * share) <= 4.5 * np.sqrt(times * share * (1.0 - share))).all()


def test_rows_are_read_at_random_as_often_as_asked_for() -> None:
    explored = sum(one.among > 0.0 for one in draws(20, 10_000, B=4, eps=0.2))
    assert abs(explored - 2000) < 4.5 * np.sqrt(10_000 * 0.2 * 0.8)


def test_the_row_that_is_expected_is_the_row() -> None:
    """Its mean over many draws, each value within what chance allows."""
    rng, d, B, eps, times = np.random.default_rng(6), 12, 4, 0.3, 20_000
    x, w = rng.normal(size=d), np.where(np.arange(d) % 4 == 0, 1.0, 0.0)
    chance = eps * B / d
    known, new = 1.0 / (1.0 - eps + chance), 1.0 / chance
    total = np.zeros(d)
    for one in draws(d, times, B=B, eps=eps):
        total += partial_features(ReferenceExample(x, d, 1), ReferenceVector(w, d), one, known, new).v
    odds = np.where(w != 0.0, 1.0 - eps + chance, chance)
    assert (np.abs(total / times - x) <= 4.5 * np.abs(x) * np.sqrt((1.0 / odds - 1.0) / times)).all()


@engines
def test_what_may_not_be_read_changes_nothing(native: bool) -> None:
    rng = np.random.default_rng(7)
    X = rng.normal(size=(120, 20)) + 0.1
    y = np.where(X[:, :3].sum(axis=1) > 0.0, 1, -1)
    learner, explored = nr.make("ofs_partial", B=4, eps=0.5, native=native, algebra="sparse"), 0
    for t in range(120):
        read = []
        if t > 0:
            n = learner.model.arrays.n
            read = np.flatnonzero(weights(learner, 20)).tolist()
            if n.among > 0.0:
                read, explored = picked(Draw(n.factor, n.shift, n.among, 4.0), 20), explored + 1
        assert len(read) <= 4
        other = X[t : t + 1] * 100.0
        other[0, read] = X[t, read]
        strange = learner.copy() if t > 0 else nr.make("ofs_partial", B=4, eps=0.5, native=native, algebra="sparse")
        said, told = learner.play(X[t : t + 1], y[t : t + 1]), strange.play(other, y[t : t + 1])
        assert said.margins.tolist() == told.margins.tolist()
        assert weights(learner, 20).tolist() == weights(strange, 20).tolist()
    assert 40 < explored < 80


def test_a_step_is_by_the_expected_row_and_stays_in_its_ball() -> None:
    rng = np.random.default_rng(8)
    X = rng.normal(size=(300, 15))
    y = rng.choice([-1.0, 1.0], size=300)
    learner, moved, capped = (
        nr.make("ofs_partial", B=5, eps=0.4, eta=0.5, R=2.0, native=False).learn(X[:1], y[:1]),
        0,
        0,
    )
    for t in range(1, 300):
        n, before = learner.model.arrays.n, weights(learner, 15)
        read = before != 0.0
        if n.among > 0.0:
            read = np.isin(np.arange(15), picked(Draw(n.factor, n.shift, n.among, 5.0), 15))
        said = learner.play(X[t : t + 1], y[t : t + 1])
        seen = y[t] * said.margins[0]
        assert seen == pytest.approx((before * read) @ X[t], abs=1e-12)
        expected = read * X[t] / (0.4 * 5.0 / 15.0 + 0.6 * (before != 0.0))
        w = before
        if said.margins[0] <= 0.0 and read.any():
            w = before + 0.5 * y[t] * expected
            capped += int(np.linalg.norm(w) > 2.0)
            w, moved = largest(w * min(1.0, 2.0 / np.linalg.norm(w)), 5), moved + 1
        np.testing.assert_allclose(weights(learner, 15), w, rtol=0.0, atol=1e-12)
        assert np.count_nonzero(w) <= 5
    assert moved > 60
    assert capped > 10
    assert bound_of(learner) == 2.0
    assert np.linalg.norm(weights(learner, 15)) <= bound_of(learner) * (1.0 + 1e-12)


@pytest.mark.parametrize(("B", "eps", "R"), [(1.0, 0.5, 0.3), (4.7, 0.2, 1.0), (4.7, 1.0, 1e9), (12.0, 0.9, 2.0)])
def test_of_partial_rows_no_more_is_read_or_kept_than_promised_on_any_round(B: float, eps: float, R: float) -> None:
    """Features come late and few at a time; labels are noise, so that the weights never come to rest."""
    rng = np.random.default_rng(11)
    X = rng.normal(size=(150, 30)) * (rng.random((150, 30)) < 0.5) * (np.arange(30) <= np.arange(150)[:, None] / 3)
    y = rng.choice([-1.0, 1.0], size=150)
    learner = nr.make("ofs_partial", B=B, eps=eps, R=R, eta=0.5, native=False, algebra="sparse")
    most = longest = 0.0
    for t in range(150):
        learner.learn(csr_array(X[[t]]), y[[t]])
        w, n = weights(learner, 30), learner.model.arrays.n
        read = picked(Draw(n.factor, n.shift, n.among, float(int(B))), int(n.among)) if n.among else np.flatnonzero(w)
        assert len(read) <= B
        assert np.count_nonzero(w) <= B
        assert np.linalg.norm(w) <= bound_of(learner) * (1.0 + 1e-12)
        most, longest = max(most, float(np.count_nonzero(w))), max(longest, float(np.linalg.norm(w)))
    assert most == min(int(B), 30)
    assert longest > 0.99 * R or R > 1e6


def test_the_seed_decides_what_is_read() -> None:
    X, y = streams.dense(80, 15, seed=9)
    scores = [nr.make("ofs_partial", B=4, seed=seed, native=False).play(X, y).scores.tolist() for seed in (0, 0, 1)]
    assert scores[0] == scores[1] != scores[2]


@pytest.mark.parametrize(("B", "d"), [(50, 6), (1, 1)])
def test_with_more_to_read_than_there_is_every_random_row_is_whole(B: int, d: int) -> None:
    X, y = streams.dense(80, d, seed=10)
    learner = nr.make("ofs_partial", B=B, eps=1.0, eta=1.0, R=1e9, native=False).learn(X[:1], y[:1])
    plain = nr.make("perceptron", native=False)
    assert learner.play(X[1:], y[1:]).scores.tolist() == pytest.approx(plain.play(X[1:], y[1:]).scores.tolist())


def test_what_is_left_of_a_division_of_whole_numbers_is_exact() -> None:
    rng = np.random.default_rng(3)
    for divisor in [*rng.integers(1, 10**7, size=200).tolist(), 3, 2**31 - 1]:
        for quotient in [*rng.integers(0, 2**53 // divisor - 1, size=20).tolist(), 2**53 // divisor - 1]:
            for rest in {0, 1 % divisor, divisor - 1}:
                whole = quotient * divisor + rest
                assert remainder(float(whole), float(divisor)) == rest
