"""Learners made of learners follow the protocol of all learners: the same checks as for rules."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from tests.conformance.protocol import CHECKS, Case, check_save_and_go_on
from tests.support import by_name, small_stream

X, Y = small_stream(rows=40)
ROWS, LABELS = [by_name(row) for row in X], Y.tolist()
BAD_ROW, BAD_DICT = np.full(4, np.nan), {"f1": float("inf")}
SOURCE = nr.make("pa1", native=False).learn(*small_stream(rows=60, seed=1))
SOME = [None if number % 3 == 1 else label for number, label in enumerate(LABELS)]


def rule(name: str = "pa1", **options: Any) -> nr.RuleLearner:
    return nr.make(name, native=False, **options)


def blocks(x: dict[str, float], label: int) -> dict[str, float]:
    return {f"{label}:{name}": value for name, value in x.items()}


def joint(**options: Any) -> nr.Joint:
    return nr.Joint(rule(), blocks, [-1, 0, 1], **options)


def questioned() -> Any:
    """A learner some of whose questions wait."""
    learner = nr.delayed(rule(), room=3)
    for key in ("a", "b", 3, 4.5):
        learner.ask(key, ROWS[0])
    return learner


FEW = ["pa1", ("pa1", {"C": 0.1}), "arow", ("ogd", {"loss": "logistic"})]


def auto(pool: list[Any] | None = None, **options: Any) -> Any:
    return nr.make("auto", pool=FEW if pool is None else pool, native=False, **options)


RASH = "ddm:least=3,warning=0.1,alarm=0.6"  # a detector that sets off alarms on a few rounds

CASES = {
    "auto": Case(lambda: auto(scale=True, bias=True), ROWS, LABELS, BAD_DICT),
    "auto of matrices": Case(lambda: auto(bias="auto"), X, LABELS, BAD_ROW),
    "auto, pruned": Case(lambda: auto(prune=True), X, LABELS, BAD_ROW),
    "auto with drift": Case(lambda: auto(drift=True, bits=6), ROWS, LABELS, BAD_DICT),
    "auto of targets": Case(lambda: auto(["pa1", "arow"], task="regression"), X, X[:, 0].tolist(), BAD_ROW),
    "auto of learners": Case(
        lambda: auto([rule("arow", scale=True), nr.delayed(rule("pa1")), "pa2"]), X, LABELS, BAD_ROW
    ),
    "auto, compiled": Case(lambda: nr.make("auto", pool=["pa1", "arow"]), ROWS, LABELS, BAD_DICT),
    "auto, compiled and scaled": Case(
        lambda: nr.make("auto", pool=["pa1", "arow"], scale=True, bias="auto"), ROWS, LABELS, BAD_DICT
    ),
    "auto, compiled, of matrices": Case(lambda: nr.make("auto", pool=["pa1", "arow"]), X, LABELS, BAD_ROW),
    "drift_aware, reset": Case(lambda: nr.drift_aware(rule(), RASH), X, LABELS, BAD_ROW),
    "drift_aware, shadow": Case(
        lambda: nr.drift_aware(rule("arow", scale=True), RASH, "shadow"), ROWS, LABELS, BAD_DICT
    ),
    "drift_aware targets": Case(
        lambda: nr.drift_aware(rule(task="regression"), RASH, "shadow"), X, X[:, 0].tolist(), BAD_ROW
    ),
    "drift_aware delayed": Case(lambda: nr.drift_aware(nr.delayed(rule()), RASH, "shadow"), ROWS, LABELS, BAD_DICT),
    "majority": Case(lambda: nr.make("majority"), ROWS, LABELS),
    "majority of many": Case(lambda: nr.make("majority"), X, [f"{t % 7 % 3} {t % 2}" for t in range(len(X))]),
    "majority of given classes": Case(lambda: nr.make("majority", classes=[1, 0, -1]), X, LABELS),
    "auto with the majority label": Case(lambda: auto(["pa1", "majority"]), ROWS, LABELS, BAD_DICT),
    "delayed majority": Case(lambda: nr.delayed(nr.make("majority")), ROWS, LABELS),
    "delayed": Case(lambda: nr.delayed(rule()), ROWS, LABELS, BAD_DICT),
    "delayed with questions": Case(questioned, ROWS, LABELS, BAD_DICT),
    "delayed targets": Case(lambda: nr.delayed(rule(task="regression")), X, X[:, 0].tolist(), BAD_ROW),
    "delayed, compiled": Case(lambda: nr.delayed(nr.make("pa1")), ROWS, LABELS, BAD_DICT),
    "transfer": Case(lambda: nr.transfer(SOURCE, rule("arow")), X, LABELS, BAD_ROW),
    "self_training": Case(lambda: nr.self_training(rule(), confidence=0.1), X, SOME, BAD_ROW),
    "self_training of dicts": Case(lambda: nr.self_training(rule("arow"), weight=1.0), ROWS, SOME, BAD_DICT),
    "joint": Case(joint, ROWS, LABELS, BAD_DICT, {"features": blocks}),
    "joint with costs": Case(
        lambda: joint(cost={1: {0: 2.0}}, margin="sqrt", competitor="max_loss"),
        ROWS,
        LABELS,
        BAD_DICT,
        {"features": blocks},
    ),
    "joint, all constraints": Case(lambda: joint(competitor="all"), ROWS, LABELS, BAD_DICT, {"features": blocks}),
    "delayed joint": Case(lambda: nr.delayed(joint()), ROWS, LABELS, BAD_DICT, {"features": blocks}),
    "fogd": Case(lambda: rule("fogd", features=8, scale=True), X, LABELS, BAD_ROW),
    "fogd of targets": Case(lambda: rule("fogd", features=8, task="regression"), ROWS, X[:, 0].tolist(), BAD_DICT),
    "softmax": Case(lambda: rule("softmax", scale=True), X, LABELS, BAD_ROW),
    "softmax of dicts": Case(lambda: rule("softmax"), ROWS, LABELS, BAD_DICT),
    "nogd": Case(lambda: rule("nogd", features=4), ROWS, LABELS, BAD_DICT),
    "delayed nogd": Case(lambda: nr.delayed(rule("nogd", features=4, kernel="cosine")), X, LABELS, BAD_ROW),
    "delayed self_training": Case(lambda: nr.delayed(nr.self_training(rule())), ROWS, LABELS, BAD_DICT),
}


@pytest.mark.thinned(14)
@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_adapters_follow_the_protocol(case: Case, check: Callable[[Case], None]) -> None:
    check(case)


@pytest.mark.thinned(3)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_adapters_saved_and_loaded_go_on(case: Case, tmp_path: Path) -> None:
    check_save_and_go_on(case, tmp_path)
