"""The experts of the rock-paper-scissors player: each predicts the next move of the opponent and beats it."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Counts = tuple[float, float, float]
ORDERS = (1, 2, 3, 4, 5)  # how many rounds a context has
GUESSED = (0, 1, 2)  # the same for predictions of our own moves
MEMORY = 0.9  # what counts are multiplied with each time their context comes again: opponents change

TABLES = (
    *(("theirs", order) for order in (0, *ORDERS)),
    *(("both", order) for order in ORDERS),
    *(("mine", order) for order in GUESSED),
)
"""What is counted: their moves after their last ones, or after the last ones of both; ours after those of both."""

NAMES = (
    "always rock",
    "always paper",
    "always scissors",
    "beat the last move",
    "beat what beats the last move",
    "most frequent move",
    *(f"after its last {order}" for order in ORDERS),
    *(f"after the last {order} of both" for order in ORDERS),
    *(f"second guess after {order}" for order in GUESSED),
)


def predict(counts: Counts | None) -> tuple[int, ...]:
    """The moves that followed most often; all of them where nothing was seen."""
    if counts is None:
        return (0, 1, 2)
    most = max(counts)
    return tuple(move for move in range(3) if counts[move] == most)


def advise(predicted: tuple[int, ...], steps: int = 1) -> Floats:
    """Beat the predicted moves, each with the same probability; two steps beat what beats them."""
    advice = np.zeros(3)
    for move in predicted:
        advice[(move + steps) % 3] += 1.0 / len(predicted)
    return advice


class Predictors:
    """All experts with what they know: the moves of both players, and counts of moves by context."""

    def __init__(self) -> None:
        self.mine: list[int] = []
        self.theirs: list[int] = []
        self.counts: dict[tuple[str, int, int], Counts] = {}

    def contexts(self) -> list[tuple[str, int, int]]:
        """For every table its current context, the last moves as a number; before there are as many, -1."""
        codes: dict[tuple[str, int], int] = {}
        their_code = both_code = 0
        for order in range(max(ORDERS) + 1):
            if 0 < order <= len(self.theirs):
                their_code = 3 * their_code + self.theirs[-order]
                both_code = 9 * both_code + 3 * self.theirs[-order] + self.mine[-order]
            known = order <= len(self.theirs)
            codes["theirs", order] = their_code if known else -1
            codes["both", order] = codes["mine", order] = both_code if known else -1
        return [(name, order, codes[name, order]) for name, order in TABLES]

    def advice(self) -> Floats:
        """The probabilities of our next move by every expert: a row for each of NAMES."""
        last = (self.theirs[-1],) if self.theirs else (0, 1, 2)
        rows = [*np.eye(3), advise(last), advise(last, 2)]
        for context in self.contexts():
            expected = predict(self.counts.get(context))
            rows.append(advise(expected, 2 if context[0] == "mine" else 1))  # they beat our move, we beat theirs
        return np.array(rows)

    def add(self, mine: int, theirs: int) -> None:
        """Learn from a round."""
        for context in self.contexts():
            seen = mine if context[0] == "mine" else theirs
            rock, paper, scissors = (MEMORY * count for count in self.counts.get(context, (0.0, 0.0, 0.0)))
            self.counts[context] = (rock + (seen == 0), paper + (seen == 1), scissors + (seen == 2))
        self.mine.append(mine)
        self.theirs.append(theirs)

    def savepoint(self) -> "Savepoint":
        """What a call of `add` will change."""
        return Savepoint(self)


class Savepoint:
    """The part of predictors that the next round changes, to be brought back any number of times."""

    def __init__(self, of: Predictors) -> None:
        self.of, self.rounds = of, len(of.theirs)
        self.counts = [(context, of.counts.get(context)) for context in of.contexts()]

    def roll_back(self) -> None:
        del self.of.mine[self.rounds :], self.of.theirs[self.rounds :]
        for context, before in self.counts:
            if before is None:
                self.of.counts.pop(context, None)
            else:
                self.of.counts[context] = before
