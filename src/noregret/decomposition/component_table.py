"""Components as lines of text, how large each is and the features it is made of, and as columns of a table."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

SHOWN = 10  # components
ENTRIES = 5  # features of each


def describe_components(
    what: str, sizes: NDArray[np.float64], components: NDArray[np.float64], names: Sequence[Any]
) -> list[str]:
    """A line for each of the first components, with its largest entries."""
    lines = [f"{'':>4}{what:>16}  largest entries"]
    shown = zip(sizes[:SHOWN].tolist(), components[:SHOWN], strict=True)
    for number, (size, component) in enumerate(shown, start=1):
        order = np.argsort(-np.abs(component), kind="stable")[:ENTRIES]
        entries = ", ".join(f"{names[at]} {component[at]:+.3f}" for at in order.tolist() if component[at] != 0.0)
        lines.append(f"{number:>4}{size:>16.6g}  {entries}")
    if len(sizes) > SHOWN:
        lines.append(f"    and {len(sizes) - SHOWN} more")
    return lines


def component_titles(count: int) -> list[str]:
    """What the columns of a table of components are called; they count from 1."""
    return [f"component {number}" for number in range(1, count + 1)]


class NamedComponents:
    """What the components of a learner are called, wherever they are shown or written."""

    def component_names(self, count: int) -> list[str]:
        """What the rows of `components` are called, in texts and figures."""
        return component_titles(count)

    def column_titles(self, count: int) -> list[str]:
        """What the columns of `transform` are called in files."""
        return self.component_names(count)
