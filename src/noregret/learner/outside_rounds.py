"""Rounds of learners that keep weights of their own, such as networks.

Such a learner has the model of a rule learner without its weights: rows, labels, transforms, predictions and losses are
those of logistic, softmax or squared-loss regression. A call is a transaction of that model; where a rule would make
room and play, the learner does.
"""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.data.blocks import verify
from noregret.data.inputs import LabelsLike, RowsLike, WeightsLike
from noregret.errors import BadValue
from noregret.learner.config import resolve
from noregret.learner.engine import Loops, Rounds
from noregret.learner.model import Model
from noregret.learner.model_file import Arrays, FindCard, Header
from noregret.learner.registry import find_rule
from noregret.learner.rule_file import OUTSIDE, dump_model, restore_model
from noregret.learner.transaction import Transaction
from noregret.state.space import physical_memory
from noregret.tasks.outcome import Outcome, Segment

Floats = NDArray[np.float64]
RULE = "ogd"  # it plays every task with these losses
LOSSES = {None: "logistic", "binary": "logistic", "multiclass": "softmax", "regression": "squared"}


@dataclass(frozen=True)
class OutputChange:
    """What becomes of the outputs of a learner when a class appears, and how many classes are known then."""

    outputs: int
    known: int
    flips: bool = False  # the two classes change their signs
    negative: int | None = None  # two classes become many; which of them was negative


class OutsideTransaction(Transaction):
    """One call of a learner with weights of its own; all of it, or nothing."""

    def __init__(self, model: Model, X: RowsLike, y: LabelsLike, weight: WeightsLike) -> None:
        super().__init__(model, Loops(), X, y, weight)

    @abstractmethod
    def save_own(self) -> Any:
        """The learner's own state as it is now, with a method `rollback` that may be repeated."""

    @abstractmethod
    def grow_own(self, start: int, change: OutputChange) -> None:
        """Make room for all features of the block, and for the outputs, before the round of row `start`."""

    @abstractmethod
    def play_own(self, rows: slice, y: Floats, out: Floats, outcome: tuple[NDArray[np.uint8], Floats]) -> None:
        """Play some rows: write their scores, where it updated, and for targets their deviation before each round."""

    def encode(self, checked: bool) -> None:
        super().encode(True)
        self.block = verify(self.block)

    def make_room(self, segment: Segment) -> None:
        model = self.model
        flips, successor = model.task.flips(model.labels, segment), model.task.successor(model.labels, segment)
        if self.savepoint.contents is None:
            self.savepoint.contents = self.save_own()
        negative = None
        if successor is not None:
            negative = 0 if model.labels.signs(2)[1] > 0 else 1
            model.task = successor
            use_softmax(model)
        self.grow_own(segment.start, OutputChange(model.task.blocks(segment.known), segment.known, flips, negative))
        count_features(model, self.block.width)

    def make_room_for_supports(self, start: int, stop: int) -> None:
        """There are none."""

    def rounds(self, y: Floats, start: int, stop: int) -> Rounds:
        return Rounds(slice(start, stop), y, self.h[start:stop])

    def write_outcome(self, outcome: Outcome, given: Rounds) -> None:
        rows, y, _ = given.values
        self.play_own(rows, y, outcome.scores.reshape(-1), (outcome.updated, outcome.aux))


def start_model(name: str, options: Mapping[str, Any]) -> Model:
    """The model of a learner of this name, with options that all learners share."""
    card = replace(find_rule(RULE), name=name)
    model = Model.new(resolve(card, {**options, "loss": LOSSES[options.get("task")]}))
    use_softmax(model)
    return model


def use_softmax(model: Model) -> None:
    """Of many classes, the loss is that of all scores together; a learner of two classes may have come to many."""
    if model.task.many and not model.task.loss.of_all_scores:
        shared = {name: value for name, value in model.config.given.items() if name in ("classes", "native", "seed")}
        config = resolve(model.card, {**shared, "task": "multiclass", "loss": LOSSES["multiclass"]})
        model.task = config.task


def count_features(model: Model, features: int) -> None:
    """Note how many features the learner has weights for."""
    space = model.space or model.empty_space(str(model.algebra))
    if features > space.features:
        space = space.with_features(features)
    model.space = space


def dump_outside(model: Model) -> tuple[Header, Arrays]:
    """The model without weights, for a model file."""
    header, arrays = dump_model(model)
    return {**header, "rule": RULE, "weights": OUTSIDE}, arrays


def restore_outside(name: str, header: Header, arrays: Arrays, find_card: FindCard) -> Model:
    """The model without weights of a learner of this name."""
    model = restore_model(header, arrays, find_card)
    model.config = replace(model.config, card=replace(model.config.card, name=name))
    use_softmax(model)
    return model


def fits_in_memory(numbers: int) -> bool:
    """Whether this machine can be expected to hold so many numbers."""
    return 8 * numbers <= physical_memory() // 2


def require_memory(name: str, numbers: int, instead: str = "use fewer units") -> None:
    """Refuse a state of more numbers than this machine can be expected to hold, before it is made."""
    if not fits_in_memory(numbers):
        raise BadValue(f"{name} would have {numbers:,} numbers, which do not fit in memory; {instead}, feature "
                       "names (strings) or a smaller bits=, or number the features without gaps")  # fmt: skip
