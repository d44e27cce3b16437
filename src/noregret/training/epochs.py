"""Epochs: several passes over the same rows, each in a new order, until an epoch makes no update."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from noregret.data.inputs import LabelsLike, RowsLike, WeightsLike
from noregret.data.text_table import table
from noregret.errors import BadValue, shown
from noregret.learner.arguments import check_integer, check_round_learner
from noregret.learner.labelled_rows import LabelledRows, check_validation
from noregret.learner.protocol import Learner, Revertible, SelfEvaluating

WITHOUT_LABELS = "unsupervised"
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


class EpochOptions(TypedDict, total=False):
    """The options of `epochs`."""

    shuffle: bool
    seed: int
    sampling: Literal["permute", "replace"]
    validation: tuple[RowsLike, LabelsLike] | None
    patience: int | None
    weight: WeightsLike


@dataclass(frozen=True)
class Plan:
    """The options of `epochs`, checked."""

    shuffle: bool = True
    seed: int = 0
    sampling: str = "permute"
    validation: Any = None
    patience: int | None = None
    weight: Any = None

    def __post_init__(self) -> None:
        check_integer("seed", self.seed, 0)
        if self.sampling not in SAMPLINGS:
            raise BadValue(f"sampling must be one of {', '.join(SAMPLINGS)}, not {shown(self.sampling)}")
        if not isinstance(self.shuffle, bool):
            raise BadValue(f"shuffle must be True or False, not {shown(self.shuffle)}")
        if self.sampling == "replace" and not self.shuffle:
            raise BadValue('sampling="replace" draws rows by chance; leave shuffle=False out')
        if self.patience is not None and self.validation is None:
            raise BadValue("patience needs rows to validate on: give validation=(X, y)")
        if self.patience is not None:
            check_integer("patience", self.patience, 1)

    def draw_order(self, rows: int, epoch: int) -> NDArray[np.int64] | None:
        """The order of an epoch; None is the order in which the rows came."""
        if not self.shuffle:
            return None
        random = np.random.default_rng(self.seed + epoch)
        return random.permutation(rows) if self.sampling == "permute" else random.integers(rows, size=rows)


def epochs(
    learner: Learner, X: RowsLike, y: LabelsLike = None, passes: int = 100, **options: Unpack[EpochOptions]
) -> History:
    """Teach a learner the same rows until an epoch makes no update, or `passes` times.

    Options: shuffle=True, seed=0, sampling="permute" or "replace", validation=(X, y), patience, weight.

    Epoch e, from 0 on, takes the rows in an order drawn with seed + e. With sampling="replace" it draws as many rows
    with replacement, and stops only when no row at all would cause an update. With `patience` it also stops when the
    error on the validation rows has not improved for so many epochs (early stopping), and the learner is then
    reverted to the state after its best epoch. If interrupted, the learner is in the state after the last whole epoch.
    Learners without labels need no y; their validation error is the mean loss.
    """
    check_round_learner(learner, "epochs")
    plan, passes = Plan(**options), check_integer("passes", passes, 1)
    rows = LabelledRows(X, fill_labels(learner, X, y), plan.weight, objects=takes_objects(learner, X)).require_rows()
    held_out = find_held_out(learner, plan.validation)
    patience = plan.patience
    if patience is not None and not isinstance(learner, Revertible):
        raise BadValue(f"patience needs a learner with revert_to, to go back to the best epoch, not {shown(learner)}")

    history = History()
    best: Any = None  # a copy of the learner after its best epoch
    for epoch in range(passes):
        order = plan.draw_order(len(rows), epoch)
        mistakes, updates = learner.mistakes, learner.updates
        (rows if order is None else rows.select(order)).teach(learner)
        history.mistakes.append(learner.mistakes - mistakes)
        history.updates.append(learner.updates - updates)
        if held_out is not None:
            history.validation.append(held_out.measure_error(learner))
            if patience is not None and history.best == epoch:
                best = learner.copy()
        if history.updates[-1] == 0 and (plan.sampling == "permute" or makes_no_update(learner, rows)):
            history.stopped = NO_UPDATE
            break
        if patience is not None and history.best is not None and epoch - history.best >= patience:
            history.stopped = NO_PATIENCE
            break
    if isinstance(learner, Revertible) and best is not None and history.best != len(history) - 1:
        learner.revert_to(best)
    return history


def find_held_out(learner: Learner, given: Any) -> LabelledRows | None:
    """The rows to validate on; None where none are given."""
    if isinstance(given, tuple) and len(given) == 2:
        X, y = given
        return check_validation((X, fill_labels(learner, X, y)), takes_objects(learner, X))
    return check_validation(given)


def takes_objects(learner: Learner, X: Any) -> bool:
    """Whether X is a list of things that only the learner knows, such as sentences or texts, and no matrix or frame."""
    return isinstance(learner, SelfEvaluating) and (learner.task != WITHOUT_LABELS or isinstance(X, (list, tuple)))


def fill_labels(learner: Learner, X: Any, y: Any) -> Any:
    """A label that is None for each row, where a learner without labels was given none."""
    if y is not None or learner.task != WITHOUT_LABELS or not (hasattr(X, "shape") or hasattr(X, "__len__")):
        return y
    return [None] * (X.shape[0] if hasattr(X, "shape") else len(X))


def makes_no_update(learner: Learner, rows: LabelledRows) -> bool:
    """Whether no row would cause an update; an epoch drawn with replacement misses a third of the rows."""
    trial = learner.copy()
    rows.teach(trial)
    return trial.updates == learner.updates
