"""Verbs of rules that work on single supports of a kernel learner, or on the span of all of them."""

from typing import Any

from noregret.algebra.verbs import Verb

# ---- kernels --------------------------------------------------------------------------------------------------------


@Verb
def append(w: Any, a: float, z: Any) -> None:
    """w += a z, as a support of its own, even if an equal row is one already"""


@Verb
def votes(w: Any, u: Any, x: Any, t: Any) -> Any:
    """The sum of the predictions for x of every w so far, each times the rounds it lasted; u has the rounds of the
    changes, and t is the number of this round
    """


@Verb
def supports(w: Any) -> Any:
    """The number of supports"""


@Verb
def near(z: Any, i: int) -> Any:
    """k(x_i, x), where x_i is support i and x is the row at hand"""


@Verb
def coefficient(w: Any, i: int) -> Any:
    """The coefficient of support i in w, where there is one vector of weights for all classes"""


@Verb
def set_coefficient(w: Any, i: int, a: float) -> None:
    """Let a be the coefficient of support i in w, where there is one vector of weights for all classes"""


@Verb
def fill_kernel_row(w: Any, b: int) -> None:
    """Compute k(x_i, x_b) for every support i"""


@Verb
def kernel_row(w: Any, i: int) -> Any:
    """k(x_i, x_b), where x_b is the support of the last fill_kernel_row"""


@Verb
def oldest(w: Any) -> Any:
    """The support that has been one for the longest"""


@Verb
def remove_support(w: Any, i: int, z: Any) -> None:
    """Remove support i and its coefficients in w; the last support takes its place

    Where other vectors of the state have the same supports, remove their coefficients first. z is the example at hand.
    """


@Verb
def remove_coefficients(w: Any, i: int, z: Any) -> None:
    """Remove the coefficients of support i in w; then remove_support removes it with those of another vector"""


# ---- the span of the supports ---------------------------------------------------------------------------------------


@Verb
def project(basis: Any, z: Any) -> Any:
    """The squared distance of z from the span of the supports; its projection is remembered"""


@Verb
def independent(basis: Any, z: Any) -> Any:
    """Whether z, which was projected last, is far enough from the span to be one of the supports"""


@Verb
def add_projection(w: Any, a: float, basis: Any, z: Any) -> None:
    """w += a P z, where z was projected last"""


@Verb
def extend(basis: Any, z: Any) -> None:
    """Let z, which was projected last and appended since, be one of the supports"""


@Verb
def fill_distances(basis: Any) -> None:
    """Compute the squared distance of every support from the span of the others"""


@Verb
def distance(basis: Any, i: int) -> Any:
    """The squared distance of support i from the span of the others, as last computed"""


@Verb
def substitute(w: Any, i: int, basis: Any) -> None:
    """Replace support i in w by its projection onto the others: its coefficient becomes zero"""


@Verb
def drop(basis: Any, i: int) -> None:
    """Let support i be none of the supports any more; the last one takes its place"""
