"""The flow: source -> blocks -> learners -> transcripts -> referees -> reports."""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from noregret.card import Card
from noregret.errors import BadValue, shown
from noregret.learner import Learner
from noregret.making import learners as catalogue
from noregret.making import make
from noregret.referees import Loss, Mistakes, Referee, Runtime, Updates
from noregret.reports.tables import table
from noregret.streams import blocks


def standard() -> list[Referee]:
    return [Mistakes(), Loss(), Updates(), Runtime()]


def play(source: Any, learner: Learner, referees: Sequence[Referee] | None = None) -> dict[str, float]:
    """Play a source through a learner before some referees; returns what they report."""
    if not isinstance(learner, Learner):
        raise BadValue(f"play needs a learner made by make(), not {shown(learner)}")
    watching = standard() if referees is None else list(referees)
    strangers = [one for one in watching if not (hasattr(one, "see") and hasattr(one, "report"))]
    if strangers:
        raise BadValue(f"a referee has the methods see and report; {shown(strangers[0])} has not")
    for X, y in blocks(source):
        transcript = learner.play(X, y)
        for referee in watching:
            referee.see(transcript)
    return {name: value for referee in watching for name, value in referee.report().items()}


@dataclass(frozen=True)
class Standing:
    """How one learner did in a race."""

    name: str
    learner: Learner
    rounds: int
    mistakes: int
    loss: float
    updates: int
    seconds: float

    @property
    def rate(self) -> float:
        return self.mistakes / max(self.rounds, 1)


class Race:
    """The standings, best first: fewest mistakes, then smallest loss."""

    def __init__(self, standings: Iterable[Standing]) -> None:
        self.standings = sorted(standings, key=lambda one: (one.mistakes, one.loss))

    @property
    def winner(self) -> Learner:
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

    def __str__(self) -> str:
        head = ("learner", "mistakes", "rate", "loss", "updates", "rounds/s")
        rows = [
            (
                one.name,
                str(one.mistakes),
                f"{one.rate:.4f}",
                f"{one.loss:.1f}",
                str(one.updates),
                f"{one.rounds / max(one.seconds, 1e-9):,.0f}",
            )
            for one in self.standings
        ]
        return table(head, rows)

    __repr__ = __str__


def race(source: Any, learners: Sequence[Any] | None = None, *, threads: int = 2, **told: Any) -> Race:
    """Run learners side by side over one source, each predicting every round before it learns it.

    `learners` holds names, rules of your own, or learners; all built-in ones by default. What else is told goes to
    every learner made here.
    """
    if isinstance(learners, str) or not isinstance(learners, Iterable | None):
        raise BadValue(f"learners must be a list of names, rules or learners, not {shown(learners)}")
    if type(threads) is not int or threads < 1:
        raise BadValue(f"threads must be a whole number of at least 1, not {shown(threads)}")
    entrants = [
        entrant(one, told) for one in (learners if learners is not None else [card.name for card in catalogue()])
    ]
    if not entrants:
        raise BadValue("a race needs at least one learner")
    watching = [standard() for _ in entrants]
    if any(learner.settings.native for _, learner in entrants):
        import_module("noregret.native")  # the compiler loads once; that is nobody's running time

    def lap(number: int, X: Any, y: Any) -> None:
        transcript = entrants[number][1].play(X, y)
        for referee in watching[number]:
            referee.see(transcript)

    with ThreadPoolExecutor(max_workers=max(1, min(threads, len(entrants)))) as pool:
        for X, y in blocks(source):
            for finished in [pool.submit(lap, number, X, y) for number in range(len(entrants))]:
                finished.result()
    return Race(standing(*one, referees) for one, referees in zip(entrants, watching, strict=True))


def entrant(one: Any, told: dict[str, Any]) -> tuple[str, Learner]:
    if isinstance(one, Learner):
        return one.card.name, one
    return (one.name if isinstance(one, Card) else str(one)), make(one, **told)


def standing(name: str, learner: Learner, referees: Sequence[Referee]) -> Standing:
    told = {key: value for referee in referees for key, value in referee.report().items()}
    rounds, mistakes, updates = int(told["rounds"]), int(told["mistakes"]), int(told["updates"])
    return Standing(name, learner, rounds, mistakes, told["loss"], updates, told["seconds"])
