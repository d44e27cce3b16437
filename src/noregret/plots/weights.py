"""The largest weights of a learner, by name."""

from collections.abc import Mapping
from itertools import islice
from typing import Any

from noregret.errors import BadValue, shown
from noregret.evaluation.capabilities import inner_learner, task_of, weights_of
from noregret.evaluation.inspect_model import side_of_weights
from noregret.evaluation.report import plain_label
from noregret.learner.protocol import Learner
from noregret.plots.figure import COLOURS, Axes, Figure, literal, make_figure

PANELS = 3  # classes side by side
CLASSES = 12


def weights(learner: Learner, largest: int = 15) -> Figure:
    """The largest weights of a learner as bars; a panel for each class, where classes have weights of their own."""
    if type(largest) is not int or largest < 1:
        raise BadValue(f"largest must be a whole number of at least 1, not {shown(largest)}")
    learner = inner_learner(learner)
    found = weights_of(learner, largest)
    if isinstance(found, str):
        raise BadValue(f"there are no weights to draw: {found}")
    many = task_of(learner).many
    side = None if many else side_of_weights(learner)
    parts: list[tuple[Any, Mapping[Any, float]]] = list(islice(found.items(), CLASSES)) if many else [(side, found)]
    parts.sort(key=lambda part: (isinstance(part[0], str), part[0]))
    if not any(one for _, one in parts):
        raise BadValue(f"there are no weights to draw: all weights of {learner.card.name} are zero")
    columns = min(len(parts), PANELS)
    lines = min(max(len(one) for _, one in parts), largest)
    figure, panels = make_figure(columns, -(-len(parts) // columns), height=0.9 + 0.24 * lines)
    for panel, (label, one) in zip(panels, parts, strict=False):
        draw_bars(panel, dict(islice(one.items(), largest)))
        if label is not None:
            panel.set_title(f"for {literal(plain_label(label))}", fontsize=10)
    for panel in panels[len(parts) :]:
        panel.set_visible(False)
    figure.suptitle(f"{learner.card.name}: largest weights", fontsize=10)
    return figure


def draw_bars(panel: Axes, values: Mapping[Any, float], about: str = "weight") -> None:
    """Bars from the largest on, in one colour for each sign."""
    places = range(len(values))
    colours = [COLOURS[0] if value > 0.0 else COLOURS[1] for value in values.values()]
    panel.barh(places, list(values.values()), color=colours)
    panel.set_yticks(places, [literal(name, 24) for name in values], fontsize=8)
    panel.invert_yaxis()
    panel.axvline(0.0, color="black", linewidth=0.8)
    panel.set_xlabel(about)
    panel.grid(visible=False, axis="y")
