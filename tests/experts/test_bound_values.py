"""Bounds of expert algorithms are the numbers their theorems say, and the quantities they need are counted."""

import math
from typing import Any

import numpy as np
import pytest

from noregret.experts.card import list_algorithms
from noregret.experts.expert_weights import ExpertWeights

CARDS = list_algorithms()
HAND: list[tuple[str, dict[str, Any], int, dict[str, float], float]] = [
    ("hedge", {}, 0, {"experts": math.e**2, "runs": 3, "last_rate": 0.5, "summed_rates": 16}, 12 + 2),
    ("hedge", {"eta": math.log(2)}, 1, {"experts": 8, "runs": 1, "best_expert_loss": 4}, (7 * math.log(2)) / 0.5 - 4),
    ("hedge", {"eta": math.log(2)}, 1, {"experts": 8, "runs": 2, "best_expert_loss": 4}, (10 * math.log(2)) / 0.5 - 4),
    ("weighted_majority", {"beta": 0.5}, 0, {"experts": 4, "runs": 1, "best_expert_loss": 3}, 5 / math.log2(4 / 3)),
    ("weighted_majority", {"beta": 0.0}, 0, {"experts": 4, "runs": 1, "best_expert_loss": 0}, 2),
    ("weighted_majority", {"beta": 0.0}, 0, {"experts": 4, "runs": 1, "best_expert_loss": 1}, math.inf),
    ("weighted_majority", {"beta": 0.5}, 0, {"experts": 4, "runs": 2, "best_expert_loss": 3}, 7 / math.log2(4 / 3)),
    (
        "weighted_majority_randomised", {"beta": 0.25}, 0, {"experts": 4, "runs": 1, "best_expert_loss": 3},
        8 * math.log(2) / 0.75,
    ),
    (
        "fixed_share", {"eta": 0.5, "alpha": 0.25}, 0, {"experts": 4, "rounds": 16, "switches": 2},
        (math.log(4) + 2 * math.log(12) + 13 * math.log(4 / 3)) / 0.5 + 1,
    ),
    (
        "fixed_share", {"eta": 0.5, "alpha": 0.5}, 0, {"experts": 2, "rounds": 8, "switches": 1},
        (math.log(2) + math.log(2) + 6 * math.log(2)) / 0.5 + 0.5,
    ),
    ("fixed_share", {"eta": 0.5}, 0, {"experts": 1, "rounds": 16, "switches": 2}, 1),
    ("fixed_share", {"eta": 0.5}, 0, {"experts": 4, "rounds": 0, "switches": 0}, 0),
    ("fixed_share", {"eta": 0.5}, 0, {"experts": 4, "rounds": 1, "switches": 0}, math.log(4) / 0.5 + 0.0625),
    (
        "fixed_share", {"eta": 0.5, "alpha": 0.25}, 0, {"experts": 4, "rounds": 2, "switches": 5},
        (math.log(4) + 5 * math.log(12)) / 0.5 + 0.125,
    ),
    ("adahedge", {}, 0, {"experts": math.e**4, "loss_variance": 9}, 12 + 16 / 3 + 2),
    ("adahedge", {}, 1, {"experts": math.e**4, "last_rate": 2, "mixability_gap": 5}, 7),
    (
        "squint", {}, 0, {"experts": 1, "rounds": math.exp(math.e**2 - 0.5) - 1, "excess_squares": 8},
        4 * (1 + 2) + 10,
    ),
    (
        "squint", {}, 0, {"experts": math.e, "rounds": math.exp(math.e - 0.5) - 1, "excess_squares": 2},
        2 * (1 + 2) + 10,
    ),
    ("squint", {}, 0, {"experts": 1, "rounds": 0, "excess_squares": 8}, 4),
    ("follow_the_perturbed_leader", {}, 0, {"experts": math.e**3, "last_rate": 0.5, "summed_rates": 7}, 15),
    (
        "follow_the_perturbed_leader", {"eta": math.log(2)}, 1, {"experts": math.e**3, "best_expert_loss": 5},
        5 + 8 / math.log(2),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("name", "params", "place", "quantities", "value"), HAND)
def test_a_bound_is_the_number_worked_out_by_hand(
    name: str, params: dict[str, Any], place: int, quantities: dict[str, float], value: float
) -> None:
    card = CARDS[name]
    found = card.guarantees[place].evaluate(card.in_force(params)[0], quantities)
    assert found == pytest.approx(value, rel=1e-12)


def test_every_theorem_is_worked_out() -> None:
    worked = {(name, place) for name, _, place, _, _ in HAND}
    own = {name for name in CARDS if name != "exp3_experts"}  # whose theorems are those of the rule exp3
    assert worked == {(name, place) for name in own for place in range(len(CARDS[name].guarantees))}


@pytest.mark.parametrize("name", ["hedge", "follow_the_perturbed_leader"])
def test_theorems_about_a_fixed_rate_need_one(name: str) -> None:
    card = CARDS[name]
    assert len(card.guarantees_for({"eta": 0.0})) == 1
    assert len(card.guarantees_for({"eta": 0.5})) == 2
    assert len(card.guarantees_for({"eta": 100.0})) == 2
    assert len(card.guarantees_for({"eta": 100.5})) == (1 if name == "follow_the_perturbed_leader" else 2)


@pytest.mark.parametrize(("name", "factor"), [("hedge", 8.0), ("follow_the_perturbed_leader", 1.0)])
def test_rates_are_summed(name: str, factor: float) -> None:
    fixed, falling = (ExpertWeights(name, 3, native=False, eta=eta) for eta in (0.25, "anytime"))
    for w in (fixed, falling):
        w.play(np.full((10, 3), 0.5))
    assert fixed.quantities()["last_rate"] == 0.25
    assert fixed.quantities()["summed_rates"] == 2.5
    rates = [math.sqrt(factor * math.log(3) / t) for t in range(1, 11)]
    assert falling.quantities()["last_rate"] == pytest.approx(rates[-1])
    assert falling.quantities()["summed_rates"] == pytest.approx(sum(rates))


@pytest.mark.parametrize("name", ["hedge", "adahedge"])
def test_rates_never_rise_when_experts_arrive(name: str) -> None:
    w = ExpertWeights(name, 2, native=False)
    w.play([[0.0, 1.0], [1.0, 0.0], [1.0, 0.0]])
    before = w.quantities()["last_rate"]
    w.add(1000)
    w.play(np.full((1, 1002), 0.5))
    assert w.quantities()["last_rate"] == before


def test_variance_and_gap_of_adahedge_are_those_of_its_weights() -> None:
    losses = np.random.default_rng(0).random((50, 3))
    w = ExpertWeights("adahedge", 3, native=False)
    played = w.play(losses)
    own = (played * losses).sum(axis=1)
    assert w.quantities()["loss_variance"] == pytest.approx(float((played * (losses - own[:, None]) ** 2).sum()))
    gap, summed = 0.0, np.zeros(3)
    for q, row in zip(played, losses, strict=True):
        eta = math.log(3) / gap if gap else math.inf
        mix = -math.log(q @ np.exp(-eta * row)) / eta if gap else (summed + row).min() - summed.min()
        gap += q @ row - mix
        summed += row
    assert w.quantities()["mixability_gap"] == pytest.approx(gap)
    assert w.quantities()["last_rate"] == pytest.approx(math.log(3) / gap, rel=0.1)


def test_the_least_of_several_bounds_is_told() -> None:
    w = ExpertWeights("hedge", 2, native=False, eta=3.0)
    w.play([[0.0, 1.0]] * 40)  # without loss of the best expert, the bound by its loss is the smaller one
    bound = w.bound()
    assert bound is not None
    assert bound.value == pytest.approx(math.log(2) / (1 - math.exp(-3.0)))
    assert bound.comparator == "the best expert"
    w.play([[1.0, 1.0]] * 40, [[True, False]] * 40)
    bound = w.bound()
    assert bound is not None
    assert bound.comparator == "the best expert over the rounds in which it was awake"
    assert bound.value == pytest.approx(math.log(2) / 3.0 + 80 * 3.0 / 8.0)
