"""A photograph compressed by the SVD of its lines and by a dictionary of patches: what is lost by the numbers kept."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from figures import COLOURS, show
from noregret.evaluation.compress import METHODS

RANKS = (1, 2, 3, 4, 6, 8)
Picture = NDArray[np.float64]


class Row(NamedTuple):
    """Relative errors at about the same size: that of a dictionary, of the online SVD, of the best SVD."""

    picture: str
    atoms: int  # of a patch
    share: float  # numbers kept for each value of the picture, in percent
    dictionary: float
    svd: float
    best_svd: float


def photograph(name: str = "china.jpg") -> Picture:
    """A picture of scikit-learn; reading it takes pillow."""
    from sklearn.datasets import load_sample_image

    return np.asarray(load_sample_image(name), np.float64)


def measure(pictures: dict[str, Picture], ranks: Sequence[int] = RANKS) -> list[Row]:
    """For each number of atoms, the rank of the SVD that takes the same numbers, or a little more."""
    found = []
    for name, picture in pictures.items():
        patches = METHODS["dictionary"](picture, max(ranks))
        sides = picture.shape[0] + picture[0].size + 1
        lines = METHODS["svd"](picture, min(-(-patches.kept // sides), *picture.shape[:2]))
        for rank in ranks:
            size = patches.sizes[rank - 1]
            at = min(int(np.searchsorted(lines.sizes, size)), len(lines.sizes) - 1)
            assert lines.best is not None
            share = 100.0 * size / picture.size
            found.append(Row(name, rank, share, patches.errors[rank - 1], lines.errors[at], lines.best[at]))
    return found


def draw(panels: Any, rows: Sequence[Row]) -> None:
    for axes, name in zip(panels, dict.fromkeys(row.picture for row in rows), strict=True):
        own = [row for row in rows if row.picture == name]
        for field, colour in zip(("dictionary", "svd"), COLOURS, strict=False):
            title = {"dictionary": "dictionary of patches", "svd": "SVD of lines"}[field]
            axes.plot([row.share for row in own], [getattr(row, field) for row in own], "o-", color=colour, label=title)
        axes.set(xlabel="numbers kept, % of all values", ylabel="relative error", title=name, ylim=(0.0, None))
        axes.legend(frameon=False)


if __name__ == "__main__":
    both = photograph()
    measured = measure({"grey": both.mean(axis=2), "colour": both})
    show("compression", Row._fields, measured, lambda panels: draw(panels, measured), 2)
