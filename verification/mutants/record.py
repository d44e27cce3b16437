"""The record of killers, kept with the sources: for every killed mutant a test that fails when it is put in.

A run tries the recorded killer of a mutant first. The default suite must contain every killer, whatever else is left to
`make test-all`. Each line is a test, followed by the marks of the mutants that it killed.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from verification.mutants.subjects import Subject
from verification.mutants.verdicts import Key, Verdict, key

RECORD = Path(__file__).with_name("killers.txt")


def mark(mutant: Key) -> str:
    """A short name of a mutant, which changes when its text does."""
    return hashlib.sha256(json.dumps(mutant).encode()).hexdigest()[:12]


def read(path: Path = RECORD) -> dict[str, str]:
    """The killer of every mutant, by the mark of the mutant."""
    if not path.exists():
        return {}
    lines = path.read_text(encoding="utf-8").splitlines()
    found = (line.rpartition("\t") for line in lines)
    return {one: test for test, _, marks in found for one in marks.split()}


def write(killers: dict[str, str], path: Path = RECORD) -> None:
    by_test: dict[str, list[str]] = {}
    for one, test in killers.items():
        by_test.setdefault(test, []).append(one)
    lines = [f"{test}\t{' '.join(sorted(marks))}\n" for test, marks in sorted(by_test.items())]
    replace_text(path, "".join(lines))


def replace_text(path: Path, text: str) -> None:
    """Write a file so that it is the old one or the new one, wherever that is interrupted."""
    part = path.with_name(f"{path.name}.part")
    part.write_text(text, encoding="utf-8")
    os.replace(part, path)


def update(verdicts: Iterable[Verdict], everyone: Sequence[Subject], path: Path = RECORD) -> None:
    """Replace old killers by new ones, and drop those of mutants that survive now or no longer exist."""
    known = {mark(key(mutant)) for subject in everyone for mutant in subject.mutants}
    killers = {one: test for one, test in read(path).items() if one in known}
    for verdict in verdicts:
        killers.pop(mark(key(verdict.mutant)), None)
        if verdict.killer.startswith("tests/"):
            killers[mark(key(verdict.mutant))] = verdict.killer
    write(killers, path)


def known_killers(everyone: Sequence[Subject], path: Path = RECORD) -> dict[Key, str]:
    """The recorded killer of every mutant that has one."""
    recorded = read(path)
    keys = {key(mutant) for subject in everyone for mutant in subject.mutants}
    return {one: recorded[mark(one)] for one in keys if mark(one) in recorded}
