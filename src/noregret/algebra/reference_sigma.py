"""Covariances of the reference algebra: whole matrices, whatever of them is kept."""

from typing import Any, NamedTuple

import numpy as np

from noregret.algebra.reference import ReferenceExample
from noregret.algebra.verbs import image, inner, posterior_image, sharpen


class ReferenceSigma(NamedTuple):
    """One covariance matrix a class; mode says what of it is kept."""

    S: np.ndarray
    mode: str


class ReferenceImage(NamedTuple):
    """Sigma z, and the z it is the image of."""

    v: np.ndarray
    z: Any


def by_class(sigma: ReferenceSigma, v: np.ndarray) -> np.ndarray:
    """Sigma v, block by block; a binary example is the one block of class 0."""
    size = sigma.S.shape[1]
    per_class = v.reshape(-1, size)
    return np.asarray(np.einsum("cij,cj->ci", sigma.S[: len(per_class)], per_class).ravel())


def sharper(sigma: ReferenceSigma, kappa: float, z: ReferenceExample) -> np.ndarray:
    """The matrices with Sigma^-1 += kappa z z', as far as the mode keeps them."""
    size = sigma.S.shape[1]
    per_class = z.v.reshape(-1, size)
    S = sigma.S[: len(per_class)]
    if sigma.mode == "diagonal":
        diagonal = np.einsum("cii->ci", S)
        return np.stack([np.diag(row) for row in 1.0 / (1.0 / diagonal + kappa * per_class**2)])
    Sz = by_class(sigma, z.v).reshape(per_class.shape)
    whole = float((per_class * Sz).sum())
    if sigma.mode == "drop":
        others = 1.0 + kappa * np.maximum(whole - per_class * Sz, 0.0)
        return np.asarray(S * (others / (1.0 + kappa * whole))[:, :, None])
    return np.asarray(S - kappa / (1.0 + kappa * whole) * np.einsum("ci,cj->cij", Sz, Sz))


@image.on(ReferenceSigma)
def image_reference(sigma: Any, z: Any) -> Any:
    return ReferenceImage(by_class(sigma, z.v), z)


@posterior_image.on(ReferenceSigma)
def foresee_reference(sigma: Any, kappa: Any, z: Any) -> Any:
    if sigma.mode == "drop":
        u = image(sigma, z)
        return ReferenceImage(u.v / (1.0 + kappa * inner(z, u)), z)
    return ReferenceImage(by_class(ReferenceSigma(sharper(sigma, kappa, z), sigma.mode), z.v), z)


@inner.on(object, ReferenceImage)
def inner_reference(z: Any, u: Any) -> Any:
    return float(z.v @ u.v)


@sharpen.on(ReferenceSigma)
def sharpen_reference(sigma: Any, kappa: Any, u: Any) -> Any:
    new = sharper(sigma, kappa, u.z)
    sigma.S[: len(new)] = new
