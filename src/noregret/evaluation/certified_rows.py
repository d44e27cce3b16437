"""The rows of a source as a learner sees them, all at once: encoded, transformed, with the signs of their labels."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, vstack

from noregret.data.batch import Batch
from noregret.data.blocks import SparseBlock, verify
from noregret.data.labels import Labels
from noregret.errors import BadValue
from noregret.evaluation.mistake_bounds import Rows
from noregret.evaluation.separability import Examples, sign_examples
from noregret.learner.encode import encode_rows
from noregret.learner.factory import make
from noregret.learner.model import Model
from noregret.streams import Source

MOST_ROWS = 20_000
MOST_VALUES = 5_000_000  # of all signed examples together


@dataclass(frozen=True, eq=False)
class Prepared:
    """Rows and their signed examples, with the model that encoded them."""

    X: Any  # csr_matrix
    examples: Examples
    labels: Sequence[Any]
    model: Model

    @property
    def task(self) -> str:
        return "binary" if len(self.labels) == 2 else "multiclass"

    @cached_property
    def rows(self) -> Rows:
        return Rows(self.examples, self.X, len(self.labels))

    def name_weights(self, weights: NDArray[np.float64] | None) -> dict[Any, Any] | None:
        """Weights by feature; with many classes by feature and label. The constant feature is called bias."""
        if weights is None:
            return None
        names = self.feature_names()
        if len(self.labels) == 2:
            return {name: value for name, value in zip(names, weights.tolist(), strict=True) if value}
        table = weights.reshape(len(self.labels), -1).T.tolist()
        return {name: dict(zip(self.labels, row, strict=True)) for name, row in zip(names, table, strict=True)}

    def feature_names(self) -> list[Any]:
        """The features by name or number, as columns of X."""
        model, known = self.model, self.model.names.as_list()
        namer: Callable[[int], Any] = (lambda number: known[number]) if model.names.mode == "names" else int
        for transform in model.transforms:
            namer = transform.namer(namer)
        bias = int(model.config.bias)
        return ["bias"] * bias + [namer(number) for number in range(self.X.shape[1] - bias)]


def read_batches(source: Source) -> list[Batch]:
    """All batches of a source; refuses more rows than a certificate can look at, and weights."""
    batches: list[Batch] = []
    rows = 0
    for batch in source:
        rows += batch.rows
        if rows > MOST_ROWS:
            raise BadValue(f"{source.name} has more than {MOST_ROWS:,} rows, and a certificate looks at all of them at "
                           "once; read fewer with limit= (--limit N)")  # fmt: skip
        if batch.weight is not None:
            raise BadValue(f"{source.name}: the bounds are proved for rows of weight 1; leave weight (--weight) out")
        if batch.y is None:
            raise BadValue(f"{source.name}: the rows have no labels")
        batches.append(batch)
    if not rows:
        raise BadValue(f"{source.name} has no rows")
    return batches


def prepare(name: str, batches: Sequence[Batch], preparing: Mapping[str, Any]) -> Prepared:
    """Encode all rows as a learner with these options does, and sign them by their labels."""
    model = make("perceptron", **preparing).model
    labels = Labels()
    parts, codes = [], []
    for batch in batches:
        codes.append(labels.encode(batch.y))
        parts.append(to_csr(encode_rows(model, batch.X, grow=True, include_unknown=False)))
    classes = len(labels)
    if classes < 2:
        raise BadValue(f"{name}: every label is {labels.order[0]!r}; with one class there is nothing to separate")
    values = sum(part.nnz for part in parts) * (1 if classes == 2 else 2 * (classes - 1))
    if values > MOST_VALUES:
        raise BadValue(f"{name}: {values:,} values of {classes} classes are too many to look at at once; the most are "
                       f"{MOST_VALUES:,}. Read fewer rows with limit= (--limit N)")  # fmt: skip
    width = max(part.shape[1] for part in parts)
    for part in parts:
        part.resize((part.shape[0], width))
    X = csr_matrix(vstack(parts))
    signs = labels.signs(2) if classes == 2 else None
    return Prepared(X, sign_examples(X, np.concatenate(codes), signs, classes), list(labels.order), model)


def to_csr(block: Any) -> Any:
    """A block as a sparse matrix."""
    block = verify(block)
    if not isinstance(block, SparseBlock):
        return csr_matrix(block.val)
    end = int(block.indptr[-1])
    return csr_matrix((block.val[:end], block.idx[:end], block.indptr), shape=(block.rows, block.width))
