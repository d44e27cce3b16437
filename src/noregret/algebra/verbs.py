"""Verbs: the operations that rules are written in. A verb has one meaning and many implementations, chosen by type.

In plain Python a verb looks up its implementation at every call; the compiler does so once. So the same text is the
definition, what a debugger shows, and the fast version. Verbs that rules do not need are in `internal_verbs`.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

Implementation = Callable[..., Any]


class Chosen(dict[tuple[type, ...], Implementation]):
    """The implementations of a verb that were called, by the types of the arguments."""

    def __init__(self, verb: "Verb") -> None:
        super().__init__()
        self.verb = verb

    def __missing__(self, kinds: tuple[type, ...]) -> Implementation:
        implementation = self.verb.find(kinds)
        if implementation is None:
            raise TypeError(f"{self.verb.name} is not defined for {', '.join(kind.__name__ for kind in kinds)}")
        self[kinds] = implementation
        return implementation


class Verb:
    """An operation of the algebra: a call runs the implementation for the types of the arguments."""

    def __new__(cls, meaning: Implementation) -> "Verb":
        """Calls of few arguments have a text of their own, which takes half the time."""
        return super().__new__(CALLED_WITH.get(meaning.__code__.co_argcount, cls))

    def __init__(self, meaning: Implementation) -> None:
        self.name = meaning.__name__
        self.__name__ = meaning.__name__
        self.__doc__ = meaning.__doc__
        self.table: dict[tuple[type, ...], Implementation] = {}
        self._chosen = Chosen(self)
        self.writes = self.name in WRITING
        self.sweeps = self.name in SWEEPING
        VERBS.append(self)

    def on(self, *kinds: type) -> Callable[[Implementation], Implementation]:
        """Register an implementation for these leading argument types; `object` stands for any type."""

        def register(implementation: Implementation) -> Implementation:
            self.table[kinds] = implementation
            return implementation

        return register

    def find(self, kinds: tuple[type, ...]) -> Implementation | None:
        """Return the most specific implementation for these argument types, or None."""
        matches = [
            pattern
            for pattern in self.table
            if len(pattern) <= len(kinds)
            and all(want is object or want is have for want, have in zip(pattern, kinds, strict=False))
        ]
        if not matches:
            return None
        return self.table[max(matches, key=lambda pattern: sum(want is not object for want in pattern))]

    def works_with(self, kinds: frozenset[type]) -> bool:
        """Whether an algebra with these types has this verb."""
        return any(all(want is object or want in kinds for want in pattern) for pattern in self.table)

    def __call__(self, *arguments: Any) -> Any:
        return self._chosen[tuple(map(type, arguments))](*arguments)

    def __repr__(self) -> str:
        return f"<verb {self.name}>"

    def __reduce__(self) -> Any:
        """In another process, a verb is the verb of that name there: its implementations are registered there, too."""
        return find_verb, (self.name,)


class VerbOfOne(Verb):
    def __call__(self, a: Any) -> Any:
        return self._chosen[(type(a),)](a)


class VerbOfTwo(Verb):
    def __call__(self, a: Any, b: Any) -> Any:
        return self._chosen[type(a), type(b)](a, b)


class VerbOfThree(Verb):
    def __call__(self, a: Any, b: Any, c: Any) -> Any:
        return self._chosen[type(a), type(b), type(c)](a, b, c)


CALLED_WITH: dict[int, type[Verb]] = {1: VerbOfOne, 2: VerbOfTwo, 3: VerbOfThree}


def find_verb(name: str) -> Verb:
    return next(verb for verb in VERBS if verb.name == name)


VERBS: list[Verb] = []
# Verbs that change a vector, and those of them that may change cells other than the row's.
SWEEPING = {
    "add_projection", "apportion", "contract", "clip_peaks", "drop", "shorten", "remove_coefficients",
    "remove_support", "set_coefficient", "substitute",
}  # fmt: skip
WRITING = {
    "add", "append", "clip", "extend", "take_snapshot", "keep", "multiply", "prune", "put", "scale", "shrink",
} | SWEEPING  # fmt: skip
HELPERS: list[Implementation] = []
REASSOCIATED: list[Implementation] = []


def helper(function: Implementation) -> Implementation:
    """Mark a plain function that implementations call, so that it is compiled with them."""
    HELPERS.append(function)
    return function


def reassociate(function: Implementation) -> Implementation:
    """Mark a dense sum whose terms may be added in any order: this makes it five times faster."""
    REASSOCIATED.append(function)
    return function


@helper
def power(a: float, p: float) -> Any:
    """a^p for a >= 0, by multiplications where p is a small whole number or half of one, otherwise by **."""
    n = int(p)
    half = p - n
    if (half != 0.0 and half != 0.5) or not 0 <= n <= 32:
        return a**p
    result = math.sqrt(a) if half == 0.5 else 1.0
    while n > 0:
        if n % 2 == 1:
            result *= a
        a *= a
        n //= 2
    return result


def unbound(*arguments: Any) -> Any:
    """Stands for a name that is bound when a text is specialized."""
    raise NotImplementedError("bound when the text is specialized")


Plain = np.ndarray


# ---- vectors and examples -------------------------------------------------------------------------------------------


@Verb
def dot(w: Any, z: Any) -> Any:
    """w . z"""


@Verb
def add(w: Any, a: float, z: Any) -> None:
    """w += a z"""


@Verb
def norm(w: Any, p: float) -> Any:
    """The p-norm of a vector or an example"""


@Verb
def sqnorm(z: Any) -> Any:
    """z . z"""


@Verb
def peak(z: Any) -> Any:
    """The largest |z_j|"""


@Verb
def sqsource(g: Any) -> Any:
    """z . z, where g is a multiple of the signed example z"""


@Verb
def scale(w: Any, a: float) -> None:
    """w *= a"""


@Verb
def at(w: Any, j: int) -> Any:
    """w_j"""


@Verb
def put(w: Any, j: int, a: float) -> None:
    """w_j = a"""


@Verb
def multiply(w: Any, base: float, z: Any) -> None:
    """w_j *= base ** z_j"""


@Verb
def prune(w: Any, base: float, z: Any) -> None:
    """w_j *= base ** z_j where z_j is positive; w_j = 0 where it is negative"""


@Verb
def extent(z: Any) -> Any:
    """One more than the largest feature number with a non-zero value"""


@Verb
def breadth(z: Any) -> Any:
    """One more than the largest class number with a block in an example"""


@Verb
def side(z: Any) -> Any:
    """The sign that the label gave to an example"""


@Verb
def partial_features(z: Any, w: Any, draw: Any, known: float, new: float) -> Any:
    """z at the features that a draw selects, times one number where w is not zero and another where it is"""


# ---- shrinking and projecting ---------------------------------------------------------------------------------------


@Verb
def shrink(w: Any, a: float, theta: float) -> None:
    """Move every |w_j| <= theta toward zero by a, and no further"""


@Verb
def shorten(w: Any, a: float) -> None:
    """Move every group of cells toward zero by a in norm, and no further"""


@Verb
def keep(w: Any, B: float) -> None:
    """Set all cells but the B largest to zero; of equal ones the lower feature is kept"""


@Verb
def clip_peaks(w: Any, a: float) -> None:
    """Lower the largest |w_j| to one height, so that together they lose a"""


@Verb
def clip(w: Any, low: float, high: float, z: Any) -> None:
    """Bring the cells of an example's features between low and high"""


@Verb
def contract(w: Any, radius: float, z: Any) -> None:
    """Replace w, laid out like an example, by the nearest vector whose absolute values sum to at most radius"""


@Verb
def apportion(w: Any, radius: float, z: Any, features: Any, classes: Any) -> None:
    """Replace w by the nearest vector without negative cells that sums to radius, over so many features and classes"""


@Verb
def group_norm(w: Any, j: int, a: float) -> Any:
    """The norm of the group of j, after every cell of it moved toward zero by a"""


@Verb
def group_size(w: Any, j: int) -> Any:
    """The number of features in the group of j"""


# ---- log weights and links ------------------------------------------------------------------------------------------


@Verb
def share_dot(w: Any, x: Any, sides: float, cells: float) -> Any:
    """The sum of share_j x_j, where share_j is exp(w_j) over the sum of exp(w_i) of so many cells

    With sides 2, share_j is exp(w_j) - exp(-w_j) over the sum of exp(w_i) + exp(-w_i).
    """


@Verb
def exp_dot(w: Any, x: Any, sides: float, lift: float) -> Any:
    """The sum of exp(sides w_j + lift) x_j"""


@Verb
def exp_total(w: Any, sides: float, cells: float, lift: float) -> Any:
    """The sum of exp(sides w_j + lift) over so many cells"""


@Verb
def link_dot(w: Any, x: Any, p: float) -> Any:
    """v . x, where v_j = sign(w_j) |w_j|^(p-1) / |w|_p^(p-2): w after the link function of the p-norm"""


# ---- snapshots and samples ------------------------------------------------------------------------------------------


@Verb
def take_snapshot(w: Any) -> None:
    """Remember w as it is now, instead of the last snapshot"""


@Verb
def snapshot_at(w: Any, j: int) -> Any:
    """w_j of the last snapshot"""


@Verb
def snapshot_dot(w: Any, x: Any) -> Any:
    """w . x for the w of the last snapshot"""


@Verb
def remember(r: Any, m: float, z: Any) -> None:
    """Offer a signed example, one a round, to a uniform sample of m rows"""


@Verb
def sample_size(r: Any) -> Any:
    """The number of rows in the sample"""


@Verb
def count_correct(r: Any, w: Any, z: Any, version: float, best: float) -> Any:
    """How many rows of the sample w predicts correctly, if more than best or all; another version is another w"""


# ---- covariances ----------------------------------------------------------------------------------------------------


@Verb
def image(sigma: Any, z: Any) -> Any:
    """Sigma z"""


@Verb
def inner(z: Any, u: Any) -> Any:
    """z . u, where u is the image of z"""


@Verb
def sharpen(sigma: Any, kappa: float, u: Any) -> None:
    """Sigma^-1 += kappa z z', where u is the image of z"""


@Verb
def move_and_sharpen(w: Any, a: float, sigma: Any, kappa: float, u: Any) -> None:
    """w += a u, then Sigma^-1 += kappa z z', where u is the image of z"""


@Verb
def posterior_image(sigma: Any, kappa: float, z: Any) -> Any:
    """(Sigma^-1 + kappa z z')^-1 z, without changing Sigma"""
