"""What several experiments share: digits, orders of rows, and how a mean is written."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

import noregret as nr
from verification.reproduce.data import shuffled

LETTER, PENDIGITS = "letter/letter.scale.svm.gz", "pendigits/pendigits.svm.gz"
MNIST, MNIST_TEST = "mnist/train-images-idx3-ubyte.gz", "mnist/t10k-images-idx3-ubyte.gz"
PIXELS = 784
SHUFFLES = 10
Row = tuple[str, ...]
Table = tuple[Row, list[Row]]


def images(base: Path, name: str = MNIST) -> tuple[Any, np.ndarray]:
    """The digits of MNIST, from 0 to 1."""
    batches = list(nr.open_source(str(base / name)))
    blocks = [(batch.X.block.val, batch.X.block.idx, batch.X.block.indptr) for batch in batches]
    X = sparse.vstack([sparse.csr_array(block, shape=(len(block[2]) - 1, PIXELS)) for block in blocks], format="csr")
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)  # scikit-learn takes no others
    return X / X.max(), np.concatenate([batch.y for batch in batches])


def mean(values: list[float], digits: int = 1) -> str:
    return f"{np.mean(values):.{digits}f} ± {np.std(values):.{digits}f}"


def over_shuffles(
    X: Any, y: np.ndarray, measure: Callable[[Any, np.ndarray, int], list[float]], shuffles: int = SHUFFLES
) -> list[list[float]]:
    """Some measures, each over all shuffles."""
    return list(map(list, zip(*(measure(*shuffled(X, y, seed), seed) for seed in range(shuffles)), strict=True)))
