"""libsvm text, read the obvious way: a line at a time, with split, int and float."""

import math
import re
from typing import Any, NamedTuple

NUMBER = re.compile(rb"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")
QUERY = re.compile(rb"qid:-?[0-9]+")
START = re.compile(rb"[0-9]+:")
LARGEST = 2**31 - 2  # the last column


class Row(NamedTuple):
    """A row: its label (nan if it has none), its features in the order they stand in, its line, its query."""

    label: Any
    features: list[tuple[int, float]]
    line: int
    query: int | None = None


def read(text: bytes, zero_based: bool = False, labelled: bool = True) -> tuple[list[Row], list[int]]:
    """All rows, and the numbers of the lines that are wrong."""
    rows, wrong = [], []
    for number, line in enumerate(text.split(b"\n"), start=1):
        words = re.split(rb"[ \t\r]+", line.split(b"#")[0])
        words = [word for word in words if word]
        if not words:
            continue
        try:
            label, features, query = row(words, zero_based, labelled)
            rows.append(Row(label, features, number, query))
        except ValueError:
            wrong.append(number)
    return rows, wrong


def row(words: list[bytes], zero_based: bool, labelled: bool) -> tuple[Any, list[tuple[int, float]], int | None]:
    if not labelled and (START.match(words[0]) or QUERY.fullmatch(words[0])):
        label = math.nan
    else:
        label = label_of(words.pop(0))
    queries = [int(word[4:]) for word in words if QUERY.fullmatch(word)]
    features = [feature(word, zero_based) for word in words if not QUERY.fullmatch(word)]
    return label, features, wrapped(queries[-1]) if queries else None


def wrapped(number: int) -> int:
    """As 64 bits hold it."""
    return (number + 2**63) % 2**64 - 2**63


def label_of(word: bytes) -> Any:
    """A number, a word that begins with a letter, or several of these."""
    if NUMBER.fullmatch(word):
        return number(word)
    if b":" in word:
        raise ValueError(word)
    parts = [part.decode() for part in word.split(b",")]
    if len(parts) > 1:
        found = [label_of(part.encode()) for part in parts]
        return tuple(int(one) if isinstance(one, float) and one.is_integer() else one for one in found)
    (text,) = parts
    if not text[:1].isalpha() or not text.isprintable() or text.lower() in ("nan", "inf", "infinity"):
        raise ValueError(word)
    return text


def feature(word: bytes, zero_based: bool) -> tuple[int, float]:
    index, colon, value = word.partition(b":")
    if not colon or not re.fullmatch(rb"[0-9]+", index):
        raise ValueError(word)
    column = int(index) - (0 if zero_based else 1)
    if not 0 <= column <= LARGEST:
        raise ValueError(word)
    return column, number(value)


def number(word: bytes) -> float:
    if not NUMBER.fullmatch(word):
        raise ValueError(word)
    value = float(word)
    if not math.isfinite(value):
        raise ValueError(word)
    return value
