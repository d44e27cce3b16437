"""Verbs that rules do not name: how task loops and implementations of other verbs see rows, examples and vectors."""

from typing import Any

from noregret.algebra.arrays import Floats
from noregret.algebra.verbs import Verb

# ---- rows and examples ----------------------------------------------------------------------------------------------


@Verb
def row(rows: Any, t: Any) -> Any:
    """The example of round t"""


@Verb
def scaled_by(z: Any, a: float) -> Any:
    """a z; empty when a is zero"""


@Verb
def class_block(x: Any, c: Any, stride: int) -> Any:
    """Psi(x, c): x in the block of class c"""


@Verb
def difference(x: Any, c: Any, r: Any, stride: int) -> Any:
    """Psi(x, c) - Psi(x, r)"""


@Verb
def row_difference(x: Any, other: Any, places: Any, values: Any) -> Any:
    """x - other as one example, written into arrays with a place for every feature"""


@Verb
def collect(rows: Any, counts: Any, first: Any, size: Any, places: Any, sums: Any, values: Any) -> Any:
    """The sum of counts[i, c] Psi(x_i, c) over `size` rows from the first on, as one example

    counts has a number for every row and class; places, sums and values have one for every cell, and sums are zeros.
    """


# ---- parts of examples ----------------------------------------------------------------------------------------------


@Verb
def blocks(z: Any) -> Any:
    """The number of class blocks of an example"""


@Verb
def part(z: Any, b: int) -> Any:
    """Block b of an example, for inner loops"""


@Verb
def block(z: Any, b: int) -> Any:
    """The class of block b of an example"""


@Verb
def count(q: Any) -> Any:
    """The number of values of a part"""


@Verb
def place(q: Any, k: int) -> Any:
    """The place of the k-th value of a part in a vector"""


@Verb
def coordinate(q: Any, k: int) -> Any:
    """The feature of the k-th value of a part"""


@Verb
def value(q: Any, k: int) -> Any:
    """The k-th value of a part: factor(q) * raw(q, k)"""


@Verb
def factor(q: Any) -> Any:
    """The common factor of all values of a part, kept out of inner loops"""


@Verb
def raw(q: Any, k: int) -> Any:
    """The k-th value of a part without its factor"""


@Verb
def cell(z: Any, j: int, c: Any) -> Any:
    """The place of feature j and class c in a vector laid out like an example"""


@Verb
def spread(z: Any, b: int, u: Any, a: float) -> Any:
    """a u as a part with the layout of block b of z, where u has a value for every feature"""


# ---- scores ---------------------------------------------------------------------------------------------------------


@Verb
def dots(w: Any, x: Any, stride: int, out: Floats) -> None:
    """The scores of all classes: out[c] = w_c . x"""


@Verb
def row_dot(w: Any, rows: Any, t: Any) -> Any:
    """w . x of round t"""


@Verb
def row_and_dot(w: Any, rows: Any, t: Any) -> Any:
    """The example x of round t, and w . x"""


@Verb
def add_dots(w: Any, x: Any, stride: int, out: Floats) -> None:
    """Add the scores of all classes: out[c] += w_c . x"""


@Verb
def mean_dots(w: Any, x: Any, stride: int, out: Floats) -> None:
    """The scores of all classes by the mean of w over the rounds"""


@Verb
def mean_dot(w: Any, x: Any) -> Any:
    """The mean of w over the rounds, times x"""


# ---- implementations ------------------------------------------------------------------------------------------------


@Verb
def nudge(v: Any, a: float, z: Any, p: float) -> Any:
    """v += a z; returns the change of the sum of |v_j|^p"""


@Verb
def powers(v: Any, p: float) -> Any:
    """The sum of |v_j|^p over all cells"""


@Verb
def sweep(v: Any, a: float) -> None:
    """v *= a, cell by cell"""


@Verb
def miss(r: Any, w: Any, z: Any, k: int) -> Any:
    """1 if w predicts the row of record k wrongly, otherwise 0"""


@Verb
def recall(z: Any, idx: Any, val: Any) -> Any:
    """A row without a sign, of the kind that z is made from"""


@Verb
def drop_coefficients(w: Any, i: int) -> None:
    """Remove the coefficients of support i from w, where those of the last take their place; the bank has all still"""


# ---- kernels and banks ----------------------------------------------------------------------------------------------


@Verb
def common(k: Any, a: float, b: float) -> Any:
    """What a feature of value a in one row and b in the other adds to the sum of a kernel; 0 if a or b is 0"""


@Verb
def own(k: Any, a: float) -> Any:
    """What a feature of value a adds to the number that a kernel needs of its row, such as |x|^2"""


@Verb
def kernel(k: Any, xz: float, xx: float, zz: float) -> Any:
    """k(x, z) from the sum over the features that both have, and the numbers of the two rows"""


@Verb
def kernels(k: Any, sums: Any, sq: Any, xx: float, n: int) -> None:
    """Replace the first n sums by the kernels of a row, whose number is xx, and the supports, whose numbers are sq"""


@Verb
def kernel_sum(k: Any, a: Any, b: Any) -> Any:
    """The sum of a kernel over all features of two dense rows; of a caller's kernel, its value"""


@Verb
def kernel_with_itself(bank: Any, k: Any, idx: Any, val: Any, xx: float) -> Any:
    """k(x, x) of a row"""


@Verb
def measure(bank: Any, k: Any, idx: Any, val: Any, xx: float, out: Any) -> None:
    """Write the kernel of a row and every support into out; xx is the number of the row"""


@Verb
def expand_support(bank: Any, b: int, out: Any) -> None:
    """Write the kernel of support b and every support into out"""


@Verb
def same_row(bank: Any, i: int, idx: Any, val: Any) -> Any:
    """Whether support i has exactly these features and values"""


@Verb
def write_row(bank: Any, i: int, idx: Any, val: Any) -> None:
    """Write the row of support i, which is the one after the last"""


@Verb
def drop_row(bank: Any, i: int) -> None:
    """Remove the row of support i; the last support takes its place"""


@Verb
def bank_of_vector(w: Any) -> Any:
    """The bank of the supports of a vector"""


@Verb
def weigh_support(w: Any, i: int) -> Any:
    """The sum of |coefficients| of support i in a vector, without its scale"""
