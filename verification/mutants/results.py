"""Results are stored between runs, so that a run of some learners updates their part of the page."""

import json
import time
from collections.abc import Iterable, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from verification.mutants.mutate import Mutant
from verification.mutants.record import RECORD, known_killers, replace_text, update
from verification.mutants.subjects import ROOT, Subject
from verification.mutants.verdicts import Key, Verdict, key

RESULTS = Path(__file__).with_name("results.json")
MOST_VERDICTS, MOST_SECONDS = 200, 60.0  # that are not stored yet


def row(one: Verdict, day: str) -> dict[str, Any]:
    """A verdict for a file of JSON; it is whole, since a run ends with a killer or after all tests."""
    return {
        "subjects": list(one.subjects), "file": one.mutant.file.relative_to(ROOT).as_posix(), "line": one.mutant.line,
        "function": one.mutant.owner, "kind": one.mutant.kind, "was": one.mutant.was, "now": one.mutant.now,
        "outcome": one.outcome, "killer": one.killer, "tests": one.tests, "reason": one.reason,
        "nth": one.mutant.nth, "day": day, "whole": True,
    }  # fmt: skip


def rows(verdicts: Iterable[Verdict]) -> list[dict[str, Any]]:
    return [row(one, date.today().isoformat()) for one in verdicts]


def load(path: Path = RESULTS) -> list[dict[str, Any]]:
    return list(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else []


def key_of(one: dict[str, Any]) -> Key:
    return Path(one["file"]).name, one["function"], one["was"], one["now"], int(one.get("nth", 1))


def save(verdicts: Sequence[Verdict], everyone: Sequence[Subject], path: Path = RESULTS) -> None:
    """Replace old results by new ones, and drop those of mutants that no longer exist."""
    known = {key(mutant) for subject in everyone for mutant in subject.mutants}
    new = rows(verdicts)
    renewed = {key_of(one) for one in new}
    old = [one for one in load(path) if key_of(one) in known and key_of(one) not in renewed]
    replace_text(path, json.dumps([*old, *new], indent=1) + "\n")


class Keeper:
    """Stores verdicts, and the killers, while a run goes on: one that is stopped loses only those since `store`."""

    def __init__(self, everyone: Sequence[Subject], path: Path = RESULTS, recorded: Path = RECORD) -> None:
        self.everyone, self.path, self.recorded = everyone, path, recorded
        self.left: list[Verdict] = []
        self.stored = time.monotonic()

    def add(self, verdict: Verdict) -> None:
        self.left.append(verdict)
        if len(self.left) >= MOST_VERDICTS or time.monotonic() - self.stored > MOST_SECONDS:
            self.store()

    def store(self) -> None:
        save(self.left, self.everyone, self.path)
        update(self.left, self.everyone, self.recorded)
        self.left, self.stored = [], time.monotonic()


def partial_results(verdicts: Iterable[Verdict], path: Path = RESULTS) -> list[Verdict]:
    """Verdicts that are not kept results: those of the record of killers, and of the list of equivalents."""
    whole = {key_of(one) for one in load(path) if one.get("whole")}
    return [one for one in verdicts if key(one.mutant) not in whole]


def recall(
    everyone: Sequence[Subject], listed: dict[Key, str], path: Path = RESULTS, recorded: Path = RECORD
) -> tuple[list[Verdict], list[Mutant]]:
    """The kept results as verdicts, by the list as it is now, and the mutants that were never tried.

    Where there is no kept result, the record of killers tells who killed a mutant, and the list which are equivalent.
    """
    killers = {one: (test, 1) for one, test in known_killers(everyone, recorded).items()}
    killers |= {one: ("", 0) for one in listed if one not in killers}
    killers |= {key_of(one): (str(one["killer"]), int(one["tests"])) for one in load(path)}
    owners: dict[Mutant, list[str]] = {}
    for subject in everyone:
        for mutant in subject.mutants:
            owners.setdefault(mutant, []).append(subject.name)
    found, never = list[Verdict](), list[Mutant]()
    for mutant, names in owners.items():
        if key(mutant) in killers:
            killer, tests = killers[key(mutant)]
            found.append(Verdict(tuple(names), mutant, killer, tests, listed.get(key(mutant), "")))
        else:
            never.append(mutant)
    return found, never
