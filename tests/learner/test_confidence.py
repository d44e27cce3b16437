"""How sure a second-order learner is, held against weights drawn from its Gaussian."""

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.stats import norm

import noregret as nr
from noregret.rules.rule_card import RuleCard
from tests.conformance.plays import CARDS, state
from tests.naive import streams
from tests.naive.rules import Array

SECOND_ORDER = [card.name for card in CARDS if card.keeps_covariance]


def matrices(learner: nr.RuleLearner) -> Array:
    """Sigma of every class, whatever of it is kept."""
    sigma = state(learner)["sigma"]
    if sigma.ndim == 2:
        return np.stack([np.diag(row) for row in sigma])
    lower = np.tril(sigma)
    return np.asarray(lower + np.swapaxes(np.tril(sigma, -1), 1, 2))


@pytest.mark.parametrize("kept", ["diagonal", "drop", "full"])
@pytest.mark.parametrize("sparse", [False, True])
def test_it_is_the_normal_probability_of_the_margin(kept: str, sparse: bool) -> None:
    X, y = streams.sparse(200, 6, density=0.6, seed=1)
    learner = nr.make("arow", covariance=kept, native=False).learn(csr_array(X) if sparse else X, y)
    rows, labels = X[:50], y[:50]
    sigma, f = matrices(learner)[0], learner.scores(rows)
    expected = norm.cdf(labels * f / np.sqrt(np.einsum("ni,ij,nj->n", rows, sigma, rows)))
    np.testing.assert_allclose(learner.confidence(rows, labels), expected, rtol=1e-12)
    np.testing.assert_allclose(learner.confidence(rows), np.maximum(expected, 1.0 - expected), rtol=1e-9)


def test_it_is_how_often_drawn_weights_agree() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = rng.integers(0, 3, size=60)
    learner = nr.make("scw1", covariance="full", native=False, classes=[0, 1, 2]).learn(X, y)
    means, sigma = state(learner)["w"], matrices(learner)
    x = X[7]
    drawn = np.stack([rng.multivariate_normal(means[c], sigma[c], size=200_000) @ x for c in range(3)])
    best, rival = np.argsort(-(means @ x))[:2]
    share = float(np.mean(drawn[best] > drawn[rival]))
    assert learner.confidence(x[None])[0] == pytest.approx(share, abs=0.005)


@pytest.mark.parametrize("name", SECOND_ORDER)
def test_every_learner_with_a_covariance_has_it(name: str) -> None:
    X, y = streams.dense(80, 5, 3)
    learner = nr.make(name, native=False).learn(X, y)
    found = learner.confidence(X)
    assert ((found >= 0.5) & (found <= 1.0)).all()
    assert learner.confidence(np.zeros((1, 5))).tolist() == [0.5]


def test_cw_is_as_sure_of_its_round_as_it_was_asked_to_be() -> None:
    X, y = streams.dense(60, 5, 4)
    learner = nr.make("cw", eta=0.8, covariance="full", native=False)
    for t in range(60):
        if learner.play(X[t : t + 1], y[t : t + 1]).updated[0]:
            assert learner.confidence(X[t : t + 1], y[t : t + 1])[0] == pytest.approx(0.8, abs=1e-6)


def test_a_feature_never_seen_makes_it_less_sure() -> None:
    rows = [{"a": 1.0}, {"b": 1.0}] * 5
    learner = nr.make("arow", native=False).learn(rows, [1, -1] * 5)
    known, strange = learner.confidence([{"a": 1.0}, {"a": 1.0, "new": 2.0}])
    assert known > strange > 0.5
    wide = nr.make("arow", native=False, columns="grow").learn(np.eye(2)[[0, 1] * 5], [1, -1] * 5)
    assert wide.confidence([[1.0, 0.0, 2.0]])[0] == pytest.approx(strange)


@pytest.mark.parametrize(
    ("name", "told", "y", "part"),
    [
        ("pa1", {}, None, "keeps no covariance"),
        ("arow", {"task": "regression"}, None, "about labels"),
        ("arow", {}, [5.0, 1.0, 1.0], "not a class"),
        ("arow", {}, [1.0], "3 rows and y has 1"),
    ],
)
def test_what_it_cannot_tell(name: str, told: dict[str, Any], y: Any, part: str) -> None:
    learner = nr.make(name, native=False, **told).learn(np.eye(3), [1.0, -1.0, 1.0])
    with pytest.raises(nr.Error, match=part):
        learner.confidence(np.eye(3), y)


def test_before_any_label_there_is_none() -> None:
    card: RuleCard = nr.learners().rules["arow"]
    with pytest.raises(nr.NotLearned):
        nr.make(card).confidence(np.eye(2))
