"""A single rating, learned or predicted in one call of compiled code, which ends a round or changes nothing.

The loop over one rating is bound once, to arrays that a state has until it needs more room. No other Python code runs
during the call, no thread and no signal handler, so that nothing must be saved outside of it. Whatever it leaves (no
room, factors that overflow) is for a call with many ratings, which makes room and writes all errors.
"""

import math
import struct
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.decomposition.document_loops import place_values
from noregret.decomposition.rating_loops import (
    COUNT,
    MEMORY,
    NUMBERS,
    RANKING,
    ROUNDS,
    SIDE,
    TOTALS,
    Memory,
    Pairs,
    Rounds,
    Side,
    play,
    score,
)
from noregret.decomposition.rating_table import KNOWN, NOTHING, Known, find_slot
from noregret.jit.compiled import get_function, unbound
from noregret.jit.layout import address, fill

if TYPE_CHECKING:
    from noregret.decomposition.rating_state import RatingState

Floats = NDArray[np.float64]
Table = NDArray[np.int64]
ASK = struct.Struct("qqqd")  # 1 to learn a rating, 0 to predict it; user, item and the rating as a share

read_call = read_rounds = read_users = read_items = read_known = read_totals = unbound
read_memory = read_numbers = unbound


class Call(NamedTuple):
    """Whether to learn, whether arrays are where they were, and room for what a round changes."""

    learns: Table
    bound: Table  # how often the arrays of the state had been replaced when it was bound
    moves: Table  # how often by now
    floats: Floats
    integers: Table


def one_entry(table: Table) -> int:
    play_one(read_call(table), read_rounds(table), read_users(table), read_items(table), read_known(table),
             read_totals(table), read_memory(table), read_numbers(table))  # fmt: skip
    return 0


def play_one(
    call: Call, rounds: Rounds, users: Side, items: Side, known: Known, totals: Floats, memory: Memory, numbers: Floats
) -> None:
    """Learn or predict a rating; an error, with nothing changed, where that must be done by a call with many."""
    u, i = rounds.users[0], rounds.items[0]
    if call.bound[0] != call.moves[0] or u >= users.sums.size or i >= items.sums.size:
        raise ArithmeticError
    if call.learns[0] == 0:
        score(Pairs(rounds.users, rounds.items, rounds.predictions), users, items, totals, numbers)
        if not math.isfinite(rounds.predictions[0]):
            raise ArithmeticError
        return
    if not has_room(users, known, totals, memory, numbers, u):
        raise ArithmeticError
    rounds.entries[0] = NOTHING
    visit(call, users, items, totals, u, i, True)
    play(rounds, users, items, known, totals, memory, numbers)
    if not (is_finite(users, u) and is_finite(items, i)):
        visit(call, users, items, totals, u, i, False)
        forget(rounds, known)
        raise ArithmeticError


def has_room(users: Side, known: Known, totals: Floats, memory: Memory, numbers: Floats, u: Any) -> Any:
    """Whether there is room for one more rating of a user."""
    ratings = int(totals[COUNT]) + 1
    if ratings > known.users.size or 2 * ratings > known.table.size:
        return False
    return numbers[RANKING] == 0.0 or users.counts[u] < memory.entries.size


def visit(call: Call, users: Side, items: Side, totals: Floats, u: Any, i: Any, saves: bool) -> None:
    """Save what a round changes of its user and item and of the totals, or bring it back."""
    for n in range(totals.size):
        if saves:
            call.floats[n] = totals[n]
        else:
            totals[n] = call.floats[n]
    at = visit_row(call, users, u, totals.size, 0, saves)
    visit_row(call, items, i, at, 2, saves)


def visit_row(call: Call, side: Side, row: Any, at: Any, first: Any, saves: bool) -> Any:
    """Save or bring back a row of users or of items, in the cells from two places on; the next free cell."""
    floats, integers = call.floats, call.integers
    if saves:
        floats[at] = side.sums[row]
        integers[first], integers[first + 1] = side.counts[row], side.steps[row]
    else:
        side.sums[row] = floats[at]
        side.counts[row], side.steps[row] = integers[first], integers[first + 1]
    at += 1
    for array in (side.factors, side.averages):
        for k in range(array.shape[1]):
            if saves:
                floats[at] = array[row, k]
            else:
                array[row, k] = floats[at]
            at += 1
    return at


def is_finite(side: Side, row: Any) -> bool:
    """Whether the factors of a user or an item, and the averages of their gradients, are finite."""
    for array in (side.factors, side.averages):
        for k in range(array.shape[1]):
            if not math.isfinite(array[row, k]):
                return False
    return True


def forget(rounds: Rounds, known: Known) -> None:
    """Remove the rating of a round, the last one, or bring back the one that it replaced."""
    u, n = rounds.users[0], rounds.entries[0]
    if n >= 0:
        known.ratings[n] = rounds.before[0]
    else:
        known.table[find_slot(known, u, rounds.items[0])] = NOTHING
        known.heads[u] = known.later[known.heads[u]]


# ---- how it is run ---------------------------------------------------------------------------------------------------

LONGS, FLOATS = np.zeros(1, np.int64), np.zeros(1)
VALUES = {"call": Call(LONGS, LONGS, LONGS, FLOATS, LONGS), "rounds": ROUNDS, "users": SIDE, "items": SIDE,
          "known": KNOWN, "totals": np.zeros(TOTALS), "memory": MEMORY, "numbers": np.zeros(NUMBERS)}  # fmt: skip
PLACES, SLOTS = place_values(VALUES)


class OneRating:
    """The loop over one rating, and the arrays that it reads and writes."""

    def __init__(self, state: "RatingState", numbers: Floats) -> None:
        words: Any = np.zeros(4, np.int64)
        self.ask, self.prediction = partial(ASK.pack_into, words, 0), np.zeros(1)
        bound, entry, before = state.moves.copy(), np.zeros(1, np.int64), np.zeros(1)
        user, item, share = words[1:2], words[2:3], words[3:].view(np.float64)
        room = np.zeros(TOTALS + 2 + 4 * state.shape.k), np.zeros(4, np.int64)
        self.values: dict[str, Any] = {
            "call": Call(words[:1], bound, state.moves, *room),
            "rounds": Rounds(user, item, share, self.prediction, entry, before),
            "users": state.of_users, "items": state.of_items, "known": state.known, "totals": state.totals,
            "memory": state.memory, "numbers": numbers,
        }  # fmt: skip
        self.table = np.zeros(SLOTS, np.int64)
        for name, value in self.values.items():
            fill(self.table, PLACES[name][0], value)
        self.run = get_function(one_entry, PLACES).held(address(self.table))

    def __deepcopy__(self, memo: Any) -> None:
        """A copy of a state has arrays of its own, to which a loop is bound when it is needed."""

    def learn(self, user: int, item: int, share: float) -> bool:
        """Learn a rating; False, with nothing changed, where a call with many must do it."""
        self.ask(1, user, item, share)
        return self.run() == 0

    def predict(self, user: int, item: int) -> float | None:
        """The share that is predicted; None where a call with many must find it."""
        self.ask(0, user, item, 0.0)
        return self.prediction.item() if self.run() == 0 else None
