"""Removing supports from a kernel learner, as budgets do. The supports after the removed one keep their order.

So the first support is always the oldest. The arrays stay without gaps; moving them costs less than the kernel between
one row and all supports.
"""

from typing import Any

from noregret.algebra.averaged import Averaged
from noregret.algebra.centre import Centre
from noregret.algebra.internal_verbs import drop_coefficients, kernel
from noregret.algebra.kernel import Expansion, Kernel, KernelPair, dot_expanded
from noregret.algebra.scaled import LOST, Scaled, add_compensated
from noregret.algebra.verbs import helper, remove_coefficients, remove_support


@helper
def drop_row(bank: Any, i: int) -> Any:
    """Remove the row of support i from a bank. The kernel values of the row at hand stay valid for the others."""
    last = bank.n[0] - 1
    if i < 0 or i > last:
        raise IndexError("there is no such support")
    size = bank.start[i + 1] - bank.start[i]
    for k in range(bank.start[i], bank.start[last + 1] - size):
        bank.idx[k] = bank.idx[k + size]
        bank.val[k] = bank.val[k + size]
    for j in range(i, last):
        bank.start[j + 1] = bank.start[j + 2] - size
        bank.sq[j] = bank.sq[j + 1]
        bank.near[j] = bank.near[j + 1]
    bank.n[0] = last
    if bank.n[1] == i:
        bank.n[1] = -1
    elif bank.n[1] > i:
        bank.n[1] -= 1


@drop_coefficients.on(Expansion)
def drop_coefficients_expansion(w: Any, i: int) -> None:
    last = w.bank.n[0] - 1
    if i < 0 or i > last:
        raise IndexError("there is no such support")
    stride = w.coef.size // w.bank.sq.size
    for k in range(i * stride, last * stride):
        w.coef[k] = w.coef[k + stride]
    for k in range(last * stride, (last + 1) * stride):
        w.coef[k] = 0.0


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
    idx = bank.idx[bank.start[i] : bank.start[i + 1]]
    val = bank.val[bank.start[i] : bank.start[i + 1]]
    for k in range(idx.size):
        bank.scratch[idx[k]] = val[k]
    change = 0.0
    for j in range(bank.n[0]):
        other = bank.idx[bank.start[j] : bank.start[j + 1]]
        xz = dot_expanded(other, bank.val[bank.start[j] : bank.start[j + 1]], bank.scratch)
        both = 0.0
        for c in range(classes):
            both += w.coef[i * classes + c] * w.coef[j * classes + c]
        change += (-1.0 if j == i else -2.0) * both * kernel(bank, xz, bank.sq[j], bank.sq[i])
    for k in range(idx.size):
        bank.scratch[idx[k]] = 0.0
    return change


def remove_coefficients_kernel(w: Any, i: int, z: Any) -> Any:
    drop_coefficients(w, i)


def remove_support_kernel(w: Any, i: int, z: Any) -> Any:
    drop_coefficients(w, i)
    drop_row(z.bank, i)


for _vector in (Expansion, Scaled, Averaged):  # of examples that only the kernel algebra has
    for _example in (Kernel, KernelPair):
        remove_coefficients.on(_vector, object, _example)(remove_coefficients_kernel)
        remove_support.on(_vector, object, _example)(remove_support_kernel)
