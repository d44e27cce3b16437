"""Hedge backpropagation equals an independent implementation, and is never much worse than its best classifier."""

from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.learner.model_file import pack
from noregret.learner.registry import find_rule
from tests.naive.networks import NaiveNetwork, Optimizer
from tests.neural.test_backprop import LINEAR, compare, make, rounds, twin_of
from tests.support.cover import seeds

# The algorithm as its paper prints it, but for rates that show more in few rounds.
PRINTED: dict[str, Any] = {
    "optimizer": "sgd", "loss_scaling": "none", "prior": 1.0, "beta": 0.7, "smoothing": 0.2, "from_input": "no",
}  # fmt: skip


@pytest.mark.parametrize("task", ["binary", "multiclass"])
@pytest.mark.parametrize(
    "options",
    [PRINTED, {**PRINTED, "loss_scaling": "min_max"}, {}, {"optimizer": "sgd", "beta": 0.3, "loss_scaling": "clip"}],
    ids=["printed", "spread", "default", "clipped"],
)
def test_hbp_equals_the_naive_network(task: str, options: dict[str, Any]) -> None:
    X, y = rounds(task)
    learner = make("hbp", task, depth=3, units=4, eta=0.1, activation="tanh", **options)
    given = learner.params
    settings = {name: given[name] for name in ("activation", "beta", "prior")}
    settings |= {"floor": given["smoothing"] / 3, "scaling": given["loss_scaling"]}
    twin = twin_of(learner, X, y, optimizer=Optimizer(given["optimizer"], 0.1), **settings)
    compare(learner, twin, X, y)
    assert learner.layer_weights == pytest.approx(twin.alpha, rel=1e-8)


@seeds(10, 3)
def test_the_mixture_is_never_much_worse_than_its_best_classifier(seed: int) -> None:
    """Log loss is mixable: without a floor, and beta >= 1 / e, regret is at most ln(first weight) / ln(beta)."""
    beta, depth, prior = (0.4, 0.7, 0.9)[seed % 3], 4, 0.6
    X, y = rounds("multiclass", seed, rows=150)
    given = {"beta": beta, "prior": prior, "smoothing": 0.0, "loss_scaling": "none"}
    learner = make("hbp", "multiclass", depth=depth, units=5, optimizer="sgd", eta=0.1, seed=seed, **given)
    twin = twin_of(learner, X, y, optimizer=Optimizer("sgd", 0.1), beta=beta, prior=prior)
    first, totals = twin.alpha.copy(), np.zeros(depth + 1)
    for t in range(len(y)):
        totals += twin.losses(twin.forward(X[t])[2], y[t])
        twin.learn(X[t], y[t])
    assert learner.play(X, y).losses.sum() <= (totals + np.log(1.0 / first) / -np.log(beta)).min()


@seeds(12, 4)
def test_gradients_of_hbp_are_numeric_gradients_of_the_weighted_losses(seed: int) -> None:
    """Every layer and classifier moves along the gradient of the losses, each times the weight of its classifier."""
    rng, task = np.random.default_rng(seed), ("binary", "multiclass")[seed % 2]
    activation = ("tanh", "sigmoid", "linear", "relu")[seed // 2 % 4]
    X, y = rounds(task, seed, 2)
    given = {"depth": int(rng.integers(0, 4)), "units": int(rng.integers(1, 5)), "activation": activation}
    before = make("hbp", task, optimizer="sgd", eta=1.0, beta=0.3, seed=seed, **given).learn(X[:1], y[:1])
    after, alpha = before.copy().learn(X[1:], y[1:]), before.layer_weights

    def loss(twin: NaiveNetwork) -> float:
        return float(alpha @ twin.losses(twin.forward(X[1])[2], y[1]))

    twin = twin_of(before, X, y, optimizer=Optimizer("sgd", 1.0), activation=activation)
    moved = twin_of(after, X, y, optimizer=Optimizer("sgd", 1.0), activation=activation)
    matrices = list(zip([*twin.hidden, *twin.heads], [*moved.hidden, *moved.heads], strict=True))
    for w, new in matrices:
        for place in rng.permutation(list(np.ndindex(w.shape)))[:4].tolist():
            at, kept, losses = tuple(place), float(w[tuple(place)]), []
            for change in (1e-6, -1e-6):
                w[at] = kept + change
                losses.append(loss(twin))
            w[at] = kept
            assert w[at] - new[at] == pytest.approx((losses[0] - losses[1]) / 2e-6, rel=1e-5, abs=1e-8)


@pytest.mark.parametrize(("optimizer", "rule", "options"), LINEAR)
@pytest.mark.parametrize("task", ["binary", "multiclass"])
def test_hbp_without_hidden_layers_is_the_linear_learner(
    optimizer: str, rule: str, options: dict[str, Any], task: str
) -> None:
    X, y = rounds(task)
    loss, eta = "logistic" if task == "binary" else "softmax", options.get("eta", options.get("eta0"))
    linear = nr.make(rule, loss=loss, task=task, native=False, bias=True, classes=sorted(set(y.tolist())), **options)
    network = make("hbp", task, depth=0, optimizer=optimizer, eta=eta, outputs="zero")
    expected, found = linear.play(X, y), network.play(X, y)
    assert found.scores == pytest.approx(expected.scores, rel=1e-9, abs=1e-9)
    assert found.predictions.tolist() == expected.predictions.tolist()


@seeds(10, 3)
def test_weights_of_layers_are_a_distribution_above_the_floor(seed: int) -> None:
    """Before they are normalised weights sum to at most 1 + s + s / L, and none is below s / L."""
    X, y = rounds("binary", seed)
    scaling = ("none", "min_max", "clip")[seed % 3]
    given = {"beta": 0.5, "smoothing": 0.4, "loss_scaling": scaling}
    learner = make("hbp", "binary", depth=4, units=3, seed=seed, **given)
    least = 0.1 / (1.0 + 0.4 + 0.1)
    for t in range(len(y)):
        learner.learn_one(X[t], int(y[t]))
        assert learner.layer_weights.sum() == pytest.approx(1.0)
        assert learner.layer_weights.min() >= least * (1.0 - 1e-12)


def test_with_beta_1_the_weights_of_layers_stay_equal() -> None:
    X, y = rounds("binary")
    learner = make("hbp", "binary", depth=3, units=3, beta=1.0, prior=1.0)
    assert learner.learn(X, y).layer_weights == pytest.approx([0.25] * 4)


def test_the_first_weights_of_layers_fall_with_their_depth() -> None:
    X, y = rounds("binary", rows=1)
    for options, expected in (({}, [8, 4, 2, 1]), ({"from_input": "no"}, [0, 4, 2, 1])):
        learner = make("hbp", "binary", depth=3, units=3, prior=0.5, **options).learn(X, y, weight=0.0)
        assert learner.layer_weights == pytest.approx(np.array(expected) / sum(expected))


def test_two_classifiers_are_enough_for_hedge() -> None:
    X, y = rounds("binary")
    learner = make("hbp", "binary", depth=1, units=3, prior=1.0)
    twin = twin_of(learner, X, y, optimizer=Optimizer("adam", 0.001), beta=0.95, floor=0.05, scaling="min_max")
    for t in range(3):
        twin.learn(X[t], y[t])
    assert learner.learn(X[:3], y[:3]).layer_weights == pytest.approx(twin.alpha)
    assert learner.layer_weights[0] != 0.5


def test_rounds_without_weight_change_no_weights_of_layers() -> None:
    X, y = rounds("binary")
    learner = make("hbp", "binary", depth=3, units=3).learn(X[:20], y[:20])
    before = learner.layer_weights.tolist()
    assert learner.learn(X[20:], y[20:], weight=0.0).layer_weights.tolist() == before


def test_hedge_losses_can_be_clipped_or_spread() -> None:
    """Spread over [0, 1], the worst head of a round loses the factor beta, and the best none."""
    X, y = rounds("binary", rows=1)
    for scaling in ("clip", "min_max"):
        given = {"beta": 0.5, "smoothing": 0.0, "loss_scaling": scaling, "prior": 1.0}
        learner = make("hbp", "binary", depth=2, units=3, **given)
        twin = twin_of(learner, X, y, optimizer=Optimizer("sgd", 0.01))
        losses = twin.losses(twin.forward(X[0])[2], y[0])
        low, high = losses.min(), losses.max()
        seen = np.minimum(losses, 1.0) if scaling == "clip" else (losses - low) / (high - low)
        expected = 0.5**seen / (0.5**seen).sum()
        assert learner.learn(X, y).layer_weights == pytest.approx(expected)


def test_losses_beyond_all_measure_leave_equal_weights_of_layers() -> None:
    """The loss of a score of 1e50 is 1e50: without a floor, no classifier keeps any of its weight."""
    row, tried = np.full((1, 5), 1e50), 0
    given = {"optimizer": "sgd", "eta": 1e-9, "smoothing": 0.0, "loss_scaling": "none"}
    for seed in range(20):
        learner = make("hbp", "binary", depth=2, units=3, seed=seed, **given)
        twin = twin_of(learner, row, [1], optimizer=Optimizer("sgd", 1e-9))
        signs = {float(f[0]) > 0.0 for f in twin.forward(row[0])[2]}
        if len(signs) == 1:  # all classifiers agree, and all are wrong
            learner.learn(row, [-1 if True in signs else 1])
            assert learner.layer_weights == pytest.approx([1 / 3] * 3)
            tried += 1
    assert tried


@pytest.mark.parametrize("name", ["hbp", "mlp"])
def test_models_of_earlier_versions_keep_the_defaults_of_their_time(name: str) -> None:
    X, y = rounds("binary")
    earlier = {"init": "fan_in", **({"prior": 1.0, "depth": 2, "units": 3} if name == "hbp" else {"layers": [3]})}
    learner = make(name, "binary", **earlier).learn(X[:20], y[:20])
    header, arrays = learner.dump()
    old = {key: value for key, value in header["params"].items() if key not in ("init", "prior")}
    loaded = type(learner).restore({**header, "params": old}, arrays, find_rule)
    assert pack(loaded.learn(X[20:], y[20:])) == pack(learner.learn(X[20:], y[20:]))
