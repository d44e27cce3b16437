"""What all tests share.

Compiled loops are kept in the user's cache folder, or in the one NOREGRET_CACHE names; test processes that run side by
side share it, so that each loop is compiled once. Linear algebra has one thread in each of them: as many test processes
as cores with as many threads as cores each would wait for each other most of the time.
"""

import gc
import os
from collections.abc import Iterator
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"  # before numpy and torch are imported

import pytest

from noregret.learner.factory import learners
from noregret.rules.registry import REGISTRY
from tests.support.cover import ALL, PART, PARTS
from tests.support.engines import FewLoops
from tests.support.thinning import thin_out

FEW_LOOPS = FewLoops()
ORDER = ("compiles", "many_rounds", "slow")


def pytest_configure(config: pytest.Config) -> None:
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # or each process that a test starts would translate the library
    FEW_LOOPS.install()
    if config.args == ["tests"] and os.environ.get("PYTEST_XDIST_WORKER", "gw0")[-1] in "13579":
        config.args = list_folders(config.rootpath / "tests")[::-1]


def list_folders(tests: Path) -> list[str]:
    """The folders and files of tests, in order.

    Every second process reads them from the last to the first. Python translates a file when it is first read, which
    takes longer than all else before the tests: so each process translates half of them, and finds the other half.
    """
    return sorted(str(one) for one in tests.iterdir() if one.is_dir() or one.match("test_*.py"))


def pytest_report_header() -> str | None:
    """What share of all loops `make test-all` compiles in this run, and how to have this part again."""
    if not ALL:
        return None
    from tests.conformance.loops import CHECKED, NATIVE

    return (
        f"compiled: {len(CHECKED)} of {len(NATIVE)} combinations of rule, task, algebra and options; "
        f"of those of several options part {PART} of {PARTS} (NOREGRET_TEST_PART={PART})"
    )


def place(item: pytest.Item) -> int:
    names = {mark.name for mark in item.iter_markers()}
    return min((ORDER.index(name) for name in names if name in ORDER), default=len(ORDER))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Long tests first, so that no process is alone with one at the end; before them those that compile for all."""
    items.sort(key=lambda item: item.path)
    if not ALL:
        left_out = set(thin_out(items))
        config.hook.pytest_deselected(items=list(left_out))
        items[:] = [item for item in items if item not in left_out]
    items.sort(key=place)


def pytest_runtest_setup(item: pytest.Item) -> None:
    compiles = any(item.get_closest_marker(name) is not None for name in ("compiles", "many_rounds"))
    FEW_LOOPS.active = not compiles


@pytest.fixture(autouse=True)
def own_rules_leave_the_catalogue() -> Iterator[None]:
    """A rule that a test registers is unknown to the tests after it."""
    before = dict(REGISTRY)
    yield
    if before != REGISTRY:
        REGISTRY.clear()
        REGISTRY.update(before)


def pytest_collection_finish() -> None:
    """Tests and modules stay until the end: to look through them for garbage again and again would take a minute."""
    learners()  # registers all built-in ones
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 10, 10)
