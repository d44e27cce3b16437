"""The rounds of a call: predict, then learn, every round, and learn again from memory."""

from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.errors import BadValue, Error, is_quit
from noregret.neural.inputs import draw_below, learn_target
from noregret.neural.modules.finite import all_finite
from noregret.neural.modules.remembered_rounds import RememberedRounds, Round
from noregret.neural.modules.tensors import Tensor, load_torch
from noregret.neural.modules.trained_module import Fault, TrainedModule, explain
from noregret.neural.net import REMEMBERED, TARGET_MEAN, TARGET_SQUARES, TARGETS

Floats = NDArray[np.float64]


class RoundFault(Error):
    """A round that cannot be learned; `row` is its number among the rows played."""

    def __init__(self, message: str, row: int, infinite: bool) -> None:
        super().__init__(message)
        self.row, self.infinite = row, infinite


class Rows(NamedTuple):
    """Rows of a call as a module takes them; of targets the mean and the deviation before each round, and at the end.

    `targets` are what outputs are compared with, `given` the same before targets were scaled.
    """

    x: Tensor
    targets: Tensor
    given: Tensor
    weights: list[float]
    means: list[float]
    deviations: list[float]


class Played(NamedTuple):
    """The outputs and the losses of all rounds, before each was learned, and whether anything was learned in it."""

    outputs: list[Tensor]
    losses: list[Tensor]
    updated: list[bool]

    def gather(self) -> tuple[Floats, Floats]:
        """Both as arrays: a row of outputs for every round."""
        torch = load_torch()
        outputs = torch.cat([one.reshape(1, -1) for one in self.outputs])
        losses = torch.stack([one.reshape(()) for one in self.losses])
        return outputs.double().cpu().numpy(), losses.double().cpu().numpy()


def scale_of(n: Floats) -> tuple[float, float]:
    """The mean and the deviation of the targets that counters have seen."""
    return float(n[TARGET_MEAN]), sqrt(n[TARGET_SQUARES] / n[TARGETS]) if n[TARGETS] > 0.0 else 0.0


def scan_targets(counters: Floats, y: Floats, h: Floats, scales: bool) -> tuple[list[float], list[float]]:
    """Of targets the mean and the deviation before each round and after the last; the counters learn them."""
    if not scales:
        return [0.0] * (len(y) + 1), [1.0] * (len(y) + 1)
    means, deviations = [], []
    for t in range(len(y) + 1):
        mean, deviation = scale_of(counters)
        means.append(mean)
        deviations.append(deviation)
        if t < len(y) and h[t] > 0.0:
            learn_target(counters, y[t], h[t])
    return means, deviations


def current_scale(net: TrainedModule) -> tuple[float, float]:
    """The mean and the deviation of the targets so far; 0 and 1 where they are not scaled."""
    return scale_of(net.counters) if net.plan.real and net.plan.scales_target else (0.0, 1.0)


def play_rounds(net: TrainedModule, rows: Rows) -> Played:
    """Predict, then learn, every round. A module whose mode does not matter predicts and learns in one pass."""
    played, t = Played([], [], []), 0
    at_once = net.plan.batch == 1 and not net.two_passes
    own_rounds = zip(rows.x.split(1), rows.targets.split(1), rows.weights, strict=True)
    try:
        for t, (x, target, weight) in enumerate(own_rounds):
            learns = weight > 0.0 and rows.deviations[t] > 0.0
            if learns and at_once:
                output = net.module(x)
                loss = net.loss.function(output, target)
                played.outputs.append(output.detach())
                played.losses.append(loss.detach())
                net.take_step(loss if weight == 1.0 else loss * weight)
            else:
                output = net.predict(x)
                played.outputs.append(output)
                played.losses.append(net.loss.function(output, target))
                if learns:
                    gather(net, Round(x, target, weight))
            played.updated.append(learns)
            if net.plan.replay and weight > 0.0:
                played.updated[-1] = replay(net, rows, t) or learns
                remember(net, Round(x, rows.given[t : t + 1], weight))
    except Fault as fault:
        raise RoundFault(str(fault), t, True) from None
    except Exception as error:
        if is_quit(error) or isinstance(error, (Error, MemoryError)):
            raise
        raise RoundFault(f"the module failed: {explain(error)}", t, not all_finite(played.losses)) from error
    check_played(net, played)
    return played


def check_played(net: TrainedModule, played: Played) -> None:
    """Refuse rounds that left something behind that is not finite."""
    last = len(played.losses) - 1
    if not all_finite([*played.outputs, *played.losses]):
        raise RoundFault("the loss or an output is not finite", last, True)
    if not all_finite(list(net.list_state().values())):
        raise RoundFault("a parameter is no longer finite", last, True)


def gather(net: TrainedModule, one: Round) -> None:
    """Add a round to the mini-batch, and learn it when it is full."""
    rounds = (*net.pending, one)
    if len(rounds) < net.plan.batch:
        net.pending = rounds
        return
    net.pending = ()
    net.learn_rounds(rounds)


# ---- replay ----------------------------------------------------------------------------------------------------------


def replay(net: TrainedModule, rows: Rows, t: int) -> bool:
    """Learn some of the remembered rounds again; False where there are none yet."""
    n, memory = net.counters, net.memory
    if memory is None or n[REMEMBERED] == 0.0 or rows.deviations[t + 1] == 0.0:
        return False
    for _ in range(net.plan.replays):
        one = memory.get(draw_below(n, min(n[REMEMBERED], float(memory.capacity))))
        target = (one.target - rows.means[t + 1]) / rows.deviations[t + 1] if net.plan.scales_target else one.target
        gather(net, Round(one.x.clone(), target.clone(), one.weight))
    return True


def remember(net: TrainedModule, one: Round) -> None:
    """Keep a round in the memory, which is a uniform sample of all rounds (Vitter 1985)."""
    n = net.counters
    if net.memory is None:
        net.memory = RememberedRounds(net.plan.replay, one)
    n[REMEMBERED] += 1.0
    place = int(n[REMEMBERED]) - 1
    if place >= net.memory.capacity:
        place = draw_below(n, n[REMEMBERED])
    if place < net.memory.capacity:
        net.memory.put(place, one)


def refuse(fault: RoundFault, start: int, rounds: int) -> BadValue:
    """The error for a round that cannot be learned; `start` is the row of the call that the rows began with."""
    row, advice = start + fault.row, ""
    if fault.infinite:
        advice = ". Scale the features, take a smaller eta, or limit gradients by clip=1"
    where = f"round {rounds + row + 1} (row {row} of this call)"
    return BadValue(f"{where}: {fault}; nothing of this call was learned{advice}", row=row)
