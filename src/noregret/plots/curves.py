"""Curves against rounds: mistakes and loss of a race, and regret beside its bound."""

from collections.abc import Mapping, Sequence

from noregret.errors import BadValue, shown
from noregret.plots.figure import COLOURS, GREY, Axes, Figure, literal, make_figure
from noregret.plots.report_data import (
    Report,
    Results,
    alarms_of,
    curve_of,
    entries_of,
    guarantee_of,
    has_targets,
    name_of,
    values_of,
)

FIRST = 8.0  # rounds where curves begin, if there are many
MEASURES = {"mistakes": "mistake rate so far", "loss": "mean loss so far"}


def curves(results: Results, title: str | None = None) -> Figure:
    """The mistake rate and the mean loss so far of every learner, against rounds on a logarithmic scale.

    `results` is a leaderboard, one of its entries, or a JSON report as a dict. Real targets have a loss only.
    """
    entries = entries_of(results)
    measures = [name for name in MEASURES if name == "loss" or not has_targets(results)]
    drawn = {name: [(entry, curve_of(entry, name)) for entry in entries] for name in measures}
    if not any(points[0] for found in drawn.values() for _, points in found):
        raise BadValue("there is no curve to draw: no round was played, or the report is of an older version")
    figure, panels = make_figure(len(measures))
    for panel, name in zip(panels, measures, strict=True):
        for place, (entry, (rounds, values)) in enumerate(drawn[name]):
            panel.plot(rounds, values, **style(place, name_of(entry)))
        panel.set(xscale="log", xlabel="rounds", ylabel=MEASURES[name])
        cut_first_rounds(panel, [points for _, points in drawn[name]])
        if len(entries) == 1:
            draw_alarms(panel, entries[0])
    add_legend(figure, panels[0], len(entries))
    if title is not None:
        figure.suptitle(literal(title, 90), fontsize=10)
    return figure


def draw_alarms(panel: Axes, entry: Report) -> None:
    """A dotted line at every alarm of a drift detector."""
    for at in alarms_of(entry):
        panel.axvline(at, color=GREY, linestyle=":", linewidth=1.0)


def style(place: int, name: str) -> Mapping[str, object]:
    """How a line is drawn: the first ones in colours, the others grey."""
    if place < len(COLOURS):
        return {"color": COLOURS[place], "linewidth": 1.6, "label": literal(name), "zorder": 3}
    return {"color": GREY, "linewidth": 0.7, "label": "others" if place == len(COLOURS) else None}


def add_legend(figure: Figure, panel: Axes, count: int) -> None:
    """A legend for all panels, right of them."""
    if count > 1:
        figure.legend(*panel.get_legend_handles_labels(), loc="outside right upper", frameon=False, fontsize=8)
    else:
        figure.suptitle(panel.get_legend_handles_labels()[1][0], fontsize=10)


def cut_first_rounds(panel: Axes, lines: Sequence[tuple[Sequence[float], Sequence[float]]]) -> None:
    """Set the limits so that the first few rounds, where means are wild, do not squeeze the rest."""
    last = max((rounds[-1] for rounds, _ in lines if rounds), default=0.0)
    first = FIRST if last >= 8.0 * FIRST else 1.0
    later = [value for rounds, values in lines for n, value in zip(rounds, values, strict=True) if n >= first]
    panel.set_xlim(left=first)
    if later and max(later) > 0.0:
        panel.set_ylim(0.0, 1.08 * max(later))


def regret(results: Results, learner: str | None = None) -> Figure:
    """Total and average regret against rounds, with the bound of the theorem dashed, where there is one.

    Where theorems bound something else, such as the updates, a third panel has what was measured of it, and the bound.

    `results` is a leaderboard, an entry or a JSON report; `learner` draws one of its learners only.
    """
    entries = [entry for entry in entries_of(results) if learner in (None, name_of(entry))]
    if not entries:
        raise BadValue(f"there is no learner {shown(learner)} in this report")
    entries = [entry for entry in entries if values_of(entry, "regret")[0]]
    if not entries:
        raise BadValue("no learner of this report has regret to draw")
    others = [guarantee_of(entry) for entry in entries]
    figure, (total, average, *more) = make_figure(3 if any(others) else 2)
    for place, entry in enumerate(entries):
        look = style(place, name_of(entry))
        draw_regret(total, entry, look, average=False)
        draw_regret(average, entry, look, average=True)
    for panel, title in ((total, "regret"), (average, "regret per round")):
        panel.set(xscale="log", xlabel="rounds", ylabel=title)
        scale_to_regret(panel, entries, average=panel is average)
    for panel in more:
        draw_guarantees(panel, entries, others)
    total.plot([], [], color=GREY, linestyle="--", label="bound")
    add_legend(figure, total, len(entries) + 1)
    figure.suptitle(describe_regret(entries[0]), fontsize=9)
    return figure


def draw_regret(panel: Axes, entry: Report, look: Mapping[str, object], average: bool) -> None:
    """The line of the regret, and that of its bound."""
    for name, dashes in (("regret", "-"), ("bound", "--")):
        rounds, values = values_of(entry, name)
        shares = [value / n if average else value for n, value in zip(rounds, values, strict=True)]
        own = look if name == "regret" else {**look, "label": None, "linewidth": 1.0}
        panel.plot(rounds, shares, linestyle=dashes, **own)


def draw_guarantees(panel: Axes, entries: Sequence[Report], guarantees: Sequence[Report | None]) -> None:
    """What theorems bound that is not the regret, and their bounds, dashed."""
    for place, (entry, found) in enumerate(zip(entries, guarantees, strict=True)):
        for name, dashes in (("measured", "-"), ("bound", "--")) if found is not None else ():
            look = {**style(place, name_of(entry)), "label": None}
            panel.plot(*values_of({"at": found}, name, "at"), linestyle=dashes, **look)
    named = sorted({str(found.get("bounds", "")) for found in guarantees if found is not None})
    panel.set(xscale="log", yscale="log", xlabel="rounds", ylabel=literal(", ".join(named)))


def scale_to_regret(panel: Axes, entries: Sequence[Report], average: bool) -> None:
    """A logarithmic axis where bounds are far above the regret, else they would flatten it."""
    every = {name: [pair for entry in entries for pair in zip(*values_of(entry, name), strict=True)]
             for name in ("regret", "bound")}  # fmt: skip
    found = {name: [value / n if average else value for n, value in pairs] for name, pairs in every.items()}
    largest = max(map(abs, found["regret"]), default=0.0)
    far = bool(found["bound"]) and max(found["bound"]) > 8.0 * largest > 0.0
    if far and min(found["regret"]) > 0.0:
        panel.set_yscale("log")
        return
    if far:
        panel.set_yscale("symlog", linthresh=largest / 10.0)
    panel.axhline(0.0, color=GREY, linewidth=0.8)


def describe_regret(entry: Report) -> str:
    """The loss and the comparator, in words."""
    told = entry["regret"]
    parts = [f"{told.get('loss', '')} loss" if told.get("loss") else "", f"against {told.get('comparator', '')}"]
    return literal(" ".join(part for part in parts if part), longest=110)
