"""Vowpal Wabbit's text, read the obvious way: a line at a time, with split, partition and float."""

import math
import random
import re
from typing import NamedTuple

NUMBER = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?", re.ASCII)
ENDLESS = re.compile(r"nan|inf|infinity", re.ASCII | re.IGNORECASE)
BLANKS = re.compile(r"[ \t\r]+")
OTHER_TASKS = {"shared", "ccb", "slates", "ca"}


class Row(NamedTuple):
    """A row: its label (None if it has none), weight, features by name in the order they first stand in, and line."""

    label: float | str | None
    weight: float
    features: dict[str, float]
    line: int


class Read(NamedTuple):
    """All rows; the numbers of the lines that are wrong; every name in order, and whether it first stood bare."""

    rows: list[Row]
    wrong: list[int]
    names: dict[str, bool]


def read(text: bytes, labelled: bool = True, targets: bool = False) -> Read:
    rows: list[Row] = []
    wrong: list[int] = []
    names: dict[str, bool] = {}
    for number, line in enumerate(text.split(b"\n"), start=1):
        try:
            if line.strip(b" \t\r"):
                label, weight, features = row(line, labelled, targets)
                rows.append(Row(label, weight, summed(features), number))
                for name, _, bare in features:
                    names.setdefault(name, bare)
        except (ValueError, OverflowError):
            wrong.append(number)
    return Read(rows, wrong, names)


def summed(features: list[tuple[str, float, bool]]) -> dict[str, float]:
    found: dict[str, float] = {}
    for name, value, _ in features:
        found[name] = found[name] + value if name in found else value
    return found


def row(line: bytes, labelled: bool, targets: bool) -> tuple[float | str | None, float, list[tuple[str, float, bool]]]:
    if re.search(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]", line):
        raise ValueError("a control character")
    before, bar, after = line.partition(b"|")
    if not bar:
        raise ValueError("no bar")
    words = [word for word in re.split(rb"[ \t\r]+", before) if word]
    if words and (words[-1].startswith(b"'") or before.endswith(words[-1])):
        words.pop()
    if any(word.startswith(b"'") for word in words) or len(words) > 3:
        raise ValueError("too many words")
    told: float | str | None = None
    weight = 1.0
    if words:
        told = label(words[0].decode(), targets)
    elif labelled:
        raise ValueError("no label")
    if len(words) > 1:
        weight = number(words[1].decode())
        if weight < 0.0:
            raise ValueError("a negative weight")
    if len(words) > 2 and number(words[2].decode()) != 0.0:
        raise ValueError("a base")
    features = [one for part in after.split(b"|") for one in namespace(part.decode())]
    return told, weight, features


def label(word: str, targets: bool) -> float | str:
    if NUMBER.fullmatch(word):
        return number(word)
    several = re.fullmatch(r"[-+.0-9eE]+(,[-+.0-9eE]+)+", word)
    signless = word.removeprefix("-").removeprefix("+")
    if ":" in word or several or targets or word in OTHER_TASKS or ENDLESS.fullmatch(signless):
        raise ValueError(word)
    return word


def namespace(part: str) -> list[tuple[str, float, bool]]:
    """The features of one namespace: (name, value, whether it stood without a number)."""
    words = BLANKS.split(part)
    prefix, scale = "", 1.0
    first = words.pop(0)
    if first:
        name, colon, text = first.partition(":")
        if not name:
            raise ValueError(first)
        prefix = name + "^"
        if colon:
            scale = number(text)
    found = []
    for word in words:
        if word:
            name, value, bare = feature(word)
            found.append((prefix + name, finite(value * scale), bare))
    return found


def feature(word: str) -> tuple[str, float, bool]:
    name, colon, text = word.partition(":")
    if not name or (colon and not text) or ":" in text:
        raise ValueError(word)
    if not colon:
        return name, 1.0, True
    if text[0] in "+-.0123456789":
        return name, number(text), False
    if ENDLESS.fullmatch(text):
        raise ValueError(word)
    return f"{name}^{text}", 1.0, True


def number(word: str) -> float:
    if not NUMBER.fullmatch(word):
        raise ValueError(word)
    return finite(float(word))


def finite(value: float) -> float:
    if not math.isfinite(value):
        raise ValueError(value)
    return value


# ---- lines to read --------------------------------------------------------------------------------------------------

LETTERS = "abcdefghijklmnopqrstuvwxyz"
STRAY = b" \t\r|:'^#.-+eE0123456789anif,\x00\x01\x7f\xc3\xa9\xff\xed\xa0\xf0\x9f\x98\x80"


def generated(rng: random.Random) -> bytes:
    """A line like those in files, or one with a few bytes changed."""
    values = (
        lambda: "", lambda: "", lambda: "", lambda: f":{rng.random():.6g}", lambda: f":{rng.gauss(0, 1)!r}",
        lambda: f":{rng.randrange(-9, 10**9)}", lambda: f":{rng.gauss(0, 1):.3e}", lambda: f":{rng.random():.22f}",
        lambda: f":{rng.random() * 10.0 ** rng.randrange(-320, 308)!r}", lambda: f":{word(rng)}", lambda: ":1",
    )  # fmt: skip
    words = [rng.choice(["1", "-1", "+1", "2.5", "spam", "ham", "klasse-ü", "0.1234567890123456789012"])]
    if rng.random() < 0.2:
        words.append(rng.choice(["1", "2.5", "0", "1e-3", "0.30000000000000004441"]))
        if rng.random() < 0.3:
            words.append(rng.choice(["0", "0.0", "-0"]))
    if rng.random() < 0.15:
        words.append("'" + word(rng))
    line = rng.choice([" ", " ", "\t", "  "]).join(words) + " "
    if rng.random() < 0.05:
        line += word(rng)
    for _ in range(rng.choice([0, 1, 1, 2, 3])):
        line += "|" + rng.choice(["", "", word(rng), "text", f"text:{rng.random() * 3:.4g}", f"n:{rng.random():.25f}"])
        for _ in range(rng.choice([0, 1, 2, 5, 9, 3 if rng.random() < 0.9 else 70])):
            line += rng.choice([" ", " ", " ", "\t", "  "]) + word(rng) + rng.choice(values)()
        line += rng.choice(["", " "])
    changed = bytearray(line.encode())
    for _ in range(rng.choice([0, 0, 0, 1, 3])):
        at = rng.randrange(len(changed))
        changed[at : at + rng.randrange(2)] = bytes([rng.choice(STRAY)])
    return bytes(changed).replace(b"\n", b" ")


def word(rng: random.Random) -> str:
    """A word, often one that was there before; its length around a multiple of eight; not always of letters."""
    if rng.random() < 0.5:
        return rng.choice(["a", "b", "the", "of", "to", "feature", "features", "eightlet", "sixteen_letters_"])
    size = rng.choice([1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 24, 40])
    return "".join(rng.choice(LETTERS + "0123456789_=#é€😀") for _ in range(rng.randrange(1, size + 1)))
