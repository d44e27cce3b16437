"""One call of a module's learner: rows become tensors, and all rounds are learned or none."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from noregret.data.blocks import DenseBlock, SparseBlock
from noregret.data.inputs import LabelsLike, RowsLike, WeightsLike
from noregret.data.transcript import Transcript
from noregret.errors import BadValue
from noregret.learner.outside_rounds import OutputChange, OutsideTransaction
from noregret.neural.modules.learner_savepoint import LearnerSavepoint
from noregret.neural.modules.module_losses import INDEX, SIGN
from noregret.neural.modules.module_rounds import RoundFault, Rows, play_rounds, refuse, scan_targets
from noregret.neural.modules.random_numbers import Restored, get_random, set_random, take_turn
from noregret.neural.modules.row_tensors import NUMBERS, as_rows, as_targets
from noregret.neural.modules.tensors import Tensor, load_torch
from noregret.neural.modules.trained_module import TrainedModule

if TYPE_CHECKING:
    from noregret.neural.modules.online import Online

Floats = NDArray[np.float64]


class OnlineTransaction(OutsideTransaction):
    """One call of a learner that trains a module."""

    def __init__(self, learner: "Online", X: RowsLike, y: LabelsLike, weight: WeightsLike, careful: bool) -> None:
        """`careful`: whether every step is checked by itself; otherwise the call is, at its end."""
        super().__init__(learner.reader, X, y, weight)
        self.learner, self.net, self.careful = learner, learner.net, careful
        self.losses: list[Floats] = []

    def save_own(self) -> LearnerSavepoint:
        return LearnerSavepoint(self.learner)

    def attempt(self, checked: bool) -> list[Any]:
        """Play all rounds with the random numbers of the learner; torch then goes on with its own."""
        return take_turn(lambda: self.attempt_alone(checked))

    def attempt_alone(self, checked: bool) -> list[Any]:
        torch, net, self.losses = load_torch(), self.net, []
        restored = Restored(get_random(net.device), net.device)
        with restored, restored, torch.inference_mode(False), torch.enable_grad():
            set_random(net.random, net.device)
            net.careful = self.careful
            outcomes = super().attempt(checked)
            net.random = get_random(net.device)
        self.learner.rounds, self.learner.updates, self.learner.mistakes = self.model.counts()
        return outcomes

    def grow_own(self, start: int, change: OutputChange) -> None:
        net, model, self.known = self.net, self.model, change.known
        if not net.outputs:
            if net.shape is None and isinstance(self.block, SparseBlock):
                raise BadValue(f"{self.learner.card.name}: rows of named or sparse features have no fixed length; give "
                               "shape=, the shape of a row as the module takes it, as in shape=20")  # fmt: skip
            net.set_up(self.block.width)
        known = max(self.known, len(model.config.classes or ()))
        if not model.task.real and known > max(net.outputs, 2):
            label, row = model.labels.order[max(net.outputs, 2)], start
            raise BadValue(f"round {model.rounds + row + 1} (row {row} of this call): {label!r} is class number "
                           f"{known}, and the module has {outputs_of(net)}; it cannot grow. Give a module with an "
                           "output for every class", row=row)  # fmt: skip
        if model.task.many and net.outputs < 2:
            raise BadValue("multiclass needs a module with an output for every class, and this one has one output")
        if change.flips:
            net.sign = -net.sign
        check_width(self, net)

    def play_own(self, rows: slice, y: Floats, out: Floats, outcome: tuple[NDArray[np.uint8], Floats]) -> None:
        """Play some rows, a part of them at a time."""
        size, columns = max(1, NUMBERS // max(self.net.features, 1)), out.size // max(y.size, 1)
        for start in range(0, y.size, size):
            part = slice(start, min(start + size, y.size))
            here = slice(rows.start + part.start, rows.start + part.stop)
            made = self.make_rows(here, y[part])
            try:
                played = play_rounds(self.net, made)
            except RoundFault as fault:
                if fault.infinite and not self.careful:
                    raise NotFinite from None
                raise refuse(fault, here.start, self.model.rounds) from fault.__cause__
            outputs, losses = played.gather()
            means, deviations = np.array(made.means[:-1]), np.array(made.deviations[:-1])
            scores = self.learner.to_scores(outputs, self.known, means, deviations)
            out[part.start * columns : part.stop * columns] = scores.reshape(-1)
            self.losses.append(losses)
            updated, aux = outcome
            updated[part] = played.updated
            aux[part] = deviations

    def make_rows(self, rows: slice, y: Floats) -> Rows:
        """The rows and their truths as tensors."""
        net, h = self.net, self.h[rows]
        scales = net.plan.real and net.plan.scales_target
        counters = net.counters.copy()
        means, deviations = scan_targets(counters, y, h, scales)
        net.counters = counters
        given = self.make_targets(y)
        targets = given
        if scales:
            divisors = np.array(deviations[:-1])
            standard = (y - np.array(means[:-1])) / np.where(divisors > 0.0, divisors, 1.0)
            targets = as_targets(net, standard)
        return Rows(as_rows(net, self.block, rows), targets, given, h.tolist(), means, deviations)

    def make_targets(self, y: Floats) -> Tensor:
        """What outputs are compared with: of classes their codes, or 0 and 1, or the signs."""
        net = self.net
        if self.model.task.real:
            return as_targets(net, y)
        if net.loss.target == INDEX:
            codes = y if self.model.task.many else np.where(y == self.model.labels.signs(self.known)[0], 0.0, 1.0)
            return as_targets(net, codes)
        return as_targets(net, net.sign * y if net.loss.target == SIGN else (net.sign * y > 0.0).astype(np.float64))


def finish(transcript: Transcript, call: OnlineTransaction) -> Transcript:
    """The transcript of a call, with the losses of its rounds."""
    return replace(transcript, losses=np.concatenate(call.losses)) if call.losses else transcript


class NotFinite(Exception):
    """Something became infinite in a call; it is played again with every step checked, to name the round."""


def check_width(call: OnlineTransaction, net: TrainedModule) -> None:
    """Refuse rows that are longer than those the module takes, or of another number of columns."""
    block, features = call.block, net.features
    takes = f"the module takes rows of {features}; its inputs cannot grow"
    if isinstance(block, DenseBlock) and block.rows and block.width != features:
        if block.width < features and call.model.config.grows:
            return
        columns = "1 column" if block.width == 1 else f"{block.width} columns"
        raise BadValue(f"round {call.model.rounds + 1} (row 0 of this call): the row has {columns}, and {takes}. Give "
                       f"rows of {features} columns, or a module with {block.width} inputs", row=0)  # fmt: skip
    if isinstance(block, SparseBlock) and block.width > features:
        beyond = np.flatnonzero(block.idx[: int(block.indptr[-1])] >= features)
        row = int(np.searchsorted(block.indptr, beyond[0], side="right")) - 1 if beyond.size else 0
        names = call.model.names.as_list() if call.model.names.mode == "names" else []
        number = int(block.idx[beyond[0]]) if beyond.size else features
        feature = (
            f"feature {names[number]!r} is number {number + 1}" if number < len(names) else f"it has feature {number}"
        )
        raise BadValue(f"round {call.model.rounds + row + 1} (row {row} of this call): {feature}, and {takes}. Give a "
                       "module with more inputs, or hash the names by bits=", row=row)  # fmt: skip


def outputs_of(net: TrainedModule) -> str:
    return f"{net.outputs} output{'s' if net.outputs > 1 else ''}"
