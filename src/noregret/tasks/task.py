"""The task: what is being learned. How labels are coded, the compiled loops, the options, predictions and losses.

A task class declares what is the same for all learners of the task. An instance belongs to one learner and holds the
options it was made with; it keeps no state of its own.
"""

from bisect import bisect_right
from collections import namedtuple
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from noregret.data.blocks import Block
from noregret.data.inputs import LabelsLike
from noregret.data.labels import Labels, as_array
from noregret.errors import BadValue
from noregret.rules.losses import LOSSES, Loss, loss_at
from noregret.rules.parameters import Choice, Param
from noregret.rules.rule_card import RuleCard
from noregret.state.space import Shape, Space
from noregret.tasks.costs import Costs
from noregret.tasks.outcome import Outcome, Segment

Floats = NDArray[np.float64]
Flags = NDArray[np.uint8]
# Arguments of the loops whose types depend on the algebra: parameters, setting, state, rows.
P: TypeAlias = Any
G: TypeAlias = Any
S: TypeAlias = Any
R: TypeAlias = Any
TaskName = Literal[
    "binary", "multiclass", "multilabel", "regression", "ranking", "one-class", "bandit", "structured", "factored",
    "convex", "unsupervised", "recommendation",
]  # fmt: skip
# Right or wrong; off by an error; only its order counts; what describes a row, and cannot be compared with a truth.
Prediction = Literal["label", "target", "score", "components"]
NOTHING: Mapping[str, Any] = MappingProxyType({})
SCORES = 1 << 22  # scores of a slice of rounds, which are in memory together


class Task:
    """Base of all tasks. Subclasses set the class attributes and override what differs."""

    name: ClassVar[str]
    about: ClassVar[str] = ""  # one line for people who read what is being learned
    params: ClassVar[Mapping[str, Param]] = NOTHING  # numbers; fields of g in the loops
    options: ClassVar[Mapping[str, Choice]] = NOTHING  # named options, bound into the loops
    counters: ClassVar[Mapping[str, float]] = NOTHING  # numbers the loops keep in s.n
    arrays: ClassVar[tuple[str, ...]] = ()  # names of the arrays in g, after params
    play: ClassVar[Callable[..., Any]]  # the loop that predicts, then learns
    score_rows: ClassVar[Callable[..., Any]]  # the loop that only scores

    many: ClassVar[bool] = False  # a score, and a block of weights, for every class
    truth_dimensions: ClassVar[int] = 1  # of the array of truths that the loops read
    has_blocks: ClassVar[bool] = True  # an example is a row in blocks of classes; otherwise it has cells of any of them
    first_block: ClassVar[int] = 0  # blocks of weights before those of the classes
    labelled: ClassVar[bool] = True  # labels are classes, numbered as they appear
    counts_mistakes: ClassVar[bool] = True  # predictions are right or wrong; otherwise there are only losses
    one_label: ClassVar[bool] = False  # every round has one class, and one is predicted: a confusion matrix exists
    real: ClassVar[bool] = False  # a prediction is its score
    measured: ClassVar[bool] = False  # scores are measured in units of the task; not only their signs or order count
    follows_rows: ClassVar[bool] = True  # whether limits of steps follow the rows by default: not sums over parts
    needs_labels: ClassVar[bool] = True  # rows cannot be learned without labels
    needs_query: ClassVar[bool] = False  # rows come in groups, and batches must hold whole groups
    default_loss: ClassVar[str] = "hinge"  # of a rule without a loss of its own, and where the rule's does not fit
    signed_examples: ClassVar[bool] = False  # an example tells its class, so that rows can be remembered with it
    scores_unknown: ClassVar[bool] = False  # a feature never learned can move a score
    own_params: ClassVar[tuple[str, ...]] = ()  # parameters that are the task's even where the rule has the name, too
    implied_by: ClassVar[tuple[str, ...]] = ()  # options that only make sense here, so that they ask for this task
    implied_by_loss: ClassVar[tuple[str, ...]] = ()  # losses of classes that only make sense here
    metrics: ClassVar[tuple[str, ...]] = ()  # metrics of this task beside the usual ones, by name
    reading: ClassVar[Mapping[str, bool]] = NOTHING  # how open_source is to read the labels of this task
    bias_by_default: ClassVar[bool | None] = None  # a constant feature; None: where rows are scaled
    scales_by_default: ClassVar[bool] = True  # whether rows of tables are scaled where nothing else is asked for
    default_learner: ClassVar[str] = "auto"  # of `noregret learn`, where none is named
    columns: ClassVar[tuple[str, ...]] = ("mistakes", "rate", "loss")  # of the leaderboard
    sort_keys: ClassVar[tuple[str, ...]] = ("mistakes", "loss")  # of the leaderboard; "-": the largest first
    prediction: ClassVar[Prediction] = "label"  # what a prediction is compared with, also by baselines
    from_source: ClassVar[bool] = True  # rounds can be read from a source; otherwise they come from a program
    notes: ClassVar[tuple[str, ...]] = ()  # what a person reading a run should know of the task
    most_classes: ClassVar[int | None] = None
    no_classes: ClassVar[str | None] = None  # why classes= and class_weight= make no sense
    no_class_weight: ClassVar[str | None] = None
    needs_classes: ClassVar[str | None] = None  # why classes= must be given
    races: ClassVar[tuple[str, ...]] = ()  # learners that run by default only here, because they are often the best
    no_probabilities: ClassVar[str | None] = "it does not predict one class for each row"

    def __init__(
        self,
        card: RuleCard,
        rule_options: Mapping[str, str],
        numbers: Mapping[str, float],
        chosen: Mapping[str, str],
        cost: Costs | None = None,
    ) -> None:
        """A task for one learner: its rule with the options in force, and the task's own numbers, options and costs."""
        self.card, self.rule_options, self.cost = card, rule_options, cost
        self.numbers = {name: numbers.get(name, param.default) for name, param in self.params.items()}
        self.chosen = {name: chosen.get(name, option.default) for name, option in self.options.items()}

    def __repr__(self) -> str:
        return f"<task {self.name}>"

    # ---- what a learner may be asked to be -----------------------------------------------------------------------

    @classmethod
    def configure(
        cls, card: RuleCard, rule_options: Mapping[str, str], cost: Costs | None, given: dict[str, Any]
    ) -> "Task":
        """The task with the options among those given, which are taken out; an error names what does not suit it."""
        loss = rule_options.get("loss")
        if loss is not None and cls.name not in LOSSES[loss].tasks:
            fits = [name for name, one in LOSSES.items() if cls.name in one.tasks]
            raise BadValue(f"{card.name}: the loss {loss!r} does not fit {cls.name}; use one of {', '.join(fits)}")
        numbers = cls.check_params(card, rule_options, given)
        chosen = cls.check_options(card, rule_options, cost, given)
        return cls(card, rule_options, numbers, chosen, cost)

    @classmethod
    def check_params(cls, card: RuleCard, rule_options: Mapping[str, str], given: dict[str, Any]) -> dict[str, float]:
        return {name: cls.check_param(name, cls.take(given, name)) for name in cls.params}

    @classmethod
    def check_param(cls, name: str, value: Any) -> float:
        param = cls.params[name]
        return param.check(f"task {cls.name}", name, param.default if value is None else value)

    @classmethod
    def check_options(
        cls, card: RuleCard, rule_options: Mapping[str, str], cost: Costs | None, given: dict[str, Any]
    ) -> dict[str, str]:
        if cost is not None:
            raise BadValue(f'the {cls.name} task has no costs; leave cost out, or ask for task="multiclass"')
        return {name: cls.check_option(name, cls.take(given, name)) for name in cls.options}

    @classmethod
    def check_option(cls, name: str, value: Any) -> str:
        option = cls.options[name]
        return option.check(f"task {cls.name}", name, option.default if value is None else value)

    @classmethod
    def take(cls, given: dict[str, Any], name: str) -> Any:
        """A parameter of the task, by its name or, where the rule has that name too, as task.NAME."""
        return given.pop(f"task.{name}", given.pop(name, None))

    @classmethod
    def why_not(cls, card: RuleCard, rule_options: Mapping[str, str] | None = None) -> str | None:
        """Why a rule cannot play this task, with these options of its own or its defaults; None where it can."""
        if cls.name in (card.tasks if rule_options is None else card.tasks_with(rule_options)):
            return None
        return "it updates on mistakes, not on losses" if cls.name in card.declared_tasks else ""

    @classmethod
    def why_no_average(cls) -> str | None:
        """Why the weights cannot be averaged in this task; None where they can."""
        return None

    @classmethod
    def why_no_random_start(cls) -> str | None:
        """Why weights cannot begin at random in this task, or None if they can."""
        return None

    @classmethod
    def default_option(cls, name: str, option: Choice) -> str:
        """The default of an option of a rule in this task: its own loss where the rule's does not fit."""
        return cls.default_loss if name == "loss" and cls.name not in LOSSES[option.default].tasks else option.default

    @classmethod
    def default_number(cls, param: Param) -> float:
        """The default of a number of a rule in this task."""
        return param.default_where(cls.measured or (param.per_size is not None and not cls.follows_rows))

    @classmethod
    def select_loop(cls, card: RuleCard, chosen: Mapping[str, str]) -> Callable[..., Any]:
        """The loop that a kind of rule, or an option, asks for."""
        return cls.play

    @classmethod
    def functions(cls, chosen: Mapping[str, str]) -> dict[str, Any]:
        """More functions that the loops call by name, beside those that single options stand for."""
        return {}

    @classmethod
    def select_scoring(cls, card: RuleCard) -> Callable[..., Any]:
        """The loop that only scores."""
        return cls.score_rows

    def state_shape(self, average: int | None) -> Shape:
        """The fields and counters of the state."""
        fields, counters = self.card.state_shape(average, tuple(self.rule_options.items()))
        return Shape(fields, {**counters, **self.counters})

    def setting(self, space: Space, labels: Labels) -> Any:
        """What the loops are given as g: the numbers of the task, and arrays for the classes known."""
        fields = [*self.numbers.values(), *self.make_arrays(space, labels)]
        return setting_class(self.name, (*self.params, *self.arrays))(*fields or [0.0])

    def make_arrays(self, space: Space, labels: Labels) -> list[NDArray[Any]]:
        """The arrays that the loops are given, in the order of `arrays`."""
        return []

    @property
    def queries_labels(self) -> bool:
        """Whether labels are revealed only when the learner asks for them (active learning)."""
        return False

    @property
    def full_feedback(self) -> bool:
        """Whether the label of every round is revealed, so that classes can be counted."""
        return not self.queries_labels

    @property
    def one_vs_rest(self) -> bool:
        """Whether each class is learned against the rest, as a task of its own."""
        return False

    @property
    def scores_are_log_odds(self) -> bool:
        """Whether scores are trained to be log-odds: their logistic function, or softmax, is the probability."""
        return False

    @property
    def loss(self) -> Loss:
        """The loss in force."""
        return LOSSES[self.rule_options.get("loss", self.default_loss)]

    # ---- labels in -----------------------------------------------------------------------------------------------

    def accept(self, y: LabelsLike, query: Any) -> Any:
        """What a caller gave as the truth, in one object."""
        if query is not None:
            raise BadValue(f'query is for task="ranking", where rows come in groups; {self.name} has none')
        return y

    def encode(self, labels: Labels, y: LabelsLike, rows: int) -> tuple[Any, list[Segment]]:
        """The labels of a call as numbers, one for every row, and its rounds between appearances of new classes."""
        raise NotImplementedError

    def default_labels(self, rows: int) -> Any:
        """The labels of rows that come without; None where they must have them."""
        return None

    def truth(self, labels: Labels, segment: Segment, codes: Any) -> Floats:
        """The truth of a segment as the loop reads it."""
        return np.ascontiguousarray(codes[segment.start : segment.stop], dtype=np.float64)

    def arrange(self, block: Block) -> Block:
        """The rows of a call as the loop needs them."""
        return block

    def check_weights(self, h: Floats, codes: Any) -> Floats:
        """The importance weights of the rows of a call, or an error where they do not suit the task."""
        return h

    def boundaries(self, y: Any) -> Sequence[int]:
        """Between which rows a call may be cut, its ends included."""
        return range(len(y) + 1)

    def slices(self, segment: Segment, y: Any, most: int) -> Iterator[tuple[int, int]]:
        """A segment in parts of at most so many rows and scores, or of more where it may not be cut before."""
        boundaries = self.boundaries(y)
        most = max(1, min(most, SCORES // max(self.blocks(segment.known), 1)))
        start = segment.start
        while start < segment.stop:
            at = bisect_right(boundaries, min(start + most, segment.stop)) - 1
            stop = boundaries[at] if boundaries[at] > start else boundaries[at + 1]
            yield start, stop
            start = stop

    def blocks(self, known: int) -> int:
        """How many weights a feature has when so many classes are known."""
        return self.first_block + known if self.many else 1

    def make_scores(self, rows: int, known: int) -> Floats:
        """Where the loop writes the scores of so many rows."""
        return np.zeros((rows, self.blocks(known)) if self.many else rows)

    def make_aux(self, y: Floats, out: Floats) -> Floats:
        """Where the loop writes one more number of each round; what follows is its scratch."""
        return np.zeros(len(y))

    def hide_unknown(self, outcome: Outcome) -> None:
        """Take back the scores of classes that were not known when a round was predicted."""

    def flips(self, labels: Labels, segment: Segment) -> bool:
        """Whether all weights change their sign at the first round of a segment."""
        return False

    def for_classes(self, labels: Labels) -> "Task":
        """The task for classes that are known beforehand."""
        return self

    def successor(self, labels: Labels, segment: Segment) -> "Task | None":
        """The task that this one becomes at the first round of a segment; None where it stays."""
        return None

    def grown(self, labels: Labels) -> "Task | None":
        """The task that this one may have become with these classes; None where it never changes."""
        return None

    def merge_with(self, other: "Task", labels: Labels) -> "Task":
        """The task of a learner merged from two; labels are those of both."""
        return self

    # ---- predictions out -----------------------------------------------------------------------------------------

    def report_truth(self, labels: Labels, y: LabelsLike) -> NDArray[Any]:
        """What was given as the truth, as a transcript shows it."""
        return y if isinstance(y, np.ndarray) else as_array(list(y))

    def decide(self, labels: Labels, scores: Floats) -> NDArray[Any]:
        """The label (or target) that each of these scores stands for."""
        raise NotImplementedError

    def scores(self, labels: Labels, outcomes: list[Outcome]) -> Floats:
        """The scores of all rounds in one array."""
        return np.concatenate([outcome.scores for outcome in outcomes])

    def predictions(self, labels: Labels, outcome: Outcome) -> NDArray[Any]:
        """The labels (or targets) predicted in a slice."""
        return self.decide(labels, outcome.scores)

    def groups(self, y: Any) -> NDArray[np.int64] | None:
        """The number of the group of every row, where rows come in groups."""
        return None

    def updated(self, outcome: Outcome) -> NDArray[np.bool_]:
        """On which rounds of a slice the rule updated: one entry for every round."""
        return outcome.updated.astype(bool)

    def mistakes(self, labels: Labels, outcome: Outcome) -> NDArray[np.bool_]:
        """Which rounds were predicted wrongly."""
        raise NotImplementedError

    def relevance(self, outcomes: list[Outcome]) -> NDArray[np.bool_] | None:
        """Which labels each row has, by the columns of the scores; None where a row has one."""
        return None

    def margins(self, labels: Labels, outcome: Outcome) -> Floats:
        """What the loss is a function of; infinite where there was nothing to lose."""
        raise NotImplementedError

    def training_margins(self, outcome: Outcome) -> Floats | None:
        """The margins that a rule was given which predicts with other weights; None where a round has not just one."""
        return None

    def losses(self, labels: Labels, outcome: Outcome) -> Floats:
        """The loss of every round."""
        return np.asarray(loss_at(self.loss.value, self.margins(labels, outcome)))

    # ---- reports -------------------------------------------------------------------------------------------------

    @classmethod
    def summarize(cls, report: Mapping[str, float]) -> str:
        """The result of a run in a few words, from what its metrics report."""
        mistakes = int(report["mistakes"])
        return f"{mistakes:,} mistake{'' if mistakes == 1 else 's'} ({100 * report['rate']:.2f} %)"

    def error_loss(self, errors: Floats, deviation: Floats) -> Floats:
        """The loss of predictions that are off by these errors, while the targets have this deviation."""
        return np.abs(errors)

    def warnings(self, counters: Any, updates: int) -> Iterator[str]:
        """What is odd about the data, after a run with so many updates; counters are those of the state."""
        yield from ()


@cache
def setting_class(name: str, fields: tuple[str, ...]) -> Any:
    """The class of g; made once for each task, since compiled code is specialized to it."""
    return namedtuple(f"{name.replace('-', '_')}_setting", fields or ["none"])
