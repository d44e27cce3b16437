"""Rerankers follow the protocol of all learners."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import noregret as nr
from tests.conformance.protocol import CHECKS, Case, check_save_and_go_on
from tests.loglinear.lists import hidden_lists, text_lists, varied_lists

HIDDEN, VARIED, TEXTS = hidden_lists(24), varied_lists(24), text_lists(12)
SOURCES = [one["source"] for one in TEXTS[0]]
BAD = [{"f0": float("nan")}, {"f0": 1.0}]
BAD_TEXTS = {"source": "a", "candidates": []}


def make(name: str, **options: Any) -> Callable[[], Any]:
    return lambda: nr.make(name, **options)


def adaptive(**options: Any) -> Callable[[], Any]:
    return make("adaptive_reranker", native=False, **options)


CASES = {
    "ridge": Case(make("ridge_reranker", accumulate="no"), *HIDDEN, BAD),
    "ridge of many features": Case(
        make("ridge_reranker", accumulate="no", mix=0.5, start={}), *VARIED, [{}, {"f": 1e999}]
    ),
    "ridge, accumulated": Case(make("ridge_reranker", accumulate="yes"), *VARIED, [{"a": "b"}]),
    "ridge of texts": Case(make("ridge_reranker", accumulate="yes", forget=0.9), *TEXTS, BAD_TEXTS),
    "log-linear": Case(make("loglinear_reranker"), *HIDDEN, BAD),
    "log-linear of texts": Case(
        make("loglinear_reranker", objective="expected_loss", schedule="inv_mistakes", l2=0.01), *TEXTS, BAD_TEXTS
    ),
    "bayesian": Case(make("bayesian_reranker", samples=20, least=0.7), *VARIED, [{"f0": 1e200}, {"f0": -1e308}]),
    "bayesian grid": Case(make("bayesian_reranker", design="grid", points=3, start={}), *TEXTS, BAD_TEXTS),
    "generative": Case(make("adaptive_reranker", mode="generative"), *TEXTS, BAD_TEXTS),
    "perceptron": Case(adaptive(mode="discriminative", learner="perceptron"), *TEXTS, BAD_TEXTS),
    "perceptron of dicts": Case(adaptive(mode="discriminative", learner="perceptron"), *VARIED, BAD),
    "mira": Case(adaptive(learner="mira"), *TEXTS, BAD_TEXTS),
    "arow, dense": Case(adaptive(learner="arow", sparse="no", competitor="predicted"), *TEXTS, BAD_TEXTS),
    "ridge of all features": Case(adaptive(learner="ridge_reranker(accumulate=no)", sparse="yes"), *TEXTS, BAD_TEXTS),
    "ridge of scores": Case(adaptive(learner="ridge_reranker"), *TEXTS, BAD_TEXTS),
    "lexicon": Case(make("translation_lexicon"), SOURCES, TEXTS[1], ["a", 3]),
    "language model": Case(make("language_model"), TEXTS[1], [0] * 12, ""),
    "unigrams": Case(make("language_model", order=1), SOURCES, [0] * 12, 7),
    "cache": Case(make("recent_cache", tau=3.0, order=2), TEXTS[1], [0] * 12, None),
}


@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
@pytest.mark.thinned(12)
def test_rerankers_follow_the_protocol(case: Case, check: Callable[[Case], None]) -> None:
    check(case)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
@pytest.mark.thinned(4)
def test_rerankers_saved_and_loaded_go_on(case: Case, tmp_path: Path) -> None:
    check_save_and_go_on(case, tmp_path)
