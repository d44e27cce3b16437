"""The lasso by coordinate descent, compiled: codes of rows in a dictionary of atoms.

For every row x the code a minimises 1/2 |x - sum_j a_j d_j|^2 + penalty |a|_1. Only products are read: of atoms with
each other (`gram`) and of the row with atoms. After a sweep over all atoms, those that are used are swept until they
stop changing; the code is found once a sweep over all atoms changes nothing.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.jit.compiled import compile_function, unbound
from noregret.jit.layout import count_words

Floats = NDArray[np.float64]
Table = NDArray[np.int64]
PENALTY, TOLERANCE, SWEEPS = range(3)  # the numbers that the loop reads

read_problem = read_found = read_numbers = unbound


class Problem(NamedTuple):
    """What the loop reads."""

    gram: Floats  # atoms x atoms
    products: Floats  # rows x atoms; becomes the products of atoms with what codes leave of the row


class Found(NamedTuple):
    """What the loop writes."""

    codes: Floats  # rows x atoms
    used: NDArray[np.int64]  # room for the numbers of atoms


def entry(table: Table) -> int:
    find_codes(read_problem(table), read_found(table), read_numbers(table))
    return 0


def find_codes(problem: Problem, found: Found, numbers: Floats) -> None:
    """The code of every row, starting from zeros."""
    atoms, used = len(problem.gram), found.used
    for row in range(len(problem.products)):
        rest, code = problem.products[row], found.codes[row]
        largest = 0.0
        for j in range(atoms):
            largest = max(largest, abs(rest[j]))
        least, sweeps = numbers[TOLERANCE] * largest, 0
        while sweeps < numbers[SWEEPS]:
            changed, size = 0.0, 0
            for j in range(atoms):
                changed = max(changed, move(problem.gram, rest, code, j, numbers[PENALTY]))
                if code[j] != 0.0:
                    used[size] = j
                    size += 1
            sweeps += 1
            if changed <= least:
                break
            while sweeps < numbers[SWEEPS]:
                changed = 0.0
                for at in range(size):
                    changed = max(changed, move(problem.gram, rest, code, used[at], numbers[PENALTY]))
                sweeps += 1
                if changed <= least:
                    break


def move(gram: Floats, rest: Floats, code: Floats, j: int, penalty: float) -> float:
    """Set one entry of the code to its best value, given all others; how much the product with its atom changes."""
    size = gram[j, j]
    if size <= 0.0:
        return 0.0
    wanted = rest[j] + size * code[j]
    new = 0.0
    if wanted > penalty:
        new = (wanted - penalty) / size
    elif wanted < -penalty:
        new = (wanted + penalty) / size
    change = new - code[j]
    if change == 0.0:
        return 0.0
    own = gram[j]
    for i in range(own.size):
        rest[i] -= change * own[i]
    code[j] = new
    return float(abs(change) * size)


EXAMPLES: dict[str, Any] = {
    "problem": Problem(np.zeros((1, 1)), np.zeros((1, 1))),
    "found": Found(np.zeros((1, 1)), np.zeros(1, np.int64)),
    "numbers": np.zeros(3),
}


def place_values(examples: dict[str, Any] = EXAMPLES) -> tuple[dict[str, tuple[int, Any]], int]:
    """The slots of values in the table of the entry, and how many slots there are."""
    places, slot = {}, 0
    for name, example in examples.items():
        places[name] = slot, example
        slot += count_words(example)
    return places, slot


def solve_lasso(gram: Floats, products: Floats, numbers: Floats, native: bool) -> Floats:
    """The codes of rows, given the products of atoms with each other and with the rows."""
    found = Found(np.zeros(products.shape), np.zeros(len(gram), np.int64))
    problem = Problem(np.ascontiguousarray(gram), np.array(products, order="C"))
    if native:
        places, slots = place_values()
        compile_function(entry, places)(np.zeros(slots, np.int64), problem, found, numbers)
    else:
        find_codes(problem, found, numbers)
    return found.codes
