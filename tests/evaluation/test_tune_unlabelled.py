"""Learners without labels are tuned by their losses, on rows alone."""

from typing import Any

import numpy as np
import pytest

import noregret as nr
from tests.support import refusal

ROWS = np.random.default_rng(0).normal(size=(40, 3))
KINDS = {"k": [1, 2]}


@pytest.mark.parametrize("source", [ROWS, (ROWS, None), [{"a": x} for x in ROWS[:, 0].tolist()]])
def test_rows_alone_are_a_source_for_learners_without_labels(source: Any) -> None:
    found = nr.tune(source, "oja", {"eta": [1.0, 10.0]})
    losses = [result.entry.loss for result in found]
    assert losses == sorted(losses)
    assert found.first.entry.loss == nr.play(source, nr.make("oja", **found.parameters))["loss"]


def test_the_best_of_a_split_has_the_smallest_loss_on_rows_that_it_did_not_learn() -> None:
    found = nr.tune(ROWS, "mixture", KINDS, method="split", validation=10)
    for result in found:
        learner: Any = nr.make("mixture", **result.parameters).learn(ROWS[:30])
        assert result.entry.held_out is not None
        assert result.entry.held_out["mean_loss"] == pytest.approx(-learner.log_density(ROWS[30:]).mean())
    assert [one.sort_key for one in found] == sorted(one.sort_key for one in found)
    by_metric = nr.tune(ROWS, "mixture", KINDS, method="split", validation=10, metric="mean_loss")
    assert by_metric.parameters == found.parameters


@pytest.mark.parametrize(
    ("source", "learners", "words"),
    [
        (ROWS, ["oja", "mixture"], "losses of oja (squared distances) and of mixture (minus log-densities) cannot"),
        ((ROWS, [0, 1] * 20), ["arow", "oja"], "arow plays binary, oja plays unsupervised; tune them apart"),
        (ROWS, "arow", 'learners such as "svd" or set task="unsupervised"'),
        ((ROWS, None), "arow", 'learners such as "svd" or set task="unsupervised"'),
    ],
)
def test_what_cannot_be_compared_is_refused(source: Any, learners: Any, words: str) -> None:
    assert words in refusal(lambda: nr.tune(source, learners))
