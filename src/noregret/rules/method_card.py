"""Cards of methods that are not rules: pools, delayed labels, decompositions, networks and the like.

    @method_card(paper="...", kind="mean", tasks=("regression",), params={"decay": Param(1.0, above=0.0, at_most=1.0)})
    class RunningMean:
        \"\"\"Predict the mean of the targets so far.\"\"\"

        def __init__(self, decay: float) -> None: ...

makes `nr.make("running_mean", decay=0.9)` work, lists the learner in the catalogue and documents it.
"""

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Required, TypedDict, TypeVar, Unpack

from noregret.errors import BadValue, shown
from noregret.rules.card import Card
from noregret.rules.checking import check_names
from noregret.rules.guarantee import Guarantee, check_guarantees
from noregret.rules.merge_law import Merge
from noregret.rules.names import TASKS, TaskName
from noregret.rules.parameters import Choice, Component, Parameter, suggestion
from noregret.rules.registry import register, title_of

Factory = TypeVar("Factory", bound=Callable[..., object])


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class MethodCard(Card):
    """The card of a method that is not a rule: it builds its learners itself."""

    factory: Callable[..., object]
    options: tuple[str, ...] = ()  # of the options that all learners share (task, classes, seed ...), those it takes
    declared_weights: bool = False
    ignores_features: bool = False  # it counts rows and does not look at them, so it is no estimator

    @property
    def supports_weights(self) -> bool:
        return self.declared_weights

    def name_part(self, name: str) -> str:
        """How a learner that this one is made of gets an option; empty where there is none."""
        parts = [part.default_text.partition(",")[0] for part in self.params.values() if isinstance(part, Component)]
        return f"; give it to one of these, as in '{parts[0]}({name}=...)'" if parts else ""

    def build(self, **given: Any) -> Any:
        """A fresh learner: every parameter is checked, missing ones get their defaults, then the factory is called."""
        task = given.get("task")
        if task is not None and task not in self.tasks:
            raise BadValue(f"{self.name} cannot play {task}: it plays {', '.join(self.tasks)}")
        if "task" not in self.options:
            given.pop("task", None)
        known = [*self.params, *self.options]
        for name in given:
            if name not in known:
                takes = f"it takes {', '.join(known)}" if known else "it takes none"
                close = suggestion(name, known)
                part = "" if close else self.name_part(name)
                raise BadValue(f"{self.name} has no parameter {name!r}{close}; {takes}{part}")
        missing = [name for name in self.needs if given.get(name) is None]
        if missing:
            raise BadValue(f"{self.name} cannot be made by name alone: give it {missing[0]}= in Python")
        shared = {name: value for name, value in given.items() if name in self.options}
        params = {
            name: param.check(self.name, name, given.get(name, param.default)) for name, param in self.params.items()
        }
        return self.factory(**params, **shared)


class Declared(TypedDict, total=False):
    """What a method that is not a rule declares."""

    paper: Required[str]
    kind: Required[str]
    tasks: Required[tuple[TaskName, ...]]
    name: str
    about: str
    title: str
    params: Mapping[str, Parameter]
    options: tuple[str, ...]
    guarantees: tuple[Guarantee, ...]
    merge: Merge
    weights: bool
    default_variant: bool
    runs_by_default: bool
    boolean_rows: bool
    ignores_features: bool
    needs: tuple[str, ...]


def method_card(**declared: Unpack[Declared]) -> Callable[[Factory], Factory]:
    """Register a class, or a function that makes learners, as a method; a class gets the card as its attribute `card`.

    The name is that of the class in lower case with underscores; the first line of its docstring says what it does.
    """

    def decorate(factory: Factory) -> Factory:
        card = register_method(factory, **declared)
        if isinstance(factory, type):
            factory.card = card  # type: ignore[attr-defined]
        return factory

    return decorate


def register_method(factory: Callable[..., object], **declared: Unpack[Declared]) -> MethodCard:
    """Make a card of a factory and what it declares, and register it."""
    where = place_of(factory)
    name = declared.get("name") or snake_case(getattr(factory, "__name__", ""))
    who = f"{where}: method {name}"
    if not name.isidentifier():
        raise BadValue(f"{where}: a method needs a name of its own, not {shown(name)}")
    unknown = set(declared) - set(Declared.__annotations__)
    if unknown:
        raise BadValue(f"{who} declares {', '.join(sorted(unknown))}, which no card has")
    for needed in Declared.__required_keys__:
        if not declared.get(needed):
            raise BadValue(f"{who} must declare its {needed}")
    wrong = [task for task in declared["tasks"] if task not in TASKS]
    if wrong:
        raise BadValue(f"{who}: a task must be one of {', '.join(TASKS)}, not {shown(wrong[0])}")
    check_names(who, "params", declared.get("params", {}))
    check_takes(who, factory, [*declared.get("params", {}), *declared.get("options", ())])
    choices = {key: one.among for key, one in declared.get("params", {}).items() if isinstance(one, Choice)}
    check_guarantees(who, declared.get("guarantees", ()), choices)
    about = declared.get("about") or inspect.cleandoc(factory.__doc__ or "").partition("\n")[0]
    if not about:
        raise BadValue(f"{who} must say what it does in its docstring")
    title = declared.get("title") or title_of(name)
    passed: dict[str, Any] = {
        key: value for key, value in declared.items() if key in {one.name for one in fields(MethodCard)}
    }
    passed |= {"name": name, "about": about, "title": title, "where": where, "module": factory.__module__}
    card = MethodCard(
        **passed,
        factory=factory,
        declared_tasks=declared["tasks"],
        declared_weights=declared.get("weights", False),
    )
    register(card)
    return card


def check_takes(who: str, factory: Callable[..., object], names: list[str]) -> None:
    """A factory must take every parameter on its card by name."""
    arguments = inspect.signature(factory).parameters
    if any(argument.kind is argument.VAR_KEYWORD for argument in arguments.values()):
        return
    missing = [name for name in names if name not in arguments]
    if missing:
        raise BadValue(f"{who} declares {', '.join(missing)}, which it does not take")


def place_of(factory: Callable[..., object]) -> str:
    """The file and line of a class or function."""
    try:
        return f"{inspect.getsourcefile(factory)}:{inspect.getsourcelines(factory)[1]}"
    except (OSError, TypeError):
        return getattr(factory, "__module__", "a method")


def snake_case(name: str) -> str:
    """RunningMean as running_mean."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
