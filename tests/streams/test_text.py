"""TextBlocks of a label and a text."""

from pathlib import Path
from typing import Any

import pytest

import noregret as nr
from noregret.errors import BadValue
from noregret.features.cells import split_words
from noregret.streams import Cursor, open_source

LINES = [
    ("ham", 'He said "go until jurong point'),
    ("spam", "WIN!! a\tprize, WIN"),
    ("7", ""),
    ("2.5", "größe"),
] * 40


def written(folder: Path, text: str | bytes | None = None) -> Path:
    path = folder / "t.txt"
    made = "".join(f"{label}\t{text}\n" for label, text in LINES) if text is None else text
    path.write_bytes(made.encode() if isinstance(made, str) else made)
    return path


def rows_of(batches: Any) -> list[tuple[dict[str, float], Any, int]]:
    found = []
    for batch in batches:
        block, names = batch.X.block, batch.X.names
        for row, (a, b) in enumerate(zip(block.indptr[:-1].tolist(), block.indptr[1:].tolist(), strict=True)):
            pairs = zip(block.idx[a:b].tolist(), block.val[a:b].tolist(), strict=True)
            found.append(({names[j]: v for j, v in pairs}, batch.y[row], int(batch.lines[row])))
    return found


def wanted(grams: int) -> list[tuple[dict[str, float], Any, int]]:
    labels = {"7": 7, "2.5": 2.5}
    return [
        (
            {word: float(split_words(text, grams).count(word)) for word in split_words(text, grams)},
            labels.get(label, label),
            n,
        )
        for n, (label, text) in enumerate(LINES, 1)
    ]


@pytest.mark.parametrize("grams", [1, 2])
def test_every_word_is_counted_and_quotes_mean_nothing(tmp_path: Path, grams: int, monkeypatch: Any) -> None:
    path = written(tmp_path)
    assert rows_of(open_source(path, format="text", ngrams=grams)) == wanted(grams)
    monkeypatch.setattr("noregret.streams.text.ROWS", 7)
    cursor, passed = Cursor(), 0
    for batch in open_source(path, format="text", ngrams=grams):
        cursor.advance(batch)
        passed += batch.rows
        if passed == 35:
            rest = Cursor(**cursor.dump()).resume(open_source(path, format="text", ngrams=grams))
            assert rows_of(rest) == wanted(grams)[35:]
    assert passed == len(LINES)


def test_what_is_wrong_is_told_or_skipped(tmp_path: Path) -> None:
    for line, words in (
        (b"no tab here", "there is no tab between a label and a text"),
        (b"\tno label", "the label is empty"),
        (b"nan\tx", "the label is nan"),
        (b"a\t\xff", "byte 3 of the line is not text"),
    ):
        path = written(tmp_path, b"a\tx one\n\n" + line + b"\r\nb\ttwo\n")
        with pytest.raises(BadValue, match=f"t.txt:3: {words}"):
            list(open_source(path, format="text"))
        source = open_source(path, format="text", on_bad="skip")
        assert [line for _, _, line in rows_of(source)] == [1, 4]
        assert source.skipped == 1
    with pytest.raises(BadValue, match="the label 'a' is not a number"):
        list(open_source(written(tmp_path, "a\tx\n"), format="text", targets=True))


def test_texts_to_predict_need_no_label(tmp_path: Path) -> None:
    learner = nr.make("arow")
    nr.play(open_source(written(tmp_path, "ham\thello you\nspam\twin win\n" * 5), format="text"), learner)
    (batch,) = open_source(written(tmp_path, "you there\nwin now\n"), format="text", labelled=False)
    assert batch.y is None
    assert learner.predict(batch.X).tolist() == ["ham", "spam"]
