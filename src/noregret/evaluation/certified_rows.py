"""The rows of a source as a learner sees them, all at once: encoded, transformed, with the signs of their labels."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from noregret.cached_property import cached_property
from noregret.data.batch import Batch
from noregret.errors import BadValue
from noregret.evaluation.encoded_rounds import EncodedRounds
from noregret.evaluation.hindsight import Fixed, Rounds
from noregret.evaluation.separability import Examples, sign_examples, smallest_margin
from noregret.learner.factory import make
from noregret.learner.model import Model
from noregret.streams import Source

MOST_ROWS = 20_000
SMALLEST, LARGEST = 1e-100, 1e100  # sizes of values other than 0
MOST_VALUES = 5_000_000  # of all signed examples together


@dataclass(frozen=True, eq=False)
class Prepared:
    """Rows and their signed examples, with the model that encoded them."""

    X: Any  # csr_matrix
    examples: Examples
    labels: Sequence[Any]
    codes: NDArray[np.int64]
    model: Model

    @property
    def task(self) -> str:
        return "binary" if len(self.labels) == 2 else "multiclass"

    @cached_property
    def rounds(self) -> Rounds:
        """The rows as rounds, which theorems are about."""
        if len(self.labels) == 2:
            return Rounds(self.X, self.model.labels.signs(2)[self.codes], "signs")
        return Rounds(self.X, self.codes, "codes", len(self.labels))

    def fix(self, name: str, weights: NDArray[np.float64]) -> Fixed:
        """Weights of the signed examples as a comparator, with a smallest margin that rounding cannot break."""
        norm = float(np.linalg.norm(weights))
        least = smallest_margin(self.examples.Z, weights)[0] * norm if norm > 0.0 else 0.0
        u = weights.reshape(1 if len(self.labels) == 2 else len(self.labels), -1).T
        return Fixed(u, self.rounds.margins(u), least, name)

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
    encoded = EncodedRounds(make("perceptron", **preparing).config, entries=MOST_VALUES)
    for batch in batches:
        encoded.see(batch)
    if encoded.why_not is not None:
        raise BadValue(f"{name}: {encoded.why_not}")
    labels = encoded.model.labels
    if len(labels) < 2:
        raise BadValue(f"{name}: every label is {labels.order[0]!r}; with one class there is nothing to separate")
    each = 1 if len(labels) == 2 else 2 * (len(labels) - 1)
    if not encoded.complete or encoded.entries * each > MOST_VALUES:
        raise BadValue(f"{name}: these rows, with {len(labels)} classes, have more than {MOST_VALUES:,} values, too "
                       "many to look at at once; read fewer rows with limit= (--limit N)")  # fmt: skip
    X, codes = csr_matrix(encoded.rows()), encoded.all_truths().astype(np.int64)
    X.eliminate_zeros()
    check_sizes(name, np.abs(X.data))
    signs = labels.signs(2) if len(labels) == 2 else None
    return Prepared(X, sign_examples(X, codes, signs, len(labels)), list(labels.order), codes, encoded.model)


def check_sizes(name: str, values: NDArray[np.float64]) -> None:
    """Refuse values whose squares floats cannot hold, so that no sum is wrong by overflow or underflow."""
    wrong = values[(values < SMALLEST) | (values > LARGEST)]
    if wrong.size:
        raise BadValue(f"{name}: a value has the size {wrong[0]:g}; values must be 0 or between {SMALLEST:g} and "
                       f"{LARGEST:g} in size: scale the features")  # fmt: skip
