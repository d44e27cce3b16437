"""Joint features: classes are scored by features of a row and a class together, with one weight vector for all."""

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from noregret.adapters.joint_setup import COMPETITORS, prepare
from noregret.adapters.rows import iterate_rows
from noregret.data.blocks import check_weights
from noregret.data.inputs import LabelsLike, RowLike, RowsLike, WeightsLike
from noregret.data.labels import as_array
from noregret.data.transcript import Transcript
from noregret.errors import BadValue, Error, NotLearned, shown
from noregret.jit.cache import seconds_waited
from noregret.learner.all_constraints import combine, tabulate
from noregret.learner.arguments import describe
from noregret.learner.base_learner import BaseLearner
from noregret.learner.finder import FeatureFunction, name_of
from noregret.learner.header_fields import corrupt, read_label, read_list, read_number
from noregret.learner.model_file import Arrays, FindCard, Header, dump_part, register_kind, restore_part
from noregret.learner.rule_learner import RuleLearner
from noregret.learner.whole_change import run_whole
from noregret.rules.method_card import method_card
from noregret.rules.parameters import Choice, Component

Floats = NDArray[np.float64]


@register_kind
@method_card(
    paper="Crammer, Dekel, Keshet, Shalev-Shwartz and Singer, Online passive-aggressive algorithms, JMLR 7, 2006",
    kind="joint",
    tasks=("multiclass",),
    params={
        "learner": Component("pa1", "the learner whose rule steps along differences of features"),
        "competitor": Choice("runner_up", COMPETITORS, "the class that the right one must beat; all: every other one"),
    },
    options=("features", "classes", "cost", "margin"),
    weights=True,
)
class Joint(BaseLearner):
    """Multiclass classification with `features(x, label)`, a dict of features for every class.

    The rule steps along the difference between the features of the right class and those of its competitor. Classes
    share weights where they share features. `cost`, `margin` and `competitor` mean what they mean for
    task="multiclass"; competitor="all" takes the passive-aggressive step against all other classes at once.

    The learner is a fresh rule learner, which is made anew for these options. `features` is your own function: it must
    have a name to be saved, and is given again when the model is loaded, as in nr.load(path, features=function).
    """

    kind: ClassVar[str] = "joint"
    shared: ClassVar[tuple[str, ...]] = ("features", "setup")

    def __init__(
        self,
        learner: RuleLearner | str = "pa1",
        features: FeatureFunction | None = None,
        classes: Iterable[Any] = (),
        cost: Any = None,
        margin: str | None = None,
        competitor: str = "runner_up",
    ) -> None:
        super().__init__()
        if not callable(features):
            raise BadValue(f"features must be a function of a row and a label, not {shown(features)}")
        self.features = features
        self.setup, self.learner = prepare(learner, classes, {"cost": cost, "margin": margin, "competitor": competitor})

    @property
    def task(self) -> str:
        return "multiclass"

    @property
    def classes(self) -> list[Any]:
        """The labels of all classes."""
        return self.setup.classes

    @property
    def params(self) -> dict[str, Any]:
        return {"learner": describe(self.learner), "features": name_of(self.features), **self.setup.options}

    def __repr__(self) -> str:
        return f"<joint features of {len(self.classes)} classes: {self.learner!r}, {self.rounds} rounds>"

    # ---- rounds ------------------------------------------------------------------------------------------------------

    def play(
        self, X: RowsLike, y: LabelsLike = None, weight: WeightsLike = None, query: LabelsLike = None
    ) -> Transcript:
        """Predict, then learn, every round; all of them, or none. X is a sequence of whatever `features` takes."""
        began = time.perf_counter() - seconds_waited()
        if query is not None:
            raise BadValue("joint features take rows one by one; leave query out")
        items = list(iterate_rows(X))
        truth = self.setup.encode(y, len(items))
        h = check_weights(weight, len(items))
        rows = [row for number, x in enumerate(items) for row in self.rows(x, number)]
        with self._lock:
            self._change.settle()
            many = self.setup.competitor == "all" and len(items) > 1

            def play() -> Transcript:
                return self.play_rounds(rows, truth, h, began)

            return run_whole(self._change, lambda: [self.learner], self._own_state, play, many)

    def play_rounds(
        self, rows: list[dict[Any, float]], truth: NDArray[np.int64], h: Floats | None, began: float
    ) -> Transcript:
        """Learn the rounds and count them."""
        try:
            scores, updated = self.learn_rounds(rows, truth, h)
        except BadValue as error:
            raise renumber(error, (error.row or 0) // len(self.classes)) from None
        mistakes = np.argmax(scores, axis=1) != truth if len(truth) else np.zeros(0, bool)
        self.rounds += len(truth)
        self.mistakes += int(np.count_nonzero(mistakes))
        self.updates += int(np.count_nonzero(updated))
        losses = self.setup.losses(scores, truth)
        predictions, labels = self.setup.decide(scores), as_array([self.classes[code] for code in truth])
        seconds = time.perf_counter() - seconds_waited() - began
        return Transcript(scores, predictions, losses, mistakes, updated, labels, seconds)

    def learn_rounds(
        self, rows: list[dict[Any, float]], truth: NDArray[np.int64], h: Floats | None
    ) -> tuple[Floats, NDArray[np.bool_]]:
        """The scores of every round and class before it is learned, and which rounds were updates."""
        size, required = len(self.classes), self.setup.required
        if not len(truth):
            return np.zeros((0, size)), np.zeros(0, bool)
        if self.setup.competitor == "all":
            return self.learn_all_constraints(rows, truth, h)
        right = np.zeros((len(truth), size))
        right[np.arange(len(truth)), truth] = 1.0
        y = np.column_stack((right.ravel(), required[truth].ravel()))
        weight = None if h is None else np.repeat(h, size)
        played = self.learner.play(rows, y, weight, np.repeat(np.arange(len(truth)), size))
        return played.scores.reshape(len(truth), size), played.updated

    def learn_all_constraints(
        self, rows: list[dict[Any, float]], truth: NDArray[np.int64], h: Floats | None
    ) -> tuple[Floats, NDArray[np.bool_]]:
        """The same, each round as one step for all constraints together."""
        size = len(self.classes)
        scores, updated = np.zeros((len(truth), size)), np.zeros(len(truth), bool)
        for t, code in enumerate(truth.tolist()):
            some = rows[t * size : (t + 1) * size]
            weight = None if h is None else float(h[t])
            try:
                if self.learner.model.arrays is not None:
                    scores[t] = self.learner.scores(some)
                z, margin = self.combine(some, scores[t], code, 1.0 if weight is None else weight)
                updated[t] = self.step(z, margin, weight)
            except BadValue as error:
                raise renumber(error, t * size + (error.row or 0)) from None
        return scores, updated

    def combine(
        self, rows: Sequence[Mapping[Any, float]], scores: Floats, truth: int, weight: float
    ) -> tuple[dict[Any, float], float]:
        """The mean of all constraints, weighed by their shares in the step: its example and its required margin."""
        names, table = tabulate(rows)
        rivals = np.arange(len(rows)) != truth
        Z = table[truth] - table[rivals]
        required = self.setup.required[truth][rivals]
        return combine(self.learner, names, Z, required, required - (scores[truth] - scores[rivals]), weight)

    def step(self, z: dict[Any, float], margin: float, weight: float | None) -> bool:
        """One step along z, whose score should reach the margin: a list of z and an empty row, z the better one."""
        y = np.array([[1.0, 1.0], [0.0, margin]])
        h = None if weight is None else [weight, weight]
        return bool(self.learner.play([z, {}], y, h, [0, 0]).updated[0])

    def learn_one(self, x: RowLike, y: Any = None, weight: float | None = None) -> Self:
        """Learn one round."""
        return self.learn([x], [y], weight)

    def rows(self, x: Any, number: int = 0) -> list[dict[Any, float]]:
        """The features of a row together with every class."""
        found = [self.features(x, label) for label in self.classes]
        for row in found:
            if not isinstance(row, Mapping):
                raise BadValue(f"row {number}: features must return a dict of features, not {shown(row)}", number)
        return [dict(row) for row in found]

    # ---- predictions -------------------------------------------------------------------------------------------------

    def scores(self, X: RowsLike) -> Floats:
        """The score of every row and class."""
        if self.learner.model.arrays is None:
            raise NotLearned("joint has not seen a label yet; learn something first")
        rows = [row for number, x in enumerate(iterate_rows(X)) for row in self.rows(x, number)]
        return self.learner.scores(rows).reshape(-1, len(self.classes))

    def scores_one(self, x: RowLike) -> dict[Any, float]:
        """The score of every class for one row."""
        return dict(zip(self.classes, self.scores([x])[0].tolist(), strict=True))

    def predict(self, X: RowsLike) -> NDArray[Any]:
        """The class with the highest score for every row, the first of equals."""
        return self.setup.decide(self.scores(X))

    def predict_one(self, x: RowLike) -> Any:
        """The class of one row; None before anything was learned."""
        if self.learner.model.arrays is None:
            return None
        return self.classes[int(np.argmax(self.scores([x])[0]))]

    # ---- copies and model files --------------------------------------------------------------------------------------

    def functions(self) -> dict[str, FeatureFunction]:
        return {name_of(self.features): self.features}

    def dump(self) -> tuple[Header, Arrays]:
        """The learner, the classes and options, and the name of the feature function."""
        with self._lock:
            self._change.settle()
            name = name_of(self.features)
            if not name.isidentifier():
                raise Error(f"features must be a function with a name to be saved, not {shown(self.features)}")
            learner, arrays = dump_part("learner", self.learner)
            options = {"classes": self.classes, "features": name, **self.setup.dump()}
            return {"learner": learner, **options, **self.dump_counts()}, arrays

    @classmethod
    def restore(cls, header: Header, arrays: Arrays, find_card: FindCard) -> Self:
        """The learner with its classes and options, all checked; the feature function is the caller's."""
        if not isinstance(header.get("features"), str):
            raise corrupt("features must be the name of a function")
        features = find_card.find_features(header["features"])
        learner = restore_part("learner", header.get("learner"), arrays, find_card)
        classes = [read_label(label, "a class") for label in read_list(header, "classes")]
        try:
            new = cls(learner, features, classes, restore_cost(header), header.get("margin"), header["competitor"])
        except BadValue as error:
            raise corrupt(str(error)) from None
        if new.learner is not learner:
            raise corrupt("the learner inside does not fit the options of joint features")
        new.restore_counts(header)
        return new


def renumber(error: BadValue, row: int) -> BadValue:
    """The error with another number for its row, if it names one."""
    if error.row is None:
        return error
    return BadValue(str(error).replace(f"row {error.row}", f"row {row}", 1), row)


def restore_cost(header: Header) -> dict[tuple[Any, Any], float] | None:
    """The cost of every kind of mistake."""
    if header.get("cost") is None:
        return None
    cost: dict[tuple[Any, Any], float] = {}
    for entry in read_list(header, "cost"):
        if not isinstance(entry, list) or len(entry) != 3:
            raise corrupt("a cost must be a class, a class predicted for it, and a number")
        truth, predicted = (read_label(label, "a class with a cost") for label in entry[:2])
        cost[truth, predicted] = read_number(entry[2], "a cost")
    return cost
