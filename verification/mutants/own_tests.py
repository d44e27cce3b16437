"""Select the tests for a mutant: those of its subject that enter the changed function, the quickest first."""

import re
from collections.abc import Collection, Sequence
from pathlib import Path

from verification.mutants.mutate import Mutant
from verification.mutants.patch import module_of, running_function
from verification.mutants.subjects import Subject
from verification.mutants.trials import Passed, Place


def place_of(mutant: Mutant) -> Place | None:
    """Where the broken function begins; None for what belongs to all of its file."""
    if mutant.kind == "hook" or (
        "." not in mutant.owner and isinstance(vars(module_of(mutant.file))[mutant.owner], float)
    ):
        return None
    code = running_function(module_of(mutant.file), mutant.owner).__code__
    return code.co_filename, code.co_firstlineno


def own_tests(subject: Subject, tests: Collection[Passed], rules: Collection[Place]) -> list[Passed]:
    """The tests of a subject: those that play its rule, name it, or play nobody."""
    mine = None if subject.rule is None else (subject.rule.__code__.co_filename, subject.rule.__code__.co_firstlineno)

    def belongs(test: Passed) -> bool:
        if mine is None or mine in test.entered or not any(rule in test.entered for rule in rules):
            return True
        return subject.name in re.findall(r"\w+", test.name.partition("[")[2])

    return [test for test in tests if subject.may_own(test.name) and belongs(test)]


def tests_against(mutant: Mutant, tests: Sequence[Passed]) -> list[Passed]:
    """Of these tests, those that enter the code that a mutant changes."""
    place = place_of(mutant)
    file = str(Path(mutant.file))
    fitting = [
        test
        for test in tests
        if (place in test.entered if place is not None else any(where == file for where, _ in test.entered))
    ]
    return sorted(fitting, key=lambda test: test.seconds)
