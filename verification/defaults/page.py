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
    """The mistakes on every stream: of guessing the majority, of each default, and of the best point of each grid."""

    rows: dict[str, int] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    guess: dict[str, int] = field(default_factory=dict)
    default: dict[tuple[str, str], int | None] = field(default_factory=dict)
    best: dict[tuple[str, str], int] = field(default_factory=dict)
    points: dict[tuple[str, str], list[int]] = field(default_factory=dict)
    cards: dict[str, nr.RuleCard] = field(default_factory=dict)
    unseen: set[str] = field(default_factory=set)

    def add_stream(self, stream: Stream, rows: int, guess: int) -> None:
        self.rows[stream.name], self.kinds[stream.name], self.guess[stream.name] = rows, stream.kind, guess
        self.unseen |= {stream.name} if stream.unseen else set()

    def add(self, card: nr.RuleCard, stream: Stream, measured: Measurements) -> None:
        points = [default_of(card), *grid_of(card)]
        found = [measured.found[key_of(card, stream, point)] for point in points]
        self.default[card.name, stream.name] = found[0]
        self.points[card.name, stream.name] = [self.rows[stream.name] if one is None else one for one in found]
        self.best[card.name, stream.name] = min(
            (one for one in found if one is not None), default=self.rows[stream.name]
        )
        self.cards[card.name] = card

    def ratios(self, name: str) -> dict[str, float]:
        """How many times the mistakes of its grid's best a default makes, by stream; a stopped learner errs always."""
        return {
            stream: (self.mistakes(name, stream) + FEW) / (best + FEW)
            for (learner, stream), best in self.best.items()
            if learner == name
        }

    def left_out(self, name: str) -> float:
        """The mean ratio where the point of each stream is the best, on average, of all others."""
        table = np.array(
            [[(one + FEW) / (min(found) + FEW) for one in found] for (learner, stream), found in self.points.items()
             if learner == name and stream not in self.unseen]
        )  # fmt: skip
        others = table.sum(axis=0) - table
        return float(table[np.arange(len(table)), others.argmin(axis=1)].mean())

    def mistakes(self, name: str, stream: str) -> int:
        found = self.default[name, stream]
        return self.rows[stream] if found is None else found

    def worse_than_guessing(self, name: str) -> list[str]:
        """The streams on which a default errs more than always guessing the majority label."""
        return [s for s in self.ratios(name) if self.mistakes(name, s) > self.guess[s]]


def write_page(figures: Figures) -> str:
    title = "| learner | default / best of its grid, mean | left out | unseen | largest | on | worse than guessing on |"
    lines = [HEAD, title, "| --- | --- | --- | --- | --- | --- | --- |"]
    for name in sorted(figures.cards):
        ratios = figures.ratios(name)
        seen, unseen = ([r for s, r in ratios.items() if (s in figures.unseen) is new] for new in (False, True))
        mean, worst = float(np.mean(seen)), max(ratios, key=lambda s: ratios[s])
        worse = figures.worse_than_guessing(name)
        fixed = " (no number to choose)" if not grid_of(figures.cards[name]) else ""
        shown = f"{mean:.2f}{' *' if mean > GOAL else ''}{fixed}"
        apart = f"{np.mean(unseen):.2f}{' *' if np.mean(unseen) > GOAL else ''}" if unseen else ""
        left = f"{figures.left_out(name):.2f} | {apart}"
        lines.append(f"| {name} | {shown} | {left} | {ratios[worst]:.2f} | {worst} | {', '.join(worse)} |")
    lines += ["", "| stream | rows | rows like | majority guess errs | unseen |", "| --- | --- | --- | --- | --- |"]
    for s, n in figures.rows.items():
        lines.append(
            f"| {s} | {n:,} | {figures.kinds[s]} | {figures.guess[s] / n:.3f} | {'yes' * (s in figures.unseen)} |"
        )
    return "\n".join(lines) + "\n"


HEAD = f"""# Default parameters

How good a learner is before anybody tunes it: the mistakes of one pass with its defaults, divided by those of the best
point of a small grid over the search ranges of its card (at most two numbers, {FEW} mistakes added to both). Rows are
learned as files are read: tables are scaled, with a constant of 1, and other rows have a constant as large as the
values of the first (`bias="auto"`); unscaled tables are learned as they are. A `*` marks a mean above {GOAL}.

"Left out" is the same mean where, for each stream, the point of the grid is chosen by all other streams: what a default
that is chosen in this way does on data it has not seen. "Unseen" is the mean of the default over streams that had no
part in any choice. (What Winnow divides rows by was changed after they had been measured once, for its speed and for
the other streams.) One of them counts for much: the rows of `outdoor` come in runs of ten of one class, which only the
largest rates of a grid can follow; many a mean above {GOAL} is due to it alone.

No fixed rate fits rows of every scale: the best rate of `ogd` is 15 for short messages of unit length, and 0.001 for
the coordinates of pen strokes, whose |x|^2 is 60,000. So where a rate, a penalty or a required margin is 0, which is
the default of many learners, it follows the rows: it is a fixed part or multiple of S, the largest mean |x|^2 so far. A
number above 0 is used as it is; what the textbook prints is an option like any other. In regression, convex
optimization and one-class learning scores are measured, not only compared, and the cards have another default
(`0 (regression: 0.1)`). The factor of `winnow_balanced`, where it is 1, falls with its updates: rows with little noise
need few updates at large factors, noisy ones many at small factors.

A learner without a number to choose can be worse than guessing: the perceptron, for example, where labels are noisy and
few are positive, since a wrong label moves its weights as far as a right one. The last column tells where.

`python -m verification.defaults --docs` measures this again; the folder of data is that of `NOREGRET_DATA`.
"""
