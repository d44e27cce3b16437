"""What all networks have in common as learners: rows and labels in, rounds, predictions, probabilities, model files."""

import time
from collections.abc import Mapping
from itertools import groupby
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from noregret.data.blocks import Block, DenseBlock, SparseBlock, narrow, verify
from noregret.data.inputs import LabelsLike, RowLike, RowsLike, WeightsLike
from noregret.data.transcript import Transcript
from noregret.errors import BadValue, Error, NotLearned
from noregret.features.frames import convert_frame, labels_to_list
from noregret.features.transforms import as_pipeline
from noregret.jit.cache import seconds_waited
from noregret.learner.base_learner import BaseLearner, Transforms
from noregret.learner.encode import encode_rows
from noregret.learner.header_fields import corrupt
from noregret.learner.model import Model
from noregret.learner.model_file import Arrays, FindCard, Header
from noregret.learner.outside_rounds import (
    OutputChange,
    OutsideTransaction,
    dump_outside,
    restore_outside,
    start_model,
)
from noregret.learner.transcribe import transcribe
from noregret.neural.memory import remembered_features
from noregret.neural.net import Rounds
from noregret.neural.network import TASKS, Architecture, Network, NetworkSavepoint
from noregret.neural.network_file import dump_network, restore_network
from noregret.neural.one_row import SingleRows
from noregret.neural.read_labels import ReadLabels
from noregret.rules.method_card import MethodCard

Floats = NDArray[np.float64]
SHARED = ("task", "classes", "class_weight", "transforms", "scale", "bits", "columns", "bias", "seed", "native")
READERS = ("classes", "class_weight")  # options that the file has in what it says of the reader
SCORED = 1 << 12  # rows that are scored in one go


class NetworkTransaction(OutsideTransaction):
    """One call of a network."""

    def __init__(self, learner: "NetworkLearner", X: RowsLike, y: LabelsLike, weight: WeightsLike) -> None:
        super().__init__(learner.reader, X, y, weight)
        self.learner = learner

    def save_own(self) -> Any:
        network = self.learner.network
        if network is None:
            return LearnerSavepoint(self.learner, None)
        touched = None
        if isinstance(self.block, SparseBlock) and not network.ends_batch(self.block.rows):
            given = self.block.idx[: int(self.block.indptr[-1])]
            touched = np.unique(np.concatenate((given, remembered_features(network.memory)))).astype(np.int64)
        return LearnerSavepoint(self.learner, NetworkSavepoint(network, touched))

    def attempt(self, checked: bool) -> list[Any]:
        outcomes = super().attempt(checked)
        self.learner.rounds, self.learner.updates, self.learner.mistakes = self.model.counts()
        return outcomes

    def grow_own(self, start: int, change: OutputChange) -> None:
        learner, network = self.learner, self.learner.network
        if network is None:
            network = Network(learner.architecture, row_length(self.block, start), change.outputs)
        elif change.negative is not None:
            network.become_multiclass(change.negative, change.outputs)
        elif change.flips:
            network.flip()
        elif change.outputs > network.layout.outputs:
            network.add_outputs(change.outputs)
        network.make_room(self.block.width)
        network.features = max(network.features, self.block.width)
        learner.network = network

    def play_own(self, rows: slice, y: Floats, out: Floats, outcome: tuple[NDArray[np.uint8], Floats]) -> None:
        network, model = self.learner.network, self.model
        assert network is not None
        rounds = Rounds(np.ascontiguousarray(y), np.ascontiguousarray(self.h[rows]), out, *outcome)
        fault = network.run(model.task.name, cut(self.block, rows), rounds, model.config.native, True)
        if fault >= 0:
            row = rows.start + fault
            raise BadValue(
                f"round {model.rounds + row + 1} (row {row} of this call): the loss or a gradient is no longer finite; "
                "nothing of this call was learned. Scale the features, or take a smaller eta",
                row=row,
            )


class LearnerSavepoint:
    """A learner before a call; a learner that has learned nothing has no network."""

    covers_all = True

    def __init__(self, learner: "NetworkLearner", contents: NetworkSavepoint | None) -> None:
        self.learner, self.contents = learner, contents
        self.own = {name: getattr(learner, name) for name in ("network", "rounds", "updates", "mistakes")}

    def rollback(self) -> None:
        """Bring the learner back; may be repeated."""
        if self.contents is not None:
            self.contents.rollback()
        vars(self.learner).update(self.own)

    def is_finite(self, arrays: Any) -> bool:
        """The loop lets no number become infinite."""
        return True


class NetworkLearner(ReadLabels, BaseLearner):
    """A network that learns one round at a time. Subclasses say what it is made of."""

    kind: ClassVar[str]
    earlier: ClassVar[Mapping[str, Any]] = {}  # parameters that came later, with what they were before

    def __init__(self, params: Mapping[str, Any], shared: Mapping[str, Any]) -> None:
        super().__init__()
        self.given_params, self.shared_options = dict(params), dict(shared)
        self.reader = self.make_reader()
        self.network: Network | None = None
        self.architecture = self.design()
        self._single_rows = SingleRows()

    def design(self) -> Architecture:
        """What the network is made of."""
        raise NotImplementedError

    @classmethod
    def build(cls, **given: Any) -> Self:
        """A fresh learner of these parameters and options, all checked."""
        assert isinstance(cls.card, MethodCard)
        made: Self = cls.card.build(**given)
        return made

    def make_reader(self) -> Model:
        """The model that reads rows and labels and turns scores into predictions."""
        shared = {name: value for name, value in self.shared_options.items() if name not in ("scale", "bias")}
        if self.reads_targets:
            shared["scale_target"] = self.given_params.get("scale_target", "yes")
        return start_model(self.card.name, shared)

    def whole(self, name: str) -> int:
        """A parameter that must be a whole number."""
        value = self.given_params[name]
        if value != int(value):
            raise BadValue(f"{self.card.name}: {name} must be a whole number, not {value!r}")
        return int(value)

    @property
    def scales(self) -> bool:
        """Whether features are scaled by their earlier values."""
        scale = self.shared_options.get("scale", True)
        if not isinstance(scale, bool):
            raise BadValue(f"{self.card.name}: scale must be True or False, not {scale!r}")
        return scale

    @property
    def has_bias(self) -> bool:
        """Whether every layer has a constant unit."""
        bias = self.shared_options.get("bias", True)
        if bias not in (True, False, "auto"):
            raise BadValue(f"{self.card.name}: bias must be True or False, not {bias!r}")
        return bias is not False

    @property
    def reads_targets(self) -> bool:
        return self.shared_options.get("task") == "regression"

    def matrices(self) -> list[Floats]:
        """The weights, a matrix for every level: a row for the bias, if there is one, then one for each unit it reads.

        Columns lead to the units of the next level, then to the outputs of the level, where it has some.
        """
        with self._lock:
            self._change.settle()
            return self.require_network().matrices()

    def describe_results(self) -> list[str]:
        """The sizes of the network, in words."""
        with self._lock:
            self._change.settle()
            if self.network is None:
                return [f"{self.card.name} has no weights yet"]
            made, outputs = self.architecture, self.network.layout.outputs
            runs = [(size, len(list(same))) for size, same in groupby(made.hidden)]
            hidden = [f"{count} x {size}" if count > 1 else str(size) for size, count in runs]
            sizes = " - ".join([str(self.network.features), *hidden, str(outputs)])
            return [f"network     {sizes}, {self.network.layout.length(self.network.features):,} weights"]

    def put_behind(self, steps: Transforms) -> Self:
        if self.network is not None or self.rounds:
            raise BadValue(f"{self.card.name} has learned already; cannot add transforms to a trained learner. "
                           "Create a new one")  # fmt: skip
        before = [*as_pipeline(steps), *as_pipeline(self.shared_options.get("transforms"))]
        return self.build(**{**self.given_params, **self.shared_options, "transforms": before})

    # ---- rounds --------------------------------------------------------------------------------------------------

    def play(
        self, X: RowsLike, y: LabelsLike = None, weight: WeightsLike = None, query: LabelsLike = None
    ) -> Transcript:
        """Predict, then learn, every round; all of them, or none."""
        began, y = time.perf_counter() - seconds_waited(), labels_to_list(y)
        with self._lock:
            self._change.settle()
            outcomes, y = self._run(X, y, weight, query, True)
            return transcribe(self.reader, outcomes, y, time.perf_counter() - seconds_waited() - began)

    def learn(self, X: RowsLike, y: LabelsLike = None, weight: WeightsLike = None, query: LabelsLike = None) -> Self:
        """Learn every round, in order, as `learn_one` in a loop does; all of them, or none."""
        y = labels_to_list(y)
        with self._lock:
            self._change.settle()
            self._run(X, y, weight, query, False)
        return self

    def learn_one(self, x: RowLike, y: Any = None, weight: float | None = None) -> Self:
        """Learn one round."""
        with self._lock:
            self._change.settle()
            if weight is None and self._single_rows.learn(self, x, y):
                return self
        return super().learn_one(x, y, weight)

    def _run(self, X: RowsLike, y: Any, weight: WeightsLike, query: Any, keep: bool) -> tuple[list[Any], Any]:
        y = self.reader.task.accept(y, query)
        X = convert_frame(X, self.reader.config.allows_missing)
        transaction = NetworkTransaction(self, X, y, weight)
        transaction.keeps_outcomes = keep
        try:
            return transaction.run(self._change), y
        except MemoryError:
            raise Error(
                f"{self.card.name} has no memory left for these rows and classes; nothing of this call was learned. "
                "Learn fewer rows in a call, or use fewer units"
            ) from None

    # ---- predicting ----------------------------------------------------------------------------------------------

    def require_network(self) -> Network:
        if self.network is None:
            raise NotLearned(f"{self.card.name} has not seen a label yet; learn something first")
        return self.network

    def scores(self, X: RowsLike) -> Floats:
        """The score of every row: (n,) for two classes and regression, (n, classes) otherwise.

        Scores are log-odds of two classes, and logarithms of probabilities, up to a constant, of many.
        """
        with self._lock:
            self._change.settle()
            network, model = self.require_network(), self.reader
            block = verify(encode_rows(model, X, grow=False, include_unknown=True))
            if isinstance(block, DenseBlock) and block.width > network.features and not model.config.grows:
                block = narrow(block, network.features)
            wide = network
            if block.width > network.room:  # features never learned have their first weights
                wide = network.copy()
                wide.make_room(block.width)
            out = model.task.make_scores(block.rows, len(model.labels))
            flat, columns = out.reshape(-1), wide.layout.outputs
            for start in range(0, block.rows, SCORED):
                rows = slice(start, min(start + SCORED, block.rows))
                size = rows.stop - start
                room = (flat[start * columns : rows.stop * columns], np.zeros(size, np.uint8), np.zeros(size))
                fault = wide.run(model.task.name, cut(block, rows), Rounds(np.zeros(size), np.zeros(size), *room),
                                 model.config.native, False)  # fmt: skip
                if fault >= 0:
                    raise BadValue(f"row {start + fault}: the score is not finite: the values are too large; scale the "
                                   "features", row=start + fault)  # fmt: skip
            return out

    def predict(self, X: RowsLike) -> NDArray[Any]:
        """The label (or target) of every row."""
        with self._lock:
            self._change.settle()
            return self.reader.task.decide(self.reader.labels, self.scores(X))

    def predict_one(self, x: RowLike) -> Any:
        """The prediction for one row; None before anything was learned."""
        with self._lock:
            self._change.settle()
            scores, task = self._single_rows.score(self, x), self.reader.task
            if scores is None:
                return super().predict_one(x)
            found = task.decide(self.reader.labels, scores.reshape(1, -1) if task.many else scores)[0]
            return found.item() if hasattr(found, "dtype") else found

    def predict_proba_one(self, x: RowLike) -> dict[Any, float]:
        """The probability of every class for one row, by label; empty before any label was seen."""
        from noregret.learner.encode import one_row

        with self._lock:
            self._change.settle()
            if self.network is None:
                return {}
            return dict(zip(self.classes, self.predict_proba(one_row(x))[0].tolist(), strict=True))

    # ---- copies and files ----------------------------------------------------------------------------------------

    def copy(self) -> Self:
        """An independent learner in the same state, copied in memory."""
        with self._lock:
            self._change.settle()
            new = self.build(**self.given_params, **self.shared_options)
            new.reader = self.reader.copy()
            new.network = None if self.network is None else self.network.copy()
            new.source = None if self.source is None else dict(self.source)
            new.rounds, new.updates, new.mistakes = self.rounds, self.updates, self.mistakes
            return new

    def dump(self) -> tuple[Header, Arrays]:
        with self._lock:
            self._change.settle()
            reader, arrays = dump_outside(self.reader)
            found = {f"reader/{name}": values for name, values in arrays.items()}
            network = None
            if self.network is not None:
                network, own = dump_network(self.network)
                found |= {f"network/{name}": values for name, values in own.items()}
            shared = {name: value for name, value in self.shared_options.items() if name not in READERS}
            if "transforms" in shared:
                shared["transforms"] = [str(step) for step in as_pipeline(shared["transforms"])]
            header = {"params": self.given_params, "options": shared, "reader": reader, "network": network}
            return {**header, **self.dump_counts()}, found

    @classmethod
    def restore(cls, header: Header, arrays: Arrays, find_card: FindCard) -> Self:
        params, shared, saved = header.get("params"), header.get("options"), header.get("reader")
        if not (isinstance(params, dict) and isinstance(shared, dict) and isinstance(saved, dict)):
            raise corrupt("params, options and reader must be tables")
        params = {**cls.earlier, **params}
        reader = restore_outside(cls.card.name, saved, part_of(arrays, "reader/"), find_card)
        own = {name: value for name, value in reader.config.given.items() if name in READERS}
        try:
            new: Self = cls.build(**params, **shared, **own)
        except (BadValue, TypeError) as error:
            raise corrupt(str(error)) from None
        if new.reader.config.given != reader.config.given or new.params != params:
            raise corrupt("its reader is not that of its options")
        new.reader = reader
        new.restore_counts(header)
        if (new.rounds, new.updates, new.mistakes) != reader.counts():
            raise corrupt("its counts do not agree")
        network, weights = header.get("network"), part_of(arrays, "network/")
        if (network is None) != (reader.space is None) or (network is None and weights):
            raise corrupt("it has a network and no features, or the other way round")
        if network is not None:
            if not isinstance(network, dict) or reader.algebra not in ("sparse", "dense"):
                raise corrupt("its network must be a table")
            outputs = reader.task.blocks(len(reader.labels))
            new.network = restore_network(new.architecture, network, weights, TASKS[reader.task.name], outputs)
            if new.network.features != reader.known_space.features:
                raise corrupt("its network has other features than its reader")
        return new


def part_of(arrays: Arrays, start: str) -> Arrays:
    """The arrays under a name."""
    return {name.removeprefix(start): values for name, values in arrays.items() if name.startswith(start)}


def row_length(block: Block, row: int) -> int:
    """How many features a row has; of a matrix, its columns."""
    return block.width if isinstance(block, DenseBlock) else int(block.indptr[row + 1] - block.indptr[row])


def cut(block: Block, rows: slice) -> Block:
    """Some rows of a block."""
    if isinstance(block, DenseBlock):
        return DenseBlock(block.val[rows])
    first, last = int(block.indptr[rows.start]), int(block.indptr[rows.stop])
    return block._replace(
        indptr=block.indptr[rows.start : rows.stop + 1] - first, idx=block.idx[first:last], val=block.val[first:last]
    )
