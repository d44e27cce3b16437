"""Many classes: PA-I on MNIST beside scikit-learn's epoch, and how the time of a pass grows with the classes."""

import warnings
from typing import Any

import numpy as np
from scipy import sparse

import noregret
from benchmarks.measure import Act, Prepare, Row, best, in_turn, rate
from noregret.errors import Error

TITLE = "Multiclass classification with PA-I (MNIST if NOREGRET_DATA has it, otherwise generated rows like it)"
PEER = "scikit-learn SGDClassifier pa1, one against the rest"
PIXELS, INKED, ROWS = 784, 150, 20_000
FEW, MANY = 21, 105


def digits() -> tuple[Any, np.ndarray]:
    """The first rows of MNIST, from 0 to 1; or as many rows that are as full."""
    try:
        batches = list(noregret.open_source("mnist/train-images-idx3-ubyte.gz", limit=ROWS))
    except Error:
        return generated(10)
    blocks = [(batch.X.block.val, batch.X.block.idx, batch.X.block.indptr) for batch in batches]
    X = sparse.vstack([sparse.csr_matrix(block, (len(block[2]) - 1, PIXELS)) for block in blocks], format="csr")
    return sparse.csr_matrix(X / 255.0), np.concatenate([batch.y for batch in batches])


def generated(classes: int, rows: int = ROWS) -> tuple[Any, np.ndarray]:
    """Rows as full as those of MNIST, whose class is the one of a random matrix that scores best."""
    rng = np.random.default_rng(classes)
    idx = np.sort(np.argsort(rng.random((rows, PIXELS)), axis=1)[:, :INKED], axis=1).astype(np.int32)
    val = rng.random((rows, INKED))
    X = sparse.csr_matrix((val.ravel(), idx.ravel(), np.arange(0, rows * INKED + 1, INKED)), (rows, PIXELS))
    return X, np.asarray(X @ rng.normal(size=(PIXELS, classes))).argmax(axis=1)


def scikit_learn(X: Any, y: np.ndarray) -> Prepare:
    from sklearn.linear_model import SGDClassifier

    def prepare() -> Act:
        model = SGDClassifier(loss="hinge", penalty=None, learning_rate="pa1", eta0=1.0, shuffle=False,
                              fit_intercept=False, max_iter=1, tol=None)  # fmt: skip
        return lambda: quietly(model, X, y)

    return prepare


def quietly(model: Any, X: Any, y: np.ndarray) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)


def ours(X: Any, y: np.ndarray) -> Prepare:
    noregret.make("pa1", task="multiclass").learn(X[:100], y[:100])  # compiled before the clock starts

    def prepare() -> Act:
        learner = noregret.make("pa1", task="multiclass", classes=np.unique(y).tolist())
        return lambda: learner.learn(X, y)

    return prepare


def run() -> list[Row]:
    X, y = digits()
    sizes = {classes: generated(classes, 4000) for classes in (FEW, MANY)}
    contestants = {PEER: scikit_learn(X, y), "pa1": ours(X, y)}
    contestants |= {f"{classes} classes": ours(*rows) for classes, rows in sizes.items()}
    times = in_turn(contestants, repeats=5)
    few, many = (best(times, f"{classes} classes") for classes in (FEW, MANY))
    return [
        Row(
            f"pa1, {len(y)} rows of digits",
            rate(len(y), best(times, "pa1")),
            f"{PEER} {rate(len(y), best(times, PEER))}",
            best(times, PEER) / best(times, "pa1"),
            "x",
            at_least=5.0,
            seconds={name: times[name] for name in ("pa1", PEER)},
        ),
        Row(
            f"{MANY} classes over {FEW}: time of a pass, where linear is {MANY / FEW:g}",
            rate(4000, many),
            f"{FEW} classes {rate(4000, few)}",
            many / few,
            "x",
            at_most=MANY / FEW,
            seconds={name: times[name] for name in (f"{FEW} classes", f"{MANY} classes")},
        ),
    ]
