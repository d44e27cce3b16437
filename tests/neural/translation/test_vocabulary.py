"""Every sentence has pieces, and they give it back."""

import unicodedata

import pytest

from noregret.neural.translation.vocabulary import END, Vocabulary
from tests.neural.translation.tiny import X, Y, vocabulary


@pytest.mark.parametrize(
    "text",
    ["the old dog", "Grüße", "日本語 🎉", "ﬁ ½ \u202e\u200b", "<s> </s> <unk> <0x41>", "a\u0301", "\x00\x07", "_ \\"],
)
def test_pieces_give_a_sentence_back(text: str) -> None:
    found = vocabulary()
    pieces = found.encode(text)
    assert all(END < one < found.size for one in pieces)
    assert found.encode(found.decode(pieces)) == pieces
    assert found.decode(pieces) == unicodedata.normalize("NFC", text)


def test_spaces_and_ways_to_write_an_accent_make_no_difference() -> None:
    found = vocabulary()
    assert found.encode(" the \t old\ndog ") == found.encode("the old dog")
    assert found.encode("ho\u0308rt") == found.encode("hört")
    assert found.encode("the\u2581dog") == found.encode("the dog")
    assert found.encode("") == found.encode(" \n") == []


def test_frequent_words_are_single_pieces_and_the_same_sentences_give_the_same_vocabulary() -> None:
    found = vocabulary(400)
    assert [found.piece(one) for one in found.encode("the dog sees")] == ["▁the", "▁dog", "▁sees"]
    assert Vocabulary.learn([*X, *Y], 400).content == found.content
