"""The loop over rounds, written once for all expert algorithms; compiled with the functions of one, or interpreted."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.algebra.verbs import unbound
from noregret.experts.card import ExpertCard
from noregret.rules.parameters import bindings
from noregret.rules.rule_card import Chosen
from noregret.rules.specialize import rebind, specializer

Floats = NDArray[np.float64]
Flags = NDArray[np.uint8]
LEARN = 0  # the slot of the table that says whether to learn; the values follow

weigh = learn = asleep = unbound
read_params = read_state = read_losses = read_awake = read_out = unbound


def entry(table: Any) -> int:
    p, s, awake, out = read_params(table), read_state(table), read_awake(table), read_out(table)
    if table[LEARN] == 1:
        play_rounds(p, s, read_losses(table), awake, out)
    else:
        weigh(p, s, awake[0], out[0])
    return 0


def play_rounds(p: Any, s: Any, losses: Any, awake: Any, out: Any) -> None:
    """In every round: choose the weights, suffer the weighted mean of the losses, learn from all of them.

    Where all experts are awake in all rounds, `awake` has a single row. In the losses, those of experts that sleep are
    replaced by what the algorithm makes them suffer.
    """
    sometimes = awake.shape[0] == losses.shape[0]
    for t in range(losses.shape[0]):
        q, given, here = out[t], losses[t], awake[t if sometimes else 0]
        weigh(p, s, here, q)
        own = 0.0
        for i in range(q.size):
            own += q[i] * given[i]
        if sometimes:
            fill(s, here, given, own, asleep(p, s, here, q, given, own))
        learn(p, s, here, q, given, own)
        for i in range(q.size):
            s.losses[i] += given[i]
        s.n.t += 1.0
        s.n.loss += own
        if own >= 0.5:  # at least half of the weight was wrong: a vote may have been lost
            s.n.lost_votes += 1.0


def fill(s: Any, awake: Any, losses: Any, own: float, instead: float) -> None:
    """Give the experts that sleep the loss that stands for theirs, and count what they missed."""
    for i in range(losses.size):
        if not awake[i]:
            losses[i] = instead
            s.filled[i] += instead
            s.slept[i] += own
            s.asleep[i] += 1.0


@cache
def specialize_entry(card: ExpertCard, chosen: Chosen) -> Callable[..., Any]:
    """The entry of an algorithm, to be compiled: the same object every time, since compiled code is known by it."""
    return specialize(card, chosen)(entry)


def specialize(card: ExpertCard, chosen: Chosen) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A function that copies functions of this file with those of an algorithm bound to the names they stand for."""
    hooks = {"weigh": card.weigh, "learn": card.learn, "asleep": card.asleep}
    choices = {name: card.choices[name] for name, _ in chosen}
    tag = "_".join((card.name, *(f"{name}_{option}" for name, option in chosen)))
    return specializer({**hooks, **card.binds, **bindings(choices, dict(chosen))}, rebind, tag)


def interpret(card: ExpertCard, chosen: Chosen, learns: bool, values: tuple[Any, ...]) -> None:
    """Play or choose in plain Python, as a debugger sees it."""
    p, s, losses, awake, out = values
    play = specialize(card, chosen)(play_rounds)
    with np.errstate(all="ignore"):
        if learns:
            play(p, s, losses, awake, out)
        else:
            play.__globals__["weigh"](p, s, awake[0], out[0])


def run_rounds(card: ExpertCard, chosen: Chosen, native: bool, learns: bool, values: tuple[Any, ...]) -> None:
    """Play the rounds, or with `learns=False` only choose the weights of the next one.

    `values` are the parameters, the state, the losses, the mask of experts that are awake and the room for the weights.
    """
    if not native:
        interpret(card, chosen, learns, values)
        return
    found = _compiled.get((card, chosen))
    if found is None:
        found = _compiled[card, chosen] = compile_rounds(card, chosen, values)
    run, size = found
    table = np.zeros(size, np.int64)
    table[LEARN] = learns
    run(table, *values)


Compiled = tuple[Callable[..., None], int]  # a loop, called with a table and what stands there; the size of the table
_compiled: dict[tuple[ExpertCard, Chosen], Compiled] = {}


def compile_rounds(card: ExpertCard, chosen: Chosen, values: tuple[Any, ...]) -> Compiled:
    """The compiled loop of an algorithm, with examples of its values: their types are always the same."""
    return compile_entry(
        specialize_entry(card, chosen), ("params", "state", "losses", "awake", "out"), values, first=LEARN + 1
    )


def compile_entry(
    function: Callable[..., Any], names: tuple[str, ...], values: tuple[Any, ...], first: int = 0
) -> Compiled:
    """A compiled function over a table, which holds the named values from the slot `first` on; and the table's size."""
    from noregret.jit.compiled import compile_function  # what lists learners needs no compiler
    from noregret.jit.layout import count_words

    places, slot = {}, first
    for name, value in zip(names, values, strict=True):
        places[name] = (slot, value)
        slot += count_words(value)
    return compile_function(function, places), slot
