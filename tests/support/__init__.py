"""What the tests of the border share: a small stream, proof that a refused call changed nothing, rules of a user."""

import contextlib
import importlib.util
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.learner.model_file import pack
from noregret.rules.card import Card
from noregret.rules.registry import REGISTRY

OWN_RULES = Path(__file__).parent / "own_rules.py"


def small_stream(rows: int = 20, columns: int = 4, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Gaussian rows and the sign of a noisy linear score, as -1 and +1."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns))
    return X, np.where(X @ rng.normal(size=columns) + 0.3 * rng.normal(size=rows) > 0.0, 1, -1)


def by_number(row: np.ndarray) -> dict[int, float]:
    return {int(j): float(row[j]) for j in np.flatnonzero(row)}


def by_name(row: np.ndarray) -> dict[str, float]:
    return {f"f{j}": value for j, value in by_number(row).items()}


def refusal(action: Callable[[], Any], kind: type[nr.Error] = nr.BadValue) -> str:
    """The message of the error that an action ends in: of the kind told, short, no word of the compiler."""
    with pytest.raises(nr.Error) as caught:
        action()
    assert isinstance(caught.value, kind), repr(caught.value)
    message = str(caught.value)
    assert message.count("\n") <= 2, message
    assert len(message) <= 600, message
    assert "numba" not in message.lower(), message
    return message


def refused(learner: nr.Learner, action: Callable[[], Any], kind: type[nr.Error] = nr.BadValue) -> str:
    """The same, when the learner is also bit for bit what it was before."""
    before, shown = pack(learner), repr(learner)
    message = refusal(action, kind)
    assert pack(learner) == before
    assert repr(learner) == shown
    return message


def load_own_rules(path: Path = OWN_RULES) -> ModuleType:
    """The rules of a file, without leaving them in the catalogue, which other tests go through."""
    before = dict(REGISTRY)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    finally:
        REGISTRY.clear()
        REGISTRY.update(before)
    return module


@contextlib.contextmanager
def registered(*cards: Card) -> Iterator[None]:
    """Rules as they are for a user who imported their file."""
    nr.learners()
    REGISTRY.update((card.name, card) for card in cards)
    try:
        yield
    finally:
        for card in cards:
            del REGISTRY[card.name]
