"""The card: what a rule says of itself. Everything that lists, checks, compiles or documents learners reads cards."""

import inspect
import keyword
import types
from collections import namedtuple
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, Literal, TypeAlias

from noregret.algebra import CENTRES, TYPES
from noregret.algebra.verbs import Verb, scale
from noregret.errors import BadValue, shown
from noregret.rules.losses import LOSSES
from noregret.rules.parameters import NO_MERGE as NO_MERGE
from noregret.rules.parameters import Choice as Choice
from noregret.rules.parameters import Guarantee as Guarantee
from noregret.rules.parameters import Merge as Merge
from noregret.rules.parameters import Param as Param
from noregret.rules.parameters import bindings as bindings
from noregret.rules.parameters import suggestion as suggestion
from noregret.rules.schedules import OF_STEPS, SCHEDULES
from noregret.rules.specialize import grafting, rebound
from noregret.state.fields import Field, averaged, centre
from noregret.state.growth import make
from noregret.state.space import Shape, Space
from noregret.state.stores import GROUPS, field_counters

# A rule's arguments: parameters, state, signed example, gradient. Their types depend on the algebra it plays in.
P: TypeAlias = Any
S: TypeAlias = Any
Z: TypeAlias = Any
G: TypeAlias = Any
X: TypeAlias = Any


@dataclass(frozen=True, eq=False)
class Card:
    """A rule and all it says of itself.

    Cards that share a title are variants of one learner; the one that leads stands for them where none is named. A card
    that is shown takes part in a race to which nobody was invited by name.
    """

    name: str
    kind: str
    rule: Callable[..., Any]
    paper: str
    params: Mapping[str, Param | Choice]
    state: Mapping[str, Field]
    counters: Mapping[str, float] = field(default_factory=dict)
    score: Callable[..., Any] | None = None
    weight: Callable[..., Any] | None = None
    final: Callable[..., Any] | None = None
    chances: Callable[..., Any] | None = None  # of a bandit rule: how probable it makes each class, by the scores
    weigh: str | None = None
    guarantee: Guarantee | None = None
    merge: Merge = NO_MERGE
    title: str = ""
    leads: bool = False
    shown: bool = False
    one_sided: bool = False  # whether no weight is ever negative
    plays: tuple[str, ...] = (
        "binary", "multiclass", "regression", "multilabel", "ranking", "one-class", "structured", "convex",
    )  # fmt: skip
    ignores_features: bool = False  # whether rows are not looked at: each is one constant feature
    graded: bool = False  # of a bandit rule: whether there is more to losses than right and wrong
    full_information: Mapping[str, Any] = field(default_factory=dict)  # the rule, and its options, that is told all
    check: Callable[..., str | None] | None = None  # what is wrong with some parameters and choices together

    def __call__(self, *arguments: Any) -> Any:
        return self.rule(*arguments)

    @property
    def about(self) -> str:
        return inspect.cleandoc(self.rule.__doc__ or "").partition("\n")[0]

    @property
    def numbers(self) -> dict[str, Param]:
        return {name: param for name, param in self.params.items() if isinstance(param, Param)}

    @property
    def choices(self) -> dict[str, Choice]:
        return {name: param for name, param in self.params.items() if isinstance(param, Choice)}

    @cached_property
    def shape(self) -> Shape:
        return Shape(self.state, {**self.counters, **field_counters(self.state)})

    @cache  # noqa: B019
    def shaped(self, average: int | None) -> Shape:
        """The state; with the vector w averaged over the rounds after so many, if that is asked for."""
        if average is None:
            return self.shape
        fields = {name: averaged if name == "w" else field for name, field in self.state.items()}
        return Shape(fields, {**self.counters, **field_counters(fields), "w_after": float(average)})

    @cache  # noqa: B019
    def around(self, height: float) -> Shape:
        """The state where w is the centre of rows, so high above them."""
        fields = {"w": centre}
        return Shape(fields, {**self.counters, **field_counters(fields), "w_height": height})

    def moves_toward(self, chosen: Mapping[str, str]) -> bool:
        """Whether it keeps one vector alone, which starts at zero and moves by steps along the example."""
        kept = [field.name for field in self.state.values()]
        verbs = self.verbs_with(chosen)
        return (
            list(self.state) == ["w"]
            and kept[0] in ("plain", "scaled")
            and self.why_no_average(chosen) is None
            and all(verb.works_with(frozenset(CENTRES)) for verb in verbs)
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

    @property
    def weighs(self) -> bool:
        """Whether rounds of different importance can be learned."""
        return bool(self.weigh) or (self.kind not in ("margin", "prototype") and self.weigh is None)

    @property
    def keeps_covariance(self) -> bool:
        return any(field.kind == "covariance" for field in self.state.values())

    @property
    def keeps_groups(self) -> bool:
        return any(field.kind in GROUPS for field in self.state.values())

    @cached_property
    def parameters(self) -> Any:
        """The class of p: one float for each number on the card; `weigh` says which one an importance weight moves."""
        kind = namedtuple(f"{self.name}_parameters", list(self.numbers) or ["none"])  # type: ignore[misc]
        place = None
        if self.weigh:
            divides, name = self.weigh.startswith("1/"), self.weigh.removeprefix("1/")
            place = (list(self.numbers).index(name), -1 if divides else 1)
        kind.weigh = place  # type: ignore[attr-defined]
        return kind

    def functions(self) -> Iterator[Callable[..., Any]]:
        hooks = (self.rule, self.score, self.weight, self.final, self.chances)
        yield from (hook for hook in hooks if hook is not None)

    @cached_property
    def defaults(self) -> dict[str, str]:
        return {name: choice.default for name, choice in self.choices.items()}

    @cached_property
    def verbs(self) -> frozenset[Verb]:
        """The verbs this rule is written in, found by reading its code."""
        return self.verbs_with(self.defaults)

    def verbs_with(self, chosen: Mapping[str, str]) -> frozenset[Verb]:
        """The verbs of the rule and of the options it was given."""
        texts = [*self.functions(), *bindings(self.choices, chosen).values()]
        return frozenset(verb for text in texts for verb in verbs_named(text))

    @cache  # noqa: B019
    def touches(self, chosen: tuple[tuple[str, str], ...]) -> Literal["row", "top_k", "all"]:
        """Which cells one round may change: those of its row, those of the few that are kept, or all."""
        verbs = self.verbs_with(dict(chosen))
        kinds = {field.kind for field in self.state.values()}
        if any(verb.sweeps for verb in verbs) or (scale in verbs and "vector" in kinds):
            return "all"
        return "top_k" if kinds == {"top_k"} else "all" if "top_k" in kinds else "row"

    def why_no_rest(self, chosen: Mapping[str, str]) -> str | None:
        """Why the classes cannot each play against the rest from one state, or None if they can."""
        if self.kind not in ("margin", "gradient", "coordinate"):
            return "it moves all classes at once"
        kinds = {field.kind for field in self.state.values()}
        steps = all(not verb.writes or verb.name in ROW_ONLY for verb in self.verbs_with(chosen))
        counted = set(self.counters) - {"steps", "features", "classes"} or chosen.get("schedule") in OF_STEPS
        if not steps or counted or not kinds <= {"vector", "covariance"} or self.score is not None:
            return "what it keeps belongs to all classes together"
        return None

    @cached_property
    def algebras(self) -> tuple[str, ...]:
        """Where the rule can play, computed from the verbs it names and the state it keeps."""
        return tuple(algebra for algebra in TYPES if self.why_not(algebra) is None)

    def why_not(self, algebra: str, chosen: Mapping[str, str] | None = None) -> str | None:
        """Why an algebra cannot carry this rule, or None if it can."""
        verbs = self.verbs if chosen is None else self.verbs_with(chosen)
        missing = sorted(verb.name for verb in verbs if not verb.works_with(TYPES[algebra]))
        if missing:
            return f"it names {', '.join(missing)}, which the {algebra} algebra does not have"
        if algebra == "kernel":
            if self.weight is not None:
                return "its weights are a formula for each coordinate, which the kernel algebra does not have"
            if any(f.kind not in ("vector", "scaled") or f.start != 0.0 for f in self.state.values()):
                return "its state does not start as a zero vector"
            if self.kind == "coordinate":
                return "it moves each coordinate in its own way, and the kernel algebra has none"
        return None

    @cached_property
    def tasks(self) -> tuple[str, ...]:
        """The tasks the rule can play. Regression asks for a rule driven by the loss, not by mistakes."""
        return self.tasks_with(self.defaults)

    def tasks_with(self, chosen: Mapping[str, str]) -> tuple[str, ...]:
        driven = self.kind != "margin" or loss_driven(self, tuple(chosen.items()))
        able = {
            "regression": driven,
            "one-class": driven and self.moves_toward(chosen),
            "structured": all(field.kind != "reservoir" for field in self.state.values()),
            "convex": self.kind in ("gradient", "coordinate"),
        }
        return tuple(task for task in self.plays if able.get(task, True))


ROW_ONLY = ("add", "sharpen", "multiply", "put")  # verbs that write only the cells of the row and class they are given


def verbs_named(function: Callable[..., Any], seen: set[Any] | None = None) -> set[Verb]:
    """Every verb a plain function names, also through the plain functions it calls."""
    seen = set() if seen is None else seen
    code = getattr(function, "__code__", None)
    if code is None or code in seen:
        return set()
    seen.add(code)
    found: set[Verb] = set()
    for name in code.co_names:
        thing = function.__globals__.get(name)
        if isinstance(thing, Verb):
            found.add(thing)
        elif isinstance(thing, types.FunctionType):
            found |= verbs_named(thing, seen)
    return found


PROBED = (-1.0, 0.999, 1.0, 1.5)


@cache
def tried(card: Card, default: float = 1.0, chosen: tuple[tuple[str, str], ...] | None = None) -> tuple[Any, ...]:
    """What a margin rule returns on some margins, tried in the reference algebra; () if it raises an error.

    Its numbers are the defaults, or nearer to their lower limits when less than the whole default is asked for.
    """
    import numpy as np

    from noregret.algebra.reference import ReferenceExample

    rule = grafting(bindings(card.choices, card.defaults if chosen is None else dict(chosen)), rebound, "tried")(
        card.rule
    )

    def returned(margin: float) -> Any:
        p = card.parameters(*[param.between(default) for param in card.numbers.values()] or [0.0])
        s = make(card.shape, Space("reference", features=2, room=2))
        s.n.t = 1.0
        return rule(p, s, ReferenceExample(np.array([1.0, -2.0]), 2, 1), margin)

    try:
        return tuple(map(returned, PROBED))
    except Exception:  # whoever plays this rule will be told where it raised what
        return ()


def loss_driven(card: Card, chosen: tuple[tuple[str, str], ...] | None = None) -> bool:
    """Tried, not declared: the rule moves just under margin 1 and not from there on, and no number changes that."""
    tries = [tried(card, part, chosen) for part in (1.0, 0.5)]
    return all([bool(moved) for moved in one[1:]] == [True, False, False] for one in tries)


def must_say_whether_it_moved(card: Card) -> None:
    """A margin rule returns True when it changed the state and False when it did not; updates are counted by it."""
    if card.kind == "margin" and None in tried(card):
        code = card.rule.__code__
        raise BadValue(
            f"{code.co_filename}:{code.co_firstlineno}: rule {card.name} returns nothing on some rounds; "
            "it must return True when it changed the state, and False when it did not"
        )


REGISTRY: dict[str, Card] = {}


def margin_rule(**told: Any) -> Callable[[Callable[..., Any]], Card]:
    """Make a learner of `rule(p, s, z, margin)`, called on every round whose example z is not zero.

    Tell at least paper, params and state; also counters, score, final, weight, weigh, guarantee, merge, title.
    """
    return lambda rule: register(rule, "margin", told)


def gradient_rule(**told: Any) -> Callable[[Callable[..., Any]], Card]:
    """Make a learner of `rule(p, s, g)`, called on every round with g, the slope of the loss times the example."""
    told["params"] = {
        **told.get("params", {}),
        "loss": Choice(told.pop("loss", "hinge"), LOSSES, "what is suffered", binds="slope"),
    }
    return lambda rule: register(rule, "gradient", told)


def coordinate_rule(**told: Any) -> Callable[[Callable[..., Any]], Card]:
    """Make a learner of `rule(p, s, j, g)`, called for every coordinate j at which the gradient g is not zero."""
    told["params"] = {
        **told.get("params", {}),
        "loss": Choice(told.pop("loss", "hinge"), LOSSES, "what is suffered", binds="slope"),
    }
    return lambda rule: register(rule, "coordinate", told)


def prototype_rule(**told: Any) -> Callable[[Callable[..., Any]], Card]:
    """Make a learner of many classes of `rule(p, s, steps, scores, required, truth, size)`.

    It writes into steps how far the weights w of each class move along the row, whose square is size; required says by
    how much the right class must beat each other one.
    """
    told.setdefault("plays", ("multiclass",))
    return lambda rule: register(rule, "prototype", told)


def bandit_rule(**told: Any) -> Callable[[Callable[..., Any]], Card]:
    """Make a learner of many classes of `rule(p, s, steps, scores, chance, played, loss)` that is told only how good
    the class was that it played.

    The hook `chances(p, s, scores, out)` writes how probable each class is to be played. The rule writes into steps how
    far the weights w of each class move along the row, given the chance that what was played had.
    """
    told = {"plays": ("bandit",), "weigh": "", **told}
    return lambda rule: register(rule, "bandit", told)


def schedule(default: str, steps: bool = False) -> Choice:
    """How the rate falls; a rule that hands over its steps can have it fall with them, too."""
    among = {**SCHEDULES, **OF_STEPS} if steps else SCHEDULES
    return Choice(default, among, "how the rate falls with the rounds", binds="rate")


ARGUMENTS = {
    "margin": ("p", "s", "z", "margin"),
    "gradient": ("p", "s", "g"),
    "coordinate": ("p", "s", "j", "g"),
    "prototype": ("p", "s", "steps", "scores", "required", "truth", "size"),
    "bandit": ("p", "s", "steps", "scores", "chance", "played", "loss"),
}
RESERVED = (
    "task", "algebra", "covariance", "kernel", "classes", "class_weight", "native", "seed", "bias", "scale",
    "transforms", "average", "groups", "bits", "cost",
)  # fmt: skip


def built_in(rule: Callable[..., Any]) -> bool:
    return rule.__module__.startswith("noregret.")


def check_fields(who: str, told: Mapping[str, Any]) -> None:
    """Parameters, state and counters must be of their kind and have names that p, s and s.n can carry."""
    kinds: dict[str, tuple[Any, str]] = {
        "params": ((Param, Choice), "a Param or a Choice"),
        "state": (
            Field,
            "a field of noregret.state, such as plain or covariance",
        ),
        "counters": ((int, float), "a number"),
    }
    taken = {"params": RESERVED, "state": ("n",), "counters": ("t",)}
    for part, (kind, wanted) in kinds.items():
        for name, value in told.get(part, {}).items():
            if not isinstance(value, kind):
                raise BadValue(f"{who}: {name} in {part} must be {wanted}, not {shown(value)}")
            if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("_") or name in taken[part]:
                raise BadValue(f"{who}: {name!r} cannot be a name in {part}; choose another")


def register(rule: Callable[..., Any], kind: str, told: dict[str, Any]) -> Card:
    name = getattr(rule, "__name__", "")
    code = getattr(rule, "__code__", None)
    if code is None:
        raise BadValue(f"a rule is a plain Python function, not {rule!r}")
    where = f"{code.co_filename}:{code.co_firstlineno}"
    hooks = [told[hook] for hook in ("score", "weight", "final", "chances") if told.get(hook) is not None]
    for function in (rule, *hooks):
        if not isinstance(function, types.FunctionType):
            raise BadValue(f"{where}: rule {name}: a hook is a plain Python function, not {shown(function)}")
        if function.__code__.co_freevars:
            raise BadValue(
                f"{where}: rule {name} uses {', '.join(function.__code__.co_freevars)} of the function around it; "
                "make it a parameter or a constant of the module"
            )
    unknown = set(told) - (set(Card.__dataclass_fields__) - {"name", "kind", "rule"})
    if unknown:
        raise BadValue(f"{where}: rule {name} tells {', '.join(sorted(unknown))}, which no card has")
    for needed in ("paper", "state", "chances") if kind == "bandit" else ("paper", "state"):
        if not told.get(needed):
            raise BadValue(f"{where}: rule {name} must tell its {needed}")
    told.setdefault("params", {})
    if not name.isidentifier():
        raise BadValue(f"{where}: a rule needs a name of its own")
    arguments = code.co_varnames[: code.co_argcount]
    if len(arguments) != len(ARGUMENTS[kind]):
        takes = f"takes ({', '.join(arguments)}); a {kind} rule takes ({', '.join(ARGUMENTS[kind])})"
        raise BadValue(f"{where}: rule {name} {takes}")
    check_fields(f"{where}: rule {name}", told)
    told["title"] = told.get("title") or "".join(part[:1].upper() + part[1:] for part in name.split("_"))
    if not isinstance(told["title"], str) or not told["title"].isidentifier():
        raise BadValue(f"{where}: rule {name}: a title is part of the name of a class, not {shown(told['title'])}")
    taken = REGISTRY.get(name)
    if taken is not None and built_in(taken.rule) != built_in(rule):
        own = (taken.rule if built_in(rule) else rule).__code__
        where = f"{own.co_filename}:{own.co_firstlineno}"
        raise BadValue(f"{where}: the name {name} is taken by a built-in learner; choose another")
    card = Card(name=name, kind=kind, rule=rule, **told)
    weighed = (card.weigh or "").removeprefix("1/")
    if weighed and weighed not in card.numbers:
        raise BadValue(f"{where}: rule {name} weighs by {card.weigh!r}, which is not one of its parameters")
    REGISTRY[name] = card
    return card
