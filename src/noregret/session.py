"""The flow: source -> batches -> learners -> transcripts -> referees -> reports."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from noregret.card import Card
from noregret.chunk import Transcript
from noregret.errors import BadValue, shown
from noregret.learner import Learner
from noregret.making import learners as catalogue
from noregret.making import make
from noregret.referees import Baselines, Loss, Mistakes, Referee, Runtime, Updates
from noregret.reports.tables import table
from noregret.streams import Batch, Source, open_source

Entrants = list[tuple[str, Learner]]


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
    source = open_source(source)
    for batch in source:
        transcript = played(learner, source, batch)
        for referee in watching:
            referee.see(transcript)
    return reported(watching)


def played(learner: Learner, source: Source, batch: Batch) -> Transcript:
    """Play a batch; an error names the place of the row at fault in the source."""
    try:
        return learner.play(batch.X, batch.y)
    except BadValue as error:
        if error.row is None or batch.lines is None:
            raise
        message = str(error).removeprefix(f"row {error.row}: ")
        raise BadValue(f"{source.name}:{batch.lines[error.row]}: {message}", error.row) from None


def reported(referees: Iterable[Referee]) -> dict[str, float]:
    return {name: value for referee in referees for name, value in referee.report().items()}


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

    @property
    def nonzeros(self) -> int:
        return self.learner.nonzeros


class Race:
    """The standings, best first: fewest mistakes, then smallest loss; and what the simplest guesses would have done."""

    def __init__(self, standings: Iterable[Standing], baselines: dict[str, float] | None = None) -> None:
        self.standings = sorted(standings, key=lambda one: (one.mistakes, one.loss))
        self.baselines = baselines or {}

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
        return table(columns(self.winner.game), [cells(one) for one in self.standings])

    __repr__ = __str__


def columns(game: str) -> tuple[str, ...]:
    """The head of a table of standings: there are no mistakes in regression, only losses."""
    scored = ("loss", "mean loss") if game == "regression" else ("mistakes", "rate", "loss")
    return ("learner", *scored, "updates", "non-zeros", "rounds/s")


def cells(one: Standing) -> tuple[str, ...]:
    """A standing as a row of a table."""
    if one.learner.game == "regression":
        scored: tuple[str, ...] = (f"{one.loss:.1f}", f"{one.loss / max(one.rounds, 1):.4g}")
    else:
        scored = (str(one.mistakes), f"{one.rate:.4f}", f"{one.loss:.1f}")
    speed = f"{one.rounds / max(one.seconds, 1e-9):,.0f}"
    return (one.name, *scored, str(one.updates), str(one.nonzeros), speed)


class Watcher:
    """Hears of a race while it runs; this one does nothing with it."""

    def begin(self, entrants: Entrants, batch: Batch) -> None:
        """The first batch is there, and nobody has seen it."""

    def lap(self, race: Callable[[], Race], done: float | None) -> None:
        """Every learner has played another batch; `race()` is the race so far."""


def race(
    source: Any,
    learners: Sequence[Any] | None = None,
    *,
    threads: int = 2,
    watcher: Watcher | None = None,
    **told: Any,
) -> Race:
    """Run learners side by side over one source, each predicting every round before it learns it.

    `source` is a pair (X, y), a name, a file, or an iterable of rounds. `learners` holds names, rules of your own, or
    learners; by default the built-in ones whose card says `shown`. What else is told goes to every learner made here.
    """
    if type(threads) is not int or threads < 1:
        raise BadValue(f"threads must be a whole number of at least 1, not {shown(threads)}")
    entrants = line_up(learners, told)
    source = open_source(source)
    watcher = watcher or Watcher()
    watching = [standard() for _ in entrants]
    baselines = Baselines()

    def so_far() -> Race:
        standings = [standing(*one, referees) for one, referees in zip(entrants, watching, strict=True)]
        return Race(standings, baselines.report())

    def lap(number: int, batch: Batch) -> Transcript:
        transcript = played(entrants[number][1], source, batch)
        for referee in watching[number]:
            referee.see(transcript)
        return transcript

    with ThreadPoolExecutor(max_workers=max(1, min(threads, len(entrants)))) as pool:
        for turn, batch in enumerate(source):
            if turn == 0:
                watcher.begin(entrants, batch)
            running = [pool.submit(lap, number, batch) for number in range(len(entrants))]
            transcripts = [finished.result() for finished in running]
            baselines.see(transcripts[0])
            watcher.lap(so_far, batch.done)
    return so_far()


def line_up(learners: Sequence[Any] | None, told: dict[str, Any]) -> Entrants:
    """The learners of a race, by name."""
    if isinstance(learners, str) or not isinstance(learners, Iterable | None):
        raise BadValue(f"learners must be a list of names, rules or learners, not {shown(learners)}")
    if learners is None:
        learners = [card.name for card in catalogue() if card.shown and told.get("game", "binary") in card.games]
    entrants = [entrant(one, told) for one in learners]
    if not entrants:
        raise BadValue("a race needs at least one learner")
    return entrants


def entrant(one: Any, told: dict[str, Any]) -> tuple[str, Learner]:
    if isinstance(one, Learner):
        return one.card.name, one
    return (one.name if isinstance(one, Card) else str(one)), make(one, **told)


def standing(name: str, learner: Learner, referees: Sequence[Referee]) -> Standing:
    told = reported(referees)
    rounds, mistakes, updates = int(told["rounds"]), int(told["mistakes"]), int(told["updates"])
    return Standing(name, learner, rounds, mistakes, told["loss"], updates, told["seconds"])
