"""Sigma, the covariance of second-order learners, where only its diagonal is kept: by precision, or by drop."""

from typing import Any, NamedTuple

from noregret.algebra.arrays import Floats
from noregret.algebra.internal_verbs import blocks, count, factor, part, place, raw, value
from noregret.algebra.lanes import divide_four
from noregret.algebra.verbs import (
    Plain,
    add,
    helper,
    image,
    inner,
    move_and_sharpen,
    posterior_image,
    sharpen,
)


class Diagonal(NamedTuple):
    """The variances alone; their inverses grow: Sigma_jj^-1 += kappa z_j^2."""

    v: Floats


class Dropped(NamedTuple):
    """The variances alone; the full update is computed, and all but the diagonal is dropped."""

    v: Floats


class DiagonalImage(NamedTuple):
    """Sigma z, computed when it is read."""

    z: Any
    sigma: Any


class DiagonalPosterior(NamedTuple):
    """(Sigma^-1 + kappa z z')^-1 z, computed when it is read."""

    z: Any
    sigma: Any
    kappa: float


# ---- the diagonal ------------------------------------------------------------------------------------------------


@image.on(Diagonal)
@image.on(Dropped)
def image_diagonal(sigma: Any, z: Any) -> Any:
    return DiagonalImage(z, sigma)


@posterior_image.on(Diagonal)
def posterior_image_diagonal(sigma: Any, kappa: float, z: Any) -> Any:
    return DiagonalPosterior(z, sigma, kappa)


@posterior_image.on(Dropped)
def posterior_image_dropped(sigma: Any, kappa: float, z: Any) -> Any:
    """Sigma z / (1 + kappa z'Sigma z): of a vector there is nothing off the diagonal to drop."""
    return ScaledImage(z, sigma, 1.0 / (1.0 + kappa * inner(z, image(sigma, z))))


class ScaledImage(NamedTuple):
    """factor * Sigma z, computed when it is read."""

    z: Any
    sigma: Any
    factor: float


@blocks.on(DiagonalImage)
@blocks.on(DiagonalPosterior)
@blocks.on(ScaledImage)
def blocks_image(u: Any) -> Any:
    return blocks(u.z)


@part.on(DiagonalImage)
def part_image(u: Any, b: int) -> Any:
    return DiagonalImage(part(u.z, b), u.sigma)


@part.on(DiagonalPosterior)
def part_posterior(u: Any, b: int) -> Any:
    return DiagonalPosterior(part(u.z, b), u.sigma, u.kappa)


@part.on(ScaledImage)
def part_scaled_image(u: Any, b: int) -> Any:
    return ScaledImage(part(u.z, b), u.sigma, u.factor)


@count.on(DiagonalImage)
@count.on(DiagonalPosterior)
@count.on(ScaledImage)
def count_image(q: Any) -> Any:
    return count(q.z)


@place.on(DiagonalImage)
@place.on(DiagonalPosterior)
@place.on(ScaledImage)
def place_image(q: Any, k: int) -> Any:
    return place(q.z, k)


@factor.on(DiagonalImage)
@factor.on(DiagonalPosterior)
def factor_image(q: Any) -> Any:
    return factor(q.z)


@raw.on(DiagonalImage)
def raw_image(q: Any, k: int) -> Any:
    return q.sigma.v[place(q.z, k)] * raw(q.z, k)


@raw.on(DiagonalPosterior)
def raw_posterior(q: Any, k: int) -> Any:
    vx = q.sigma.v[place(q.z, k)] * raw(q.z, k)
    return vx / (1.0 + q.kappa * factor(q.z) * factor(q.z) * raw(q.z, k) * vx)


@factor.on(ScaledImage)
def factor_scaled_image(q: Any) -> Any:
    return q.factor * factor(q.z)


@raw.on(ScaledImage)
def raw_scaled_image(q: Any, k: int) -> Any:
    return q.sigma.v[place(q.z, k)] * raw(q.z, k)


@inner.on(object, DiagonalImage)
def inner_diagonal(z: Any, u: Any) -> Any:
    total = 0.0
    for b in range(blocks(z)):
        q = part(z, b)
        r = part(u, b)
        c = d = e = f = 0.0
        n = count(q) - count(q) % 4
        for k in range(0, n, 4):
            c += raw(q, k) * raw(r, k)
            d += raw(q, k + 1) * raw(r, k + 1)
            e += raw(q, k + 2) * raw(r, k + 2)
            f += raw(q, k + 3) * raw(r, k + 3)
        for k in range(n, count(q)):
            c += raw(q, k) * raw(r, k)
        total += factor(q) * factor(r) * ((c + d) + (e + f))
    return total


@helper
def shrinkage(v: float, step: float, x: float) -> Any:
    """What the variance of a feature is divided by."""
    return 1.0 + step * (x * x * v)


@sharpen.on(Diagonal)
def sharpen_diagonal(sigma: Any, kappa: float, u: Any) -> None:
    v = sigma.v
    for b in range(blocks(u)):
        q = part(u.z, b)
        step = kappa * factor(q) * factor(q)
        n = count(q) - count(q) % 4
        for k in range(0, n, 4):
            i0, i1, i2, i3 = place(q, k), place(q, k + 1), place(q, k + 2), place(q, k + 3)
            c, d, e, f = v[i0], v[i1], v[i2], v[i3]
            over = (
                shrinkage(c, step, raw(q, k)),
                shrinkage(d, step, raw(q, k + 1)),
                shrinkage(e, step, raw(q, k + 2)),
                shrinkage(f, step, raw(q, k + 3)),
            )
            v[i0], v[i1], v[i2], v[i3] = divide_four((c, d, e, f), over)
        for k in range(n, count(q)):
            j = place(q, k)
            v[j] /= shrinkage(v[j], step, raw(q, k))


@move_and_sharpen.on(object, object, Diagonal)
@move_and_sharpen.on(object, object, Dropped)
def move_and_sharpen_any(w: Any, a: float, sigma: Any, kappa: float, u: Any) -> None:
    add(w, a, u)
    sharpen(sigma, kappa, u)


@move_and_sharpen.on(Plain, object, Diagonal)
def move_and_sharpen_diagonal(w: Any, a: float, sigma: Any, kappa: float, u: Any) -> None:
    """`add` and `sharpen` in one loop, with the same bits: each variance is read once for both."""
    v = sigma.v
    for b in range(blocks(u)):
        q = part(u.z, b)
        step = a * factor(q)
        shrink = kappa * factor(q) * factor(q)
        n = count(q) - count(q) % 4
        for k in range(0, n, 4):
            i0, i1, i2, i3 = place(q, k), place(q, k + 1), place(q, k + 2), place(q, k + 3)
            x0, x1, x2, x3 = raw(q, k), raw(q, k + 1), raw(q, k + 2), raw(q, k + 3)
            c, d, e, f = v[i0], v[i1], v[i2], v[i3]
            w0, w1, w2, w3 = w[i0], w[i1], w[i2], w[i3]
            over = (
                shrinkage(c, shrink, x0),
                shrinkage(d, shrink, x1),
                shrinkage(e, shrink, x2),
                shrinkage(f, shrink, x3),
            )
            w[i0] = w0 + step * (c * x0)
            w[i1] = w1 + step * (d * x1)
            w[i2] = w2 + step * (e * x2)
            w[i3] = w3 + step * (f * x3)
            v[i0], v[i1], v[i2], v[i3] = divide_four((c, d, e, f), over)
        for k in range(n, count(q)):
            j, x = place(q, k), raw(q, k)
            w[j] += step * (v[j] * x)
            v[j] /= shrinkage(v[j], shrink, x)


@sharpen.on(Dropped)
def sharpen_dropped(sigma: Any, kappa: float, u: Any) -> None:
    """Compute v - kappa v x v x / (1 + kappa z'Sigma z) such that no variance is rounded to zero."""
    whole = inner(u.z, u)
    for b in range(blocks(u)):
        q = part(u.z, b)
        for k in range(count(q)):
            j = place(q, k)
            own = sigma.v[j] * value(q, k) * value(q, k)
            sigma.v[j] *= (1.0 + kappa * max(whole - own, 0.0)) / (1.0 + kappa * whole)
