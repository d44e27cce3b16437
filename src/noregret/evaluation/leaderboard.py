"""How learners stand in a race, and the table of it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from noregret.evaluation.tables import table
from noregret.learner.rule_learner import RuleLearner
from noregret.metrics import Confusion

LONG = 1e9  # losses from here on are shown by their size only


@dataclass(frozen=True)
class Standing:
    """How one learner did in a race; `measures` are those of its task alone; `stopped` says why it could not go on.

    Where it is not told every label, `full_information` is how many mistakes a learner made that is.
    """

    name: str
    learner: RuleLearner
    rounds: int
    mistakes: int
    loss: float
    updates: int
    seconds: float
    stopped: str | None = None
    measures: Mapping[str, float] = field(default_factory=dict)
    full_information: int | None = None
    confusion: Confusion | None = None

    @property
    def rank(self) -> tuple[float, ...]:
        """What decides a race, the smallest first: mistakes, then loss; in ranking, the pairs in the right order."""
        found = (float(self.mistakes), self.loss)
        return (-self.measures["pair_accuracy"], *found) if "pair_accuracy" in self.measures else found

    @property
    def rate(self) -> float:
        return self.mistakes / max(self.rounds, 1)

    @property
    def mean_loss(self) -> float:
        return self.loss / max(self.rounds, 1)

    @property
    def nonzeros(self) -> int:
        return self.learner.nonzeros

    @property
    def asked(self) -> int | None:
        """How many labels were asked for, where that is up to the learner."""
        return self.learner.asked if self.learner.config.task.queries_labels else None

    @property
    def costs(self) -> Any:
        """What mistakes cost, where it was told."""
        return None if self.confusion is None else self.confusion.costs

    @property
    def uneven(self) -> bool:
        """Whether the rate alone may mislead: some class is rare, or classes were weighed."""
        weighed = self.learner.config.class_weight is not None
        return self.confusion is not None and (weighed or self.confusion.imbalanced)


class Race:
    """The standings, best first, and what the simplest guesses would have done.

    Best is the smallest cost where costs were told, then the fewest mistakes, then the smallest loss; in ranking, the
    most pairs in the right order.
    """

    def __init__(self, standings: Iterable[Standing], baselines: dict[str, float] | None = None) -> None:
        found = list(standings)
        self.costs = next((one.costs for one in found if one.costs is not None), None)
        self.standings = sorted(found, key=self.place)
        self.baselines = baselines or {}

    def place(self, one: Standing) -> tuple[float, ...]:
        """What a race is ordered by."""
        return (one.stopped is not None, self.cost_of(one), *one.rank)

    def cost_of(self, one: Standing) -> float:
        return 0.0 if self.costs is None or one.confusion is None else one.confusion.cost_by(self.costs)

    @property
    def winner(self) -> RuleLearner:
        return self.standings[0].learner

    def __iter__(self) -> Iterator[Standing]:
        return iter(self.standings)

    def __len__(self) -> int:
        return len(self.standings)

    def __getitem__(self, name: str) -> Standing:
        for standing in self.standings:
            if standing.name == name:
                return standing
        raise KeyError(name)

    def shown(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """The head and the rows of the table."""
        found = columns(self.standings, self)
        return tuple(found), [tuple(cell(one) for cell in found.values()) for one in self.standings]

    def __str__(self) -> str:
        return table(*self.shown())

    __repr__ = __str__


# ---- columns ---------------------------------------------------------------------------------------------------------

Cell = Callable[[Standing], str]


def measured(name: str) -> Cell:
    return lambda one: f"{one.measures[name]:.4f}"


def told(value: Any) -> str:
    return "" if value is None else str(value)


LOSS: dict[str, Cell] = {"loss": lambda one: f"{one.loss:.1f}" if one.loss < LONG else f"{one.loss:.3g}"}
MEAN: dict[str, Cell] = {"mean loss": lambda one: f"{one.mean_loss:.4g}"}
USUAL: dict[str, Cell] = {"mistakes": lambda one: str(one.mistakes), "rate": lambda one: f"{one.rate:.4f}"}
SCORED: dict[str, dict[str, Cell]] = {  # what tells of a task; there are no mistakes in regression, only losses
    "regression": {**LOSS, **MEAN},
    "multilabel": {**USUAL, **LOSS, "ranking loss": measured("ranking_loss"), "micro F1": measured("micro_f1")},
    "ranking": {
        "pairs right": measured("pair_accuracy"),
        "NDCG": measured("ndcg"),
        "NDCG@10": measured("ndcg_at_10"),
        "wrong lists": USUAL["mistakes"],
        **MEAN,
    },
}


def columns(standings: Sequence[Standing], race: Race) -> dict[str, Cell]:
    """The columns of a table by their heads.

    Beside the rate stand the balanced accuracy, where classes are uneven or weighed, and costs, where told.
    """
    found: dict[str, Cell] = {"learner": lambda one: one.name if one.stopped is None else f"{one.name} (stopped)"}
    scored = SCORED.get(standings[0].learner.task)
    if scored is None:
        scored = dict(USUAL)
        if any(one.uneven for one in standings):
            scored["balanced"] = lambda one: "" if one.confusion is None else f"{one.confusion.balanced_accuracy:.4f}"
        if race.costs is not None:
            scored["cost"] = lambda one: "" if one.confusion is None else f"{race.cost_of(one):,.6g}"
        scored |= LOSS
    found |= {**scored, "updates": lambda one: str(one.updates), "non-zeros": lambda one: str(one.nonzeros)}
    if any(one.full_information is not None for one in standings):
        found["full information"] = lambda one: told(one.full_information)
    if any(one.asked is not None for one in standings):
        found["labels asked"] = lambda one: told(one.asked)
    found["rounds/s"] = lambda one: f"{one.rounds / max(one.seconds, 1e-9):,.0f}"
    return found
