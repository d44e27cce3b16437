"""A run: first the tests of the unchanged code, then every mutant with the tests that could detect it."""

import gc
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path

import pytest

import noregret as nr
from verification.mutants.mutate import Mutant
from verification.mutants.own_tests import own_tests, tests_against
from verification.mutants.patch import install
from verification.mutants.subjects import EVERY, ROOT, Subject
from verification.mutants.trials import Fault, Passed, collect, run_all, run_broken, run_unbroken
from verification.mutants.verdicts import Key, Verdict, key

PIECES = 12  # into which the unbroken tests are cut for each process


class Broken(Exception):
    """The run itself went wrong: a test fails unbroken, or a mutant could not be put in."""


@dataclass
class Run:
    """What is asked for, and what came of it.

    A mutant of what several subjects share is tried once, by the own tests of all of them. Where it is known which
    test killed a mutant before, that one is tried alone and first.
    """

    subjects: Sequence[Subject]  # those asked for
    everyone: Sequence[Subject]  # those that may share something with them
    listed: dict[Key, str]
    jobs: int = 2
    only: Sequence[str] | None = None  # the files of tests to look into, if not all
    choose: Callable[[Subject], Sequence[Mutant]] = lambda subject: subject.mutants
    progress: Callable[[str, int, int], None] = lambda what, done, of: None
    verdict: Callable[[Verdict], None] = lambda verdict: None
    killers: dict[Key, str] = field(default_factory=dict)  # by which test a mutant was killed before
    decided: set[Mutant] = field(default_factory=set)
    tests: list[Passed] = field(default_factory=list)
    left_out: list[Fault] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)
    seconds: float = 0.0

    def __call__(self) -> "Run":
        began = time.perf_counter()
        files = {file for one in self.concerned for file in (*one.files, *EVERY)}
        error: list[BaseException] = []

        def act(items: dict[str, pytest.Item]) -> None:
            try:
                self.try_all(items)
            except BaseException as caught:
                error.append(caught)

        self.progress("collecting tests", 0, 0)
        named = sorted(files if self.only is None else files & set(self.only))
        if collect(ROOT, named, act) > 1 or error:
            raise error[0] if error else Broken("the tests could not be collected")
        self.seconds = time.perf_counter() - began
        return self

    @cached_property
    def sharing(self) -> dict[Mutant, list[str]]:
        """Every mutant once, with the subjects it belongs to."""
        mutants = dict.fromkeys(mutant for subject in self.subjects for mutant in self.choose(subject))
        owners = [(one.name, {(other.file, other.owner) for other in one.mutants}) for one in self.everyone]
        return {mutant: [name for name, has in owners if (mutant.file, mutant.owner) in has] for mutant in mutants}

    @cached_property
    def concerned(self) -> list[Subject]:
        names = {name for several in self.sharing.values() for name in several}
        return [one for one in self.everyone if one.name in names]

    def try_all(self, items: dict[str, pytest.Item]) -> None:
        gc.collect()
        gc.freeze()
        self.try_killers(items)
        if left := [mutant for mutant in self.sharing if mutant not in self.decided]:
            names = {name for mutant in left for name in self.sharing[mutant]}
            known = {one.name for one in self.tests}
            owners = [one for one in self.concerned if one.name in names]
            new = [name for name in items if name not in known]
            self.run_unbroken(items, [name for name in new if any(one.may_own(name) for one in owners)])
            self.break_all(items, self.tests_for(left), final=True)

    def try_killers(self, items: dict[str, pytest.Item]) -> None:
        """A mutant that was killed before meets the test that did it; if that one fails again, no other is needed."""
        known = {mutant: self.killers.get(key(mutant), "") for mutant in self.sharing}
        self.run_unbroken(items, sorted({name for name in known.values() if name in items}))
        passed = {one.name: one for one in self.tests}
        self.break_all(items, {one: [passed[name]] for one, name in known.items() if name in passed}, final=False)

    def run_unbroken(self, items: dict[str, pytest.Item], asked: Sequence[str]) -> None:
        """Run tests without a mutant; none may fail."""
        for found in self.results_unbroken(items, asked):
            (self.tests if isinstance(found, Passed) else self.left_out).append(found)  # type: ignore[arg-type]
        if failing := [f"  {one.name}: {one.words}" for one in self.left_out if one.outcome == "failed"]:
            raise Broken("\n".join(["fails unbroken, when interpreted:", *failing]))

    def tests_for(self, mutants: Sequence[Mutant]) -> dict[Mutant, list[Passed]]:
        """For each mutant the own tests of its subjects that could notice it."""
        rules = {
            (card.rule.__code__.co_filename, card.rule.__code__.co_firstlineno) for card in nr.learners().rules.values()
        }
        owned = {one.name: own_tests(one, self.tests, rules) for one in self.concerned}
        mine = {
            mutant: {test.name: test for name in self.sharing[mutant] for test in owned[name]} for mutant in mutants
        }
        return {mutant: tests_against(mutant, list(tests.values())) for mutant, tests in mine.items()}

    def results_unbroken(self, items: dict[str, pytest.Item], asked: Sequence[str]) -> Iterator[Passed | Fault]:
        """Run tests without a mutant: how long each takes and what it enters."""
        rules = {Path(card.rule.__code__.co_filename) for card in nr.learners().rules.values()}
        watched = sorted({mutant.file for mutant in self.sharing} | rules)
        size = max(1, len(asked) // (PIECES * self.jobs))
        pieces = [asked[at : at + size] for at in range(0, len(asked), size)]
        works = [(piece, partial(run_unbroken, [items[name] for name in piece], watched)) for piece in pieces]
        done = 0
        for piece, results, ended_by in run_all(works, self.jobs):
            if ended_by or len(results) != len(piece):
                at = piece[min(len(results), len(piece) - 1)]
                raise Broken(f"{at} ended its process unbroken: {results[-1:]} {ended_by or ''}")
            done += len(piece)
            self.progress("unbroken tests", done, len(asked))
            yield from results

    def break_all(self, items: dict[str, pytest.Item], chosen: dict[Mutant, list[Passed]], final: bool) -> None:
        """Try each mutant against its tests; unless that is final, one that survives them is not decided yet."""

        def works() -> Iterator[tuple[tuple[Mutant, int], Callable[[], Iterator[str | Fault | int]]]]:
            for mutant, passed in chosen.items():
                tests, seconds = [items[one.name] for one in passed], [one.seconds for one in passed]
                yield (mutant, len(tests)), partial(run_broken, tests, seconds, partial(install, mutant))

        for (mutant, tests), results, ended_by in run_all(works(), self.jobs):
            reason, names = self.listed.get(key(mutant), ""), tuple(self.sharing[mutant])
            one = Verdict(names, mutant, killer(mutant, results, ended_by), tests, reason)
            if final or one.killer:
                self.decided.add(mutant)
                self.verdicts.append(one)
                self.verdict(one)
            self.progress(names[0], len(self.verdicts), len(self.sharing))


def killer(mutant: Mutant, results: Sequence[str | Fault | int], ended_by: int) -> str:
    """Which test noticed: it failed, or it did not end; nothing if none did."""
    last = results[-1] if results else None
    if isinstance(last, Fault):
        if last.outcome == "error":
            raise Broken(f"{mutant} could not be tried: {last.words}")
        return last.name
    if ended_by:
        return last if isinstance(last, str) else f"ended by {signal.Signals(ended_by).name}"
    if last is None:
        raise Broken(f"{mutant} could not be tried")
    return ""
