"""The rule learner: a rule, a task and an algebra, played on a model. Made by `noregret.make`."""

import time
from copy import deepcopy
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from noregret.data.blocks import Block, Rows, convert_sparse, narrow
from noregret.data.inputs import LabelsLike, RowLike, RowsLike, WeightsLike
from noregret.data.transcript import Transcript
from noregret.errors import BadValue, Error, NotLearned, shown
from noregret.features.frames import convert_frame, labels_to_list
from noregret.features.hashing import HashedNames
from noregret.features.transforms import Pipeline, Transform, as_pipeline
from noregret.jit.cache import seconds_waited
from noregret.learner.bandit import BanditFeedback
from noregret.learner.change import LOCKING, Locked
from noregret.learner.choose_path import open_fast_path
from noregret.learner.config import Config, resolve
from noregret.learner.diagnose import check_scores, find_overflow, find_rule_error
from noregret.learner.display import Displayed
from noregret.learner.encode import encode_rows, one_row
from noregret.learner.engine import Loops
from noregret.learner.fast_path import FastPath
from noregret.learner.model import Model
from noregret.learner.model_file import Arrays, FindCard, Header, pack, register_kind, save, unpack
from noregret.learner.named import made_with
from noregret.learner.outside_steps import OutsideSteps
from noregret.learner.probabilities import ClassProbabilities
from noregret.learner.scoring import score_block
from noregret.learner.transaction import Overflow, RuleRaised, Transaction
from noregret.learner.transcribe import transcribe
from noregret.learner.weights import NamedWeights
from noregret.rules.method_card import MethodCard
from noregret.rules.rule_card import RuleCard
from noregret.state.growth import use_features
from noregret.tasks.outcome import Outcome

PART = 1024  # rows of a sparse matrix that a dense learner scores in one go


@register_kind
class RuleLearner(BanditFeedback, OutsideSteps, ClassProbabilities, NamedWeights, Displayed, Locked):
    """Learns from rounds, one at a time or many, and predicts."""

    kind: ClassVar[str] = "rule"

    def __init__(self, config: Config) -> None:
        self.model = Model.new(config)
        self.source: dict[str, Any] | None = None  # what the doors remember of the data, kept in the model file
        self._loops = Loops()
        self._make_lock()

    @classmethod
    def of(cls, model: Model) -> Self:
        """A learner around a model."""
        new = cls.__new__(cls)
        new.model, new.source, new._loops = model, None, Loops()
        new._make_lock()
        new._loops.bind(model)
        return new

    # ---- learning ------------------------------------------------------------------------------------------------

    def learn(self, X: RowsLike, y: LabelsLike = None, weight: WeightsLike = None, query: Any = None) -> Self:
        """Learn every round, in order, as `learn_one` in a loop does; for ranking, query names the list of each row."""
        y = labels_to_list(y)
        with self._lock:
            self._change.settle()
            self._play(X, self.model.task.accept(y, query), weight, keep=False)
        return self

    def play(self, X: RowsLike, y: LabelsLike = None, weight: WeightsLike = None, query: Any = None) -> Transcript:
        """Predict, then learn, every round; returns what happened."""
        began, y = time.perf_counter() - seconds_waited(), labels_to_list(y)
        with self._lock:
            self._change.settle()
            y = self.model.task.accept(y, query)
            outcomes = self._play(X, y, weight)
            return transcribe(self.model, outcomes, y, time.perf_counter() - seconds_waited() - began)

    def learn_one(self, x: RowLike, y: LabelsLike = None, weight: float | None = None) -> Self:
        """Learn one round. x is a dict of features by name or number, or a row of numbers."""
        with self._lock:
            fast = self._loops.fast_path or self._open_fast_path()
            if fast is None or not fast.learn(x, y, weight):
                self._play(self._one(x), [y], weight, keep=False)
        return self

    def _play(self, X: RowsLike, y: LabelsLike, weight: WeightsLike, keep: bool = True) -> list[Outcome]:
        """Play every round, all or none; returns what happened, if it is to be kept. The caller has the lock."""
        X = convert_frame(X, self.model.config.allows_missing)
        self._loops.refuse_reentry()
        transaction = Transaction(self.model, self._loops, X, y, weight)
        transaction.keeps_outcomes = keep
        try:
            return transaction.run(self._change)
        except Overflow:
            raise find_overflow(self.model, X, transaction.y, weight) from None
        except RuleRaised:
            raise find_rule_error(self.model, X, transaction.y, weight, transaction.counted) from None
        except MemoryError:
            raise Error(
                f"{self.card.name} has no memory left for these rows and classes; nothing of this call was learned. "
                "Learn fewer rows in a call, or hash the features (bits=20)"
            ) from None

    def interpret(self) -> None:
        """Run the plain text from now on, at the speed of Python: the debugger's view."""
        with self._lock:
            self._change.settle()
            self.model.config = replace(self.model.config, native=False)
            self._loops.bind(self.model)

    # ---- predicting ----------------------------------------------------------------------------------------------

    def predict(self, X: RowsLike) -> NDArray[Any]:
        """The label (or target) of every row."""
        with self._lock:
            self._change.settle()
            return self.decide(self.scores(X))

    def decide(self, scores: NDArray[np.float64]) -> NDArray[Any]:
        """The label (or target) that each of these scores stands for."""
        return self.model.task.decide(self.model.labels, scores)

    def predict_one(self, x: RowLike) -> Any:
        """The label (or target) of one row; None before any label was seen."""
        with self._lock:
            fast = self._loops.fast_path or self._open_fast_path()
            if fast is not None and (found := fast.score(x)) is not None:
                if fast.two_classes:
                    return fast.sides[found >= 0.0]
                return found if fast.regression else fast.labels[found]
            if self.model.arrays is None:
                return None
            label = self.predict(self._one(x))[0]
            return label.item() if isinstance(label, np.generic) else label

    def _open_fast_path(self) -> FastPath | None:
        self._change.settle()  # while a change is under way there is no fast path
        if self.model.arrays is not None:
            self._loops.fast_path = open_fast_path(self.model, self._loops, self._change)
        return self._loops.fast_path

    def scores(self, X: RowsLike) -> NDArray[np.float64]:
        """The score of every row: (n,) for two classes and regression, (n, classes) otherwise."""
        with self._lock:
            self._change.settle()
            self._must_have_learned()
            model = self.model
            if model.algebra == "dense" and hasattr(X, "tocsr") and X.shape[0] > PART:  # never all of it at once
                rows = Rows(convert_sparse(X))
                return np.concatenate([self.scores(rows[at : at + PART]) for at in range(0, len(rows), PART)])
            out = score_block(model, self._loops, self._encode(X))
            if out is None:
                slow = self.copy()
                slow.interpret()
                return slow.scores(X)
            check_scores(out)
            return out

    def scores_one(self, x: RowLike) -> Any:
        """The score of one row: a number for two classes and regression, a dict by label otherwise."""
        with self._lock:
            self._change.settle()
            self._must_have_learned()
            fast = self._loops.fast_path or self._open_fast_path()
            if fast is not None and fast.score(x) is not None:
                scores = fast.out
            else:
                scores = np.atleast_1d(self.scores(self._one(x))[0])
            each: list[float] = scores.tolist()
            return dict(zip(self.model.labels.order, each, strict=True)) if self.model.task.many else each[0]

    def explain_one(self, x: RowLike, label: Any = None) -> dict[Any, float]:
        """What each feature of a row adds to its score, by name, the largest first.

        For many classes: to the score of `label`, by default the predicted one. Where scores are not sums over
        features: what the score would lose without the feature.
        """
        from noregret.learner.explain import explain_one

        with self._lock:
            self._change.settle()
            self._must_have_learned()
            return explain_one(self.model, self.scores, x, label)

    def _must_have_learned(self) -> None:
        if self.model.arrays is None:
            raise NotLearned(f"{self.card.name} has not seen a label yet; learn something first")

    def _one(self, x: RowLike) -> Any:
        """A single row as a batch of one; what it holds does not matter where rows are not looked at."""
        whole = self.model.card.ignores_features or self.model.config.rows_are_objects
        return [x] if whole else one_row(x, self.model.config.allows_missing)

    def _encode(self, X: RowsLike, include_unknown: bool = False) -> Block:
        """Rows to be scored as a block no wider than the state, unless unknown features are to be included."""
        model = self.model
        include_unknown = include_unknown or model.scores_unknown
        try:
            block = encode_rows(model, X, grow=False, include_unknown=include_unknown)
        finally:
            self._loops.check_fast_path()
        if model.space is None or not block.rows:
            return block
        if not include_unknown and model.names.mode != "names" and not model.config.transforms:
            return narrow(block, model.space.features)
        if block.width > model.space.room:
            self._loops.refuse_reentry()
            self._make_room(block.width)
        if model.full_covariance:
            use_features(model.arrays, block.width)
        return block

    def _make_room(self, width: int) -> None:
        """Cells for features that are only scored."""

        def grow() -> None:
            self.model.make_room(width)
            self._loops.bind(self.model)

        self._change.save_and_run(lambda: self._loops.save(self.model), grow)

    # ---- keeping -------------------------------------------------------------------------------------------------

    def copy(self) -> Self:
        """An independent learner in the same state."""
        with self._lock:
            self._change.settle()
            new = self._copy()
            new.source = deepcopy(self.source)
            return new

    def _copy(self) -> Self:
        return type(self).of(self.model.copy())

    def __deepcopy__(self, memo: Any) -> Self:
        return self.copy()

    def revert_to(self, saved: Self) -> None:
        """Take the state of a copy made earlier, which must not be used any more."""
        with self._lock:
            self._change.settle()
            vars(self).update({name: value for name, value in vars(saved).items() if name not in LOCKING})

    def save(self, path: Any) -> None:
        """Write the learner to a file; whatever was there stays until the new file is complete."""
        with self._lock:
            self._change.settle()
            save(self, path)

    def dump(self) -> tuple[Header, Arrays]:
        """The learner as a header and named arrays, for the model file."""
        from noregret.learner.rule_file import dump_model

        with self._lock:
            self._change.settle()
            return dump_model(self.model)

    @classmethod
    def restore(cls, header: Header, arrays: Arrays, find_card: FindCard) -> Self:
        """A learner from a header and named arrays, all checked."""
        from noregret.learner.rule_file import restore_model

        model = restore_model(header, arrays, find_card)
        if header.get("reads") is None:
            return cls.of(model)
        from noregret.learner.table_learner import TableLearner

        if header["reads"] != "table":
            raise BadValue(f"the model reads {shown(header['reads'])}, which this noregret does not know; upgrade")
        table = TableLearner.of(model)
        table.reading.restore(header.get("kinds"))
        return table  # type: ignore[return-value]

    def with_source(self, source: dict[str, Any] | None) -> "RuleLearner":
        """This learner with what a model file says of its source; it reads rows of a table as those it learned."""
        from noregret.features.table_rows import TableReading

        self.source = source
        reading = TableReading.from_source(source, self.model.config.allows_missing)
        if reading is None:
            return self
        from noregret.learner.table_learner import TableLearner

        return TableLearner.around(self, reading)

    def merge(self, other: "RuleLearner") -> Self:
        """A new learner that pools this one and another, as far as the card's merge law goes."""
        from noregret.learner.merge import merge_models

        if not isinstance(other, RuleLearner):
            raise BadValue(f"a rule learner can be merged only with a rule learner, not with {other!r}")
        return type(self).of(merge_models(self.copy().model, other.copy().model))

    def __reduce__(self) -> Any:
        with self._lock:
            self._change.settle()
            own = self.config.own_functions
            return unpack, (pack(self), "the pickled learner", None, None, own)

    def __ror__(self, steps: Transform | Pipeline) -> "RuleLearner":
        """A fresh learner like this one behind transforms: `scale() | make("arow")`."""
        if not isinstance(steps, (Transform, Pipeline)):
            raise BadValue(f"before a learner stands a transform such as nr.scale(), not {shown(steps)}")
        if self.model.arrays is not None or self.rounds:
            raise BadValue(f"{self.card.name} has learned already; cannot add transforms to a trained learner. "
                           "Create a new one")  # fmt: skip
        config = self.model.config
        if config.named is not None:
            before = [*steps, *as_pipeline(config.named.given.get("transforms"))]
            return config.named.card.build(**{**config.named.given, "transforms": before})  # type: ignore[no-any-return]
        return type(self)(resolve(config.card, {**config.given, "transforms": [*steps, *config.transforms]}))

    def __repr__(self) -> str:
        given = made_with(self.model.config)
        steps = "".join(f"{step!r} | " for step in as_pipeline(given.get("transforms")))
        parameters = sorted(item for item in given.items() if item[0] != "transforms")
        options = "".join(f", {name}={value!r}" for name, value in parameters)
        return f"<{steps}{self.card.name}{options}: {self.task}, {self.rounds} rounds, {self.mistakes} mistakes>"

    # ---- looking at it -------------------------------------------------------------------------------------------

    @property
    def card(self) -> RuleCard | MethodCard:
        """What the rule declares: paper, parameters, guarantee, merge law."""
        named = self.model.config.named
        return self.model.card if named is None else named.card

    @property
    def config(self) -> Config:
        """The arguments it was made with, checked."""
        return self.model.config

    @property
    def task(self) -> str:
        """The name of the task; binary becomes multiclass at the third class, unless it was asked for."""
        return self.model.task.name

    @property
    def algebra(self) -> str | None:
        """How its vectors are stored; decided by the first data, unless it was asked for."""
        return self.model.algebra

    @property
    def rounds(self) -> int:
        """How many rounds were learned."""
        return self.model.rounds

    @property
    def updates(self) -> int:
        """On how many of them the rule changed its state."""
        return self.model.updates

    @property
    def mistakes(self) -> int:
        """How many of them would have been predicted wrongly, just before they were learned."""
        return self.model.mistakes

    @property
    def nonzeros(self) -> int:
        """How many features have a weight that is not zero, for some class; of a kernel learner, its supports."""
        from noregret.learner.explain import count_nonzeros

        with self._lock:
            self._change.settle()
            return count_nonzeros(self.model)

    @property
    def collisions(self) -> int:
        """How many cells more than one feature shares, where names are hashed (`bits`)."""
        return self.model.names.collisions if isinstance(self.model.names, HashedNames) else 0

    @property
    def classes(self) -> list[Any]:
        """The labels seen so far, in order of appearance."""
        return self.model.labels.order

    @property
    def features(self) -> list[Any]:
        """The features that have weights, by name or number: those of the rows, or what transforms make of them."""
        with self._lock:
            self._change.settle()
            return self.model.feature_names()

    @property
    def params(self) -> dict[str, Any]:
        """Every parameter of the rule and of the task, as in use."""
        config, task = self.model.config, self.model.config.task
        found = {**config.numbers, **dict(config.choices), **task.numbers, **task.chosen}
        if config.named is not None:
            mapped = dict(config.transforms.steps[-1].options) if config.transforms else {}
            found = {**{name: value for name, value in mapped.items() if name in config.named.card.params}, **found}
        return found if task.queries_labels else {name: found[name] for name in found if name not in ("labels", "ask")}
