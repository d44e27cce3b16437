"""Players of games as their definitions write them: everything is computed anew in every round, from all of it."""

import math

import numpy as np
from numpy.typing import NDArray

from tests.naive.experts import fixed_share, normalise

Floats = NDArray[np.float64]
MOVES = "rps"
LOSS = {"rr": 0.5, "pp": 0.5, "ss": 0.5, "rp": 1.0, "ps": 1.0, "sr": 1.0, "pr": 0.0, "sp": 0.0, "rs": 0.0}
WINNER = {"r": "p", "p": "s", "s": "r"}

# ---- rock-paper-scissors ---------------------------------------------------------------------------------------------


def most_frequent(pairs: list[tuple[str, str]], memory: float = 0.9) -> str:
    """The moves that followed most often, later rounds counting more; all moves where there are none."""
    counts = dict.fromkeys(MOVES, 0.0)
    for age, (_, move) in enumerate(reversed(pairs)):
        counts[move] += memory**age
    return "".join(move for move in MOVES if math.isclose(counts[move], max(counts.values()), rel_tol=1e-12))


def followed(contexts: list[str], moves: str, order: int) -> str:
    """What is expected after the last `order` entries: what came after the same entries before."""
    if len(moves) < order:  # too few rounds: what came in rounds that had too few before them
        seen = [("", moves[t]) for t in range(len(moves))]
        return most_frequent(seen)
    now = contexts[len(contexts) - order :]
    seen = [("", moves[t]) for t in range(order, len(moves)) if contexts[t - order : t] == now]
    return most_frequent(seen)


def rps_advice(mine: str, theirs: str) -> Floats:
    """What every expert would play after these rounds."""
    both = [a + b for a, b in zip(mine, theirs, strict=True)]
    last = theirs[-1] if theirs else MOVES
    answers = ["r", "p", "s", [WINNER[one] for one in last], [WINNER[WINNER[one]] for one in last]]
    answers += [[WINNER[one] for one in followed(list(theirs), theirs, k)] for k in range(6)]
    answers += [[WINNER[one] for one in followed(both, theirs, k)] for k in range(1, 6)]
    answers += [[WINNER[WINNER[one]] for one in followed(both, mine, k)] for k in range(3)]
    return np.array([[list(answer).count(move) / len(answer) for move in MOVES] for answer in answers])


def rps_chances(mine: str, theirs: str, eta: float, alpha: float) -> Floats:
    """The probabilities of the next move: fixed share over the experts."""
    losses = [rps_advice(mine[:t], theirs[:t]) @ [LOSS[move + theirs[t]] for move in MOVES] for t in range(len(theirs))]
    advice = rps_advice(mine, theirs)
    rows = np.array([*losses, np.zeros(len(advice))])
    return np.asarray(normalise(fixed_share(rows, eta, alpha)[-1]) @ advice)


# ---- matrix games ----------------------------------------------------------------------------------------------------


def swap_regret(played: Floats, losses: Floats) -> float:
    """The largest of the regrets to all maps from actions to actions, each tried in turn."""
    from itertools import product

    actions = losses.shape[1]
    own = float((played * losses).sum())
    best = min(
        sum(played[t, i] * losses[t, to[i]] for t in range(len(losses)) for i in range(actions))
        for to in product(range(actions), repeat=actions)
    )
    return own - float(best)


def swap_hedge(losses: Floats, eta: float) -> Floats:
    """What Blum and Mansour's reduction plays: the weights of every copy from all that it suffered."""
    rounds, actions = losses.shape
    suffered = np.zeros((actions, actions))
    played = np.zeros((rounds, actions))
    for t in range(rounds):
        chain = np.array([normalise(np.exp(-eta * (row - row.min()))) for row in suffered])
        rested = np.linalg.matrix_power(0.5 * chain + 0.5 * np.eye(actions), 2**16)  # the chain runs until it rests
        played[t] = normalise(np.full(actions, 1.0 / actions) @ rested)
        suffered += np.outer(played[t], losses[t])
    return played


# ---- paths -----------------------------------------------------------------------------------------------------------

Cell = tuple[int, int]


def all_paths(rows: int, columns: int, ends: list[Cell], walls: tuple[Cell, ...] = ()) -> list[tuple[Cell, ...]]:
    """Every path from (0, 0) that goes right and down to one of the ends."""
    found: list[tuple[Cell, ...]] = []
    open_paths: list[tuple[Cell, ...]] = [((0, 0),)]
    while open_paths:
        path = open_paths.pop()
        row, column = path[-1]
        if (row, column) in ends:
            found.append(path)
        for to in ((row + 1, column), (row, column + 1)):
            if to[0] < rows and to[1] < columns and to not in walls:
                open_paths.append((*path, to))
    return sorted(found)


def way_left(costs: Floats, start: Cell, target: Cell, walls: tuple[Cell, ...] = ()) -> float:
    """The cheapest way in four directions, by Bellman and Ford: costs fall until they rest."""
    rows, columns = costs.shape
    least = {(r, c): math.inf for r in range(rows) for c in range(columns)}
    least[start] = 0.0
    for _ in range(rows * columns):
        for r, c in least:
            for a, b in ((r + 1, c), (r - 1, c), (r, c + 1), (r, c - 1)):
                if (a, b) in least and (a, b) not in walls and (r, c) not in walls:
                    least[a, b] = min(least[a, b], least[r, c] + float(costs[a, b]))
    return least[target]


def path_cost(path: tuple[Cell, ...], costs: Floats, destination: Cell | None = None) -> float:
    """The cells that a path enters, and the way left from its end."""
    entered = sum(float(costs[cell]) for cell in path[1:])
    return entered + (0.0 if destination is None else way_left(costs, path[-1], destination))
