"""What a model file remembers of the data it was learned from, and how learning goes on from there."""

import argparse
import hashlib
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from noregret.cli.setup import OPTIONS
from noregret.errors import BadValue
from noregret.learner.rule_learner import RuleLearner
from noregret.streams import Batch, Cursor, Source
from noregret.streams.read_options import ROW_OPTIONS

HEAD_BYTES = 1 << 16
DEAR = 20  # a model is not kept more often than it takes this many times as long to keep it
ROLES = (
    "header", "label", "weight", "timestamp", "query", "drop", "text", "ngrams", "categorical", "zero_based",
    "labels_by",
)  # fmt: skip


class Keeper:
    """Keeps a model now and then while it learns, with the place where its source stands."""

    def __init__(self, told: argparse.Namespace, learner: RuleLearner, source: Source, target: str | None) -> None:
        self.learner, self.source, self.target, self.every = learner, source, target, told.every
        if not self.every >= 0.0:
            raise BadValue(f"--every must be a number of seconds, not {self.every}")
        self.head = head_of(told, source)
        self.reading = {**remembered(learner.source or {}), **options_of(told)}
        self.course = self.before(learner.source or {})
        self.skip = self.learned_already(learner.source or {}) if self.goes_on else 0
        self.rounds, self.rows = learner.rounds, self.skip  # rounds of the learner; rows of the source that it knows
        self.hand: Batch | None = None
        self.kept, self.cost = time.monotonic(), 0.0

    def before(self, kept: Mapping[str, Any]) -> Cursor:
        """Where to go on: after what an interrupted model has learned of this source; else at its start."""
        self.goes_on = self.head is not None and kept.get("head") == self.head and kept.get("ended") is False
        if not self.goes_on:
            return Cursor()
        place = kept.get("place")
        if isinstance(place, dict):
            at, past = place.get("at"), place.get("past")
            if (at is None or isinstance(at, dict)) and type(past) is int and past >= 0:
                return Cursor(at, past)
        return Cursor(None, self.learned_already(kept))

    def learned_already(self, kept: Mapping[str, Any]) -> int:
        rows = kept.get("rows")
        return rows if type(rows) is int and rows > 0 else 0

    def batches(self) -> Iterator[Batch]:
        """The batches that are to be learned; each is counted as soon as the learner has it."""
        for batch in self.course.resume(self.source):
            self.hand = batch
            yield batch
            self.count()
            if self.target is not None and time.monotonic() - self.kept >= max(self.every, DEAR * self.cost):
                self.save(ended=False)

    def count(self) -> None:
        """A call learns a whole batch or nothing of it, so the learner knows whether it was learned."""
        if self.hand is not None and self.learner.rounds != self.rounds:
            self.course.advance(self.hand)
            self.rounds, self.rows = self.learner.rounds, self.rows + self.hand.rows
        self.hand = None

    def save(self, ended: bool) -> None:
        self.count()
        self.learner.source = {
            **self.source.describe(),
            "head": self.head,
            "rows": self.rows,
            "ended": ended,
            "reading": self.reading,
            "place": self.course.dump(),
        }
        if self.target is not None:
            began = time.monotonic()
            self.learner.save(self.target)
            self.kept = time.monotonic()
            self.cost = self.kept - began


def head_of(told: argparse.Namespace, source: Source) -> str | None:
    """What tells this source from others: how its files begin, or its name and seed; nothing for a pipe."""
    names = [one.name for one in getattr(source, "sources", [source])]
    heads = [file_head(name, f"{told.data}, seed {told.seed}") for name in names]
    if None in heads:
        return None
    return heads[0] if len(heads) == 1 else hashlib.sha256("\n".join(map(str, heads)).encode()).hexdigest()


def file_head(name: str, otherwise: str) -> str | None:
    path = Path(name)
    if path.is_file():
        with open(path, "rb") as file:
            return hashlib.sha256(file.read(HEAD_BYTES)).hexdigest()
    return None if name == "standard input" else otherwise


def options_of(told: argparse.Namespace) -> dict[str, Any]:
    """What was asked of the reading of the data, as a model file keeps it."""
    return {name: getattr(told, name) for name in OPTIONS if not unsaid(told, name) and getattr(told, name) != "stop"}


def remembered(kept: Mapping[str, Any]) -> dict[str, Any]:
    """The options a model was learned with, from its file, which somebody else may have written."""
    found = kept.get("reading")
    found = dict(found) if isinstance(found, dict) else {}
    for name in ("label", "zero_based"):
        if kept.get(name) and name not in found:
            found[name] = kept[name]
    return {name: value for name, value in found.items() if name in OPTIONS}


def read_as_before(told: argparse.Namespace, learner: RuleLearner) -> dict[str, Any]:
    """What of the reading a model remembers and nobody told now."""
    kept = remembered(learner.source or {})
    found = {name: value for name, value in kept.items() if name in ROLES and unsaid(told, name)}
    if learner.config.allows_missing:
        found["keep_missing"] = True
    return {**found, "optional": tuple(found)}


def unsaid(told: argparse.Namespace, name: str) -> bool:
    value = getattr(told, name, None)
    return value in (None, []) or (value is False and name != "header")


def take_up(told: argparse.Namespace, kept: Mapping[str, Any], model: str) -> None:
    """Refuse to read the data otherwise than the model learned them; an interrupted one goes on as it began."""
    before = remembered(kept)
    interrupted = kept.get("ended") is False
    for name in (*ROLES, *(ROW_OPTIONS if interrupted else ())):
        now, then = getattr(told, name, None), before.get(name)
        if (
            not unsaid(told, name)
            and kept
            and now != then
            and (then is not None or name in ("zero_based", *ROW_OPTIONS))
        ):
            raise BadValue(f"{model} was learned {said(name, then)}, not {said(name, now)}")
        if name in ROW_OPTIONS and then is not None:
            setattr(told, name, then)


def said(name: str, value: Any) -> str:
    if name == "label":
        return f"with the label {value!r}"
    if name == "header":
        return f"with{'' if value else 'out'} a line of column names"
    if name == "zero_based":
        return f"from features that count from {0 if value else 1}"
    return f"without --{name}" if value in (None, False, []) else f"with --{name.replace('_', '-')} {value}"
