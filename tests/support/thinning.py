"""Fewer cases of long parametrized tests: `make test-all` has all of them."""

import re
from collections import Counter

import pytest

from noregret.learner.factory import learners
from verification.mutants.record import read


def thin_out(items: list[pytest.Item]) -> list[pytest.Item]:
    """The cases to leave out of tests marked `thinned(n)`: all but every n-th, and but those that kill a mutant.

    All cases of a rule stay until its mutants have been run.
    """
    killers, seen, left_out = set(read().values()), Counter[str](), []
    new = learners().rules.keys() - {first_word(name) for name in killers}
    for item in items:
        mark = item.get_closest_marker("thinned")
        if mark is None:
            continue
        function = item.nodeid.partition("[")[0]
        if seen[function] % mark.args[0] and item.nodeid not in killers and first_word(item.nodeid) not in new:
            left_out.append(item)
        seen[function] += 1
    return left_out


def first_word(name: str) -> str:
    """The first word of what a case of a test is called by; often a rule."""
    found = re.search(r"\[(\w+)", name)
    return found[1] if found else ""
