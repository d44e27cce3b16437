"""Epochs: several passes over the same rows, each in a new order, until an epoch makes no update."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.data.text_table import table
from noregret.errors import BadValue, shown
from noregret.learner.arguments import check_integer, check_round_learner
from noregret.learner.labelled_rows import LabelledRows, check_validation
from noregret.learner.protocol import Learner, Revertible

SAMPLINGS = ("permute", "replace")
NO_UPDATE, NO_MORE_PASSES, NO_PATIENCE = "no update", "passes", "patience"


@dataclass
class History:
    """Mistakes, updates and validation error of every epoch, and why the last one was the last."""

    mistakes: list[int] = field(default_factory=list)
    updates: list[int] = field(default_factory=list)
    validation: list[float] = field(default_factory=list)
    stopped: str = NO_MORE_PASSES

    def __len__(self) -> int:
        return len(self.updates)

    @property
    def best(self) -> int | None:
        """The number of the epoch with the smallest validation error, the first of several; the first epoch is 0."""
        return int(np.argmin(self.validation)) if self.validation else None

    def __str__(self) -> str:
        head: Sequence[str] = ("epoch", "mistakes", "updates")
        rows = [
            [str(number), f"{mistakes:,}", f"{updates:,}"]
            for number, (mistakes, updates) in enumerate(zip(self.mistakes, self.updates, strict=True))
        ]
        if self.validation:
            head = (*head, "validation")
            rows = [[*row, f"{error:.4g}"] for row, error in zip(rows, self.validation, strict=True)]
        return f"{table(head, rows)}\nstopped: {self.stopped}"


def epochs(
    learner: Learner,
    X: Any,
    y: Any,
    passes: int = 100,
    *,
    shuffle: bool = True,
    seed: int = 0,
    sampling: str = "permute",
    validation: tuple[Any, Any] | None = None,
    patience: int | None = None,
    weight: Any = None,
) -> History:
    """Teach a learner the same rows until an epoch makes no update, or `passes` times.

    Epoch e, from 0 on, takes the rows in an order drawn with seed + e. With sampling="replace" it draws as many rows
    with replacement, and stops only when no row at all would cause an update. With `patience` it also stops when the
    error on the validation rows has not improved for so many epochs (early stopping), and the learner is then
    reverted to the state after its best epoch. If interrupted, the learner is in the state after the last whole epoch.
    """
    check_round_learner(learner, "epochs")
    rows, held_out = LabelledRows(X, y, weight).require_rows(), check_validation(validation)
    passes, seed = check_integer("passes", passes, 1), check_integer("seed", seed, 0)
    check_sampling(shuffle, sampling)
    patience = check_patience(learner, patience, held_out)

    history = History()
    best: Any = None  # a copy of the learner after its best epoch
    for epoch in range(passes):
        order = draw_order(len(rows), shuffle, sampling, seed + epoch)
        mistakes, updates = learner.mistakes, learner.updates
        (rows if order is None else rows.select(order)).teach(learner)
        history.mistakes.append(learner.mistakes - mistakes)
        history.updates.append(learner.updates - updates)
        if held_out is not None:
            history.validation.append(held_out.measure_error(learner))
            if patience is not None and history.best == epoch:
                best = learner.copy()
        if history.updates[-1] == 0 and (sampling == "permute" or makes_no_update(learner, rows)):
            history.stopped = NO_UPDATE
            break
        if patience is not None and history.best is not None and epoch - history.best >= patience:
            history.stopped = NO_PATIENCE
            break
    if isinstance(learner, Revertible) and best is not None and history.best != len(history) - 1:
        learner.revert_to(best)
    return history


def check_sampling(shuffle: Any, sampling: Any) -> None:
    if sampling not in SAMPLINGS:
        raise BadValue(f"sampling must be one of {', '.join(SAMPLINGS)}, not {shown(sampling)}")
    if not isinstance(shuffle, bool):
        raise BadValue(f"shuffle must be True or False, not {shown(shuffle)}")
    if sampling == "replace" and not shuffle:
        raise BadValue('sampling="replace" draws rows by chance; leave shuffle=False out')


def check_patience(learner: Learner, patience: Any, held_out: LabelledRows | None) -> int | None:
    if patience is None:
        return None
    if held_out is None:
        raise BadValue("patience needs rows to validate on: give validation=(X, y)")
    if not isinstance(learner, Revertible):
        raise BadValue(
            f"patience needs a learner that can go back to its best epoch; {shown(learner)} has no revert_to"
        )
    return check_integer("patience", patience, 1)


def draw_order(rows: int, shuffle: bool, sampling: str, seed: int) -> NDArray[np.int64] | None:
    """The order of an epoch; None is the order in which the rows came."""
    if not shuffle:
        return None
    random = np.random.default_rng(seed)
    return random.permutation(rows) if sampling == "permute" else random.integers(rows, size=rows)


def makes_no_update(learner: Learner, rows: LabelledRows) -> bool:
    """Whether no row would cause an update; an epoch drawn with replacement misses a third of the rows."""
    trial = learner.copy()
    rows.teach(trial)
    return trial.updates == learner.updates
