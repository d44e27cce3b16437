"""Every update takes the step of its paper toward a validated pair."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from noregret.neural.translation.adaptation import check_pair
from noregret.neural.translation.tensors import torch
from noregret.neural.translation.updates import OPTIMIZERS, Round, clip
from tests.attacks.cut_off import check_calls_are_kept
from tests.conformance.protocol import state
from tests.naive.translation import Updates
from tests.neural.translation.tiny import OPTIMIZERS as NAMES
from tests.neural.translation.tiny import X, Y, translator
from tests.support.cover import only_in_test_all
from tests.support.interrupts import interrupted_at_every_line

RATES = {"sgd": 0.1, "adagrad": 0.1, "adadelta": 1.0, "adam": 0.02, "pa": 0.1}  # larger than usual: rounds are few
every_update = pytest.mark.parametrize("name", NAMES)


def gradient_of(learner: Any, x: str, y: str) -> tuple[float, Any]:
    pair = check_pair(learner.vocabulary, x, y, "here")
    loss, _, gradient = learner.adaptation.differentiate(learner.state.vector, *pair)
    return loss, gradient


@every_update
def test_updates_are_those_of_the_papers(name: str) -> None:
    rng, optimizer = np.random.default_rng(0), OPTIMIZERS[name]
    w = torch().tensor(rng.normal(size=6))
    kept: Mapping[str, Any] = {key: one.double() for key, one in optimizer.start(6).items()}
    twin, expected = Updates(name, 0.3, 6), w.tolist()
    for t in range(1, 9):
        g = torch().tensor(rng.normal(size=6))
        w, kept = optimizer.update(Round(0.3, t, 1.5, float(g @ g)), w, g, kept)
        expected = twin.move(expected, g.tolist(), 1.5)
        np.testing.assert_allclose(w.numpy(), expected, rtol=1e-12)


@every_update
def test_a_round_is_one_step_along_the_gradient_of_the_loss(name: str) -> None:
    learner = translator(optimizer=name, clip=1.0)
    loss, gradient = gradient_of(learner, X[0], Y[0])
    assert float(gradient.norm()) > 1.0
    direction = gradient / gradient.norm()
    twin = Updates(name, learner.adaptation.eta, learner.sizes.count)
    expected = twin.move(learner.state.vector.tolist(), direction.tolist(), loss / float(gradient.norm()))
    learner.learn_one(X[0], Y[0])
    np.testing.assert_allclose(learner.state.vector.numpy(), expected, atol=1e-6)
    assert learner.updates == 1


@every_update
def test_the_loss_of_the_pair_just_learned_falls(name: str) -> None:
    learner = translator(optimizer=name)
    for x, y in zip(X[:5], Y[:5], strict=True):
        before = learner.score(x, y)
        assert learner.learn_one(x, y).score(x, y) > before


@every_update
def test_a_translator_learns_to_translate(name: str) -> None:
    learner = translator(optimizer=name, eta=RATES[name])
    before = sum(learner.score(x, y) for x, y in zip(X[:8], Y[:8], strict=True))
    learner.learn(X, Y)
    assert sum(learner.score(x, y) for x, y in zip(X[:8], Y[:8], strict=True)) > 0.6 * before


@pytest.mark.parametrize("clipped", [0.0, 1.0])
def test_passive_aggressive_steps_reach_the_margin_where_the_loss_is_linear(clipped: float) -> None:
    margin = 5.0
    learner = translator(optimizer="pa", eta=1e6, margin=margin, clip=clipped)
    loss, gradient = gradient_of(learner, X[0], Y[0])
    allowed = margin * (len(learner.vocabulary.encode(Y[0])) + 1)
    assert loss > allowed
    before = learner.state.vector
    step = learner.learn_one(X[0], Y[0]).state.vector - before
    assert loss + float(step @ gradient) == pytest.approx(allowed, rel=1e-4)
    along = float(step @ gradient) / float(step.norm() * gradient.norm())
    assert along == pytest.approx(-1.0, abs=1e-5)  # no shorter step reaches the margin


def test_passive_aggressive_steps_are_no_larger_than_eta() -> None:
    learner = translator(optimizer="pa", eta=0.01, clip=0.0)
    _, gradient = gradient_of(learner, X[0], Y[0])
    before = learner.state.vector
    step = learner.learn_one(X[0], Y[0]).state.vector - before
    np.testing.assert_allclose(step.numpy(), (-0.01 * gradient).numpy(), atol=1e-6)


def test_passive_aggressive_rounds_below_the_margin_change_nothing() -> None:
    learner = translator(optimizer="pa", margin=1e3)
    before = learner.state
    transcript = learner.play(X[:2], Y[:2])
    assert learner.state is before
    assert learner.updates == np.count_nonzero(transcript.updated) == 0


@pytest.mark.parametrize("trains", ["decoder", "embeddings"])
@every_update
def test_frozen_weights_do_not_change(trains: str, name: str) -> None:
    learner = translator(optimizer=name, trains=trains)
    before = {key: one.clone() for key, one in learner.matrices.items()}
    learner.learn(X[:3], Y[:3])
    for key, one in learner.matrices.items():
        assert bool((one == before[key]).all()) == (not key.startswith(trains)), key


def test_clipping_shortens_and_never_turns() -> None:
    g = torch().tensor([3.0, -4.0])
    for most in (1.0, 4.9):
        np.testing.assert_allclose(clip(g, most).numpy(), [0.6 * most, -0.8 * most], rtol=1e-6)
    assert clip(g, 5.0) is g
    assert clip(g, 0.0) is g


def test_another_optimizer_begins_without_what_the_first_kept() -> None:
    learner = translator(optimizer="adagrad").learn(X[:2], Y[:2])
    other = learner.with_options(optimizer="adam")
    assert bool((other.state.vector == learner.state.vector).all())
    assert other.state.steps == 0
    assert not any(bool(one.any()) for one in other.state.kept.values())
    same = learner.with_options(eta=0.5, beam=1)
    assert same.state is learner.state
    assert same.params["eta"] == 0.5


@pytest.mark.parametrize(
    "file", ["translation/translator.py", pytest.param("translation/adaptation.py", marks=only_in_test_all)]
)
def test_a_call_that_is_cut_off_changes_all_or_nothing(file: str) -> None:
    start = translator(optimizer="adam", beam=1).learn(X[:1], Y[:1])

    def prepare() -> tuple[Any, Any]:
        learner = start.copy()
        return learner, lambda: learner.learn(X[1:3], Y[1:3])

    allowed = {state(start), state(start.copy().learn(X[1:3], Y[1:3]))}
    assert len(allowed) == 2
    count = 0
    for learner in interrupted_at_every_line(prepare, file, KeyboardInterrupt):
        count += 1
        assert state(learner) in allowed, f"line {count}"
    assert count > 30


def test_what_is_learned_just_before_a_change_begins_is_kept() -> None:
    def make() -> Any:
        return translator(optimizer="sgd")

    check_calls_are_kept(make, lambda one: one.learn_one(X[0], Y[0]), lambda one: one.learn_one(X[1], Y[1]))
