"""The page of the docs: how far each default is from the best of its grid, and where it is worse than guessing."""

from dataclasses import dataclass, field

import numpy as np

import noregret as nr
from verification.defaults.measure import Measurements, default_of, grid_of, key_of
from verification.defaults.streams import Stream

GOAL = 1.15
FEW = 5  # added to all mistakes, so that ratios of a handful do not count


@dataclass
class Figures:
    """The mistakes on every stream: of two guesses, of each default, and of all points of each grid."""

    rows: dict[str, int] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    guess: dict[str, int] = field(default_factory=dict)
    last: dict[str, int] = field(default_factory=dict)
    points: dict[tuple[str, str], list[int]] = field(default_factory=dict)
    cards: dict[str, nr.RuleCard] = field(default_factory=dict)
    confirming: set[str] = field(default_factory=set)

    def add_stream(self, stream: Stream, rows: int, guess: int, last: int) -> None:
        self.rows[stream.name], self.kinds[stream.name] = rows, stream.kind
        self.guess[stream.name], self.last[stream.name] = guess, last
        self.confirming |= {stream.name} if stream.confirms else set()

    def add(self, card: nr.RuleCard, stream: Stream, measured: Measurements) -> None:
        """The mistakes of the default, which comes first, and of the grid; a learner that stops errs always."""
        found = [measured.found[key_of(card, stream, point)] for point in (default_of(card), *grid_of(card))]
        self.points[card.name, stream.name] = [self.rows[stream.name] if one is None else one for one in found]
        self.cards[card.name] = card

    def streams_of(self, name: str, confirming: bool | None = None) -> list[str]:
        """The streams a learner was measured on: all, those that confirm, or those that decide."""
        return [s for n, s in self.points if n == name and confirming in (None, s in self.confirming)]

    def table(self, name: str, confirming: bool | None = None) -> np.ndarray:
        """How many times the mistakes of its grid's best each point makes, by stream; the default comes first."""
        found = [self.points[name, stream] for stream in self.streams_of(name, confirming)]
        return np.array([[(one + FEW) / (min(row) + FEW) for one in row] for row in found])

    def left_out(self, name: str) -> float:
        """The mean ratio where the point of each stream is the best, on average, of all others."""
        table = self.table(name, confirming=False)
        others = table.sum(axis=0) - table
        return float(table[np.arange(len(table)), others.argmin(axis=1)].mean())

    def worse_than_guessing(self, name: str) -> tuple[list[str], int]:
        """Where a default errs more than the majority guess, though a point of its grid does not; and how often all do.

        On the latter streams no choice of numbers helps.
        """
        worse = [s for s in self.streams_of(name) if self.points[name, s][0] > self.guess[s]]
        by_choice = [s for s in worse if min(self.points[name, s]) <= self.guess[s]]
        return by_choice, len(worse) - len(by_choice)


def mean_text(table: np.ndarray) -> str:
    """The mean ratio of the default, and that of the best point of the grid for all these streams."""
    if not table.size:
        return " | "
    default, constant = float(table[:, 0].mean()), float(table.mean(axis=0).min())
    return f"{default:.2f}{' *' if default > GOAL else ''} | {constant:.2f}"


def write_page(figures: Figures) -> str:
    lines = [HEAD, TITLE, "|" + " --- |" * (TITLE.count("|") - 1)]
    for name in sorted(figures.cards):
        streams, ratios = figures.streams_of(name), figures.table(name)[:, 0]
        if not grid_of(figures.cards[name]):
            shown = "no number to choose | | | | "
        else:
            decided, confirmed = (mean_text(figures.table(name, one)) for one in (False, True))
            shown = f"{decided} | {figures.left_out(name):.2f} | {confirmed}"
        worst = int(ratios.argmax())
        most = f"{ratios[worst]:.2f} | {streams[worst]}" if ratios[worst] > 1.0 else " | "
        by_choice, always = figures.worse_than_guessing(name)
        lines.append(f"| {name} | {shown} | {most} | {', '.join(by_choice)} | {always or ''} |")
    lines += ["", STREAMS, "|" + " --- |" * (STREAMS.count("|") - 1)]
    for s, n in figures.rows.items():
        part = "confirms" if s in figures.confirming else "decides"
        lines.append(
            f"| {s} | {part} | {n:,} | {figures.kinds[s]} | {figures.guess[s] / n:.3f} | {figures.last[s] / n:.3f} |"
        )
    return "\n".join(lines) + "\n"


TITLE = (
    "| learner | deciding streams | best constant | left out | confirming streams | best constant | largest | on "
    "| worse than guessing on | and whatever is chosen |"
)
STREAMS = "| stream | decides or confirms | rows | rows like | majority guess errs | last label errs |"
HEAD = "TODO"
