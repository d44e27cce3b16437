"""Discriminative ridge regression: weights whose score differences are the differences of quality, by least squares."""

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from noregret.errors import BadValue
from noregret.learner.header_fields import corrupt, read_param
from noregret.learner.model_file import Arrays, Header, register_kind
from noregret.loglinear.feature_columns import Table
from noregret.loglinear.list_learner import ListLearner, read_array
from noregret.loglinear.quality import QUALITY
from noregret.rules.merge_law import Merge
from noregret.rules.method_card import method_card
from noregret.rules.parameters import Choice, Param

Floats = NDArray[np.float64]
BETA = Param(0.01, above=0.0, about="the strength of the ridge penalty", search=(1e-4, 1e2, "log"))
MIX = Param(0.1, at_least=0.0, at_most=1.0, about="the share of the solution of one list in the new weights; "
            'accumulate="yes" does not read it', grid=(0.01, 0.03, 0.1, 0.3, 1.0))  # fmt: skip
ACCUMULATE = Choice("yes", {"yes": None, "no": None}, "whether the sums of all lists are solved, not those of one list")
FORGET = Param(1.0, above=0.0, at_most=1.0, about="the factor by which the sums of earlier lists shrink in every round "
               'with accumulate="yes"', grid=(0.9, 0.99, 0.999, 1.0))  # fmt: skip
LARGEST = 4096  # features of which all products are kept


class RidgeState:
    """The weights and, accumulated, the sums of R'R and R'l; `start` holds the first weights."""

    def __init__(self, weights: Floats, start: Floats, products: Floats | None, targets: Floats | None) -> None:
        self.weights, self.start, self.products, self.targets = weights, start, products, targets

    def copy(self) -> "RidgeState":
        sums = [None if one is None else one.copy() for one in (self.products, self.targets)]
        return RidgeState(self.weights.copy(), self.start.copy(), *sums)

    def is_finite(self) -> bool:
        kept = (self.weights, self.products, self.targets)
        return all(one is None or bool(np.isfinite(one).all()) for one in kept)


def solve_ridge(R: Floats, losses: Floats, beta: float) -> Floats:
    """The weights that minimise |R w - losses|^2 + beta |w|^2; by the smaller of its two systems of equations."""
    rows, columns = R.shape
    if rows < columns:
        return np.asarray(R.T @ np.linalg.solve(R @ R.T + beta * np.eye(rows), losses))
    return np.asarray(np.linalg.solve(R.T @ R + beta * np.eye(columns), R.T @ losses))


@register_kind
@method_card(
    paper="Martinez-Gomez, Sanchis-Trilles and Casacuberta, Online adaptation strategies for statistical machine "
    "translation in post-editing scenarios, Pattern Recognition 45, 2012",
    kind="ridge_reranker",
    tasks=("structured",),
    params={"beta": BETA, "mix": MIX, "accumulate": ACCUMULATE, "forget": FORGET, "quality": QUALITY},
    options=("start",),
    merge=Merge("exact", 'with accumulate="yes" and forget=1 the sums add; otherwise weights depend on the order'),
)
class RidgeReranker(ListLearner[RidgeState]):
    """Rerank lists by weights that predict differences of quality: discriminative ridge regression.

    R holds the features of the best candidate of a list minus those of each, l its quality minus theirs. The weights
    minimise the sum of |R w - l|^2 over all lists plus beta |w - start|^2. With accumulate="no" they move a share of
    the way to the solution of min |R w - l|^2 + beta |w|^2 for each list alone, as in the paper.
    """

    kind: ClassVar[str] = "ridge_reranker"

    def __init__(
        self,
        beta: float = 0.01,
        mix: float = 0.1,
        accumulate: str = "yes",
        forget: float = 1.0,
        quality: str = "bleu",
        start: Any = None,
    ) -> None:
        self.beta = BETA.check("ridge_reranker", "beta", beta)
        self.mix = MIX.check("ridge_reranker", "mix", mix)
        self.accumulate = ACCUMULATE.check("ridge_reranker", "accumulate", accumulate)
        self.forget = FORGET.check("ridge_reranker", "forget", forget)
        super().__init__(quality, start)

    @property
    def params(self) -> dict[str, Any]:
        own = {"beta": self.beta, "mix": self.mix, "accumulate": self.accumulate, "forget": self.forget}
        return {**own, "quality": self.quality}

    @property
    def weights(self) -> dict[str, float]:
        """The weights that are not zero, by feature, the largest first."""
        return self.by_feature(self.state.weights)

    # ---- the method --------------------------------------------------------------------------------------------------

    def start_state(self) -> RidgeState:
        sums = (np.zeros((0, 0)), np.zeros(0)) if self.accumulate == "yes" else (None, None)
        return RidgeState(np.zeros(0), np.zeros(0), *sums)

    def grow(self, state: RidgeState, names: list[str], start: Floats) -> None:
        state.weights, state.start = np.append(state.weights, start), np.append(state.start, start)
        if state.products is not None and state.targets is not None:
            if state.weights.size > LARGEST:
                raise BadValue(f'ridge_reranker keeps the products of at most {LARGEST:,} features; use fewer, or '
                               'accumulate="no"')  # fmt: skip
            state.products = np.pad(state.products, (0, start.size))
            state.targets = np.pad(state.targets, (0, start.size))

    def rank(self, state: RidgeState, table: Table) -> Floats:
        return np.asarray(table.H @ state.weights[table.columns])

    def learn_list(self, state: RidgeState, table: Table, losses: Floats) -> bool:
        if not losses.any():  # one candidate, or all of them equally good
            return False
        R = table.H[np.argmin(losses)] - table.H
        if state.products is None or state.targets is None:
            solved = solve_ridge(R, losses, self.beta)
            state.weights *= 1.0 - self.mix
            state.weights[table.columns] += self.mix * solved
            return True
        state.products *= self.forget
        state.targets *= self.forget
        state.products[np.ix_(table.columns, table.columns)] += R.T @ R
        state.targets[table.columns] += R.T @ losses
        self.solve(state)
        return True

    def solve(self, state: RidgeState) -> None:
        """The weights that minimise the sum of all squares plus beta |w - start|^2."""
        assert state.products is not None
        assert state.targets is not None
        missing = state.targets - state.products @ state.start
        ridge = state.products + self.beta * np.eye(missing.size)
        state.weights = state.start + np.linalg.solve(ridge, missing)

    # ---- merging and model files -------------------------------------------------------------------------------------

    def merge(self, other: Any) -> Self:
        """A new learner of the lists of both: the sums add."""
        self.check_same(other)
        if self.accumulate == "no" or self.forget < 1.0:
            raise BadValue('ridge_reranker merges with accumulate="yes" and forget=1; otherwise its weights depend on '
                           "the order of the lists")  # fmt: skip
        new = self.copy()
        state, theirs = new.state, other.state
        known = len(new.columns)
        new.columns.add([other.columns.known])
        new._grow(state, new.columns.since(known))
        places = np.array([new.columns.known[name] for name in other.columns.known], np.intp)
        state.products[np.ix_(places, places)] += theirs.products  # type: ignore[index]
        state.targets[places] += theirs.targets  # type: ignore[index]
        if len(new.columns):
            new.solve(state)
        new.rounds, new.mistakes = self.rounds + other.rounds, self.mistakes + other.mistakes
        new.updates = self.updates + other.updates
        return new

    def dump_state(self) -> tuple[Header, Arrays]:
        arrays = {"weights": self.state.weights}
        if self.state.products is not None and self.state.targets is not None:
            arrays |= {"products": self.state.products, "targets": self.state.targets}
        return self.params, {name: array.copy() for name, array in arrays.items()}

    @classmethod
    def restore_with(cls, header: Header, arrays: Arrays, common: dict[str, Any]) -> Self:
        numbers: dict[str, Any] = {name: read_param(header, name, one) for name, one in NUMBERS.items()}
        return cls(**numbers, accumulate=header["accumulate"], **common)

    def restore_state(self, arrays: Arrays, features: int) -> RidgeState:
        start = self.first_weights(self.columns.known)
        weights = read_array(arrays, "weights", (features,))
        if self.accumulate == "no":
            return RidgeState(weights, start, None, None)
        if features > LARGEST:
            raise corrupt(f"products are kept of at most {LARGEST} features")
        products = read_array(arrays, "products", (features, features))
        return RidgeState(weights, start, products, read_array(arrays, "targets", (features,)))


NUMBERS = {"beta": BETA, "mix": MIX, "forget": FORGET}
