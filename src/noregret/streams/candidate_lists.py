"""Reads lists of candidates, such as n-best translations: JSON lines {source, reference, candidates}.

    {"source": "ein Hund", "reference": "a dog", "candidates": [{"text": "the dog", "score": -1.5}, ...]}

A candidate may have more numbers: "features": {"name": value}. Files may be compressed.
"""

import json
from collections.abc import Iterator

from noregret.data.candidate_lists import CandidateList, read_record
from noregret.errors import BadValue, shown
from noregret.streams.conllu import decode
from noregret.streams.files import TextFile
from noregret.streams.lines import LongLine, Pause, read_lines


def read_lists(path: str, references: bool = True) -> Iterator[CandidateList]:
    """Yield the lists of a file; - is standard input. With `references` every list must have one."""
    found = False
    with TextFile(path) as file:
        line = 0
        for raw in read_lines(file, file.name):
            if isinstance(raw, Pause | LongLine):
                continue
            line += 1
            place = f"{file.name}:{line}"
            text = decode(raw, place)
            text = text.removeprefix("\ufeff") if line == 1 else text
            if text.strip():
                found = True
                yield parse_list(text, place, references)
    if not found:
        raise BadValue(f"{path}: has no lists; give a file with one in every line, as JSON")


def parse_list(text: str, place: str, references: bool) -> CandidateList:
    """The list of one line."""
    try:
        record = json.loads(text)
    except json.JSONDecodeError as error:
        raise BadValue(f"{place}: not JSON: {error.msg} at column {error.colno}") from None
    except (RecursionError, ValueError):
        raise BadValue(
            f"{place}: not JSON that can be read: nested too deeply, or with a number that is too long"
        ) from None
    if not isinstance(record, dict):
        raise BadValue(f"{place}: a line must be an object with source, reference and candidates, not {shown(record)}")
    try:
        one = read_record(record, place)
    except BadValue as error:
        raise BadValue(f"{place}: {error}") from None
    if references and one.reference is None:
        raise BadValue(f"{place}: the list has no reference; reranking is learned from validated outputs")
    return one
