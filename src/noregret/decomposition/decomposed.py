"""A decomposition in front of a learner: rows become components, and the learner learns these."""

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from noregret.data.inputs import LabelsLike, RowLike, RowsLike, WeightsLike
from noregret.data.transcript import Transcript
from noregret.decomposition.base import UnsupervisedLearner
from noregret.decomposition.steady import SteadyLearner
from noregret.errors import BadValue, shown
from noregret.learner.arguments import as_learner, describe, with_probabilities
from noregret.learner.base_learner import BaseLearner, Transforms
from noregret.learner.change import Locked, Undo
from noregret.learner.encode import one_row
from noregret.learner.header_fields import corrupt
from noregret.learner.model_file import Arrays, FindCard, Header, dump_part, register_kind, restore_part
from noregret.learner.protocol import Learner
from noregret.learner.variants import name_learner, write
from noregret.learner.whole_change import run_whole
from noregret.rules.method_card import method_card
from noregret.rules.parameters import Component

NAMED = ("task", "scale", "bias", "bits", "columns", "seed")  # options of the parts that stand in the name of both


@register_kind
@method_card(
    paper="Massy, Principal components regression in exploratory statistical research, Journal of the American "
    "Statistical Association 60, 1965",
    kind="decomposed",
    tasks=("binary", "multiclass", "regression", "multilabel", "one-class", "ranking", "bandit", "unsupervised"),
    params={
        "decomposition": Component("svd", "the learner without labels that makes components of rows"),
        "learner": Component("arow", "the learner of the components"),
    },
    weights=True,
)
class Decomposed(BaseLearner):
    """A learner behind a decomposition: it sees the components of every row instead of its features.

    `nr.make("svd", rank=50) | nr.make("arow")` makes one. A row becomes components by what was known before its
    mini-batch; then both learn it, or, if either refuses it, none.
    """

    kind: ClassVar[str] = "decomposed"

    def __init__(self, decomposition: UnsupervisedLearner[Any] | str, learner: Learner | str) -> None:
        super().__init__()
        first = as_learner(decomposition, "decomposed")
        if not isinstance(first, UnsupervisedLearner):
            raise BadValue(f'decomposed needs a decomposition, such as nr.make("svd"), before a learner, not {first!r}')
        if isinstance(first, SteadyLearner):
            first.keep_steady()
        self.decomposition: UnsupervisedLearner[Any] = first
        self.learner = as_learner(learner, "decomposed")
        if self.learner.task not in self.card.tasks:
            raise BadValue(f"{self.learner.card.name} cannot learn components of rows: its task is {self.learner.task}")

    @property
    def task(self) -> str:
        return self.learner.task

    @property
    def params(self) -> dict[str, Any]:
        return {"decomposition": describe_part(self.decomposition), "learner": describe_part(self.learner)}

    @property
    def features(self) -> int:
        """How many features the rows so far have."""
        with self._lock:
            self._change.settle()
            return self.decomposition.features

    @property
    def classes(self) -> list[Any]:
        """The classes that the learner knows."""
        return list(getattr(self.learner, "classes", None) or ())

    def __repr__(self) -> str:
        return f"<{self.decomposition!r} | {self.learner!r}>"

    # ---- rounds --------------------------------------------------------------------------------------------------

    def play(
        self, X: RowsLike, y: LabelsLike = None, weight: WeightsLike = None, query: LabelsLike = None
    ) -> Transcript:
        """Predict, then learn, every round, by its components; all of them, or none."""

        def act() -> Transcript:
            components = self.decomposition.play(X).scores
            transcript = self.learner.play(as_rows(components), y, weight, query)
            self.rounds += transcript.rounds
            self.mistakes += int(np.count_nonzero(transcript.mistakes))
            self.updates += int(np.count_nonzero(transcript.updated))
            return transcript

        with self._lock:
            self._change.settle()
            return run_whole(self._change, lambda: [self.decomposition, self.learner], self._own_state, act)

    def learn_one(self, x: RowLike, y: Any = None, weight: float | None = None) -> Self:
        """Learn one round."""
        row = one_row(x, self.decomposition.row_config.allows_missing)
        if not isinstance(self.learner, Locked):
            return self.learn(row, [y], weight)
        with self._lock:
            self._change.settle()
            self._learn_row(self.learner, row, y, weight)
        return self

    def _learn_row(self, learner: Any, row: Any, y: Any, weight: float | None) -> None:
        """A round ends with a call of the learner, all or nothing: it is complete as soon as the learner counts it."""

        def save() -> Undo:
            undo_first, learned, count = self.decomposition.undo_of_calls(), learner.rounds, self._counter(learner)

            def undo() -> None:
                with learner._lock:
                    learner._change.settle()
                    if learner.rounds > learned:
                        count()
                    else:
                        undo_first()

            return undo

        def act() -> None:
            count = self._counter(learner)
            components = as_rows(self.decomposition.play(row).scores)
            learner.learn_one(components[0], y, weight)
            count()

        self._change.save_and_run(save, act)

    def _counter(self, learner: Any) -> Callable[[], None]:
        """A function that counts the round which the learner learns from now on; it may be called again."""
        rounds, mistakes, updates = self.rounds, self.mistakes - learner.mistakes, self.updates - learner.updates

        def count() -> None:
            self.rounds = rounds + 1
            self.mistakes, self.updates = mistakes + learner.mistakes, updates + learner.updates

        return count

    def transform(self, X: RowsLike) -> NDArray[Any]:
        """The components of every row, as the learner sees them."""
        with self._lock:
            self._change.settle()
            return as_rows(self.decomposition.score_settled(X).components)

    def predict(self, X: RowsLike) -> NDArray[Any]:
        """What the learner predicts for the components of every row."""
        with self._lock:
            self._change.settle()
            return self.learner.predict(self.transform(X))

    def predict_one(self, x: RowLike) -> Any:
        """The same for one row; None before anything was learned."""
        with self._lock:
            self._change.settle()
            row = one_row(x, self.decomposition.row_config.allows_missing)
            return self.learner.predict_one(self.transform(row)[0])

    def predict_proba(self, X: RowsLike) -> NDArray[Any]:
        """The probabilities of the classes, where the learner has some."""
        with self._lock:
            self._change.settle()
            return np.asarray(with_probabilities(self.learner).predict_proba(self.transform(X)))

    def __or__(self, other: object) -> "Decomposed":
        """`svd | kmeans | learner`: the learner is put behind the last decomposition."""
        if not isinstance(self.learner, UnsupervisedLearner | Decomposed):
            raise BadValue(f"nothing can be put behind {self.learner.card.name}: it makes no components")
        return put_behind_decomposition(self.decomposition, self.learner | other)

    def put_behind(self, steps: Transforms) -> Self:
        """A fresh learner like this one; the transforms come before the decomposition."""
        return type(self)(self.decomposition.put_behind(steps), self.learner.copy())

    # ---- model files ---------------------------------------------------------------------------------------------

    def dump(self) -> tuple[Header, Arrays]:
        """Both learners and the counts."""
        with self._lock:
            self._change.settle()
            first, arrays = dump_part("decomposition", self.decomposition)
            second, more = dump_part("learner", self.learner)
            return {"decomposition": first, "learner": second, **self.dump_counts()}, {**arrays, **more}

    @classmethod
    def restore(cls, header: Header, arrays: Arrays, find_card: FindCard) -> Self:
        """Both learners and the counts, all checked."""
        parts = [restore_part(name, header.get(name), arrays, find_card) for name in ("decomposition", "learner")]
        try:
            new = cls(*parts)
        except BadValue as error:
            raise corrupt(str(error)) from None
        new.restore_counts(header)
        return new


def describe_part(learner: Learner) -> dict[str, Any]:
    """The name and the parameters of one of both; the name has all options by which it can be made again."""
    found = describe(learner)
    if isinstance(learner, UnsupervisedLearner):
        rows = {name: value for name, value in learner.row_config.options.items() if name in NAMED}
        return {**found, "name": write(learner.card, {**learner.params, **rows})}
    return {**found, "name": name_learner(learner, NAMED)}


def as_rows(components: Any) -> NDArray[np.float64]:
    """Components as rows of features: 0 stands for those that are not known yet, such as distances to later centres."""
    if components is None:
        return np.zeros((0, 0))
    found = np.asarray(components, np.float64)
    if found.ndim != 2:
        raise BadValue(f"a learner can be put behind a decomposition that makes components, not {shown(components)}")
    return np.where(np.isfinite(found), found, 0.0)


def put_behind_decomposition(first: UnsupervisedLearner[Any], other: object) -> Decomposed:
    """`svd | learner`."""
    if isinstance(other, Transforms):
        raise BadValue(
            "transforms of components go together with the learner behind them: svd | (nr.scale() | learner)"
        )
    if not isinstance(other, Learner) or isinstance(other, type):
        raise BadValue(f'after a decomposition comes a learner, such as nr.make("arow"), not {shown(other)}')
    return Decomposed(first, other)
