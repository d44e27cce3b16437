"""The network computes what its paper says, and its gradient is that of the loss."""

from typing import Any

import numpy as np
import pytest

from noregret.neural.translation.adaptation import Adaptation, check_pair
from noregret.neural.translation.sizes import Sizes
from noregret.neural.translation.tensors import torch
from noregret.neural.translation.training import fill_up
from noregret.neural.translation.transformer import begin, decode, encode, extend, log_probabilities
from noregret.neural.translation.vocabulary import BEGIN, END
from tests.naive import translation as naive
from tests.neural.translation.tiny import X, Y, translator

SIZES = Sizes(pieces=9, width=8, heads=2, hidden=5, encoder=2, decoder=2)
SOURCE, TARGET = [5, 8, 4, 6, END], [BEGIN, 7, 5, 5, 8, END]


def weights(sizes: Sizes = SIZES, seed: int = 1) -> Any:
    """Random weights in double precision, with gains and shifts that are not 1 and 0."""
    noise = torch().randn(sizes.count, generator=torch().Generator().manual_seed(seed), dtype=torch().float64)
    return sizes.draw(seed).double() + 0.2 * noise


def views(vector: Any) -> Any:
    return SIZES.views(vector)


def test_the_network_is_that_of_the_paper() -> None:
    w = views(weights())
    found = log_probabilities(w, SIZES, torch().tensor(SOURCE), torch().tensor(TARGET))
    expected = naive.log_probabilities({name: one.numpy() for name, one in w.items()}, 2, SOURCE, TARGET[:-1])
    np.testing.assert_allclose(found.numpy(), expected, atol=1e-12)


def test_probabilities_of_a_place_sum_to_one() -> None:
    found = log_probabilities(views(weights()), SIZES, torch().tensor(SOURCE), torch().tensor(TARGET))
    np.testing.assert_allclose(found.exp().sum(-1).numpy(), 1.0, atol=1e-12)


@pytest.mark.parametrize("changed", range(1, len(TARGET) - 1))
def test_a_piece_changes_nothing_before_it(changed: int) -> None:
    w, other = views(weights()), list(TARGET)
    other[changed] = 4
    one, two = (log_probabilities(w, SIZES, torch().tensor(SOURCE), torch().tensor(y)) for y in (TARGET, other))
    assert bool((one[:changed] == two[:changed]).all())
    assert not bool((one[changed] == two[changed]).any())


def test_one_piece_after_the_other_is_the_same_as_all_at_once() -> None:
    w = views(weights())
    expected = log_probabilities(w, SIZES, torch().tensor(SOURCE), torch().tensor(TARGET))
    prefixes = begin(w, SIZES, torch().tensor(SOURCE))
    for t, piece in enumerate(TARGET[:-1]):
        found, prefixes = extend(w, SIZES, prefixes, torch().tensor([piece]))
        np.testing.assert_allclose(found[0].numpy(), expected[t].numpy(), atol=1e-12)


def test_what_fills_up_a_batch_changes_nothing() -> None:
    w, short = views(weights()), [6, END]
    memory, allowed = encode(w, SIZES, fill_up([SOURCE, short]))
    both = decode(w, SIZES, torch().tensor([TARGET[:-1]] * 2), memory, allowed).log_softmax(-1)
    for row, source in enumerate((SOURCE, short)):
        alone = log_probabilities(w, SIZES, torch().tensor(source), torch().tensor(TARGET))
        np.testing.assert_allclose(both[row].numpy(), alone.numpy(), atol=1e-12)


@pytest.mark.parametrize("trains", ["all", "decoder", "embeddings"])
def test_the_gradient_is_that_of_finite_differences(trains: str) -> None:
    options = {"optimizer": "sgd", "eta": 0.0, "clip": 0.0, "margin": 0.0, "trains": trains}
    adaptation, vector, h = Adaptation.of(SIZES, options), weights(), 1e-6
    source, target = SOURCE[:-1], TARGET[1:-1]
    _, _, gradient = adaptation.differentiate(vector, source, target)
    rng = np.random.default_rng(0)
    trained = [i for name, one in number_views().items() if name in adaptation.trained for i in one]
    for i in map(int, [*rng.choice(trained, 10), *rng.choice(SIZES.count, 6)]):
        losses = []
        for sign in (1.0, -1.0):
            moved = vector.clone()
            moved[i] += sign * h
            losses.append(adaptation.differentiate(moved, source, target)[0])
        expected = (losses[0] - losses[1]) / (2.0 * h) if i in trained else 0.0
        assert float(gradient[i]) == pytest.approx(expected, abs=1e-6)


def number_views() -> dict[str, list[int]]:
    """The places in the vector of every matrix."""
    return {name: one.flatten().tolist() for name, one in SIZES.views(torch().arange(SIZES.count)).items()}


def test_the_loss_is_that_of_the_pieces_and_the_end() -> None:
    learner = translator()
    source, target = check_pair(learner.vocabulary, X[0], Y[0], "here")
    w = {name: one.double().numpy() for name, one in learner.matrices.items()}
    found = naive.log_probabilities(w, 2, [*source, END], [BEGIN, *target])
    expected = sum(found[t, piece] for t, piece in enumerate([*target, END]))
    assert learner.score(X[0], Y[0]) == pytest.approx(expected, rel=1e-5)
    assert learner.play(X[:1], Y[:1]).losses[0] == pytest.approx(-expected, rel=1e-5)
