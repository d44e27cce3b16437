"""A list of candidates for one input, such as the n best translations of a sentence, as passive data."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from noregret.data.words import split_words
from noregret.errors import BadValue, shown

CANDIDATE_KEYS = ("text", "score", "features")
MOST = 1 << 16  # candidates of a list


@dataclass(frozen=True, slots=True)
class CandidateList:
    """Candidates with named numbers, and with texts where they are outputs in words; `place` is where they were read.

    `rows` holds the features of each candidate. Of candidates with texts these are its `score`, its `length` in words
    and what else it was given. A feature that a candidate does not have is 0.
    """

    rows: tuple[Mapping[str, float], ...]
    source: str = ""
    texts: tuple[str, ...] | None = None
    reference: str | None = None
    place: str = ""

    def __len__(self) -> int:
        return len(self.rows)


def read_candidates(given: Any, number: int) -> CandidateList:
    """A list of candidates, checked; `number` is that of the round, for messages.

    Given are dicts of features, or a dict with the source and the candidates, as in a line of JSON.
    """
    if isinstance(given, CandidateList):
        return given
    try:
        if isinstance(given, Mapping):
            return read_record(given)
        if not isinstance(given, (list, tuple)) or not given:
            raise BadValue("a list of at least one candidate is needed, each a dict of features, or a dict with source "
                           f"and candidates, not {shown(given)}")  # fmt: skip
        check_size(given)
        return CandidateList(tuple(read_features(one, place) for place, one in enumerate(given)))
    except BadValue as error:
        raise BadValue(f"row {number}: {error}", number) from None


def read_record(record: Mapping[Any, Any], place: str = "") -> CandidateList:
    """The list of a record {source, reference, candidates: [{text, score, features}]}; what else it has is not read."""
    given = record.get("candidates")
    if not isinstance(given, (list, tuple)) or not given:
        found = shown(given) if "candidates" in record else f"a record with {shown(list(record))}"
        raise BadValue(f"candidates must be a list of at least one candidate, not {found}")
    check_size(given)
    texts = []
    rows = []
    for number, one in enumerate(given):
        text, features = read_candidate(one, number)
        texts.append(text)
        rows.append(features)
    reference = record.get("reference")
    return CandidateList(
        tuple(rows),
        read_text(record.get("source", ""), "source"),
        tuple(texts),
        None if reference is None else read_reference(reference),
        place,
    )


def check_size(candidates: Sequence[Any]) -> None:
    if len(candidates) > MOST:
        raise BadValue(f"a list has at most {MOST:,} candidates, not {len(candidates):,}")


def read_candidate(one: Any, number: int) -> tuple[str, dict[str, float]]:
    """The text of a candidate and its features: the score, the length, and the numbers that it has beside them."""
    if not isinstance(one, Mapping):
        raise BadValue(f"candidate {number} must have {', '.join(CANDIDATE_KEYS)}, not {shown(one)}")
    for needed in ("text", "score"):
        if needed not in one:
            raise BadValue(f"candidate {number} has no {needed}")
    text = read_text(one["text"], f"the text of candidate {number}")
    others = {name: value for name, value in one.items() if name not in CANDIDATE_KEYS}
    given = {**read_features(others, number), **read_features(one.get("features") or {}, number)}
    score = read_value(one["score"], f"the score of candidate {number}")
    return text, {"score": score, "length": float(len(split_words(text))), **given}


def read_features(given: Any, number: int) -> dict[str, float]:
    """The features of a candidate: finite numbers by name."""
    if not isinstance(given, Mapping):
        raise BadValue(f"candidate {number}: expected a dict of features, not {shown(given)}")
    found: dict[str, float] = {}
    for name, value in dict(given).items():
        if not isinstance(name, str):
            raise BadValue(f"candidate {number}: the name of a feature must be a string, not {shown(name)}")
        found[name] = read_value(value, f"candidate {number}, feature {name!r}")
    return found


def read_value(value: Any, what: str) -> float:
    """A finite number."""
    kind = getattr(value, "dtype", None)
    number = isinstance(value, (int, float)) if kind is None else kind.kind in "fiu" and value.shape == ()
    try:
        found = float(value) if number and not isinstance(value, bool) else None
    except OverflowError:
        found = math.inf
    if found is None:
        raise BadValue(f"{what}: expected a number, not {shown(value)}")
    if not math.isfinite(found):
        raise BadValue(f"{what}: the value is {found}; every value must be finite")
    return found


def read_text(given: Any, what: str) -> str:
    if not isinstance(given, str):
        raise BadValue(f"{what} must be a text, not {shown(given)}")
    return given


def read_reference(given: Any) -> str:
    """A reference translation: a text with at least one word."""
    reference = read_text(given, "the reference")
    if not split_words(reference):
        raise BadValue("the reference has no words; leave the list out")
    return reference
