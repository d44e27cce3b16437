"""Steps from outside: a signed example and a required margin that were computed elsewhere."""

from pathlib import Path

import numpy as np
import pytest

import noregret as nr

RULES = ["perceptron", "pa1", "pa2", "arow", "scw1", "ogd", "adagrad", "perceptron_averaged"]
RNG = np.random.default_rng(1)
Z, REQUIRED = RNG.normal(size=(60, 5)), RNG.uniform(0.5, 3.0, size=60)


def test_pa1_takes_the_step_that_reaches_the_required_margin() -> None:
    learner = nr.make("pa1", task="structured", C=100.0)
    assert learner.step({"a": 1.0, "b": -2.0}, margin=3.0)
    assert learner.scores_one({"a": 1.0, "b": -2.0}) == pytest.approx(3.0)
    assert not learner.step({"a": 1.0, "b": -2.0}, margin=2.5)
    assert (learner.rounds, learner.updates, learner.mistakes) == (2, 1, 1)


@pytest.mark.parametrize("name", RULES)
def test_steps_are_the_batch_and_a_saved_learner_goes_on(name: str, tmp_path: Path) -> None:
    batch = nr.make(name, task="structured", native=False).learn(Z, REQUIRED)
    loop = nr.make(name, task="structured", native=False)
    for z, margin in zip(Z[:30], REQUIRED[:30], strict=True):
        loop.step(z, margin)
    loop.save(tmp_path / "m.nr")
    loop = nr.load(tmp_path / "m.nr")
    for z, margin in zip(Z[30:], REQUIRED[30:], strict=True):
        loop.step(z, margin)
    assert loop.scores(Z).tolist() == batch.scores(Z).tolist()
    assert (loop.rounds, loop.updates, loop.mistakes) == (batch.rounds, batch.updates, batch.mistakes)


@pytest.mark.parametrize("name", ["perceptron", "pa1", "pa2", "arow", "scw1", "ogd", "adagrad"])
def test_the_signed_example_of_a_multiclass_round_gives_the_multiclass_learner(name: str) -> None:
    """z = Psi(x, truth) - Psi(x, best other class), computed here, leads to the same scores."""
    X, y = RNG.normal(size=(80, 3)), RNG.integers(3, size=80)
    many = nr.make(name, task="multiclass", classes=[0, 1, 2], native=False).learn(X, y)
    follows = {"C": 0.0} if name in ("pa1", "pa2") else {}
    own = nr.make(name, task="structured", native=False, **follows)
    for x, truth in zip(X, y, strict=True):
        blocks = np.zeros((3, 9))
        for c in range(3):
            blocks[c, 3 * c : 3 * c + 3] = x
        scores = own.scores(blocks) if own.rounds else np.zeros(3)
        rival = max((c for c in range(3) if c != truth), key=lambda c, f=scores: (f[c], -c))  # type: ignore[misc]
        own.step(blocks[truth] - blocks[rival])
    found = own.scores(np.vstack([np.eye(9)[3 * c : 3 * c + 3] for c in range(3)])).reshape(3, 3)
    np.testing.assert_allclose(found.T, many.scores(np.eye(3)), rtol=1e-9, atol=1e-11)


def test_the_loss_of_a_round_is_that_of_the_margin_it_missed() -> None:
    transcript = nr.make("pa1", task="structured").play(Z[:3], [2.0, 1.0, 0.5])
    assert transcript.losses[0] == 2.0
    np.testing.assert_allclose(transcript.losses, np.maximum(0.0, [2.0, 1.0, 0.5] - transcript.scores))


def test_bad_steps_are_refused_and_change_nothing() -> None:
    learner = nr.make("pa1", task="structured").learn(Z)
    before = learner.scores(Z).tolist()
    for z, margin in (({0: np.nan}, 1.0), ({0: 1.0}, np.inf), (np.ones((2, 5)), 1.0)):
        with pytest.raises(nr.BadValue):
            learner.step(z, margin)
    assert (learner.scores(Z).tolist(), learner.rounds) == (before, 60)
    with pytest.raises(nr.BadValue, match='made with task="structured"'):
        nr.make("pa1").step({"a": 1.0})
    with pytest.raises(nr.BadValue, match="cannot play structured"):
        nr.make("mira", task="structured")
