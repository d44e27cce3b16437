"""Bad input of networks: a short error that names what is wrong, and nothing changes."""

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import noregret as nr
from noregret.learner.model_file import pack, unpack
from tests.conformance.protocol import state
from tests.support import refusal, small_stream

X, Y = small_stream(rows=20)


def mlp(**options: Any) -> Any:
    return nr.make("mlp", **{"layers": [4], "native": False, **options})


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"layers": [0]}, "layers"), ({"layers": [3.5]}, "layers"), ({"layers": "3-x"}, "layers"),
        ({"layers": [True]}, "layers"), ({"layers": 10**9}, "layers"), ({"activation": "cube"}, "activation"),
        ({"optimizer": "adamw"}, "optimizer"), ({"eta": -1.0}, "eta"), ({"eta": float("nan")}, "eta"),
        ({"batch": 0}, "batch"), ({"batch": 2.5}, "batch"), ({"momentum": 1.0}, "momentum"), ({"clip": -1}, "clip"),
        ({"replay": 0.5}, "replay"), ({"anchor": -1}, "anchor"), ({"scale": 2}, "scale"), ({"bias": "no"}, "bias"),
        ({"task": "ranking"}, "ranking"), ({"units": 3}, "units"), ({"seed": -1}, "seed"),
    ],
)  # fmt: skip
def test_options_that_make_no_sense_are_named(options: dict[str, Any], named: str) -> None:
    assert named in refusal(lambda: mlp(**options))


def test_hbp_names_options_that_make_no_sense() -> None:
    for options in ({"depth": 1.5}, {"units": 0}, {"beta": 0.0}, {"smoothing": 1.0}):
        assert next(iter(options)) in refusal(lambda given=options: nr.make("hbp", **given))  # type: ignore[misc]
    assert "regression" in refusal(lambda: nr.make("hbp", task="regression"))


def test_layers_can_be_written_in_several_ways() -> None:
    for written in ([8, 4], (8, 4), np.array([8, 4]), "8-4"):
        assert mlp(layers=written).params["layers"] == "8-4"
    assert mlp(layers=8).params["layers"] == "8"
    assert mlp(layers=[]).params["layers"] == "none"


def test_the_widest_and_the_deepest_network_that_is_allowed() -> None:
    for layers in ([1 << 16], [1] * 1000):
        assert mlp(layers=layers).params["layers"] == "-".join(map(str, layers))
    for layers in ([(1 << 16) + 1], [1] * 1001):
        assert "layers must be" in refusal(lambda layers=layers: mlp(layers=layers))  # type: ignore[misc]


def test_rows_of_another_width_are_refused() -> None:
    learner = mlp().learn(X, Y)
    before = state(learner)
    assert "mlp has learned rows with 4" in refusal(lambda: learner.learn(X[:, :3], Y))
    assert "mlp has learned rows with 4" in refusal(lambda: learner.predict(X[:, :3]))
    assert state(learner) == before


@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
def test_a_round_that_overflows_is_named_and_nothing_is_learned(optimizer: str) -> None:
    learner = mlp(optimizer=optimizer, scale=False).learn(X, Y)
    before, rows = state(learner), X.copy()
    rows[7, 2] = 1e200
    assert "round 28 (row 7 of this call)" in refusal(lambda: learner.learn(rows, Y))
    assert state(learner) == before
    sparse = mlp(optimizer=optimizer, scale=False).learn(csr_array(X), Y)
    before = state(sparse)
    assert "row 7" in refusal(lambda: sparse.learn(csr_array(rows), Y))
    assert state(sparse) == before
    assert "row 7" in refusal(lambda: learner.predict(rows))


@pytest.mark.parametrize("more", [
    {"batch": 3}, {"batch": 8}, {"replay": 9}, {"replay": 9, "batch": 2, "replays": 3}, {"scale": True},
])  # fmt: skip
@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
def test_weights_of_features_that_a_refused_call_did_not_name_are_as_before(optimizer: str, more: Any) -> None:
    """A step of a mini-batch moves the weights of its earlier rounds, and a replay those of rounds of earlier calls."""
    learner = mlp(optimizer=optimizer, **{"scale": False, **more})
    learner.learn([{f"f{number}": 1.0 + number} for number in range(7)], [0, 1] * 3 + [0])
    before = state(learner)
    assert "row 2" in refusal(lambda: learner.learn([{"f0": 1.0}, {"f0": 2.0}, {"f0": 1e200}], [0, 1, 0]))
    assert state(learner) == before


@pytest.mark.parametrize("more", [{}, {"batch": 3}, {"replay": 9}])
def test_features_and_classes_of_a_refused_call_are_forgotten(more: Any) -> None:
    learner = mlp(**more).learn([{"a": 1.0}, {"b": 2.0}], [0, 1])
    before = state(learner)
    assert "row 2" in refusal(lambda: learner.learn([{"c": 1.0, "d": 2.0}, {"e": 1.0}, {"a": 1e200}], [0, 2, 1]))
    assert state(learner) == before
    network = learner.network
    assert (network.features, network.layout.outputs) == (2, 1)


@pytest.mark.parametrize("native", [False, True])
def test_a_network_that_refused_to_predict_can_be_saved_and_loaded(native: bool) -> None:
    learner, rows = mlp(scale=False, native=native).learn(X, Y), X.copy()
    before = state(learner)
    rows[7, 2] = 1e200
    assert "row 7" in refusal(lambda: learner.predict(rows))
    assert state(learner) == before
    assert unpack(pack(learner), "m.nr").predict(X).tolist() == learner.predict(X).tolist()


def test_a_network_that_diverges_is_stopped() -> None:
    """The loss grows without end: at some round it is refused, and that round is named."""
    learner = mlp(optimizer="sgd", eta=1e5, task="regression", scale_target="no", scale=False)
    assert "smaller eta" in refusal(lambda: learner.learn(100.0 * X, X[:, 0]))
    assert learner.rounds == 0
    assert learner.predict_one(X[0]) is None


def test_targets_that_are_too_large_are_refused() -> None:
    learner = mlp(task="regression").learn(X, X[:, 0])
    before, targets = state(learner), X[:, 0].copy()
    targets[3] = 1e300
    assert "row 3" in refusal(lambda: learner.learn(X, targets))
    assert state(learner) == before


def test_a_first_target_that_is_too_large_is_refused() -> None:
    """Nothing is learned from the first target but the mean and deviation of targets, which it would spoil."""
    for target in (1e61, -1e300):
        learner = mlp(task="regression")
        assert "row 0" in refusal(lambda learner=learner, y=target: learner.learn(X[:1], [y]))  # type: ignore[misc]
        assert learner.rounds == 0
    assert mlp(task="regression").learn(X[:1], [1e60]).rounds == 1


def test_sums_that_are_too_large_are_refused_also_where_nothing_is_learned() -> None:
    """Every value is below the limit, but some sum of them is not."""
    learner = mlp(layers=[50, 50], activation="linear", init="he", scale=False).learn(X, Y, weight=0.0)
    assert "row 1" in refusal(lambda: learner.predict([[1.0] * 4, [9e59] * 4]))
    assert "row 0" in refusal(lambda: learner.play([[9e59] * 4], [1], weight=0.0))


def test_a_gradient_that_is_too_large_is_refused_in_its_own_round() -> None:
    learner = mlp(task="regression", scale_target="no").learn(X, X[:, 0])
    before = state(learner)
    assert "round 21 (row 0" in refusal(lambda: learner.learn(X[:1], [1e59], weight=1e3))
    assert state(learner) == before


def test_a_network_that_does_not_fit_in_memory_is_refused() -> None:
    assert "memory" in refusal(lambda: mlp(layers=[1000], bits=24).learn([{"a": 1.0}], [1]))


def test_the_same_seed_gives_the_same_bits_and_another_does_not() -> None:
    one, same, other = (mlp(seed=seed, replay=5).learn(X, Y) for seed in (1, 1, 2))
    assert state(one) == state(same)
    assert all((first != second).all() for first, second in zip(one.matrices(), other.matrices(), strict=True))


def test_weights_of_features_do_not_depend_on_when_they_appear() -> None:
    """The first row sets the size of the first weights; after that each feature has its own."""
    rows = [{"a": 1.0, "b": 1.0}, {"c": 1.0}, {"d": 1.0}]
    late, early = mlp(), mlp()
    late.learn(rows[:1], [0], weight=0.0).learn(rows, [0] * 3, weight=0.0)
    early.learn(rows, [0] * 3, weight=0.0)
    assert late.matrices()[0].tolist() == early.matrices()[0].tolist()


def test_transforms_come_before_the_network() -> None:
    piped: Any = nr.clip(0.5) | mlp(scale=False)
    expected = mlp(scale=False).play(np.clip(X, -0.5, 0.5), Y)
    assert piped.play(X, Y).scores.tolist() == expected.scores.tolist()
    assert "learned already" in refusal(lambda: nr.clip(0.5) | piped)


def test_importance_weights_scale_the_gradient() -> None:
    twice = mlp(optimizer="sgd", eta=0.01, scale=False).learn(X, Y, weight=2.0)
    larger = mlp(optimizer="sgd", eta=0.02, scale=False).learn(X, Y)
    for one, other in zip(twice.matrices(), larger.matrices(), strict=True):
        assert one == pytest.approx(other)


def test_features_are_scaled_by_earlier_rounds_only() -> None:
    """A feature of every round: deviations from the mean so far. One of some rounds: over its root mean square."""
    rows = [{"a": 10.0}, {"a": 14.0, "b": 5.0}, {"a": 18.0}, {"a": 11.0, "b": 10.0}]
    learner = mlp(layers=[], optimizer="sgd", eta=0.0001, outputs="drawn").learn(rows, [0, 1, 0, 1])
    bias, a, b = learner.matrices()[0][:, 0]
    past = np.array([10.0, 14.0, 18.0, 11.0])
    scaled = (12.0 - past.mean()) / past.std(), 10.0 / np.sqrt((25.0 + 100.0 + 100.0) / 3)
    assert learner.scores([{"a": 12.0, "b": 10.0}])[0] == pytest.approx(bias + a * scaled[0] + b * scaled[1])
    assert learner.scores([{"a": 1e6}])[0] == pytest.approx(bias + 3.0 * a)  # at most three deviations


def test_rounds_without_weight_are_no_steps_of_the_optimizer() -> None:
    """Adam counts its steps; scaled features would count their values, so they are taken as they are."""
    one, many = (mlp(optimizer="adam", scale=False).learn(X[:size], Y[:size], weight=0.0) for size in (1, 15))
    assert (one.updates, many.updates) == (0, 0)
    for learner in (one, many):
        assert learner.learn(X[15:], Y[15:]).updates == 5
    assert [matrix.tolist() for matrix in one.matrices()] == [matrix.tolist() for matrix in many.matrices()]
