"""What is wrong with a line of libsvm text, in words that say what to do."""

import math
import re

from noregret.errors import shown
from noregret.streams.libsvm_text import BAD_INDEX, BAD_LABEL, LARGEST

FORM = "a line reads: label index:value index:value ..."


def what_is_wrong(line: bytes, fault: int, verdict: int, base: int) -> str:
    """The parser's verdict on a line, and the place where it stopped, as a message."""
    text = decoded(line)
    if text is None:
        return f"this is not libsvm text but binary data; {FORM}"
    word = (decoded(line[fault:].split(b"#")[0]) or "").split()
    token = word[0] if word else ""
    if verdict == BAD_LABEL:
        return about_label(token)
    if verdict == BAD_INDEX:
        return about_index(token, base)
    return about_value(token)


def decoded(line: bytes) -> str | None:
    """The line as text; None if it cannot be any."""
    try:
        text = line.decode()
    except UnicodeDecodeError:
        return None
    return None if re.search(r"[\x00-\x08\x0e-\x1f]", text) else text


def about_label(token: str) -> str:
    if re.fullmatch(r"\S*\d+:\S*", token):
        return f"the line starts with {shown(token)} and has no label; {FORM}"
    if unusable(token):
        return f"the label is {token}; every label must be a finite number"
    return f"the label is {shown(token)}; a label is a number, a word, or several with commas, and {FORM}"


def about_index(token: str, base: int) -> str:
    before, colon, _ = token.partition(":")
    if not colon:
        return f"{shown(token)} has no colon; {FORM}"
    if before == "qid":
        return f"{shown(token)} is no query number; write qid: and a whole number"
    if not re.fullmatch(r"[-+]?[0-9]+", before):
        return f"{shown(before)} is not an index; indices are whole numbers, and {FORM}"
    if re.fullmatch(r"-0*[1-9][0-9]*", before):
        return f"the index {shortened(before)} is negative; indices start at {base}"
    if re.fullmatch(r"[-+]?0+", before) and base == 1:
        return "the index is 0, but indices start at 1; use --zero-based if the first feature is number 0"
    if before[0] in "-+":
        return f"the index {shortened(before)} has a sign; write indices without one"
    return f"the index {shortened(before)} is too large; the largest is {LARGEST - 1 + base}"


def about_value(token: str) -> str:
    before, _, value = token.partition(":")
    if not value:
        return f"feature {before} has no value; write {before}:value or leave it out"
    if unusable(value):
        return f"feature {before}: the value is {shortened(value)}; every value must be finite"
    return f"feature {before}: {shown(value)} is not a number"


def unusable(text: str) -> bool:
    """Whether a text is a number, but none that can be used: nan, infinite or too large."""
    try:
        return not math.isfinite(float(text))
    except ValueError:
        return False


def shortened(digits: str) -> str:
    return digits if len(digits) <= 40 else f"{digits[:37]}..."
