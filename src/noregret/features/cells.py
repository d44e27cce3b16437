"""Single cells of tables: texts that stand for numbers or truth values, and the words of texts."""

import re

NUMBER = r"^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$"
NOT_FINITE = r"(?i)^[+-]?(?:nan|inf|infinity)$"
TRUTH = r"(?i)^(?:true|false)$"
BLANKS = " \t"

is_number = re.compile(NUMBER).match
is_truth = re.compile(TRUTH).match
find_words = re.compile(r"\w\w+").findall


def read_number(cell: str) -> float | None:
    """The number, or the truth value as 1 or 0, that a text stands for; None where it stands for none."""
    if is_number(cell):
        return float(cell)
    return float(cell.lower() == "true") if is_truth(cell) else None


def write_number(value: float) -> str:
    """A number as text; whole numbers without a decimal point."""
    return str(int(value)) if value.is_integer() else repr(value)


def split_words(text: str, ngrams: int = 1) -> list[str]:
    """The words of one text, in lower case, and runs of up to `ngrams` words."""
    words = find_words(text.lower())
    return [" ".join(words[at + 1 - n : at + 1]) for at in range(len(words)) for n in range(1, min(ngrams, at + 1) + 1)]
