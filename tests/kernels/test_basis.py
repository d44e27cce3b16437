"""The basis of the span of supports, verb by verb, against linear algebra on the rows themselves (linear kernel)."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from noregret.algebra.basis import DEPENDENT, Basis
from noregret.algebra.kernel import Expansion, Kernel, KernelPair
from noregret.algebra.kernel_verbs import (
    add_projection,
    distance,
    drop,
    extend,
    fill_distances,
    independent,
    project,
    substitute,
)

Array = NDArray[np.float64]
IDX, VAL = np.zeros(0, np.uint32), np.zeros(0)


class Span:
    """Supports and their basis, with room for some more."""

    def __init__(self, rows: Array, room: int = 8) -> None:
        self.rows, self.d = list[Array](), rows.shape[1]
        reach, count, (squares, coordinates, shares) = (
            np.zeros(room, np.int64),
            np.zeros(1, np.int64),
            np.zeros((3, room)),
        )
        self.basis = Basis(np.zeros((room, room)), squares, reach, coordinates, shares, np.zeros(1), count)
        for row in rows:
            self.append(row)

    def bank(self, x: Array) -> Any:
        return SimpleNamespace(n=np.array([len(self.rows), 0]), near=np.array([row @ x for row in self.rows]))

    def example(self, x: Array) -> Kernel:
        return Kernel(IDX, VAL, 1.0, 0, 1, float(x @ x), float(x @ x), self.bank(x))

    def append(self, x: Array) -> None:
        z = self.example(x)
        project(self.basis, z)
        extend(self.basis, z)
        self.rows.append(x)

    def drop(self, i: int) -> None:
        drop(self.basis, i)
        last = self.rows.pop()
        if i < len(self.rows):
            self.rows[i] = last

    def matrix(self) -> Array:
        size = len(self.rows)
        return np.where(np.arange(size) < self.basis.reach[:size, None], self.basis.m[:size, :size], 0.0)

    def error(self) -> float:
        """How far the basis is from an orthonormal one of the rows, whose squares it also knows."""
        size, rows, m = len(self.rows), np.array(self.rows), self.matrix()
        assert self.basis.n[0] == size
        np.testing.assert_allclose(self.basis.squares[:size], (rows**2).sum(axis=1), rtol=1e-14)
        return float(np.abs(m @ (rows @ rows.T) @ m.T - np.eye(size)).max())


def draw(n: int, d: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).normal(size=(n, d)) * np.linspace(0.5, 3.0, n)[:, None]


def expansion(coefficients: Array) -> Expansion:
    return Expansion(coefficients, SimpleNamespace(n=np.array([coefficients.size, 0]), sq=np.ones(coefficients.size)))  # type: ignore[arg-type]


def project_onto(rows: Array, x: Array) -> Array:
    return np.asarray(np.linalg.lstsq(rows.T, x, rcond=None)[0])


def test_the_distance_of_every_support_is_that_of_least_squares() -> None:
    span = Span(draw(5, 7))
    span.drop(1)
    fill_distances(span.basis)
    for i in range(4):
        others = np.delete(span.rows, i, axis=0)
        rest = span.rows[i] - others.T @ project_onto(others, span.rows[i])
        assert distance(span.basis, i) == pytest.approx(rest @ rest, rel=1e-10)


@pytest.mark.parametrize("i", range(5))
def test_any_support_can_go_and_the_last_takes_its_place(i: int) -> None:
    span = Span(draw(5, 7))
    span.drop(i)
    assert span.error() < 1e-13
    span.append(draw(1, 7, seed=1)[0])
    assert span.error() < 1e-13
    span.drop(i % 4)
    assert span.error() < 1e-13


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_support_that_is_almost_another_goes_without_a_loss_of_digits(side: float) -> None:
    """The last is 1e-4 away from the one that goes or its opposite: the other reflection would lose eight digits."""
    span = Span(np.array([[0.3, 0.2, 0.9], [1.0, 0.0, 0.0], [side, 1e-4, 0.0]]))
    span.drop(1)
    assert span.error() < 1e-11


@pytest.mark.parametrize("i", [-1, 3, 4])
def test_what_is_no_support_cannot_go(i: int) -> None:
    span = Span(draw(3, 4))
    before = span.matrix()
    with pytest.raises(IndexError, match="there is no such support"):
        drop(span.basis, i)
    assert span.error() < 1e-13
    assert np.array_equal(span.matrix(), before)


def test_there_is_no_support_beyond_the_room() -> None:
    span = Span(draw(2, 4), room=2)
    with pytest.raises(IndexError, match="there is no room for another support"):
        span.append(draw(1, 4, seed=1)[0])


def test_a_row_at_the_limit_depends_on_the_supports() -> None:
    """The limit is 1e-8 of k(x, x) plus the squared coefficients of its projection times k(x_j, x_j)."""
    span, x = Span(np.array([[2.0, 0.0]])), np.array([4.0, 1.0])
    z = span.example(x)
    project(span.basis, z)
    assert span.basis.rest[0] == 1.0
    limit = DEPENDENT * (17.0 + 2.0**2 * 4.0)
    for rest, free in ((limit, False), (np.nextafter(limit, 1.0), True)):
        span.basis.rest[0] = rest
        assert independent(span.basis, z) == free


@pytest.mark.parametrize("i", range(4))
def test_a_support_is_replaced_by_its_projection_onto_the_others(i: int) -> None:
    """Also the newest one, after one before it went: what is left of it beyond the reach of a row does not count."""
    span = Span(draw(4, 6))
    span.drop(1)
    span.append(draw(1, 6, seed=2)[0])
    others = np.delete(np.arange(4), i)
    shares = project_onto(np.array(span.rows)[others], span.rows[i])
    for coefficients in np.random.default_rng(3).normal(size=(20, 4)):
        w = expansion(coefficients.copy())
        substitute(w, i, span.basis)
        np.testing.assert_allclose(w.coef[others], coefficients[others] + coefficients[i] * shares, rtol=1e-9)
        assert w.coef[i] == 0.0  # to the last digit


@pytest.mark.parametrize(("sign", "a"), [(1.0, 0.5), (-1.0, 0.5), (-2.0, 3.0)])
def test_a_projection_moves_one_class_or_a_pair(sign: float, a: float) -> None:
    """w += a P z, for z of either sign and any length."""
    span, x = Span(draw(3, 4)), draw(1, 4, seed=3)[0]
    own = float(x @ x)
    shares = a * sign * project_onto(np.array(span.rows), x)
    for z, classes in (
        (Kernel(IDX, VAL, sign, 1, 3, own, own, span.bank(x)), [0.0, 1.0, 0.0]),
        (KernelPair(IDX, VAL, sign, 2, 0, 3, own, own, span.bank(x)), [-1.0, 0.0, 1.0]),
    ):
        w = expansion(np.zeros(9))
        project(span.basis, z)
        add_projection(w, a, span.basis, z)
        np.testing.assert_allclose(w.coef.reshape(3, 3), np.outer(shares, classes), rtol=1e-10)
