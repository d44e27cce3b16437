"""Price relatives for tests."""

import numpy as np


def draw_relatives(days: int, stocks: int, seed: int = 0, spread: float = 0.05) -> np.ndarray:
    """Seeded random price relatives, which are positive."""
    return np.exp(spread * np.random.default_rng(seed).standard_normal((days, stocks)))
