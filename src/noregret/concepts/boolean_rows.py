"""Rows of Boolean features: which features are true in each row. A feature that is absent from a row is false."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.concepts.boolean import Feature, check_feature
from noregret.data.blocks import Rows, SparseBlock, as_block, to_sparse, verify
from noregret.errors import BadValue, shown
from noregret.features.frames import convert_frame
from noregret.features.names import Names

LARGEST_CLOSED = 1 << 26  # columns of a matrix up to which all of them are candidates from the start


@dataclass(frozen=True)
class BooleanRows:
    """The numbers of the features that are true, row after row, in CSR form."""

    indptr: NDArray[np.int64]
    active: NDArray[np.int64]
    names: Sequence[str] = ()  # of the features by number, where the reader was asked for them

    @property
    def rows(self) -> int:
        return self.indptr.size - 1

    def row(self, at: int) -> NDArray[np.int64]:
        """The features that are true in one row."""
        return self.active[self.indptr[at] : self.indptr[at + 1]]

    def __iter__(self) -> Iterator[NDArray[np.int64]]:
        return (self.row(at) for at in range(self.rows))


class BooleanReader:
    """Reads rows for a learner: numbers its features, and refuses values other than 0 and 1.

    `universe` is the number of features where it is known: the columns of a matrix, or the features that were given.
    Otherwise features may appear at any time, and were false until then.
    """

    def __init__(self, features: Any = None) -> None:
        self.names = Names()
        self.given = check_features(features)
        self.universe: int | None = None if self.given is None else len(self.given)
        self.size = 0  # features seen
        self.expect(self.given or ())

    def expect(self, features: Sequence[Feature]) -> None:
        """Number these features first; others may still come."""
        if features and isinstance(features[0], str):
            self.names.encode_dicts([dict.fromkeys(features, 1.0)], grow=True)
        elif features:
            self.names.check_mode("columns", fix=True)
        self.size = max(self.size, len(features))

    def savepoint(self) -> Callable[[], None]:
        """How to forget what later rows bring."""
        names, size, universe, columns = self.names.size, self.size, self.universe, self.names.mode

        def undo() -> None:
            self.names.truncate(names)
            self.size, self.universe, self.names.mode = size, universe, columns

        return undo

    def read(self, X: Any, learn: bool, with_names: bool = False) -> BooleanRows:
        """The rows of a call; features that are not known get numbers past the known ones, for good when learning."""
        X = convert_frame(X)
        if isinstance(X, (list, tuple, Rows)) and not len(X):
            return BooleanRows(np.zeros(1, np.int64), np.zeros(0, np.int64))
        if isinstance(X, Mapping):
            raise BadValue("X must be a list of rows, not a single dict; use learn_one or predict_one")
        if isinstance(X, (list, tuple)) and any(isinstance(row, Mapping) for row in X):
            block = self.names.encode_dicts(X, learn and self.given is None, not learn or self.given is not None)
        elif isinstance(X, Rows):
            block = self.number(X, learn)
        else:
            block = self.read_matrix(X, learn)
        rows = self.check_values(block, X)
        self.check_known(rows, X)
        if learn:
            self.size = max(self.size, self.names.size, 1 + int(rows.active.max(initial=-1)))
        return replace(rows, names=self.find_names(X)) if with_names else rows

    def number(self, X: Rows, learn: bool) -> SparseBlock:
        """Rows of a stream by the numbers of this learner."""
        if X.names is None:
            self.names.check_mode("columns", fix=learn)
            block = verify(X.block)
            assert isinstance(block, SparseBlock)
            return block
        known = self.given is not None
        return self.names.encode_rows(X, learn and not known, not learn or known)[0]

    def read_matrix(self, X: Any, learn: bool) -> SparseBlock:
        """A matrix; its columns are the features, all of them known from the first round on."""
        checked = verify(as_block(X))
        self.names.check_mode("columns", fix=learn)
        width = int(X.shape[1]) if hasattr(X, "tocsr") else checked.width
        if self.universe is not None and width != self.universe:
            raise BadValue(
                f"the rows have {width} columns, and this learner has {self.universe} features; give the same columns"
            )
        if learn and self.universe is None and self.size == 0 and width <= LARGEST_CLOSED:
            self.universe = self.size = width
        return to_sparse(checked)

    def check_values(self, block: SparseBlock, X: Any) -> BooleanRows:
        used = int(block.indptr[-1])
        idx, val = block.idx[:used], block.val[:used]
        wrong = (val != 0.0) & (val != 1.0)
        if wrong.any():
            at = int(np.argmax(wrong))
            row = int(np.searchsorted(block.indptr, at, side="right")) - 1
            name = name_at(X, row, at - int(block.indptr[row]), int(idx[at]))
            raise BadValue(f"row {row}, feature {name!r}: must be 0 or 1, not {val[at]:g}", row)
        true = val == 1.0
        if true.all():
            return BooleanRows(block.indptr, idx.astype(np.int64))
        before = np.concatenate(([0], np.cumsum(true)))
        return BooleanRows(before[block.indptr], idx[true].astype(np.int64))

    def check_known(self, rows: BooleanRows, X: Any) -> None:
        """Refuse features that are not among those that were given."""
        if self.given is None:
            return
        wrong = rows.active >= len(self.given)
        if wrong.any():
            at = int(np.argmax(wrong))
            row = int(np.searchsorted(rows.indptr, at, side="right")) - 1
            unknown = find_unknown(X, row, self.names.known, int(rows.active[at]))
            raise BadValue(f"row {row}: there is no feature {unknown!r} among the {len(self.given)} given", row)

    def adopt(self, other: "BooleanReader") -> NDArray[np.int64]:
        """Know the features of another reader, too; the number here of each of them."""
        self.names.mode = self.names.mode or other.names.mode
        if other.names.mode == "names" and other.names.size and self.given is None:
            numbers, _ = self.names.numbers(list(other.names.known), grow=True, include_unknown=False)
            self.size = max(self.size, self.names.size)
            return numbers.astype(np.int64)
        self.size = max(self.size, other.size)
        self.universe = self.universe if self.universe == other.universe else None
        return np.arange(other.size)

    def all_names(self) -> list[Feature]:
        """The features by number."""
        return [*self.names.known] if self.names.mode == "names" else list(range(self.size))

    def find_names(self, X: Any) -> list[str]:
        """The names by number, also those of rows that were read and not learned; empty where there are none."""
        listed = isinstance(X, (list, tuple)) and any(isinstance(row, Mapping) for row in X)
        given: Iterable[Any] = chain.from_iterable(X) if listed else X.names or () if isinstance(X, Rows) else ()
        return list(dict.fromkeys([*self.names.known, *(name for name in given if isinstance(name, str))]))


def name_at(X: Any, row: int, place: int, number: int) -> Any:
    """The name of the feature at a place of a row, as the caller knows it."""
    if isinstance(X, (list, tuple)) and isinstance(X[row], Mapping):
        return list(X[row])[place]
    if isinstance(X, Rows) and X.names is not None:
        return X.names[int(X.block.idx[int(X.block.indptr[row]) + place])]
    return number


def find_unknown(X: Any, row: int, known: Mapping[Any, int], number: int) -> Any:
    """The first true feature of a row that has no number."""
    if isinstance(X, (list, tuple)) and isinstance(X[row], Mapping):
        return next((name for name, value in X[row].items() if value and name not in known), number)
    if isinstance(X, Rows) and X.names is not None:
        start, stop = int(X.block.indptr[row]), int(X.block.indptr[row + 1])
        names = [X.names[int(at)] for at in X.block.idx[start:stop]]
        return next((name for name in names if name not in known), number)
    return number


def check_features(features: Any) -> list[str] | range | None:
    """The features that were given: their number, or a list of names."""
    if features is None:
        return None
    if isinstance(features, (int, np.integer)) and not isinstance(features, bool):
        if not 1 <= features <= LARGEST_CLOSED:
            raise BadValue(f"features must be from 1 to {LARGEST_CLOSED}, not {features}")
        return range(int(features))
    if isinstance(features, range) and features == range(len(features)) and len(features):
        return features
    names = list(features) if isinstance(features, (list, tuple)) else []
    if not names or not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise BadValue(f"features must be their number, or a list of different names, not {shown(features)}")
    for name in names:
        check_feature(name)
    return names
