"""Factorisation of ratings: equal to its twin, gradients that are gradients, and better than means and biases."""

import itertools
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import noregret as nr
from noregret.decomposition.rating_learner import Progress
from noregret.decomposition.rating_loops import (
    ERROR_OF_BIASES,
    PLAYED,
    TOTALS,
    Memory,
    find_gradients,
    find_rank_gradients,
    find_spread,
    predict_share,
)
from noregret.decomposition.rating_state import Shape
from noregret.metrics.ranking import ndcg
from tests.naive.factorisation import NaiveFactorisation

Floats = NDArray[np.float64]
RNG = np.random.default_rng(3)
PAIRS = [
    (f"u{user}", int(item)) for user, item in zip(RNG.integers(6, size=120), RNG.integers(9, size=120), strict=True)
]
Y = RNG.integers(1, 6, 120).astype(float).tolist()  # half of all pairs are rated more than once
FOUR = list(itertools.product(("pmf", "rmf"), ("sgd", "da")))
SIZES = {"k": 4, "damping": 2.0, "minimum": 1.0, "maximum": 5.0, "lam_users": 0.01, "lam_items": 0.02}


def make(model: str = "pmf", method: str = "sgd", native: bool = False, **options: Any) -> Any:
    return nr.make("factorisation", model=model, method=method, native=native, **options)


def twin(model: str, method: str, **options: Any) -> NaiveFactorisation:
    shape = Shape(options["k"], False, 0, False)
    return NaiveFactorisation(lambda side, at: shape.draw(side, at, at + 1)[0], model=model, method=method, **options)


def ratings(rows: int, seed: int = 0) -> tuple[Any, Any]:
    parts = list(nr.open_source(f"ratings:rows={rows},users=150,items=100,seed={seed}"))
    return np.concatenate([part.X for part in parts]), np.concatenate([part.y for part in parts])


def rmse(losses: Floats) -> float:
    return float(np.sqrt(losses.mean()))


# ---- twin ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("model", "method"), FOUR)
@pytest.mark.parametrize("biases", ["yes", "no"])
@pytest.mark.parametrize("native", [False, True], ids=["plain", "compiled"])
def test_learns_as_its_twin(model: str, method: str, biases: str, native: bool) -> None:
    eta, beta = (1.5, 0.2) if model == "pmf" else (8.0, 0.05)
    options: dict[str, Any] = {**SIZES, "eta": eta, "beta": beta, "biases": biases}
    learner, other = make(model, method, native=native, **options), twin(model, method, **options)
    found, expected = learner.play(PAIRS, Y).predictions, []
    for (user, item), rating in zip(PAIRS, Y, strict=True):
        expected.append(other.predict(user, item))
        other.learn(user, item, rating)
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    for names, factors, side in (
        (learner.users, learner.user_factors, "user"),
        (learner.items, learner.item_factors, "item"),
    ):
        np.testing.assert_allclose(factors, [other.factors[side, name] for name in names], rtol=1e-7, atol=1e-12)
    for user, item in itertools.product([*learner.users, "nobody"], [*learner.items, "nothing"]):
        assert learner.predict_one((user, item)) == pytest.approx(other.predict(user, item), rel=1e-9)
    assert {user: learner.ratings_of(user) for user in learner.users} == {
        user: {item: pytest.approx(1.0 + 4.0 * x) for item, x in stored.items()}
        for user, stored in other.stored.items()
    }


def test_defaults_that_follow_the_model_are_those_on_the_card() -> None:
    for model, eta, beta in (("pmf", 3.0, 0.05), ("rmf", 20.0, 0.01)):
        both: dict[str, dict[str, Any]] = {"sgd": {"eta": eta}, "da": {"beta": beta}}
        for method, given in both.items():
            one, other = (make(model, method, biases="no", **numbers).learn(PAIRS, Y) for numbers in ({}, given))
            assert one.user_factors.tolist() == other.user_factors.tolist()


@pytest.mark.parametrize("high", [5.0, 9.0, 400.0])
@pytest.mark.parametrize(("model", "method"), FOUR)
def test_default_steps_beside_biases_follow_the_errors_of_these(model: str, method: str, high: float) -> None:
    """Ratings from 1 to 5 on longer scales: down to the least step, or penalty, that there may be."""
    sizes: dict[str, Any] = {**SIZES, "maximum": high}
    eta, beta = (3.0, 0.05) if model == "pmf" else (20.0, 0.01)
    least = 0.1 if method == "sgd" else 0.7
    learner = make(model, method, **sizes).learn(PAIRS, Y)
    other = twin(model, method, **sizes, eta=eta, beta=beta, biases="yes", least_spread=least)
    for (user, item), rating in zip(PAIRS, Y, strict=True):
        other.learn(user, item, rating)
    assert (other.spread() == least) == (high == 400.0 and method == "da")
    factors = [other.factors["user", name] for name in learner.users]
    np.testing.assert_allclose(learner.user_factors, factors, rtol=1e-7, atol=1e-12)
    given = make(model, method, **sizes, eta=eta, beta=beta).learn(PAIRS, Y)
    assert not np.allclose(given.user_factors, factors, rtol=1e-3)


def test_a_spread_has_a_least_value_and_is_one_where_steps_are_given() -> None:
    totals, numbers = np.zeros(TOTALS), make().plan.numbers
    totals[ERROR_OF_BIASES], totals[PLAYED] = 40.0, 990.0
    usual = 4.0 * np.sqrt(40.625 / 1000.0)
    for error, expected in ((0.0, usual), (0.5, usual), (-0.51, 1.6 * 0.51), (1.0, 1.6)):
        assert find_spread(totals, numbers, error) == pytest.approx(expected)
    totals[ERROR_OF_BIASES], totals[PLAYED] = 0.0, 9990.0
    assert find_spread(totals, numbers, 0.0) == 0.2
    assert find_spread(totals, make(method="da").plan.numbers, 0.0) == 0.7
    for given in ({"eta": 3.0}, {"biases": "no"}, {"method": "da", "beta": 0.05}):
        assert find_spread(totals, make(**given).plan.numbers, 1.0) == 1.0


def test_steps_stay_stable_where_ratings_begin_to_differ() -> None:
    """After so many equal ratings that steps by the errors before would be too long."""
    X, y = ratings(8_000)
    y[:5000] = 3.0
    learner = make(native=True).learn(X, y)
    assert learner.progress.rmse < learner.progress.biases


def test_ratings_near_an_end_of_a_long_scale_are_predicted_as_by_the_biases() -> None:
    X, _ = ratings(4_000)
    y = np.random.default_rng(4).exponential(1.0, 4_000)
    learner = make(native=True, minimum=0.0, maximum=200.0).learn(X, y)
    assert learner.progress.rmse < 1.01 * learner.progress.biases


def test_ratings_that_fill_a_small_part_of_the_scale_are_learned_as_others_are() -> None:
    """By steps of one eta for all scales factors would stay where they start, and the biases alone would be as good."""
    X, y = ratings(12_000)
    narrow = make(native=True, minimum=-10.0, maximum=16.0).learn(X, y)
    fixed = make(native=True, minimum=-10.0, maximum=16.0, eta=3.0).learn(X, y)
    assert narrow.progress.rmse < 0.9 * narrow.progress.biases
    assert fixed.progress.rmse > 0.99 * fixed.progress.biases


# ---- one step --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("biases", ["yes", "no"])
@pytest.mark.parametrize("model", ["pmf", "rmf"])
def test_gradients_are_those_of_the_loss(model: str, biases: str) -> None:
    """Against differences of the loss: the squared error, or the cross entropy of top-one probabilities."""
    learner = make(model, biases=biases, k=3, lam_users=0.0, lam_items=0.0).learn(PAIRS, Y)
    state, numbers, (u, i, x) = learner.state, learner.plan.numbers, (2, 3, 0.25)
    n = next(at for at in range(state.ratings) if (state.known.users[at], state.known.items[at]) == (u, i))
    state.known.ratings[n] = x
    memory = Memory(np.zeros(99, np.int64), np.zeros(99), np.zeros(99), np.zeros(99), np.zeros(3), np.zeros(3))
    sides, found = (state.of_users, state.of_items), []

    def guess(item: int) -> float:
        share = 0.5 if biases == "no" else baseline(state, u, item)
        return predict_share(share, float(state.of_users.factors[u] @ state.of_items.factors[item]))

    def loss() -> float:
        if model == "pmf":
            return 0.5 * (guess(i) - x) ** 2
        mine = state.find_ratings(u)
        p = np.exp(state.known.ratings[mine])
        q = np.exp([guess(int(item)) for item in state.known.items[mine]])
        return float(-(p / p.sum()) @ np.log(q / q.sum()))

    for side, number in zip(sides, (u, i), strict=True):
        for k in range(3):
            before = side.factors[number, k]
            side.factors[number, k] = before + 1e-6
            above = loss()
            side.factors[number, k] = before - 1e-6
            below = loss()
            side.factors[number, k] = before
            found.append((above - below) / 2e-6)
    if model == "pmf":
        share = 0.5 if biases == "no" else baseline(state, u, i)
        find_gradients(*sides, u, i, x, share, memory)
    else:
        find_rank_gradients(*sides, state.known, state.totals, u, i, memory, numbers)
    np.testing.assert_allclose([*memory.of_user, *memory.of_item], found, rtol=1e-5, atol=1e-9)


def baseline(state: Any, u: int, i: int) -> float:
    """The mean with biases, by the sums of the state."""
    share = state.totals[0] / state.totals[1]
    share += state.of_users.sums[u] / (state.of_users.counts[u] + 4.0)
    share += state.of_items.sums[i] / (state.of_items.counts[i] + 4.0)
    return float(min(max(share, 0.002), 0.998))


def test_scores_far_below_0_predict_the_lowest_rating() -> None:
    assert predict_share(0.5, -700.0) == pytest.approx(np.exp(-700.0), rel=1e-9, abs=0.0)
    assert [predict_share(0.9, score) for score in (-700.5, -1e3, -np.inf)] == [0.0] * 3
    assert [predict_share(0.9, score) for score in (700.5, np.inf)] == [1.0] * 2
    assert predict_share(0.9, 0.0) == pytest.approx(0.9)


def test_a_small_step_lowers_the_error_of_its_rating() -> None:
    learner = make(biases="no", eta=1e-3).learn(PAIRS, Y)
    for pair, rating in zip(PAIRS, Y, strict=True):
        before = (learner.predict_one(pair) - rating) ** 2
        learner.learn_one(pair, rating)
        assert (learner.predict_one(pair) - rating) ** 2 < before


@pytest.mark.parametrize("model", ["pmf", "rmf"])
def test_dual_averaging_minimises_the_mean_gradient_and_its_penalties(model: str) -> None:
    """U_u = argmin <mean gradient, U> + lam/2 |U|^2 + beta_t / (2 t) |U|^2, where beta_t = beta sqrt(t)."""
    learner = make(model, "da", k=3, lam_users=0.02, lam_items=0.03, beta=0.1).learn(PAIRS, Y)
    for side, lam in ((learner.state.of_users, 0.02), (learner.state.of_items, 0.03)):
        for number in np.flatnonzero(side.steps):
            penalty = lam + 0.1 * np.sqrt(side.steps[number]) / side.steps[number]
            np.testing.assert_allclose(side.averages[number] + penalty * side.factors[number], 0.0, atol=1e-15)


def test_factors_start_at_random_with_the_deviation_of_the_paper() -> None:
    drawn = Shape(50, False, 1, False).draw(0, 0, 400)
    assert drawn.std() == pytest.approx(0.1, rel=0.02)
    assert abs(drawn.mean()) < 0.003
    assert drawn[70:80].tolist() == Shape(50, False, 1, False).draw(0, 70, 80).tolist()
    assert not np.isclose(drawn[:10], Shape(50, False, 1, False).draw(1, 0, 10)).any()


# ---- what it is good for ---------------------------------------------------------------------------------------------


def test_every_variant_predicts_and_orders_better_than_biases_after_some_ratings() -> None:
    X, y = ratings(20_000)
    train, test = slice(0, 16_000), slice(16_000, None)
    losses, orders = dict[str, float](), dict[str, float]()
    entrants = {"mean": nr.make("rating_mean"), "biases": nr.make("rating_biases")}
    entrants |= {f"{model} {method}": make(model, method, native=True) for model, method in FOUR}
    for name, learner in entrants.items():
        learner.learn(X[train], y[train])
        predicted = learner.predict(X[test])
        losses[name], orders[name] = rmse((predicted - y[test]) ** 2), mean_ndcg(X[test, 0], y[test], predicted)
    assert losses["mean"] > 1.0 > 0.9 > losses["biases"]
    for model, method in FOUR:
        assert losses[f"{model} {method}"] < 0.75 * losses["biases"]
        assert orders[f"{model} {method}"] > orders["biases"] + 0.05 > orders["mean"] + 0.1


def mean_ndcg(users: Any, truth: Any, scores: Floats) -> float:
    found = [ndcg(truth[users == user] - 1.0, scores[users == user], 10) for user in np.unique(users).tolist()
             if len(set(truth[users == user].tolist())) > 1]  # fmt: skip
    return float(np.mean(found))


def test_the_form_of_the_paper_has_no_offset_and_is_better_than_the_mean() -> None:
    X, y = ratings(20_000)
    learner = make(biases="no", native=True).learn(X[:16_000], y[:16_000])
    user, item = learner.users.index(3), learner.items.index(5)
    g = 1.0 / (1.0 + np.exp(-learner.user_factors[user] @ learner.item_factors[item]))
    assert learner.predict_one((3, 5)) == pytest.approx(1.0 + 4.0 * g)
    found = rmse((learner.predict(X[16_000:]) - y[16_000:]) ** 2)
    assert found < 0.8 * rmse((y[16_000:] - y[:16_000].mean()) ** 2)


def test_progress_is_the_error_before_learning_beside_those_of_the_baselines() -> None:
    X, y = ratings(2000)
    learner, others = make(native=True, damping=3.0), (nr.make("rating_biases", damping=3.0), nr.make("rating_mean"))
    own = rmse(learner.play(X, y).losses)
    biases, mean = (rmse(one.play(X, y).losses) for one in others)
    assert learner.progress == pytest.approx(Progress(own, biases, mean))
    assert make().progress == (0.0, 0.0, 0.0)


def test_baselines_and_progress_are_those_of_the_twin() -> None:
    """Before and after learning, also beyond the ends of the scale, and of users and items that are not known."""
    order = np.random.default_rng(1).permutation(64).tolist()
    rounds = [((n // 8, n % 8), 5.0 if n // 8 + n % 8 >= 7 else 1.0) for n in order]
    rounds += [((n // 8, n % 8), 2.0) for n in order[::4]]
    numbers = {"damping": 0.25, "minimum": 1.0, "maximum": 5.0}
    learners: list[Any] = [nr.make(name, native=False, **given) for name, given in (
        ("rating_biases", numbers), ("rating_mean", {}), ("factorisation", {**SIZES, "eta": 3.0, **numbers})
    )]  # fmt: skip
    other = twin("pmf", "sgd", **{**SIZES, **numbers, "eta": 3.0, "biases": "yes"})
    of_mean = twin("pmf", "sgd", **{**SIZES, "eta": 3.0, "biases": "yes", "damping": 4.0})
    errors, raw = [], []
    for (user, item), rating in rounds:
        raw.append(other.baseline(user, item))
        baselines = [min(max(one.baseline(user, item), 0.0), 1.0) for one in (other, of_mean)]
        found = [1.0 + 4.0 * baselines[0], 1.0 + 4.0 * other.mean(), other.predict(user, item)]
        errors.append(np.array([*found, 1.0 + 4.0 * baselines[1]]) - rating)
        for learner, expected in zip(learners, found, strict=True):
            assert learner.play([(user, item)], [rating]).predictions == pytest.approx([expected], rel=1e-9)
        for one in (other, of_mean):
            one.learn(user, item, rating)
    biases, mean, own, with_default = np.sqrt(np.mean(np.square(errors), axis=0))
    assert learners[0].progress == pytest.approx((biases, biases, mean), rel=1e-9)
    assert learners[1].progress == pytest.approx((mean, with_default, mean), rel=1e-9)
    assert learners[2].progress == pytest.approx((own, biases, mean), rel=1e-9)
    assert min(raw) < 0.0
    assert max(raw) > 1.0
    for pair in itertools.product([*range(8), "new"], repeat=2):
        found = [1.0 + 4.0 * min(max(other.baseline(*pair), 0.0), 1.0), 1.0 + 4.0 * other.mean()]
        assert [learner.predict_one(pair) for learner in learners[:2]] == pytest.approx(found, rel=1e-9)
    parts = {f"{side}.{part}" for side in ("users", "items") for part in ("factors", "steps", "sums")}
    for learner in learners:
        assert set(learner.dump()[1]) == {*parts, "totals", "ratings.users", "ratings.items", "ratings.ratings"}


def test_compiled_is_as_plain() -> None:
    for model, method in FOUR:
        one = make(model, method, native=True).play(PAIRS, Y)
        np.testing.assert_allclose(one.predictions, make(model, method).play(PAIRS, Y).predictions, rtol=1e-12)


def test_the_table_of_ratings_grows_and_is_at_most_half_full() -> None:
    learner = make("pmf", k=1)
    for size in (1, 3, 50, 200):
        learner.learn([(user, item) for user in range(size) for item in range(3)], [1.0, 3.0, 5.0] * size)
        assert learner.state.known.table.size >= 2 * learner.state.ratings == 6 * size
        assert np.count_nonzero(learner.state.known.table >= 0) == 3 * size


# ---- ratings that are stored, and what is recommended ----------------------------------------------------------------


def test_a_rating_of_the_same_item_replaces_the_one_before() -> None:
    learner = make().learn([("a", 1), ("a", 2), ("b", 1)], [5.0, 1.0, 3.0])
    learner.learn([("a", 1)], [2.0])
    assert learner.ratings_of("a") == {1: 2.0, 2: 1.0}
    assert learner.mean == pytest.approx((2.0 + 1.0 + 3.0) / 3.0)
    assert (learner.state.ratings, learner.rounds) == (3, 4)
    assert learner.ratings_of("nobody") == {}


def test_items_that_were_rated_are_not_recommended_and_the_best_lead() -> None:
    learner = make().learn(PAIRS, Y)
    for user in learner.users:
        found = learner.recommend(user, 5)
        assert not {item for item, _ in found} & set(learner.ratings_of(user))
        assert [rating for _, rating in found] == sorted((rating for _, rating in found), reverse=True)
        assert all(rating == learner.predict_one((user, item)) for item, rating in found)
        everything = learner.recommend(user, 99, again=True)
        assert {item for item, _ in everything} == set(learner.items)
        assert everything[0][1] == max(learner.predict_one((user, item)) for item in learner.items)


def test_a_user_who_is_not_known_gets_what_is_good_for_everyone() -> None:
    learner = make().learn([("a", "good"), ("b", "good"), ("a", "bad"), ("b", "bad")], [5, 4, 1, 2])
    assert [item for item, _ in learner.recommend("new")] == ["good", "bad"]
    assert learner.predict_one(("new", "never seen")) == pytest.approx(3.0)
    plain = make(biases="no").learn([("a", "good"), ("a", "bad")], [5, 2])
    assert [plain.predict_one(pair) for pair in (("new", "good"), ("a", "new"))] == [3.5, 3.5]
    mean: Any = nr.make("rating_mean")
    assert mean.learn([("a", 1)], [4.0]).recommend("a") == []


def test_a_text_and_a_number_are_different_users() -> None:
    learner = make().learn([(7, "x"), ("7", "x"), (np.int64(7), "y"), (8.0, "y")], [1, 5, 1, 3])
    assert learner.users == [7, "7", 8]
    assert all(type(name) in (int, str) for name in learner.users)
