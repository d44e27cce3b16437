"""Error messages for faulty lines of libsvm text; they say what to do."""

import math
import re

from noregret.errors import shown
from noregret.streams.libsvm_text import BAD_INDEX, BAD_LABEL, LARGEST

FORM = "a line reads: label index:value index:value ..."


def describe_fault(line: bytes, fault: int, status: int, base: int) -> str:
    """Return the error message for a line, given the parser's status and the position where it stopped."""
    text = decode_line(line)
    if text is None:
        return f"this is not libsvm text but binary data; {FORM}"
    words = (decode_line(line[fault:].split(b"#")[0]) or "").split()
    token = words[0] if words else ""
    if status == BAD_LABEL:
        return describe_label(token)
    if status == BAD_INDEX:
        return describe_index(token, base)
    return describe_value(token)


def decode_line(line: bytes) -> str | None:
    """Return the line as text; None if it is binary data."""
    try:
        text = line.decode()
    except UnicodeDecodeError:
        return None
    return None if re.search(r"[\x00-\x08\x0e-\x1f]", text) else text


def describe_label(token: str) -> str:
    """Describe a label that cannot be used."""
    if re.fullmatch(r"\S*\d+:\S*", token):
        return f"the line starts with {shown(token)} and has no label; {FORM}"
    if is_unusable(token):
        return f"the label is {token}; every label must be a finite number"
    return f"the label is {shown(token)}; a label is a number, a word, or several with commas, and {FORM}"


def describe_index(token: str, base: int) -> str:
    """Describe a feature whose index cannot be used."""
    before, colon, _ = token.partition(":")
    if not colon:
        return f"{shown(token)} has no colon; {FORM}"
    if before == "qid":
        return f"{shown(token)} is not a query number; write qid: and a whole number"
    if not re.fullmatch(r"[-+]?[0-9]+", before):
        return f"{shown(before)} is not an index; indices are whole numbers, and {FORM}"
    if re.fullmatch(r"-0*[1-9][0-9]*", before):
        return f"the index {shorten(before)} is negative; indices start at {base}"
    if re.fullmatch(r"[-+]?0+", before) and base == 1:
        return "the index is 0, but indices start at 1; use --zero-based if the first feature is number 0"
    if before[0] in "-+":
        return f"the index {shorten(before)} has a sign; write indices without one"
    return f"the index {shorten(before)} is too large; the largest is {LARGEST - 1 + base}"


def describe_value(token: str) -> str:
    """Describe a feature whose value cannot be used."""
    before, _, value = token.partition(":")
    if not value:
        return f"feature {before} has no value; write {before}:value or leave it out"
    if is_unusable(value):
        return f"feature {before}: the value is {shorten(value)}; every value must be finite"
    return f"feature {before}: {shown(value)} is not a number"


def is_unusable(text: str) -> bool:
    """Return whether a text is a number that cannot be used: NaN, infinite or too large."""
    try:
        return not math.isfinite(float(text))
    except ValueError:
        return False


def shorten(digits: str) -> str:
    """Cut a long text for a message."""
    return digits if len(digits) <= 40 else f"{digits[:37]}..."
