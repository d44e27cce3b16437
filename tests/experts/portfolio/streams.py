"""Price relatives and strategies for tests."""

from typing import Any

import numpy as np

import noregret as nr


def make(name: str, **options: Any) -> Any:
    """A strategy that is interpreted, unless native=True."""
    return nr.make(name, **{"native": False, **options})


def draw_relatives(days: int, stocks: int, seed: int = 0, spread: float = 0.05) -> np.ndarray:
    """Seeded random price relatives, which are positive."""
    return np.exp(spread * np.random.default_rng(seed).standard_normal((days, stocks)))
