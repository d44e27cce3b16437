"""Words are counted as scikit-learn counts them, whatever the texts and however they are cut."""

import json
import random
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.feature_extraction.text import CountVectorizer

import noregret as nr
from noregret.errors import BadValue
from noregret.features.cells import split_words
from noregret.rules.specialize import rebind, specializer
from noregret.streams import open_source, words, words_text
from noregret.streams.words import WordCounter

TEXTS = [
    "The quick brown fox jumps over the lazy dog, the dog!",
    "",
    "a I x y z",
    "under_score and 1st 22nd; e-mail: me@example.com",
    "Größe GRÖSSE größe straße İstanbul naïve café — “quotes” … 東京 です ñ é",
    "don't stop; it's o'clock",
    "tabs\tand\nnewlines\r\nand\x00zeros",
    "x" * 300 + " " + "y" * 17,
    "same same same same",
    "😀 emoji😀between words😀",
]

plain_text = specializer(words_text.REPLACED, rebind, "words")(words_text.count_words)


def interpreted(table: np.ndarray, buffer: np.ndarray, ends: np.ndarray, out: Any, known: Any) -> None:
    """The text of the counter in plain Python."""
    with np.errstate(over="ignore"):
        plain_text(buffer, ends, out, known, table)


def as_dicts(counter: WordCounter, texts: list[str], names: list[str]) -> list[dict[str, float]]:
    counts = counter.count(texts)
    positions = {number: at for at, number in reversed(list(enumerate(counts.numbers.tolist())))}
    assert counts.first.tolist() == [positions[len(names) + new] for new in range(len(counts.new_words))]
    names += counts.new_words
    return [
        {names[j]: value for j, value in zip(counts.numbers[a:b].tolist(), counts.counts[a:b].tolist(), strict=True)}
        for a, b in zip(counts.offsets[:-1].tolist(), counts.offsets[1:].tolist(), strict=True)
    ]


def oracle(texts: list[str], grams: int) -> list[dict[str, float]]:
    vectorizer = CountVectorizer(ngram_range=(1, grams))
    try:
        counts = vectorizer.fit_transform(texts).tocsr()
    except ValueError:
        return [{} for _ in texts]
    names = vectorizer.get_feature_names_out()
    return [
        {names[j]: float(v) for j, v in zip(row.indices.tolist(), row.data.tolist(), strict=True)} for row in counts
    ]


def by_hand(one: str, grams: int) -> dict[str, float]:
    found: dict[str, float] = {}
    for word in split_words(one, grams):
        found[word] = found.get(word, 0.0) + 1.0
    return found


@pytest.mark.parametrize("grams", [1, 2, 3])
@pytest.mark.parametrize("compiled", [True, False])
def test_words_are_counted_as_by_scikit_learn(compiled: bool, grams: int) -> None:
    counter = WordCounter(grams, None if compiled else interpreted)
    found = as_dicts(counter, TEXTS, [])
    assert found == oracle(TEXTS, grams)
    assert found == [by_hand(one, grams) for one in TEXTS]


@pytest.mark.parametrize("cut", [1, 3, 1000])
def test_random_texts_in_any_pieces(cut: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "FEW", 4)
    monkeypatch.setattr(words, "BLOCK_BYTES", 50 * cut)
    rng = random.Random(cut)
    alphabet = "abcAB01_ .,;-\n\té東ß"
    texts = ["".join(rng.choices(alphabet, k=rng.randrange(60))) for _ in range(400)]
    counter, names = WordCounter(2), []  # type: ignore[var-annotated]
    found = [row for at in range(0, 400, cut) for row in as_dicts(counter, texts[at : at + cut], names)]
    assert found == oracle(texts, 2)
    order: dict[str, None] = {}
    for one in texts:
        order.update(dict.fromkeys(split_words(one, 2)))
    assert names == list(order), "words are numbered as they are met"


def test_many_words_grow_the_table(monkeypatch: Any) -> None:
    monkeypatch.setattr(words, "FEW", 2)
    texts = [f"word{k} other{k % 100}" for k in range(20_000)]
    counter, names = WordCounter(1), []  # type: ignore[var-annotated]
    found = as_dicts(counter, texts, names)
    assert found[12_345] == {"word12345": 1.0, "other45": 1.0}
    assert len(names) == len(set(names)) == 20_100
    again = counter.count(texts[:10])
    assert again.new_words == []
    assert np.array_equal(again.offsets, np.arange(0, 21, 2))


# ---- in tables ------------------------------------------------------------------------------------------------------


MESSAGES = [
    ("ham", "Go until jurong point, crazy. Available only", 3),
    ("spam", "FREE entry! Free tickets; win WIN", 1),
    ("ham", "", 2),
    ("spam", "Größe win, win", 7),
] * 30


def rows_of(source: Any) -> list[tuple[dict[str, float], Any]]:
    found = []
    for batch in source:
        block, names = batch.X.block, batch.X.names
        for row, (a, b) in enumerate(zip(block.indptr[:-1].tolist(), block.indptr[1:].tolist(), strict=True)):
            assert not block.ready or (np.diff(block.idx[a:b]) > 0).all()
            pairs = zip(block.idx[a:b].tolist(), block.val[a:b].tolist(), strict=True)
            found.append(({names[j]: v for j, v in pairs}, batch.y[row]))
    return found


@pytest.mark.parametrize("kind", ["tsv", "headless", "parquet", "jsonl", "frame"])
def test_a_column_of_text_is_cut_into_words(kind: str, tmp_path: Any, monkeypatch: Any) -> None:
    columns = {"kind": [m[0] for m in MESSAGES], "text": [m[1] for m in MESSAGES], "size": [m[2] for m in MESSAGES]}
    how: dict[str, Any] = {"label": "kind", "text": "text", "ngrams": 2}
    name = "text"
    what: Any = tmp_path / f"t.{kind}"
    if kind == "tsv":
        what.write_text("kind\ttext\tsize\n" + "".join(f"{a}\t{b}\t{c}\n" for a, b, c in MESSAGES))
    elif kind == "headless":
        what = tmp_path / "t.tsv"
        what.write_text("".join(f"{a}\t{b}\t{c}\n" for a, b, c in MESSAGES))
        how, name = {"label": "c1", "text": "c2", "ngrams": 2, "header": False}, "c2"
    elif kind == "jsonl":
        what.write_text("".join(json.dumps({"kind": a, "text": b, "size": c}) + "\n" for a, b, c in MESSAGES))
    else:
        what = pa.table(columns)
        if kind == "parquet":
            pq.write_table(what, tmp_path / "t.parquet", row_group_size=7)
            what = tmp_path / "t.parquet"
    size = "c3" if kind == "headless" else "size"
    wanted = [
        ({size: float(c), **{f"{name}={word}": count for word, count in by_hand(b, 2).items()}}, a)
        for a, b, c in MESSAGES
    ]
    source = open_source(what, **how)
    assert rows_of(source) == wanted
    names = list(source_names(open_source(what, **how)))
    monkeypatch.setattr("noregret.streams.arrow.ROWS", 3)
    monkeypatch.setattr("noregret.streams.jsonl.ROWS", 3)
    cut: Any = open_source(what, **how)
    if hasattr(cut, "block"):
        cut.block = 40
    assert rows_of(cut) == wanted
    assert list(source_names(open_source(what, **how))) == names, "names do not depend on how the table is cut"


def source_names(source: Any) -> list[str]:
    names: list[str] = []
    for batch in source:
        assert list(batch.X.names[: len(names)]) == names
        names = list(batch.X.names)
    return names


def test_a_model_of_words_predicts_new_texts(tmp_path: Any) -> None:
    (tmp_path / "t.tsv").write_text("kind\ttext\n" + "".join(f"{a}\t{b}\n" for a, b, _ in MESSAGES if b))
    learner = nr.make("arow")
    nr.play(open_source(tmp_path / "t.tsv", label="kind", text="text"), learner)
    assert learner.predict([{"text=win": 1.0}, {"text=point": 1.0}]).tolist() == ["spam", "ham"]


def test_what_is_no_text_is_not_cut_into_words() -> None:
    with pytest.raises(BadValue, match="column 'n' holds int64, not text"):
        list(open_source(pa.table({"n": [1, 2], "y": [0, 1]}), text="n"))
    with pytest.raises(BadValue, match="ngrams must be a whole number"):
        open_source(pa.table({"n": ["a"], "y": [0]}), text="n", ngrams=0)
    with pytest.raises(BadValue, match="both drop and text"):
        open_source(pa.table({"n": ["a"], "y": [0]}), text="n", drop="n")
