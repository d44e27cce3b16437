"""Rerankers equal their twins, solve the problems that define a step, and keep what their theorems promise."""

import math
from typing import Any

import numpy as np
import pytest
from scipy.optimize import approx_fprime

import noregret as nr
from noregret.loglinear.loglinear import ascent, softmax
from noregret.loglinear.ridge import solve_ridge
from tests.loglinear.lists import Lists, hidden_lists, text_lists, varied_lists
from tests.naive import reranking as naive
from tests.support.cover import ALL

STREAMS = {"dense": hidden_lists(40), "varied": varied_lists(60)}
START = {"score": 1.0}


def weights_in_order(learner: Any, names: list[str]) -> np.ndarray:
    return np.array([learner.weights.get(name, 0.0) for name in names])


# ---- twins -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stream", STREAMS.values(), ids=STREAMS)
def test_ridge_equals_least_squares_on_the_stacked_system_of_every_list(stream: Lists) -> None:
    X, Y = stream
    learner: Any = nr.make("ridge_reranker", beta=0.3, mix=0.2, accumulate="no")
    names = naive.all_names(X)
    for rows, truth, (place, w) in zip(X, Y, naive.ridge(X, Y, START, 0.3, 0.2), strict=True):
        assert learner.play([rows], [truth]).predictions[0] == place
        np.testing.assert_allclose(weights_in_order(learner, names), w, atol=1e-10)


@pytest.mark.parametrize("stream", STREAMS.values(), ids=STREAMS)
@pytest.mark.parametrize("forget", [1.0, 0.8])
def test_accumulated_ridge_equals_least_squares_over_all_lists(stream: Lists, forget: float) -> None:
    X, Y = stream
    learner: Any = nr.make("ridge_reranker", beta=0.3, accumulate="yes", forget=forget)
    names = naive.all_names(X)
    for rows, truth, (place, w) in zip(X, Y, naive.ridge_of_all(X, Y, START, 0.3, forget), strict=True):
        assert learner.play([rows], [truth]).predictions[0] == place
        np.testing.assert_allclose(weights_in_order(learner, names), w, atol=1e-9)


@pytest.mark.parametrize("stream", STREAMS.values(), ids=STREAMS)
@pytest.mark.parametrize("objective", ["likelihood", "expected_loss"])
def test_loglinear_equals_its_twin(stream: Lists, objective: str) -> None:
    X, Y = stream
    learner: Any = nr.make("loglinear_reranker", objective=objective, eta0=0.4, schedule="inv_sqrt")
    rates = [0.4 / math.sqrt(t) for t in range(1, len(X) + 1)]
    twin = naive.loglinear(X, Y, START, rates, objective)
    for rows, truth, (place, w) in zip(X, Y, twin, strict=True):
        assert learner.play([rows], [truth]).predictions[0] == place
        for name, value in learner.weights.items():
            assert value == pytest.approx(w[name], abs=1e-10)


def test_bayesian_equals_its_twin_on_the_samples_it_drew() -> None:
    X, Y = hidden_lists(15)
    learner: Any = nr.make("bayesian_reranker", samples=30, delta=0.5, least=0.0, seed=3)
    points = learner.copy().learn(X, Y).state.points
    samples = [(1 / 30, dict(zip(("f0", "f1", "f2"), one, strict=True))) for one in points.tolist()]
    for rows, truth, (place, mass) in zip(X, Y, naive.bayesian(X, Y, samples, 0.5), strict=True):
        assert learner.play([rows], [truth]).predictions[0] == place
        np.testing.assert_allclose(learner.state.weights, mass, atol=1e-12)


def test_the_bayesian_grid_equals_its_twin_also_as_features_appear() -> None:
    X, Y = hidden_lists(12)
    X = [[{name: value for name, value in row.items() if t > 3 or name != "f0"} for row in x] for t, x in enumerate(X)]
    learner: Any = nr.make("bayesian_reranker", design="grid", points=5, width=2.0, s2=0.5, start={"f1": 0.5})
    samples = naive.grid(["f1", "f2", "f0"], {"f1": 0.5}, 0.5, 5, 2.0)
    for t, (place, mass) in enumerate(naive.bayesian(X, Y, samples, 1.0)):
        assert learner.play(X[t : t + 1], Y[t : t + 1]).predictions[0] == place
        if t > 3:
            np.testing.assert_allclose(learner.state.weights, mass, atol=1e-12)


@pytest.mark.parametrize("stream", STREAMS.values(), ids=STREAMS)
def test_rules_equal_their_twins(stream: Lists) -> None:
    X, Y = stream
    options: dict[str, Any] = {"mode": "discriminative", "native": False, "target": "best"}
    averaged: Any = nr.make("adaptive_reranker", learner="perceptron", start={}, **options)
    passive: Any = nr.make("adaptive_reranker", learner="pa1(C=0.2)", start={"score": 0.7}, **options)
    found = averaged.play(X, Y).predictions.tolist(), passive.play(X, Y).predictions.tolist()
    twins = list(naive.perceptron(X, Y)), list(naive.pa1(X, Y, {"score": 0.7}, 0.2))
    for places, twin in zip(found, twins, strict=True):
        assert places == [place for place, _ in twin]
    w = {name: value for name, value in twins[1][-1][1].items() if value}
    assert passive.weights == pytest.approx(w, abs=1e-10)


@pytest.mark.parametrize("rule", ["pa2", "arow", "perceptron"])
@pytest.mark.parametrize("competitor", ["predicted", "max_loss"])
def test_without_texts_and_first_weights_it_is_structured_output_with_the_decoder_reranking(
    rule: str, competitor: str
) -> None:
    X, Y = varied_lists(60, seed=5)
    inside = nr.make(rule, task="structured", native=False)
    own: Any = nr.make(
        "adaptive_reranker",
        mode="discriminative",
        learner=inside.copy(),
        competitor=competitor,
        start={},
        target="best",
    )
    other: Any = nr.make("structured", decoder=nr.Reranking(), learner=inside.copy(), competitor=competitor)
    a, b = own.play(X, Y), other.play(X, Y)
    assert a.predictions.tolist() == b.predictions.tolist()
    np.testing.assert_array_equal(a.losses, b.losses)
    assert own.weights == other.weights


def test_mira_is_the_step_for_all_constraints() -> None:
    X, Y = hidden_lists(40, seed=6)
    own: Any = nr.make(
        "adaptive_reranker", mode="discriminative", learner="mira", k=50, start={}, native=False, target="best"
    )
    rule = nr.make("pa1", C=0.003, native=False)
    other: Any = nr.make("structured", decoder=nr.Reranking(), learner=rule, competitor="all")
    assert own.play(X, Y).predictions.tolist() == other.play(X, Y).predictions.tolist()
    assert own.weights == pytest.approx(other.weights, abs=1e-9)


# ---- one step --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(3, 8), (8, 3), (4, 4)])
def test_the_ridge_solution_has_no_gradient(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(0)
    R, losses = rng.normal(size=shape), rng.random(shape[0])
    w = solve_ridge(R, losses, 0.05)
    np.testing.assert_allclose(R.T @ (R @ w - losses) + 0.05 * w, 0.0, atol=1e-12)


@pytest.mark.parametrize("objective", ["likelihood", "expected_loss"])
def test_a_gradient_step_goes_along_the_numeric_gradient(objective: str) -> None:
    rng = np.random.default_rng(1)
    H, w, losses = rng.normal(size=(5, 4)), rng.normal(size=4), rng.random(5)

    def goal(v: np.ndarray) -> float:
        p = softmax(H @ v)
        return float(np.log(p[losses.argmin()])) if objective == "likelihood" else -float(p @ losses)

    np.testing.assert_allclose(ascent(H, softmax(H @ w), losses, objective), approx_fprime(w, goal), atol=1e-6)


def test_the_penalty_pulls_towards_the_first_weights() -> None:
    learner: Any = nr.make("loglinear_reranker", l2=0.5, eta0=0.1, start={"a": 2.0})
    learner.learn([[{"a": 1.0}, {"b": 1.0}]], [1])
    before = learner.weights["a"]
    learner.learn([[{"a": 1.0}, {"a": 1.0}]], [[0.0, 0.0]])
    assert learner.weights["a"] == pytest.approx(before - 0.1 * 0.5 * (before - 2.0))


def test_resampling_keeps_mean_and_variance() -> None:
    from noregret.loglinear.weight_samples import Samples, resample

    rng = np.random.default_rng(2)
    samples = Samples(rng.normal(size=(20_000, 2)) * [1.0, 3.0] + [0.0, 5.0], -rng.random(20_000))
    p, mean = samples.weights, samples.mean
    variance = p @ np.square(samples.points - mean)
    resample(samples, 7, 0.5)
    np.testing.assert_allclose(samples.mean, mean, atol=0.1)
    np.testing.assert_allclose(samples.points.var(axis=0), variance, rtol=0.05)
    assert samples.resampled == 1
    assert not samples.log_weights.any()


# ---- limits and theorems ---------------------------------------------------------------------------------------------


def test_without_data_the_bayesian_prediction_is_the_average_of_the_prior() -> None:
    learner: Any = nr.make("bayesian_reranker", samples=4000, s2=4.0, start={"a": 0.3})
    rows = [{"a": 1.0}, {"b": 1.0}, {"c": 0.5, "a": 0.5}, {}]
    rng = np.random.default_rng(0)
    points = rng.normal(size=(4000, 3)) * 2.0 + [0.3, 0.0, 0.0]
    H = naive.as_matrix(rows, ["a", "b", "c"])
    scores = np.exp(points @ H.T)
    averaged = (scores / scores.sum(axis=1, keepdims=True)).mean(axis=0)
    assert learner.predict_one(rows) == int(np.argmax(averaged))
    assert learner.rounds == learner.features == 0


def test_with_no_variance_the_bayesian_prediction_is_that_of_the_first_weights() -> None:
    X, Y = text_lists(30)
    start = {"score": 0.5, "hint": 1.5}
    learner: Any = nr.make("bayesian_reranker", s2=1e-24, start=start).learn(X, Y)
    fixed = [int(np.argmax([0.5 * one["score"] + 1.5 * one["features"]["hint"] for one in x["candidates"]])) for x in X]
    assert learner.predict(X).tolist() == fixed
    assert learner.state.resampled == 0


def separable_lists(rounds: int, seed: int) -> tuple[list[Any], list[int], np.ndarray, float]:
    """Lists whose best candidate beats all others by a margin under unit weights u."""
    rng = np.random.default_rng(seed)
    u = rng.normal(size=4)
    u /= np.linalg.norm(u)
    X: list[Any] = []
    Y: list[int] = []
    gamma = 0.2
    while len(X) < rounds:
        H = rng.normal(size=(5, 4))
        score = np.sort(H @ u)
        if score[-1] - score[-2] >= gamma:
            X.append([{f"f{k}": value for k, value in enumerate(row)} for row in H.tolist()])
            Y.append(int(np.argmax(H @ u)))
    return X, Y, u, gamma


@pytest.mark.parametrize("seed", range(10 if ALL else 2))
def test_bounds_hold_on_separable_lists(seed: int) -> None:
    """Perceptron: at most (R / gamma)^2 mistakes; PA: the squared losses sum to at most (R / gamma)^2."""
    X, Y, _, gamma = separable_lists(120, seed)
    tables = [naive.as_matrix(rows, ["f0", "f1", "f2", "f3"]) for rows in X]
    R2 = max(float(np.square(H[y] - H).sum(axis=1).max()) for H, y in zip(tables, Y, strict=True))
    options: dict[str, Any] = {"mode": "discriminative", "native": False, "start": {}, "target": "best"}
    plain: Any = nr.make("adaptive_reranker", learner="perceptron", average=False, **options).learn(X, Y)
    assert 0 < plain.mistakes <= R2 / gamma**2
    passive: Any = nr.make("adaptive_reranker", learner="pa", **options)
    total = 0.0
    for rows, y, H in zip(X, Y, tables, strict=True):
        w = weights_in_order(passive, ["f0", "f1", "f2", "f3"])
        hinge = np.max((np.arange(5) != y) + H @ w) - H[y] @ w
        total += max(hinge, 0.0) ** 2
        passive.learn_one(rows, y)
    assert total <= R2 / gamma**2


def test_the_hidden_weighing_is_found_by_all() -> None:
    X, Y = hidden_lists(200, noise=0.05)
    first = np.mean([y[0] for y in Y[100:]])
    for name in ("ridge_reranker", "loglinear_reranker", "bayesian_reranker", "adaptive_reranker"):
        options: dict[str, Any] = {"mode": "discriminative", "native": False} if name == "adaptive_reranker" else {}
        learner: Any = nr.make(name, **options)
        losses = learner.play(X, Y).losses
        assert losses[100:].mean() < 0.03 * first, name


# ---- merging ---------------------------------------------------------------------------------------------------------


def test_accumulated_ridge_merges_exactly() -> None:
    X, Y = varied_lists(40)
    whole = nr.make("ridge_reranker", accumulate="yes").learn(X, Y)
    parts: list[Any] = [
        nr.make("ridge_reranker", accumulate="yes").learn(X[a:b], Y[a:b]) for a, b in ((0, 15), (15, 40))
    ]
    merged = parts[0].merge(parts[1])
    assert merged.weights == pytest.approx(whole.weights, abs=1e-9)
    assert (merged.rounds, merged.updates) == (whole.rounds, whole.updates)
    assert parts[1].merge(parts[0]).weights == pytest.approx(whole.weights, abs=1e-9)


@pytest.mark.parametrize("design", ["random", "grid"])
def test_bayesian_samples_merge_exactly(design: str) -> None:
    X, Y = hidden_lists(20)

    def fresh() -> Any:
        return nr.make("bayesian_reranker", design=design, points=5, samples=50, least=0.0)

    merged = fresh().learn(X[:8], Y[:8]).merge(fresh().learn(X[8:], Y[8:]))
    np.testing.assert_allclose(merged.state.weights, fresh().learn(X, Y).state.weights, atol=1e-12)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"name": "ridge_reranker", "accumulate": "no"}, "accumulate"),
        ({"name": "ridge_reranker", "accumulate": "yes", "forget": 0.9}, "forget=1"),
        ({"name": "loglinear_reranker"}, "order"),
        ({"name": "bayesian_reranker", "samples": 30, "least": 1.0}, "least=0"),
    ],
)
def test_what_cannot_be_merged_says_so(options: dict[str, Any], says: str) -> None:
    X, Y = hidden_lists(5)
    name = options["name"]
    learner: Any = nr.make(name, **{key: value for key, value in options.items() if key != "name"}).learn(X, Y)
    with pytest.raises(nr.BadValue, match=says):
        learner.merge(learner.copy())
    if name != "loglinear_reranker":
        with pytest.raises(nr.BadValue, match="same parameters"):
            learner.merge(nr.make(name, quality="ter", **{k: v for k, v in options.items() if k != "name"}))
