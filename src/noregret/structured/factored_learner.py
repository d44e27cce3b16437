"""The base of learners whose outputs are chosen part by part: a rule learner plays groups of rows, compiled.

A subclass turns inputs into rows (`encode_inputs`, `arrange`) and codes of rows into outputs (`read_outputs`).
"""

import time
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from noregret.data.blocks import Rows, check_weights
from noregret.data.group_truth import GroupTruth
from noregret.data.inputs import LabelsLike, RowLike, RowsLike, WeightsLike
from noregret.data.transcript import Transcript
from noregret.errors import BadValue, NotLearned, shown
from noregret.jit.cache import seconds_waited
from noregret.learner.arguments import as_rule_learner, describe
from noregret.learner.base_learner import BaseLearner
from noregret.learner.decode_rows import decode_rows
from noregret.learner.factory import make
from noregret.learner.header_fields import corrupt
from noregret.learner.model_file import Arrays, FindCard, Header, dump_part, restore_part
from noregret.learner.rule_learner import RuleLearner
from noregret.learner.whole_change import run_whole

OWN_OPTIONS = ("task", "decoder", "competitor", "margin")


@dataclass(frozen=True)
class Encoded:
    """Inputs, and outputs where they are known, as a learner's own encoding: made once, learned in several passes."""

    inputs: Sequence[Any]
    outputs: Sequence[Any] | None
    parts: Any  # what the kind of learner keeps of them: a named tuple
    made_by: Any = None  # the kind of learner, and what its encoding depends on

    def __len__(self) -> int:
        return len(self.inputs)


class FactoredLearner(BaseLearner):
    """A learner of structured output. `learner` is the rule learner that plays the parts."""

    shared: ClassVar[tuple[str, ...]] = ()
    command: ClassVar[str] = ""  # the command that trains it and predicts, if there is one
    what: ClassVar[str] = "round"  # what an input is called in messages

    def __init__(self, learner: Any, decoder: str, given: Mapping[str, Any]) -> None:
        super().__init__()
        self.learner = prepare(learner, self.card.name, decoder, given)

    @property
    def task(self) -> str:
        return "structured"

    @property
    def params(self) -> dict[str, Any]:
        return {"learner": describe(self.learner)}

    def learners(self) -> list[RuleLearner]:
        """The learners inside, which change in a round."""
        return [self.learner]

    # ---- what a subclass writes --------------------------------------------------------------------------------------

    def encoding(self) -> Any:
        """What the encoding of inputs depends on: learners with the same can share it."""
        return self.kind, str(self.dump_options())

    @abstractmethod
    def encode_inputs(self, X: Sequence[Any], y: Sequence[Any] | None) -> Any:
        """What is kept of inputs and outputs, checked; an error names the number of the input."""

    @abstractmethod
    def arrange(self, encoded: Encoded) -> tuple[Rows, GroupTruth]:
        """The rows of all rounds, for the classes that are known now, and their truth."""

    @abstractmethod
    def read_outputs(self, encoded: Encoded, codes: NDArray[Any], truth: GroupTruth) -> list[Any]:
        """The output of every input, from the label that was chosen for every row."""

    # ---- rounds ------------------------------------------------------------------------------------------------------

    def encode(self, X: Any, y: Any = None) -> Encoded:
        """Inputs, and outputs if there are any, encoded: give the result to `learn`, `play` or `predict` as X."""
        if isinstance(X, Encoded):
            if y is not None and y is not X.outputs:
                raise BadValue("the inputs were encoded with their outputs; leave y out")
            if X.made_by != self.encoding():
                raise BadValue("these inputs were encoded by a learner with other features; encode them by this one")
            return X
        if isinstance(X, Rows) or hasattr(X, "tocsr"):
            hint = f"; see `noregret {self.command} --help`" if self.command else ""
            raise BadValue(f"{self.card.name} learns {self.what}s, not rows of a table{hint}")
        inputs = as_list(X, "X")
        outputs = None if y is None else as_list(y, "y")
        if outputs is not None and len(outputs) != len(inputs):
            raise BadValue(f"X has {len(inputs)} rows and y has {len(outputs)} labels; they must match")
        parts = self.encode_inputs(inputs, outputs)
        for part in parts:
            if isinstance(part, np.ndarray):
                part.setflags(write=False)
        return Encoded(inputs, outputs, parts, self.encoding())

    def learn(self, X: RowsLike, y: LabelsLike = None, weight: WeightsLike = None, query: LabelsLike = None) -> Self:
        """Learn every round, in order, as `learn_one` in a loop does; all of them, or none."""
        self.run(X, y, weight, query, keep=False)
        return self

    def play(
        self, X: RowsLike, y: LabelsLike = None, weight: WeightsLike = None, query: LabelsLike = None
    ) -> Transcript:
        """Predict, then learn, every round; all of them, or none."""
        found = self.run(X, y, weight, query, keep=True)
        assert found is not None
        return found

    def run(self, X: Any, y: Any, weight: WeightsLike, query: Any, keep: bool) -> Transcript | None:
        """Learn every round; returns what happened, if it is to be kept."""
        began = time.perf_counter() - seconds_waited()
        if query is not None:
            raise BadValue(f"{self.card.name} takes inputs one by one; leave query out")
        with self._lock:
            self._change.settle()
            encoded = self.encode(X, y)
            if encoded.outputs is None:
                raise BadValue(f"{self.card.name} learns from outputs: give y, one for every {self.what}")
            h = check_weights(weight, len(encoded))

            def act() -> Transcript | None:
                return self.learn_encoded(encoded, h, began if keep else None)

            return run_whole(self._change, self.learners, self._own_state, act)

    def learn_encoded(self, encoded: Encoded, h: NDArray[np.float64] | None, began: float | None) -> Transcript | None:
        """Learn the rounds and count them; a transcript where it is known when they began."""
        rows, truth = self.arrange(encoded)
        weight = None if h is None else np.repeat(h, truth.sizes)
        played = None
        if began is None:
            self.learner.learn(rows, truth, weight)
        else:
            played = self.learner.play(rows, truth, weight)
        self.rounds, self.updates = self.learner.rounds, self.learner.updates
        self.mistakes = self.learner.mistakes
        if played is None or began is None:
            return None
        found = self.read_outputs(encoded, played.predictions, truth) if len(encoded) else []
        seconds = time.perf_counter() - seconds_waited() - began
        assert encoded.outputs is not None
        outputs = as_objects(found), as_objects(encoded.outputs)
        return Transcript(None, outputs[0], played.losses, played.mistakes, played.updated, outputs[1], seconds)

    def learn_one(self, x: RowLike, y: Any = None, weight: float | None = None) -> Self:
        """Learn one round."""
        return self.learn([x], [y], weight)

    # ---- predictions -------------------------------------------------------------------------------------------------

    def predict(self, X: RowsLike) -> NDArray[Any]:
        """The best output of every input."""
        return as_objects(self.decode(X, self.read_outputs))

    def decode(self, X: Any, read: Callable[[Encoded, NDArray[Any], GroupTruth], list[Any]]) -> list[Any]:
        """What a function reads from the codes of the rows of the best outputs."""
        with self._lock:
            self._change.settle()
            if self.learner.model.arrays is None:
                raise NotLearned(f"{self.card.name} has not seen an output yet; learn something first")
            encoded = self.encode(X)
            if not len(encoded):
                return []
            rows, truth = self.arrange(replace(encoded, outputs=None))
            return read(encoded, decode_rows(self.learner, rows, truth), truth)

    def predict_one(self, x: RowLike) -> Any:
        """The best output of one input; None before anything was learned."""
        return None if self.learner.model.arrays is None else self.predict([x])[0]

    # ---- model files -------------------------------------------------------------------------------------------------

    def dump_options(self) -> Header:
        """The options of the kind, for the model file."""
        return {}

    @classmethod
    @abstractmethod
    def restore_with(cls, learner: RuleLearner, header: Header) -> Self:
        """A learner of this kind with the options in a header, checked, around a learner."""

    def dump(self) -> tuple[Header, Arrays]:
        """The learner inside, and the options."""
        with self._lock:
            self._change.settle()
            learner, arrays = dump_part("learner", self.learner)
            return {"learner": learner, **self.dump_options(), **self.dump_counts()}, arrays

    @classmethod
    def restore(cls, header: Header, arrays: Arrays, find_card: FindCard) -> Self:
        """The learner with its options, all checked."""
        learner = restore_part("learner", header.get("learner"), arrays, find_card)
        if not isinstance(learner, RuleLearner) or learner.model.config.task.name != "factored":
            raise corrupt("the learner inside does not play structured output")
        try:
            new = cls.restore_with(learner, header)
        except BadValue as error:
            raise corrupt(str(error)) from None
        if new.learner is not learner:
            raise corrupt(f"the learner inside does not fit the options of {cls.card.name}")
        new.restore_counts(header)
        return new


def prepare(learner: Any, caller: str, decoder: str, given: Mapping[str, Any]) -> RuleLearner:
    """A rule learner that plays the parts: the one given if it fits, otherwise a fresh one like it."""
    rule = as_rule_learner(learner, caller, "its rule learns from the parts of outputs")
    chosen = {name: value for name, value in given.items() if value is not None}
    options = {**rule.model.config.task.chosen, **dict(rule.config.choices)}
    if rule.task == "factored" and options["decoder"] == decoder and chosen.items() <= options.items():
        return rule
    if rule.rounds:
        raise BadValue(f"{caller} needs a fresh learner, not {shown(rule)}")
    if rule.config.algebra not in (None, "sparse", "reference"):
        raise BadValue(f"{caller} has sparse features; leave algebra={rule.config.algebra!r} out")
    if rule.model.config.transforms or rule.model.config.scale:
        raise BadValue(f"{caller} makes its features itself; leave transforms and scale out")
    if "loss" in chosen and "loss" not in rule.card.params:
        raise BadValue(f"{caller}: {rule.card.name} has no loss to choose; use a gradient rule, such as adagrad")
    given_loss = rule.config.given.get("loss", chosen.get("loss"))
    if "loss" in chosen and given_loss != chosen["loss"]:
        raise BadValue(f"{caller}: its loss is {chosen['loss']}, and that of its learner {given_loss}; leave one out")
    shared = {name: value for name, value in rule.config.given.items() if name not in (*OWN_OPTIONS, *chosen)}
    return make(rule.card, **shared, task="factored", decoder=decoder, **chosen)


def as_list(given: Any, what: str) -> Sequence[Any]:
    """Inputs or outputs as a sequence, each of them whatever it is."""
    if isinstance(given, (str, bytes, Mapping)) or not hasattr(given, "__iter__"):
        raise BadValue(f"{what} must be a list, not {shown(given)}")
    return given if isinstance(given, (list, tuple)) else list(given)


def as_objects(items: Sequence[Any]) -> NDArray[Any]:
    """An array of objects, whatever they are."""
    found = np.empty(len(items), object)
    for at, item in enumerate(items):
        found[at] = item
    return found
