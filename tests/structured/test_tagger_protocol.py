"""Taggers follow the protocol of all learners."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import noregret as nr
from tests.conformance.protocol import CHECKS, Case, check_save_and_go_on
from tests.structured.sentences import tagged_sentences

X, Y = tagged_sentences(16)
TOKENS = [[{"word": word, "length": float(len(word))} for word in sentence] for sentence in X]
FEW = ["word", "suffix1", "word[-1]", "bias", "word[-1]+word"]


def tagger(name: str = "pa1", templates: Any = FEW, order: int = 1, **options: Any) -> Any:
    return nr.make("tagger", learner=nr.make(name, native=False, **options), order=order, templates=templates)


CASES = {
    "pa1": Case(tagger, X, Y, []),
    "perceptron, averaged": Case(lambda: tagger("perceptron", average=True), X, Y, "a text"),
    "two tags of context": Case(lambda: tagger("arow", order=2), X, Y, ["a", 3]),
    "tokens with numbers": Case(lambda: tagger("adagrad"), TOKENS, Y, [{"word": "a", "length": float("nan")}]),
    "crf": Case(lambda: nr.make("crf", learner=nr.make("adagrad", loss="crf", native=False)), X, Y, []),
    "hashed": Case(lambda: tagger("pa2", bits=10), X, Y, []),
}


@pytest.mark.thinned(6)
@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_taggers_follow_the_protocol(case: Case, check: Callable[[Case], None]) -> None:
    check(case)


@pytest.mark.thinned(2)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_taggers_saved_and_loaded_go_on(case: Case, tmp_path: Path) -> None:
    check_save_and_go_on(case, tmp_path)
