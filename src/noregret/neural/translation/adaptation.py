"""One round of a translator: the loss of a validated pair, its gradient, and one step of the optimizer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from noregret.errors import BadValue, Error, shown
from noregret.neural.translation.sizes import LONGEST, Sizes
from noregret.neural.translation.tensors import Tensor, Weights, torch
from noregret.neural.translation.transformer import log_probabilities
from noregret.neural.translation.updates import OPTIMIZERS, Kept, Optimizer, Round, all_finite, clip, flatten
from noregret.neural.translation.vocabulary import BEGIN, END, Vocabulary

TRAINS = {"all": "", "decoder": "decoder", "embeddings": "embeddings"}  # the beginnings of the names of weights


@dataclass(frozen=True)
class State:
    """What a translator has learned. No tensor in it is ever changed: a step makes a new state."""

    vector: Tensor  # all weights
    kept: Kept  # what the optimizer keeps beside them
    steps: int

    @classmethod
    def begin(cls, vector: Tensor, adaptation: "Adaptation") -> "State":
        """Weights that have not adapted yet."""
        return cls(vector, adaptation.optimizer.start(vector.numel()), 0)


@dataclass(frozen=True)
class Step:
    """A round that was learned."""

    state: State
    loss: float  # -log p(y | x) before the step
    wrong: bool  # whether greedy decoding would not have given the reference
    updated: bool


@dataclass(frozen=True)
class Adaptation:
    """How a translator steps: the optimizer, its numbers, and the weights that it may change."""

    sizes: Sizes
    optimizer: Optimizer
    eta: float
    clip: float
    margin: float
    trained: tuple[str, ...]

    @classmethod
    def of(cls, sizes: Sizes, options: Mapping[str, Any]) -> "Adaptation":
        """By the options of a translator, all checked."""
        optimizer, start = OPTIMIZERS[options["optimizer"]], TRAINS[options["trains"]]
        trained = tuple(name for name in sizes.shapes if name.startswith(start))
        return cls(sizes, optimizer, options["eta"] or optimizer.eta, options["clip"], options["margin"], trained)

    def step(self, state: State, source: Sequence[int], target: Sequence[int], place: str) -> Step:
        """One step toward a validated pair; where a number would not be finite it is refused, and nothing changes."""
        loss, wrong, gradient = self.differentiate(state.vector, source, target)
        if not all_finite(gradient) or loss != loss or loss == float("inf"):
            raise Error(
                f"{place}: the loss of this pair or its gradient is not finite; nothing was learned: use a smaller eta"
            )
        excess = loss - self.margin * (len(target) + 1)
        direction = clip(gradient, self.clip)
        told = Round(self.eta, state.steps + 1, excess, float(gradient @ direction))
        vector, kept = self.optimizer.update(told, state.vector, direction, state.kept)
        if not all_finite(vector, *kept.values()):
            raise Error(f"{place}: the step of this pair makes weights that are not finite; use a smaller eta")
        updated = vector is not state.vector
        return Step(State(vector, kept, told.step) if updated else state, loss, wrong, updated)

    def differentiate(self, vector: Tensor, source: Sequence[int], target: Sequence[int]) -> tuple[float, bool, Tensor]:
        """-log p(y | x), whether greedy decoding would give another translation, and the gradient of all weights."""
        leaves = {name: one.detach() for name, one in self.sizes.views(vector).items()}
        for name in self.trained:
            leaves[name].requires_grad_()
        with torch().enable_grad():
            loss, wrong = pair_loss(self.sizes, leaves, source, target)
            found = torch().autograd.grad(loss, [leaves[name] for name in self.trained])
        gradients = dict(zip(self.trained, found, strict=True))
        zeros = {name: torch().zeros_like(one) for name, one in leaves.items() if name not in gradients}
        return float(loss.detach()), wrong, flatten((gradients | zeros)[name] for name in leaves)


def pair_loss(sizes: Sizes, w: Weights, source: Sequence[int], target: Sequence[int]) -> tuple[Tensor, bool]:
    """-log p(y | x) as a tensor, and whether another piece is more probable than that of the reference at any place."""
    pieces = torch().tensor([BEGIN, *target, END])
    found = log_probabilities(w, sizes, torch().tensor([*source, END]), pieces)
    wrong = bool((found.detach().argmax(-1) != pieces[1:]).any())
    return -found.gather(-1, pieces[1:, None]).sum(), wrong


def judge(sizes: Sizes, w: Weights, source: Sequence[int], target: Sequence[int]) -> tuple[float, bool]:
    """-log p(y | x), and whether greedy decoding would give another translation."""
    with torch().no_grad():
        loss, wrong = pair_loss(sizes, w, source, target)
    return float(loss), wrong


def check_pair(vocabulary: Vocabulary, source: Any, reference: Any, place: str) -> tuple[list[int], list[int]]:
    """The pieces of a sentence and of its translation, which can be learned."""
    pieces = []
    for what, text in (("sentence", source), ("translation", reference)):
        if not isinstance(text, str):
            raise BadValue(f"{place}: the {what} must be a string, not {shown(text)}")
        found = vocabulary.encode(text)
        if not found:
            raise BadValue(f"{place}: the {what} is empty; leave out pairs that have nothing to learn from")
        if len(found) > LONGEST:
            raise BadValue(
                f"{place}: the {what} has {len(found):,} pieces; at most {LONGEST:,} can be learned: split it"
            )
        pieces.append(found)
    return pieces[0], pieces[1]
