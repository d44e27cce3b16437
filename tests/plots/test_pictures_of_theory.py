"""The pictures of the theory show what the learners do: their numbers come from learners, and the bounds hold."""

import numpy as np
import pytest

import noregret as nr
from noregret import plots
from noregret.plots.passive_aggressive import FIRST, find_centre, step
from noregret.plots.plane import follow, plane_weights
from noregret.plots.theory import measure_margins, plane_covariance, round_weights, trace_winnow, truncate_weights
from tests.support.cover import only_in_test_all


def test_mistakes_grow_as_the_margin_shrinks_and_stay_below_the_bound() -> None:
    rows = measure_margins((0.5, 0.25, 0.12), rounds=400, streams=1, native=False)
    assert [row.mistakes for row in rows] == sorted(row.mistakes for row in rows)
    assert all(row.mistakes <= row.bound for row in rows)
    assert len(plots.mistakes_against_margin(rows).axes) == 1


def test_winnows_total_weight_keeps_to_the_account_of_its_bound() -> None:
    features, relevant = 20, 2
    rows = trace_winnow(features, relevant, rounds=150)
    assert rows[-1].promotions > 2
    assert rows[-1].demotions > 0
    for row in rows:
        assert 0.0 < row.total <= features * (1.0 + row.promotions - 0.5 * row.demotions) + 1e-9
    assert rows[-1].promotions <= relevant * np.ceil(np.log2(features))


def test_the_truncation_that_is_drawn_is_the_one_that_learners_make() -> None:
    v = np.array([-2.0, -0.9, -0.3, 0.0, 0.3, 0.9, 2.0])
    assert truncate_weights(v, 0.4, 1.0).tolist() == pytest.approx([-2.0, -0.5, 0.0, 0.0, 0.0, 0.5, 2.0])
    assert round_weights(v, 0.5).tolist() == [-2.0, -0.9, 0.0, 0.0, 0.0, 0.9, 2.0]
    common = {"native": False, "bias": False, "eta0": 1.0, "schedule": "constant", "loss": "perceptron"}
    for gravity, theta in ((0.4, 1.0), (0.4, 0.0)):
        learner = nr.make("truncated_gradient", gravity=gravity, theta=theta, **common)
        before = nr.make("truncated_gradient", gravity=0.0, theta=theta, **common)
        row = np.array([[0.9, 0.3]])
        found, free = (one.learn(row, [1]).scores(np.eye(2)) for one in (learner, before))
        assert found.tolist() == pytest.approx(truncate_weights(free, gravity, theta or np.inf).tolist())


def test_an_aggressive_step_ends_on_the_border_and_a_limited_one_before_it() -> None:
    row = np.array([1.5, -0.9])
    before, after = step("pa", row)
    limited_before, limited = step("pa1", row, C=0.12)
    assert before @ FIRST == pytest.approx(1.0)
    assert limited_before.tolist() == pytest.approx(before.tolist())
    assert after @ row == pytest.approx(1.0)
    assert (limited - before).tolist() == pytest.approx((0.12 * row).tolist())
    passive = step("pa", np.array([1.0, 1.8]))
    assert passive[0].tolist() == passive[1].tolist()


def test_the_centre_of_a_ball_is_found_from_distances() -> None:
    learner = nr.make("pa", task="one-class", radius=0.5, native=False, bias=False)
    learner.learn([[1.0, 2.0]])
    centre = find_centre(learner, 0.5)
    assert np.hypot(*(centre - [1.0, 2.0])) == pytest.approx(0.5)
    centre = find_centre(learner.learn([[9.0, -3.0]]), 0.5)
    assert np.hypot(*(centre - [9.0, -3.0])) == pytest.approx(0.5)


def test_the_updates_that_are_drawn_are_those_of_the_perceptron() -> None:
    X, y = np.array([[1.0, 2.0], [2.0, 1.0], [-2.0, 1.0]]), [1, 1, -1]
    path, changed, learner = follow(X, y, "perceptron")
    assert changed[0] == 0
    assert path[-1].tolist() == plane_weights(learner).tolist()
    assert path[0].tolist() == [1.0, 2.0]
    with pytest.raises(nr.BadValue, match="no update"):
        follow(np.zeros((2, 2)), [1, -1], "perceptron")


def test_the_ellipse_is_the_covariance_of_the_learner() -> None:
    learner = nr.make("arow", r=0.7, covariance="full", native=False, bias=False)
    learner.learn([[1.0, 0.0]], [1])
    expected = np.linalg.inv(np.eye(2) + np.array([[1.0, 0.0], [0.0, 0.0]]) / 0.7)
    assert plane_covariance(learner) == pytest.approx(expected)
    with pytest.raises(nr.BadValue, match="keeps no covariance"):
        plane_covariance(nr.make("pa1", native=False).learn([[1.0, 0.0]], [1]))


def test_unknown_losses_are_refused() -> None:
    with pytest.raises(nr.BadValue, match="there is no loss 'zero'"):
        plots.losses(["hinge", "zero"])


CHEAP = ("losses", "passive_aggressive_step", "passive_aggressive_sets", "truncation", "updates", "confidence_ellipse")


@pytest.mark.parametrize("name", [
    *CHEAP[:2], *(pytest.param(name, marks=only_in_test_all) for name in (*CHEAP[2:], "winnow_total_weight")),
])  # fmt: skip
def test_every_picture_can_be_drawn(name: str) -> None:
    figure = getattr(plots, name)()
    assert figure.axes
    assert all(axes.get_xlabel() for axes in figure.axes)
    assert figure._repr_png_().startswith(b"\x89PNG")
