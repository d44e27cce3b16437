"""Parsers follow the protocol of all learners."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import noregret as nr
from tests.conformance.protocol import CHECKS, Case, check_save_and_go_on
from tests.structured.treebank import random_trees, treebank

X, Y = treebank(10)
CROSSING, HEADS = random_trees(10, 5)
MIXED = [[head for head, _ in tree] if number % 3 == 1 else tree for number, tree in enumerate(Y)]
FEW = {"arcs": ["h.word+m.word", "h.tag+m.tag+span", "h.tag+between.tag+m.tag"], "relations": ["h.tag+m.tag+side"]}


def parser(name: str = "pa1", projective: bool = True, **options: Any) -> Any:
    learner = nr.make(name, native=False, **options)
    return nr.make("parser", learner=learner, bits=12, projective=projective, templates=FEW)


CASES = {
    "pa1": Case(parser, X, Y, []),
    "perceptron, averaged": Case(lambda: parser("perceptron", average=True), X, Y, "a text"),
    "arow, some relations": Case(lambda: parser("arow"), X, MIXED, [("a", "N"), "b"]),
    "crossing arcs": Case(lambda: parser("adagrad", projective=False), CROSSING, HEADS, [("a",)]),
}


@pytest.mark.thinned(6)
@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_parsers_follow_the_protocol(case: Case, check: Callable[[Case], None]) -> None:
    check(case)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_parsers_saved_and_loaded_go_on(case: Case, tmp_path: Path) -> None:
    check_save_and_go_on(case, tmp_path)
