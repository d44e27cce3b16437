"""The parts of backpropagation, one at a time, by numpy and by hand."""

import math
from itertools import permutations
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from noregret.algebra.partial_features import PRIME
from noregret.neural import inputs
from noregret.neural.backprop import (
    add_rows,
    clip_share,
    judge_head,
    logistic,
    mix_heads,
    read_units,
    softmax,
    weigh_heads,
)
from noregret.neural.inputs import (
    draw_below,
    is_sound,
    learn_value,
    read_given,
    read_row,
    scale_value,
    target_deviation,
)
from noregret.neural.net import (
    BIAS,
    BINARY,
    CLIPPED,
    DENSE,
    HEADS,
    LARGEST,
    LEVELS,
    NONE,
    OUTPUTS,
    RANDOM,
    REGRESSION,
    RESCALE,
    SCALES_TARGET,
    SMALLEST,
    SOFTMAX,
    SPREAD,
    TARGET_SQUARES,
    TARGETS,
    TASK,
)


@pytest.mark.parametrize("count", range(14))
def test_rows_of_a_matrix_are_added_by_their_amounts(count: int) -> None:
    """Four at a time, and those that are left one by one."""
    rng = np.random.default_rng(count)
    w, places = rng.normal(size=20 * 3), 3 * rng.permutation(20)[:count]
    amounts, out = rng.normal(size=count), np.full(3, 7.0)
    add_rows(out, w, places, amounts)
    rows: Any = w.reshape(20, 3)[places // 3]
    np.testing.assert_allclose(out, amounts @ rows, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("bias", [0, 1])
def test_units_that_are_not_zero_are_listed_with_the_places_of_their_rows(bias: int) -> None:
    """Rows of level 1 are 4 numbers long and begin at 20, that of a bias first; lists of this level begin at 3."""
    options = np.zeros(BIAS + 1, np.int64)
    options[BIAS] = bias
    units = np.array([9.0, 0.5, 0.0, -2.0, 0.0, 9.0])
    net = SimpleNamespace(
        options=options, strides=[2, 4], firsts=[0, 20], active_at=[0, 3], sizes=[1, 4], unit_at=[0, 1], units=units,
        active=np.full(12, -1), amounts=np.full(12, np.nan), counts=[7, 7],
    )  # fmt: skip
    read_units(net, 1)
    places = [20, 24, 32] if bias else [20, 28]
    assert net.counts == [7, len(places)]
    assert net.active[3 : 3 + len(places)].tolist() == places
    assert net.amounts[3 : 3 + len(places)].tolist() == [1.0, 0.5, -2.0][-len(places) :]
    assert (net.active[:3] == -1).all()


def test_probabilities_and_losses_of_scores_by_hand() -> None:
    found = np.empty(3)
    softmax(np.array([0.0, math.log(2.0), -math.log(4.0)]) + 700.0, found)
    np.testing.assert_allclose(found, np.array([4.0, 8.0, 1.0]) / 13.0, rtol=1e-12)
    for order in permutations([-900.0, 0.0, 900.0]):  # an exponential of 900 is no number
        softmax(np.array(order), found)
        assert found.tolist() == [float(f == 900.0) for f in order]
    assert [logistic(x) for x in (0.0, math.log(3.0), -math.log(3.0))] == pytest.approx([0.5, 0.75, 0.25])
    assert logistic(-800.0) == 0.0
    assert logistic(800.0) == 1.0


@pytest.mark.parametrize(("limit", "squares", "share"), [
    (0.0, 100.0, 1.0), (2.0, 4.0, 1.0), (2.0, 16.0, 0.5), (0.5, 1.0, 0.5), (0.5, 0.25, 1.0), (2.0, 3.9, 1.0),
])  # fmt: skip
def test_a_gradient_is_shortened_to_the_largest_norm(limit: float, squares: float, share: float) -> None:
    assert clip_share(limit, squares) == share


def head(task: int, scores: list[float]) -> Any:
    """A network of one matrix whose outputs are these, at place 2."""
    options = np.zeros(64, np.int64)
    options[TASK], options[OUTPUTS], options[HEADS] = task, len(scores), 1
    outs = np.array([9.0, 9.0, *scores, 9.0])
    mixed = np.full(len(scores), np.nan)
    return SimpleNamespace(
        options=options, out_at=[2], sizes=[1], outs=outs, grads=np.full(len(outs), 9.0), mixed=mixed
    )


@pytest.mark.parametrize(("task", "scores", "y", "loss", "slopes"), [
    (REGRESSION, [3.0], 1.0, 2.0, [2.0]), (REGRESSION, [1.0], 4.0, 4.5, [-3.0]),
    (BINARY, [0.0], 1.0, math.log(2.0), [-0.5]), (BINARY, [math.log(3.0)], 1.0, math.log(4.0 / 3.0), [-0.25]),
    (BINARY, [math.log(3.0)], -1.0, math.log(4.0), [0.75]), (BINARY, [-800.0], 1.0, 800.0, [-1.0]),
    (BINARY, [800.0], 1.0, 0.0, [0.0]),
    (SOFTMAX, [0.0, math.log(2.0), 0.0], 1.0, math.log(2.0), [0.25, -0.5, 0.25]),
    (SOFTMAX, [0.0, math.log(2.0), 0.0], 2.0, math.log(4.0), [0.25, 0.5, -0.75]),
    (SOFTMAX, [0.0, 900.0], 0.0, -math.log(SMALLEST), [-1.0, 1.0]),
])  # fmt: skip
def test_losses_of_outputs_and_their_slopes_by_hand(
    task: int, scores: list[float], y: float, loss: float, slopes: list[float]
) -> None:
    for weight in (1.0, 0.5):
        net = head(task, scores)
        assert judge_head(net, 0, y, weight) == pytest.approx(loss, rel=1e-12)
        assert net.grads[2:-1] == pytest.approx(weight * np.array(slopes), rel=1e-12)
        assert net.grads[[0, 1, -1]].tolist() == [9.0] * 3
        mix_heads(net, None)
        assert net.mixed.tolist() == scores


def test_a_class_that_no_head_thinks_possible_has_the_smallest_probability() -> None:
    options = np.zeros(64, np.int64)
    options[[TASK, LEVELS, OUTPUTS, HEADS]] = SOFTMAX, 1, 2, 2
    net = SimpleNamespace(options=options, heads=[1, 1], out_at=[0, 3], sizes=[0, 1], mixed=np.full(2, np.nan),
                          outs=np.array([7.0, 0.0, 900.0, 0.0, 900.0]), grads=np.zeros(5))  # fmt: skip
    mix_heads(net, SimpleNamespace(weights=[0.5, 0.5]))
    assert net.mixed.tolist() == [math.log(SMALLEST), 0.0]


# ---- weights of heads ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("rescale", "losses", "floor", "expected"), [
    (NONE, [9.0, 1.0, 2.0], 0.0, [0.0, 2.0 / 3.0, 1.0 / 3.0]), (CLIPPED, [9.0, 0.5, 9.0], 0.0, [0.0, 2**0.5, 1.0]),
    (SPREAD, [9.0, 3.0, 5.0], 0.0, [0.0, 2.0, 1.0]), (SPREAD, [9.0, 3.0, 3.0], 0.4, [0.0, 0.5, 0.5]),
    (NONE, [9.0, 1.0, 8.0], 0.25, [0.0, 0.25, 0.25]), (NONE, [0.0, math.inf, math.inf], 0.0, [0.0, 0.5, 0.5]),
])  # fmt: skip
def test_heads_keep_the_share_of_their_weight_that_their_loss_leaves(
    rescale: int, losses: list[float], floor: float, expected: list[float]
) -> None:
    """A half of it for each unit of loss; there is no head at the first level."""
    options = np.zeros(64, np.int64)
    options[[RESCALE, HEADS]] = rescale, 2
    hedge = SimpleNamespace(weights=np.array([0.0, 0.5, 0.5]), losses=np.array(losses), numbers=[0.5, floor])
    weigh_heads(SimpleNamespace(options=options, heads=[0, 1, 1]), hedge)
    np.testing.assert_allclose(hedge.weights, np.array(expected) / sum(expected), rtol=1e-12)


def test_where_all_losses_are_equal_no_head_loses_weight() -> None:
    """Not even beside a smallest share."""
    options = np.zeros(64, np.int64)
    options[[RESCALE, HEADS]] = SPREAD, 2
    hedge = SimpleNamespace(weights=np.array([0.7, 0.3]), losses=np.array([2.0, 2.0]), numbers=[0.5, 0.2])
    weigh_heads(SimpleNamespace(options=options, heads=[1, 1]), hedge)
    np.testing.assert_allclose(hedge.weights, [0.7, 0.3], rtol=1e-12)


# ---- values ----------------------------------------------------------------------------------------------------------


def test_numbers_are_sound_up_to_the_largest() -> None:
    assert is_sound(np.array([LARGEST, -LARGEST, 0.0]))
    for wrong in (np.nextafter(LARGEST, np.inf), -2.0 * LARGEST, np.inf, np.nan):
        assert not is_sound(np.array([0.0, wrong]))


@pytest.mark.parametrize(("x", "past", "rounds", "scaled"), [
    (5.0, [], 0.0, 0.0), (5.0, [2.0], 1.0, 0.0), (2.1, [1.9, 2.1], 2.0, 1.0), (1.8, [1.9, 2.1], 2.0, -2.0),
    (1e3, [1.0, 2.0], 2.0, 3.0), (-1e3, [1.0, 2.0], 2.0, -3.0),  # all rounds had it
    (0.0, [], 5.0, 0.0), (0.0, [0.0], 5.0, 0.0), (0.5, [], 5.0, 1.0), (-0.3, [0.3], 5.0, -1.0),
    (0.4, [0.3, 0.5], 5.0, 0.4 / math.sqrt(0.5 / 3.0)), (1.0, [0.0] * 99, 500.0, 3.0),  # some did
])  # fmt: skip
def test_values_are_in_units_of_the_earlier_values_of_their_feature(
    x: float, past: list[float], rounds: float, scaled: float
) -> None:
    seen = np.zeros(3)
    for value in past:
        learn_value(value, seen)
    mean = sum(past) / max(len(past), 1)
    assert seen.tolist() == pytest.approx([len(past), mean, sum((value - mean) ** 2 for value in past)], abs=1e-12)
    assert scale_value(x, seen, rounds) == pytest.approx(scaled, rel=1e-9)


def reading(bias: int, dense: int = 0) -> Any:
    """A network whose first matrix has rows of 4 numbers, from place 20 on."""
    options = np.zeros(64, np.int64)
    options[[BIAS, DENSE]] = bias, dense
    return SimpleNamespace(options=options, strides=[4], firsts=[20], active=np.full(9, -1), amounts=np.full(9, np.nan),
                           counts=[7])  # fmt: skip


@pytest.mark.parametrize("bias", [0, 1])
def test_values_that_are_not_zero_are_listed_with_the_places_of_their_rows(bias: int) -> None:
    net = reading(bias)
    read_row(net, np.array([0, 1, 2, 4]), np.array([0.5, 0.0, 1.0, -2.0]), np.zeros(0), 9.0, True)
    places = [20, 24, 32, 40] if bias else [20, 28, 36]
    assert net.counts == [len(places)]
    assert net.active[: len(places)].tolist() == places
    assert net.amounts[: len(places)].tolist() == [1.0, 0.5, 1.0, -2.0][-len(places) :]


@pytest.mark.parametrize("dense", [0, 1])
def test_rows_of_a_call_are_read_one_after_the_other(dense: int) -> None:
    idx = np.array([0, 1, 2]) if dense else np.array([5, 6, 7, 0, 1, 2])
    rows = SimpleNamespace(indptr=[0, 3, 6], idx=idx, val=np.array([9.0, 9.0, 9.0, 0.5, 1.5, 2.5]), seen=np.zeros(0))
    net = reading(0, dense)
    assert read_given(net, rows, 1, np.zeros(16), True)
    assert net.active[:3].tolist() == [20, 24, 28]
    assert net.amounts[:3].tolist() == [0.5, 1.5, 2.5]
    rows.val[4] = 2.0 * LARGEST
    assert not read_given(net, rows, 1, np.zeros(16), True)


@pytest.mark.parametrize(("random", "limit", "drawn"), [
    (1.0, 9.0, 0), (PRIME - 1.0, 9.0, 8), (PRIME - 1.0, 2.0, 1), ((PRIME - 1.0) / 2.0, 2.0, 0),
    (1.0 + (PRIME - 1.0) / 2.0, 2.0, 1), (1.0 + (PRIME - 1.0) / 2.0, 7.0, 3), (PRIME - 1.0, 1.0, 0),
])  # fmt: skip
def test_numbers_are_drawn_with_equal_probabilities(
    random: float, limit: float, drawn: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inputs, "next_random", lambda last: random)
    n = np.zeros(16)
    assert draw_below(n, limit) == drawn
    assert n[RANDOM] == random


@pytest.mark.parametrize(("task", "scales", "targets", "deviation"), [
    (REGRESSION, 1, 0.5, 3.0), (REGRESSION, 1, 0.0, 0.0), (REGRESSION, 0, 0.5, 1.0), (BINARY, 1, 0.5, 1.0),
])  # fmt: skip
def test_targets_have_a_deviation_where_they_are_scaled(
    task: int, scales: int, targets: float, deviation: float
) -> None:
    options, n = np.zeros(64, np.int64), np.zeros(16)
    options[[TASK, SCALES_TARGET]] = task, scales
    n[TARGETS], n[TARGET_SQUARES] = targets, 9.0 * targets
    assert target_deviation(SimpleNamespace(options=options), n) == deviation
