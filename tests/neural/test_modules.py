"""Torch modules learn as a plain loop over rounds teaches them, as numeric gradients say, and as `mlp` does."""

import copy
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch

import noregret as nr
from noregret.torch import Online
from tests.naive.torch_loop import numeric_gradient, train_online
from tests.support import refusal
from tests.support.cover import seeds

torch.set_num_threads(1)
nn, optim, F = torch.nn, torch.optim, torch.nn.functional
ROWS, INPUTS = 40, 5


def rounds(task: str, seed: int = 0) -> tuple[np.ndarray, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(ROWS, INPUTS))
    if task == "regression":
        return X, X[:, 0] * X[:, 1] + 0.1 * rng.normal(size=ROWS)
    return X, rng.integers(0, 3, ROWS) if task == "multiclass" else rng.choice([-1, 1], ROWS)


def net(outputs: int, *extra: Any, seed: int = 3) -> Any:
    torch.manual_seed(seed)
    parts = [nn.Linear(INPUTS, 6), *copy.deepcopy(extra), nn.Tanh(), nn.Linear(6, outputs)]
    return nn.Sequential(*parts)


def parameters(module: Any) -> list[Any]:
    return [one.detach().numpy().copy() for one in module.parameters()]


def same_parameters(one: Any, other: Any) -> bool:
    return all((a == b).all() for a, b in zip(parameters(one), parameters(other), strict=True))


# ---- the plain loop --------------------------------------------------------------------------------------------------

CLASSES = {"task": "multiclass", "classes": [0, 1, 2]}
SIGNS = {"task": "binary", "classes": [-1, 1]}
LOOPS: dict[str, tuple[Any, Any, Any, dict[str, Any]]] = {
    "adam": (partial(net, 3), F.cross_entropy, optim.Adam, CLASSES),
    "dropout": (partial(net, 3, nn.Dropout(0.4)), nn.CrossEntropyLoss(), partial(optim.SGD, lr=0.3), CLASSES),
    "mini-batches": (partial(net, 3, nn.BatchNorm1d(6)), nn.CrossEntropyLoss(), optim.RMSprop, {**CLASSES, "batch": 7}),
    "clipped": (partial(net, 3), nn.CrossEntropyLoss(label_smoothing=0.1), optim.Adagrad, {**CLASSES, "clip": 0.2}),
    "one output": (partial(net, 1), nn.BCEWithLogitsLoss(), partial(optim.SGD, lr=0.1, momentum=0.5), SIGNS),
    "signs": (partial(net, 1), nn.SoftMarginLoss(), optim.AdamW, SIGNS),
    "targets": (partial(net, 1), nn.HuberLoss(), optim.NAdam, {"task": "regression"}),
}


def as_targets(name: str, y: Any) -> Any:
    if name in ("one output", "signs", "targets"):
        numbers = {"one output": y > 0, "signs": y, "targets": y}[name]
        return torch.tensor(numbers, dtype=torch.float32).reshape(-1, 1)
    return torch.tensor(y)


@pytest.mark.parametrize("name", LOOPS)
def test_a_module_learns_bit_for_bit_as_in_a_plain_loop(name: str) -> None:
    make, loss, optimizer, options = LOOPS[name]
    X, y = rounds(options["task"])
    learner = Online(make(), loss, optimizer, **options)
    transcript = learner.play(X, y)

    plain = make()
    torch.manual_seed(0)  # the seed of learners where none is given
    x, targets = torch.tensor(X, dtype=torch.float32), as_targets(name, y)
    settings = {key: options[key] for key in ("batch", "clip") if key in options}
    predictions = torch.stack(train_online(plain, loss, optimizer(plain.parameters()), x, targets, **settings))

    assert (transcript.scores == predictions.double().numpy().reshape(transcript.scores.shape)).all()
    assert same_parameters(learner.module, plain)
    expected = [float(loss(p[None], q[None])) for p, q in zip(predictions, targets, strict=True)]
    assert transcript.losses.tolist() == pytest.approx(expected, abs=1e-7)


@seeds(5)
def test_a_step_goes_down_the_numeric_gradient_of_the_loss(seed: int) -> None:
    X, y = rounds("multiclass", seed)
    module = net(3, seed=seed).double()
    learner = Online(module, "cross_entropy", "sgd", eta=1.0, **CLASSES)
    for t in range(3):
        x, target = torch.tensor(X[t : t + 1]), torch.tensor(y[t : t + 1])
        gradient = numeric_gradient(module, lambda x=x, target=target: F.cross_entropy(module(x), target))  # type: ignore[misc]
        before = parameters(module)
        learner.learn_one(X[t], y[t], weight=0.5)
        for old, new, slope in zip(before, parameters(module), gradient, strict=True):
            assert old - new == pytest.approx(0.5 * slope.numpy(), abs=1e-8)


# ---- the networks of the library -------------------------------------------------------------------------------------

SAME: dict[str, dict[str, Any]] = {
    "sgd": {"optimizer": "sgd", "eta": 0.1},
    "momentum": {"optimizer": "momentum", "eta": 0.05, "momentum": 0.7},
    "nesterov": {"optimizer": "nesterov"},
    "adagrad": {"optimizer": "adagrad"},
    "adam": {"optimizer": "adam", "eta": 0.03},
    "replay": {"optimizer": "sgd", "eta": 0.1, "replay": 6, "replays": 2, "seed": 3},
    "mini-batches of replays": {"optimizer": "adagrad", "replay": 3, "replays": 2, "batch": 5},
    "anchor": {"optimizer": "sgd", "eta": 0.1, "anchor": 5.0},
}


@pytest.mark.parametrize("name", SAME)
@pytest.mark.parametrize("task", ["binary", "regression"])
def test_one_linear_layer_is_mlp_without_hidden_layers(task: str, name: str) -> None:
    given = dict(SAME[name])
    X, y = rounds(task)
    h = np.random.default_rng(1).choice([0.0, 0.5, 1.0, 2.0], ROWS)
    options = {"scale_target": "yes", "task": "regression"} if task == "regression" else SIGNS
    mlp: Any = nr.make("mlp", layers=[], outputs="zero", scale=False, native=False, **given, **options)
    layer = nn.Linear(INPUTS, 1).double()
    nn.init.zeros_(layer.weight)
    nn.init.zeros_(layer.bias)
    half = (lambda output, target: 0.5 * F.mse_loss(output, target)) if task == "regression" else "log"
    learner = Online(layer, half, **given, **options)
    for rows in (slice(0, 25), slice(25, ROWS)):
        expected, found = mlp.play(X[rows], y[rows], h[rows]), learner.play(X[rows], y[rows], h[rows])
        assert found.scores == pytest.approx(expected.scores, rel=1e-9, abs=1e-9)
        assert (found.updated == expected.updated).all()
        if name == "anchor":
            mlp.consolidate()
            learner.consolidate()
    weights = np.concatenate([layer.bias.detach().numpy()[:, None], layer.weight.detach().numpy()], axis=1)
    assert pytest.approx(mlp.matrices()[0], rel=1e-9, abs=1e-9) == weights.T
    assert learner.mistakes == mlp.mistakes


def test_two_outputs_play_two_classes_and_a_third_class_needs_a_third_output() -> None:
    X, y = rounds("multiclass")
    order = list(dict.fromkeys(y.tolist()))
    third = int(np.argmax(y == order[2]))
    learner = Online(net(3), "log", "sgd")
    learner.learn(X[:third], y[:third])
    assert learner.task == "binary"
    outputs = learner.module(torch.tensor(X, dtype=torch.float32)).detach().numpy()
    assert learner.predict(X).tolist() == [order[int(one[1] >= one[0])] for one in outputs]
    learner.learn(X[third:], y[third:])
    assert learner.task == "multiclass"
    assert learner.classes == order
    outputs = learner.module(torch.tensor(X, dtype=torch.float32)).detach().numpy()
    assert learner.predict(X).tolist() == [order[int(one.argmax())] for one in outputs]
    assert learner.predict_proba(X).sum(axis=1) == pytest.approx(1.0)


# ---- modes and random numbers ----------------------------------------------------------------------------------------


def test_dropout_is_on_in_learning_and_off_in_predicting() -> None:
    seen: list[bool] = []

    class Spy(torch.nn.Module):  # type: ignore[misc]
        def forward(self, x: Any) -> Any:
            seen.append(self.training)
            return x

    X, y = rounds("multiclass")
    learner = Online(net(3, Spy()), "log", "sgd")
    seen.clear()
    learner.learn(X[:2], y[:2])
    assert seen == [False, True, False, True]
    learner.predict(X[:1])
    assert seen[4:] == [False]
    assert learner.module.training


def test_parts_in_evaluation_mode_stay_frozen() -> None:
    X, y = rounds("multiclass")
    module = net(3, nn.BatchNorm1d(6))
    module[1].eval()
    learner = Online(module, "log", "sgd", **CLASSES).learn(X, y)
    assert int(learner.module[1].num_batches_tracked) == 0
    assert not module[1].training
    assert module[0].training


def test_random_numbers_of_torch_go_on_as_if_nothing_was_learned() -> None:
    X, y = rounds("multiclass")
    make = partial(net, 3, nn.Dropout(0.5))
    learners = [Online(make(), "log", "sgd", seed=seed, **CLASSES) for seed in (1, 1, 2)]
    before = torch.get_rng_state()
    for learner in learners:
        learner.learn(X, y)
        learner.predict(X[:2])
        torch.rand(0)
        assert torch.equal(torch.get_rng_state(), before)
    torch.rand(5)  # what others draw makes no difference
    learners[0].learn(X, y)
    learners[1].learn(X, y)
    assert same_parameters(learners[0].module, learners[1].module)
    assert not same_parameters(learners[0].module, learners[2].module)


def test_learning_works_where_gradients_are_off() -> None:
    X, y = rounds("multiclass")
    learner, other = Online(net(3), "log", "sgd"), Online(net(3), "log", "sgd")
    with torch.no_grad():
        learner.learn(X, y)
    with torch.inference_mode():
        other.learn(X, y)
    assert same_parameters(learner.module, other.module)
    assert not same_parameters(learner.module, net(3))


# ---- modules of other kinds ------------------------------------------------------------------------------------------


def test_rows_take_the_shape_of_a_module_and_whole_numbers_reach_an_embedding() -> None:
    rng = np.random.default_rng(0)
    torch.manual_seed(0)
    images, labels = rng.normal(size=(30, 16)), rng.integers(0, 2, 30)
    conv = nn.Sequential(nn.Conv2d(1, 2, 3), nn.Flatten(), nn.Linear(8, 2))
    learner = Online(conv, "log", shape=(1, 4, 4)).learn(images, labels)
    assert learner.predict(images[:3]).shape == (3,)
    words, truth = rng.integers(0, 9, (60, 4)), np.arange(60) % 2
    words[:, 0] = 7 * truth
    bag = nn.Sequential(nn.Embedding(9, 5), nn.Flatten(), nn.Linear(20, 2))
    reader = Online(bag, "log", "sgd", eta=0.5, shape=4, integers=True)
    assert reader.play(words, truth).mistakes[-20:].sum() <= 2
    assert "whole numbers" in refusal(lambda: reader.learn_one([0.5, 1, 1, 1], 0))


def test_a_module_races_beside_the_learners_of_the_library() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, INPUTS))
    y = np.where(X[:, 0] * X[:, 1] > 0.0, "same", "other")  # no line separates these
    deep = Online(nn.Sequential(nn.Linear(INPUTS, 32), nn.ReLU(), nn.Linear(32, 2)), "log", "adam", eta=0.01)
    entries = nr.race((X, y), [deep, nr.make("mlp", native=False, layers=[8]), "arow"], seed=0)
    mistakes = {entry.name.partition("(")[0]: entry.mistakes for entry in entries}
    assert set(mistakes) == {"torch_module", "mlp", "arow"}
    assert mistakes["torch_module"] < 0.85 * mistakes["arow"]


def test_a_pipeline_scales_rows_before_the_module() -> None:
    X, y = rounds("multiclass")
    piped = (nr.scale() | Online(net(3), "log", "sgd")).learn(1e4 * X, y)
    asked = Online(net(3), "log", "sgd", scale=True).learn(1e4 * X, y)
    assert same_parameters(piped.module, asked.module)


def test_epochs_go_back_to_the_best_one_in_the_module_of_the_caller() -> None:
    X, y = rounds("multiclass")
    module = net(3)
    learner = Online(module, "log", "sgd", eta=0.5, **CLASSES)
    history = nr.epochs(learner, X[:30], y[:30], passes=8, validation=(X[30:], y[30:]), patience=2)
    assert learner.module is module
    twin = Online(net(3), "log", "sgd", eta=0.5, **CLASSES)
    assert history.best is not None
    nr.epochs(twin, X[:30], y[:30], passes=history.best + 1)
    assert same_parameters(module, twin.module)


def test_a_copy_is_independent_of_the_module_it_was_made_of() -> None:
    X, y = rounds("multiclass")
    learner = Online(net(3), "log", "adam", **CLASSES).learn(X[:20], y[:20])
    copied, kept = learner.copy(), copy.deepcopy(learner.module)
    copied.learn(X[20:], y[20:])
    assert same_parameters(learner.module, kept)
    learner.learn(X[20:], y[20:])
    assert same_parameters(learner.module, copied.module)
