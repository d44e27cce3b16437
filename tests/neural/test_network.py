"""The weights of networks: where they stand, how they are drawn, and how much memory they need."""

from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

import noregret as nr
from noregret.data.blocks import DenseBlock, SparseBlock
from noregret.neural import network
from noregret.neural.net import ANCHORED, FAULT, GATHERED, STEPS
from noregret.neural.network import Layout, rows_of, uniform
from noregret.neural.optimizers import find_optimizer


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


def test_numbers_that_are_drawn_are_above_minus_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network, "mix", lambda bits: np.zeros_like(bits))
    assert uniform(0, 0, 0, (1, 2)).tolist() == [[2.0**-53 - 1.0] * 2]


def test_an_optimizer_has_an_anchor_where_it_is_asked_for() -> None:
    find = find_optimizer.__wrapped__  # not what was found before
    assert [find(name).name for name in ("sgd", "adam")] == ["sgd", "adam"]
    assert find("adam", True).keeps == ("mean", "squares", "seen", "importance", "anchor")


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


def test_a_first_matrix_without_outputs_or_units_is_empty() -> None:
    assert Layout((), (True,), 1, 0).matrix(np.zeros(0), 0).shape == (0, 0)


def test_predicting_makes_no_room_in_the_memory() -> None:
    learner = make(replay=3, bits=4).learn([{"a": 1.0}], [1])
    before = learner.network.memory
    learner.predict([{str(number): 1.0 for number in range(99)}])
    assert learner.network.memory is before


@pytest.mark.parametrize("native", [False, True])
def test_rounds_are_played_by_the_compiled_loop_or_in_plain_python(
    native: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    learner = make(native=native)
    bound, plain = Mock(), Mock()
    monkeypatch.setattr(network.Network, "bind", bound)
    monkeypatch.setattr(network, "run_interpreted", plain)
    learner.learn([[1.0]], [1])
    assert (bound.return_value.run.call_count, plain.call_count) == ((1, 0) if native else (0, 1))


def test_dense_rows_are_read_one_after_the_other_with_the_numbers_of_all_columns() -> None:
    rows, longest = rows_of(DenseBlock(np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])), np.zeros(0))
    assert (rows.indptr.tolist(), rows.idx.tolist(), longest) == ([0, 3, 6], [0, 1, 2], 3)
    assert rows.val.tolist() == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]


def test_the_longest_of_sparse_rows_counts() -> None:
    block = SparseBlock(np.array([0, 1, 4, 4]), np.array([3, 0, 1, 2], np.int32), np.ones(4), 4)
    rows, longest = rows_of(block, np.zeros(0))
    assert (rows.indptr.tolist(), rows.idx.tolist(), longest) == ([0, 1, 4, 4], [3, 0, 1, 2], 3)
    assert rows_of(SparseBlock(np.zeros(1, np.int64), block.idx[:0], block.val[:0], 4), np.zeros(0))[1] == 0


# ---- loops that are bound --------------------------------------------------------------------------------------------

DENSE_ROW = DenseBlock(np.ones((1, 4)))
SPARSE_ROW = SparseBlock(np.array([0, 1]), np.zeros(1, np.int32), np.ones(1), 4)
USUAL: tuple[str, Any, int, bool] = ("binary", DENSE_ROW, 4, True)


def bound(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A network whose loop was bound, without a compiler, for rows of four values."""
    monkeypatch.setattr(network, "BoundLoop", lambda optimizer, values: SimpleNamespace(values=values))
    net = make().learn([[1.0] * 4], [1]).network
    net.bind(*USUAL)
    return net


@pytest.mark.parametrize("longest", [0, 3, 4])
def test_a_loop_stays_bound_where_nothing_has_changed_place(longest: int, monkeypatch: pytest.MonkeyPatch) -> None:
    net = bound(monkeypatch)
    loop = net.bound[2]
    assert net.bind("binary", DENSE_ROW, longest, True) is loop
    longer = net.bind("binary", DENSE_ROW, 5, True)
    assert longer is not loop
    assert net.bind(*USUAL) is longer


@pytest.mark.parametrize("given", [
    ("multiclass", DENSE_ROW, 4, True), ("binary", SPARSE_ROW, 4, True), ("binary", DENSE_ROW, 5, True),
    ("binary", DENSE_ROW, 4, False),
])  # fmt: skip
def test_another_task_kind_of_rows_or_use_has_a_loop_of_its_own(given: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    net = bound(monkeypatch)
    loop = net.bound[2]
    assert net.bind(*given) is not loop


@pytest.mark.parametrize("name", ["shares", "counters", "weights"])
def test_a_loop_is_bound_again_where_arrays_were_replaced(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    net = bound(monkeypatch)
    loop, values = net.bound[2], getattr(net, name)
    setattr(net, name, values._replace() if name == "weights" else values.copy())
    assert net.bind(*USUAL) is not loop


def test_a_copy_has_a_memory_and_a_loop_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    net = bound(monkeypatch)
    assert (net.copy().bound, net.bound is None) == (None, False)
    remembers = make(replay=3).learn([[1.0], [2.0]], [1, 0])
    copied = remembers.copy()
    remembers.learn([[5.0], [6.0]], [1, 0])
    assert copied.network.memory.val.reshape(3, -1)[:, 0].tolist() == [1.0, 2.0, 0.0]


# ---- mini-batches and anchors ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("batch", "gathered", "rounds", "ends"), [
    (4, 1, 2, False), (4, 1, 3, True), (4, 1, 9, True), (2, 0, 1, False), (2, 0, 2, True), (1, 0, 9, False),
])  # fmt: skip
def test_a_mini_batch_ends_where_its_last_round_is_reached(batch: int, gathered: int, rounds: int, ends: bool) -> None:
    net = make(batch=batch).learn([[1.0]] * gathered or [[1.0]], [1] * max(gathered, 1)).network
    net.counters[GATHERED] = gathered
    assert net.ends_batch(rounds) is ends


def test_the_importance_of_weights_is_their_mean_squared_gradient_between_anchors() -> None:
    rows, labels = np.random.default_rng(2).normal(size=(5, 2)), [0, 1, 0, 1, 1]
    net = make(anchor=1.0, optimizer="sgd").learn(rows[:3], labels[:3])
    expected = np.zeros_like(net.network.weights.w)
    for rounds, more in ((3, slice(3, 4)), (1, slice(4, 5)), (1, None)):
        expected += net.network.weights.seen / rounds
        net.consolidate()
        found = net.network
        np.testing.assert_allclose(found.weights.importance, expected, rtol=1e-12)
        assert found.counters[ANCHORED] == found.counters[STEPS]
        assert found.weights.anchor.tolist() == found.weights.w.tolist()
        assert not found.weights.seen.any()
        if more is not None:
            net.learn(rows[more], labels[more])
    net.consolidate()  # with no round in between
    assert net.network.weights.importance.tolist() == found.weights.importance.tolist()


def test_a_call_leaves_no_fault_behind() -> None:
    assert make().learn([[1.0]], [1]).network.counters[FAULT] == 0.0


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
