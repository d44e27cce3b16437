"""Run the loop of backpropagation: compiled with an optimizer, or the same text in plain Python."""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from noregret.algebra.verbs import unbound
from noregret.neural import backprop
from noregret.neural.net import Hedge, Net, Rounds, Rows
from noregret.neural.optimizers import Numbers, Optimizer, Weights
from noregret.neural.rounds import play_rounds
from noregret.rules.specialize import rebind, specializer

read_numbers = read_weights = read_net = read_hedge = read_rows = read_rounds = unbound


class Values(NamedTuple):
    """All that the loop reads and writes."""

    numbers: Numbers
    weights: Weights
    net: Net
    hedge: Hedge
    rows: Rows
    rounds: Rounds


def entry(table: Any) -> int:
    p, s, net, hedge = read_numbers(table), read_weights(table), read_net(table), read_hedge(table)
    play_rounds(p, s, net, hedge, read_rows(table), read_rounds(table))
    return 0


def run(optimizer: Optimizer, native: bool, values: Values) -> None:
    """Play the rounds."""
    if not native:
        with np.errstate(all="ignore"):
            specialized(optimizer)(*values)
        return
    loop, size = compile_loop(optimizer, values)
    loop(np.zeros(size, np.int64), *values)


@cache
def specialized(optimizer: Optimizer) -> Callable[..., None]:
    """The loop in plain Python, as a debugger sees it, with the step of an optimizer."""
    return specializer({"step": optimizer.step, "rests": optimizer.rests}, rebind, optimizer.name)(play_rounds)


Loop = tuple[Callable[..., None], int]  # a loop, called with a table and what stands there; the size of the table
_loops: dict[Optimizer, Loop] = {}


def compile_loop(optimizer: Optimizer, values: Values) -> Loop:
    """The compiled loop of an optimizer, with examples of its values: their types are always the same."""
    found = _loops.get(optimizer)
    if found is not None:
        return found
    from noregret.jit.compiled import compile_function  # what lists learners needs no compiler
    from noregret.jit.layout import count_words

    places, slot = {}, 0
    for name, value in zip(Values._fields, values, strict=True):
        places[name] = (slot, value)
        slot += count_words(value)
    named = rebind(entry, f"backprop_{optimizer.name}", {})
    made = compile_function(named, places, {"update_row": update_row_of(optimizer)}), slot
    _loops[optimizer] = made
    return made


@cache
def update_row_of(optimizer: Optimizer) -> Callable[..., None]:
    """The step of every weight in a row, by an optimizer."""
    bound = {"step": optimizer.step, "rests": optimizer.rests}
    return rebind(backprop.update_row, "update_row", bound)
