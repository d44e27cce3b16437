"""A learner that is not a rule takes one file: a class with its card is listed, checked, made and documented."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import noregret as nr
from noregret.cli import main
from noregret.evaluation.catalog import page, report_card
from noregret.learner.card_text import describe_card
from noregret.rules.method_card import snake_case
from noregret.rules.registry import REGISTRY
from tests.support import refusal

FILE = Path(__file__).parents[1] / "support" / "running_mean.py"


@pytest.fixture(autouse=True)
def only_here() -> Iterator[None]:
    """Leave the catalogue as it was: other tests go through it."""
    nr.learners()
    before = dict(REGISTRY)
    yield
    REGISTRY.clear()
    REGISTRY.update(before)


@pytest.fixture
def running_mean() -> nr.MethodCard:
    from tests.support.running_mean import RunningMean

    card = RunningMean.card
    assert isinstance(card, nr.MethodCard)
    REGISTRY[card.name] = card
    return card


def test_its_card_says_what_its_class_says(running_mean: nr.MethodCard) -> None:
    assert (running_mean.name, running_mean.title, running_mean.kind) == ("running_mean", "RunningMean", "mean")
    assert running_mean.about == "Predict the mean of the targets so far."
    assert running_mean.tasks == ("regression",)
    assert running_mean.where.startswith(f"{FILE}:")
    assert not running_mean.built_in
    assert not isinstance(running_mean, nr.RuleCard)


def test_it_is_listed_and_made_by_its_name(running_mean: nr.MethodCard) -> None:
    assert nr.learners()["running_mean"] is running_mean
    assert "running_mean" not in nr.learners().rules
    mean: Any = nr.make("running_mean", forget=0.5, start="one")
    assert mean.predict_one({}) == 1.0
    assert [mean.learn_one({}, y).predict_one({}) for y in (4.0, 0.0, 8.0)] == [4.0, 2.0, 5.0]


def test_it_is_made_from_its_class_and_its_card(running_mean: nr.MethodCard) -> None:
    by_card: Any = nr.make(running_mean)
    by_class: Any = nr.make(running_mean.factory, task="regression")
    assert by_card.forget == by_class.forget == 0.0


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"forget": 1.0}, "running_mean: forget must be at least 0 and below 1, not 1.0"),
        ({"start": "two"}, "running_mean: start must be one of zero, one, not 'two'"),
        ({"forgets": 0.5}, "running_mean has no parameter 'forgets'; did you mean 'forget'?; it takes forget, start"),
        ({"seed": 3}, "running_mean has no parameter 'seed'"),
        ({"task": "binary"}, "running_mean cannot play binary: it plays regression"),
    ],
)
def test_its_parameters_are_checked(running_mean: nr.MethodCard, given: dict[str, Any], words: str) -> None:
    assert words in refusal(lambda: nr.make("running_mean", **given))


def test_it_documents_itself(running_mean: nr.MethodCard, capsys: pytest.CaptureFixture[str]) -> None:
    text = page([running_mean])
    assert "### `running_mean`\n\nPredict the mean of the targets so far.\n" in text
    assert "- `forget` = 0 (at least 0 and below 1): the share" in text
    assert "at least; search 0, 0.1, 0.5\n" in text
    assert "- plays regression\n" in text
    assert "plays       regression" in describe_card(running_mean)
    report = json.loads(json.dumps(report_card(running_mean)))
    assert (report["tasks"], report["algebras"]) == (["regression"], [])
    assert main(["learners", f"{FILE}:RunningMean"]) == 0
    assert "Predict the mean of the targets so far." in capsys.readouterr().out


class Pair:
    """Two learners."""

    def __init__(self, first: Any, rest: Any, seed: int = 0) -> None:
        self.parts = (first, *rest, seed)


PAIR: dict[str, Any] = {
    "paper": "mine, here, 2026",
    "kind": "pair",
    "tasks": ("binary",),
    "params": {"first": nr.Component("pa1"), "rest": nr.Component(("arow", "perceptron"), many=True)},
    "options": ("seed",),
}


def test_a_method_can_be_built_from_learners() -> None:
    card = nr.register_method(Pair, **PAIR)
    assert card.build().parts == ("pa1", "arow", "perceptron", 0)
    learner = nr.make("sop")
    assert card.build(first=learner, rest=["pa", nr.learners()["pa2"]], seed=7).parts == (
        learner, "pa", nr.learners()["pa2"], 7,
    )  # fmt: skip
    assert "pair: first must be a learner, or the name of one, not 3" in refusal(lambda: card.build(first=3))
    assert "pair: rest must be a list of learners, not 'pa'" in refusal(lambda: card.build(rest="pa"))
    assert "pair: rest must be a list of learners, not []" in refusal(lambda: card.build(rest=[]))


def silent(first: Any) -> Any: ...


@pytest.mark.parametrize(
    ("declaring", "words"),
    [
        (lambda: nr.register_method(Pair, **{**PAIR, "paper": ""}), "method pair must declare its paper"),
        (lambda: nr.register_method(Pair, **{**PAIR, "tasks": ()}), "method pair must declare its tasks"),
        (lambda: nr.register_method(Pair, **{**PAIR, "tasks": ("chess",)}), "must be one of binary, "),
        (lambda: nr.register_method(Pair, **{**PAIR, "papers": "x"}), "declares papers, which no card has"),
        (lambda: nr.register_method(Pair, **{**PAIR, "options": ("classes",)}), "declares classes, which it does not"),
        (lambda: nr.register_method(Pair, **{**PAIR, "params": {"seed": nr.Param(1.0)}}), "'seed' cannot be a name"),
        (lambda: nr.register_method(Pair, **{**PAIR, "params": {"first": 1.0}}), "first in params must be a Param"),
        (lambda: nr.register_method(Pair, **PAIR, name="arow"), "the name arow is taken by a built-in learner"),
        (lambda: nr.register_method(silent, **{**PAIR, "params": {}, "options": ()}), "must say what it does"),
    ],
)
def test_an_incomplete_declaration_is_refused_where_it_is_written(declaring: Callable[[], Any], words: str) -> None:
    message = refusal(declaring)
    assert message.startswith(f"{Path(__file__)}:")
    assert words in message


def test_names_of_classes_become_names_of_learners() -> None:
    names = {
        "RunningMean": "running_mean",
        "OnlineSVD": "online_svd",
        "HBP": "hbp",
        "PCA2": "pca2",
        "delayed": "delayed",
    }
    assert {name: snake_case(name) for name in names} == names
