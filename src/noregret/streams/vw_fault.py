"""What is wrong with a line of Vowpal Wabbit's text, in words that say what to do."""

import re

from noregret.errors import shown
from noregret.streams import vw_names
from noregret.streams import vw_text as text
from noregret.streams.columns import endless
from noregret.streams.libsvm_fault import shortened, unusable

FORM = "a line reads: label |namespace feature:value feature ..."
COSTS = re.compile(r"[^:|\s]*:[^:|\s]*")
BANDIT = re.compile(r"[^:|\s]*:[^:|\s]*:[^:|\s]*")
SEVERAL = re.compile(r"[-+.0-9eE]+(,[-+.0-9eE]+)+")
TASKS = {"shared": "contextual bandits", "ccb": "conditional contextual bandits", "slates": "slates", "ca": "CATS"}


def what_is_wrong(line: bytes, fault: int, verdict: int, targets: bool = False) -> str:
    """The parser's verdict on a line, and the place where it stopped, as a message."""
    if b"\0" in line:
        return f"this is not text but binary data; {FORM}"
    if verdict == vw_names.BAD_TEXT:
        return about_text(line, fault)
    token = re.split(rb"[ \t\r]", line[fault:])[0]
    if verdict not in (text.BAD_LABEL, text.BAD_WEIGHT, text.BAD_BASE, text.TOO_MANY, text.AFTER_TAG):
        token = token.split(b"|")[0]
    word = token.decode(errors="replace")
    if b"|" not in line:
        return f"the line has no bar; {FORM}"
    if verdict == text.NO_LABEL:
        return about_no_label(line)
    if verdict == text.BAD_LABEL:
        return wrong_word(token, targets) or f"the label is {shown(word)}; {FORM}"
    if verdict in (text.BAD_WEIGHT, text.BAD_BASE, text.TOO_MANY, text.AFTER_TAG):
        return about_head(line, word, verdict)
    if verdict in (text.NO_SPACE, text.BAD_SCALE, text.SLOW_SCALE):
        return about_space(word, verdict)
    return about_feature(word, verdict)


def wrong_word(token: bytes, targets: bool) -> str | None:
    """Why a word cannot be a label, or None when it can."""
    try:
        word = token.decode()
    except UnicodeDecodeError:
        return "the label is not UTF-8 text"
    if word.startswith("qid:"):
        return f"{shown(word)} is the number of a query, and ranking is not learned here; leave it out"
    if BANDIT.fullmatch(word):
        return (
            f"{shown(word)} is a contextual bandit label, action:cost:probability; only plain labels are learned here"
        )
    if COSTS.fullmatch(word):
        return f"{shown(word)} is a cost-sensitive label, class:cost; only plain labels are learned here"
    if SEVERAL.fullmatch(word):
        return f"{shown(word)} is several labels, or a number with a comma; a line has one label"
    if word in TASKS:
        return f"{shown(word)} begins a line for {TASKS[word]}; only plain labels are learned here"
    if endless(word) or unusable(word):
        return f"the label is {shortened(word)}; it must be finite"
    if targets and ":" not in word:
        return f"the label {shown(word)} is not a number, and real targets are asked for"
    return f"the label is {shown(word)}; {FORM}" if ":" in word else None


def about_text(line: bytes, fault: int) -> str:
    if line[fault : fault + 1] < b" ":
        return f"there is the control character {line[fault]}; a name is text without blanks"
    try:
        line.decode()
    except UnicodeDecodeError as error:
        return f"byte {error.start + 1} of the line is not UTF-8 text; names are text in UTF-8"
    return f"{shown(line[fault:].decode().split()[0])} cannot be read; {FORM}"


def about_no_label(line: bytes) -> str:
    tag = line.decode(errors="replace").split("|")[0].split()
    if tag and not tag[-1].startswith("'"):
        return f"the line has no label: {shown(tag[-1])} touches the bar, which makes it a tag; put a blank between"
    return f"the line has no label; {FORM}"


def about_head(line: bytes, word: str, verdict: int) -> str:
    head = line.decode(errors="replace").split("|")[0].split()
    if head[0] in TASKS:
        return f"{shown(head[0])} begins a line for {TASKS[head[0]]}; only plain labels are learned here"
    if any(":" in one for one in head[:2]):
        return f"{shown(' '.join(head[:2]))} are labels with costs; only plain labels are learned here"
    if verdict == text.AFTER_TAG:
        return f"{shown(word)} stands after the tag; only the bar may"
    if verdict == text.TOO_MANY:
        return f"{shown(word)} is one word too many before the bar: label, importance, base, and a tag, marked by a '"
    if verdict == text.BAD_WEIGHT:
        number = re.fullmatch(r"-[-+.0-9eE]+", word) or endless(word) or unusable(word)
        wrong = f"the importance is {shortened(word)}; it must be finite and not negative"
        return wrong if number else f"the importance is {shown(word)}, no number; a tag is marked by a ' before it"
    return (
        f"the base is {shown(word)}; predictions start from 0 here, so leave it out (a tag is marked by a ' before it)"
    )


def about_space(word: str, verdict: int) -> str:
    if verdict == text.NO_SPACE:
        return "a namespace has a scale but no name; write |name:scale, or | and a blank"
    if endless(word) or unusable(word):
        return f"the scale of a namespace is {shortened(word)}; it must be finite"
    return f"the scale of a namespace is {shown(word)}, no number; write |name:scale or |name"


def about_feature(word: str, verdict: int) -> str:
    name, _, value = word.partition(":")
    if verdict == text.NO_NAME:
        return f"{shown(word)} is a value without a feature; write feature:value"
    if verdict == text.NO_VALUE:
        return f"feature {shortened(name)} has no value; write {shortened(name)}:value, or no colon"
    if verdict == text.NOT_FINITE and not unusable(value):
        return f"feature {shortened(name)}: the value {shortened(value)} times the scale of its namespace is not finite"
    if endless(value) or unusable(value):
        return f"feature {shortened(name)}: the value is {shortened(value)}; every value must be finite"
    if ":" in value:
        return f"{shown(word)} has two colons; a feature has one value"
    return f"feature {shortened(name)}: {shown(value)} is not a number; a value that is a word starts with a letter"
