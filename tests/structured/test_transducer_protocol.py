"""Transducers follow the protocol of all learners."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import noregret as nr
from tests.conformance.protocol import CHECKS, Case, check_save_and_go_on
from tests.structured.words import spoken_words

X, Y = spoken_words(14)
TEXTS = ["".join(output) for output in Y]
NUMBERS = [[ord(symbol) for symbol in output] for output in Y]
OWN, SECOND = ["bias", "letter", "letter[-1]", "letter+letter[1]"], ["bias", "letter"]


def transducer(name: str = "pa1", **options: Any) -> Any:
    return nr.make("transducer", learner=nr.make(name, native=False, **options), templates=OWN, inserted=SECOND)


CASES = {
    "pa1": Case(transducer, X, Y, ""),
    "texts": Case(lambda: transducer("arow"), X, TEXTS, []),
    "numbers": Case(lambda: transducer("perceptron", average=True), [list(word) for word in X], NUMBERS, [None]),
    "hashed": Case(lambda: transducer("adagrad", bits=10), X, Y, 3),
}


@pytest.mark.thinned(6)
@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_transducers_follow_the_protocol(case: Case, check: Callable[[Case], None]) -> None:
    check(case)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_transducers_saved_and_loaded_go_on(case: Case, tmp_path: Path) -> None:
    check_save_and_go_on(case, tmp_path)
