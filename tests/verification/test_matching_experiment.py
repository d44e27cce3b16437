"""The experiment on matching captions, on captions small enough to see."""

import gzip
from pathlib import Path

import pytest

from verification.experiments import matching

ENGLISH = ["a cat", "the dog", "two birds", "a red house", "my boat", "one tree", "an old man", "green grass"]
GERMAN = [
    "eine Katze",
    "der Hund",
    "zwei Vögel",
    "ein rotes Haus",
    "mein Boot",
    "ein Baum",
    "ein alter Mann",
    "grünes Gras",
]


@pytest.fixture
def base(tmp_path: Path) -> Path:
    (tmp_path / "multi30k").mkdir()
    for part, times in (("train", 6), ("val", 2)):
        for language, lines in (("en", ENGLISH), ("de", GERMAN)):
            with gzip.open(tmp_path / f"multi30k/{part}.{language}.gz", "wt", encoding="utf-8") as file:
                file.write("\n".join(lines * times) + "\n")
    return tmp_path


def test_lists_are_shuffled_and_the_truth_says_how(base: Path) -> None:
    X, y = matching.read(base, "train", 3)
    assert len(X) == len(y) == 3
    for (left, right), pairs in zip(X, y, strict=True):
        assert [words[0] for words in left] == [line.lower().split()[0] for line in ENGLISH]
        for i, j in pairs:
            assert right[j] == matching.words(GERMAN[i])
    assert y[0] != y[1]


def test_captions_that_came_before_are_matched(base: Path) -> None:
    rules = matching.RULES
    try:
        matching.RULES = ("pa1(C=0.1, native=False)",)  # type: ignore[assignment]
        head, rows = matching.run(base)
    finally:
        matching.RULES = rules
    assert len(head) == len(rows[0]) == len(rows[1]) == 3
    given, learned = rows
    assert float(learned[2]) == 0.0 < float(learned[1]) < 1.0
    assert 0.0 < float(given[2]) < 1.0
