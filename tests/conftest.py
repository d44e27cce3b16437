"""What all tests share.

Compiled loops are kept in the user's cache folder, or in the one NOREGRET_CACHE names; test processes that run side by
side share it, so that each loop is compiled once.
"""

import gc

import pytest

from tests.support.cover import ALL
from tests.support.engines import FewLoops

FEW_LOOPS = FewLoops()


def pytest_configure() -> None:
    if not ALL:
        FEW_LOOPS.install()


def pytest_runtest_setup(item: pytest.Item) -> None:
    compiles = any(item.get_closest_marker(name) is not None for name in ("compiles", "many_rounds"))
    FEW_LOOPS.active = not ALL and not compiles


def pytest_collection_finish() -> None:
    """Tests and modules stay until the end: to look through them for garbage again and again would take a minute."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
