"""The parts of backpropagation, one at a time, by numpy and by hand."""

import math
from itertools import permutations
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from noregret.neural.backprop import add_rows, clip_share, judge_head, logistic, mix_heads, read_units, softmax
from noregret.neural.net import BIAS, BINARY, HEADS, OUTPUTS, REGRESSION, SMALLEST, SOFTMAX, TASK


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
