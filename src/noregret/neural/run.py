"""Run the loop of backpropagation: compiled with an optimizer, or the same text in plain Python."""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from noregret.algebra.verbs import unbound
from noregret.neural import backprop
from noregret.neural.backprop import Hedge, Net, Rounds, Rows, play_rounds, score_rows
from noregret.neural.optimizers import Numbers, Optimizer, Weights
from noregret.rules.specialize import rebind, specializer

LEARN = 0  # the slot of the table that says whether to learn; the values follow
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
    s, net, hedge, rows, rounds = (
        read_weights(table),
        read_net(table),
        read_hedge(table),
        read_rows(table),
        read_rounds(table),
    )
    if table[LEARN] == 1:
        play_rounds(read_numbers(table), s, net, hedge, rows, rounds)
    else:
        score_rows(s, net, hedge, rows, rounds)
    return 0


def run(optimizer: Optimizer, native: bool, learns: bool, values: Values) -> None:
    """Play the rounds, or with `learns=False` only predict."""
    if not native:
        interpret(optimizer, learns, values)
        return
    loop, size = compile_loop(optimizer, values)
    table = np.zeros(size, np.int64)
    table[LEARN] = learns
    loop(table, *values)


@cache
def specialized(optimizer: Optimizer) -> tuple[Callable[..., None], Callable[..., None]]:
    """The loop in plain Python, with the step of an optimizer."""
    copy = specializer({"step": optimizer.step, "rests": optimizer.rests}, rebind, optimizer.name)
    return copy(play_rounds), copy(score_rows)


def interpret(optimizer: Optimizer, learns: bool, values: Values) -> None:
    """Run in plain Python, as a debugger sees it."""
    p, s, net, hedge, rows, rounds = values
    play, score = specialized(optimizer)
    with np.errstate(all="ignore"):
        if learns:
            play(p, s, net, hedge, rows, rounds)
        else:
            score(s, net, hedge, rows, rounds)


Loop = tuple[Callable[..., None], int]  # a loop, called with a table and what stands there; the size of the table
_loops: dict[Optimizer, Loop] = {}


def compile_loop(optimizer: Optimizer, values: Values) -> Loop:
    """The compiled loop of an optimizer, with examples of its values: their types are always the same."""
    found = _loops.get(optimizer)
    if found is not None:
        return found
    from noregret.jit.compiled import compile_function  # what lists learners needs no compiler
    from noregret.jit.layout import count_words

    places, slot = {}, LEARN + 1
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
