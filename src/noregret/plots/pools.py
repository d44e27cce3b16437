"""`auto` drawn: how its weight moves from entry to entry."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from noregret.adapters.pool import Auto
from noregret.adapters.pool_report import PoolReport
from noregret.errors import BadValue
from noregret.plots.curves import add_legend, style
from noregret.plots.figure import COLOURS, Figure, make_figure
from noregret.plots.report_data import Results, entries_of, number

NAMED = len(COLOURS) - 1  # entries with a colour of their own: those that had the most weight on average


def entry_weights(results: Auto | PoolReport | Results) -> Figure:
    """The weights of the entries of a pool, against rounds on a logarithmic scale.

    `results` is an `auto` learner, its report, a leaderboard with one, or a JSON report, which has the weights of the
    entries that carried most of it at the end.
    """
    rounds, weights = find_history(results)
    if not rounds:
        raise BadValue("there are no weights over time to draw: auto has played no round, or it was merged or is older")
    figure, (panel,) = make_figure(width=6.4)
    order = sorted(weights, key=lambda name: -float(np.nansum(weights[name])))
    for place, name in enumerate(order):
        look = style(place, name) if place < NAMED else style(len(COLOURS) + place - NAMED, name)
        panel.plot(rounds, weights[name], **look)
    panel.set(xscale="log", xlabel="rounds", ylabel="weight", ylim=(-0.02, 1.02))
    add_legend(figure, panel, len(order))
    return figure


def find_history(results: Any) -> tuple[list[float], dict[str, list[float]]]:
    """Rounds, and the weights in them by entry."""
    report = results.report() if isinstance(results, Auto) else results
    if isinstance(report, PoolReport):
        found = {name: list(values) for name, values in report.history.items()}
        return found.pop("round"), found
    for entry in entries_of(results):
        pool = entry.get("pool")
        points = pool.get("history") if isinstance(pool, Mapping) else None
        if isinstance(points, list):
            return read_points(points)
    raise BadValue("there is no auto among these learners: only auto has weights of entries")


def read_points(points: list[Any]) -> tuple[list[float], dict[str, list[float]]]:
    """The same from the points of a JSON report; what is no number is left out."""
    sound = [
        (number(point.get("rounds")), point["weights"])
        for point in points
        if isinstance(point, Mapping) and isinstance(point.get("weights"), Mapping)
    ]
    kept = [(rounds, each) for rounds, each in sound if 0.0 < rounds < float("inf")]
    names = list(dict.fromkeys(str(name) for _, each in kept for name in each))
    return [rounds for rounds, _ in kept], {name: [number(each.get(name)) for _, each in kept] for name in names}
