"""Learners of ratings follow the protocol of all learners: the same checks as for rules."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from tests.conformance.protocol import CHECKS, Case, check_save_and_go_on

RNG = np.random.default_rng(5)
NUMBERS = np.stack([RNG.integers(0, 5, 30), RNG.integers(0, 7, 30)], axis=1)
NAMED = [{"user": f"u{user}", "item": int(item)} for user, item in NUMBERS]  # with items that are rated again
PAIRS = [(int(user), f"i{item}") for user, item in NUMBERS]
Y = np.round(RNG.uniform(1.0, 5.0, 30), 1).tolist()
BAD_DICT, BAD_PAIR, BAD_ROW = {"user": "u1"}, (1, 2.5), np.full(2, np.nan)


def make(name: str, **options: Any) -> Callable[[], Any]:
    return lambda: nr.make(name, native=False, **options)


CASES = {
    "pmf by sgd": Case(make("factorisation", k=3), NAMED, Y, BAD_DICT),
    "pmf by da": Case(make("factorisation", k=2, method="da", seed=3), PAIRS, Y, BAD_PAIR),
    "rmf by sgd": Case(make("factorisation", k=3, model="rmf"), NUMBERS.astype(float), Y, BAD_ROW),
    "rmf by da": Case(make("factorisation", k=2, model="rmf", method="da"), NAMED, Y, BAD_DICT),
    "pmf as in the paper": Case(make("factorisation", k=3, biases="no", eta=0.5), PAIRS, Y, BAD_PAIR),
    "rating_biases": Case(make("rating_biases"), NAMED, Y, BAD_DICT),
    "rating_mean": Case(make("rating_mean", minimum=0, maximum=10), PAIRS, Y, BAD_PAIR),
}


@pytest.mark.thinned(6)
@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_learners_of_ratings_follow_the_protocol(case: Case, check: Callable[[Case], None]) -> None:
    check(case)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_learners_of_ratings_saved_and_loaded_go_on(case: Case, tmp_path: Path) -> None:
    check_save_and_go_on(case, tmp_path)
