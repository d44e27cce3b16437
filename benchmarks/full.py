"""AROW with a full covariance: an update compared with the two BLAS calls that it needs at least."""

import numpy as np
from scipy.linalg.blas import dsymv, dsyr
from threadpoolctl import threadpool_limits

import noregret
from benchmarks.measure import Act, Row, best, in_turn, micros
from benchmarks.stream import Floats, Integers

TITLE = "Full covariance, dense, d = 300, one thread"
PEER = "BLAS dsymv + dsyr"
ROWS, DIMENSION = 2_000, 300


def rounds() -> tuple[Floats, Integers]:
    """Unit rows with random labels, so that nearly every round is an update."""
    rng = np.random.default_rng(4)
    X = rng.standard_normal((ROWS, DIMENSION))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return X, rng.choice(np.array([-1, 1]), size=ROWS).astype(np.int64)


def updates(X: Floats, y: Integers, r: float = 1.0) -> int:
    """How many rounds of AROW change the state, counted by AROW written out in numpy."""
    w, sigma, changed = np.zeros(DIMENSION), np.eye(DIMENSION), 0
    for x, label in zip(X, y, strict=True):
        margin = label * (w @ x)
        if margin < 1.0:
            image = sigma @ x
            beta = 1.0 / (x @ image + r)
            w += (1.0 - margin) * beta * label * image
            sigma -= beta * np.outer(image, image)
            changed += 1
    return changed


def run() -> list[Row]:
    X, y = rounds()
    changed = updates(X, y)

    def ours() -> Act:
        learner = noregret.make("arow", covariance="full")
        return lambda: learner.learn(X, y)

    def peer() -> Act:
        sigma = np.asfortranarray(np.eye(DIMENSION))

        def act() -> None:
            for x in X[:changed]:
                image = dsymv(1.0, sigma, x)
                dsyr(-1e-3, image, a=sigma, overwrite_a=1)

        return act

    noregret.make("arow", covariance="full").learn(X[:10], y[:10])
    with threadpool_limits(1, user_api="blas"):
        times = in_turn({PEER: peer, "arow": ours}, repeats=7)
    return [
        Row(
            work=f"arow, full: one update ({changed} in {ROWS} rounds)",
            ours=micros(best(times, "arow") / changed),
            peer=f"{PEER} {micros(best(times, PEER) / changed)}",
            figure=best(times, "arow") / best(times, PEER),
            unit="x",
            at_most=2.0,
            seconds=times,
        )
    ]
