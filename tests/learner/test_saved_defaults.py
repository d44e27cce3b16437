"""A model file means the same where defaults have changed since it was written."""

import json
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.errors import BadValue
from noregret.learner.finder import Finder
from noregret.learner.rule_learner import RuleLearner
from tests.naive import streams

X, Y = streams.sparse(40, 5, density=0.6, seed=1)


def learned(rule: str, **told: Any) -> Any:
    return nr.make(rule, native=False, algebra="dense", **told).learn(X[:30], Y[:30])


def header_of(learner: Any) -> dict[str, Any]:
    return dict(json.loads(json.dumps(learner.dump()[0])))


def restored(learner: Any, **changes: Any) -> Any:
    """The learner from its model file, with other entries of the header; None takes one out."""
    header = {**header_of(learner), **changes}
    kept = {name: value for name, value in header.items() if changes.get(name, 0) is not None}
    return RuleLearner.restore(kept, learner.dump()[1], Finder())


def test_a_file_tells_the_defaults_it_was_learned_with() -> None:
    header = header_of(learned("scw1", C=0.5))
    assert header["parameters"] == {"C": 0.5, "native": False, "algebra": "dense"}
    assert "C" not in header["defaults"]
    assert header["defaults"]["eta"] == nr.learners().rules["scw1"].numbers["eta"].default
    assert header_of(learned("ogd"))["defaults"]["schedule"] == "inv_sqrt"


def test_a_learner_goes_on_with_the_defaults_of_its_file() -> None:
    """As if 7 had been the default of r, and a constant rate that of the schedule, when the file was written."""
    for rule, then in (("arow", {"r": 7.0}), ("ogd", {"schedule": "constant", "eta0": 0.25})):
        before = learned(rule, **then)
        given = {name: value for name, value in header_of(before)["parameters"].items() if name not in then}
        after = restored(before, parameters=given, defaults={**header_of(before)["defaults"], **then})
        rest = nr.make(rule, native=False, algebra="dense", **then).learn(X, Y)
        np.testing.assert_array_equal(after.learn(X[30:], Y[30:]).scores(X), rest.scores(X))
        assert {name: after.params[name] for name in then} == then


def test_defaults_that_are_the_same_today_are_not_said_to_have_been_given() -> None:
    assert restored(learned("scw1")).config.given == {"native": False, "algebra": "dense"}


@pytest.mark.parametrize("name", [name for name, card in nr.learners().rules.items() if card.built_in])
def test_a_file_that_does_not_tell_its_defaults_has_the_earlier_ones(name: str) -> None:
    card = nr.learners().rules[name]
    earlier = {number: param.earlier for number, param in card.numbers.items() if param.earlier is not None}
    if earlier:
        found = restored(nr.make(name), defaults=None).config.numbers
        assert {number: found[number] for number in earlier} == earlier
        assert restored(nr.make(name)).config.numbers == nr.make(name).config.numbers


def test_a_method_that_makes_a_rule_keeps_its_name() -> None:
    learner = nr.make("softmax", native=False).learn(X[:30], Y[:30])
    after = restored(learner, defaults={**header_of(learner)["defaults"], "radius": 3.0})
    assert (after.config.card.name, after.card.name) == ("adagrad", "softmax")
    assert after.config.numbers["radius"] == 3.0


@pytest.mark.parametrize("defaults", [[], 1.0, "r", {"gram": 1.0}, {"unknown": 1.0}, {"r": "large"}, {"r": -1.0}])
def test_defaults_that_make_no_sense_are_refused(defaults: Any) -> None:
    with pytest.raises(BadValue):
        restored(learned("arow"), defaults=defaults)
