"""Opponents at rock-paper-scissors that follow a strategy, and matches against them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from noregret.errors import BadValue, shown
from noregret.games.moves import beat, compare, read_move
from noregret.games.rock_paper_scissors import RockPaperScissors
from noregret.learner.arguments import check_integer
from noregret.rules.parameters import suggestion


class Opponent(Protocol):
    """Whoever plays against us: `play` gives a move, `observe` takes ours."""

    def play(self) -> int | str: ...

    def observe(self, move: str) -> Any: ...


Choose = Callable[["Strategy"], int]


class Strategy:
    """An opponent that chooses by a function of both histories and of random numbers."""

    def __init__(self, choose: Choose, seed: int = 0) -> None:
        self.choose, self.rng = choose, np.random.default_rng(seed)
        self.own: list[int] = []
        self.other: list[int] = []
        self.counts = [0, 0, 0]  # of the moves of the other

    def play(self) -> int:
        if len(self.own) == len(self.other):
            self.own.append(self.choose(self))
        return self.own[-1]

    def observe(self, move: Any) -> None:
        self.play()
        self.other.append(read_move(move))
        self.counts[self.other[-1]] += 1

    @property
    def last(self) -> int:
        """The last move of the other; before there is one, rock."""
        return self.other[-1] if self.other else 0


def constant(move: Any = "rock") -> Choose:
    """Always the same move."""
    fixed = read_move(move)
    return lambda s: fixed


def cycle(moves: Any = "rps") -> Choose:
    """The same moves again and again."""
    fixed = [read_move(move) for move in moves]
    return lambda s: fixed[len(s.own) % len(fixed)]


def markov(order: int = 1, noise: float = 0.1, seed: int = 0) -> Choose:
    """A move that depends on its own last moves; a random one in some rounds."""
    table = np.random.default_rng([seed, order]).integers(3, size=3**order)

    def choose(s: Strategy) -> int:
        draw, other = s.rng.random(), int(s.rng.integers(3))
        if draw < noise or len(s.own) < order:
            return other
        code = 0
        for move in s.own[-order:]:
            code = 3 * code + move
        return int(table[code])

    return choose


def switch(first: Choose, second: Choose, at: int = 500) -> Choose:
    """One strategy for some rounds, then another."""
    return lambda s: (first if len(s.own) < at else second)(s)


def copycat(s: Strategy) -> int:
    """Our last move."""
    return s.last


def beat_last(s: Strategy) -> int:
    """What beats our last move."""
    return beat(s.last)


def beat_frequent(s: Strategy) -> int:
    """What beats our most frequent move."""
    return beat(int(np.argmax(s.counts)))


def at_random(s: Strategy) -> int:
    """Each move with the same probability."""
    return int(s.rng.integers(3))


OPPONENTS: Mapping[str, Callable[[int], Choose]] = {
    "random": lambda seed: at_random,
    "constant": lambda seed: constant(),
    "cycle": lambda seed: cycle(),
    "copycat": lambda seed: copycat,
    "beat_last": lambda seed: beat_last,
    "beat_frequent": lambda seed: beat_frequent,
    "markov": lambda seed: markov(1, 0.1, seed),
    "markov2": lambda seed: markov(2, 0.1, seed),
    "switching": lambda seed: switch(markov(4, 0.1, seed), beat_last),
}
"""Strategies by name; those that draw a table of their own draw it by the seed."""


def make_opponent(name: Any, seed: int = 0) -> Strategy:
    """An opponent by name; the same seed gives the same moves against the same moves."""
    if not isinstance(name, str) or name not in OPPONENTS:
        raise BadValue(f"there is no opponent {shown(name)}{suggestion(name, OPPONENTS)}; "
                       f"there are {', '.join(OPPONENTS)}")  # fmt: skip
    return Strategy(OPPONENTS[name](check_integer("seed", seed, 0)), seed)


@dataclass
class Match:
    """A match: our results round by round (1 win, 0 draw, -1 loss) and the regret after each round."""

    player: RockPaperScissors
    results: list[int] = field(default_factory=list)
    regrets: list[float] = field(default_factory=list)

    @property
    def scores(self) -> NDArray[np.int64]:
        """Wins less losses after each round."""
        return np.cumsum(np.array(self.results, np.int64))


def play_round(player: RockPaperScissors, opponent: Opponent) -> int:
    """Play one round; returns 1 where the player won, 0 in a draw, -1 where it lost."""
    mine, theirs = player.play(), read_move(opponent.play())
    opponent.observe(mine)
    player.observe(theirs)
    return compare(read_move(mine), theirs)


def play_match(player: RockPaperScissors, opponent: Opponent | str, rounds: int = 1000) -> Match:
    """Play so many rounds against an opponent, given as an object or by name."""
    other = make_opponent(opponent, player.seed) if isinstance(opponent, str) else opponent
    match = Match(player)
    for _ in range(check_integer("rounds", rounds, 0)):
        match.results.append(play_round(player, other))
        match.regrets.append(player.regret)
    return match
