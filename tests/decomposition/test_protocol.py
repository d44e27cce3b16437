"""Learners without labels follow the protocol of all learners: the same checks as for rules."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sparse

import noregret as nr
from noregret.learner.model_file import pack, unpack
from tests.conformance.protocol import CHECKS, Case, check_save_and_go_on
from tests.support import by_name, refusal

RNG = np.random.default_rng(5)
X = RNG.normal(size=(30, 3)) @ RNG.normal(size=(3, 6)) + 0.1 * RNG.normal(size=(30, 6))
ROWS = [{name: value for at, (name, value) in enumerate(by_name(row).items()) if (number + at) % 4} for number, row
        in enumerate(X)]  # fmt: skip
NONE = [None] * 30
LABELS = [number % 3 for number in range(30)]
TWO = [number % 2 for number in range(30)]
BAD_ROW, BAD_DICT = np.full(6, np.nan), {"f1": float("inf")}


def make(name: str, **options: Any) -> Callable[[], Any]:
    return lambda: nr.make(name, native=False, **options)


CASES = {
    "svd": Case(make("svd", rank=3, batch=1), X, NONE, BAD_ROW),
    "svd of dicts in mini-batches": Case(make("svd", rank=3, batch=4), ROWS, LABELS, BAD_DICT),
    "svd with rows": Case(make("svd", rank=4, batch=2, keep_rows="yes", scale=True), X, NONE, BAD_ROW),
    "svd of hashed names": Case(make("svd", rank=2, batch=5, bits=3), ROWS, NONE, BAD_DICT),
    "pca_incremental": Case(make("pca_incremental", rank=3, batch=4), X, NONE, BAD_ROW),
    "pca_incremental of dicts": Case(make("pca_incremental", rank=2, batch=1), ROWS, NONE, BAD_DICT),
    "oja": Case(make("oja", rank=3), X, LABELS, BAD_ROW),
    "oja of dicts": Case(make("oja", rank=4, batch=3, seed=3), ROWS, NONE, BAD_DICT),
    "pca": Case(make("pca", rank=2), X, NONE, BAD_ROW),
    "pca, drawn": Case(make("pca", rank=2, choose="draw", radius=50.0, batch=2), ROWS, NONE, BAD_DICT),
    "svd before arow": Case(lambda: make("svd", rank=3, batch=1)() | make("arow")(), X, LABELS, BAD_ROW),
    "svd before pa1": Case(lambda: make("svd", rank=3, batch=4)() | make("pa1")(), ROWS, TWO, BAD_DICT),
    "svd before oja": Case(lambda: make("svd", rank=4, batch=2)() | make("oja", rank=2)(), X, NONE, BAD_ROW),
    "svd before targets": Case(
        lambda: nr.scale() | make("svd", rank=2, batch=1)() | make("arow", task="regression")(),
        X,
        X[:, 0].tolist(),
        BAD_ROW,
    ),
    "kmeans before arow": Case(lambda: make("kmeans", k=3, batch=4, start=6)() | make("arow")(), X, TWO, BAD_ROW),
    "svd of products": Case(make("svd", rank=2, batch=3, transforms=[nr.pairs()]), ROWS, NONE, BAD_DICT),
}


@pytest.mark.thinned(6)
@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_decompositions_follow_the_protocol(case: Case, check: Callable[[Case], None]) -> None:
    check(case)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_decompositions_saved_and_loaded_go_on(case: Case, tmp_path: Path) -> None:
    check_save_and_go_on(case, tmp_path)


@pytest.mark.parametrize("name", ["lda", "hdp", "gaussian", "oja", "dictionary", "kmeans"])
def test_columns_without_values_are_known_after_loading(name: str) -> None:
    """The rows wait for their mini-batch; their matrix has columns that none of them has a value in."""
    rows = sparse.csr_matrix(np.array([[1.0, 2.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]]))
    learner = make(name, batch=5)().learn(rows)
    again = unpack(pack(learner), "m.nr")
    assert again.score(rows).losses.tolist() == learner.score(rows).losses.tolist()
    assert pack(again.flush()) == pack(learner.flush())


@pytest.mark.parametrize(
    ("error", "words"),
    [(MemoryError, "svd has no memory left"), (np.linalg.LinAlgError, "or too small; scale the rows")],
)
@pytest.mark.parametrize("method", ["learn_rows", "score_rows"])
def test_what_cannot_be_computed_is_told_in_words(
    method: str, error: type[Exception], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    learner = make("svd", rank=2, batch=3)().learn(X[:4])
    before = pack(learner)

    def fail(state: Any, rows: Any) -> None:
        raise error

    monkeypatch.setattr(learner, method, fail)
    with pytest.raises(nr.Error, match=words):
        learner.play(X[4:9])
    assert pack(learner) == before


@pytest.mark.parametrize("name", ["svd", "pca_incremental", "oja", "kmeans", "dictionary", "gaussian", "lda", "hdp"])
def test_states_that_do_not_fit_in_memory_are_refused_before_they_are_made(name: str) -> None:
    wide = sparse.csr_matrix((np.ones(1), (np.zeros(1, int), np.ones(1, int))), shape=(1, 2**31 - 1))
    learner = make(name, batch=1)()
    assert "do not fit in memory" in refusal(lambda: learner.learn(wide).flush())
    waiting = make(name, batch=5)()
    assert "do not fit in memory" in refusal(lambda: waiting.learn(wide))
    assert waiting.rounds == 0


def test_sparse_matrices_in_any_batches_give_the_same_bits() -> None:
    rows = sparse.csr_matrix(np.where(np.abs(X) > 0.5, X, 0.0))
    whole, parts, dense = (make("svd", rank=3, batch=4)() for _ in range(3))
    whole.learn(rows)
    for start in range(0, 30, 7):
        parts.learn(rows[start : start + 7])
    assert whole.components.tolist() == parts.components.tolist()
    assert whole.components.tolist() == dense.learn(rows.toarray()).components.tolist()
