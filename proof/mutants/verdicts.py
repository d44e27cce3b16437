"""What became of every mutant, and which of them are no change at all by the word of the hand-kept list."""

import tomllib
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

from proof.mutants.making import Mutant
from proof.mutants.subjects import Subject

LIST = Path(__file__).with_name("equivalents.toml")
Key = tuple[str, str, str, str]


@dataclass(frozen=True)
class Verdict:
    """A mutant of a subject: who killed it, if anyone did, or why nobody can."""

    subject: str
    mutant: Mutant
    killer: str = ""
    tests: int = 0
    reason: str = ""

    @property
    def outcome(self) -> str:
        return "killed" if self.killer else "equivalent" if self.reason else "survived"


@dataclass
class Score:
    """The verdicts of one subject, counted."""

    name: str
    mutants: int = 0
    killed: int = 0
    equivalent: int = 0
    survived: int = 0

    @property
    def share(self) -> float:
        """The part that was killed of those that could be."""
        return self.killed / max(self.mutants - self.equivalent, 1)


def key(mutant: Mutant) -> Key:
    return mutant.file.name, mutant.owner, mutant.was, mutant.now


def equivalents(path: Path = LIST) -> dict[Key, str]:
    """The hand-kept list: mutants that do what the original does, each with the reason."""
    entries = tomllib.loads(path.read_text(encoding="utf-8")).get("equivalent", [])
    return {(one["file"], one["function"], one["was"], one["now"]): one["reason"] for one in entries}


def unmatched(listed: Iterable[Key], subjects: Collection[Subject]) -> list[Key]:
    """Entries that are no mutant any more."""
    known = {key(mutant) for subject in subjects for mutant in subject.mutants}
    return [one for one in listed if one not in known]


def scores(verdicts: Iterable[Verdict]) -> dict[str, Score]:
    """The counts of every subject, in the order they come."""
    found: dict[str, Score] = {}
    for one in verdicts:
        score = found.setdefault(one.subject, Score(one.subject))
        score.mutants += 1
        score.killed += one.outcome == "killed"
        score.equivalent += one.outcome == "equivalent"
        score.survived += one.outcome == "survived"
    return found


def total(several: Iterable[Score]) -> Score:
    whole = Score("all")
    for one in several:
        whole.mutants += one.mutants
        whole.killed += one.killed
        whole.equivalent += one.equivalent
        whole.survived += one.survived
    return whole


def faults(several: dict[str, Score], verdicts: Iterable[Verdict], listed: dict[Key, str]) -> list[str]:
    """What is not as it should be: too many survivors, too many excuses, excuses that are none."""
    whole = total(several.values())
    found = [
        f"{one.name}: only {one.share:.0%} killed, at least 80 % is asked"
        for one in several.values()
        if one.share < 0.8
    ]
    if whole.share < 0.95:
        found.append(f"only {whole.share:.1%} of all mutants killed, at least 95 % is asked")
    if whole.equivalent > 0.05 * whole.mutants:
        found.append(f"{whole.equivalent} of {whole.mutants} mutants are listed as equivalent, at most 5 % may be")
    for one in verdicts:
        if one.outcome == "killed" and key(one.mutant) in listed:
            found.append(f"listed as equivalent, but {one.killer} fails: {one.mutant}")
    return found
