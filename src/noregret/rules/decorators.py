"""Decorators that make a learner of a rule: the rule stays a plain function, its card is registered."""

import inspect
import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Required, TypeAlias, TypedDict, Unpack

from noregret.errors import BadValue, shown
from noregret.rules.checking import check_names
from noregret.rules.guarantee import Guarantee, check_guarantees
from noregret.rules.losses import LOSSES
from noregret.rules.merge_law import Merge
from noregret.rules.names import RuleKind, TaskName
from noregret.rules.own_functions import Own
from noregret.rules.parameters import Choice, Component, Param
from noregret.rules.registry import register, title_of
from noregret.rules.row_size import ROW_COUNTERS
from noregret.rules.rule_card import Check, Limits, RuleCard
from noregret.rules.schedules import NUMBERS, OF_STEPS, SCHEDULES
from noregret.state.fields import Field, Law

Function: TypeAlias = Callable[..., Any]
Decorator: TypeAlias = Callable[[Function], RuleCard]
COVARIANCES = ("diagonal", "drop", "full")
RANDOM_START = Param(
    0.0,
    at_least=0.0,
    about="the standard deviation of random initial weights",
    untuned="the start matters little; weights of zero are the usual choice, and what most theorems assume",
)
ARGUMENTS: dict[RuleKind, tuple[str, ...]] = {
    "margin": ("p", "s", "z", "margin"),
    "gradient": ("p", "s", "g"),
    "coordinate": ("p", "s", "j", "g"),
    "prototype": ("p", "s", "steps", "scores", "required", "truth", "size"),
    "bandit": ("p", "s", "steps", "scores", "chance", "played", "loss"),
}
ANY_TASK: tuple[TaskName, ...] = (
    "binary", "multiclass", "regression", "multilabel", "ranking", "one-class", "structured", "convex",
)  # fmt: skip
TASKS: dict[RuleKind, tuple[TaskName, ...]] = {
    "margin": ANY_TASK,
    "gradient": ANY_TASK,
    "coordinate": ANY_TASK,
    "prototype": ("multiclass",),
    "bandit": ("bandit",),
}


class Declared(TypedDict, total=False):
    """What a rule declares; paper and state are required, and of a bandit rule chances."""

    paper: Required[str]
    state: Required[Mapping[str, Field]]
    params: Mapping[str, Param | Choice]
    counters: Mapping[str, float]
    score: Function | None
    weight: Function | None
    final: Function | None
    chances: Function | None
    level: Function | None
    check: Check | None
    penalty: Callable[..., float] | None
    counter_laws: Mapping[str, Law]
    tasks: tuple[TaskName, ...]
    guarantees: tuple[Guarantee, ...]
    merge: Merge
    title: str
    weight_param: str
    default_variant: bool
    runs_by_default: bool
    nonnegative: bool
    ignores_features: bool
    real_valued_losses: bool
    start_within: Limits | None
    forgets_start: bool
    needs_mercer_kernel: bool
    full_information: Mapping[str, Any]


class DeclaredWithLoss(Declared, total=False):
    """What a rule of gradients declares: also its default loss."""

    loss: str


def margin_rule(**declared: Unpack[Declared]) -> Decorator:
    """Make a learner of `rule(p, s, z, margin)`, called on every round whose signed example z is not zero."""
    return lambda rule: register_rule(rule, "margin", dict(declared))


def gradient_rule(**declared: Unpack[DeclaredWithLoss]) -> Decorator:
    """Make a learner of `rule(p, s, g)`, called on every round with g, the slope of the loss times the example."""
    return lambda rule: register_rule(rule, "gradient", with_loss(dict(declared)))


def coordinate_rule(**declared: Unpack[DeclaredWithLoss]) -> Decorator:
    """Make a learner of `rule(p, s, j, g)`, called for every coordinate j at which the gradient g is not zero."""
    return lambda rule: register_rule(rule, "coordinate", with_loss(dict(declared)))


def prototype_rule(**declared: Unpack[Declared]) -> Decorator:
    """Make a multiclass learner of `rule(p, s, steps, scores, required, truth, size)`.

    The rule writes into steps how far the weights w of each class move along the row; size is the squared norm of the
    row, and required the margin by which the true class must beat each other one.
    """
    return lambda rule: register_rule(rule, "prototype", dict(declared))


def bandit_rule(**declared: Unpack[Declared]) -> Decorator:
    """Make a learner with bandit feedback of `rule(p, s, steps, scores, chance, played, loss)`.

    The hook `chances(p, s, scores, out)` writes the probability of playing each class. The rule sees the loss of the
    class it played, and the probability that class had; it writes into steps how far the weights of each class move.
    """
    return lambda rule: register_rule(rule, "bandit", {"weight_param": "", **declared})


def schedule(default: str, steps: bool = False) -> Choice:
    """The learning-rate schedule of a rule; with steps, also schedules that fall with the number of updates."""
    among = {**SCHEDULES, **OF_STEPS} if steps else SCHEDULES
    own = Own(("p", "eta0", "t", "steps"))
    return Choice(default, among, "how the learning rate falls with the rounds", binds="rate", reads=NUMBERS, own=own)


def with_loss(declared: dict[str, Any]) -> dict[str, Any]:
    loss = Choice(declared.pop("loss", "hinge"), LOSSES, "the loss whose gradient is followed", binds="slope")
    return {**declared, "params": {**declared.get("params", {}), "loss": loss}}


def with_numbers(params: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters, and the numbers that their options read where the rule has none of these names."""
    read = {name: number for one in params.values() if isinstance(one, Choice) for name, number in one.reads.items()}
    return {**params, **{name: number for name, number in read.items() if name not in params}}


def register_rule(rule: Function, kind: RuleKind, declared: dict[str, Any]) -> RuleCard:
    """Make a card of a rule and what it declares, and register it."""
    name = getattr(rule, "__name__", "")
    code = getattr(rule, "__code__", None)
    if code is None:
        raise BadValue(f"a rule is a plain Python function, not {rule!r}")
    where = f"{code.co_filename}:{code.co_firstlineno}"
    who = f"{where}: rule {name}"
    check_functions(who, rule, declared)
    unknown = set(declared) - set(Declared.__annotations__)
    if unknown:
        raise BadValue(f"{who} declares {', '.join(sorted(unknown))}, which no card has")
    for needed in ("paper", "state", "chances") if kind == "bandit" else ("paper", "state"):
        if not declared.get(needed):
            raise BadValue(f"{who} must declare its {needed}")
    if not name.isidentifier():
        raise BadValue(f"{where}: a rule needs a name of its own")
    arguments = code.co_varnames[: code.co_argcount]
    if len(arguments) != len(ARGUMENTS[kind]):
        takes = f"takes ({', '.join(arguments)}); a {kind} rule takes ({', '.join(ARGUMENTS[kind])})"
        raise BadValue(f"{who} {takes}")
    check_names(who, "params", declared.get("params", {}))
    declared["params"] = with_numbers(declared.get("params", {}))
    check_names(who, "state", declared["state"])
    check_names(who, "counters", declared.get("counters", {}))
    if any(isinstance(param, Component) for param in declared.get("params", {}).values()):
        raise BadValue(f"{who}: a rule cannot be built from other learners")
    check_guarantees(who, declared.get("guarantees", ()), options_of(declared))
    title = declared.pop("title", None) or title_of(name)
    if not isinstance(title, str) or not title.isidentifier():
        raise BadValue(f"{who}: a title is part of the name of a class, not {shown(title)}")
    card = RuleCard(
        name=name, kind=kind, rule=rule, title=title, module=rule.__module__, where=where,
        about=inspect.cleandoc(rule.__doc__ or "").partition("\n")[0],
        declared_tasks=declared.pop("tasks", TASKS[kind]), **declared,
    )  # fmt: skip
    weighted = (card.weight_param or "").removeprefix("1/")
    if weighted and weighted not in card.numbers:
        raise BadValue(f"{who}: weight_param is {card.weight_param!r}, which is not one of its parameters")
    sized = [name for name, number in card.numbers.items() if number.per_size is not None]
    if sized and not (kind == "margin" and set(ROW_COUNTERS) <= set(card.counters)):
        raise BadValue(f"{who}: {sized[0]} follows the rows; that takes a margin rule with counters=ROW_COUNTERS")
    card = with_random_start(card)
    register(card)
    return card


def with_random_start(card: RuleCard) -> RuleCard:
    """The card with a number for random initial weights, where they can begin at random."""
    if "random_start" in card.params or card.why_no_random_start(card.defaults) is not None:
        return card
    state = {name: replace(field, random=True) if name == "w" else field for name, field in card.state.items()}
    return replace(card, params={**card.params, "random_start": RANDOM_START}, state=state)


def check_functions(who: str, rule: Function, declared: Mapping[str, Any]) -> None:
    """A rule and its hooks are plain functions that use nothing of a function around them."""
    names = ("score", "weight", "final", "chances", "level")
    hooks = [declared[hook] for hook in names if declared.get(hook) is not None]
    for function in (rule, *hooks):
        if not isinstance(function, types.FunctionType):
            raise BadValue(f"{who}: a hook is a plain Python function, not {shown(function)}")
        if function.__code__.co_freevars:
            raise BadValue(
                f"{who} uses {', '.join(function.__code__.co_freevars)} of the function around it; "
                "make it a parameter or a constant of the module"
            )


def options_of(declared: Mapping[str, Any]) -> dict[str, Iterable[str]]:
    """The options that a guarantee of the rule may depend on."""
    choices = {name: one.among for name, one in declared.get("params", {}).items() if isinstance(one, Choice)}
    covariance = any(field.kind == "covariance" for field in declared["state"].values())
    return {**choices, **({"covariance": COVARIANCES} if covariance else {})}
