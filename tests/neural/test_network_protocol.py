"""Networks follow the protocol of all learners: the same checks as for rules."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.learner.model_file import pack, unpack
from tests.conformance.protocol import CHECKS, Case, check_save_and_go_on
from tests.support import by_name, small_stream

X, Y = small_stream(rows=30)
ROWS, LABELS = [by_name(row) for row in X], Y.tolist()
CLASSES = ["a", "b", "a", "c", "b", "d"] * 5
TARGETS = (10.0 + 3.0 * X[:, 0] * X[:, 1]).tolist()
BAD_ROW, BAD_DICT = np.full(4, np.nan), {"f1": float("inf")}
GROWING = [{f"f{j}": value for j, value in enumerate(row[: 1 + t % 4])} for t, row in enumerate(X)]


def mlp(**options: Any) -> Any:
    return nr.make("mlp", **{"layers": [4, 3], "native": False, **options})


CASES = {
    "two classes": Case(lambda: mlp(optimizer="sgd", scale=False), X, LABELS, BAD_ROW),
    "classes appear": Case(lambda: mlp(optimizer="adam"), X, CLASSES, BAD_ROW),
    "names appear": Case(
        lambda: mlp(optimizer="adagrad", activation="tanh", transforms=[nr.clip(1.0)]), GROWING, CLASSES, BAD_DICT
    ),
    "targets": Case(lambda: mlp(task="regression", optimizer="adadelta"), X, TARGETS, BAD_ROW),
    "mini-batches": Case(lambda: mlp(batch=4, optimizer="nesterov", clip=1.0), ROWS, CLASSES, BAD_DICT),
    "hashed": Case(lambda: mlp(bits=3, class_weight="balanced", activation="sigmoid"), ROWS, LABELS, BAD_DICT),
    "replay": Case(lambda: mlp(replay=7, replays=2), GROWING, CLASSES, BAD_DICT),
    "replay of targets": Case(lambda: mlp(replay=5, task="regression"), X, TARGETS, BAD_ROW),
    "anchor": Case(lambda: mlp(anchor=1.0, optimizer="momentum"), X, LABELS, BAD_ROW),
    "hedge": Case(lambda: nr.make("hbp", depth=3, units=3, native=False, eta=0.2), X, CLASSES, BAD_ROW),
    "hedge of names": Case(lambda: nr.make("hbp", depth=2, units=3, native=False), GROWING, LABELS, BAD_DICT),
    "compiled": Case(lambda: mlp(native=True, optimizer="sgd"), X, CLASSES, BAD_ROW),
}


@pytest.mark.thinned(10)
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
def test_networks_follow_the_protocol(check: Callable[[Case], None], name: str) -> None:
    check(CASES[name])


@pytest.mark.parametrize("outputs", ["drawn", "zero"])
@pytest.mark.parametrize("labels", ["abac", "bbba", "abaa"])
def test_features_that_come_after_a_class_are_those_of_a_saved_network(labels: str, outputs: str) -> None:
    """There is room for some features before they come; a class that appears changes the outputs of all."""
    rows: list[Any] = [{f"f{number}": 1.0 for number in range(features)} for features in (1, 2, 3, 1)]
    learner = nr.make("hbp", depth=1, units=2, native=False, outputs=outputs)
    for row, label in zip(rows, labels, strict=True):
        again = unpack(pack(learner.learn([row], [label])), "m.nr")
        more: Any = {"g": 1.0}
        for weight in (0.0, 1.0):  # without a step the first weights themselves are seen
            found, expected = (one.copy().learn([more], ["a"], weight=weight) for one in (again, learner))
            assert pack(found) == pack(expected)


@pytest.mark.parametrize("name", CASES)
def test_a_saved_network_goes_on_as_if_never_stopped(name: str, tmp_path: Path) -> None:
    check_save_and_go_on(CASES[name], tmp_path)
