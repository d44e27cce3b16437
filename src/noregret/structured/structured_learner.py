"""The learner of structured output: any decoder, and any rule that steps along a signed example."""

import time
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from noregret.data.blocks import check_weights
from noregret.data.inputs import LabelsLike, RowLike, RowsLike, WeightsLike
from noregret.data.transcript import Transcript
from noregret.errors import BadValue, Error, NotLearned, shown
from noregret.jit.cache import seconds_waited
from noregret.learner.arguments import describe
from noregret.learner.base_learner import BaseLearner
from noregret.learner.finder import FeatureFunction
from noregret.learner.header_fields import corrupt, read_param
from noregret.learner.labelled_rows import as_list
from noregret.learner.model_file import Arrays, FindCard, Header, dump_part, register_kind, restore_part
from noregret.learner.rule_learner import RuleLearner
from noregret.learner.whole_change import run_whole
from noregret.rules.merge_law import Merge
from noregret.rules.method_card import method_card
from noregret.rules.parameters import Choice, Component, Param
from noregret.structured.rounds import Round
from noregret.structured.setup import COMPETITORS, MARGINS, prepare

K = Param(5, at_least=1.0, about='how many outputs competitor="k_best" compares', grid=(1, 2, 5, 10))
COMPETITOR = Choice(
    "auto",
    COMPETITORS,
    "the output that the right one must beat: the predicted one, the one whose loss and score are largest together "
    "(max_loss), the k best or all; auto: max_loss, or predicted for rules that update on mistakes only",
)
MARGIN = Choice(
    "auto", MARGINS, "by how much: the loss, its root, or 1; auto: the loss, or 1 for rules that update on mistakes"
)


@register_kind
@method_card(
    paper="Crammer, Dekel, Keshet, Shalev-Shwartz and Singer, Online passive-aggressive algorithms, JMLR 7, 2006",
    kind="structured",
    name="structured",
    tasks=("structured",),
    params={
        "learner": Component("pa1", "the learner whose rule steps along differences of features"),
        "competitor": COMPETITOR,
        "margin": MARGIN,
        "k": K,
    },
    options=("decoder",),
    merge=Merge("heuristic", "the learners inside merge by their own law"),
    weights=True,
)
class StructuredLearner(BaseLearner):
    """Structured output with a decoder of your own, in plain Python: sequences, trees, matchings, rankings, lists.

    A decoder has `features(x, y)`, a dict for an input and an output, `argmax(w, x)`, the output with the highest
    score, and `loss(y, predicted)`. The rule steps along the difference between the features of the right output and
    those of its competitor. Predictions are outputs, and losses are those of the decoder.

    The learner is a fresh rule learner, which is made anew for these options. The class of a decoder must have a name
    to be saved, and the decoder is given again when the model is loaded, as in nr.load(path, decoder=MyDecoder()).
    """

    kind: ClassVar[str] = "structured"
    shared: ClassVar[tuple[str, ...]] = ("setup",)

    def __init__(
        self,
        decoder: Any = None,
        learner: RuleLearner | str = "pa1",
        competitor: str = "auto",
        margin: str = "auto",
        k: float = 5,
    ) -> None:
        super().__init__()
        competitor = COMPETITOR.check("structured", "competitor", competitor)
        margin = MARGIN.check("structured", "margin", margin)
        self.setup, self.learner = prepare(learner, decoder, competitor, margin, k)

    @property
    def task(self) -> str:
        return "structured"

    @property
    def decoder(self) -> Any:
        return self.setup.decoder

    @property
    def params(self) -> dict[str, Any]:
        return {"learner": describe(self.learner), **self.setup.options}

    def __repr__(self) -> str:
        counts = f"{self.rounds} rounds, {self.mistakes} mistakes"
        return f"<structured output by {self.setup.name}: {self.learner!r}, {counts}>"

    # ---- rounds ------------------------------------------------------------------------------------------------------

    def play(
        self, X: RowsLike, y: LabelsLike = None, weight: WeightsLike = None, query: LabelsLike = None
    ) -> Transcript:
        """Predict, then learn, every round; all of them, or none. X and y are lists of inputs and outputs."""
        began = time.perf_counter() - seconds_waited()
        if query is not None:
            raise BadValue("a round of structured output is one input and one output; leave query out")
        inputs, outputs = paired(X, y)
        h = check_weights(weight, len(inputs))
        with self._lock:
            self._change.settle()

            def play() -> Transcript:
                return self.play_rounds(inputs, outputs, h, began)

            return run_whole(self._change, lambda: [self.learner], self._own_state, play, len(inputs) > 1)

    def play_rounds(
        self, inputs: list[Any], outputs: list[Any], h: NDArray[np.float64] | None, began: float
    ) -> Transcript:
        """Learn the rounds and count them."""
        size = len(inputs)
        rounds = self.make_rounds(inputs, outputs)
        predictions, losses = np.empty(size, object), np.zeros(size)
        wrong, updated = np.zeros(size, bool), np.zeros(size, bool)
        for t, (one, y) in enumerate(zip(rounds, outputs, strict=True)):
            weight = None if h is None else float(h[t])
            predictions[t] = predicted = one.predict(one.final)
            losses[t], wrong[t] = one.loss(y, predicted), not one.is_right(y, predicted)
            updated[t] = one.step(one.example(y, predicted, 1.0 if weight is None else weight), weight)
        self.rounds += size
        self.mistakes += int(np.count_nonzero(wrong))
        self.updates += int(np.count_nonzero(updated))
        seconds = time.perf_counter() - seconds_waited() - began
        return Transcript(None, predictions, losses, wrong, updated, as_objects(outputs), seconds)

    def make_rounds(self, inputs: list[Any], outputs: list[Any]) -> list[Round]:
        """The rounds of a call, whose outputs are all checked."""
        rounds = [Round(self.setup, self.learner, number, x) for number, x in enumerate(inputs)]
        for one, y in zip(rounds, outputs, strict=True):
            one.check(y)
        return rounds

    def learn_one(self, x: RowLike, y: Any = None, weight: float | None = None) -> Self:
        """Learn one round."""
        return self.learn([x], [y], weight)

    # ---- predictions -------------------------------------------------------------------------------------------------

    def predict(self, X: RowsLike) -> NDArray[Any]:
        """The output with the highest score for every input."""
        with self._lock:
            self._change.settle()
            if self.learner.model.arrays is None:
                raise NotLearned("structured has not seen an output yet; learn something first")
            rounds = [Round(self.setup, self.learner, number, x) for number, x in enumerate(as_list(X, "X"))]
            return as_objects([one.predict(one.final) for one in rounds])

    def predict_one(self, x: RowLike) -> Any:
        """The output with the highest score; None before anything was learned."""
        return None if self.learner.model.arrays is None else self.predict([x])[0]

    def evaluate(self, X: RowsLike, y: LabelsLike) -> Transcript:
        """Predict every round and compare with y; nothing is learned."""
        began = time.perf_counter()
        inputs, outputs = paired(X, y)
        with self._lock:
            predictions = self.predict(inputs)
            rounds = self.make_rounds(inputs, outputs)
            told = list(zip(rounds, outputs, predictions, strict=True))
            losses = np.array([one.loss(truth, found) for one, truth, found in told], np.float64)
            wrong = np.array([not one.is_right(truth, found) for one, truth, found in told], bool)
        seconds = time.perf_counter() - began
        return Transcript(None, predictions, losses, wrong, np.zeros(len(told), bool), as_objects(outputs), seconds)

    def score(self, x: Any, y: Any) -> float:
        """The score of an output of an input."""
        with self._lock:
            self._change.settle()
            one = Round(self.setup, self.learner, 0, x)
            return one.final.dot(one.features(y))

    @property
    def weights(self) -> dict[Any, Any]:
        """The weights that are not zero, by feature, the largest first."""
        return self.learner.weights

    # ---- copies and model files --------------------------------------------------------------------------------------

    def merge(self, other: Any) -> Self:
        """A new learner that pools this one and another of the same decoder, by the merge law of the rule."""
        if not isinstance(other, StructuredLearner) or other.setup.options != self.setup.options:
            raise BadValue(
                f"only learners of one decoder with the same options can be merged, not {self!r} and {other!r}"
            )
        new = self.copy()
        new.learner = new.learner.merge(other.learner)
        new.rounds, new.mistakes = self.rounds + other.rounds, self.mistakes + other.mistakes
        new.updates = self.updates + other.updates
        return new

    def functions(self) -> dict[str, FeatureFunction]:
        return {self.setup.name: self.decoder}

    def dump(self) -> tuple[Header, Arrays]:
        """The learner, the options, and the name of the decoder."""
        with self._lock:
            self._change.settle()
            if not self.setup.name.isidentifier():
                raise Error(f"the class of a decoder must have a name to be saved, not {shown(self.setup.name)}")
            learner, arrays = dump_part("learner", self.learner)
            return {"learner": learner, **self.setup.options, **self.dump_counts()}, arrays

    @classmethod
    def restore(cls, header: Header, arrays: Arrays, find_card: FindCard) -> Self:
        """The learner and its options, all checked; the decoder is the caller's."""
        if not isinstance(header.get("decoder"), str):
            raise corrupt("decoder must be the name of a class")
        decoder = find_card.find_decoder(header["decoder"])
        learner = restore_part("learner", header.get("learner"), arrays, find_card)
        try:
            new = cls(decoder, learner, header["competitor"], header["margin"], read_param(header, "k", K))
        except BadValue as error:
            raise corrupt(str(error)) from None
        if new.learner is not learner:
            raise corrupt("the learner inside does not fit structured output")
        new.restore_counts(header)
        return new


def paired(X: Any, y: Any) -> tuple[list[Any], list[Any]]:
    """The inputs and the outputs of a call, as many of each."""
    inputs, outputs = as_list(X, "X"), as_list(y, "y")
    if len(inputs) != len(outputs):
        raise BadValue(f"X has {len(inputs)} rows and y has {len(outputs)} labels; they must match")
    return inputs, outputs


def as_objects(outputs: list[Any]) -> NDArray[Any]:
    """Outputs in an array, each as it is."""
    found = np.empty(len(outputs), object)
    for place, output in enumerate(outputs):
        found[place] = output
    return found
