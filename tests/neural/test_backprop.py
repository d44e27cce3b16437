"""Backpropagation equals an independent implementation, numeric gradients and linear learners."""

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import noregret as nr
from tests.naive.networks import NaiveNetwork, Optimizer
from tests.support.cover import ALL, seeds

OPTIMIZERS = ("sgd", "momentum", "nesterov", "adagrad", "adadelta", "adam")
ETA = {"sgd": 0.05, "momentum": 0.02, "nesterov": 0.02, "adagrad": 0.1, "adadelta": 1.0, "adam": 0.01}
TASKS = ("binary", "multiclass", "regression")


def rounds(task: str, seed: int = 0, rows: int = 40) -> tuple[np.ndarray, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 5)) * (rng.random((rows, 5)) < 0.7)
    if task == "regression":
        return X, X[:, 0] * X[:, 1] + 0.1 * rng.normal(size=rows)
    return X, rng.integers(0, 3, rows) if task == "multiclass" else rng.choice([-1, 1], rows)


def make(name: str, task: str, **options: Any) -> Any:
    shared = {"classes": [0, 1, 2]} if task == "multiclass" else {"classes": [-1, 1]} if task == "binary" else {}
    given = {"scale_target": "no"} if task == "regression" else {}
    return nr.make(name, **{"task": task, "native": False, "scale": False, **shared, **given, **options})


def twin_of(learner: Any, X: np.ndarray, y: Any, **options: Any) -> NaiveNetwork:
    """The naive network with the first weights of a learner: a round of weight 0 makes them and changes nothing."""
    matrices = learner.copy().learn(X[:1], y[:1], weight=0.0).matrices()
    sizes = [len(matrix) - 1 for matrix in matrices[1:]]
    hidden = [matrix[:, :size] for matrix, size in zip(matrices, sizes, strict=False)]
    heads = [matrix[:, size:] for matrix, size in zip(matrices, [*sizes, 0], strict=True)]
    return NaiveNetwork(hidden, [head if head.size else None for head in heads], task=learner.task, **options)


def probabilities(task: str, scores: Any) -> Any:
    if task == "regression":
        return scores[:, None]
    columns = np.stack([-0.5 * scores, 0.5 * scores], axis=1) if task == "binary" else scores
    e = np.exp(columns - columns.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def compare(learner: Any, twin: NaiveNetwork, X: np.ndarray, y: Any) -> None:
    """Before every round both predict the same; after all of them they have the same weights."""
    h = np.random.default_rng(1).choice([0.5, 1.0, 2.0], len(y))
    found = probabilities(twin.task, learner.play(X, y, weight=h).scores)
    for t in range(len(y)):
        assert found[t] == pytest.approx(twin.predict(X[t]), rel=1e-8, abs=1e-8), f"round {t}"
        twin.learn(X[t], y[t], h[t])
    for level, matrix in enumerate(learner.matrices()):
        parts = [twin.hidden[level]] if level < len(twin.hidden) else []
        parts += [] if twin.heads[level] is None else [twin.heads[level]]
        assert matrix == pytest.approx(np.concatenate(parts, axis=1), rel=1e-8, abs=1e-8), f"level {level}"


CASES = [(task, OPTIMIZERS[number % 6], activation) for number, (task, activation) in enumerate(
    (task, activation) for task in TASKS for activation in ("relu", "tanh", "sigmoid", "linear"))]  # fmt: skip
CASES += [(task, one, "tanh") for task in TASKS for one in OPTIMIZERS] if ALL else [("binary", "adam", "relu")]


@pytest.mark.parametrize(("task", "optimizer", "activation"), CASES)
@pytest.mark.parametrize("native", [False, True] if ALL else [False])
def test_mlp_equals_the_naive_network(task: str, optimizer: str, activation: str, native: bool) -> None:
    X, y = rounds(task)
    eta = ETA[optimizer]
    learner = make("mlp", task, layers=[4, 3], optimizer=optimizer, eta=eta, activation=activation, native=native)
    compare(learner, twin_of(learner, X, y, optimizer=Optimizer(optimizer, eta), activation=activation), X, y)


@pytest.mark.parametrize("layers", [[2, 5], [1, 3, 2, 4]], ids=str)
def test_layers_may_be_larger_than_those_before_them(layers: list[int]) -> None:
    """Of eleven inputs, most of which are not zero in a row."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(12, 11)), rng.integers(0, 3, 12)
    learner = make("mlp", "multiclass", layers=layers, optimizer="adam", eta=0.05, activation="tanh", clip=0.5)
    twin = twin_of(learner, X, y, optimizer=Optimizer("adam", 0.05), activation="tanh", clip=0.5)
    compare(learner, twin, X, y)


@pytest.mark.parametrize("options", [{"batch": 4}, {"clip": 0.3}, {"batch": 3, "clip": 0.2}], ids=str)
@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
def test_batches_and_clipped_gradients_equal_the_naive_network(options: dict[str, Any], optimizer: str) -> None:
    X, y = rounds("multiclass")
    learner = make("mlp", "multiclass", layers=[6], optimizer=optimizer, eta=0.05, activation="tanh", **options)
    twin = twin_of(learner, X, y, optimizer=Optimizer(optimizer, 0.05), activation="tanh", **options)
    compare(learner, twin, X, y)


@pytest.mark.compiles
def test_compiled_equals_interpreted_with_dense_and_sparse_rows() -> None:
    X, y = rounds("multiclass", rows=60)
    found = []
    for native in (False, True):
        for rows in (X, csr_array(X)):
            learner = make("mlp", "multiclass", layers=[9, 7], optimizer="sgd", eta=0.1, native=native, bias=True)
            learner.learn(X[:1] if rows is X else csr_array(np.ones((1, 5))), y[:1], weight=0.0)
            found.append(learner.play(rows, y).scores)
    for other in found[1:]:
        assert other == pytest.approx(found[0], rel=1e-10, abs=1e-12)


# ---- gradients -------------------------------------------------------------------------------------------------------


@seeds(48, 12)
def test_gradients_are_numeric_gradients_of_the_loss(seed: int) -> None:
    """One step of plain gradient descent with rate 1 is the gradient; differences of losses must agree with it.

    Twelve seeds try every task with every activation, half of them with sparse rows, some without biases.
    """
    rng = np.random.default_rng(seed)
    task, layers = TASKS[seed % 3], [int(size) for size in rng.integers(1, 6, rng.integers(0, 4))]
    activation = ("tanh", "sigmoid", "linear", "relu")[seed % 4]
    dense, y = rounds(task, seed, 1)
    X: Any = csr_array(dense) if seed // 2 % 2 else dense
    given = {"layers": layers, "activation": activation, "bias": seed % 5 > 0}
    learner = make("mlp", task, optimizer="sgd", eta=1.0, seed=seed, **given)
    before = learner.copy().learn(X, y, weight=0.0)
    after = before.copy().learn(X, y)
    places = [(level, place) for level, matrix in enumerate(before.matrices()) for place in np.ndindex(matrix.shape)]
    for level, place in [places[at] for at in rng.permutation(len(places))[:12]]:
        losses = [loss_after_change(before, level, place, change, X, y) for change in (1e-6, -1e-6)]
        numeric = (losses[0] - losses[1]) / 2e-6
        step = before.matrices()[level][place] - after.matrices()[level][place]
        assert step == pytest.approx(numeric, rel=1e-5, abs=1e-8)


def loss_after_change(learner: Any, level: int, place: tuple[int, ...], change: float, X: Any, y: Any) -> float:
    """The loss of a row when one weight is a little different."""
    moved = learner.copy()
    network = moved.network
    network.layout.matrix(network.weights.w, level)[place] += change
    loss = float(moved.play(X, y, weight=0.0).losses[0])
    return 0.5 * loss if learner.task == "regression" else loss  # reports have the square, not half of it


def test_a_relu_unit_at_zero_has_no_slope() -> None:
    """First weights after Glorot have no bias: in a row of zeros every unit is at zero, and only outputs learn."""
    X, y = np.zeros((1, 5)), [1]
    learner = make("mlp", "binary", layers=[3], optimizer="sgd", init="glorot").learn(X, y)
    first, last = learner.matrices()
    assert first[0].tolist() == [0.0] * 3
    assert last[0, 0] != 0.0


# ---- linear learners -------------------------------------------------------------------------------------------------


LINEAR: list[tuple[str, str, dict[str, Any]]] = [
    ("sgd", "ogd", {"eta0": 0.1, "schedule": "constant"}),
    ("adagrad", "adagrad", {"eta": 0.1, "delta": 1e-8}),
    ("adadelta", "adadelta", {"eta": 1.0, "delta": 1e-6, "rho": 0.95}),
]


@pytest.mark.parametrize(("optimizer", "rule", "options"), LINEAR)
@pytest.mark.parametrize(("task", "bias"), [("binary", True), ("multiclass", True), ("binary", False)])
def test_without_hidden_layers_it_is_the_linear_learner(
    optimizer: str, rule: str, options: dict[str, Any], task: str, bias: bool
) -> None:
    X, y = rounds(task)
    loss = "logistic" if task == "binary" else "softmax"
    linear = nr.make(rule, loss=loss, task=task, native=False, bias=bias, classes=sorted(set(y.tolist())), **options)
    eta = options.get("eta", options.get("eta0"))
    network = make("mlp", task, layers=[], optimizer=optimizer, eta=eta, outputs="zero", bias=bias)
    expected, found = linear.play(X, y), network.play(X, y)
    assert found.scores == pytest.approx(expected.scores, rel=1e-9, abs=1e-9)
    assert found.losses == pytest.approx(expected.losses, rel=1e-9, abs=1e-9)
    assert found.predictions.tolist() == expected.predictions.tolist()


def test_without_hidden_layers_targets_are_learned_as_adaline_does() -> None:
    X, y = rounds("regression")
    linear = nr.make("adaline", rho=0.05, task="regression", scale_target=False, native=False, bias=True)
    network = make("mlp", "regression", layers=[], optimizer="sgd", eta=0.05, outputs="zero")
    assert network.play(X, y).predictions == pytest.approx(linear.play(X, y).predictions, rel=1e-9, abs=1e-9)


def test_without_hidden_layers_targets_are_scaled_as_linear_learners_scale_them() -> None:
    X, y = rounds("regression")
    y = 100.0 + 7.0 * y
    h = np.random.default_rng(2).choice([0.5, 1.0, 2.0], len(y))
    linear = nr.make("ogd", loss="squared", eta0=0.05, schedule="constant", task="regression", native=False, bias=True)
    network = make("mlp", "regression", layers=[], optimizer="sgd", eta=0.1, outputs="zero", scale_target="yes")
    expected, found = linear.play(X, y, weight=h), network.play(X, y, weight=h)
    assert found.predictions == pytest.approx(expected.predictions, rel=1e-9)  # its loss is not halved
    assert found.losses == pytest.approx(expected.losses, rel=1e-9)


def test_a_class_that_changes_its_sign_takes_the_outputs_along() -> None:
    """1 alone is positive; beside 5 it is the negative class."""
    X, _ = rounds("binary")
    y = [1] * 8 + [5, 1] * 16
    linear = nr.make("ogd", loss="logistic", eta0=0.1, schedule="constant", native=False, bias=True)
    options: dict[str, Any] = {"layers": [], "native": False, "scale": False, "outputs": "zero"}
    network = nr.make("mlp", optimizer="sgd", eta=0.1, **options)
    expected, found = linear.play(X, y), network.play(X, y)
    assert found.scores == pytest.approx(expected.scores, rel=1e-9, abs=1e-9)
    assert found.predictions.tolist() == expected.predictions.tolist()


# ---- first weights ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("init", "hidden", "output"),
    [("fan_in", 40**-0.5, 80**-0.5), ("glorot", 0.05**0.5, (6 / 83) ** 0.5), ("he", 0.15**0.5, 0.075**0.5)],
)
def test_first_weights_fill_the_range_of_their_initialisation(init: str, hidden: float, output: float) -> None:
    """Uniform between -r and r: nearly all of the range is used, and its mean square is r^2 / 3."""
    X, y = rounds("multiclass", rows=1)
    learner = make("mlp", "multiclass", layers=[40, 80], init=init).learn(X, y, weight=0.0)
    first, second, last = learner.matrices()
    for matrix, limit in ((second[1:], hidden), (last[1:], output)):
        assert 0.95 * limit < np.abs(matrix).max() <= limit
        assert np.mean(matrix**2) == pytest.approx(limit**2 / 3.0, rel=0.25)
    assert all((matrix[0] == 0.0).all() == (init != "fan_in") for matrix in (first, second, last))
