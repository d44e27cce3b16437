"""Transcripts of parts of a call as one."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.data.labels import Labels, as_array
from noregret.data.transcript import Transcript

Floats = NDArray[np.float64]


def join_transcripts(parts: Sequence[Transcript], classes: Sequence[Any] = ()) -> Transcript:
    """The transcript of consecutive parts; of none, that of no rounds.

    Where a third class came on the way, the scores of earlier rounds get columns for `classes`.
    """
    if len(parts) == 1:
        return parts[0]
    if not parts:
        none = np.zeros(0, bool)
        return Transcript(np.zeros(0), np.zeros(0), np.zeros(0), none, none, np.zeros(0))
    return Transcript(
        join_scores([part.scores for part in parts], classes),
        join_labels([part.predictions for part in parts]),
        np.concatenate([part.losses for part in parts]),
        np.concatenate([part.mistakes for part in parts]),
        np.concatenate([part.updated for part in parts]),
        join_labels([part.truth for part in parts]),
        sum(part.seconds for part in parts),
        relevant=join_relevant([part.relevant for part in parts]),
        margins=None if any(part.margins is None for part in parts) else np.concatenate([p.margins for p in parts]),
    )


def join_scores(parts: Sequence[Floats], classes: Sequence[Any]) -> Floats:
    """Scores of consecutive rounds in one array; -inf for a class that was not known."""
    columns = max(part.shape[1] if part.ndim > 1 else 0 for part in parts)
    if not columns:
        return np.concatenate(parts)
    signs = two_signs(classes[:2])
    wide = [part if part.ndim > 1 else 0.5 * np.outer(part, signs) for part in parts]
    return np.concatenate([pad_columns(part, columns, -np.inf) for part in wide])


def two_signs(classes: Sequence[Any]) -> Floats:
    """The signs of two classes."""
    labels = Labels()
    for label in classes:
        labels.code[label]
    return labels.signs(len(labels))


def pad_columns(part: NDArray[Any], columns: int, by: Any) -> NDArray[Any]:
    """An array with more columns."""
    return np.pad(part, ((0, 0), (0, columns - part.shape[1])), constant_values=by)


def join_relevant(parts: Sequence[NDArray[np.bool_] | None]) -> NDArray[np.bool_] | None:
    """The labels of consecutive rounds, marked in columns; a label that was not known is not relevant."""
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    columns = max(part.shape[1] for part in known)
    return np.concatenate([pad_columns(part, columns, False) for part in known])


def join_labels(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Labels of any types in one array."""
    return as_array([label for part in parts for label in part.tolist()])
