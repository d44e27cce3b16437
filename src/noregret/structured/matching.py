"""Bipartite matching: which item of one list belongs to which item of another, as in record matching or word alignment.

An input is a pair of lists, an output the pairs (i, j) of places that belong together. The score of a matching is the
sum over its pairs, so the best one is found by the assignment algorithm of scipy.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from noregret.errors import BadValue, shown
from noregret.structured.decoder import Features, Floats, Weights

Pairs = tuple[tuple[int, int], ...]


class Matching:
    """Match the items of two lists, with features of pairs.

    `features(left, right)` returns a dict for two items; give it a constant feature, so that the weights can tell how
    much a pair must have in common. With `partial` an item may stay alone, and the loss counts wrong and missed pairs;
    otherwise every item of the shorter list gets a partner, and the loss counts wrong pairs. `alone(item)` returns
    features of an item, of either list, that stays alone.
    """

    def __init__(
        self,
        features: Callable[[Any, Any], Features],
        partial: bool = True,
        alone: Callable[[Any], Features] | None = None,
    ) -> None:
        for function in (features, *([] if alone is None else [alone])):
            if not callable(function):
                raise BadValue(f"features(left, right) and alone(item) must be functions, not {shown(function)}")
        self.pair_features, self.partial, self.alone = features, partial, alone

    def check(self, x: Any, y: Any) -> None:
        """Refuse pairs of places that the lists do not have, or with an item in two pairs."""
        left, right = sides(x)
        pairs = as_pairs(y)
        for i, j in pairs:
            if not (0 <= i < len(left) and 0 <= j < len(right)):
                raise BadValue(f"the pair {(i, j)} is outside of lists of {len(left)} and {len(right)} items")
        if len({i for i, _ in pairs}) < len(pairs) or len({j for _, j in pairs}) < len(pairs):
            raise BadValue(f"an item has two partners in {shown(pairs)}")
        if not self.partial and len(pairs) < min(len(left), len(right)):
            raise BadValue(f"an item has no partner in {shown(pairs)}; allow that by partial=True")

    def features(self, x: Any, y: Any) -> dict[Any, float]:
        """The sum of the features of all pairs, and of items that stay alone."""
        left, right = sides(x)
        pairs, total = as_pairs(y), dict[Any, float]()
        rows = [self.pair_features(left[i], right[j]) for i, j in pairs]
        if self.alone is not None:
            paired = {i for i, _ in pairs}, {j for _, j in pairs}
            for items, matched in zip((left, right), paired, strict=True):
                rows += [self.alone(item) for place, item in enumerate(items) if place not in matched]
        for row in rows:
            for name, value in row.items():
                total[name] = total.get(name, 0.0) + value
        return total

    def argmax(self, w: Weights, x: Any) -> Pairs:
        """The matching with the highest score."""
        return self.best_pairs(self.gains(w, x))

    def argmax_augmented(self, w: Weights, x: Any, y: Any) -> Pairs:
        """The matching with the highest score plus loss, which is a sum over pairs as well."""
        gains = self.gains(w, x) + 1.0
        for i, j in as_pairs(y):
            gains[i, j] -= 2.0 if self.partial else 1.0
        return self.best_pairs(gains)

    def loss(self, y: Any, predicted: Any) -> float:
        """Wrong pairs and, where items may stay alone, missed ones."""
        truth, found = set(as_pairs(y)), set(as_pairs(predicted))
        return float(len(truth ^ found) if self.partial else len(found - truth))

    def same(self, y: Any, predicted: Any) -> bool:
        """Whether both have the same pairs, in whatever order."""
        return set(as_pairs(y)) == set(as_pairs(predicted))

    def gains(self, w: Weights, x: Any) -> Floats:
        """What every pair adds to the score, beside its items alone."""
        left, right = sides(x)
        found = w.dots([self.pair_features(one, other) for one in left for other in right])
        gains = np.array(found, np.float64).reshape(len(left), len(right))
        if self.alone is not None:
            gains -= w.dots([self.alone(item) for item in left])[:, None]
            gains -= w.dots([self.alone(item) for item in right])[None, :]
        return gains

    def best_pairs(self, gains: Floats) -> Pairs:
        """The assignment of the largest sum; a pair that adds nothing is left out where items may stay alone."""
        from scipy.optimize import linear_sum_assignment  # a tenth of a second, only needed here

        rows, columns = linear_sum_assignment(np.maximum(gains, 0.0) if self.partial else gains, maximize=True)
        pairs = zip(rows.tolist(), columns.tolist(), strict=True)
        return tuple((i, j) for i, j in pairs if not self.partial or gains[i, j] > 0.0)


def sides(x: Any) -> tuple[Sequence[Any], Sequence[Any]]:
    """The two lists of an input."""
    if not isinstance(x, (list, tuple)) or len(x) != 2 or not all(hasattr(side, "__len__") for side in x):
        raise BadValue(f"an input of a matching is a pair of lists, not {shown(x)}")
    return x[0], x[1]


def as_pairs(y: Any) -> Pairs:
    """Pairs of places, in order."""
    if not isinstance(y, Iterable) or isinstance(y, (str, bytes, dict)):
        raise BadValue(f"a matching is a list of pairs (i, j), not {shown(y)}")
    pairs = [tuple(pair) if isinstance(pair, (list, tuple, np.ndarray)) else () for pair in y]
    if not all(len(pair) == 2 and all(isinstance(place, (int, np.integer)) for place in pair) for pair in pairs):
        raise BadValue(f"a matching is a list of pairs (i, j) of places, not {shown(y)}")
    return tuple(sorted((int(i), int(j)) for i, j in pairs))
