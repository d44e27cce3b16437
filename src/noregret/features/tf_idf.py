"""TF-IDF: weights word counts by how rare the word was in earlier rows (Spärck Jones 1972)."""

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from noregret.algebra.verbs import unbound
from noregret.errors import BadValue
from noregret.features.feature_selectors import SelectorParam
from noregret.features.fitted import (
    LEARN,
    Arrays,
    Entries,
    FittedTransform,
    Floats,
    Loop,
    Options,
    Table,
    value_loop,
)
from noregret.rules.parameters import Choice

read_indptr = read_idx = read_val = read_out = read_rows = read_documents = read_sublinear = unbound


def rarity_rows(table: Table) -> int:
    rarity_values(
        table[LEARN], (read_indptr(table), read_idx(table), read_val(table)), read_out(table),
        (read_rows(table), read_documents(table), read_sublinear(table)),
    )  # fmt: skip
    return 0


def rarity_values(learn: bool, rows: Arrays, out: Floats, seen: Arrays) -> None:
    """Compute tf (log((1 + n) / (1 + df)) + 1): n earlier rows, df of them with the feature."""
    indptr, idx, val = rows
    df, n, sublinear = seen
    for row in range(indptr.size - 1):
        for k in range(indptr[row], indptr[row + 1]):
            j, tf = idx[k], val[k]
            before = df[j]
            if learn and tf != 0.0:
                df[j] = before + 1.0
            if sublinear[0] > 0.0 and tf < 0.0:
                tf = math.nan  # a batch is refused before it comes here
            elif sublinear[0] > 0.0 and tf > 0.0:
                tf = 1.0 + math.log(tf)
            out[k] = tf * (math.log((1.0 + n[0]) / (1.0 + before)) + 1.0)
        if learn:
            n[0] += 1.0


class TfIdf(FittedTransform):
    """TF-IDF. Keeps for each feature the number of rows it occurred in, and the number of rows."""

    name = "tf_idf"
    params: ClassVar[Options] = {
        "sublinear": Choice("no", {"no": 0.0, "yes": 1.0}, "whether to use 1 + log(tf) instead of tf"),
        "only": SelectorParam(),
    }
    fields = ("rows",)
    counters = ("documents",)
    loop = value_loop(rarity_values, rarity_rows, "rows", "documents", "sublinear")

    def extra_arrays(self) -> tuple[NDArray[Any], ...]:
        return (np.array([1.0 if self.options["sublinear"] == "yes" else 0.0]),)

    def row_loops(self) -> tuple[Loop, ...] | None:
        return (self.loop,)

    def transform_values(self, rows: Entries, learn: bool, indicators: NDArray[Any], width: int) -> NDArray[Any]:
        indptr, _, val = rows
        if self.options["sublinear"] == "yes" and val.size and val.min() < 0.0:
            at = int(np.flatnonzero(val < 0.0)[0])
            row = int(np.searchsorted(indptr, at, side="right")) - 1
            raise BadValue(f"row {row}: a value is {val[at]}; tf_idf with sublinear=yes needs counts", row=row)
        return super().transform_values(rows, learn, indicators, width)

    def is_valid(self, saved: Mapping[str, NDArray[Any]]) -> bool:
        rows, documents = saved["rows"], saved["documents"]
        return bool(documents[0] >= 0.0 and (rows >= 0.0).all() and (rows <= documents[0]).all())
