"""Topic models follow the protocol of all learners: the same checks as for rules."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.learner.model_file import pack
from tests.conformance.protocol import CHECKS, Case, check_save_and_go_on
from tests.support import by_name, refusal

RNG = np.random.default_rng(5)
X = RNG.poisson(0.8, (24, 6)).astype(float)
ROWS = [{name: value for name, value in by_name(row).items() if value} for row in X]
TEXTS = [" ".join(name * 2 for name, value in row.items() for _ in range(int(value))) for row in ROWS]
NONE = [None] * 24
LABELS = [number % 3 for number in range(24)]
BAD_ROW, BAD_DICT = np.full(6, -1.0), {"f1": 0.5}


def make(name: str, **options: Any) -> Callable[[], Any]:
    return lambda: nr.make(name, native=False, **options)


CASES = {
    "lda": Case(make("lda", k=3, batch=1), X, NONE, BAD_ROW),
    "lda of dicts in mini-batches": Case(make("lda", k=2, batch=5, tau0=1.0), ROWS, LABELS, BAD_DICT),
    "lda of rows, where rates are 1 / t": Case(make("lda", k=2, batch=4, tau0=0.0, kappa=1.0), X, NONE, BAD_ROW),
    "hdp": Case(make("hdp", t=4, k=2, batch=5), X, NONE, BAD_ROW),
    "hdp of dicts": Case(make("hdp", t=3, k=2, batch=8, start="uniform", seed=2), ROWS, LABELS, BAD_DICT),
    "lda of texts": Case(make("lda", k=4, batch=7, tau0=0.0, seed=5), TEXTS, NONE, 7),
}


@pytest.mark.thinned(6)
@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_topic_models_follow_the_protocol(case: Case, check: Callable[[Case], None]) -> None:
    check(case)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_topic_models_saved_and_loaded_go_on(case: Case, tmp_path: Path) -> None:
    check_save_and_go_on(case, tmp_path)


@pytest.mark.parametrize("name", ["lda", "hdp"])
@pytest.mark.parametrize(
    ("of", "number"),
    [("documents", 0), ("documents", 9), ("documents", -1), ("steps", 0), ("steps", 9), ("steps", 1.0)],
)
def test_a_file_with_more_documents_or_mini_batches_than_were_learned_is_refused(
    name: str, of: str, number: float
) -> None:
    """Of 10 documents 8 were learned, in 2 mini-batches, and 2 wait."""
    learner: Any = nr.make(name, k=2, batch=4, native=False).learn(X[:10])
    header, arrays = learner.dump()
    assert (header["state"]["documents"], header["state"]["steps"]) == (8, 2)
    assert pack(type(learner).restore(header, arrays, lambda card: card)) == pack(learner)
    header["state"][of] = number
    message = refusal(lambda: type(learner).restore(header, arrays, lambda card: card))
    assert f"{of} must be a whole number from 1 to 8" in message
