"""Matrix factorisation of ratings, one rating at a time, from the formulas: no tables, and sums over all there was.

Ratings are shares x of their scale. g(u, i) = 1 / (1 + exp(-(offset + U_u . V_i))), where the offset is 0 or the
log-odds of the mean with the biases of user and item.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class NaiveFactorisation:
    """PMF or RMF, by gradient steps (sgd) or by dual averaging (da). `start` gives the first factors of a number."""

    def __init__(self, start: Callable[[int, int], Floats], **params: Any) -> None:
        self.start, self.p = start, params
        self.factors: dict[Any, Floats] = {}
        self.gradients: dict[Any, list[Floats]] = {}
        self.stored: dict[Any, dict[Any, float]] = {}  # by user: ratings by item, in the order of their appearance
        self.deviations: dict[Any, dict[Any, float]] = {}  # by user or item: by the other one
        self.errors: list[float] = []  # of the mean with the biases, before learning
        self.error = 0.0  # of the last prediction

    def bias(self, side: str, name: Any) -> float:
        found = self.deviations.get((side, name), {})
        return sum(found.values()) / (len(found) + self.p["damping"]) if found else 0.0

    def mean(self) -> float:
        shares = [x for ratings in self.stored.values() for x in ratings.values()]
        return sum(shares) / len(shares) if shares else 0.5

    def offset(self, user: Any, item: Any) -> float:
        if self.p["biases"] == "no":
            return 0.0
        share = min(max(self.baseline(user, item), 0.002), 0.998)
        return float(np.log(share / (1.0 - share)))

    def baseline(self, user: Any, item: Any) -> float:
        return self.mean() + self.bias("user", user) + self.bias("item", item)

    def share(self, user: Any, item: Any) -> float:
        score = self.offset(user, item) + self.factors["user", user] @ self.factors["item", item]
        return float(1.0 / (1.0 + np.exp(-score)))

    def predict(self, user: Any, item: Any) -> float:
        known = ("user", user) in self.gradients and ("item", item) in self.gradients
        if known:
            share = self.share(user, item)
        elif self.p["biases"] == "no":
            share = self.mean()
        else:
            share = float(1.0 / (1.0 + np.exp(-self.offset(user, item))))
        return float(self.p["minimum"] + (self.p["maximum"] - self.p["minimum"]) * share)

    def learn(self, user: Any, item: Any, rating: float) -> None:
        x = (rating - self.p["minimum"]) / (self.p["maximum"] - self.p["minimum"])
        for side, name in (("user", user), ("item", item)):
            if (side, name) not in self.factors:
                number = sum(1 for known, _ in self.factors if known == side)
                self.factors[side, name] = self.start(["user", "item"].index(side), number)
        mine = {**self.stored.get(user, {}), item: x}
        self.error = (self.predict(user, item) - rating) / (self.p["maximum"] - self.p["minimum"])
        self.errors.append(min(max(self.baseline(user, item), 0.0), 1.0) - x)
        gradient = self.pmf if self.p["model"] == "pmf" else self.rmf
        of_user, of_item = gradient(user, item, mine)
        self.learn_biases(user, item, x)
        self.stored[user] = mine
        self.step("user", user, of_user, self.p["lam_users"])
        self.step("item", item, of_item, self.p["lam_items"])

    def pmf(self, user: Any, item: Any, mine: dict[Any, float]) -> tuple[Floats, Floats]:
        g = self.share(user, item)
        slope = (g - mine[item]) * g * (1.0 - g)
        return slope * self.factors["item", item], slope * self.factors["user", user]

    def rmf(self, user: Any, item: Any, mine: dict[Any, float]) -> tuple[Floats, Floats]:
        items = list(mine)
        g = np.array([self.share(user, one) for one in items])
        p, q = np.exp(list(mine.values())), np.exp(g)
        slopes = (q / q.sum() - p / p.sum()) * g * (1.0 - g)
        of_user = sum(slope * self.factors["item", one] for slope, one in zip(slopes, items, strict=True))
        return np.asarray(of_user), slopes[items.index(item)] * self.factors["user", user]

    def learn_biases(self, user: Any, item: Any, x: float) -> None:
        of_user = self.deviations.setdefault(("user", user), {})
        of_item = self.deviations.setdefault(("item", item), {})
        if item in of_user:
            change = x - self.stored[user][item]
            of_user[item] += change
            of_item[user] += change
            return
        mean, user_bias, item_bias = self.mean(), self.bias("user", user), self.bias("item", item)
        of_user[item] = x - mean - item_bias
        of_item[user] = x - mean - user_bias

    def spread(self) -> float:
        """The error of the baseline in quarters of the scale, or that of a prediction by 2.5, where it is larger."""
        least = float(self.p.get("least_spread", 0.0))
        together = np.array([0.25] * 10 + self.errors)
        return max(4.0 * float(np.sqrt(np.mean(together**2))), 1.6 * abs(self.error), least) if least else 1.0

    def step(self, side: str, name: Any, gradient: Floats, lam: float) -> None:
        seen = self.gradients.setdefault((side, name), [])
        seen.append(gradient)
        if self.p["method"] == "sgd":
            self.factors[side, name] = self.factors[side, name] - self.p["eta"] / self.spread() * (
                gradient + lam * self.factors[side, name]
            )
            return
        t = len(seen)
        beta = self.p["beta"] * self.spread() * np.sqrt(t)
        self.factors[side, name] = -np.mean(seen, axis=0) / (lam + beta / t)
