"""The fast Fourier transform (Cooley and Tukey 1965) of a power of two of complex numbers, for convolutions.

Compiled code has no transform of its own; this one runs compiled and as plain Python, with the same bits.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def make_tables(size: int) -> tuple[NDArray[np.int64], Floats, Floats]:
    """Return the order of the input, and cosines and sines of each level: those of a level of h pairs begin at h."""
    order = np.zeros(size, np.int64)
    cosines, sines, half = np.zeros(size), np.zeros(size), 1
    while half < size:
        order[half : 2 * half] = order[:half] + size // (2 * half)
        angles = np.pi * np.arange(half) / half
        cosines[half : 2 * half], sines[half : 2 * half] = np.cos(angles), np.sin(angles)
        half *= 2
    return order, cosines, sines


def is_power_of_two(size: int) -> bool:
    return size & (size - 1) == 0


def transform_in_place(real: Floats, imaginary: Floats, order: Any, cosines: Floats, sines: Floats) -> None:
    """Replace z_k by the sum of z_j exp(-2 pi i j k / n) over j; with the parts exchanged, by n times the inverse."""
    for k in range(order.size):
        j = order[k]
        if k < j:
            real[k], real[j] = real[j], real[k]
            imaginary[k], imaginary[j] = imaginary[j], imaginary[k]
    half = 1
    while half < order.size:
        turn_x, turn_y = cosines[half : 2 * half], sines[half : 2 * half]
        for first in range(0, order.size, 2 * half):
            a_x, a_y = real[first : first + half], imaginary[first : first + half]
            b_x, b_y = real[first + half : first + 2 * half], imaginary[first + half : first + 2 * half]
            for k in range(half):
                x = b_x[k] * turn_x[k] + b_y[k] * turn_y[k]
                y = b_y[k] * turn_x[k] - b_x[k] * turn_y[k]
                b_x[k] = a_x[k] - x
                b_y[k] = a_y[k] - y
                a_x[k] += x
                a_y[k] += y
        half *= 2


def multiply_spectra(real: Floats, imaginary: Floats, of_x: Floats, of_y: Floats, both: Any) -> None:
    """Multiply a spectrum by those of two real vectors, which were transformed as one complex vector; or of one.

    With z = a + i b, the spectra of a and b multiply to (Z_k^2 - conj(Z_(n - k))^2) / 4i.
    """
    size = real.size
    for k in range(size):
        x, y = of_x[k], of_y[k]
        if both:
            u, v = of_x[(size - k) % size], -of_y[(size - k) % size]
            difference_x, difference_y = (x * x - y * y) - (u * u - v * v), 2.0 * (x * y - u * v)
            x, y = 0.25 * difference_y, -0.25 * difference_x
        real[k], imaginary[k] = real[k] * x - imaginary[k] * y, real[k] * y + imaginary[k] * x
