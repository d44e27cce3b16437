"""Decoders: what a learner of structured output must know of its outputs. A user's decoder is one plain Python class.

An output y of an input x has features, a dict by name, and its score is their sum weighed by the weights w that are
learned. The decoder finds the output with the highest score; the rule learns the weights.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Features = Mapping[Any, float]


class Weights(Protocol):
    """The weights as a decoder sees them. `dots` scores many dicts in one call, much faster than one by one."""

    def dot(self, features: Features) -> float:
        """The score of a dict of features."""

    def dots(self, rows: Sequence[Features]) -> Floats:
        """The scores of several dicts of features."""

    def __getitem__(self, name: Any) -> float:
        """The weight of one feature; 0 where it was never learned."""


@runtime_checkable
class Decoder(Protocol):
    """The outputs of inputs: their features, their losses, and the search for the best one.

    These three methods are enough for rules that update on mistakes. There may be more of them:

    argmax_augmented(w, x, y)   the output with the highest score plus loss(y, output): needed by competitor="max_loss"
    k_best(w, x, y, k)          the k outputs with the highest scores, or score plus loss: by competitor="k_best"
    outputs(x)                  all outputs, where there are few: by competitor="all"; see `EnumeratingDecoder`
    same(y, predicted)          whether a prediction is right, where `==` does not tell
    """

    @abstractmethod
    def features(self, x: Any, y: Any) -> Features:
        """The features of an input and an output together."""

    @abstractmethod
    def argmax(self, w: Weights, x: Any) -> Any:
        """The output with the highest score."""

    @abstractmethod
    def loss(self, y: Any, predicted: Any) -> float:
        """What it costs to predict this for y: 0 for the truth, never negative."""


class EnumeratingDecoder(ABC):
    """A decoder of inputs with few outputs, which are tried one by one. Of equals the first is the best."""

    @abstractmethod
    def outputs(self, x: Any) -> Sequence[Any]:
        """All outputs of an input."""

    @abstractmethod
    def features(self, x: Any, y: Any) -> Features:
        """The features of an input and an output together."""

    def loss(self, y: Any, predicted: Any) -> float:
        """1 for every output but the right one."""
        return 0.0 if same_output(y, predicted) else 1.0

    def argmax(self, w: Weights, x: Any) -> Any:
        """The output with the highest score."""
        return best(self, w, x, self.outputs(x))

    def argmax_augmented(self, w: Weights, x: Any, y: Any) -> Any:
        """The output with the highest score plus loss."""
        return best_augmented(self, w, x, y, self.outputs(x))

    def k_best(self, w: Weights, x: Any, y: Any, k: int) -> list[Any]:
        """The k outputs with the highest score plus loss."""
        outputs = self.outputs(x)
        return [outputs[place] for place in rank(augmented_scores(self, w, x, y, outputs))[:k]]


def best(decoder: Any, w: Weights, x: Any, outputs: Sequence[Any]) -> Any:
    """The one of some outputs with the highest score."""
    return outputs[int(np.argmax(scores(decoder, w, x, outputs)))]


def best_augmented(decoder: Any, w: Weights, x: Any, y: Any, outputs: Sequence[Any]) -> Any:
    """The one of some outputs, such as a k-best list, with the highest score plus loss."""
    return outputs[int(np.argmax(augmented_scores(decoder, w, x, y, outputs)))]


def scores(decoder: Any, w: Weights, x: Any, outputs: Sequence[Any]) -> Floats:
    """The scores of some outputs, in one call."""
    return w.dots([decoder.features(x, output) for output in outputs])


def augmented_scores(decoder: Any, w: Weights, x: Any, y: Any, outputs: Sequence[Any]) -> Floats:
    """Score plus loss of some outputs."""
    return np.asarray(scores(decoder, w, x, outputs) + [float(decoder.loss(y, output)) for output in outputs])


def rank(values: Floats) -> list[int]:
    """The places of values, the highest first; of equals in their order."""
    return [int(place) for place in np.argsort(-values, kind="stable")]


def same_output(y: Any, predicted: Any) -> bool:
    """Whether two outputs are equal; also where they are arrays, or lists of them."""
    if isinstance(y, np.ndarray) or isinstance(predicted, np.ndarray):
        return bool(np.array_equal(y, predicted))
    return bool(y == predicted)
