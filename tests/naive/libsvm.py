"""libsvm text, read the obvious way: a line at a time, with split, int and float."""

import math
import re
from typing import NamedTuple

NUMBER = re.compile(rb"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")
QUERY = re.compile(rb"qid:-?[0-9]+")
START = re.compile(rb"[0-9]+:")
LARGEST = 2**31 - 2  # the last column


class Row(NamedTuple):
    """A row: its label (nan if it has none), its features in the order they stand in, its line."""

    label: float
    features: list[tuple[int, float]]
    line: int


def read(text: bytes, zero_based: bool = False, labelled: bool = True) -> tuple[list[Row], list[int]]:
    """All rows, and the numbers of the lines that are wrong."""
    rows, wrong = [], []
    for number, line in enumerate(text.split(b"\n"), start=1):
        words = re.split(rb"[ \t\r]+", line.split(b"#")[0])
        words = [word for word in words if word]
        if not words:
            continue
        try:
            label, features = row(words, zero_based, labelled)
            rows.append(Row(label, features, number))
        except ValueError:
            wrong.append(number)
    return rows, wrong


def row(words: list[bytes], zero_based: bool, labelled: bool) -> tuple[float, list[tuple[int, float]]]:
    if not labelled and (START.match(words[0]) or QUERY.fullmatch(words[0])):
        label = math.nan
    else:
        label = number(words.pop(0))
    return label, [feature(word, zero_based) for word in words if not QUERY.fullmatch(word)]


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
