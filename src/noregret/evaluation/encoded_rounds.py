"""The rounds of a run as a rule sees them: rows after names, transforms and the constant feature, and their truths.

They are kept so that a comparator can be found when the run is over. A run that is too long to keep leaves a random
sample: every row is in it with the same probability.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from noregret.data.batch import Batch
from noregret.data.blocks import SparseBlock, verify
from noregret.data.labels import UNIVERSUM
from noregret.learner.config import Config
from noregret.learner.encode import encode_rows
from noregret.learner.model import Model
from noregret.metrics.comparator_problem import Matrix

Floats = NDArray[np.float64]
ENTRIES = 40_000_000  # values that are kept: half a gigabyte


def encoding_of(config: Config) -> tuple[Any, ...]:
    """What decides how rows and labels are encoded: learners that agree in it see the same rounds."""
    seen_as = "classes" if config.task.labelled and config.task.truth_dimensions == 1 else config.task.name
    return (repr(config.transforms), config.scale, config.bits, config.bias, config.bias_value, config.algebra,
            config.classes, seen_as)  # fmt: skip


class EncodedRounds:
    """The rounds so far, as a learner of this configuration sees them."""

    def __init__(self, config: Config, entries: int = ENTRIES) -> None:
        self.model, self.most = Model.new(config), entries
        self.blocks: list[Matrix] = []
        self.truths: list[NDArray[Any]] = []
        self.places: list[NDArray[np.int64]] = []
        self.rounds = self.entries = self.width = 0
        self.share = 1.0  # of the rows that are kept
        self.draws = np.random.default_rng(config.seed)
        self.drawn: list[Floats] = []
        self.why_not: str | None = None  # why these rounds cannot be compared on
        self.weighted = False  # whether some rounds weigh more than others

    def see(self, batch: Batch) -> None:
        """Encode and keep the rows of a batch."""
        if self.why_not is not None:
            return
        model = self.model
        y = batch.y if batch.y is not None else model.task.default_labels(batch.rows)
        if y is None or (model.task.needs_labels and any(one is None or one is UNIVERSUM for one in first_labels(y))):
            self.why_not = "some rounds have no label"
            return
        self.weighted |= batch.weight is not None
        y = model.task.accept(y, batch.query if model.task.needs_query else None)
        block = verify(encode_rows(model, batch.X, grow=True, include_unknown=model.scores_unknown))
        for transform in model.transforms:
            transform.commit()
        truths = as_truths(model.task.encode(model.labels, y, block.rows)[0])
        model.labels.committed = len(model.labels)
        self.add(as_matrix(block), truths, truths[:, 0].astype(np.int64) if model.task.needs_query else None)

    def add(self, X: Matrix, truths: NDArray[Any], round_of: NDArray[np.int64] | None = None) -> None:
        """Keep rows, or the sampled ones among them; `round_of` numbers the rounds, where one may have several rows."""
        of = np.arange(len(truths)) if round_of is None else round_of
        rounds = int(of[-1]) + 1 if of.size else 0
        draws = self.draws.random(rounds)[of]
        kept = draws < self.share
        self.places.append(self.rounds + of[kept])
        self.blocks.append(X if kept.all() else X[kept])
        self.truths.append(truths[kept])
        self.drawn.append(draws[kept])
        self.rounds, self.width = self.rounds + rounds, max(self.width, X.shape[1])
        self.entries += count_entries(self.blocks[-1])
        while self.entries > self.most:
            self.drop_half()

    def drop_half(self) -> None:
        """Keep the rows with the smaller half of the draws."""
        self.share *= 0.5
        for at, draws in enumerate(self.drawn):
            kept = draws < self.share
            self.blocks[at], self.truths[at] = self.blocks[at][kept], self.truths[at][kept]
            self.places[at], self.drawn[at] = self.places[at][kept], draws[kept]
        self.entries = sum(map(count_entries, self.blocks))

    @property
    def complete(self) -> bool:
        """Whether every round was kept."""
        return self.share == 1.0

    def rows(self) -> Matrix:
        """All rows that were kept."""
        if not self.blocks:
            return np.zeros((0, self.width))
        if all(isinstance(block, np.ndarray) for block in self.blocks):
            return np.concatenate([widen(block, self.width) for block in self.blocks])
        sparse: list[Any] = [csr_array(block) for block in self.blocks]
        for block in sparse:
            block.resize((block.shape[0], self.width))
        return csr_array(vstack(sparse, format="csr"))

    def all_truths(self) -> NDArray[Any]:
        """Their codes or targets."""
        return np.concatenate(self.truths) if self.truths else np.zeros(0)

    def all_places(self) -> NDArray[np.int64]:
        """The numbers of their rounds, from 0 on."""
        return np.concatenate(self.places) if self.places else np.zeros(0, np.int64)


def as_truths(codes: Any) -> NDArray[Any]:
    """The truths of rows, one entry for each; sets of labels as arrays of their numbers."""
    if not hasattr(codes, "starts"):
        return np.asarray(codes)
    found = np.empty(len(codes.starts) - 1, object)
    found[:] = np.split(codes.labels, codes.starts[1:-1]) if len(found) else []
    return found


def first_labels(y: Any) -> list[Any]:
    """Labels among which one that is missing can be: none where they are an array of numbers."""
    return [] if isinstance(y, np.ndarray) and y.dtype != object else list(y)


def as_matrix(block: Any) -> Matrix:
    """A block as a matrix of its own memory."""
    if not isinstance(block, SparseBlock):
        return np.array(block.val, np.float64)
    used = int(block.indptr[-1])
    parts = (block.val[:used].copy(), block.idx[:used].copy(), block.indptr.copy())
    return csr_array(parts, shape=(block.rows, block.width))


def count_entries(X: Matrix) -> int:
    return int(X.size if isinstance(X, np.ndarray) else X.nnz)


def widen(X: Floats, width: int) -> Floats:
    return X if X.shape[1] == width else np.hstack((X, np.zeros((X.shape[0], width - X.shape[1]))))
