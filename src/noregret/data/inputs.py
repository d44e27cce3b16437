"""What callers may hand over as rows, labels and weights; the border checks it before anything is used."""

from typing import Any, TypeAlias

RowsLike: TypeAlias = Any
"""A matrix of numpy or scipy.sparse, a list of dicts or of rows, a frame of pandas, polars or Arrow, or `Rows`."""

RowLike: TypeAlias = Any
"""One row: a dict of features by name or number, or a row of numbers."""

LabelsLike: TypeAlias = Any
"""One label, target or set of labels for every row: a list, an array, a column of a frame."""

WeightsLike: TypeAlias = Any
"""An importance weight for every row, or one for all; None weighs all rows 1."""
