"""Compress a picture by a dictionary of patches: learned atoms, and for each patch the few that it is made of."""

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from noregret.decomposition.pursuit import approximate, pursue, rank_steps
from noregret.errors import BadValue
from noregret.evaluation.compressed import Compressed, Tell, tell_nobody
from noregret.evaluation.images import Picture
from noregret.learner.factory import make

Floats = NDArray[np.float64]
SIDE = 8  # pixels of a patch
PASSES, BATCH = 5, 256
MOST_ATOMS = 128
PATCHES_PER_ATOM = 16  # fewer, and the atoms take more numbers than they save
STEPS_PER_RANK = 3  # a patch may have more atoms than the mean, where others need fewer
MOST_RANK = SIDE * SIDE
TOLD = 2048  # patches, after which it is told how far it is


def compress_by_dictionary(picture: Picture, rank: int, tell: Tell = tell_nobody) -> Compressed:
    """Learn atoms of the patches of a picture, and give each patch the atoms that lower the error most.

    `rank` is how many atoms a patch has on average. A patch keeps its mean by colour, and a number and a weight for
    each atom; the atoms are kept, too.
    """
    if not 1 <= rank <= MOST_RANK:
        raise BadValue(f"the rank must be from 1 to {MOST_RANK}, the atoms of a patch on average, not {rank}")
    patches = cut(picture)
    colours = patches.shape[2]
    means = patches.mean(axis=1, keepdims=True)
    rows = (patches - means).reshape(len(patches), -1)
    atoms = learn_atoms(rows, tell)
    inside = cut(np.ones(picture.shape), "constant").reshape(rows.shape) > 0.0
    steps, size = min(STEPS_PER_RANK * rank, len(atoms), rows.shape[1]), len(rows)
    parts = [slice(first, first + TOLD) for first in range(0, size, TOLD)]
    left, made = np.zeros((size, steps + 1)), np.zeros(rows.shape)
    for own in parts:
        tell("choosing atoms", own.start / size)
        left[own] = pursue(rows[own], atoms, steps, inside[own])
    whole, base = float(np.sum(picture * picture)) or 1.0, len(patches) * colours + atoms.size
    ranked, numbers, errors, sizes = rank_steps(left), np.arange(size), list[float](), list[int]()
    for mean in range(1, rank + 1):
        counts = np.bincount(ranked[: mean * size], minlength=size)
        errors.append(float(np.sqrt(left[numbers, counts].sum() / whole)))
        sizes.append(base + 2 * int(counts.sum()))
    for own in parts:
        tell("putting patches together", own.start / size)
        made[own] = approximate(rows[own], atoms, counts[own])
    found = join(made.reshape(patches.shape) + means, picture.shape)
    return Compressed(found, errors, None, sizes)


def learn_atoms(rows: Floats, tell: Tell = tell_nobody) -> Floats:
    """Atoms of length 1; rows are scaled by one number, so that the penalty of the learner suits them."""
    size = float(np.sqrt(np.mean(np.einsum("ij,ij->i", rows, rows)))) or 1.0
    count = int(np.clip(len(rows) // PATCHES_PER_ATOM, 1, MOST_ATOMS))
    learner: Any = make("dictionary", k=count, batch=BATCH)
    random = np.random.default_rng(0)
    for number in range(PASSES):
        order = random.permutation(len(rows))
        for first in range(0, len(rows), TOLD):
            tell("learning atoms", (number + first / len(rows)) / PASSES)
            learner.learn(rows[order[first : first + TOLD]] / size)
    atoms = learner.components
    lengths = np.sqrt(np.einsum("ij,ij->i", atoms, atoms))
    return np.asarray(atoms[lengths > 0.0] / lengths[lengths > 0.0, None])


def cut(picture: Picture, mode: Literal["edge", "constant"] = "edge") -> Floats:
    """The patches, of shape (patches, pixels, colours); beyond the edges the last line is repeated, or 0."""
    colours = picture.reshape(*picture.shape[:2], -1)
    down, across = (-(-size // SIDE) for size in picture.shape[:2])
    more = ((0, down * SIDE - colours.shape[0]), (0, across * SIDE - colours.shape[1]), (0, 0))
    wide = np.pad(colours, more, mode=mode).reshape(down, SIDE, across, SIDE, -1)
    return np.asarray(wide.transpose(0, 2, 1, 3, 4).reshape(down * across, SIDE * SIDE, -1))


def join(patches: Floats, shape: tuple[int, ...]) -> Picture:
    """The picture of this shape that was cut into patches."""
    down, across = (-(-size // SIDE) for size in shape[:2])
    wide = patches.reshape(down, across, SIDE, SIDE, -1).transpose(0, 2, 1, 3, 4)
    whole = wide.reshape(down * SIDE, across * SIDE, -1)[: shape[0], : shape[1]]
    return np.asarray(whole.reshape(shape))
