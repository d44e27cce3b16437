"""Predictions of a module: the scores of rows, and the probabilities of classes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.data.blocks import Block, verify
from noregret.data.inputs import RowLike, RowsLike
from noregret.errors import BadValue, Error, NotLearned, is_quit
from noregret.learner.encode import encode_rows, one_row
from noregret.neural.modules.module_rounds import current_scale
from noregret.neural.modules.random_numbers import Restored, get_random, set_random, take_turn
from noregret.neural.modules.row_tensors import NUMBERS, as_rows
from noregret.neural.modules.tensors import load_torch
from noregret.neural.modules.trained_module import TrainedModule, explain
from noregret.neural.read_labels import ReadLabels

Floats = NDArray[np.float64]


class OnlinePredictions(ReadLabels):
    """What a learner that trains a module predicts; nothing is changed by it, not even random numbers."""

    net: TrainedModule

    def scores(self, X: RowsLike) -> Floats:
        """The score of every row: (n,) for two classes and regression, (n, classes) otherwise."""
        with self._lock:
            self._change.settle()
            net, model = self.net, self.reader
            if model.space is None:
                raise NotLearned(f"{self.card.name} has not seen a label yet; learn something first")
            block = verify(encode_rows(model, X, grow=False, include_unknown=True))
            outputs = take_turn(lambda: self.pass_rows(block))
            mean, deviation = current_scale(net)
            known = len(model.labels)
            return self.to_scores(outputs, known, np.full(block.rows, mean), np.full(block.rows, deviation))

    def pass_rows(self, block: Block) -> Floats:
        """The outputs for all rows, each computed by itself, so that no result depends on how rows are batched."""
        torch, net = load_torch(), self.net
        found = np.zeros((block.rows, net.outputs))
        restored, row = Restored(get_random(net.device), net.device), 0
        try:
            with restored, restored, torch.inference_mode(False), torch.no_grad():
                set_random(net.random, net.device)
                size = max(1, NUMBERS // max(net.features, 1))
                for start in range(0, block.rows, size):
                    x = as_rows(net, block, slice(start, min(start + size, block.rows)))
                    outputs: list[Any] = []
                    for one in x.split(1):
                        row = start + len(outputs)
                        outputs.append(net.predict(one).reshape(1, -1))
                    found[start : row + 1] = torch.cat(outputs).double().cpu().numpy()
        except Exception as error:
            if is_quit(error) or isinstance(error, (Error, MemoryError)):
                raise
            raise BadValue(f"row {row}: the module failed: {explain(error)}", row=row) from error
        wrong = np.flatnonzero(~np.isfinite(found).all(axis=1))
        if wrong.size:
            raise BadValue(f"row {wrong[0]}: an output of the module is not finite: the values are too large; scale "
                           "the features", row=int(wrong[0]))  # fmt: skip
        return found

    def to_scores(self, outputs: Floats, known: int, means: Floats, deviations: Floats) -> Floats:
        """Scores as the task has them, of the outputs of a module, where so many classes are known."""
        task, labels = self.reader.task, self.reader.labels
        if task.real:
            return np.asarray(means + deviations * outputs[:, 0])
        if task.many:
            return outputs[:, :known]
        if outputs.shape[1] == 1:
            return np.asarray(self.net.sign * outputs[:, 0])
        return np.asarray(labels.signs(known)[0] * (outputs[:, 0] - outputs[:, 1]))

    def predict(self, X: RowsLike) -> NDArray[Any]:
        """The label (or target) of every row."""
        with self._lock:
            self._change.settle()
            found = self.scores(X)
            return self.reader.task.decide(self.reader.labels, found)

    def predict_proba_one(self, x: RowLike) -> dict[Any, float]:
        """The probability of every class for one row, by label; empty before any label was seen."""
        with self._lock:
            self._change.settle()
            if self.reader.space is None:
                return {}
            return dict(zip(self.reader.labels.order, self.predict_proba(one_row(x))[0].tolist(), strict=True))
