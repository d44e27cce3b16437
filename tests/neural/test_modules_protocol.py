"""Learners that train torch modules follow the protocol of all learners."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import noregret as nr
from noregret.torch import Online
from tests.conformance.protocol import CHECKS, Case, check_save_and_go_on
from tests.support import by_name, small_stream
from tests.support.cover import ALL

torch.set_num_threads(1)
nn: Any = torch.nn
X, Y = small_stream(rows=30)
ROWS, LABELS = [by_name(row) for row in X], Y.tolist()
CLASSES = ["a", "b", "a", "c", "b", "d"] * 5
TARGETS = (10.0 + 3.0 * X[:, 0] * X[:, 1]).tolist()
BAD_ROW, BAD_DICT = np.full(4, np.nan), {"f1": float("inf")}
GROWING = [{f"f{j}": value for j, value in enumerate(row[: 1 + t % 4])} for t, row in enumerate(X)]


def net(outputs: int, dropout: float = 0.0, inputs: int = 4) -> Any:
    torch.manual_seed(5)
    parts = [nn.Linear(inputs, 3), nn.Tanh(), *([nn.Dropout(dropout)] if dropout else []), nn.Linear(3, outputs)]
    return nn.Sequential(*parts)


class Normalized(nn.Module):  # type: ignore[misc]
    """A module with buffers that learn, and with a shape of its own."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(5)
        self.body = nn.Sequential(nn.Conv1d(1, 2, 2), nn.BatchNorm1d(2), nn.Flatten(), nn.Linear(6, 4))

    def forward(self, x: Any) -> Any:
        return self.body(x)


def online(make: Callable[[], Any], **options: Any) -> Any:
    return Online(make(), **{"native": False, **options})


def case(make: Callable[[], Any], X: Any, y: Any, bad_row: Any, **options: Any) -> Case:
    return Case(partial(online, make, **options), X, y, bad_row, loading={"module": make()})


CASES = {
    "two classes, one output": case(lambda: net(1), X, LABELS, BAD_ROW, optimizer="sgd", eta=0.1),
    "first class turns": case(lambda: net(1), X, [1 if y < 0 else "b" for y in LABELS], BAD_ROW, optimizer="sgd"),
    "classes appear": case(lambda: net(4), X, CLASSES, BAD_ROW),
    "names appear": case(
        lambda: net(5), GROWING, CLASSES, BAD_DICT, optimizer=torch.optim.Adagrad, transforms=[nr.clip(1.0)]
    ),
    "dropout": case(lambda: net(4, 0.5), X, CLASSES, BAD_ROW, optimizer="momentum", class_weight="balanced"),
    "mini-batches": case(lambda: net(4, 0.5), ROWS, CLASSES, BAD_DICT, batch=4, clip=0.1, optimizer="rmsprop"),
    "replay": case(lambda: net(4), GROWING, CLASSES, BAD_DICT, replay=7, replays=2, batch=2),
    "targets": case(lambda: net(1), X, TARGETS, BAD_ROW, task="regression", scale_target="yes", replay=5),
    "anchor": case(lambda: net(2).double(), X, LABELS, BAD_ROW, anchor=1.0, optimizer="adam", scale=True),
    "a shape": case(Normalized, X, CLASSES, BAD_ROW, shape=(1, 4), batch=3, loss="cross_entropy"),
    "bfloat16": case(lambda: net(4).bfloat16(), X, CLASSES, BAD_ROW, optimizer="adamw", task="multiclass"),
}


# Checks of files take seconds; others need no more than one case of each kind.
FEW = ("first class turns", "mini-batches", "replay", "a shape")
CHOSEN = [
    (check, name)
    for check in CHECKS
    for name in CASES
    if ALL or (name == "two classes, one output" if check in ("corrupt_files", "documents", "race") else name in FEW)
]


@pytest.mark.thinned(3)
@pytest.mark.parametrize(("check", "name"), CHOSEN)
def test_modules_follow_the_protocol(check: str, name: str) -> None:
    CHECKS[check](CASES[name])


@pytest.mark.parametrize("name", CASES if ALL else ("targets", "replay", "anchor", "bfloat16", "mini-batches"))
def test_a_saved_module_goes_on_as_if_never_stopped(name: str, tmp_path: Path) -> None:
    check_save_and_go_on(CASES[name], tmp_path)
