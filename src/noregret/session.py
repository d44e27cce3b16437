"""The flow: source -> batches -> learners -> transcripts -> referees -> reports."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

from noregret.chunk import Transcript
from noregret.errors import BadValue, shown
from noregret.learner import Learner
from noregret.making import card_of, make
from noregret.making import learners as catalogue
from noregret.referees import Baselines, Confusion, Loss, Mistakes, Referee, Runtime, Updates
from noregret.reports.tables import table
from noregret.streams import Batch, Source, open_source
from noregret.tasks.targets import loss_of

Entrants = list[tuple[str, Learner]]
ONE_CLASS = ("binary", "multiclass")  # the games in which a round has one class, and is predicted to be one
LONG = 1e9  # losses from here on are shown by their size only


def standard(learner: Learner) -> list[Referee]:
    """The referees of every run; where each round has one class, also who is taken for whom."""
    referees: list[Referee] = [Mistakes(), Loss(), Updates(), Runtime()]
    return [*referees, Confusion(learner.settings.cost)] if learner.game in ONE_CLASS else referees


def play(source: Any, learner: Learner, referees: Sequence[Referee] | None = None) -> dict[str, float]:
    """Play a source through a learner before some referees; returns what they report."""
    if not isinstance(learner, Learner):
        raise BadValue(f"play needs a learner made by make(), not {shown(learner)}")
    watching = standard(learner) if referees is None else list(referees)
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
        return learner.play(batch.X, batch.y, batch.weight)
    except BadValue as error:
        if error.row is None or batch.lines is None:
            raise
        line, message = int(batch.lines[error.row]), str(error)
        if source.kind == "arrays":  # its lines are the numbers of its rows
            raise BadValue(message.replace(f"row {error.row}", f"row {line}", 1), line) from None
        message = message.removeprefix(f"row {error.row}: ").removeprefix(f"row {error.row}, ")
        raise BadValue(f"{source.where}:{line}: {message}", error.row) from None


def reported(referees: Iterable[Referee]) -> dict[str, float]:
    return {name: value for referee in referees for name, value in referee.report().items()}


@dataclass(frozen=True)
class Standing:
    """How one learner did in a race; `stopped` says why it could not go on, where it could not."""

    name: str
    learner: Learner
    rounds: int
    mistakes: int
    loss: float
    updates: int
    seconds: float
    stopped: str | None = None
    confusion: Confusion | None = None

    @property
    def rate(self) -> float:
        return self.mistakes / max(self.rounds, 1)

    @property
    def nonzeros(self) -> int:
        return self.learner.nonzeros

    @property
    def costs(self) -> Any:
        """What mistakes cost, where it was told."""
        return None if self.confusion is None else self.confusion.costs

    @property
    def uneven(self) -> bool:
        """Whether the rate alone may mislead: some class is rare, or classes were weighed."""
        weighed = self.learner.settings.class_weight is not None
        return self.confusion is not None and (weighed or self.confusion.imbalanced)


class Race:
    """The standings, best first: smallest cost where costs were told, fewest mistakes, then smallest loss; and what the
    simplest guesses would have done."""

    def __init__(self, standings: Iterable[Standing], baselines: dict[str, float] | None = None) -> None:
        found = list(standings)
        self.costs = next((one.costs for one in found if one.costs is not None), None)
        self.standings = sorted(found, key=self.place)
        self.baselines = baselines or {}

    def place(self, one: Standing) -> tuple[float, ...]:
        """What a race is ordered by."""
        cost = 0.0 if self.costs is None or one.confusion is None else one.confusion.cost_by(self.costs)
        return (one.stopped is not None, cost, one.mistakes, one.loss)

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
        return table(*self.shown())

    def shown(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """The head and the rows of the table.

        Beside the rate stand the balanced accuracy, where classes are uneven or weighed, and costs, where told.
        """
        more: dict[str, Callable[[Confusion], str]] = {}
        if any(one.uneven for one in self.standings):
            more["balanced"] = lambda seen: f"{seen.balanced_accuracy:.4f}"
        if self.costs is not None:
            more["cost"] = lambda seen: f"{seen.cost_by(self.costs):,.6g}"
        return columns(self.winner.game, tuple(more)), [cells(one, list(more.values())) for one in self.standings]

    __repr__ = __str__


def columns(game: str, more: tuple[str, ...] = ()) -> tuple[str, ...]:
    """The head of a table of standings: there are no mistakes in regression, only losses."""
    scored = ("loss", "mean loss") if game == "regression" else ("mistakes", "rate", *more, "loss")
    return ("learner", *scored, "updates", "non-zeros", "rounds/s")


def cells(one: Standing, more: Sequence[Callable[[Confusion], str]] = ()) -> tuple[str, ...]:
    """A standing as a row of a table."""
    loss = f"{one.loss:.1f}" if one.loss < LONG else f"{one.loss:.3g}"
    if one.learner.game == "regression":
        scored: tuple[str, ...] = (loss, f"{one.loss / max(one.rounds, 1):.4g}")
    else:
        seen = one.confusion
        beside = ["" if seen is None else cell(seen) for cell in more]
        scored = (str(one.mistakes), f"{one.rate:.4f}", *beside, loss)
    speed = f"{one.rounds / max(one.seconds, 1e-9):,.0f}"
    name = one.name if one.stopped is None else f"{one.name} (stopped)"
    return (name, *scored, str(one.updates), str(one.nonzeros), speed)


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
    invited = guests(learners)
    source = open_source(source)
    entrants = line_up(invited, {**source.suits, **told})
    return Course(entrants, source, watcher or Watcher()).run(threads)


class Course:
    """A race while it runs."""

    def __init__(self, entrants: Entrants, source: Source, watcher: Watcher) -> None:
        self.entrants, self.source, self.watcher = entrants, source, watcher
        self.watching = [standard(learner) for _, learner in entrants]
        self.stopped: dict[int, str] = {}
        first = entrants[0][1]
        self.baselines = Baselines(partial(loss_of, first) if first.game == "regression" else None)

    def run(self, threads: int) -> Race:
        with ThreadPoolExecutor(max_workers=max(1, min(threads, len(self.entrants)))) as pool:
            for turn, batch in enumerate(self.source):
                if turn == 0:
                    self.watcher.begin(self.entrants, batch)
                going = [number for number in range(len(self.entrants)) if number not in self.stopped]
                running = [pool.submit(self.lap, number, batch) for number in going]
                self.settle(dict(zip(going, [finished.result() for finished in running], strict=True)))
                self.watcher.lap(self.so_far, batch.done)
        return self.so_far()

    def lap(self, number: int, batch: Batch) -> Transcript | BadValue:
        try:
            transcript = played(self.entrants[number][1], self.source, batch)
        except BadValue as error:
            return error
        for referee in self.watching[number]:
            referee.see(transcript)
        return transcript

    def settle(self, laps: dict[int, Transcript | BadValue]) -> None:
        """What stops every learner is wrong with the data; what stops some of them is wrong with them."""
        errors = {number: lap for number, lap in laps.items() if isinstance(lap, BadValue)}
        for number, error in errors.items():
            if len(errors) == len(laps):
                raise error
            self.stopped[number] = str(error)
        self.baselines.see(next(lap for lap in laps.values() if isinstance(lap, Transcript)))

    def so_far(self) -> Race:
        standings = [
            standing(*one, referees, self.stopped.get(number))
            for number, (one, referees) in enumerate(zip(self.entrants, self.watching, strict=True))
        ]
        return Race(standings, self.baselines.report())


def guests(learners: Sequence[Any] | None) -> list[Any] | None:
    """Cards and learners; a name that nobody has is found out before anything is read."""
    if learners is None:
        return None
    if isinstance(learners, str) or not isinstance(learners, Iterable):
        raise BadValue(f"learners must be a list of names, rules or learners, not {shown(learners)}")
    return [one if isinstance(one, Learner) else card_of(one) for one in learners]


def line_up(invited: list[Any] | None, told: dict[str, Any]) -> Entrants:
    """The learners of a race, by name."""
    if invited is None:
        invited = [card for card in catalogue() if card.shown and told.get("game", "binary") in card.games]
    if not invited:
        raise BadValue("a race needs at least one learner")
    return [(one.card.name, one) if isinstance(one, Learner) else (one.name, make(one, **told)) for one in invited]


def standing(name: str, learner: Learner, referees: Sequence[Referee], stopped: str | None = None) -> Standing:
    told = reported(referees)
    rounds, mistakes, updates = int(told["rounds"]), int(told["mistakes"]), int(told["updates"])
    confusion = next((one.copy() for one in referees if isinstance(one, Confusion)), None)
    return Standing(name, learner, rounds, mistakes, told["loss"], updates, told["seconds"], stopped, confusion)
