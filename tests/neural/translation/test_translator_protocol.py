"""Translators follow the protocol of all learners."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conformance.protocol import CHECKS, Case, check_save_and_go_on
from tests.neural.translation.tiny import X, Y, translator

ROUNDS = 6
CASES = {
    "adagrad": Case(translator, X[:ROUNDS], Y[:ROUNDS], ""),
    "pa": Case(lambda: translator(optimizer="pa", margin=3.5, trains="decoder"), X[:ROUNDS], Y[:ROUNDS], 3.5),
    "adam": Case(lambda: translator(optimizer="adam", trains="embeddings", alpha=0.0), X[:ROUNDS], Y[:ROUNDS], ["a"]),
    "adadelta": Case(lambda: translator(optimizer="adadelta", beam=1, seed=3), X[:ROUNDS], Y[:ROUNDS], None),
}


@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
@pytest.mark.thinned(6)
def test_translators_follow_the_protocol(case: Case, check: Callable[[Case], None]) -> None:
    check(case)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_translators_saved_and_loaded_go_on(case: Case, tmp_path: Path) -> None:
    check_save_and_go_on(case, tmp_path)
