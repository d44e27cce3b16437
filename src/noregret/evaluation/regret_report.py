"""The report of a regret: points as the rounds go by, as a table and as JSON."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from noregret.evaluation.bounds import BoundCurve
from noregret.evaluation.tables import table


@dataclass(frozen=True)
class RegretPoint:
    """The loss after so many rounds, that of the best fixed weights for these rounds, and the bound on the difference.

    No fixed weights have a loss smaller than `comparator_loss` by more than `gap`.
    """

    rounds: int
    loss: float
    comparator_loss: float
    gap: float
    bound: float | None = None

    @property
    def regret(self) -> float:
        return self.loss - self.comparator_loss

    @property
    def average(self) -> float:
        return self.regret / self.rounds


@dataclass(frozen=True)
class Segment:
    """Rounds from `first` to before `last`, counted from 0: the loss on them, and that of the best weights for them."""

    first: int
    last: int
    loss: float
    comparator_loss: float
    gap: float

    @property
    def regret(self) -> float:
        return self.loss - self.comparator_loss


@dataclass(frozen=True)
class TrackingRegret:
    """The regret against a sequence of weights, the best ones for each segment; `known_by` says where these end."""

    segments: tuple[Segment, ...]
    known_by: str

    @property
    def regret(self) -> float:
        return sum(segment.regret for segment in self.segments)

    @property
    def gap(self) -> float:
        """By how much the regret may be too small."""
        return sum(segment.gap for segment in self.segments)


@dataclass(frozen=True)
class RegretReport:
    """The regret of a learner as the rounds go by, and what its theorem says."""

    name: str
    loss: str
    comparator: str
    points: tuple[RegretPoint, ...]
    guarantee: BoundCurve | None = None
    why_no_bound: str | None = None
    notes: tuple[str, ...] = ()
    tracking: TrackingRegret | None = None

    @property
    def last(self) -> RegretPoint:
        """The point of all rounds."""
        return self.points[-1]

    @property
    def says(self) -> str | None:
        """The theorem, in words."""
        return None if self.guarantee is None else self.guarantee.says

    @property
    def rounds(self) -> list[int]:
        return [point.rounds for point in self.points]


def regret_table(report: RegretReport) -> str:
    """The regret as the rounds go by; the bound of the theorem stands beside it, or beside what it bounds."""
    curve = report.guarantee
    head = ["rounds", "loss", "best fixed", "regret", "per round"]
    if curve is not None:
        head += ["bound"] if curve.of_regret else [curve.bounds, "bound"]
    rows = []
    for number, point in enumerate(report.points):
        row = [f"{point.rounds:,}", f"{point.loss:,.1f}", f"{point.comparator_loss:,.1f}", f"{point.regret:,.1f}",
               f"{point.average:.4f}"]  # fmt: skip
        if curve is not None:
            at = curve.points[number]
            row += [f"{at.bound:,.1f}"] if curve.of_regret else [f"{at.measured:,.6g}", f"{at.bound:,.1f}"]
        rows.append(row)
    return table(head, rows)


def describe_regret(report: RegretReport) -> list[str]:
    """What a reader of the table has to know."""
    worst = max(point.gap / max(point.comparator_loss, 1.0) for point in report.points)
    exact = f"no others have a loss smaller by more than {max(worst, 1e-12):.0e} of it"
    lines = [f"loss: {report.loss}; comparator: {report.comparator}; {exact}"]
    if report.says is not None and report.guarantee is not None:
        lines.append(f"theorem: {report.says} ({report.guarantee.when})")
        if report.guarantee.says_nothing:
            lines.append(f"a bound of {report.last.rounds:,} or more says nothing about {report.last.rounds:,} rounds")
    if report.why_no_bound is not None:
        lines.append(f"no bound: {report.why_no_bound}")
    return [*lines, *(f"note: {note}" for note in report.notes)]


def report_regret(report: RegretReport) -> Mapping[str, Any]:
    """The regret as JSON."""
    points = [
        {"rounds": point.rounds, "loss": point.loss, "comparator_loss": point.comparator_loss, "gap": point.gap,
         "regret": point.regret, "average": point.average, "bound": point.bound}
        for point in report.points
    ]  # fmt: skip
    guarantee = report.guarantee
    told = None if guarantee is None else {
        "bounds": guarantee.bounds, "says": guarantee.says, "when": guarantee.when,
        "points": [{"rounds": at.rounds, "measured": at.measured, "bound": at.bound} for at in guarantee.points],
    }  # fmt: skip
    return {"loss": report.loss, "comparator": report.comparator, "says": report.says, "points": points,
            "guarantee": told, "why_no_bound": report.why_no_bound, "notes": list(report.notes),
            **({} if report.tracking is None else {"tracking": report_tracking(report.tracking)})}  # fmt: skip


def report_tracking(tracking: TrackingRegret) -> Mapping[str, Any]:
    """The regret against a sequence of weights as JSON; rounds are counted from 1."""
    segments = [
        {"from": one.first + 1, "to": one.last, "loss": one.loss, "comparator_loss": one.comparator_loss,
         "gap": one.gap, "regret": one.regret}
        for one in tracking.segments
    ]  # fmt: skip
    return {"segments": segments, "regret": tracking.regret, "gap": tracking.gap, "known_by": tracking.known_by}
