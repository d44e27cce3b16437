"""Which theorem of a card is in force, and what it says."""

import math

import pytest

import noregret as nr


def test_the_theorem_belongs_to_the_options_in_force() -> None:
    perceptron, ogd, alma = (nr.learners()[name] for name in ("perceptron", "ogd", "alma"))
    assert perceptron.why_no_guarantee({}) is None
    assert perceptron.guarantee_for({}) is perceptron.guarantees[0]
    assert perceptron.guarantee_for({"random_start": 0.1}) is perceptron.guarantees[2]
    assert perceptron.guarantees_for({}) == perceptron.guarantees
    assert [one.needs[0] for one in ogd.guarantees_for({"onto": "l1", "eta0": 1.0})] == ["norm", "distance"]
    assert alma.guarantee_for({"B": math.sqrt(8.0) / 0.5, "alpha": 0.5}) is alma.guarantees[0]
    schedules = {"constant": "norm", "inv_sqrt": "distance"}
    for name in ("ogd", "fobos", "fobos_l2", "fobos_group", "truncated_gradient"):
        card = nr.learners()[name]
        found = {option: card.guarantee_for({"schedule": option, "eta0": 1.0}) for option in schedules}
        assert {option: one.needs[0] for option, one in found.items() if one is not None} == schedules
        assert [one.needs for one in card.guarantees_for({})] == [("distance", "radius", "least_radius", "rounds")]
        assert card.guarantees_for({"loss": "squared"}) == ()


def test_a_quantity_that_is_missing_is_named_with_its_definition() -> None:
    with pytest.raises(nr.BadValue, match=r"the bound needs margin: min over t of u.z_t / \|u\|"):
        nr.learners()["perceptron"].bound(radius=1.0)


def test_the_condition_of_a_theorem_names_its_options() -> None:
    ball = nr.learners()["ogd"].guarantees[1]
    assert ball.condition.startswith("schedule = inv_sqrt; onto = ball or l1 or simplex; eta0 > 0; a convex loss")
    assert nr.learners()["pa1"].guarantees[0].condition == nr.learners()["pa1"].guarantees[0].when
