"""Variants of learners are spelled alike everywhere: pa1(C=0.1)@rbf(gamma=0.5, budget=100)."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import noregret as nr
from noregret.errors import BadValue
from noregret.learner.factory import card_of
from noregret.learner.kernel_options import KERNEL_PARAMS, KERNEL_TAKES
from noregret.learner.variants import Variant, name_learner, number_text, parse, split_names, write
from noregret.rules.parameters import Param
from noregret.rules.rule_card import RuleCard
from noregret.tasks.budgets import POLICIES

RULES = [card for card in nr.learners() if isinstance(card, RuleCard) and card.built_in]
NUMBERS = st.one_of(st.integers(-5, 1000), st.floats(allow_nan=False, allow_infinity=False))


@st.composite
def variants(draw: st.DrawFn) -> Variant:
    """Any rule with some of its parameters, whether they make sense together or not, and perhaps a kernel."""
    card = draw(st.sampled_from(RULES))
    options: dict[str, Any] = {}
    for name, param in card.params.items():
        if draw(st.booleans()):
            options[name] = draw(NUMBERS if isinstance(param, Param) else st.sampled_from(sorted(param.among)))
    options |= draw(st.fixed_dictionaries({}, optional={
        "bias": st.booleans(), "average": st.one_of(st.booleans(), st.integers(0, 9)), "bits": st.integers(1, 20),
        "task": st.sampled_from(card.tasks), "covariance": st.sampled_from(("diagonal", "full")),
    }))  # fmt: skip
    if "regression" in card.tasks and draw(st.booleans()):
        options["eps"] = draw(NUMBERS)
    if draw(st.booleans()):
        kernel = draw(st.sampled_from(sorted(KERNEL_TAKES)))
        options |= {"algebra": "kernel", "kernel": kernel}
        taken = {f"kernel.{name}" if name in card.params else name: NUMBERS for name in KERNEL_TAKES[kernel]}
        if "budget" not in card.params:
            taken |= {"budget": st.integers(1, 10**6), "policy": st.sampled_from(sorted(POLICIES))}
        options |= draw(st.fixed_dictionaries({}, optional=taken))
    return Variant(card, options)


@given(variants())
@settings(max_examples=80, deadline=None)
def test_what_is_written_is_read_back_and_canonical(variant: Variant) -> None:
    text = str(variant)
    assert parse(text, card_of) == variant
    assert str(parse(text, card_of)) == text
    assert split_names(f"{text}, {text},pa1") == [text, text, "pa1"]


@given(NUMBERS)
def test_numbers_are_written_in_their_shortest_exact_form(value: float) -> None:
    text = number_text(value)
    assert float(text) == value
    assert len(text) <= len(repr(value))


@pytest.mark.parametrize(
    ("text", "canonical", "options"),
    [
        ("pa1", "pa1", {}),
        ("pa1(C=0.0)", "pa1(C=0)", {"C": 0.0}),
        (" pa1 ( C = 0.10 ) ", "pa1(C=0.1)", {"C": 0.1}),
        ("pa1(C=1e-05)", "pa1(C=1e-5)", {"C": 1e-5}),
        ("ogd(loss='logistic', eta0=1)", "ogd(eta0=1, loss=logistic)", {"loss": "logistic", "eta0": 1}),
        ("pa1@linear", "pa1@linear", {"algebra": "kernel", "kernel": "linear"}),
        ("pa1(algebra=kernel)", "pa1@rbf", {"algebra": "kernel"}),
        ("pa1@rbf(budget=500,gamma=0.010)", "pa1@rbf(gamma=0.01, budget=500)",
         {"algebra": "kernel", "kernel": "rbf", "gamma": 0.01, "budget": 500}),
        ("pa1(C=0.1)@rbf(gamma=0.5, budget=100, policy=random)", "pa1(C=0.1)@rbf(gamma=0.5, budget=100, policy=random)",
         {"C": 0.1, "algebra": "kernel", "kernel": "rbf", "gamma": 0.5, "budget": 100, "policy": "random"}),
        ("pa1@rbf(policy=oldest, budget=9)", "pa1@rbf(budget=9)",
         {"algebra": "kernel", "kernel": "rbf", "policy": "oldest", "budget": 9}),
        ("perceptron@polynomial(degree=2)", "perceptron@polynomial(degree=2)",
         {"algebra": "kernel", "kernel": "polynomial", "degree": 2}),
        ("drift_aware(learner=pa1(C=2)@rbf)", "drift_aware(learner=pa1(C=2)@rbf)", {"learner": "pa1(C=2)@rbf"}),
        ("auto(prune=true)", "auto(prune=yes)", {"prune": True}),
        ("pa1(native=false)", "pa1", {"native": False}),
    ],
)  # fmt: skip
def test_examples_are_read_as_options_of_make(text: str, canonical: str, options: Mapping[str, Any]) -> None:
    variant = parse(text, card_of)
    assert (str(variant), dict(variant.options)) == (canonical, options)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("pa1@rbff", "'pa1@rbff': there is no kernel 'rbff'; did you mean 'rbf'? There are linear, polynomial"),
        ("pa1@", "'pa1@': no kernel is named after @"),
        ("pa1@rbf(gama=1)", "the kernel rbf has no parameter 'gama'; did you mean 'gamma'? After @ it takes gamma,"),
        ("pa1@linear(gamma=1)", "the kernel linear has no parameter 'gamma'. After @ it takes budget, policy"),
        ("pa1@rbf(gamma=1", "the bracket after rbf is not closed; write rbf(option=value)"),
        ("pa1@rbf(gamma=[1])", "gamma=[1]: gamma must be a number"),
        ("pa1@rbf(budget=4, policy=7)", "policy=7: policy must be a word"),
        ("pa1@rbf@linear", "there is no kernel 'rbf@linear'"),
        ("pa1(C=1", "'pa1(C=1': the bracket after pa1 is not closed; write pa1(option=value)"),
        ("pa1(C=1)x", "'x' after the brackets; write NAME(option=value)@KERNEL(option=value)"),
        ("(C=1)", "there is no name before the bracket"),
        ("pa1(C)", "'C' is not an option; write NAME=VALUE, as in C=0.1"),
        ("pa1(C=)", "'C=' is not an option"),
        ("pa1(C=1, C=2)", "C is given twice"),
        ("pa1(D=1)", "pa1 has no option 'D'; it takes C, gate"),
        ("ogd(los=hinge)", "ogd has no option 'los'; did you mean 'loss'?"),
        ("pa1(C=[1, 2])", "C=[1, 2]: a value is a number, a word, true or false; give other values as nr.make(\"pa1\""),
        ("pa1(C=word)", "pa1: C must be a number at least 0, not 'word'"),
        ("pa1@rbf(gamma=0)", "kernel rbf: gamma must be above 0, not 0"),
        ("pa1@rbf(budget=0)", "budget must be a whole number of at least 1, not 0"),
        ("pa7(C=1)", "there is no learner 'pa7'"),
        ("auto@rbf", "auto takes no kernel after @"),
        ("winnow@rbf", "winnow cannot play in the kernel algebra"),
        ("drift_aware(learner=pa1(C=2)", "the bracket after drift_aware is not closed"),
        ("drift_aware(learner=pa7)", "there is no learner 'pa7'"),
    ],
)  # fmt: skip
def test_errors_say_what_to_write(text: str, words: str) -> None:
    with pytest.raises(BadValue) as caught:
        nr.make(text)
    assert words in str(caught.value)
    assert str(caught.value).count("\n") <= 1


def test_make_takes_the_spelling_and_options_beside_it() -> None:
    text = "pa1(C=0.1)@rbf(gamma=0.5, budget=100, policy=random)"
    made, same = nr.make(text, native=False), nr.make("pa1", C=0.1, algebra="kernel", kernel="rbf", gamma=0.5,
                                                      budget=100, policy="random", native=False)  # fmt: skip
    assert dict(made.config.given) == dict(same.config.given)
    assert name_learner(made) == name_learner(same) == text
    with pytest.raises(BadValue, match=r"C is given twice, in 'pa1\(C=0.1\)' and as an option"):
        nr.make("pa1(C=0.1)", C=0.5)


def test_the_name_of_a_learner_leaves_out_the_defaults_of_its_task() -> None:
    assert name_learner(nr.make("ogd", eta0=0.1, task="regression")) == "ogd"
    assert name_learner(nr.make("ogd", eta0=0.1)) == "ogd(eta0=0.1)"
    assert name_learner(nr.make("pa1", bias=True, seed=4)) == "pa1"
    assert name_learner(nr.make("pa1", bias=True), named=["bias"]) == "pa1(bias=true)"
    assert name_learner(nr.make("pa1", C=np.float32(0.5))) == "pa1(C=0.5)"
    assert write(card_of("ogd"), {"eta0": 0.1}) == "ogd(eta0=0.1)"  # the default of some tasks only


def test_every_default_is_left_out() -> None:
    for card in RULES:
        options = {name: param.default for name, param in card.params.items()}
        assert write(card, options, card.usual_task) in (card.name, f"{card.name}@linear")
    options = {name: KERNEL_PARAMS[name].default for name in ("coef0", "degree")}
    assert write(card_of("pa1"), {"algebra": "kernel", "kernel": "polynomial", **options}) == "pa1@polynomial"
    assert write(card_of("pa1"), {"algebra": "kernel", "gamma": 1.0}) == "pa1@rbf(gamma=1)"  # not by the first row


ROWS = np.random.default_rng(0).normal(size=(40, 3))
SIGNS = np.sign(ROWS[:, 0] * ROWS[:, 1])


def test_a_race_names_variants_and_refuses_two_of_one_name() -> None:
    names = ["pa1", "pa1(C=0.1)", "pa1(bias=true)", "pa1@rbf(gamma=0.5, budget=7)", "pa1@linear"]
    board = nr.race((ROWS, SIGNS), names, native=False)
    assert {entry.name for entry in board} == set(names)
    assert board["pa1@linear"].mistakes == board["pa1"].mistakes
    assert board["pa1(C=0.1)"].learner.params["C"] == 0.1  # type: ignore[attr-defined]
    with pytest.raises(KeyError):
        board["pa2"]
    for alike in (["pa1", "pa1(C=0)"], ["pa1@rbf", "arow", ("pa1", {"algebra": "kernel"})]):
        with pytest.raises(BadValue, match="two learners of the race are called 'pa1"):
            nr.race((ROWS, SIGNS), alike, native=False)


def test_learners_that_were_made_before_always_get_names_of_their_own() -> None:
    one, other, third = (nr.make("pa1", native=False, bias=bias) for bias in (True, False, True))
    names = {entry.name: entry.learner for entry in nr.race((ROWS, SIGNS), [one, other, third])}
    assert names == {"pa1(bias=true)": one, "pa1": other, "pa1(bias=true)#2": third}


def test_pools_take_and_name_variants() -> None:
    pool = "pa1, arow(r=0.10),pa1@rbf(gamma=0.5, budget=7),pa1@linear"
    learner: Any = nr.make("auto", pool=pool, native=False)
    assert [entry.name for entry in learner.entries] == [
        "pa1", "arow(r=0.1)", "pa1@rbf(gamma=0.5, budget=7)", "pa1@linear",
    ]  # fmt: skip
    learner.learn(ROWS, SIGNS)
    assert learner["pa1@rbf(gamma=0.5, budget=7)"].config.budget.size == 7
    with pytest.raises(BadValue, match="two entries of the pool are called 'pa1'"):
        nr.make("auto", pool=["pa1", "pa1(C=0)"])


def test_searches_certificates_and_experts_take_variants() -> None:
    found = nr.tune((ROWS, SIGNS), ["pa1", "pa1@rbf(gamma=0.5)"], {"C": [0.0, 0.1]}, native=False)
    assert {result.describe() for result in found} == {
        "pa1", "pa1(C=0.1)", "pa1@rbf(gamma=0.5)", "pa1(C=0.1)@rbf(gamma=0.5)",
    }  # fmt: skip
    gammas = nr.tune((ROWS, SIGNS), "pa1@rbf", {"gamma": [0.1, 2.0]}, native=False)
    assert {result.describe() for result in gammas} == {"pa1@rbf", "pa1@rbf(gamma=0.1)", "pa1@rbf(gamma=2)"}
    assert nr.certify((ROWS, SIGNS), ["perceptron", "perceptron(eta=2)"], native=False)["perceptron(eta=2)"].updates > 0
    losses = np.random.default_rng(0).random((20, 3))
    experts = nr.race_experts(losses, algorithms=["hedge", "hedge(eta=0.5)"])
    assert list(experts.learners) == ["hedge", "hedge(eta=0.5)"]
