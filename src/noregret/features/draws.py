"""Random numbers by counter: the draw of a feature depends on the seed, its number and a counter, and on nothing else.

So features that arrive later get their draws without changing those of others, in any order, and nothing is saved but
the seed. The functions run compiled and as plain Python, with the same bits.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

GOLDEN, OTHER = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD1B54A32D192ED03)  # odd numbers: 2^64 over the golden ratio
STIR_1, STIR_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)  # of SplitMix64 (Steele et al. 2014)
S27, S30, S31, S11 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(11)
STEP = 1.0 / (1 << 53)
NORMAL, CAUCHY = 0, 1


def mix(word: Any) -> Any:
    """Return the 64 bits stirred, each output bit depending on all of them."""
    word = (word ^ (word >> S30)) * STIR_1
    word = (word ^ (word >> S27)) * STIR_2
    return word ^ (word >> S31)


def feature_key(seed: Any, feature: Any) -> Any:
    """Return where the stream of a feature begins."""
    return mix(mix(seed + GOLDEN) + np.uint64(feature) * OTHER)


def draw_bits(key: Any, counter: Any) -> Any:
    """Return 64 random bits: number `counter` of a stream."""
    return mix(key + np.uint64(counter + 1) * GOLDEN)


def draw_uniform(key: Any, counter: Any) -> Any:
    """Return a number above 0 and below 1."""
    return (float(draw_bits(key, counter) >> S11) + 0.5) * STEP


def fill_draws(law: Any, key: Any, first: Any, size: Any, out: NDArray[np.float64]) -> None:
    """Write `size` draws of a stream to `out`, from place `first` on: standard normal, or Cauchy."""
    if law == CAUCHY:
        for k in range(size):
            out[first + k] = math.tan(math.pi * (draw_uniform(key, k) - 0.5))
        return
    for k in range(0, size, 2):  # Box and Muller 1958
        radius = math.sqrt(-2.0 * math.log(draw_uniform(key, k)))
        angle = 2.0 * math.pi * draw_uniform(key, k + 1)
        out[first + k] = radius * math.cos(angle)
        if k + 1 < size:
            out[first + k + 1] = radius * math.sin(angle)
