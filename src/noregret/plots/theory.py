"""Pictures of the theory: confidence ellipses, truncation, mistakes against the margin, Winnow's total weight."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.data.blocks import as_block
from noregret.errors import BadValue
from noregret.learner.confidence import row_variances
from noregret.learner.factory import make
from noregret.learner.rule_learner import RuleLearner
from noregret.plots.figure import COLOURS, GREY, Axes, Figure, make_figure
from noregret.plots.plane import plane_weights

Floats = NDArray[np.float64]

# ---- confidence -----------------------------------------------------------------------------------------------------


def confidence_ellipse(learner: str = "cw") -> Figure:
    """The Gaussian over weights before and after a round: it moves, and shrinks along the row that was seen.

    Ellipses hold 68 % and 95 % of the probability; the dashed line is where the score of the row is zero.
    """
    player: Any = make(learner, covariance="full", native=False, bias=False)
    player.learn([[1.0, 0.3], [-0.4, -1.0]], [1, -1])
    row = np.array([1.0, -0.9])
    figure, (panel,) = make_figure(width=4.6, height=4.2)
    for colour, name in ((GREY, "before"), (COLOURS[0], "after")):
        mean, covariance = plane_weights(player), plane_covariance(player)
        for share, width in ((0.68, 1.8), (0.95, 0.9)):
            draw_ellipse(panel, mean, covariance, share, color=colour, linewidth=width,
                         label=name if share == 0.68 else None)  # fmt: skip
        panel.plot(*mean, marker="o", color=colour, markersize=5)
        player.learn([row], [1])
    low, high = -1.3, 3.0
    panel.plot([low, high], [-row[0] / row[1] * low, -row[0] / row[1] * high], color="black", linestyle="--",
               linewidth=0.9, label="score 0 of the row")  # fmt: skip
    panel.set(xlim=(low, high), ylim=(-1.6, 2.9), xlabel="$w_1$", ylabel="$w_2$")
    panel.set_title(f"{learner}: weights before and after a row with label +1", fontsize=10)
    panel.set_aspect("equal")
    panel.legend(frameon=False, fontsize=8)
    return figure


def plane_covariance(learner: RuleLearner) -> Floats:
    """The covariance of two weights, from the variances of three rows."""
    if not learner.config.card.keeps_covariance:
        raise BadValue(f"{learner.card.name} keeps no covariance; use cw, arow, scw1 ...")
    first, second, both = row_variances(learner.model, as_block(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])))[:, 0]
    mixed = (both - first - second) / 2.0
    return np.array([[first, mixed], [mixed, second]])


def draw_ellipse(panel: Axes, mean: Floats, covariance: Floats, share: float, **style: Any) -> None:
    """The ellipse that holds a share of the probability of a Gaussian in the plane."""
    values, vectors = np.linalg.eigh(covariance)
    turn = np.linspace(0.0, 2.0 * math.pi, 200)
    circle = np.vstack([np.cos(turn), np.sin(turn)]) * math.sqrt(-2.0 * math.log(1.0 - share))
    border = mean[:, None] + vectors @ (np.sqrt(np.maximum(values, 0.0))[:, None] * circle)
    panel.plot(*border, **style)


# ---- truncation -----------------------------------------------------------------------------------------------------


def round_weights(v: Floats, theta: float) -> Floats:
    """T0(v, theta): weights of at most theta become zero."""
    return np.where(np.abs(v) <= theta, 0.0, v)


def truncate_weights(v: Floats, alpha: float, theta: float) -> Floats:
    """T1(v, alpha, theta): weights of at most theta move toward zero by alpha."""
    return np.where(np.abs(v) <= theta, np.sign(v) * np.maximum(np.abs(v) - alpha, 0.0), v)


def truncation(alpha: float = 0.4, theta: float = 1.0) -> Figure:
    """Rounding (T0) beside truncation (T1): T0 cuts weights off at once, T1 lets them shrink by alpha in a step."""
    v = np.linspace(-2.0, 2.0, 801)
    figure, panels = make_figure(2, width=3.7, height=3.7)
    for panel, values, title in (
        (panels[0], round_weights(v, theta), f"T0, θ = {theta:g} (rounding)"),
        (panels[1], truncate_weights(v, alpha, theta), f"T1, α = {alpha:g}, θ = {theta:g} (truncated gradient)"),
    ):
        panel.plot(v, v, color=GREY, linewidth=0.9, linestyle="--")
        jumps = np.flatnonzero(np.abs(np.diff(values)) > 0.05)
        panel.plot(np.insert(v, jumps + 1, np.nan), np.insert(values, jumps + 1, np.nan), color=COLOURS[0])
        panel.set(xlabel="weight before", ylabel="weight after")
        panel.set_title(title, fontsize=10)
        panel.set_aspect("equal")
    return figure


# ---- mistake bounds -------------------------------------------------------------------------------------------------


class MarginRow(NamedTuple):
    """The most mistakes of some streams with a margin, and their bound."""

    margin: float
    mistakes: int
    bound: float


def measure_margins(
    margins: Sequence[float] = (0.5, 0.35, 0.25, 0.18, 0.12, 0.09, 0.06),
    rounds: int = 4000,
    streams: int = 3,
    native: bool = True,
) -> list[MarginRow]:
    """Mistakes of the perceptron on random unit rows whose distance to a plane is exactly the margin."""
    found = []
    for margin in margins:
        worst = 0
        for seed in range(streams):
            rng = np.random.default_rng(seed)
            signs = rng.choice([-1.0, 1.0], rounds)
            rest = rng.normal(size=(rounds, 60))
            rest *= math.sqrt(1.0 - margin**2) / np.linalg.norm(rest, axis=1, keepdims=True)
            rows = np.column_stack([margin * signs, rest])
            worst = max(worst, make("perceptron", native=native, bias=False).learn(rows, signs).mistakes)
        found.append(MarginRow(margin, worst, 1.0 / margin**2))
    return found


def mistakes_against_margin(rows: Sequence[MarginRow] | None = None) -> Figure:
    """Mistakes of the perceptron as the margin of the data shrinks, below Novikoff's bound (R / margin)^2."""
    rows = measure_margins() if rows is None else rows
    figure, (panel,) = make_figure(width=4.8)
    margins = [row.margin for row in rows]
    panel.plot(margins, [row.bound for row in rows], color=GREY, linestyle="--", label="bound $(R / γ)^2$")
    panel.plot(margins, [row.mistakes for row in rows], color=COLOURS[0], marker="o", label="perceptron")
    panel.set(xscale="log", yscale="log", xlabel="margin γ of unit rows", ylabel="mistakes")
    panel.set_xticks(margins, [f"{margin:g}" for margin in margins])
    panel.minorticks_off()
    panel.invert_xaxis()
    panel.legend(frameon=False)
    return figure


class WinnowRow(NamedTuple):
    """The totals of Winnow after a round."""

    total: float
    promotions: int
    demotions: int


def trace_winnow(features: int = 60, relevant: int = 4, rounds: int = 600, seed: int = 1) -> list[WinnowRow]:
    """Play Winnow (alpha 2, threshold n) on a disjunction, and record the sum of its weights after each round."""
    rng = np.random.default_rng(seed)
    rows = (rng.random((rounds, features)) < 0.25).astype(float)
    rows[:, :relevant] = rng.random((rounds, relevant)) < 0.12
    rows[0, -1] = 1.0  # so that all features are known from the first round on
    labels = np.where(rows[:, :relevant].any(axis=1), 1, -1)
    learner: Any = make("winnow", alpha=2.0, theta=float(features), native=False, bias=False)
    found, promotions, demotions = [], 0, 0
    total = float(features)
    for row, label in zip(rows, labels, strict=True):
        if learner.play(row[None, :], [label]).updated[0]:
            promotions, demotions = promotions + (label > 0), demotions + (label < 0)
            weights = learner.weights
            total = float(sum(weights.values())) + features - len(weights)
        found.append(WinnowRow(total, int(promotions), int(demotions)))
    return found


def winnow_total_weight(features: int = 60, relevant: int = 4, rounds: int = 600) -> Figure:
    """The sum of Winnow's weights, which stays positive below what its mistakes allow: the core of its mistake bound.

    A promotion adds at most the threshold n, a demotion takes at least n / 2 away; so demotions are at most
    2 + 2 promotions, and promotions at most k ceil(log2 n).
    """
    rows = trace_winnow(features, relevant, rounds)
    figure, (left, right) = make_figure(2)
    played = np.arange(1, len(rows) + 1)
    allowed = [features + features * row.promotions - 0.5 * features * row.demotions for row in rows]
    left.plot(played, [row.total for row in rows], color=COLOURS[0], label="sum of the weights")
    left.plot(played, allowed, color=GREY, linestyle="--", label="n + n promotions - n/2 demotions")
    left.set(xlabel="rounds", ylabel="weight", ylim=(0.0, None))
    left.legend(frameon=False, fontsize=8)
    most = relevant * math.ceil(math.log2(features))
    right.plot(played, [row.promotions for row in rows], color=COLOURS[2], label="promotions")
    right.plot(played, [row.demotions for row in rows], color=COLOURS[1], label="demotions")
    right.axhline(most, color=COLOURS[2], linestyle="--", linewidth=1.0, label="most promotions")
    right.axhline(2.0 + 2.0 * most, color=COLOURS[1], linestyle="--", linewidth=1.0, label="most demotions")
    right.set(xlabel="rounds", ylabel="mistakes", ylim=(0.0, 2.9 * most))
    right.legend(frameon=False, fontsize=8)
    return figure
