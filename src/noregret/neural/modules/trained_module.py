"""A torch module that is being trained: what belongs to its state, one pass, and one step of its optimizer."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.algebra.partial_features import first_random
from noregret.errors import BadValue, Error, is_quit
from noregret.neural.modules.consolidation import Consolidation
from noregret.neural.modules.finite import all_finite, find_infinite
from noregret.neural.modules.modes import Modes, learning_modes, looks_at_mode, predicting_modes
from noregret.neural.modules.module_file import Module
from noregret.neural.modules.module_losses import INDEX, Loss, choose_loss
from noregret.neural.modules.module_optimizers import keeps_faults
from noregret.neural.modules.random_numbers import RandomState, start_random
from noregret.neural.modules.remembered_rounds import RememberedRounds, Round
from noregret.neural.modules.savepoint import list_buffers
from noregret.neural.modules.tensors import Tensor, load_torch
from noregret.neural.net import ANCHORED, RANDOM, STEPS
from noregret.neural.network import COUNTERS

Floats = NDArray[np.float64]
Shape = tuple[int, ...]


@dataclass(frozen=True)
class Plan:
    """How a module is trained, whatever it has learned."""

    loss: Any  # a name, a function of the caller, or None for the usual one
    real: bool  # whether targets are numbers, and no classes
    shape: Shape | None  # of one row as the module takes it; None: as long as the rows are
    integers: bool  # whether rows are whole numbers, such as those of words
    scales_target: bool
    batch: int
    clip: float
    replay: int
    replays: int
    anchor: float
    seed: int


class Fault(Error):
    """Something in a round is not finite; the message says what."""


class TrainedModule:
    """A module, its optimizer, and what is kept of rounds. What is no tensor of theirs is replaced, never changed."""

    def __init__(self, module: Module, optimizer: Any, plan: Plan) -> None:
        self.module, self.optimizer, self.plan = module, optimizer, plan
        named = [(name, one) for name, one in module.named_parameters() if one.requires_grad]
        self.names, self.trainable = [name for name, _ in named], [one for _, one in named]
        self.device = self.trainable[0].device
        self.dtype = load_torch().int64 if plan.integers else self.trainable[0].dtype
        self.watched = [(part, name) for part, name, buffer in list_buffers(module) if all_finite([buffer])]
        self.spreads = keeps_faults(optimizer)
        self.counters = np.zeros(COUNTERS)
        self.counters[RANDOM] = first_random(plan.seed)
        self.random: RandomState = start_random(plan.seed, self.device)
        self.consolidation = Consolidation(self.trainable) if plan.anchor else None
        self.pending: tuple[Round, ...] = ()  # rounds of an incomplete mini-batch
        self.memory: RememberedRounds | None = None
        self.sign = (
            1.0  # of the one output of two classes: it turns where the first class was taken for the positive one
        )
        self.shape, self.outputs = plan.shape, 0  # known after the first row
        self.careful = False  # whether every step is checked by itself

    # ---- the first row -----------------------------------------------------------------------------------------------

    def set_up(self, width: int) -> None:
        """Learn from a row of zeros how many outputs there are, and how passes have to be made."""
        shape = self.shape or (width,)
        x = load_torch().zeros((1, *shape), dtype=self.dtype, device=self.device)
        self.modes: tuple[Modes, Modes] = learning_modes(self.module), predicting_modes(self.module)
        output = self.try_row(lambda: self.pass_once(x), shape)
        sizes = tuple(output.shape) if isinstance(output, load_torch().Tensor) else None
        if sizes not in ((1,), (1, output.shape[-1])) or not prod(sizes):
            what = f"a tensor of shape {sizes}" if sizes is not None else f"a {type(output).__name__}"
            raise BadValue(f"for a batch of one row the module must return a tensor of shape (1, outputs), not {what}")
        outputs = prod(sizes)
        if self.plan.real and outputs > 1:
            raise BadValue(f"in regression the module must have one output, not {outputs}")
        self.loss: Loss = choose_loss(self.plan.loss, self.plan.real, outputs)
        self.target_shape: Shape = () if self.loss.target == INDEX else sizes[1:]
        self.target_dtype = load_torch().int64 if self.loss.target == INDEX else output.dtype
        target = load_torch().ones((1, *self.target_shape), dtype=self.target_dtype, device=self.device)
        found = self.try_row(lambda: self.loss.function(output, target.clamp(max=outputs - 1)), shape)
        if not isinstance(found, load_torch().Tensor) or found.numel() != 1:
            raise BadValue("the loss must return one number, a tensor of one element; leave reduction='none' out")
        self.two_passes = looks_at_mode(self.module, x)
        self.shape, self.outputs = shape, outputs

    def try_row(self, act: Callable[[], Any], shape: Shape) -> Any:
        """Act on a row of zeros; an error of the module says what it was given."""
        try:
            with load_torch().no_grad():
                return act()
        except Exception as error:
            if is_quit(error) or isinstance(error, (Error, MemoryError)):
                raise
            hint = "" if self.plan.shape else "; give shape=, the shape of one row, if it should be another"
            raise BadValue(f"the module does not take a row of shape {shape}: {explain(error)}{hint}") from error

    def pass_once(self, x: Tensor) -> Tensor:
        """Predict in evaluation mode."""
        learning, predicting = self.modes
        for part, mode in predicting:
            part.training = mode
        try:
            return self.module(x)
        finally:
            for part, mode in learning:
                part.training = mode

    @property
    def features(self) -> int:
        """How many numbers a row has."""
        return prod(self.shape or ())

    # ---- passes and steps --------------------------------------------------------------------------------------------

    def predict(self, x: Tensor) -> Tensor:
        """The outputs for a row."""
        with load_torch().no_grad():
            return self.pass_once(x) if self.two_passes else self.module(x)

    def learn_rounds(self, rounds: tuple[Round, ...]) -> None:
        """One step by the mean loss of some rounds, each as much as it weighs."""
        if len(rounds) == 1:
            self.take_step(self.loss.function(self.module(rounds[0].x), rounds[0].target) * rounds[0].weight)
            return
        torch = load_torch()
        output = self.module(torch.cat([one.x for one in rounds]))
        if all(one.weight == 1.0 for one in rounds):
            self.take_step(self.loss.function(output, torch.cat([one.target for one in rounds])))
            return
        losses = [self.loss.function(output[t : t + 1], one.target) * one.weight for t, one in enumerate(rounds)]
        self.take_step(torch.stack(losses).sum() / len(rounds))

    def take_step(self, loss: Tensor) -> None:
        """One step of the optimizer down the gradient of a loss."""
        plan = self.plan
        for one in self.trainable:
            one.grad = None
        if self.careful and not all_finite([loss]):
            raise Fault(f"the loss is {loss.detach().item()}")
        loss.backward()
        if self.careful:
            self.check_gradients()
        if plan.clip:
            load_torch().nn.utils.clip_grad_norm_(self.trainable, plan.clip)
        if self.consolidation is not None:
            self.consolidation.pull(self.trainable, plan.anchor)
        self.optimizer.step()
        self.counters[STEPS] += 1.0
        if self.careful:
            self.check_state()

    def consolidate(self) -> None:
        """Make the parameters of now the anchor."""
        assert self.consolidation is not None
        counters = self.counters.copy()
        steps = float(counters[STEPS] - counters[ANCHORED])
        counters[ANCHORED] = counters[STEPS]
        self.consolidation = self.consolidation.consolidate(self.trainable, steps)
        self.counters = counters

    # ---- copies ------------------------------------------------------------------------------------------------------

    def copy(self) -> "TrainedModule":
        """An independent module in the same state, with an optimizer of its own."""
        module, optimizer = deepcopy((self.module, self.optimizer))
        new = TrainedModule(module, optimizer, self.plan)
        new.take(self)
        if self.memory is not None:
            new.memory = self.memory.copy()
        if self.consolidation is not None:
            new.consolidation = deepcopy(self.consolidation)
        if self.outputs:
            new.modes = tuple(move_modes(one, module) for one in self.modes)  # type: ignore[assignment]
        return new

    def take(self, other: "TrainedModule") -> None:
        """Take the state of another module of the same layers; the module itself stays the same object."""
        with load_torch().no_grad():
            for one, its in zip(self.module.parameters(), other.module.parameters(), strict=True):
                one.copy_(its)
            for (part, name, _), (_, _, buffer) in zip(
                list_buffers(self.module), list_buffers(other.module), strict=True
            ):
                part._buffers[name].copy_(buffer)
        pairs = dict(zip(list_moved(other.optimizer), list_moved(self.optimizer), strict=True))
        states = {pairs[one]: deepcopy(state) for one, state in other.optimizer.state.items()}
        self.optimizer.state.clear()
        self.optimizer.state.update(states)
        for group, its in zip(self.optimizer.param_groups, other.optimizer.param_groups, strict=True):
            group.update({key: value for key, value in its.items() if key not in ("params", "param_names")})
        own = {name: value for name, value in vars(other).items() if name not in OWN}
        vars(self).update(own, counters=other.counters.copy())

    # ---- what must be finite -----------------------------------------------------------------------------------------

    def list_state(self) -> dict[str, Tensor]:
        """All numbers that must stay finite, by name."""
        found = dict(zip(self.names, self.trainable, strict=True))
        found |= {f"the buffer {name}": part._buffers[name] for part, name in self.watched}
        for name, one in zip(self.names, self.trainable, strict=True):
            state = self.optimizer.state.get(one, {})
            found |= {
                f"{key} of {name} in the optimizer": value for key, value in state.items() if hasattr(value, "detach")
            }
        if self.consolidation is not None:
            found |= self.consolidation.named(self.names)
        return found

    def check_state(self) -> None:
        state = self.list_state()
        if not all_finite(list(state.values())):
            raise Fault(f"after the step {find_infinite(state)} is no longer finite")

    def check_gradients(self) -> None:
        gradients = {
            name: one.grad for name, one in zip(self.names, self.trainable, strict=True) if one.grad is not None
        }
        if not all_finite(list(gradients.values())):
            raise Fault(f"the gradient of {find_infinite(gradients)} is not finite")


OWN = ("module", "optimizer", "trainable", "watched", "modes")  # what belongs to one module only


def list_moved(optimizer: Any) -> list[Tensor]:
    """The parameters of an optimizer, in order."""
    return [one for group in optimizer.param_groups for one in group["params"]]


def move_modes(modes: Modes, module: Module) -> Modes:
    """The same modes for a copy of a module."""
    return [(part, mode) for part, (_, mode) in zip(module.modules(), modes, strict=True)]


def explain(error: Exception) -> str:
    """What torch says, on one line, with a hint where it is known what helps."""
    text = " ".join(str(error).split()) or type(error).__name__
    text = text if len(text) <= 300 else f"{text[:297]}..."
    if "more than 1 value per channel" in text:
        return f"{text}; batch normalization learns from several rows at a time: use batch=8, or GroupNorm or LayerNorm"
    if "same dtype" in text or "expected scalar type" in text or "dtype" in text:
        return f"{text}; give all of it one type, as by module.float(); integers=True gives a module whole numbers"
    return text
