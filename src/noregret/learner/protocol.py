"""The Learner protocol: what everything that plays rounds has, whatever it is made of.

`make`, `load`, `play`, `race`, the command line, metrics, estimators and reports depend on this and on the card.
"""

from typing import Any, Protocol, Self, runtime_checkable

from numpy.typing import NDArray

from noregret.data.inputs import LabelsLike, RowLike, RowsLike, WeightsLike
from noregret.data.transcript import Transcript
from noregret.rules.card import Card


@runtime_checkable
class Learner(Protocol):
    """Learns from rounds, one at a time or many, and predicts."""

    source: dict[str, Any] | None
    """What the doors remember of the data it was learned from, kept in the model file."""

    @property
    def card(self) -> Card:
        """Name, paper, parameters, guarantee, merge law; also of methods that are not rules."""

    @property
    def task(self) -> str:
        """The name of the task it plays."""

    @property
    def rounds(self) -> int:
        """How many rounds were learned."""

    @property
    def mistakes(self) -> int:
        """How many of them were predicted wrongly, just before they were learned."""

    @property
    def updates(self) -> int:
        """On how many of them the learner changed."""

    def play(self, X: RowsLike, y: LabelsLike = None, weight: WeightsLike = None, query: Any = None) -> Transcript:
        """Predict, then learn, every round; all of them, or none."""

    def learn(self, X: RowsLike, y: LabelsLike = None, weight: WeightsLike = None, query: Any = None) -> Self:
        """Learn every round, in order, as `learn_one` in a loop does."""

    def learn_one(self, x: RowLike, y: LabelsLike = None, weight: float | None = None) -> Self:
        """Learn one round."""

    def predict(self, X: RowsLike) -> NDArray[Any]:
        """What the task defines for every row: labels, targets, components."""

    def predict_one(self, x: RowLike) -> Any:
        """The same for one row; None before anything was learned."""

    def copy(self) -> Self:
        """An independent learner in the same state, copied in memory."""

    def save(self, path: Any) -> None:
        """Write the learner to a file."""


@runtime_checkable
class Revertible(Learner, Protocol):
    """A learner that can go back to an earlier state."""

    def revert_to(self, saved: Self) -> None:
        """Take the state of a copy made earlier, which must not be used any more."""


@runtime_checkable
class SelfEvaluating(Protocol):
    """A learner whose inputs and outputs are objects of any kind, not rows and labels; it knows what mistakes are."""

    def evaluate(self, X: RowsLike, y: LabelsLike) -> Transcript:
        """Predict every round and compare with y; nothing is learned."""
