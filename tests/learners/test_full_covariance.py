"""Full covariances of many classes: one matrix for each class, whose precisions add up over the rounds."""

import numpy as np
import pytest

import noregret as nr
from tests.conformance.plays import state
from tests.naive import streams


@pytest.mark.thinned(2)
@pytest.mark.parametrize("name", ["arow", "sop", "nherd", "cw", "scw1", "narow", "iellip"])
@pytest.mark.parametrize("algebra", ["sparse", "dense", "reference"])
def test_rows_of_one_feature_make_no_difference_between_full_and_diagonal(name: str, algebra: str) -> None:
    """With one feature in every row nothing couples two features, and no matrix couples two classes."""
    rng = np.random.default_rng(5)
    X = np.zeros((60, 4))
    X[np.arange(60), rng.integers(4, size=60)] = rng.normal(size=60)
    y = rng.integers(3, size=60)
    full, diagonal = (
        nr.make(name, task="multiclass", classes=range(3), algebra=algebra, covariance=covariance, native=False)
        for covariance in ("full", "diagonal")
    )
    np.testing.assert_allclose(full.play(X, y).scores, diagonal.play(X, y).scores, rtol=1e-9, atol=1e-12)


def test_full_precisions_of_many_classes_are_sums_over_rounds_so_that_merging_is_exact() -> None:
    X, y = streams.dense(60, 4, seed=7)
    labels = np.where(X[:, 0] > 0.5, 2, y > 0).astype(int)
    learner = nr.make("arow", r=0.5, task="multiclass", classes=range(3), covariance="full", native=False)
    transcript = learner.play(X, labels)
    precision = np.array([np.eye(4)] * 3)
    for x, label, f, updated in zip(X, labels, transcript.scores, transcript.updated, strict=True):
        rival = max((c for c in range(3) if c != label), key=lambda c: f[c])
        for c in (label, rival) if updated else ():
            precision[c] += np.outer(x, x) / 0.5
    found = np.array([np.tril(one) + np.tril(one, -1).T for one in state(learner)["sigma"]])
    np.testing.assert_allclose(np.linalg.inv(found), precision, rtol=1e-8, atol=1e-8)
