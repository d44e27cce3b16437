"""Measures of translations, by hand."""

import math

import pytest

from noregret.neural.translation.measures import bleu, count_strokes, ter
from tests.neural.translation.tiny import X, Y, translator
from tests.support import refusal


def test_bleu_is_the_geometric_mean_of_precisions() -> None:
    found, reference = "a b c d e x", "a b c d e f"
    expected = 100.0 * (5 / 6 * 4 / 5 * 3 / 4 * 2 / 3) ** 0.25
    assert bleu([found], [reference]) == pytest.approx(expected)
    assert bleu(["a b c d e"], [reference]) == pytest.approx(100.0 * math.exp(1.0 - 6.0 / 5.0))


def test_ter_counts_the_edits() -> None:
    assert ter(["a b c x"], ["a b c d e"]) == pytest.approx(100.0 * 2 / 5)
    assert ter(Y, Y) == 0.0
    assert bleu(Y, Y) == pytest.approx(100.0)


def test_texts_of_different_lengths_are_refused() -> None:
    assert "must match" in refusal(lambda: bleu(Y[:2], Y[:3]))


class Fixed:
    """Goes on with the words of a translation that are still missing, by their number."""

    def __init__(self, text: str) -> None:
        self.words = text.split()

    def predict_one(self, x: str) -> str:
        return " ".join(self.words)

    def complete(self, sentence: str, beginning: str) -> str:
        given = beginning.split()
        return " ".join([*given, *self.words[len(given) :]])


@pytest.mark.parametrize(
    ("told", "reference", "strokes"),
    [
        ("a b c", "a b c", 0), ("a x c", "a b c", 1), ("x y z", "a b c", 3), ("a b c d e", "a b c", 1),
        ("a b", "a b c", 1), ("", "a b", 2), ("a x c d", "a b c", 2),
    ],
)  # fmt: skip
def test_strokes_are_the_words_that_a_user_types(told: str, reference: str, strokes: int) -> None:
    assert count_strokes(Fixed(told), "any", reference) == strokes


def test_a_translator_that_has_learned_saves_strokes() -> None:
    fresh = translator(eta=0.1, beam=1)
    before = [count_strokes(fresh, x, y) for x, y in zip(X[:3], Y[:3], strict=True)]
    assert all(0 < one <= len(y.split()) + 1 for one, y in zip(before, Y[:3], strict=True))
    fresh.learn(X * 2, Y * 2)
    after = [count_strokes(fresh, x, y) for x, y in zip(X[:3], Y[:3], strict=True)]
    assert sum(after) < 0.6 * sum(before)
