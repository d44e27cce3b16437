"""The moves of rock-paper-scissors: each is beaten by the next one, and the last by the first."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.errors import BadValue, shown

MOVES = ("rock", "paper", "scissors")
NAMED = "the moves are rock, paper and scissors (r, p and s)"
LOSSES = np.array([[0.5, 1.0, 0.0], [0.0, 0.5, 1.0], [1.0, 0.0, 0.5]])  # of a move (row) against another (column)
LOSSES.flags.writeable = False

Floats = NDArray[np.float64]


def beat(move: int) -> int:
    """The move that wins against a move."""
    return (move + 1) % 3


def read_move(given: Any) -> int:
    """The number of a move given by its name, its first letter or its number."""
    if isinstance(given, str):
        word = given.strip().lower()
        found = [at for at, name in enumerate(MOVES) if word and name.startswith(word)]
        if len(found) == 1:
            return found[0]
    elif isinstance(given, (int, np.integer)) and not isinstance(given, bool) and 0 <= given < 3:
        return int(given)
    raise BadValue(f"{shown(given)} is not a move; {NAMED}")


def compare(mine: int, theirs: int) -> int:
    """1 where the first move wins, -1 where it loses, 0 in a draw."""
    return (mine - theirs + 1) % 3 - 1
