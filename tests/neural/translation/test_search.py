"""Searches find the most probable translations, and those that begin as they are told."""

from itertools import product
from typing import Any

import numpy as np
import pytest

from noregret.neural.translation.search import Beam, Found, Start, beam_search, greedy_batch
from noregret.neural.translation.sizes import Sizes
from noregret.neural.translation.tensors import torch
from noregret.neural.translation.transformer import log_probabilities
from noregret.neural.translation.vocabulary import BEGIN, END
from tests.neural.translation.tiny import X, Y, translator

SIZES = Sizes(pieces=7, width=8, heads=2, hidden=5, encoder=1, decoder=1)
USED = (4, 5, 6)  # the other pieces are marks
SOURCE = [5, 4, 6]
LONGEST = 3


def weights(seed: int) -> Any:
    noise = torch().randn(SIZES.count, generator=torch().Generator().manual_seed(seed), dtype=torch().float64)
    return SIZES.views(SIZES.draw(seed).double() + 0.5 * noise)


def logarithm(w: Any, pieces: tuple[int, ...]) -> float:
    """log p of a translation and its end."""
    target = torch().tensor([BEGIN, *pieces, END])
    found = log_probabilities(w, SIZES, torch().tensor([*SOURCE, END]), target)
    return float(found.gather(-1, target[1:, None]).sum())


def all_translations(w: Any, beginning: tuple[int, ...] = ()) -> list[Found]:
    every = [rest for length in range(LONGEST + 1 - len(beginning)) for rest in product(USED, repeat=length)]
    return [Found((*beginning, *rest), logarithm(w, (*beginning, *rest))) for rest in every]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("alpha", [0.0, 1.0])
@pytest.mark.parametrize("beginning", [(), (6,), (4, 4)])
def test_a_wide_beam_finds_what_trying_all_translations_finds(
    seed: int, alpha: float, beginning: tuple[int, ...]
) -> None:
    w = weights(seed)
    expected = sorted(all_translations(w, beginning), key=lambda one: -one.score(alpha))
    found = beam_search(w, SIZES, SOURCE, Beam(64, alpha, LONGEST), Start(beginning))
    assert [one.pieces for one in found] == [one.pieces for one in expected]
    np.testing.assert_allclose([one.logarithm for one in found], [one.logarithm for one in expected], atol=1e-10)


@pytest.mark.parametrize("seed", range(4))
def test_a_beam_of_one_is_greedy(seed: int) -> None:
    w, pieces = weights(seed), list[int]()
    for _ in range(LONGEST):
        target = torch().tensor([BEGIN, *pieces, END])
        scores = log_probabilities(w, SIZES, torch().tensor([*SOURCE, END]), target)[-1]
        best = max((END, *USED), key=lambda piece, scores=scores: float(scores[piece]))  # type: ignore[misc]
        if best == END:
            break
        pieces.append(best)
    assert beam_search(w, SIZES, SOURCE, Beam(1, 1.0, LONGEST))[0].pieces == tuple(pieces)
    assert greedy_batch(w, SIZES, [[4], SOURCE], LONGEST)[1] == pieces


@pytest.mark.parametrize("width", [1, 2, 5])
def test_scores_are_those_of_the_translations_found(width: int) -> None:
    w = weights(2)
    for one in beam_search(w, SIZES, SOURCE, Beam(width, 0.6, LONGEST)):
        assert one.logarithm == pytest.approx(logarithm(w, one.pieces), abs=1e-10)
        assert len(one.pieces) <= LONGEST


def plain_beam_search(w: Any, width: int) -> set[tuple[int, ...]]:
    """The translations that a beam finds, every prefix scored anew; one ends if its end is among the best steps."""
    live: list[tuple[tuple[int, ...], float]] = [((), 0.0)]
    done = set[tuple[int, ...]]()
    for length in range(LONGEST + 1):
        steps = []
        for pieces, _ in live:
            target = torch().tensor([BEGIN, *pieces, END])
            scores = log_probabilities(w, SIZES, torch().tensor([*SOURCE, END]), target)
            before = float(scores[:-1].gather(-1, target[1:-1, None]).sum())
            steps += [((*pieces, piece), before + float(scores[-1, piece])) for piece in (END, *USED)]
        if length == LONGEST:
            steps = [one for one in steps if one[0][-1] == END]
        steps.sort(key=lambda one: -one[1])
        done |= {pieces[:-1] for pieces, _ in steps[:width] if pieces[-1] == END}
        live = [one for one in steps[: 2 * width] if one[0][-1] != END][:width]
        if len(done) >= width or not live:
            break
    return done


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("width", [1, 2, 3])
def test_a_beam_finds_what_a_plain_one_finds(seed: int, width: int) -> None:
    w = weights(seed)
    found = beam_search(w, SIZES, SOURCE, Beam(width, 1.0, LONGEST))
    assert {one.pieces for one in found} == plain_beam_search(w, width)


def test_the_best_translations_are_different_and_in_order() -> None:
    learner = translator(beam=4).learn(X[:20], Y[:20])
    found = learner.n_best(X[0], 12)
    assert len({one.text for one in found}) == len(found) > 1
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    for one in found:
        assert one.score == pytest.approx(one.logarithm / (len(one.pieces) + 1))
    assert learner.n_best(X[0], 4)[0].text == learner.predict_one(X[0])


def test_a_translation_is_completed_from_its_beginning() -> None:
    learner = translator().learn(X[:20], Y[:20])
    for words in ("der alte Hund", "ein", "Über 3 Katzen", "日本"):
        found = learner.complete(X[0], words)
        assert found == words or found.startswith(f"{words} "), found
    assert learner.complete(X[0], "") == learner.predict_one(X[0])


def test_an_empty_sentence_stays_empty() -> None:
    learner = translator()
    assert learner.predict(["", "  \n"]).tolist() == ["", ""]
    assert [one.text for one in learner.n_best("", 3)] == [""]
