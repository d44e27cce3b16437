"""Fewer cases of long parametrized tests: `make test-all` has all of them."""

from collections import Counter

import pytest

from verification.mutants.record import read


def thin_out(items: list[pytest.Item]) -> list[pytest.Item]:
    """The cases to leave out of tests marked `thinned(n)`: all but every n-th, and but those that kill a mutant."""
    killers, seen, left_out = set(read().values()), Counter[str](), []
    for item in items:
        mark = item.get_closest_marker("thinned")
        if mark is None:
            continue
        function = item.nodeid.partition("[")[0]
        if seen[function] % mark.args[0] and item.nodeid not in killers:
            left_out.append(item)
        seen[function] += 1
    return left_out
