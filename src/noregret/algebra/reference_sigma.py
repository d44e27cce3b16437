"""Covariances of the reference algebra: whole matrices, also where only the diagonal counts."""

from typing import Any, NamedTuple

import numpy as np

from noregret.algebra.arrays import Floats
from noregret.algebra.reference import ReferenceExample, dot_nonzeros
from noregret.algebra.verbs import add, image, inner, move_and_sharpen, posterior_image, sharpen


class ReferenceSigma(NamedTuple):
    """A covariance matrix for every class; mode: diagonal, drop or full."""

    S: Floats
    mode: str


class ReferenceImage(NamedTuple):
    """Sigma z, and z."""

    v: Floats
    z: Any


def multiply_blocks(sigma: ReferenceSigma, v: Floats) -> Floats:
    """Sigma v, block by block; a binary example is the one block of class 0."""
    size = sigma.S.shape[1]
    per_class = v.reshape(-1, size)
    return np.concatenate([S[:, v != 0.0] @ v[v != 0.0] for S, v in zip(sigma.S, per_class, strict=False)])


def posterior(sigma: ReferenceSigma, kappa: float, z: ReferenceExample) -> Floats:
    """The matrices after Sigma^-1 += kappa z z', as the mode has them."""
    size = sigma.S.shape[1]
    per_class = z.v.reshape(-1, size)
    S = sigma.S[: len(per_class)]
    if sigma.mode == "diagonal":
        diagonal = np.einsum("cii->ci", S)
        return np.stack([np.diag(row) for row in 1.0 / (1.0 / diagonal + kappa * per_class**2)])
    Sz = multiply_blocks(sigma, z.v).reshape(per_class.shape)
    whole = dot_nonzeros(Sz.ravel(), z.v)
    if sigma.mode == "drop":
        others = 1.0 + kappa * np.maximum(whole - per_class * Sz, 0.0)
        return np.asarray(S * (others / (1.0 + kappa * whole))[:, :, None])
    own = (per_class * Sz).sum(axis=1)[:, None, None]
    return np.asarray(S - kappa / (1.0 + kappa * own) * np.einsum("ci,cj->cij", Sz, Sz))


@image.on(ReferenceSigma)
def image_reference(sigma: Any, z: Any) -> Any:
    return ReferenceImage(multiply_blocks(sigma, z.v), z)


@posterior_image.on(ReferenceSigma)
def posterior_image_reference(sigma: Any, kappa: float, z: Any) -> Any:
    if sigma.mode == "drop":
        u = image(sigma, z)
        return ReferenceImage(u.v / (1.0 + kappa * inner(z, u)), z)
    return ReferenceImage(multiply_blocks(ReferenceSigma(posterior(sigma, kappa, z), sigma.mode), z.v), z)


@inner.on(object, ReferenceImage)
def inner_reference(z: Any, u: Any) -> Any:
    return dot_nonzeros(u.v, z.v)


@move_and_sharpen.on(object, object, ReferenceSigma)
def move_and_sharpen_reference(w: Any, a: float, sigma: Any, kappa: float, u: Any) -> None:
    add(w, a, u)
    sharpen(sigma, kappa, u)


@sharpen.on(ReferenceSigma)
def sharpen_reference(sigma: Any, kappa: float, u: Any) -> None:
    new = posterior(sigma, kappa, u.z)
    sigma.S[: len(new)] = new
