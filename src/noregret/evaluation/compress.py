"""Compress a picture by a decomposition: what is kept of it, and how much is lost by the number of components."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.errors import BadValue
from noregret.evaluation.compress_patches import compress_by_dictionary
from noregret.evaluation.compressed import Compressed, Tell, tell_nobody
from noregret.evaluation.images import Picture
from noregret.learner.factory import make

Floats = NDArray[np.float64]
TOLD = 64  # lines, after which it is told how far it is


def compress_by_svd(picture: Picture, rank: int, tell: Tell = tell_nobody) -> Compressed:
    """Learn the lines of a picture, one after another; colours lie side by side in a line."""
    lines = picture.reshape(picture.shape[0], -1)
    if not 1 <= rank <= min(lines.shape):
        raise BadValue(f"the rank must be from 1 to {min(lines.shape)}, the smaller side of the picture, not {rank}")
    learner: Any = make("svd", rank=rank, keep_rows="yes")
    for start in range(0, len(lines), TOLD):
        tell("learning the lines", start / len(lines))
        learner.learn(lines[start : start + TOLD])
    left, values, right = learner.row_factors, learner.singular_values, learner.components
    whole, rest = float(np.sum(lines * lines)) or 1.0, lines.copy()
    errors = []
    for number, value in enumerate(values):
        tell("measuring errors", number / len(values))
        rest -= value * np.outer(left[:, number], right[number])
        errors.append(float(np.sqrt(np.sum(rest * rest) / whole)))
    tell("finding the best possible errors", 0.0)
    exact = np.linalg.svd(lines, compute_uv=False) ** 2
    best = np.sqrt(np.maximum(exact.sum() - np.cumsum(exact), 0.0) / whole)[: len(errors)]
    sizes = [count * (sum(lines.shape) + 1) for count in range(1, len(values) + 1)]
    return Compressed((lines - rest).reshape(picture.shape), errors, best.tolist(), sizes)


METHODS: dict[str, Callable[..., Compressed]] = {
    "svd": compress_by_svd,
    "dictionary": compress_by_dictionary,
}
"""How a picture can be compressed, by name: functions of the picture, the rank, and whom to tell how far it is."""
