"""The outcome of every mutant; equivalent ones are listed by hand."""

import tomllib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from verification.mutants.mutate import Mutant
from verification.mutants.subjects import Subject

LIST = Path(__file__).with_name("equivalents.toml")
Key = tuple[str, str, str, str, int]


@dataclass(frozen=True)
class Verdict:
    """A mutant of one or several subjects: the test that killed it, if any, or why it is equivalent."""

    subjects: tuple[str, ...]
    mutant: Mutant
    killer: str = ""
    tests: int = 0
    reason: str = ""

    @property
    def outcome(self) -> str:
        return "killed" if self.killer else "equivalent" if self.reason else "survived"


@dataclass
class Score:
    """Verdicts, counted."""

    name: str
    mutants: int = 0
    killed: int = 0
    equivalent: int = 0
    survived: int = 0

    @property
    def share(self) -> float:
        """The part that was killed of those that could be."""
        return self.killed / max(self.mutants - self.equivalent, 1)

    def count(self, one: Verdict) -> None:
        self.mutants += 1
        self.killed += one.outcome == "killed"
        self.equivalent += one.outcome == "equivalent"
        self.survived += one.outcome == "survived"


def scores(verdicts: Iterable[Verdict], names: Collection[str]) -> dict[str, Score]:
    """The counts of every subject named; what is shared counts for each that shares it."""
    found = {name: Score(name) for name in names}
    for one in verdicts:
        for name in one.subjects:
            if name in found:
                found[name].count(one)
    return found


def total(verdicts: Iterable[Verdict]) -> Score:
    """The counts of all mutants, each counted once."""
    whole = Score("all, each once")
    for one in verdicts:
        whole.count(one)
    return whole


def key(mutant: Mutant) -> Key:
    return mutant.file.name, mutant.owner, mutant.was, mutant.now, mutant.nth


def equivalents(path: Path = LIST) -> dict[Key, str]:
    """The hand-kept list: mutants that do what the original does, each with the reason."""
    entries = tomllib.loads(path.read_text(encoding="utf-8")).get("equivalent", [])
    names = [(one["file"], one["function"], one["was"], one["now"], one.get("nth", 1)) for one in entries]
    return dict(zip(names, (one["reason"] for one in entries), strict=True))


def unmatched(listed: Iterable[Key], subjects: Collection[Subject]) -> list[Key]:
    """Entries that are no mutant any more."""
    known = {key(mutant) for subject in subjects for mutant in subject.mutants}
    return [one for one in listed if one not in known]


def faults(several: dict[str, Score], verdicts: Sequence[Verdict], listed: dict[Key, str]) -> list[str]:
    """What is wrong: too many survivors, too many equivalent mutants, or entries that are not equivalent."""
    whole, found = total(verdicts), list[str]()
    for one in several.values():
        if one.share < 0.8:
            found.append(f"{one.name}: only {one.share:.0%} killed, at least 80 % is asked")
    if whole.share < 0.95:
        found.append(f"only {whole.share:.1%} of all mutants killed, at least 95 % is asked")
    if whole.equivalent > 0.05 * whole.mutants:
        found.append(f"{whole.equivalent} of {whole.mutants} mutants are listed as equivalent, at most 5 % may be")
    for verdict in verdicts:
        if verdict.outcome == "killed" and key(verdict.mutant) in listed:
            found.append(f"listed as equivalent, but {verdict.killer} fails: {verdict.mutant}")
    return found
