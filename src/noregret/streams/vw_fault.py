"""Error messages for faulty lines of Vowpal Wabbit's text format; they say what to do."""

import re

from noregret.errors import shown
from noregret.streams import name_table
from noregret.streams import vw_text as text
from noregret.streams.columns import is_not_finite
from noregret.streams.libsvm_fault import is_unusable, shorten

FORM = "a line reads: label |namespace feature:value feature ..."
COSTS = re.compile(r"[^:|\s]*:[^:|\s]*")
BANDIT = re.compile(r"[^:|\s]*:[^:|\s]*:[^:|\s]*")
SEVERAL = re.compile(r"[-+.0-9eE]+(,[-+.0-9eE]+)+")
TASKS = {"shared": "contextual bandits", "ccb": "conditional contextual bandits", "slates": "slates", "ca": "CATS"}


def describe_fault(line: bytes, fault: int, status: int, targets: bool = False) -> str:
    """Return the error message for a line, given the parser's status and the position where it stopped."""
    if b"\0" in line:
        return f"this is not text but binary data; {FORM}"
    if status == name_table.BAD_TEXT:
        return describe_text(line, fault)
    token = re.split(rb"[ \t\r]", line[fault:])[0]
    if status not in (text.BAD_LABEL, text.BAD_WEIGHT, text.BAD_BASE, text.TOO_MANY, text.AFTER_TAG):
        token = token.split(b"|")[0]
    word = token.decode(errors="replace")
    if b"|" not in line:
        return f"the line has no bar; {FORM}"
    if status == text.NO_LABEL:
        return describe_no_label(line)
    if status == text.BAD_LABEL:
        return label_fault(token, targets) or f"the label is {shown(word)}; {FORM}"
    if status in (text.BAD_WEIGHT, text.BAD_BASE, text.TOO_MANY, text.AFTER_TAG):
        return describe_head(line, word, status)
    if status in (text.NO_SPACE, text.BAD_SCALE, text.DEFERRED_SCALE):
        return describe_space(word, status)
    return describe_feature(word, status)


def label_fault(token: bytes, targets: bool) -> str | None:
    """Return why a word cannot be a label, or None if it can."""
    try:
        word = token.decode()
    except UnicodeDecodeError:
        return "the label is not UTF-8 text"
    if word.startswith("qid:"):
        return f"{shown(word)} is a query number, which is not supported in this format; leave it out"
    if BANDIT.fullmatch(word):
        return f"{shown(word)} is a contextual bandit label, action:cost:probability; only plain labels are supported"
    if COSTS.fullmatch(word):
        return f"{shown(word)} is a cost-sensitive label, class:cost; only plain labels are supported"
    if SEVERAL.fullmatch(word):
        return f"{shown(word)} is several labels, or a number with a comma; a line has one label"
    if word in TASKS:
        return f"{shown(word)} begins a line for {TASKS[word]}; only plain labels are supported"
    if is_not_finite(word) or is_unusable(word):
        return f"the label is {shorten(word)}; it must be finite"
    if targets and ":" not in word:
        return f"the label {shown(word)} is not a number, but regression needs numbers"
    return f"the label is {shown(word)}; {FORM}" if ":" in word else None


def describe_text(line: bytes, fault: int) -> str:
    """Describe bytes that cannot be part of a name."""
    if line[fault : fault + 1] < b" ":
        return f"there is the control character {line[fault]}; a name is text without blanks"
    try:
        line.decode()
    except UnicodeDecodeError as error:
        return f"byte {error.start + 1} of the line is not UTF-8 text; names are text in UTF-8"
    return f"{shown(line[fault:].decode().split()[0])} cannot be read; {FORM}"


def describe_no_label(line: bytes) -> str:
    """Describe a line without a label."""
    tag = line.decode(errors="replace").split("|")[0].split()
    if tag and not tag[-1].startswith("'"):
        return f"the line has no label: {shown(tag[-1])} touches the bar, which makes it a tag; put a blank between"
    return f"the line has no label; {FORM}"


def describe_head(line: bytes, word: str, status: int) -> str:
    """Describe a fault before the first bar."""
    head = line.decode(errors="replace").split("|")[0].split()
    if head[0] in TASKS:
        return f"{shown(head[0])} begins a line for {TASKS[head[0]]}; only plain labels are supported"
    if any(":" in one for one in head[:2]):
        return f"{shown(' '.join(head[:2]))} are labels with costs; only plain labels are supported"
    if status == text.AFTER_TAG:
        return f"{shown(word)} follows the tag; after a tag comes the bar"
    if status == text.TOO_MANY:
        return f"{shown(word)} is one word too many before the bar: label, importance, base, and a tag, marked by a '"
    if status == text.BAD_WEIGHT:
        number = re.fullmatch(r"-[-+.0-9eE]+", word) or is_not_finite(word) or is_unusable(word)
        why = f"the importance is {shorten(word)}; it must be finite and not negative"
        return why if number else f"the importance is {shown(word)}, not a number; a tag is marked by a ' before it"
    return (
        f"the base is {shown(word)}; predictions start from 0 here, so leave it out (a tag is marked by a ' before it)"
    )


def describe_space(word: str, status: int) -> str:
    """Describe a fault of a namespace."""
    if status == text.NO_SPACE:
        return "a namespace has a scale but no name; write |name:scale, or | and a blank"
    if is_not_finite(word) or is_unusable(word):
        return f"the scale of a namespace is {shorten(word)}; it must be finite"
    return f"the scale of a namespace is {shown(word)}, not a number; write |name:scale or |name"


def describe_feature(word: str, status: int) -> str:
    """Describe a fault of a feature."""
    name, _, value = word.partition(":")
    if status == text.NO_NAME:
        return f"{shown(word)} is a value without a feature; write feature:value"
    if status == text.NO_VALUE:
        return f"feature {shorten(name)} has no value; write {shorten(name)}:value, or no colon"
    if status == text.NOT_FINITE and not is_unusable(value):
        return f"feature {shorten(name)}: the value {shorten(value)} times the scale of its namespace is not finite"
    if is_not_finite(value) or is_unusable(value):
        return f"feature {shorten(name)}: the value is {shorten(value)}; every value must be finite"
    if ":" in value:
        return f"{shown(word)} has two colons; a feature has one value"
    return f"feature {shorten(name)}: {shown(value)} is not a number; a value that is a word starts with a letter"
