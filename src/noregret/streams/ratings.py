"""Synthetic ratings: products of hidden factors with biases of users and items, and noise, rounded to 1 to 5."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from noregret.data.settings import Setting, Settings
from noregret.streams.generators import BLOCK, Generator

MEAN, BIAS, SPREAD = 3.3, 0.5, 0.8  # of ratings; deviations of each kind of bias, and of the products of factors
LOW, HIGH = 1, 5


class Ratings(Generator):
    """Pairs of a user and an item with ratings from 1 to 5; some items are rated much more often than others."""

    about = "users, items and ratings from 1 to 5: products of hidden factors, biases and noise"
    task = "recommendation"
    columns = 2
    learner_defaults: ClassVar[dict[str, Any]] = {"task": "recommendation"}
    settings: ClassVar[Settings] = {
        "users": Setting(400, 1, 10_000_000, whole=True),
        "items": Setting(300, 1, 10_000_000, whole=True),
        "rank": Setting(3, 1, 1000, whole=True),
        "noise": Setting(0.3, 0.0, 100.0),
    }

    def __init__(self, rng: np.random.Generator, users: int, items: int, rank: int, noise: float) -> None:
        self.noise = noise
        self.of_users, self.of_items = rng.normal(size=(users, rank)), rng.normal(size=(items, rank))
        self.user_biases, self.item_biases = BIAS * rng.normal(size=users), BIAS * rng.normal(size=items)

    def draw(self, rng: np.random.Generator, first: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        u = rng.integers(len(self.of_users), size=BLOCK)
        i = (len(self.of_items) * rng.random(BLOCK) ** 2).astype(np.int64)
        products = (self.of_users[u] * self.of_items[i]).sum(axis=1) / np.sqrt(self.of_users.shape[1])
        exact = MEAN + self.user_biases[u] + self.item_biases[i] + SPREAD * products
        ratings = np.clip(np.rint(exact + self.noise * rng.normal(size=BLOCK)), LOW, HIGH)
        return np.stack([u, i], axis=1), ratings.astype(np.int64)
