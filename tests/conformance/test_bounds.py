"""Every bound is the number its theorem says: held against values worked out by hand, for the options it belongs to."""

from typing import Any, get_args

import pytest

import noregret as nr
from noregret.rules.guarantee import Bounded, Comparator, Relation
from noregret.rules.quantities import QUANTITIES, QuantityName
from tests.conformance.bounds_by_hand import BY_HAND
from tests.conformance.plays import EVERY as CARDS


def test_every_theorem_is_worked_out() -> None:
    assert set(BY_HAND) == {card.name for card in CARDS if card.guarantees}
    for card in CARDS:
        worked = {card.guarantees_for(options)[0] for options, _, _ in BY_HAND.get(card.name, [])}
        worked |= {
            one
            for options, quantities, _ in BY_HAND.get(card.name, [])
            for one in card.guarantees_for(options)
            if set(one.needs) <= set(quantities)
        }
        assert worked == set(card.guarantees), card.name


@pytest.mark.parametrize("name", BY_HAND)
def test_the_bound_is_the_number_worked_out_by_hand(name: str) -> None:
    for options, quantities, value in BY_HAND[name]:
        assert nr.learners()[name].bound(options, **quantities) == pytest.approx(value, rel=1e-12)


# ---- the vocabulary -----------------------------------------------------------------------------------------------


def test_every_quantity_is_defined_and_needed() -> None:
    assert set(QUANTITIES) == set(get_args(QuantityName))
    assert all(quantity.about and quantity.symbol for quantity in QUANTITIES.values())
    every = [card for card in nr.learners() if card.built_in]
    needed = {name for card in every for guarantee in card.guarantees for name in guarantee.needs}
    assert needed == set(QUANTITIES)


@pytest.mark.parametrize("card", CARDS, ids=lambda card: card.name)
def test_a_theorem_speaks_the_common_words(card: nr.RuleCard) -> None:
    for guarantee in card.guarantees:
        assert set(guarantee.needs) <= set(QUANTITIES)
        assert guarantee.bounds in get_args(Bounded)
        assert guarantee.comparator in get_args(Comparator)
        assert guarantee.relation in get_args(Relation)
        sources = {QUANTITIES[name].source for name in guarantee.needs}
        assert ("comparator" in sources) <= (guarantee.comparator != "none")


def bound_of_mine(p: Any, radius: float, wishes: float) -> float:
    return radius


def without_parameters(radius: float) -> float:
    return radius


@pytest.mark.parametrize(
    ("guarantee", "words"),
    [
        (nr.Guarantee("mistakes", "few", "always", bound_of_mine), "needs 'wishes', which is not one of"),
        (
            nr.Guarantee("mistakes", "few", "always", without_parameters),
            "takes p, the parameters in force, as its first",
        ),
        (
            nr.Guarantee("mistakes", "few", "always", lambda p: 1.0, options={"schedule": ("constant",)}),
            "for schedule=('constant',), which is not an option",
        ),
        (
            nr.Guarantee("mistakes", "few", "always", lambda p: 1.0, options={"gate": ("los",)}),
            "for gate=('los',), which is not an option",
        ),
        ("few mistakes", "must be a noregret.Guarantee"),
    ],
)
def test_a_theorem_in_other_words_is_refused_when_it_is_registered(guarantee: Any, words: str) -> None:
    def lucky(p: Any, s: Any, z: Any, margin: float) -> bool:
        return False

    gate = nr.Choice("loss", {"loss": 0.0})
    with pytest.raises(nr.BadValue, match="rule lucky: ") as caught:
        nr.margin_rule(paper="mine", state={"w": nr.plain}, params={"gate": gate}, guarantees=(guarantee,))(lucky)
    assert words in str(caught.value)
    assert "lucky" not in nr.learners()


# ---- the options in force -----------------------------------------------------------------------------------------

UNPROVED: list[tuple[str, dict[str, Any], str]] = [
    ("arow", {}, "it is proved for covariance=full, not for covariance=diagonal"),
    ("ogd", {"schedule": "inv_t"}, "schedule=constant, not for schedule=inv_t; it is proved for schedule=inv_sqrt"),
    ("ogd", {"schedule": "inv_mistakes"}, "not for schedule=inv_mistakes"),
    ("perceptron", {"schedule": "inv_t"}, "it is proved for schedule=constant, not for schedule=inv_t"),
    ("truncated_gradient", {"order": "pre"}, "it is proved for order=post, not for order=pre"),
    ("pegasos", {"loss": "squared"}, "it is proved for loss=hinge or logistic"),
    ("alma", {"B": 1.0}, "it is proved for B = sqrt(8) / alpha and C = sqrt(2)"),
    ("alma", {"C": 1.0}, "it is proved for B = sqrt(8) / alpha and C = sqrt(2)"),
    ("adaline", {"loss": "hinge"}, "it is proved for loss=squared, not for loss=hinge"),
    ("exp3", {"rate": "inv_t"}, "not for rate=inv_t"),
    ("adadelta", {}, "no theorem is known"),
    ("ogd", {"schedule": "constant"}, "it is proved for an eta0 above 0"),
    ("ogd", {"eta0": 1.0, "schedule": "inv_t"}, "it is proved for schedule=inv_sqrt, not for schedule=inv_t"),
]


@pytest.mark.parametrize(("name", "options", "words"), UNPROVED)
def test_where_nothing_is_proved_the_reason_is_said(name: str, options: dict[str, Any], words: str) -> None:
    card = nr.learners()[name]
    assert card.guarantee_for(options) is None
    assert words in (card.why_no_guarantee(options) or "")
    with pytest.raises(nr.BadValue, match=f"{name}: ") as caught:
        card.bound(options, radius=1.0)
    assert words in str(caught.value)
