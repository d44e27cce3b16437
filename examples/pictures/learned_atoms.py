"""Atoms that a dictionary learns: the bars that rows were made of, and edges from the patches of a photograph."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import noregret as nr
from compression import photograph
from figures import show
from noregret.evaluation.compress_patches import cut

SIDE = 8  # pixels of a patch
Floats = NDArray[np.float64]


class Row(NamedTuple):
    """A bar, the cosine of the learned atom that is most like it, and what it has in the sum of three bars.

    `found` is its weight in the code with a penalty, `pursued` in the one of three atoms without.
    """

    bar: int
    cosine: float
    weight: float
    found: float
    pursued: float


class Learned(NamedTuple):
    """The rows of the table, and the atoms that were learned, in the order of the bars."""

    rows: list[Row]
    atoms: Floats


def make_bars() -> Floats:
    """8 horizontal and 8 vertical bars over 8 x 8 pixels, each of length 1."""
    lines = np.eye(SIDE) / np.sqrt(SIDE)
    return np.concatenate([np.repeat(lines, SIDE, axis=1), np.tile(lines, (1, SIDE))])


def measure(rows: int = 10_000, k: int = 20) -> Learned:
    """Learn sums of a few bars with noise, with some atoms to spare; then find the bars of x = .8 a + .3 b + .5 c."""
    rng, bars = np.random.default_rng(0), make_bars()
    weights = rng.uniform(0.3, 1.0, (rows, len(bars))) * (rng.random((rows, len(bars))) < 0.15)
    learner: Any = nr.make("dictionary", k=k, penalty=0.15, batch=16)
    learner.learn(weights @ bars + 0.02 * rng.normal(size=(rows, SIDE * SIDE)))
    atoms = learner.components
    likeness = bars @ (atoms / np.linalg.norm(atoms, axis=1, keepdims=True)).T
    best = np.argmax(likeness, axis=1)
    parts = dict(zip((2, 9, 13), (0.8, 0.3, 0.5), strict=True))
    x = [sum(weight * bars[bar] for bar, weight in parts.items())]
    found, pursued = learner.transform(x)[0][best], learner.sparse_codes(x, atoms=3)[0][best]
    table = [Row(bar, float(likeness[bar, atom]), parts.get(bar, 0.0), float(found[bar]), float(pursued[bar]))
             for bar, atom in enumerate(best.tolist())]  # fmt: skip
    return Learned(table, atoms[best])


def learn_patches(picture: Floats, k: int = 64) -> Floats:
    """Atoms of the patches of a grey picture, each less its mean, the most used first."""
    patches = cut(picture[:, :, None])[:, :, 0]
    rows = patches - patches.mean(axis=1, keepdims=True)
    rows = rows[np.random.default_rng(0).permutation(len(rows))] / np.linalg.norm(rows, axis=1).mean()
    learner: Any = nr.make("dictionary", k=k, batch=64)
    for _ in range(3):
        learner.learn(rows)
    used = np.abs(learner.transform(rows)).sum(axis=0)
    return np.asarray(learner.components[np.argsort(-used, kind="stable")])


def tile(atoms: Floats, columns: int) -> Floats:
    """Pictures of atoms beside each other, each as bright as its largest entry, with black lines between them."""
    page = -np.ones((len(atoms) // columns * (SIDE + 1) + 1, columns * (SIDE + 1) + 1))
    for number, atom in enumerate(atoms):
        top, left = 1 + number // columns * (SIDE + 1), 1 + number % columns * (SIDE + 1)
        page[top : top + SIDE, left : left + SIDE] = (atom / np.abs(atom).max()).reshape(SIDE, SIDE)
    return page


def draw(panels: Any, bars: Floats, patches: Floats) -> None:
    for panel, atoms, columns, title in zip(
        panels, (bars, patches), (4, 8), ("of bars", "of a photograph"), strict=True
    ):
        panel.imshow(tile(atoms, columns), cmap="gray", vmin=-1.0, vmax=1.0, interpolation="nearest")
        panel.set_title(title)
        panel.set_axis_off()


if __name__ == "__main__":
    measured = measure()
    edges = learn_patches(photograph().mean(axis=2))
    show("learned_atoms", Row._fields, measured.rows, lambda panels: draw(panels, measured.atoms, edges), 2)
