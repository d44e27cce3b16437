"""Rule learners follow the protocol of all learners, as adapters and a learner of one's own do."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from tests.conformance.protocol import CHECKS, Case, check_save_and_go_on
from tests.support import by_name, small_stream

X, Y = small_stream(rows=30)
ROWS, LABELS = [by_name(row) for row in X], Y.tolist()
MANY = [["a", "b", "c"][number % 3] for number in range(30)]
SETS = [("a", "b", "c")[number % 2 : number % 3 + 1] or ("b",) for number in range(30)]
BAD_ROW, BAD_DICT = np.full(4, np.nan), {"f1": float("inf")}


def rule(name: str, **options: Any) -> Callable[[], nr.RuleLearner]:
    return lambda: nr.make(name, native=False, **options)


CASES = {
    "two classes": Case(rule("pa1"), X, LABELS, BAD_ROW),
    "two classes, dicts": Case(rule("arow", bias=True), ROWS, LABELS, BAD_DICT),
    "compiled": Case(lambda: nr.make("pa1"), ROWS, LABELS, BAD_DICT),
    "scaled": Case(rule("ogd", scale=True), X, LABELS, BAD_ROW),
    "many classes": Case(rule("pa2"), ROWS, MANY, BAD_DICT),
    "targets": Case(rule("pa1", task="regression"), X, X[:, 0].tolist(), BAD_ROW),
    "sets of labels": Case(rule("pa1", task="multilabel"), ROWS, SETS, BAD_DICT),
    "kernel": Case(rule("perceptron", algebra="kernel"), ROWS, LABELS, BAD_DICT),
}


@pytest.mark.thinned(4)
@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_rule_learners_follow_the_protocol(case: Case, check: Callable[[Case], None]) -> None:
    check(case)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_rule_learners_saved_and_loaded_go_on(case: Case, tmp_path: Path) -> None:
    check_save_and_go_on(case, tmp_path)
