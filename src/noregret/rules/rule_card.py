"""The card of a rule: its code, hooks and state, and what follows from them about tasks and algebras."""

import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Literal, TypeAlias, cast

from noregret.algebra import CENTRES, TYPES
from noregret.algebra.verbs import Verb, scale, side
from noregret.cached_property import cached_property
from noregret.rules import probing
from noregret.rules.card import Card
from noregret.rules.names import AlgebraName, RuleKind, TaskName
from noregret.rules.parameters import Choice, Param, bindings
from noregret.rules.row_size import ROW_COUNTERS
from noregret.rules.schedules import OF_STEPS
from noregret.state.fields import Field, Law, averaged, centre
from noregret.state.space import Shape
from noregret.state.stores import GROUPS, field_counters

# A rule's arguments: parameters, state, signed example, gradient, row. Their types depend on the algebra.
P: TypeAlias = Any
S: TypeAlias = Any
Z: TypeAlias = Any
G: TypeAlias = Any
X: TypeAlias = Any

Chosen: TypeAlias = tuple[tuple[str, str], ...]  # the options in force, as pairs of name and option
Check: TypeAlias = Callable[[Mapping[str, float], Mapping[str, str]], str | None]
Limits: TypeAlias = Callable[[Mapping[str, float], Mapping[str, str]], tuple[float, float] | None]
STEPS = ("add", "put", "take_snapshot")  # verbs that move weights by steps, wherever they begin
TOGETHER = ("norm", "keep", "contract", "apportion", "shorten", "clip_peaks")  # verbs that look at all weights at once
DECAYING = frozenset({"add", "dot", "sqnorm", "sqsource"})  # verbs of rules whose weights may decay
SEVERAL_SCORES = ("multiclass", "multilabel", "ranking", "structured", "convex")  # examples there have no side
UNMEASURED = frozenset({"add", "at", "dot", "scale", "sqnorm", "sqsource"})  # verbs of rules that ask for no norm of w
# Verbs that write only the cells of the row and class they are given.
ROW_ONLY = ("add", "sharpen", "move_and_sharpen", "multiply", "put")


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class RuleCard(Card):
    """A rule with its declaration."""

    kind: RuleKind
    params: Mapping[str, Param | Choice] = field(default_factory=dict)
    rule: Callable[..., Any]
    state: Mapping[str, Field]
    counters: Mapping[str, float] = field(default_factory=dict)
    score: Callable[..., Any] | None = None
    weight: Callable[..., Any] | None = None
    final: Callable[..., Any] | None = None
    chances: Callable[..., Any] | None = None  # of a bandit rule: the probability of each class, from the scores
    level: Callable[..., Any] | None = None  # of novelty detection: the score from which a row is one of the class
    weight_param: str | None = (
        None  # the parameter an importance weight multiplies, or divides: "C", "1/r"; "" for none
    )
    nonnegative: bool = False  # whether no weight is ever negative
    ignores_features: bool = False  # whether each row is replaced by one constant feature
    real_valued_losses: bool = False  # of a bandit rule: whether losses may lie between 0 and 1
    start_within: Limits | None = None  # the limits of every weight, which random initial weights keep too, or None
    forgets_start: bool = False  # whether the first step leaves nothing of the weights before it
    needs_mercer_kernel: bool = False  # whether its steps measure distances, which only such kernels define
    full_information: Mapping[str, Any] = field(default_factory=dict)  # the same learner when all labels are revealed
    counter_laws: Mapping[str, Law] = field(
        default_factory=dict
    )  # of counters that a merge averages as it does weights
    penalty: Callable[..., float] | None = None  # (p, norm, norm_1): what its objective adds to the loss of each round
    check: Check | None = None  # what is wrong with some parameters and options together, or None

    def __call__(self, *arguments: Any) -> Any:
        return self.rule(*arguments)

    @cached_property
    def shape(self) -> Shape:
        return Shape(self.state, {**self.counters, **field_counters(self.state)})

    @cache  # noqa: B019
    def state_shape(self, average: int | None, chosen: Chosen = ()) -> Shape:
        """The state with the options in force; w averaged over the rounds after so many, if an average is asked for."""
        state = {**self.state, **self.option_fields(dict(chosen))}
        if {verb.name for verb in self.verbs_with(dict(chosen))} <= UNMEASURED:
            state = {name: replace(it, measured=False) if it.kind == "scaled" else it for name, it in state.items()}
        if average is None:
            return Shape(state, {**self.counters, **field_counters(state)})
        fields = {name: averaged if name == "w" else field for name, field in state.items()}
        return Shape(fields, {**self.counters, **field_counters(fields), "w_after": float(average)})

    def option_fields(self, chosen: Mapping[str, str]) -> dict[str, Field]:
        """The fields of the state that the options in force need."""
        needed = [choice.fields.get(chosen.get(name, ""), {}) for name, choice in self.choices.items()]
        return {name: field for fields in needed for name, field in fields.items()}

    @cache  # noqa: B019
    def centre_shape(self, height: float, reach: float) -> Shape:
        """The state where w is the centre of the rows, at a height above them, of a ball that reaches so far."""
        fields = {"w": centre}
        return Shape(fields, {**self.counters, **field_counters(fields), "w_height": height, "reach": reach})

    @property
    def signed_counters(self) -> tuple[str, ...]:
        """The counters that change their sign when positive and negative are swapped."""
        return tuple(name for name, law in self.counter_laws.items() if law == "add")

    @property
    def supports_weights(self) -> bool:
        return bool(self.weight_param) or (self.kind not in ("margin", "prototype") and self.weight_param is None)

    @property
    def keeps_covariance(self) -> bool:
        return any(field.kind == "covariance" for field in self.state.values())

    @property
    def keeps_groups(self) -> bool:
        return any(field.kind in GROUPS for field in self.state.values())

    def make_parameters(self) -> Any:
        """The class of p, with notes on its numbers.

        `weight_place` says which of them an importance weight multiplies or divides, `size_places` which follow the
        rows where they are 0, and as which share of 1 / S.
        """
        kind = super().make_parameters()
        place = None
        if self.weight_param:
            divides, name = self.weight_param.startswith("1/"), self.weight_param.removeprefix("1/")
            place = (list(self.numbers).index(name), -1 if divides else 1)
        kind.weight_place = place
        numbers = enumerate(self.numbers.values())
        kind.size_places = tuple((at, param.per_size) for at, param in numbers if param.per_size is not None)
        return kind

    def functions(self) -> Iterator[Callable[..., Any]]:
        """The rule and its hooks."""
        hooks = (self.rule, self.score, self.weight, self.final, self.chances, self.level)
        yield from (hook for hook in hooks if hook is not None)

    @cached_property
    def verbs(self) -> frozenset[Verb]:
        """The verbs that the rule's code names."""
        return self.verbs_with(self.defaults)

    def verbs_with(self, chosen: Mapping[str, str]) -> frozenset[Verb]:
        """The verbs of the rule and of the options in force."""
        functions = [*self.functions(), *bindings(self.choices, chosen).values()]
        return frozenset(verb for function in functions for verb in find_verbs(function))

    @cache  # noqa: B019
    def touches(self, chosen: Chosen) -> Literal["row", "top_k", "all"]:
        """Which cells one round may change: those of its row, those of the top k, or all."""
        verbs = self.verbs_with(dict(chosen))
        kinds = {field.kind for field in self.state.values()}
        if any(verb.sweeps for verb in verbs) or (scale in verbs and "vector" in kinds):
            return "all"
        return "top_k" if kinds == {"top_k"} else "all" if "top_k" in kinds else "row"

    def keeps_one_vector(self, chosen: Mapping[str, str]) -> bool:
        """Whether the state is one vector that starts at zero and moves by steps along the example."""
        fields = [field.name for field in self.state.values()]
        return (
            list(self.state) == ["w"]
            and fields[0] in ("plain", "scaled")
            and self.why_no_average(chosen) is None
            and all(verb.works_with(frozenset(CENTRES)) for verb in self.verbs_with(chosen))
        )

    def why_no_average(self, chosen: Mapping[str, str]) -> str | None:
        """Why the mean of the weights over the rounds cannot be kept, or None if it can."""
        if self.kind == "bandit":
            return "what it plays is drawn by its latest weights"
        if self.kind == "coordinate" or any(hook is not None for hook in (self.score, self.weight, self.final)):
            return "its predictions are not those of one vector that only moves by steps"
        steps = "w" in self.state and self.state["w"].name in ("plain", "scaled", "random_init")
        if not steps or any(verb.writes and verb.name != "add" for verb in self.verbs_with(chosen)):
            return "its weights do not only move by steps"
        return None

    def why_no_decay(self, chosen: Mapping[str, str]) -> str | None:
        """Why the weights cannot decay in every round, or None if they can."""
        if self.keeps_covariance:
            return "its variances, which set the size of its steps, would not be forgotten with its weights"
        if self.kind == "bandit":
            return "what it plays is drawn by its latest weights"
        reason = self.why_no_average(chosen)
        if reason is not None:
            return reason
        if list(self.state) != ["w"] or self.state["w"].name not in ("plain", "random_init", "scaled"):
            return "it keeps more than one vector of weights that only move by steps"
        reads = {verb.name for verb in self.verbs_with(chosen)} - DECAYING
        return f"it names {', '.join(sorted(reads))}, which decayed weights do not have" if reads else None

    def why_no_random_start(self, chosen: Mapping[str, str]) -> str | None:
        """Why the weights cannot begin at random, or None if they can.

        A feature may come at any round: its weight must then be what it would be had it been there from the start. Of a
        lazy or scaled vector it is; a rule that scales its weights has the product of its factors in a counter `kept`.
        """
        w = self.state.get("w")
        if w is not None and w.start != 0.0:
            return "its weights do not begin at zero"
        if w is None or self.score is not None or self.ignores_features:
            return "its weights are a formula of other vectors"
        if self.algebras == ("kernel",):
            return "it keeps examples instead of weights"
        if self.forgets_start:
            return "its first step multiplies all weights by zero"
        verbs = self.verbs_with(chosen)
        if w.kind in ("top_k", "lazy_groups") or any(verb.name in TOGETHER for verb in verbs):
            return "its weights are measured or chosen together, also with those of features that are yet to come"
        able = self.shrinking | ({"scale"} if self.keeps_covariance else set())
        if self.start_limits({name: param.default for name, param in self.numbers.items()}, chosen) is not None:
            able |= {"clip"}
        sweeping = {verb.name for verb in verbs if verb.writes} - {*STEPS, *able}
        if w.kind not in ("vector", "scaled", "snapshot", "lazy") or (sweeping and w.name != "random_init"):
            return "its weights do not only move by steps, and a feature that comes later would have missed the rest"
        return None

    def start_limits(self, numbers: Mapping[str, float], chosen: Mapping[str, str]) -> tuple[float, float] | None:
        """The limits of random initial weights, if the rule keeps its weights within some."""
        return None if self.start_within is None else self.start_within(numbers, chosen)

    @cached_property
    def shrinking(self) -> set[str]:
        """The verbs that may shrink also the weights of features that are yet to come."""
        kind = self.state["w"].kind if "w" in self.state else ""
        scaling = {"scale"} if kind in ("scaled", "lazy") and "kept" in self.counters else set()
        return scaling | ({"shrink"} if kind == "lazy" else set())

    def shrinks_start(self, chosen: Mapping[str, str]) -> bool:
        """Whether rounds shrink also the weights of features that are yet to come."""
        return any(verb.name in self.shrinking for verb in self.verbs_with(chosen))

    def why_no_one_vs_rest(self, chosen: Mapping[str, str]) -> str | None:
        """Why each class cannot be played against the rest from one state, or None if it can."""
        if self.kind not in ("margin", "gradient", "coordinate"):
            return "it moves all classes at once"
        kinds = {field.kind for field in self.state.values()}
        steps = all(not verb.writes or verb.name in ROW_ONLY for verb in self.verbs_with(chosen))
        shared = {"steps", "features", "classes", "largest", *ROW_COUNTERS}
        counted = set(self.counters) - shared or chosen.get("schedule") in OF_STEPS
        if not steps or counted or not kinds <= {"vector", "covariance"} or self.score is not None:
            return "what it keeps belongs to all classes together"
        return None

    @cached_property
    def algebras(self) -> tuple[AlgebraName, ...]:
        """Where the rule can play, computed from the verbs it names and the state it keeps."""
        return tuple(cast(AlgebraName, algebra) for algebra in TYPES if self.why_not(algebra) is None)

    def why_not(self, algebra: str, chosen: Mapping[str, str] | None = None) -> str | None:
        """Why an algebra cannot carry this rule, or None if it can."""
        verbs = self.verbs if chosen is None else self.verbs_with(chosen)
        missing = sorted(verb.name for verb in verbs if not verb.works_with(TYPES[algebra]))
        if missing:
            return f"it names {', '.join(missing)}, which the {algebra} algebra does not have"
        if algebra == "kernel":
            if self.weight is not None:
                return "its weights are a formula for each coordinate, which the kernel algebra does not have"
            if any(f.kind not in ("vector", "scaled", "basis") or f.start != 0.0 for f in self.state.values()):
                return "its state does not start as a zero vector"
            if self.kind == "coordinate":
                return "it moves each coordinate in its own way, and the kernel algebra has none"
        return None

    @property
    def mixes_features(self) -> bool:
        """Whether its weights are positive shares of a whole, without a threshold: a mixture of the features."""
        return self.nonnegative and self.kind == "gradient"

    @property
    def usual_task(self) -> TaskName:
        """The task where none is asked for; of positive weights, each class needs its own."""
        first: tuple[TaskName, ...] = ("multiclass", "binary") if self.mixes_features else ("binary",)
        return next((one for one in (*first, *self.tasks) if one in self.tasks), "binary")

    @cached_property
    def tasks(self) -> tuple[TaskName, ...]:
        """The tasks the rule can play with its default options."""
        return self.tasks_with(self.defaults)

    def tasks_with(self, chosen: Mapping[str, str]) -> tuple[TaskName, ...]:
        """The tasks the rule can play with these options; regression and one-class need a loss-driven rule."""
        driven = self.kind != "margin" or "loss" in chosen or probing.is_loss_driven(self, tuple(chosen.items()))
        one_score = {} if side not in self.verbs_with(chosen) else dict.fromkeys(SEVERAL_SCORES, False)
        able = {
            "regression": driven,
            "one-class": driven and (self.level is not None or self.keeps_one_vector(chosen)),
            "structured": all(field.kind != "reservoir" for field in self.state.values()),
            "convex": self.kind in ("gradient", "coordinate") and self.final is None,  # it plays the point it moves
            **one_score,
        }
        return tuple(task for task in self.declared_tasks if able.get(task, True))


def find_verbs(function: Callable[..., Any], seen: set[types.CodeType] | None = None) -> set[Verb]:
    """Every verb a plain function names, also through the plain functions it calls."""
    seen = set() if seen is None else seen
    code = getattr(function, "__code__", None)
    if code is None or code in seen:
        return set()
    seen.add(code)
    verbs: set[Verb] = set()
    for name in code.co_names:
        thing = function.__globals__.get(name)
        if isinstance(thing, Verb):
            verbs.add(thing)
        elif isinstance(thing, types.FunctionType):
            verbs |= find_verbs(thing, seen)
    return verbs
