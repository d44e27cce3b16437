"""Epochs: the same rows again and again, each time in a new order, until nothing changes any more."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from noregret.errors import BadValue, shown
from noregret.evaluation.tables import table
from noregret.learner.rule_learner import RuleLearner
from noregret.training.lesson import Lesson, is_learner, validated, whole

SAMPLINGS = ("permute", "replace")
NO_UPDATE, NO_MORE_PASSES, NO_PATIENCE = "no update", "passes", "patience"


@dataclass
class History:
    """What every epoch brought, why there was no further one, and after which the learner was best, where validated."""

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
    learner: RuleLearner,
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
    """Teach a learner the same rows until an epoch changes nothing, or `passes` times.

    Epoch e, from 0 on, takes the rows in an order drawn with seed + e; with sampling="replace" it draws as many rows
    with replacement, and ends everything only when no row at all would be an update. With `patience` it also ends when
    the error on the validation rows was not improved by so many epochs, and however it ends the learner is put back to
    the state of its best epoch. Interrupted, the learner is as the last whole epoch left it.
    """
    is_learner(learner, "epochs")
    lesson, held_out = Lesson(X, y, weight), validated(validation)
    passes, seed = whole("passes", passes, 1), whole("seed", seed, 0)
    if sampling not in SAMPLINGS:
        raise BadValue(f"sampling must be one of {', '.join(SAMPLINGS)}, not {shown(sampling)}")
    if not isinstance(shuffle, bool):
        raise BadValue(f"shuffle must be True or False, not {shown(shuffle)}")
    if sampling == "replace" and not shuffle:
        raise BadValue('sampling="replace" draws rows by chance; leave shuffle=False out')
    if patience is not None and held_out is None:
        raise BadValue("patience needs rows to validate on: give validation=(X, y)")
    patience = None if patience is None else whole("patience", patience, 1)

    history, kept = History(), None
    for epoch in range(passes):
        order = drawn(len(lesson), shuffle, sampling, seed + epoch)
        mistakes, updates = learner.mistakes, learner.updates
        (lesson if order is None else lesson.picked(order)).teach(learner)
        history.mistakes.append(learner.mistakes - mistakes)
        history.updates.append(learner.updates - updates)
        if held_out is not None:
            history.validation.append(held_out.error_of(learner))
            if patience is not None and history.best == epoch:
                kept = learner.copy()
        if history.updates[-1] == 0 and (sampling == "permute" or settled(learner, lesson)):
            history.stopped = NO_UPDATE
            break
        if patience is not None and history.best is not None and epoch - history.best >= patience:
            history.stopped = NO_PATIENCE
            break
    if kept is not None and history.best != len(history) - 1:
        put_back(learner, kept)
    return history


def drawn(rows: int, shuffle: bool, sampling: str, seed: int) -> np.ndarray | None:
    """The order of an epoch; None is the order the rows came in."""
    if not shuffle:
        return None
    chance = np.random.default_rng(seed)
    return chance.permutation(rows) if sampling == "permute" else chance.integers(rows, size=rows)


def settled(learner: RuleLearner, lesson: Lesson) -> bool:
    """Whether no row would be an update: drawn with replacement, an epoch misses a third of them."""
    trial = learner.copy()
    lesson.teach(trial)
    return trial.updates == learner.updates


def put_back(learner: RuleLearner, kept: RuleLearner) -> None:
    """Give a learner the state of a copy that was kept, in one step that cannot be interrupted half way."""
    with learner._lock:
        vars(learner).update({name: value for name, value in vars(kept).items() if name != "_lock"})
