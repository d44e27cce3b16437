"""What a learner without labels has found: components, atoms, centres or topics, drawn as pictures or as bars."""

from collections.abc import Sequence
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.errors import BadValue, shown
from noregret.plots.figure import Axes, Figure, literal, make_figure
from noregret.plots.weights import PANELS, draw_bars

MOST = 64  # components
BARS = 10  # features of each
TILE = 0.9  # inches
LEAST_SIDE = 4  # pixels, from which features are taken for a square picture
Floats = NDArray[np.float64]


def components(learner: Any, shape: Sequence[int] | None = None, largest: int = MOST) -> Figure:
    """The first components of a learner without labels; each is a picture where features are pixels.

    `shape` is (height, width), or (height, width, 3) with colours. Without it, features that are known by number and
    fill a square are a picture; otherwise the largest entries of each component are drawn as bars.
    """
    if type(largest) is not int or largest < 1:
        raise BadValue(f"largest must be a whole number of at least 1, not {shown(largest)}")
    found = np.asarray(getattr(learner, "components", None), np.float64)
    titles = name_components(learner, len(found) if found.ndim == 2 else 0)
    if found.ndim == 2:
        known = np.flatnonzero(np.isfinite(found).all(axis=1)).tolist()
        found, titles = found[known], [titles[number] for number in known]
    if found.ndim != 2 or not found.size:
        raise BadValue(f"there is nothing to draw: {learner.card.name} has no components")
    names = learner.feature_names
    sides = find_square(names) if shape is None else check_shape(shape, found.shape[1])
    chosen = found[:largest]
    figure = draw_bars_of(chosen, names, titles) if sides is None else draw_pictures(chosen, sides)
    figure.suptitle(f"{literal(learner.card.name)}: {len(chosen)} of {len(found)} components", fontsize=10)
    return figure


def find_square(names: Sequence[Any]) -> tuple[int, ...] | None:
    """The sides of a square picture, where features are numbered and fill one."""
    side = isqrt(len(names))
    is_square = side >= LEAST_SIDE and side * side == len(names)
    return (side, side) if is_square and list(names) == list(range(len(names))) else None


def check_shape(shape: Any, features: int) -> tuple[int, ...]:
    """The sides of a picture of so many features."""
    sides = tuple(shape) if isinstance(shape, (tuple, list)) else ()
    if (
        len(sides) not in (2, 3)
        or any(type(side) is not int or side < 1 for side in sides)
        or sides[2:] not in ((), (3,))
    ):
        raise BadValue(f"shape must be (height, width), or (height, width, 3) with colours, not {shown(shape)}")
    if int(np.prod(sides)) != features:
        raise BadValue(
            f"shape {'x'.join(map(str, sides))} is {np.prod(sides)} pixels, but there are {features} features"
        )
    return sides


def draw_pictures(found: Floats, sides: tuple[int, ...]) -> Figure:
    """A tile for each component: 0 is grey where there are negative values, and black where there are none."""
    columns = min(len(found), max(LEAST_SIDE, isqrt(2 * len(found))))
    rows = -(-len(found) // columns)
    figure, panels = make_figure(columns, rows, width=TILE, height=TILE * max(1.0, sides[0] / sides[1]) + 0.1)
    for panel, one in zip(panels, found, strict=False):
        draw_tile(panel, one.reshape(sides))
    for panel in panels:
        panel.set_axis_off()
    return figure


def draw_tile(panel: Axes, picture: Floats) -> None:
    """One component, from minus its largest entry to this one, or from 0 on."""
    most = float(np.abs(picture).max()) or 1.0
    least = -most if picture.min() < 0.0 else 0.0
    panel.imshow((picture - least) / (most - least), cmap="gray", vmin=0.0, vmax=1.0, interpolation="nearest")


def name_components(learner: Any, count: int) -> list[str]:
    """What the components are called, with the numbers that `noregret show` gives them."""
    name = getattr(learner, "component_names", None)
    return [f"component {number}" for number in range(1, count + 1)] if name is None else list(name(count))


def draw_bars_of(found: Floats, names: Sequence[Any], titles: Sequence[str]) -> Figure:
    """The largest entries of each component."""
    columns = min(len(found), PANELS)
    height = 0.9 + 0.24 * min(BARS, len(names))
    figure, panels = make_figure(columns, -(-len(found) // columns), height=height)
    for panel, one, title in zip(panels, found, titles, strict=False):
        order = np.argsort(-np.abs(one), kind="stable")[:BARS].tolist()
        draw_bars(panel, {str(names[at]): float(one[at]) for at in order}, about="entry")
        panel.set_title(title, fontsize=10)
    for panel in panels[len(found) :]:
        panel.set_visible(False)
    return figure
