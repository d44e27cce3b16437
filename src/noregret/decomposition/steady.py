"""Components for a learner behind a decomposition: in coordinates that turn as little as possible while it learns.

Singular vectors turn among each other as long as their singular values are close, so that what a learner knows of a
component would soon be wrong. The space that they span changes much less: rows are described in it by axes that follow
it, each change of which is the smallest one (the orthogonal Procrustes problem).
"""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Generic, TypeVar
from weakref import ref

import numpy as np
from numpy.typing import NDArray

from noregret.decomposition.base import State, UnsupervisedLearner
from noregret.decomposition.factors import Factors, leading_signs, upright_rows
from noregret.decomposition.matrix_rows import pad_columns, read_matrix
from noregret.errors import BadValue, shown

Floats = NDArray[np.float64]
AnyState = TypeVar("AnyState", bound=State)
LARGEST_COMPONENT = 1e300  # of rows to be rebuilt; the sum of as many as there may be is still finite


class SteadyLearner(UnsupervisedLearner[AnyState], Generic[AnyState]):
    """A learner whose state has factors."""

    shared: ClassVar[tuple[str, ...]] = (*UnsupervisedLearner.shared, "_signs")
    _signs: tuple[Callable[[], Any], Floats] = (lambda: None, np.zeros(0))  # the signs last found, and of which state

    rank: int  # the most components there are

    @property
    @abstractmethod
    def components(self) -> Floats:
        """The directions of the factors, one in each row; the largest entry of each is positive."""

    @abstractmethod
    def factors_of(self, state: AnyState) -> Factors:
        """The factors of a state."""

    def keep_steady(self) -> None:
        """From now on, describe rows in coordinates that turn as little as possible, for a learner of them."""
        with self._lock:
            self._change.settle()
            if self.state is not None:
                state: Any = self.state.copy()
                self.factors_of(state).start_frame()
                self.state, self.seen, self._latest = state, (), None
            self.steady = True

    def follow(self, state: AnyState, before: AnyState) -> None:
        """Describe rows by a state in the coordinates of the one that described the rows before them."""
        self.factors_of(state).follow(self.factors_of(before))

    def describe(self, state: AnyState, components: Floats, rank: int) -> Floats:
        """The components of rows as they are told while learning."""
        return pad_columns(self.factors_of(state).locate(components), rank)

    def find_signs(self, state: AnyState) -> Floats:
        """How results differ from what is told while learning: by signs, or by the turn of the frame."""
        of, found = self._signs
        if of() is not state:
            factors = self.factors_of(state)
            signs = leading_signs(factors.right)
            found = signs if factors.frame is None else np.asarray(factors.frame.T * signs)
            self._signs = ref(state), found
        return found

    def origin_of(self, state: AnyState) -> Floats:
        """The point from which rows are described."""
        return np.zeros(self.factors_of(state).features)

    def inverse_transform(self, components: Any) -> Floats:
        """The rows that have these coordinates along the components and nothing else."""
        wanted = f"components are a matrix of {self.rank} columns, as transform gives them"
        given, state = read_matrix(components, wanted, LARGEST_COMPONENT), self.latest
        factors = self.factors_of(state)
        if given.shape[1] not in (self.rank, factors.rank):
            raise BadValue(f"{wanted}, not {shown(given)}")
        return np.asarray(given[:, : factors.rank] @ upright_rows(factors.right) + self.origin_of(state))
