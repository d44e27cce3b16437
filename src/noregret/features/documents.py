"""Words by how rare they were: each count times the logarithm of how few of the rows before had the feature."""

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from noregret.algebra.verbs import unbound
from noregret.errors import BadValue
from noregret.features.feature_selectors import Chosen
from noregret.features.fitted import LEARN, Options, Running, over_values
from noregret.rules.parameters import Choice

read_indptr = read_idx = read_val = read_out = read_rows = read_documents = read_sublinear = unbound


def rarity_rows(table: Any) -> int:
    rarity_values(
        table[LEARN], (read_indptr(table), read_idx(table), read_val(table)), read_out(table),
        (read_rows(table), read_documents(table), read_sublinear(table)),
    )  # fmt: skip
    return 0


def rarity_values(learn: Any, rows: Any, out: Any, seen: Any) -> None:
    """tf (log((1 + n) / (1 + df)) + 1), with n rows before this one, df of them with the feature."""
    indptr, idx, val = rows
    df, n, sublinear = seen
    for row in range(indptr.size - 1):
        for k in range(indptr[row], indptr[row + 1]):
            j, tf = idx[k], val[k]
            before = df[j]
            if learn and tf != 0.0:
                df[j] = before + 1.0
            if sublinear[0] > 0.0 and tf > 0.0:
                tf = 1.0 + math.log(tf)
            out[k] = tf * (math.log((1.0 + n[0]) / (1.0 + before)) + 1.0)
        if learn:
            n[0] += 1.0


class TfIdf(Running):
    """In how many of the rows learned each feature was, and how many rows these were (Spärck Jones 1972)."""

    name = "tf_idf"
    params: ClassVar[Options] = {
        "sublinear": Choice("no", {"no": 0.0, "yes": 1.0}, "1 + log(tf) in the place of tf"),
        "only": Chosen(),
    }
    fields = ("rows",)
    counts = ("documents",)
    loop = over_values(rarity_values, rarity_rows, "rows", "documents", "sublinear")

    def options(self) -> tuple[np.ndarray, ...]:
        return (np.array([1.0 if self.told["sublinear"] == "yes" else 0.0]),)

    def measured(self, rows: tuple[np.ndarray, ...], learn: bool, never: np.ndarray, width: int) -> np.ndarray:
        indptr, _, val = rows
        if self.told["sublinear"] == "yes" and val.size and val.min() < 0.0:
            at = int(np.flatnonzero(val < 0.0)[0])
            row = int(np.searchsorted(indptr, at, side="right")) - 1
            raise BadValue(f"row {row}: a value is {val[at]}; tf_idf with sublinear=yes takes counts", row=row)
        return super().measured(rows, learn, never, width)

    def possible(self, saved: Mapping[str, np.ndarray]) -> bool:
        rows, documents = saved["rows"], saved["documents"]
        return bool(documents[0] >= 0.0 and (rows >= 0.0).all() and (rows <= documents[0]).all())
