"""Every card tells all that a user, a catalogue or a test needs to know of its learner."""

import inspect
import re
from typing import Any

import pytest

import noregret as nr
from noregret.rules.names import MERGE_LAWS, MERGE_METHODS, TASKS
from tests import naive
from tests.conformance.plays import EVERY as CARDS
from tests.conformance.plays import unusual

NAMES = [card.name for card in CARDS]


def made(card: nr.RuleCard, **told: Any) -> nr.RuleLearner:
    """A learner of a card; where not every label is told, its classes are."""
    return nr.make(card.name, **({"classes": [0, 1]} if "bandit" in card.tasks else {}), **told)


every_card = pytest.mark.parametrize("card", CARDS, ids=NAMES)


def test_the_catalogue_lists_every_learner_once_and_in_order() -> None:
    assert len(CARDS) >= 10
    assert sorted(set(NAMES)) == NAMES
    assert all(name in nr.learners() and nr.learners()[name].name == name for name in NAMES)


def test_the_folder_of_learners_does_not_hide_the_catalogue() -> None:
    import noregret.learners.perceptron  # noqa: F401

    assert len(nr.learners()) >= len(CARDS)


@every_card
def test_names_its_paper_with_the_year(card: nr.RuleCard) -> None:
    assert re.search(r"\b(19|20)\d\d\b", card.paper)
    assert len(card.paper.split(",")) >= 3  # who, what, where


@every_card
def test_says_what_it_does_in_one_sentence(card: nr.RuleCard) -> None:
    assert card.about == inspect.cleandoc(card.rule.__doc__ or "").splitlines()[0]
    assert card.about.endswith(".")
    assert card.name.isidentifier()


def test_of_cards_that_share_a_title_one_leads() -> None:
    for title in {card.title for card in CARDS}:
        sharing = [card for card in CARDS if card.title == title]
        assert sum(card.default_variant for card in sharing) == (1 if len(sharing) > 1 else 0), title
    assert {card.title for card in CARDS} >= {"AROW", "OGD", "PassiveAggressive", "Perceptron", "AveragedPerceptron"}


@every_card
def test_titles_can_name_a_class(card: nr.RuleCard) -> None:
    assert card.title.isidentifier()
    assert card.title[0].isupper()
    assert f"{card.title}Classifier".isascii()


@every_card
def test_every_parameter_has_limits_that_its_default_keeps(card: nr.RuleCard) -> None:
    for name, param in card.params.items():
        assert param.about, name
        assert param.limits != "any finite number", name
        assert param.check(card.name, name, param.default) == param.default


@pytest.mark.parametrize("card", [card for card in nr.learners() if card.built_in], ids=lambda card: card.name)
def test_every_number_has_a_search_space_around_its_default_or_a_reason_for_none(card: nr.Card) -> None:
    for name, param in card.numbers.items():
        found = param.candidates()
        assert bool(found) != bool(param.untuned), name
        assert all(param.check(card.name, name, value) == value for value in found)
        assert list(found) == sorted(set(found))
        if found:
            assert found[0] <= param.default <= found[-1], name
            assert param.default in found or not param.grid, name
            assert param.measured is None or found[0] <= param.measured <= found[-1], name
    for name, choice in card.choices.items():
        assert choice.default in choice.candidates() or name == "loss"
        assert set(choice.candidates()) <= set(choice.among)


@every_card
def test_the_corners_of_the_search_space_make_learners(card: nr.RuleCard) -> None:
    for name, param in card.numbers.items():
        for value in param.candidates(2):
            wrong = card.check and card.check({**numbers_of(card), name: value}, card.defaults)
            assert wrong is not None or made(card, **{name: value}).params[name] == value


def numbers_of(card: nr.RuleCard) -> dict[str, float]:
    return {name: param.default for name, param in card.numbers.items()}


@every_card
def test_refuses_a_parameter_outside_its_limits(card: nr.RuleCard) -> None:
    for name, param in card.numbers.items():
        outside = param.above if param.at_least < param.above else param.at_least - 1.0
        for bad in (outside, float("nan"), float("inf"), "large", None, True):
            with pytest.raises(nr.BadValue, match=rf"{card.name}: {name} must be"):
                made(card, **{name: bad})
    for name in card.choices:
        with pytest.raises(nr.BadValue, match=rf"{card.name}: {name} must be one of"):
            made(card, **{name: "no such option"})


@every_card
def test_takes_the_parameters_it_is_told(card: nr.RuleCard) -> None:
    told = unusual(card)
    assert {name: made(card, **told).params[name] for name in told} == told


@every_card
def test_states_a_theorem_with_its_conditions_and_a_bound_to_call(card: nr.RuleCard) -> None:
    assert bool(card.guarantees) != ("No theorem is known" in (card.rule.__doc__ or ""))
    p, _ = card.in_force({})
    for guarantee in card.guarantees:
        assert guarantee.says
        assert guarantee.when
        assert isinstance(guarantee.bound(p, **dict.fromkeys(guarantee.needs, 1.0)), float)
        assert guarantee.bound.__doc__


@every_card
def test_states_its_merge_law(card: nr.RuleCard) -> None:
    assert card.merge.law in MERGE_LAWS
    assert card.merge.method in MERGE_METHODS
    assert card.merge.how
    assert (card.merge.method == "none") == (card.merge.law == "none")


@every_card
def test_plays_somewhere(card: nr.RuleCard) -> None:
    assert set(card.tasks) <= set(card.declared_tasks) <= set(TASKS)
    assert set(card.tasks) >= {"binary", "multiclass"} & set(card.declared_tasks)
    assert ("binary" in card.tasks) == (card.kind not in ("prototype", "bandit"))
    assert set(card.algebras) >= {"sparse", "dense", "reference"} or card.algebras == ("kernel",)


@every_card
def test_refuses_where_it_cannot_play_and_says_so(card: nr.RuleCard) -> None:
    for task in {"regression"} - set(card.tasks):
        with pytest.raises(nr.BadValue, match=f"{card.name} cannot play {task}"):
            nr.make(card.name, task=task)
    for algebra in {"kernel"} - set(card.algebras):
        with pytest.raises(nr.BadValue, match=f"{card.name} cannot play in the {algebra} algebra"):
            nr.make(card.name, algebra=algebra)


@every_card
def test_has_an_independent_twin(card: nr.RuleCard) -> None:
    twin = naive.rule(card.name, **unusual(card))
    assert twin.weighs == card.supports_weights
    assert twin.regresses == ("regression" in card.tasks)
    assert not type(twin).__module__.startswith("noregret")
