"""The card: what every method declares. Whatever lists, checks, documents or tunes learners reads cards."""

from collections import namedtuple
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from noregret.rules.guarantee import Guarantee
from noregret.rules.merge_law import NO_MERGE, Merge
from noregret.rules.names import AlgebraName, TaskName
from noregret.rules.parameters import Choice, Param, Parameter


@dataclass(frozen=True, eq=False, kw_only=True)
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
    guarantee: Guarantee | None = None
    merge: Merge = NO_MERGE
    default_variant: bool = False
    runs_by_default: bool = False  # in a race that names no learners

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
        return namedtuple(f"{self.name}_parameters", list(self.numbers) or ["none"])
