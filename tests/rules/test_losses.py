"""Losses as functions of the margin: convex, their slopes the derivatives of their values."""

from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.rules.losses import LOSSES, STEEPEST

KINKS = {"hinge": [1.0], "eps_insensitive": [1.0], "absolute": [1.0], "perceptron": [0.0]}
OF_GRADIENTS = ("linear", "softmax", "crf")  # z is a gradient, not an example with a margin
MARGIN_LOSSES = [name for name in LOSSES if name not in OF_GRADIENTS]
every_loss = pytest.mark.parametrize("name", MARGIN_LOSSES)


@pytest.mark.parametrize("name", OF_GRADIENTS)
def test_a_loss_of_gradients_is_minus_the_margin_everywhere(name: str) -> None:
    assert [LOSSES[name].value(m) for m in (-2.0, 0.0, 3.0)] == [2.0, 0.0, -3.0]
    assert [LOSSES[name].slope(m) for m in (-2.0, 0.0, 3.0)] == [-1.0, -1.0, -1.0]


def test_losses_of_all_scores_are_those_of_gradients_that_tasks_compute() -> None:
    assert [name for name, loss in LOSSES.items() if loss.of_all_scores] == ["softmax", "crf"]


@every_loss
@pytest.mark.parametrize("margin", [-51.7, -50.2, -49.8, -20.0, -3.0, -0.4, 0.3, 0.99, 1.01, 2.0, 40.0])
def test_the_slope_is_the_derivative_of_the_value(name: str, margin: float) -> None:
    value, h = LOSSES[name].value, 1e-5
    numeric = (value(margin + h) - value(margin - h)) / (2.0 * h)
    assert LOSSES[name].slope(margin) == pytest.approx(numeric, rel=1e-6, abs=1e-8)


@every_loss
def test_at_a_kink_the_slope_is_one_of_a_line_that_lies_below(name: str) -> None:
    margins = np.linspace(-60.0, 10.0, 1401)
    for m in [*KINKS.get(name, []), STEEPEST, 0.0, 1.0]:
        line = LOSSES[name].value(m) + LOSSES[name].slope(m) * (margins - m)
        values = LOSSES[name].value(margins)
        assert (line <= values + 1e-12 * np.abs(values) + 1e-12).all()


@every_loss
def test_no_loss_is_negative_and_a_large_margin_costs_nothing(name: str) -> None:
    values = LOSSES[name].value(np.array([-1e9, -60.0, -1.0, 0.0, 1.0, 600.0]))
    assert (values >= 0.0).all()
    assert np.isfinite(values).all()
    assert name == "squared" or values[-1] == pytest.approx(0.0, abs=1e-200)


@every_loss
def test_slopes_are_finite_far_out(name: str) -> None:
    steep = {"squared": -1602.0, "squared_hinge": -1602.0, "exponential": -np.exp(50.0)}
    assert LOSSES[name].slope(-800.0) == pytest.approx(steep.get(name, -1.0))
    flat = {"squared": 1598.0, "linear": -1.0}
    assert LOSSES[name].slope(800.0) == pytest.approx(flat.get(name, 0.0), abs=1e-300)


def test_the_linear_loss_is_the_negative_margin() -> None:
    """The convex task hands a rule gradients, not labels: its loss is linear in the weights."""
    assert LOSSES["linear"].tasks == ("convex",)
    assert LOSSES["linear"].value(np.array([-2.0, 0.0, 5.0])).tolist() == [2.0, 0.0, -5.0]


def test_a_margin_of_zero_moves_the_perceptron_loss_though_it_costs_nothing() -> None:
    assert (LOSSES["perceptron"].value(0.0), LOSSES["perceptron"].slope(0.0)) == (0.0, -1.0)
    assert LOSSES["hinge"].slope(1.0) == LOSSES["squared_hinge"].slope(1.0) == 0.0


@pytest.mark.parametrize("task", ["binary", "multiclass"])
def test_a_step_of_one_on_the_perceptron_loss_is_the_perceptron(task: str) -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(200, 4))
    y = np.argmax(X @ rng.normal(size=(4, 3 if task == "multiclass" else 2)), axis=1)
    told: dict[str, Any] = {"native": False, **({"classes": range(3)} if task == "multiclass" else {})}
    stepping = nr.make("ogd", task=task, loss="perceptron", schedule="constant", eta0=1.0, **told).play(X, y)
    rosenblatt = nr.make("perceptron", task=task, **told).play(X, y)
    assert stepping.scores.tolist() == rosenblatt.scores.tolist()
    assert stepping.updated.tolist() == rosenblatt.updated.tolist()


def test_an_exponential_loss_that_grew_too_steep_still_leaves_finite_weights() -> None:
    learner = nr.make("ogd", loss="exponential", schedule="constant", eta0=1.0)
    transcript = learner.play(np.array([[200.0], [200.0], [200.0], [1.0]]), [1, -1, -1, 1])
    assert np.isfinite(transcript.losses).all()
    assert np.isfinite(learner.scores(np.eye(1))).all()
