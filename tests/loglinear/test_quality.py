"""BLEU and the words it counts are those of sacrebleu; hand-made cases."""

import math
from typing import Any

import numpy as np
import pytest

from noregret.data.words import split_words
from noregret.errors import Error
from noregret.loglinear import quality
from noregret.loglinear.quality import corpus_bleu, match, sentence_bleu, text_losses

TEXTS = [
    "The dog's house (red, 3,5 m) costs $1.50 - 20% less!",
    "a b c d e",
    "x",
    "&quot;Hello&quot; &amp; good-bye, 3-4 times; it's 1,000.",
    'He said: "no"... twice/thrice [sic] {a} ~b^ `c`',
    "Zwei Männer — stehen am Herd.",
    "end.",
    "10.5.2024 at 10:30",
]


def random_texts(rng: np.random.Generator, count: int) -> list[str]:
    words = ["a", "b", "c", "d,", "e.", "3", "f-g"]
    return [" ".join(words[k] for k in rng.integers(len(words), size=rng.integers(1, 9))) for _ in range(count)]


@pytest.fixture(scope="module")
def sacrebleu() -> Any:
    return pytest.importorskip("sacrebleu.metrics")


def test_words_are_those_of_the_standard(sacrebleu: Any) -> None:
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

    for text in [*TEXTS, *random_texts(np.random.default_rng(0), 50)]:
        assert list(split_words(text)) == Tokenizer13a()(text).split()


def test_sentence_bleu_is_that_of_sacrebleu_with_one_added(sacrebleu: Any) -> None:
    metric = sacrebleu.BLEU(smooth_method="add-k", smooth_value=1, effective_order=False)
    rng = np.random.default_rng(1)
    for text, reference in zip(random_texts(rng, 300), random_texts(rng, 300), strict=True):
        expected = metric.sentence_score(text, [reference]).score / 100.0
        assert sentence_bleu(text, reference) == pytest.approx(expected, abs=1e-9)


def test_corpus_bleu_is_that_of_sacrebleu(sacrebleu: Any) -> None:
    rng = np.random.default_rng(2)
    texts, references = random_texts(rng, 200), random_texts(rng, 200)
    found = corpus_bleu(match(split_words(a), split_words(b)) for a, b in zip(texts, references, strict=True))
    assert 100 * found == pytest.approx(sacrebleu.BLEU().corpus_score(texts, [references]).score, abs=1e-9)


def test_bleu_by_hand() -> None:
    """3 of 4 words, (2+1) of (3+1) pairs, (1+1) of (2+1) triples, (0+1) of (1+1) quadruples; the same length."""
    assert sentence_bleu("a b c x", "a b c d") == pytest.approx((3 / 4 * 3 / 4 * 2 / 3 * 1 / 2) ** 0.25)
    assert sentence_bleu("a b", "a b c d") == pytest.approx(math.exp(1 - 4 / 2))
    assert sentence_bleu("a b c d", "a b c d") == 1.0
    assert sentence_bleu("a a a a", "a b") == pytest.approx((1 / 4 * 1 / 4 * 1 / 3 * 1 / 2) ** 0.25)
    assert sentence_bleu("x y", "a b") == sentence_bleu("", "a b") == 0.0


def test_losses_are_one_minus_bleu_or_the_edit_rate(sacrebleu: Any) -> None:
    texts, reference = ["a b c", "a c b", ""], "a b c"
    assert text_losses(texts, reference, "bleu").tolist() == [1.0 - sentence_bleu(text, reference) for text in texts]
    assert text_losses(texts, reference, "ter") == pytest.approx([0.0, 1 / 3, 1.0])


def test_without_sacrebleu_the_edit_rate_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: str) -> Any:
        raise Error("pip install 'noregret[translation]'")

    monkeypatch.setattr(quality, "import_extra", missing)
    with pytest.raises(Error, match="translation"):
        text_losses(["a"], "a", "ter")
