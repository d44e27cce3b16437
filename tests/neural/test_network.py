"""The weights of networks: where they stand, how they are drawn, and how much memory they need."""

from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.data.blocks import DenseBlock
from noregret.neural import network
from noregret.neural.network import uniform


def make(**options: Any) -> Any:
    return nr.make("mlp", **{"layers": [3], "native": False, "scale": False, **options})


def test_a_network_asks_for_the_memory_of_its_weights_and_of_what_its_optimizer_keeps(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """3 weights of a bias and 4 of the output; then 3 more for each feature, beside the arrays before it."""
    asked = list[tuple[str, int]]()
    monkeypatch.setattr(network, "require_memory", lambda what, numbers: asked.append((what, numbers)))
    for optimizer, arrays in (("sgd", 1), ("adam", 3)):
        asked.clear()
        make(optimizer=optimizer).learn([[1.0, 2.0]], [1])
        assert asked == [("the network", 7 * arrays), ("the network", 2 * 13 * arrays)]


def test_room_for_features_at_least_doubles() -> None:
    learner, rooms = make(layers=[2], scale=True), list[tuple[int, int]]()
    for number in range(9):
        learner.learn([{f"f{number}": 1.0}], [number % 2])
        rooms.append((learner.network.features, learner.network.room))
        assert learner.network.seen.size == 3 * learner.network.room
    assert rooms == [(1, 1), (2, 2), (3, 4), (4, 4), (5, 8), (6, 8), (7, 8), (8, 8), (9, 16)]


@pytest.mark.parametrize("batch", [1, 4])
@pytest.mark.parametrize("optimizer", ["momentum", "nesterov", "adagrad", "adadelta", "adam"])
def test_a_network_may_have_no_weights_before_its_first_row(optimizer: str, batch: int) -> None:
    """Without hidden layers and without a bias; what its optimizer keeps grows with the weights nevertheless."""
    X, y = np.random.default_rng(0).normal(size=(9, 2)), [0, 1, 0] * 3
    options = {"layers": [], "bias": False, "optimizer": optimizer, "batch": batch}
    whole, grown = make(**options).learn(X, y), make(**options)
    for row, label in zip(X.tolist(), y, strict=True):
        grown.learn([{"a": row[0], "b": row[1]}], [label])
    assert all(values.size == 2 for values in whole.network.arrays.values())
    assert whole.matrices()[0].tolist() == grown.matrices()[0].tolist()


def test_the_weights_of_outputs_are_drawn_by_the_next_seed() -> None:
    """So that they are not those of units."""
    learner = make(seed=5, optimizer="sgd", eta=1e-300).learn([[1.0, 2.0]], [1])
    first, last = learner.matrices()
    np.testing.assert_allclose(first, uniform(5, 0, 0, (3, 3)) / 2**0.5, rtol=1e-15)
    np.testing.assert_allclose(last, uniform(6, 1, 0, (4, 1)) / 3**0.5, rtol=1e-15)


def test_a_row_without_features_makes_a_network_without_features() -> None:
    learner = make().learn([{}], [1])
    assert (learner.network.features, learner.network.inputs) == (0, 0)
    assert [matrix.shape for matrix in learner.matrices()] == [(1, 3), (4, 1)]


@pytest.mark.parametrize(("layers", "rows", "units", "strides"), [
    ([3, 2], (1 + 4) + (1 + 3) + (1 + 2), 5, [3, 2, 1]), ([2], (1 + 4) + (1 + 2), 2, [2, 1]), ([], 1 + 4, 1, [1]),
])  # fmt: skip
def test_the_loop_has_room_for_the_rows_and_units_of_one_round(
    layers: list[int], rows: int, units: int, strides: list[int]
) -> None:
    """And for one more in lists, where the next one is written before it is known whether it counts."""
    learner = make(layers=layers).learn([[1.0] * 4], [1])
    net = learner.network.net("binary", DenseBlock(np.ones((1, 4))), 4, True)
    assert (net.counts.size, net.firsts.size, net.strides.tolist()) == (len(strides), len(strides), strides)
    assert (net.active.size, net.amounts.size, net.moving.size) == (rows + 1, rows + 1, units + 1)
    assert (net.units.size, net.slopes.size, net.mixed.size) == (units, units, 1)
    assert net.outs.size == net.grads.size == sum(strides)


# ---- classes that come -----------------------------------------------------------------------------------------------

X = np.random.default_rng(1).normal(size=(6, 2))


def learned(labels: Any, weight: float = 1.0, **options: Any) -> Any:
    """A network with a head on every level, that of the inputs too, and what Adam and replay keep."""
    given = {"depth": 1, "units": 2, "native": False, "scale": False, "optimizer": "adam", "seed": 3, **options}
    learner: Any = nr.make("hbp", **given).learn(X, labels, weight)
    return learner.network


def remembering(labels: Any) -> Any:
    return make(optimizer="adam", replay=6).learn(X, labels).network


def parts(network: Any, name: str) -> list[tuple[Any, Any]]:
    """Of every matrix of an array, the columns of hidden units and those of outputs."""
    values = getattr(network.weights, name)[: network.layout.length(network.features)]
    return [network.layout.split(network.layout.matrix(values, level), level) for level in (0, 1)]


@pytest.mark.parametrize("outputs", ["drawn", "zero"])
@pytest.mark.parametrize("negative", [0, 1])
def test_two_classes_that_become_many_share_the_weights_by_their_signs(negative: int, outputs: str) -> None:
    """What an optimizer keeps of squares has no sign. Others begin as outputs of a new network do."""
    network = learned([0, 1] * 3, outputs=outputs)
    before = {
        name: [(one.copy(), two.copy()) for one, two in parts(network, name)] for name in ("w", "mean", "squares")
    }
    network.become_multiclass(negative, 4)
    fresh = parts(learned([0, 1, 2, 3, 0, 1], weight=0.0, classes=[0, 1, 2, 3], outputs=outputs), "w")
    assert network.layout.outputs == 4
    for name, matrices in before.items():
        for (inside, head), (old_inside, old_head), (_, new_head) in zip(
            parts(network, name), matrices, fresh, strict=True
        ):
            assert inside.tolist() == old_inside.tolist()
            half = old_head[:, 0] if name == "squares" else 0.5 * old_head[:, 0]
            assert head[:, 1 - negative].tolist() == half.tolist()
            assert head[:, negative].tolist() == (half if name == "squares" else -half).tolist()
            if name == "w":
                assert head[:, 2:].tolist() == new_head[:, 2:].tolist()
                assert (head[1:, 2:] != 0.0).all() == (outputs == "drawn")
            else:
                assert not head[:, 2:].any()


def test_a_class_that_comes_leaves_the_weights_of_others_as_they_are() -> None:
    network = learned([0, 1, 2] * 2)
    before = {
        name: [(one.copy(), two.copy()) for one, two in parts(network, name)] for name in ("w", "mean", "squares")
    }
    network.add_outputs(5)
    fresh = parts(learned([0, 1, 2] * 2, weight=0.0, classes=[0, 1, 2, 3, 4]), "w")
    for name, matrices in before.items():
        for (inside, head), (old_inside, old_head), (_, new_head) in zip(
            parts(network, name), matrices, fresh, strict=True
        ):
            assert inside.tolist() == old_inside.tolist()
            assert head[:, :3].tolist() == old_head.tolist()
            if name == "w":
                assert head[:, 3:].tolist() == new_head[:, 3:].tolist()
            else:
                assert not head[:, 3:].any()


def test_classes_that_change_their_signs_take_the_weights_of_outputs_along() -> None:
    network = learned([0, 1] * 3)
    before = {
        name: [(one.copy(), two.copy()) for one, two in parts(network, name)] for name in ("w", "mean", "squares")
    }
    network.flip()
    for name, matrices in before.items():
        for (inside, head), (old_inside, old_head) in zip(parts(network, name), matrices, strict=True):
            assert inside.tolist() == old_inside.tolist()
            assert head.tolist() == (old_head if name == "squares" else -old_head).tolist()


@pytest.mark.parametrize("negative", [0, 1])
def test_remembered_rounds_have_the_classes_that_they_had(negative: int) -> None:
    network = remembering([0, 1, 1, 0, 0, 1])
    signs = network.memory.y.copy()
    assert sorted(signs) == [-1.0] * 3 + [1.0] * 3
    network.flip()
    assert network.memory.y.tolist() == (-signs).tolist()
    network.flip()
    network.become_multiclass(negative, 3)
    assert network.memory.y.tolist() == [float(negative) if sign < 0.0 else 1.0 - negative for sign in signs]
