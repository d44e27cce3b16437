"""Single supports of a kernel learner: their coefficients, the kernel between them, and their removal.

Where a support is removed, the last one takes its place: this costs one row, however many supports there are.
"""

from typing import Any

from noregret.algebra.averaged import Averaged
from noregret.algebra.centre import Centre
from noregret.algebra.internal_verbs import (
    bank_of_vector,
    drop_coefficients,
    drop_row,
    expand_support,
    weigh_support,
)
from noregret.algebra.kernel import Expansion, Kernel, KernelPair
from noregret.algebra.kernel_differences import KernelDifference
from noregret.algebra.kernel_verbs import (
    coefficient,
    fill_kernel_row,
    kernel_row,
    near,
    oldest,
    remove_coefficients,
    remove_support,
    set_coefficient,
    supports,
)
from noregret.algebra.scaled import LOST, Scaled, add_compensated
from noregret.algebra.verbs import helper

# ---- what is known of supports --------------------------------------------------------------------------------------


@bank_of_vector.on(Expansion)
def bank_of_expansion(w: Any) -> Any:
    return w.bank


@bank_of_vector.on(Scaled)
@bank_of_vector.on(Averaged)
@bank_of_vector.on(Centre)
def bank_of_inner(w: Any) -> Any:
    return bank_of_vector(w.v)


@weigh_support.on(Expansion)
def weigh_support_expansion(w: Any, i: int) -> Any:
    classes = w.coef.size // w.bank.sq.size
    total = 0.0
    for c in range(classes):
        total += abs(w.coef[i * classes + c])
    return total


@weigh_support.on(Scaled)
@weigh_support.on(Averaged)
@weigh_support.on(Centre)
def weigh_support_inner(w: Any, i: int) -> Any:
    return weigh_support(w.v, i)


def count_supports(w: Any) -> Any:
    return bank_of_vector(w).n[0]


@helper
def oldest_support(bank: Any) -> Any:
    first = 0
    for i in range(1, bank.n[0]):
        if bank.born[i] < bank.born[first]:
            first = i
    return first


@helper
def newest_support(bank: Any) -> Any:
    last = 0
    for i in range(1, bank.n[0]):
        if bank.born[i] > bank.born[last]:
            last = i
    return last


def find_oldest(w: Any) -> Any:
    return oldest_support(bank_of_vector(w))


def fill_beside(w: Any, b: int) -> Any:
    bank = bank_of_vector(w)
    if b < 0 or b >= bank.n[0]:
        raise IndexError("there is no such support")
    expand_support(bank, b, bank.beside)


def read_beside(w: Any, i: int) -> Any:
    bank = bank_of_vector(w)
    if i < 0 or i >= bank.n[0]:
        raise IndexError("there is no such support")
    return bank.beside[i]


for _vector in (Expansion, Scaled, Averaged):  # the centre of a one-class task moves by its own steps alone
    supports.on(_vector)(count_supports)
    oldest.on(_vector)(find_oldest)
    fill_kernel_row.on(_vector)(fill_beside)
    kernel_row.on(_vector)(read_beside)


@near.on(Kernel)
@near.on(KernelPair)
def near_kernel(z: Any, i: int) -> Any:
    if i < 0 or i >= z.bank.n[0]:
        raise IndexError("there is no such support")
    return z.bank.near[i]


@coefficient.on(Expansion)
def coefficient_expansion(w: Any, i: int) -> Any:
    if i < 0 or i >= w.bank.n[0]:
        raise IndexError("there is no such support")
    return w.coef[i]


@coefficient.on(Scaled)
def coefficient_scaled(w: Any, i: int) -> Any:
    return w.n[0] * coefficient(w.v, i)


@set_coefficient.on(Expansion)
def set_coefficient_expansion(w: Any, i: int, a: float) -> None:
    if i < 0 or i >= w.bank.n[0]:
        raise IndexError("there is no such support")
    w.coef[i] = a


@set_coefficient.on(Scaled)
def set_coefficient_scaled(w: Any, i: int, a: float) -> None:
    """A norm in use is computed again when next needed."""
    w.n[3] = 0.0
    set_coefficient(w.v, i, a / w.n[0])


# ---- removal --------------------------------------------------------------------------------------------------------


@drop_coefficients.on(Expansion)
def drop_coefficients_expansion(w: Any, i: int) -> None:
    last = w.bank.n[0] - 1
    if i < 0 or i > last:
        raise IndexError("there is no such support")
    stride = w.coef.size // w.bank.sq.size
    for c in range(stride):
        w.coef[i * stride + c] = w.coef[last * stride + c]
        w.coef[last * stride + c] = 0.0


@drop_coefficients.on(Scaled)
def drop_coefficients_scaled(w: Any, i: int) -> None:
    """A norm in use is updated; where too few digits are left, it is computed again when next needed."""
    if w.n[3] > 0.0:
        before = w.n[1]
        add_compensated(w.n, 1, change_without(w.v, i))
        if w.n[1] < LOST * before:
            w.n[3] = 0.0
    drop_coefficients(w.v, i)


@drop_coefficients.on(Averaged)
def drop_coefficients_averaged(w: Any, i: int) -> None:
    drop_coefficients(w.u, i)
    drop_coefficients(w.v, i)


@drop_coefficients.on(Centre)
def drop_coefficients_centre(w: Any, i: int) -> None:
    drop_coefficients(w.v, i)


@helper
def change_without(w: Any, i: int) -> Any:
    """|w - a k_i|^2 - |w|^2 = -2 a w(x_i) + a^2 k(x_i, x_i), summed over classes, where a is the coefficient of x_i."""
    bank = w.bank
    if i < 0 or i >= bank.n[0]:
        raise IndexError("there is no such support")
    classes = w.coef.size // bank.sq.size
    expand_support(bank, i, bank.beside)
    change = 0.0
    for j in range(bank.n[0]):
        both = 0.0
        for c in range(classes):
            both += w.coef[i * classes + c] * w.coef[j * classes + c]
        change += (-1.0 if j == i else -2.0) * both * bank.beside[j]
    return change


def remove_coefficients_kernel(w: Any, i: int, z: Any) -> Any:
    drop_coefficients(w, i)


def remove_support_kernel(w: Any, i: int, z: Any) -> Any:
    drop_coefficients(w, i)
    drop_row(z.bank, i)


for _vector in (Expansion, Scaled, Averaged):  # of examples that only the kernel algebra has
    for _example in (Kernel, KernelPair, KernelDifference):
        remove_coefficients.on(_vector, object, _example)(remove_coefficients_kernel)
        remove_support.on(_vector, object, _example)(remove_support_kernel)
