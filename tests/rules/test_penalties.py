"""The penalties that cards declare, worked out by hand for a vector of length 2 whose sizes sum to 3."""

import pytest

import noregret as nr

BY_HAND: dict[str, tuple[dict[str, float], float]] = {
    "ada_rda": ({"lam": 0.5}, 1.5),
    "fobos": ({"lam": 0.5, "lam2": 0.25}, 1.5 + 0.5),
    "fobos_l2": ({"lam": 0.5}, 1.0),
    "norma": ({"lam": 0.5}, 1.0),
    "norma_truncated": ({"lam": 0.5}, 1.0),
    "bogd": ({"lam": 0.5}, 1.0),
    "fobos_l2_squared": ({"lam": 0.5}, 1.0),
    "pegasos": ({"lam": 0.25}, 0.5),
    "pegasos_batch": ({"lam": 0.25}, 0.5),
    "rda": ({"lam": 0.5}, 1.5),
    "rda_enhanced": ({"lam": 0.5}, 1.5),
    "rda_strongly_convex": ({"lam": 0.5, "s": 0.25}, 1.5 + 0.5),
    "sgd_bottou": ({"lam": 0.25}, 0.5),
    "sgd_bottou_averaged": ({"lam": 0.25}, 0.5),
    "truncated_gradient": ({"gravity": 0.5}, 1.5),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_a_penalty_is_the_number_worked_out_by_hand(name: str) -> None:
    card, (told, expected) = nr.learners().rules[name], BY_HAND[name]
    assert card.penalty is not None
    assert card.penalty(card.in_force(told)[0], 2.0, 3.0) == expected


def test_every_penalty_is_among_them() -> None:
    assert {card.name for card in nr.learners().rules.values() if card.penalty is not None} == set(BY_HAND)
