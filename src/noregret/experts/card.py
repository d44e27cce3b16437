"""Cards of expert algorithms: how the weights follow from the state, and how the state learns from the losses.

    @expert_algorithm(paper="...", weigh=hedge_weights, params={"eta": Rate(...)}, guarantees=(...))
    def hedge(p, s, awake, q, losses, own):
        \"\"\"Weights that fall exponentially with the losses so far.\"\"\"

declares an algorithm in one file. `weigh(p, s, awake, q)` writes the distribution of the next round into q, over the
experts that are awake, and changes nothing else. The decorated function learns from a round: q is the distribution that
was played, `losses` the losses of all experts (of one that sleeps, what `asleep` returned), and `own` the loss of the
algorithm, q . losses. All are plain functions over arrays, which are compiled. s.losses holds the summed losses of the
experts before the round, s.n.t the number of rounds before it; the loop updates both.
"""

import inspect
from collections import namedtuple
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Required, TypedDict, Unpack

from noregret.cached_property import cached_property
from noregret.errors import BadValue
from noregret.experts.prediction_losses import PREDICTION_LOSSES
from noregret.rules.guarantee import Guarantee, check_guarantees
from noregret.rules.merge_law import Merge
from noregret.rules.method_card import MethodCard, place_of
from noregret.rules.parameters import Choice, Param, suggestion
from noregret.rules.registry import REGISTRY, load_package, register, title_of

Text = Callable[..., Any]
ARRAYS = ("losses", "filled", "slept", "asleep")  # one number for each expert, in every state; see expert_weights.py
COUNTERS = {"t": 0.0, "loss": 0.0, "lost_votes": 0.0, "runs": 1.0, "arrived": 0.0}  # in every state


@dataclass(frozen=True)
class Rate(Param):
    """A learning rate; "anytime" may be given for 0, which stands for a rate that falls with the rounds."""

    def check(self, owner: str, name: str, given: Any) -> float:
        return super().check(owner, name, 0.0 if isinstance(given, str) and given == "anytime" else given)


ROUND_PARAMS = {
    "loss": Choice("none", PREDICTION_LOSSES, "of a prediction of an expert; none: rows are losses, without truths"),
    "missing": Choice(
        "refuse", {"refuse": None, "sleep": None}, "a value that is missing is an error, or its expert sleeps"
    ),
}  # what learners take beside the parameters of the algorithm


def suffer_own_loss(p: Any, s: Any, awake: Any, q: Any, losses: Any, own: float) -> float:
    """The loss of the algorithm, for experts that sleep: their regret does not change."""
    return own


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class ExpertCard(MethodCard):
    """The declaration of an expert algorithm."""

    weigh: Text  # (p, s, awake, q): write the distribution of the next round into q
    learn: Text  # (p, s, awake, q, losses, own): learn from a round
    asleep: Text = suffer_own_loss  # (p, s, awake, q, losses, own): the loss that experts suffer while they sleep
    why_awake: str | None = None  # why no expert may sleep, and none may arrive later; None where they may
    arrive: Text | None = None  # (p, s, old) -> the summed loss of an expert with the mean weight of the first `old`
    state: Mapping[str, float] = field(default_factory=dict)  # arrays with a number for each expert: their first value
    counters: Mapping[str, float] = field(default_factory=dict)
    admit: Text | None = None  # (s, old): set the arrays of a fresh state (old = 0) or of new experts, from `old` on
    find_problem: Text | None = None  # (s): what is wrong with arrays read from a file, or None
    votes: bool = False  # whether its theorem counts the rounds in which at least half of the weight was wrong
    follows: bool = False  # whether it predicts as one expert does, drawn by the weights; otherwise the vote predicts
    draws: bool = False  # whether it draws random numbers, from the counter `random`
    binds: Mapping[str, Any] = field(default_factory=dict)  # what else the functions name, bound when they are compiled

    @property
    def rule(self) -> Text:
        """The function that learns, by the name it has on cards of rules."""
        return self.learn

    @cached_property
    def algorithm_params(self) -> dict[str, Param | Choice]:
        """The parameters of the algorithm, without what only learners take."""
        own = {name: param for name, param in self.params.items() if name not in ROUND_PARAMS}
        return own  # type: ignore[return-value]

    @cached_property
    def state_class(self) -> Any:
        """The class of s: arrays by name, and the record of counters n."""
        return namedtuple(f"{self.name}_state", [*ARRAYS, *self.state, "n"])

    @cached_property
    def all_counters(self) -> dict[str, float]:
        """The counters with their first values."""
        return {**COUNTERS, **self.counters, **({"random": 1.0} if self.draws else {})}


class Declared(TypedDict, total=False):
    """What an expert algorithm declares."""

    paper: Required[str]
    weigh: Required[Text]
    title: str
    params: Mapping[str, Param | Choice]
    guarantees: tuple[Guarantee, ...]
    merge: Merge
    asleep: Text
    why_awake: str
    arrive: Text
    state: Mapping[str, float]
    counters: Mapping[str, float]
    admit: Text
    find_problem: Text
    votes: bool
    follows: bool
    draws: bool
    binds: Mapping[str, Any]


def expert_algorithm(**declared: Unpack[Declared]) -> Callable[[Text], ExpertCard]:
    """Declare an expert algorithm by the function that learns from a round; the result is its card."""

    def decorate(learn: Text) -> ExpertCard:
        name, where = learn.__name__, place_of(learn)
        choices = {key: one.among for key, one in declared.get("params", {}).items() if isinstance(one, Choice)}
        check_guarantees(f"{where}: {name}", declared.get("guarantees", ()), choices)
        given: dict[str, Any] = {"title": title_of(name), **declared}
        given["params"] = {**declared.get("params", {}), **ROUND_PARAMS}

        def build_learner(**options: Any) -> Any:
            from noregret.experts.expert_learner import ExpertLearner

            own = {key: options.pop(key) for key in list(options) if key in card.params}
            return ExpertLearner(card, own, **options)

        card = ExpertCard(
            **given,
            factory=build_learner,
            options=("loss_range", "names", "seed", "native"),
            name=name,
            kind="experts",
            about=inspect.cleandoc(learn.__doc__ or "").partition("\n")[0],
            module=learn.__module__,
            where=where,
            declared_tasks=("experts",),
            learn=learn,
        )
        register(card)
        return card

    return decorate


def find_algorithm(given: Any) -> ExpertCard:
    """The card of an expert algorithm, by name or as it is."""
    known = list_algorithms() if isinstance(given, str) else {}
    card = known.get(given) if isinstance(given, str) else given
    if not isinstance(card, ExpertCard):
        there = ", ".join(known or list_algorithms())
        raise BadValue(f"there is no expert algorithm {given!r}{suggestion(given, known)}; there are {there}")
    return card


def list_algorithms() -> dict[str, ExpertCard]:
    """The cards of all expert algorithms by name, users' own included."""
    load_package("noregret.experts")
    return {name: card for name, card in sorted(REGISTRY.items()) if isinstance(card, ExpertCard)}
