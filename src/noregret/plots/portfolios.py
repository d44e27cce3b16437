"""Portfolio strategies drawn: the wealth of every day, on a logarithmic scale."""

import numpy as np

from noregret.evaluation.portfolios import PortfolioRace
from noregret.plots.figure import COLOURS, GREY, Figure, literal, make_figure

LABELS = 6  # dates along the axis


def portfolios(race: PortfolioRace) -> Figure:
    """The wealth of every strategy after each day; dashed: portfolios that were chosen in hindsight."""
    figure, (panel,) = make_figure(width=8.0, height=4.8)
    days = np.arange(race.rounds + 1)
    online = 0
    for name, one in sorted(race.results.items(), key=lambda pair: race.regret(pair[0])):
        curve = np.concatenate([[1.0], one.curve])
        if one.hindsight is None:
            colour, style, label = COLOURS[online % len(COLOURS)], "-", literal(name)
            online += 1
        else:
            colour, style, label = GREY if name == "bcrp" else "black", "--", f"{literal(name)} (hindsight)"
        panel.plot(days, curve, style, color=colour, label=label, linewidth=1.3)
    panel.set_yscale("log")
    panel.axhline(1.0, color=GREY, linewidth=0.8)
    panel.set_ylabel("wealth")
    panel.set_xlabel("day")
    if race.days is not None:
        at = np.unique(np.linspace(1, race.rounds, min(LABELS, race.rounds)).astype(int))
        panel.set_xticks(at, [literal(race.days[day - 1], 12) for day in at])
    panel.set_title("what 1 becomes" + (f", costs {race.cost:g}" if race.cost else ""), fontsize=10)
    panel.legend(fontsize=8, frameon=False, loc="upper left")
    return figure
