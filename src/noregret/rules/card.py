"""The card: what every method declares. Whatever lists, checks, documents or tunes learners reads cards."""

from collections import namedtuple
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from noregret.cached_property import cached_property
from noregret.errors import BadValue
from noregret.rules.guarantee import DEFAULT_COVARIANCE, Guarantee
from noregret.rules.merge_law import NO_MERGE, Merge
from noregret.rules.names import AlgebraName, TaskName
from noregret.rules.parameters import Choice, Param, Parameter


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Card:
    """The declaration of a learner: name, paper, parameters, tasks, guarantee and merge law.

    Cards that share a title are variants of one learner; the default variant is used where none is named.
    """

    name: str
    kind: str  # of a rule its kind (margin, gradient ...); otherwise what the learner is (pool, delayed ...)
    paper: str
    about: str  # one sentence
    title: str
    module: str  # the module that defines the method
    where: str  # the file and line of the method, for error messages
    params: Mapping[str, Parameter] = field(default_factory=dict)
    declared_tasks: tuple[TaskName, ...] = ()
    guarantees: tuple[Guarantee, ...] = ()
    merge: Merge = NO_MERGE
    default_variant: bool = False
    runs_by_default: bool = False  # in a race that names no learners
    boolean_rows: bool = False  # whether all values of rows must be 0 or 1
    needs: tuple[str, ...] = ()  # things of the caller without which none can be made, such as a torch module

    def __repr__(self) -> str:
        options = ", ".join(f"{name}={param.default_text}" for name, param in self.params.items())
        return f"<card {self.name}({options}): {self.about} Plays {', '.join(self.tasks)}. {self.paper}>"

    @property
    def built_in(self) -> bool:
        return self.module.startswith("noregret.")

    @property
    def tasks(self) -> tuple[TaskName, ...]:
        """The tasks the learner can play."""
        return self.declared_tasks

    @property
    def algebras(self) -> tuple[AlgebraName, ...]:
        """How a rule's vectors can be stored; empty for methods that are not rules."""
        return ()

    @property
    def supports_weights(self) -> bool:
        """Whether rounds can carry an importance weight."""
        return False

    @property
    def numbers(self) -> dict[str, Param]:
        return {name: param for name, param in self.params.items() if isinstance(param, Param)}

    @property
    def choices(self) -> dict[str, Choice]:
        return {name: param for name, param in self.params.items() if isinstance(param, Choice)}

    @cached_property
    def defaults(self) -> dict[str, str]:
        """The default option of every choice."""
        return {name: choice.default for name, choice in self.choices.items()}

    @cached_property
    def parameters(self) -> Any:
        """The class of p: a named tuple with one float for each number on the card."""
        return self.make_parameters()

    def make_parameters(self) -> Any:
        return namedtuple(f"{self.name}_parameters", list(self.numbers) or ["none"])

    @property
    def guarantee(self) -> Guarantee | None:
        """The main theorem; it need not be one for the default options, see `guarantee_for`."""
        return self.guarantees[0] if self.guarantees else None

    def in_force(self, options: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
        """The numbers as p, and the options, that are in force where these are given; others have their defaults."""
        numbers = [float(options.get(name, param.default)) for name, param in self.numbers.items()]
        chosen = {"covariance": DEFAULT_COVARIANCE, **self.defaults}
        return self.parameters(*numbers or [0.0]), {name: options.get(name, chosen[name]) for name in chosen}

    def guarantees_for(self, options: Mapping[str, Any]) -> tuple[Guarantee, ...]:
        """The theorems that hold for these parameters and options."""
        p, chosen = self.in_force(options)
        return tuple(one for one in self.guarantees if one.why_not(p, chosen) is None)

    def guarantee_for(self, options: Mapping[str, Any]) -> Guarantee | None:
        """The first theorem that holds for these parameters and options; None where none is known."""
        return next(iter(self.guarantees_for(options)), None)

    def why_no_guarantee(self, options: Mapping[str, Any]) -> str | None:
        """Why no theorem holds for these parameters and options, or None if one does."""
        if self.guarantee_for(options) is not None:
            return None
        p, chosen = self.in_force(options)
        reasons = dict.fromkeys(f"{one.why_not(p, chosen)}" for one in self.guarantees)
        return "; ".join(reasons) or "no theorem is known"

    def bound(self, options: Mapping[str, Any] | None = None, /, **quantities: float) -> float:
        """The bound for the options in force (`learner.params`), given the quantities that it needs.

        Of several theorems that hold, the one that uses most of the quantities given.
        """
        given = options or {}
        valid = self.guarantees_for(given)
        if not valid:
            raise BadValue(f"{self.name}: {self.why_no_guarantee(given)}")
        filled = [one for one in valid if set(one.needs) <= set(quantities)]
        chosen = max(filled, key=lambda one: len(one.needs), default=valid[0])
        return chosen.evaluate(self.in_force(given)[0], quantities)
