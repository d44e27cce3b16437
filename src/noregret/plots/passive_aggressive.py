"""The geometry of passive-aggressive steps: the smallest change of the weights that enters a set."""

import numpy as np
from numpy.typing import NDArray

from noregret.learner.factory import make
from noregret.learner.protocol import Learner
from noregret.plots.figure import COLOURS, GREY, Axes, Figure, make_figure
from noregret.plots.plane import draw_line, plane_weights

Floats = NDArray[np.float64]
REACH = 2.6
FIRST = np.array([0.8, 1.2])  # a first row, which brings the weights to where the pictures begin


def passive_aggressive_step(C: float = 0.12) -> Figure:
    """A passive round, which has margin 1 and changes nothing, and an aggressive one, with and without a limit C."""
    figure, (passive, aggressive) = make_figure(2, width=4.2, height=4.2)
    for panel, row, title in (
        (passive, np.array([1.0, 1.8]), "passive: the margin is 1 or more"),
        (aggressive, np.array([1.5, -0.9]), "aggressive: onto the border"),
    ):
        before, after = step("pa", row)
        draw_half_space(panel, row)
        if np.allclose(before, after):
            mark(panel, before, "$w_t = w_{t+1}$")
        else:
            arrow(panel, before, after, COLOURS[0])
            mark(panel, before, "$w_t$", (-18, 4))
            mark(panel, after, "PA", (8, -10))
            mark(panel, step("pa1", row, C=C)[1], f"PA-I, C = {C:g}", (7, 5))
        finish(panel, title, (-0.5, 1.7))
    return figure


def step(rule: str, row: Floats, **params: float) -> tuple[Floats, Floats]:
    """The weights before and after a round of a passive-aggressive rule with a positive label."""
    heavy = [9.0, 9.0] if params else None  # an importance weight multiplies the limit C of the rounds before
    learner = make(rule, native=False, bias=False, **params).learn([FIRST, -FIRST], [1, -1], heavy)
    before = plane_weights(learner)
    return before, plane_weights(learner.learn([row], [1]))


def passive_aggressive_sets(eps: float = 0.35, radius: float = 0.9) -> Figure:
    """The sets that a passive-aggressive step enters: a half-space, a slab and a ball.

    Classification: margin y w.x of at least 1. Regression: |w.x - y| of at most eps. One-class: a distance |w - x| of
    at most the radius.
    """
    figure, (half, slab, ball) = make_figure(3, width=3.7, height=3.9)
    row = np.array([1.4, -0.7])
    before, after = step("pa", row)
    draw_half_space(half, row)
    draw_move(half, before, after)
    finish(half, "classification: $y\\,w·x \\geq 1$")
    target = 1.2
    regression = make("pa", task="regression", eps=eps, scale_target=False, native=False, bias=False)
    start = plane_weights(regression.learn([FIRST], [1.5]))
    end = plane_weights(regression.learn([row], [target]))
    draw_slab(slab, row, target, eps)
    draw_move(slab, start, end)
    finish(slab, "regression: $|w·x - y| \\leq \\epsilon$")
    novelty = make("pa", task="one-class", radius=radius, native=False, bias=False)
    centre = np.array([1.2, 1.1])
    start = find_centre(novelty.learn([FIRST - 1.2]), radius)
    end = find_centre(novelty.learn([centre]), radius)
    draw_ball(ball, centre, radius)
    draw_move(ball, start, end)
    finish(ball, "one-class: $|w - x| \\leq$ radius")
    return figure


def find_centre(learner: Learner, radius: float) -> Floats:
    """The centre of a one-class learner, from the distances of three rows to it."""
    found = np.asarray(learner.scores(np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])))  # type: ignore[attr-defined]
    squares = (found + radius) ** 2
    return np.asarray((squares[0] - squares[1:] + 1.0) / 2.0)


# ---- drawing --------------------------------------------------------------------------------------------------------


def grid() -> tuple[Floats, Floats]:
    across, up = np.meshgrid(np.linspace(-REACH, REACH, 200), np.linspace(-REACH, REACH, 200))
    return across, up


def draw_half_space(panel: Axes, row: Floats) -> None:
    """The weights with margin 1 or more on a row, shaded."""
    across, up = grid()
    panel.contourf(across, up, row[0] * across + row[1] * up, levels=[1.0, np.inf], colors=[COLOURS[2]], alpha=0.2)
    panel.contour(across, up, row[0] * across + row[1] * up, levels=[1.0], colors=[COLOURS[2]], linewidths=1.4)
    draw_line(panel, row, REACH, color=GREY, linewidth=0.8, linestyle=":")


def draw_slab(panel: Axes, row: Floats, target: float, eps: float) -> None:
    across, up = grid()
    error = np.abs(row[0] * across + row[1] * up - target)
    panel.contourf(across, up, error, levels=[-1.0, eps], colors=[COLOURS[2]], alpha=0.2)
    panel.contour(across, up, error, levels=[eps], colors=[COLOURS[2]], linewidths=1.4)


def draw_ball(panel: Axes, centre: Floats, radius: float) -> None:
    across, up = grid()
    distance = np.hypot(across - centre[0], up - centre[1])
    panel.contourf(across, up, distance, levels=[-1.0, radius], colors=[COLOURS[2]], alpha=0.2)
    panel.contour(across, up, distance, levels=[radius], colors=[COLOURS[2]], linewidths=1.4)
    mark(panel, centre, "$x_t$")


def draw_move(panel: Axes, before: Floats, after: Floats) -> None:
    arrow(panel, before, after, COLOURS[0])
    mark(panel, before, "$w_t$")
    mark(panel, after, "$w_{t+1}$")


def arrow(panel: Axes, before: Floats, after: Floats, colour: str) -> None:
    style = {"arrowstyle": "->", "color": colour, "linewidth": 1.8, "shrinkA": 0.0, "shrinkB": 0.0}
    panel.annotate("", xy=after, xytext=before, arrowprops=style)


def mark(panel: Axes, place: Floats, text: str, shift: tuple[int, int] = (6, 4)) -> None:
    panel.plot(*place, marker="o", color="black", markersize=4)
    panel.annotate(text, place, xytext=shift, textcoords="offset points", fontsize=9)


def finish(panel: Axes, title: str, ends: tuple[float, float] = (-REACH / 2, REACH)) -> None:
    panel.set(xlim=ends, ylim=ends, xlabel="$w_1$", ylabel="$w_2$")
    panel.set_title(title, fontsize=10)
    panel.set_aspect("equal")
