"""Winnow (Littlestone 1988), also over negations."""

import math

import numpy as np
import pytest
from scipy.sparse import csr_array

import noregret as nr
from noregret.learners.multiplicative import halving_bound, most_promotions
from noregret.state.growth import settle
from tests.conformance.plays import state
from tests.learners.reading import bound_of, written
from tests.naive import streams
from tests.naive.rules import Array
from tests.support.cover import seeds
from tests.support.engines import engines


def row(n: int, *on: int) -> Array:
    """A row of zeros with ones at the places named, counted from 1."""
    x = np.zeros(n)
    x[np.array(on, dtype=int) - 1] = 1.0
    return x


def factors(learner: nr.RuleLearner) -> Array:
    """The weights, which start at one."""
    return np.asarray(state(learner)["w"][0])


def test_a_run_over_1024_variables_worked_by_hand() -> None:
    n = 1024
    X = [np.ones(n), row(n), row(n, 3, 4, 5), row(n, 1), row(n, 1, 3, 4), row(n, 1, 3, 1024)]
    y = np.array([1.0, -1.0, -1.0, 1.0, 1.0, 1.0])
    learner = nr.make("winnow", alpha=2.0, theta=1024.0, native=False)
    transcript = learner.play(csr_array(np.array(X)), y)
    written(transcript.scores + n, [1024, 0, 3, 1, 4, 7])
    assert transcript.mistakes.tolist() == [False, False, False, True, True, True]
    assert transcript.updated.tolist() == [False, False, False, True, True, True]
    expected = np.ones(n)
    expected[[0, 2, 3, 1023]] = [8, 4, 2, 2]
    written(factors(learner), expected)


def test_one_variable_is_promoted_exactly_ten_times_on_the_way_to_1024() -> None:
    X = np.tile(row(1024, 1), (20, 1))
    updated = nr.make("winnow", alpha=2.0, theta=1024.0, native=False).play(X, np.ones(20)).updated
    assert updated.tolist() == [True] * 10 + [False] * 10


def test_a_sum_of_exactly_theta_is_positive() -> None:
    X = np.array([[1.0, 1.0, 0.0], [1.0, 0.0, 1.0]])
    transcript = nr.make("winnow", alpha=2.0, theta=2.0, native=False).play(X, [1, -1])
    assert transcript.predictions.tolist() == [1, 1]
    assert transcript.mistakes.tolist() == [False, True]
    assert transcript.updated.tolist() == [False, True]


def test_without_a_threshold_the_features_seen_so_far_are_counted() -> None:
    X = csr_array(np.array([row(8, 2), row(8, 1), row(8, 5), row(8, 1)]))
    written(nr.make("winnow", alpha=2.0, native=False).play(X, -np.ones(4)).scores, [1 - 2, 1 - 2, 1 - 5, 1 - 5])


def test_a_row_of_zeros_teaches_nothing() -> None:
    learner = nr.make("winnow", alpha=2.0, theta=3.0, native=False).learn(np.ones((1, 3)), [1])
    said = learner.play(np.zeros((1, 3)), [1])
    assert (said.mistakes[0], said.updated[0]) == (True, False)


@pytest.mark.parametrize("alpha", [1.5, 2.0, 3.0])
def test_only_active_weights_move_by_whole_powers_of_alpha_and_only_after_a_mistake(alpha: float) -> None:
    X, y, _ = streams.disjunction(150, 30, k=3, active=6, seed=1)
    y = streams.flip(y, 0.1, seed=1)
    learner = nr.make("winnow", alpha=alpha, theta=30.0, native=False)
    exponents, promotions, demotions = np.zeros(30), 0, 0
    for t in range(150):
        said = learner.play(X[t : t + 1], y[t : t + 1])
        assert said.updated[0] == said.mistakes[0]
        assert said.scores[0] == pytest.approx(alpha**exponents @ X[t] - 30.0, abs=1e-9)
        if said.mistakes[0]:
            exponents += y[t] * X[t]
            promotions += int(y[t] > 0.0)
            demotions += int(y[t] < 0.0)
        np.testing.assert_allclose(np.log(factors(learner)) / np.log(alpha), exponents, atol=1e-9)
    assert promotions > 5
    assert demotions > 5


@pytest.mark.parametrize("demotion", ["halve", "eliminate"])
@pytest.mark.parametrize(("alpha", "part"), [(1.3, 1.0), (2.0, 0.1), (2.0, 3.0), (3.5, 0.5), (4.0, 1e-3)])
@pytest.mark.parametrize(("n", "k", "seed"), [(50, 1, 0), (64, 4, 1), (400, 3, 2)])
@pytest.mark.thinned(4)
def test_the_bound_holds_for_any_factor_and_threshold(
    n: int, k: int, seed: int, alpha: float, part: float, demotion: str
) -> None:
    X, y, _ = streams.disjunction(500, n, k, active=12, seed=seed)
    learner = nr.make("winnow", alpha=alpha, theta=part * n, demotion=demotion, native=False)
    updated = learner.play(csr_array(X), y).updated
    promotions, demotions = (updated & (y > 0.0)).sum(), (updated & (y < 0.0)).sum()
    assert promotions <= k * max(0, math.ceil(math.log(part * n) / math.log(alpha)))
    assert demotions < (alpha * (1.0 / part / (alpha - 1.0) + promotions)) or demotion == "eliminate"
    assert demotions < 1.0 / part + (alpha - 1.0) * promotions or demotion == "halve"
    assert 0 < learner.mistakes < bound_of(learner, features=n, relevant=k)


@pytest.mark.parametrize("demotion", ["halve", "eliminate"])
def test_without_a_threshold_the_bound_is_that_of_the_number_of_features(demotion: str) -> None:
    X, y, _ = streams.disjunction(500, 64, 4, active=12, seed=3)
    X[0, -1] = 1.0  # so that all features are known from the first round on
    learner = nr.make("winnow", alpha=2.0, demotion=demotion, native=False)
    y[0] = 1.0
    given = nr.make("winnow", alpha=2.0, demotion=demotion, theta=64.0, native=False)
    assert learner.play(X, y).scores.tolist() == given.play(X, y).scores.tolist()
    allowed = bound_of(given, features=64, relevant=4)
    assert bound_of(learner, features=64, relevant=4) == allowed == (74.0 if demotion == "halve" else 49.0)


@seeds(4)
@pytest.mark.parametrize(("n", "k"), [(50, 1), (64, 4), (400, 3)])
def test_a_disjunction_is_learned_with_few_mistakes(n: int, k: int, seed: int) -> None:
    X, y, _ = streams.disjunction(500, n, k, active=12, seed=seed)
    learner = nr.make("winnow", alpha=2.0, theta=float(n), native=False)
    transcript = learner.play(csr_array(X), y)
    promotions = (transcript.updated & (y > 0.0)).sum()
    demotions = (transcript.updated & (y < 0.0)).sum()
    assert 0 < promotions <= k * math.ceil(math.log2(n))
    assert demotions < 2 * (promotions + 1)
    assert learner.mistakes < bound_of(learner, features=n, relevant=k)


@pytest.mark.thinned(2)
@pytest.mark.parametrize("demotion", ["halve", "eliminate"])
@pytest.mark.parametrize(("n", "k", "seed"), [(50, 1, 0), (64, 4, 1), (400, 3, 2)])
def test_the_bound_of_a_falling_factor_holds_as_its_proof_counts(n: int, k: int, seed: int, demotion: str) -> None:
    """The logarithms of the factors of all promotions sum to at most k (ln theta + L), those of demotions to more."""
    X, y, _ = streams.disjunction(600, n, k, active=12, seed=seed)
    for theta in (n, 0.1 * n, 3.0 * n):
        learner = nr.make("winnow", theta=theta, demotion=demotion, native=False)
        updated = learner.play(csr_array(X), y).updated
        steps = math.log(2.5) / np.sqrt(1.0 + np.arange(updated.sum()) / 20.0)
        up, down = steps[y[updated] > 0.0], steps[y[updated] < 0.0]
        most = k * (math.log(theta) + math.log(2.5))
        assert up.sum() <= most
        if demotion == "halve":
            assert down.sum() < 2.5 * most + 5.0 / 3.0 * math.log(2.5) * n / theta
        else:
            assert down.size < n / theta + 1.5 * most / math.log(2.5)
        assert 0 < learner.mistakes < bound_of(learner, features=n, relevant=k)


def test_the_factor_of_winnow_falls_with_the_root_of_its_updates() -> None:
    X, y, _ = streams.disjunction(150, 30, k=3, active=6, seed=1)
    y = streams.flip(y, 0.1, seed=1)
    learner, exponents, moves = nr.make("winnow", native=False), np.zeros(30), 0
    for t in range(150):
        if learner.play(X[t : t + 1], y[t : t + 1]).updated[0]:
            exponents += y[t] * X[t] / math.sqrt(1.0 + moves / 20.0)
            moves += 1
        np.testing.assert_allclose(factors(learner), 2.5**exponents, rtol=1e-9)
    assert moves > 30


# ---- elimination --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("demotion", "left"), [("halve", 0.5), ("eliminate", 0.0)])
def test_a_false_alarm_over_1024_variables_worked_by_hand(demotion: str, left: float) -> None:
    n = 1024
    X = [row(n, 1)] * 9 + [row(n, 3)] * 8 + [row(n, 4)] * 8 + [row(n, 1024)] * 8 + [row(n, 1, 3, 1024)]
    learner = nr.make("winnow", alpha=2.0, theta=1024.0, demotion=demotion, native=False)
    said = learner.play(csr_array(np.array(X)), np.ones(34))
    assert said.updated.tolist() == [True] * 33 + [False]
    written(said.scores[-1:] + n, [512 + 256 + 256])
    alarm = row(n, 3, *range(5, 773))
    said = learner.play(csr_array(alarm[None]), [-1.0])
    written(said.scores + n, [256 + 768])
    expected = np.ones(n)
    expected[[0, 2, 3, 1023]] = [512, 256, 256, 256]
    assert factors(learner).tolist() == np.where(alarm > 0.0, left * expected, expected).tolist()


def test_an_eliminated_weight_stays_exactly_zero() -> None:
    learner = nr.make("winnow", alpha=2.0, theta=2.0, demotion="eliminate", native=False, columns="grow")
    learner.learn(np.ones((1, 3)), [-1])
    assert factors(learner).tolist() == [0.0, 0.0, 0.0]
    said = learner.play(np.array([[1.0, 1.0, 0.0, 1.0], [1.0, 0.0, 0.0, 1.0]]), [1, 1])
    assert said.updated.tolist() == [True, False]  # 1 < 2, then 2
    assert factors(learner).tolist() == [0.0, 0.0, 0.0, 2.0]


@seeds(4)
@pytest.mark.parametrize(("n", "k"), [(50, 1), (64, 4), (400, 3)])
def test_elimination_costs_no_more_demotions_than_promotions(n: int, k: int, seed: int) -> None:
    X, y, relevant = streams.disjunction(500, n, k, active=12, seed=seed)
    learner = nr.make("winnow", alpha=2.0, theta=float(n), demotion="eliminate", native=False)
    updated = learner.play(csr_array(X), y).updated
    promotions, demotions = (updated & (y > 0.0)).sum(), (updated & (y < 0.0)).sum()
    assert 0 < promotions <= k * math.ceil(math.log2(n))
    assert demotions <= promotions
    assert learner.mistakes < bound_of(learner, features=n, relevant=k) == 2 * k * math.ceil(math.log2(n)) + 1
    assert (factors(learner)[relevant] >= 1.0).all()


def test_elimination_takes_as_many_demotions_as_promotions_where_the_stream_wants_it() -> None:
    """Eight variables, theta = 8: four are promoted to a sum of 8, and an alarm over them follows; twice."""
    X = np.array([row(8, 1, 2, 3, 4), row(8, 1, 2, 3, 4), row(8, 5, 6, 7, 8), row(8, 5, 6, 7, 8)])
    learner = nr.make("winnow", alpha=2.0, theta=8.0, demotion="eliminate", native=False)
    assert learner.play(X, [1, -1, 1, -1]).updated.all()
    assert not factors(learner).any()


# ---- Winnow over features and their negations ---------------------------------------------------------------------


def literals(rounds: int, n: int, k: int, seed: int) -> tuple[Array, Array]:
    """Boolean rows, of which the first feature is always on, and an or of k features or negations of features."""
    rng = np.random.default_rng(seed)
    X = (rng.random((rounds, n)) < 0.5).astype(float)
    X[:, 0] = 1.0
    chosen = 1 + rng.choice(n - 1, k, replace=False)
    y = np.where((X[:, chosen] == rng.integers(2, size=k)).any(axis=1), 1.0, -1.0)
    return X, y


def test_negations_worked_by_hand() -> None:
    learner = nr.make("winnow_duplicated", alpha=2.0, features=3, native=False)
    X = np.array([[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0]])
    said = learner.play(X, [1, 1, -1, -1])
    written(said.scores + 6.0, [3, 2 + 2 + 2, 1 + 1 + 2, 2 + 1 + 2])
    assert said.updated.tolist() == [True, False, False, False]
    said = learner.play(X[:1], [-1])
    written(said.scores + 6.0, [6])
    written(learner.scores(X) + 6.0, [3, 3, 3, 3])


@pytest.mark.parametrize("alpha", [1.0, 1.5, 2.0])
@engines
def test_it_is_winnow_over_every_feature_and_its_negation(native: bool, alpha: float) -> None:
    n = 12
    X, y = literals(600, n, 3, seed=2)
    y = streams.flip(y, 0.1, seed=2)
    mine = nr.make("winnow_duplicated", alpha=alpha, features=n, native=native)
    other = nr.make("winnow", alpha=alpha, theta=2.0 * n, native=False)
    said, expected = mine.play(csr_array(X), y), other.play(np.hstack([X, 1.0 - X]), y)
    np.testing.assert_allclose(said.scores - 2e-9 * n, expected.scores, atol=1e-9 * n)
    assert said.updated.tolist() == expected.updated.tolist()
    assert mine.updates > 60


@pytest.mark.thinned(3)
@pytest.mark.many_rounds
@seeds(4)
@pytest.mark.parametrize(("n", "k"), [(8, 1), (30, 2), (200, 3)])
def test_an_or_with_negations_is_learned_with_few_mistakes(n: int, k: int, seed: int) -> None:
    X, y = literals(400, n, k, seed)
    learner = nr.make("winnow_duplicated", alpha=2.0, bias=True, features=n)
    updated = learner.play(X[:, 1:], y).updated
    promotions, demotions = (updated & (y > 0.0)).sum(), (updated & (y < 0.0)).sum()
    assert 0 < promotions <= k * math.ceil(math.log2(2 * n))
    assert demotions < 2 * (promotions + 1)
    assert learner.mistakes < bound_of(learner, features=n, relevant=k)


@seeds(4)
@pytest.mark.parametrize(("n", "k"), [(8, 1), (30, 2)])
def test_an_or_with_negations_is_learned_within_the_bound_of_a_falling_factor(n: int, k: int, seed: int) -> None:
    X, y = literals(300, n, k, seed)
    learner = nr.make("winnow_duplicated", bias=True, features=n, native=False).learn(X[:, 1:], y)
    assert 0 < learner.mistakes < bound_of(learner, features=n, relevant=k)


@pytest.mark.many_rounds
def test_thousands_of_mistakes_leave_no_trace_of_rounding() -> None:
    rng = np.random.default_rng(3)
    X = (rng.random((20_000, 6)) < 0.5).astype(float)
    X[:, 0] = 1.0
    y = rng.choice([1.0, -1.0], size=20_000)
    mine, other = nr.make("winnow_duplicated", alpha=2.0, features=6), nr.make("winnow", alpha=2.0, theta=12.0)
    assert mine.play(X, y).updated.tolist() == other.play(np.hstack([X, 1.0 - X]), y).updated.tolist()
    assert mine.updates > 5000


def test_an_exponent_beyond_the_range_of_floats_does_no_harm() -> None:
    """Where all features were in all updates, their negations have the weights they started with."""
    learner = nr.make("winnow_duplicated", alpha=2.0, features=3, native=False).learn(np.eye(3), [1, -1, 1])
    learner.model.arrays.e.v[:3], learner.model.arrays.n.net = -3000.0 * math.log(2.0), -3000.0
    settle(learner.model.arrays)
    written(learner.scores(np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 1.0]])) + 6.0, [3, 2, 0])


def test_a_third_class_is_refused() -> None:
    learner = nr.make("winnow_duplicated", native=False)
    with pytest.raises(nr.BadValue, match="winnow_duplicated plays two classes only"):
        learner.learn(np.eye(3), ["a", "b", "c"])


def test_one_feature_or_none() -> None:
    assert nr.make("winnow", alpha=2.0, native=False).play(np.zeros((1, 1)), [1]).scores[0] > 0.0
    scores = nr.make("winnow_duplicated", native=False).play(np.ones((1, 1)), [-1]).scores
    assert scores[0] == pytest.approx(1.0 - 2.0)


def test_before_any_feature_was_seen_the_threshold_is_zero() -> None:
    learner = nr.make("winnow", alpha=2.0, native=False, task="binary", algebra="sparse").learn([{}], [1])
    assert learner.scores([{}])[0] == pytest.approx(0.0, abs=1e-300)


def test_a_threshold_below_one_is_a_threshold_of_its_own_in_the_bound() -> None:
    duplicated = nr.learners()["winnow_duplicated"]
    facts = {"features": 10.0, "relevant": 2.0}
    assert duplicated.bound({"theta": 0.5}, **facts) != duplicated.bound({"theta": 0.0}, **facts)
    assert duplicated.bound({"theta": 20.0}, **facts) == duplicated.bound({"theta": 0.0}, **facts)


def test_without_a_bias_the_threshold_begins_at_no_features() -> None:
    learner = nr.make("winnow", native=False, algebra="sparse", bias=False).learn([{}], [1])
    assert learner.scores([{}])[0] == pytest.approx(0.0, abs=1e-300)
    assert learner.learn([{"a": 1.0}], [-1]).updates == 1  # the weight 1 is the threshold for one feature


@pytest.mark.parametrize("demotion", ["halve", "eliminate"])
def test_the_bound_of_a_falling_factor_takes_a_threshold_as_it_is(demotion: str) -> None:
    """Also one below 1; a threshold of 0 stands for the number of features."""
    card, facts = nr.learners()["winnow"], {"features": 8.0, "relevant": 2.0}
    found = [card.bound({"theta": theta, "demotion": demotion}, **facts) for theta in (0.5, 8.0, 0.0)]
    for theta, bound in zip((0.5, 8.0, 8.0), found, strict=True):
        added = 2.0 * max(0.0, math.log(2.5 * theta))
        moved = 3.5 * added + 5.0 / 3.0 * math.log(2.5) * 8.0 / theta
        if demotion == "eliminate":
            moved = 2.5 * added + math.log(2.5) * 8.0 / theta
        root = 1.0 + moved / (40.0 * math.log(2.5))
        assert bound == pytest.approx(20.0 * (root * root - 1.0), rel=1e-12)


@pytest.mark.parametrize("alpha", [1.0, 0.5])
def test_a_factor_of_one_or_less_promotes_no_weight_to_the_threshold(alpha: float) -> None:
    assert most_promotions(alpha, 8.0) == halving_bound(alpha, 8.0, 8.0, 2.0) == math.inf
    assert most_promotions(2.0, 8.0) == 3.0
