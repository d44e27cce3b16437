"""Expert algorithms where rounding, ties and overflow decide: sums that are shifted, series, gaps, shares, files."""

import math
from decimal import Decimal, localcontext
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from noregret.experts.adahedge import adahedge_rate
from noregret.experts.expert_weights import ExpertWeights
from noregret.experts.squint import scaled_erfc
from noregret.experts.weights import mix_loss

PI = Decimal("3.14159265358979323846264338327950288419716939937511")


def make(name: str, experts: int, **params: Any) -> ExpertWeights:
    return ExpertWeights(name, experts, native=False, **params)


# ---- weights --------------------------------------------------------------------------------------------------------


def test_the_mix_loss_at_a_large_rate_is_the_least_loss_of_those_with_weight() -> None:
    """The third expert has the least loss and sleeps; no exponential may overflow, and no sum be zero."""
    q, losses = np.array([0.5, 0.5, 0.0]), np.array([0.25, 1.0, 0.0])
    assert mix_loss(q, losses, 4000.0) == pytest.approx(0.25 + math.log(2.0) / 4000.0, rel=1e-12)
    assert mix_loss(q[[1, 0, 2]], losses[[1, 0, 2]], 4000.0) == mix_loss(q, losses, 4000.0)


@pytest.mark.parametrize("name", ["hedge", "adahedge"])
def test_an_expert_that_arrives_early_starts_with_the_mean_weight(name: str) -> None:
    """After two rounds all summed losses are less than 1 apart."""
    w = make(name, 3)
    w.play([[0.1, 0.3, 0.6], [0.2, 0.4, 0.5]])
    w.add(1)
    assert w.current()[3] == pytest.approx(1 / 4, rel=1e-9)
    assert w.current()[0] > 0.3


# ---- fixed share ----------------------------------------------------------------------------------------------------


def test_an_expert_that_joins_a_single_one_shares_with_it() -> None:
    w = make("fixed_share", 1)
    w.add(1)
    assert w.current().tolist() == [0.5, 0.5]


def test_a_single_expert_keeps_all_shares_also_in_a_file() -> None:
    w = make("fixed_share", 1)
    w.play([[0.3], [0.9]])
    assert w.state.share.tolist() == [1.0]
    assert ExpertWeights.restore(*w.dump(), native=False).current().tolist() == [1.0]


# ---- AdaHedge -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("gap", "rate"), [(0.0, math.inf), (1.0, math.log(3)), (2.0, math.log(3) / 2), (0.25, 3.0)])
def test_the_rate_of_adahedge_is_infinite_only_without_a_gap(gap: float, rate: float) -> None:
    last = 3.0 if gap == 0.25 else math.inf  # rates never rise
    state = SimpleNamespace(losses=np.zeros(3), n=SimpleNamespace(gap=gap, eta=last))
    assert adahedge_rate(None, state) == pytest.approx(rate, rel=1e-15)


@pytest.mark.parametrize("experts", [1, 3])
def test_the_mixability_gap_never_falls(experts: int) -> None:
    """Where all experts lose the same it stays, but for rounding of sums that could go either way."""
    w, last = make("adahedge", experts), 0.0
    w.play(np.stack([np.full(experts, 0.5), np.linspace(0.0, 1.0, experts)]))
    for loss in np.random.default_rng(0).random(60):
        w.play([[loss] * experts])
        now = float(w.state.n.gap)
        assert last <= now
        last = now


# ---- Squint ---------------------------------------------------------------------------------------------------------


def exact_erfc(x: float) -> Decimal:
    """exp(x^2) erfc(x) by Laplace's continued fraction, in many digits."""
    fraction = Decimal(0)
    for k in range(100, 0, -1):
        fraction = Decimal(k) / 2 / (Decimal(x) + fraction)
    return 1 / (PI.sqrt() * (Decimal(x) + fraction))


def test_the_series_of_the_scaled_error_function_is_exact_to_the_last_digit() -> None:
    with localcontext() as context:
        context.prec = 40
        for x in (*np.linspace(25.0, 26.0, 300), 30.0, 100.0):
            assert abs(Decimal(scaled_erfc(float(x))) / exact_erfc(float(x)) - 1) < Decimal("4e-16")


def test_regrets_of_a_file_do_not_overflow_the_weights_of_squint() -> None:
    """Played rounds never lead there; the evidence of the first expert is exp(900), of the last about 1/4000."""
    w = make("squint", 3)
    w.play(np.full((4000, 3), 0.5))
    header, arrays = w.dump()
    regrets, squares = np.array([3600.0, 3600.0, -3600.0]), np.array([3600.0, 3600.0, 3600.0])
    again = ExpertWeights.restore(header, {**arrays, "regrets": regrets, "squares": squares}, native=False)
    assert again.current().tolist() == pytest.approx([0.5, 0.5, 0.0])


@pytest.mark.parametrize(
    ("regrets", "squares"),
    [([0.001, 0.0], [0.0, 0.0]), ([4.000001, 0.0], [4.0, 0.0]), ([-4.000001, 0.0], [4.0, 0.0])],
)
def test_regrets_of_a_file_may_be_rounded(regrets: list[float], squares: list[float]) -> None:
    w = make("squint", 2)
    w.play(np.full((4, 2), 0.5))
    header, arrays = w.dump()
    rounded = {**arrays, "regrets": np.array(regrets), "squares": np.array(squares)}
    assert ExpertWeights.restore(header, rounded).rounds == 4


# ---- leaders --------------------------------------------------------------------------------------------------------


def test_with_an_endless_rate_the_perturbed_leader_is_the_first_of_the_leaders() -> None:
    """Random numbers of mean 1e-300 decide only while all losses are 0."""
    losses = np.random.default_rng(0).integers(1, 4, (40, 3)) / 4.0  # exact sums, with many ties
    perturbed = make("follow_the_perturbed_leader", 3, eta=1e300).play(losses)
    np.testing.assert_array_equal(perturbed[1:], make("follow_the_leader", 3).play(losses)[1:])
