"""Every bound is the number its theorem says: held against values worked out by hand."""

import math

import pytest

import noregret as nr
from noregret.learners import exponentiated, gradient, multiplicative
from tests.conformance.plays import EVERY as CARDS

Told = dict[str, float]
NOVIKOFF: list[tuple[Told, float]] = [({"radius": 6, "margin": 2}, 9)]
ONE_RATE: list[tuple[Told, float]] = [({"size": 3, "eta0": 0.25, "squared_gradients": 8}, 18 + 1)]
LENGTHS: list[tuple[Told, float]] = [({"radius": 3, "size": 2}, 36)]
ENHANCED: Told = {"size": 2, "sum_of_sizes": 3, "largest_gradient": 3, "rounds": 16, "gamma": 0.5, "rho": 0.25}
BY_HAND: dict[str, list[tuple[Told, float]]] = {
    "adagrad": [({"reach": 3, "roots": 5, "eta": 0.25}, (18 + 0.25) * 5)],
    "adaline": [({"radius": 3, "size": 2, "comparator_squares": 5}, 10 + 72)],
    "adaline_batch": [
        ({"smallest": 2, "largest": 4, "rho": 0.1, "steps": 3}, 0.8**6),
        ({"smallest": 3, "largest": 6, "rho": 0.5, "steps": 3}, 64),
        ({"smallest": 6, "largest": 3, "rho": 0.5, "steps": 3}, 64),
    ],
    "adaline_normalised": [({"size": 3, "rho": 0.5, "comparator_squares": 6}, 4 / 3 * (18 + 8))],
    "alma": [({"margin": 0.5, "p": 4, "alpha": 0.8}, 24 * 2.25 + 6)],
    "arow": [({"spread": 9, "log_det": 3, "near_misses": 1, "comparator_loss": 5}, 6 + 5 - 1)],
    "mira": [({"start": 3, "margin": 0.5}, 12)],
    "pa_all": [({"radius": 3, "size": 0.5}, 4.5)],
    "perceptron_ultraconservative": [({"radius": 3, "margin": 0.5}, 72)],
    "banditron": [
        ({"comparator_loss": 9, "size": 3, "classes": 8, "rounds": 100, "gamma": 0.25}, 9 + 25 + 3 * 576 + 72),
        ({"comparator_loss": 0, "size": 1, "classes": 2, "rounds": 2e6, "gamma": 0.25}, 5e5 + 3 * 1000),
    ],
    "cw": [({"phi": 1.5, "deviation": 2}, 3)],
    "cw_variance": [({"phi": 1.5, "variance": 2}, 3)],
    "eg": [({"divergence": 3, "eta": 0.25, "squared_gradients": 8}, 12 + 1)],
    "eg_signed": [({"features": 4, "U": 3, "eta": 0.25, "squared_gradients": 8}, 4 * math.log(8) + 9)],
    "exp3": [({"actions": math.e**3, "rounds": 100, "eta": 0.5, "gamma": 0.25}, 6 + 25 * math.e**3 + 25)],
    "fobos": ONE_RATE,
    "fobos_group": ONE_RATE,
    "fobos_infinity": ONE_RATE,
    "fobos_l2": ONE_RATE,
    "fobos_l2_squared": ONE_RATE,
    "ftrl": [
        (
            {"size": 2, "absolute": 3, "reach": 4, "roots": 5, "alpha": 0.25, "beta": 3, "l1": 7, "l2": 11},
            21 + 46 + 161.25,
        )
    ],
    "gradient_batch": ONE_RATE,
    "group_lasso": [(ENHANCED, 76 + 1.5)],
    "iellip": [({}, 1)],
    "mirror_descent": [({"divergence": 3, "eta": 0.25, "squared_gradients": 8, "convexity": 0.5}, 12 + 2)],
    "multitask": [({"size": 2, "largest_gradient": 3, "rounds": 16, "gamma": 0.5}, (1 + 18) * 4)],
    "narow": [({"spread": 3, "variances": 5}, 4)],
    "nherd": [({"loss": 6, "C": 0.5, "variance": 4}, 2)],
    "ofs": [({"lam": 0.25}, 2), ({"lam": 0}, math.inf)],
    "ofs_partial": [({"R": 7}, 7)],
    "ogd": ONE_RATE,
    "p_norm": [({"radius": 6, "margin": 2, "p": 4}, 27)],
    "pa": LENGTHS,
    "pa1": [
        ({"radius": 3, "size": 2, "comparator_loss": 5, "C": 0.5}, 9 * 9),
        ({"radius": 3, "size": 2, "comparator_loss": 5, "C": 0.05}, 20 * 4.5),
    ],
    "pa2": [({"radius": 3, "size": 2, "comparator_squares": 5, "C": 0.25}, 11 * 6.5)],
    "pegasos": [({"radius": 3, "lam": 0.25, "rounds": math.e**2}, 3.5**2 * 3 / 0.5)],
    "perceptron": [*NOVIKOFF, ({"radius": 6, "margin": 2, "start": 3}, 9 + 3)],
    "perceptron_averaged": NOVIKOFF,
    "perceptron_batch": [({"radius": 6, "margin": 2, "batch": 2.5}, 27)],
    "perceptron_margin": [({"radius": 3, "margin": 2, "b": 5, "eta": 4}, 11.5 / 4)],
    "perceptron_pocket": NOVIKOFF,
    "perceptron_truncated": NOVIKOFF,
    "perceptron_voted": NOVIKOFF,
    "rda": [({"size": 2, "largest_gradient": 3, "rounds": 16, "gamma": 0.5}, (1 + 18) * 4)],
    "rda_enhanced": [(ENHANCED, 76 + 1.5)],
    "rda_strongly_convex": [({"largest_gradient": 3, "rounds": math.e**2, "s": 0.25}, 18 * 8)],
    "romma": LENGTHS,
    "romma_aggressive": LENGTHS,
    "rounding": [({"size": 3, "sum_of_sizes": 4, "eta": 0.25, "squared_gradients": 8, "dropped": 0.5}, 18 + 1 + 8)],
    "scw1": [({"C": 3, "loss": 2}, 6)],
    "scw2": [({"C": 3, "loss": 2}, 12)],
    "sop": [({"gamma": 0.5, "comparator_loss": 3, "spread": 8, "log_det": 2}, 14)],
    "truncated_gradient": [({"size": 3, "eta": 0.25, "rounds": 16, "free_slope": 2, "comparator": 5}, 4 + 18 + 5)],
    "winnow": [({"features": 5, "relevant": 2}, 20)],
    "winnow_balanced": [
        (
            {"features": 4, "margin": 0.9, "alpha": 3, "theta": 3, "start": 1.5},
            math.log(16) / (0.9 * math.log(3) - math.log(5 / 3)),
        ),
        ({"features": 4, "margin": 0.1, "alpha": 3, "theta": 3, "start": 1.5}, math.inf),
        ({"features": 4, "margin": 0.1, "alpha": 1, "theta": 3, "start": 1.5}, math.inf),
    ],
    "winnow_duplicated": [({"features": 6, "relevant": 2}, 26)],
}


def test_every_theorem_is_worked_out() -> None:
    assert set(BY_HAND) == {card.name for card in CARDS if card.guarantee is not None}


@pytest.mark.parametrize("name", BY_HAND)
def test_the_bound_is_the_number_worked_out_by_hand(name: str) -> None:
    guarantee = nr.learners()[name].guarantee
    assert guarantee is not None
    for told, value in BY_HAND[name]:
        assert guarantee.bound(**told) == pytest.approx(value, rel=1e-12)


def test_bounds_under_further_conditions() -> None:
    assert gradient.projected_regret(diameter=2.0, largest_gradient=3.0, rounds=16.0) == 36.0
    assert exponentiated.eg_squared_bound(divergence=3.0, spread=2.0, comparator_squares=5.0) == 25.5
    assert multiplicative.elimination_bound(features=5.0, relevant=2.0) == 12.0
