"""The truth of a list of candidates: a reference text, the place of the best candidate, or the loss of every one."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.data.candidate_lists import CandidateList, read_reference, read_value
from noregret.errors import BadValue, shown
from noregret.loglinear.quality import text_losses

Floats = NDArray[np.float64]


def read_losses(candidates: CandidateList, truth: Any, number: int, quality: str) -> Floats:
    """The losses of all candidates, counted from the smallest; None stands for the reference that the list carries."""
    try:
        losses = find_losses(candidates, truth, quality)
    except BadValue as error:
        raise BadValue(f"row {number}: {error}", number) from None
    with np.errstate(over="ignore"):
        found = np.asarray(losses - losses.min())
    if not np.isfinite(found).all():
        raise BadValue(f"row {number}: the losses are too far apart for a float", number)
    return found


def find_losses(candidates: CandidateList, truth: Any, quality: str) -> Floats:
    size = len(candidates)
    if truth is None:
        if candidates.reference is None:
            raise BadValue("the list has no reference, and y has none; give the reference, the place of the best "
                           "candidate or the losses of all")  # fmt: skip
        truth = candidates.reference
    if isinstance(truth, str):
        if candidates.texts is None:
            raise BadValue("these candidates have no texts to compare with a reference; give the place of the best "
                           "candidate, or the losses of all")  # fmt: skip
        return text_losses(candidates.texts, read_reference(truth), quality)
    if isinstance(truth, (int, np.integer)) and not isinstance(truth, bool):
        if not 0 <= truth < size:
            raise BadValue(f"there is no candidate {shown(truth)} in a list of {size}")
        return np.asarray(np.arange(size) != truth, np.float64)
    if isinstance(truth, (list, tuple, np.ndarray)) and len(truth) == size:
        return np.array([read_value(loss, f"the loss of candidate {place}") for place, loss in enumerate(truth)])
    raise BadValue(f"the truth of {size} candidates is the place of the best one, a list of {size} finite losses, or a "
                   f"reference text, not {shown(truth)}")  # fmt: skip
