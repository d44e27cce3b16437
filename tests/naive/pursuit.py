"""Orthogonal matching pursuit as a textbook writes it: least squares anew for every step."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def pursue(x: Floats, atoms: Floats, steps: int) -> list[Floats]:
    """What is left of x after 0, 1, 2 ... steps."""
    left, chosen = [x], list[int]()
    for _ in range(steps):
        chosen.append(int(np.argmax(np.abs(atoms @ left[-1]))))
        weights = np.linalg.lstsq(atoms[chosen].T, x, rcond=None)[0]
        left.append(x - weights @ atoms[chosen])
    return left


def find_code(x: Floats, atoms: Floats, steps: int) -> Floats:
    """The weights of all atoms after so many steps; atoms may have any lengths but 0."""
    code, rest, chosen = np.zeros(len(atoms)), x, list[int]()
    for _ in range(steps):
        chosen.append(int(np.argmax(np.abs(atoms @ rest) / np.linalg.norm(atoms, axis=1))))
        code[chosen] = np.linalg.lstsq(atoms[chosen].T, x, rcond=None)[0]
        rest = x - code @ atoms
    return code
