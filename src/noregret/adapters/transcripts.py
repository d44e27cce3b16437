"""Transcripts of parts of a call as one."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.data.labels import as_array
from noregret.data.transcript import Transcript


def join_transcripts(parts: Sequence[Transcript]) -> Transcript:
    """The transcript of consecutive parts; of none, that of no rounds."""
    if len(parts) == 1:
        return parts[0]
    if not parts:
        none = np.zeros(0, bool)
        return Transcript(np.zeros(0), np.zeros(0), np.zeros(0), none, none, np.zeros(0))
    return Transcript(
        np.concatenate([part.scores for part in parts]),
        join_labels([part.predictions for part in parts]),
        np.concatenate([part.losses for part in parts]),
        np.concatenate([part.mistakes for part in parts]),
        np.concatenate([part.updated for part in parts]),
        join_labels([part.truth for part in parts]),
        sum(part.seconds for part in parts),
    )


def join_labels(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Labels of any types in one array."""
    return as_array([label for part in parts for label in part.tolist()])
