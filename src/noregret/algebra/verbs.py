"""The verbs: the words rules are written in. A verb has one meaning and many implementations, chosen by type.

In plain Python a verb looks its implementation up at every call; the compiler asks the same table once, while it
compiles. So one text is the definition, the debugger's view and the fast version.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

Implementation = Callable[..., Any]


class Verb:
    """A word of the algebra: calling it runs the implementation for the types it is given."""

    def __init__(self, meaning: Implementation) -> None:
        self.name = meaning.__name__
        self.__name__ = meaning.__name__
        self.__doc__ = meaning.__doc__
        self.table: dict[tuple[type, ...], Implementation] = {}
        self._chosen: dict[tuple[type, ...], Implementation] = {}
        self.writes = self.name in WRITING
        self.sweeps = self.name in SWEEPING
        VERBS.append(self)

    def on(self, *kinds: type) -> Callable[[Implementation], Implementation]:
        """Register an implementation for these leading argument types; `object` stands for any type."""

        def register(implementation: Implementation) -> Implementation:
            self.table[kinds] = implementation
            return implementation

        return register

    def serving(self, kinds: tuple[type, ...]) -> Implementation | None:
        """The most specific implementation for these argument types, or None."""
        found = self._chosen.get(kinds)
        if found is None:
            matches = [
                pattern
                for pattern in self.table
                if len(pattern) <= len(kinds)
                and all(want is object or want is have for want, have in zip(pattern, kinds, strict=False))
            ]
            if not matches:
                return None
            best = max(matches, key=lambda pattern: sum(want is not object for want in pattern))
            found = self._chosen[kinds] = self.table[best]
        return found

    def carried_by(self, kinds: frozenset[type]) -> bool:
        """Whether an algebra with these types can carry this verb."""
        return any(all(want is object or want in kinds for want in pattern) for pattern in self.table)

    def __call__(self, *arguments: Any) -> Any:
        kinds = tuple(map(type, arguments))
        implementation = self._chosen.get(kinds) or self.serving(kinds)
        if implementation is None:
            raise TypeError(f"{self.name} has no meaning for {', '.join(kind.__name__ for kind in kinds)}")
        return implementation(*arguments)

    def __repr__(self) -> str:
        return f"<verb {self.name}>"

    def __reduce__(self) -> Any:
        """A verb that travels to another process is the verb of that name there, not a copy the compiler never met."""
        return verb_named, (self.name,)


def verb_named(name: str) -> Verb:
    return next(verb for verb in VERBS if verb.name == name)


VERBS: list[Verb] = []
# Verbs that write a vector in place, and those of them that may change cells the round does not touch.
SWEEPING = {"apportion", "contract", "clip_peaks", "flush", "shorten", "remove_coefficients", "remove_support"}
WRITING = {"add", "append", "clip", "take_snapshot", "keep", "multiply", "prune", "put", "scale", "shrink"} | SWEEPING
HELPERS: list[Implementation] = []
REASSOCIATED: list[Implementation] = []


def helper(function: Implementation) -> Implementation:
    """Mark a plain function that implementations call, so that it is compiled with them."""
    HELPERS.append(function)
    return function


def reassociated(function: Implementation) -> Implementation:
    """Mark a dense sum whose terms may be added in any order: worth five times the speed, and only there."""
    REASSOCIATED.append(function)
    return function


@helper
def power(a: Any, p: Any) -> Any:
    """a^p for a >= 0; by multiplication alone where p is a small whole number, and a root where it is half of one."""
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
    """Stands, in a text that is copied before it runs, for a name that the copy has bound."""
    raise NotImplementedError("bound when the text is stamped")


Plain = np.ndarray


@Verb
def dot(w: Any, z: Any) -> Any:
    """w . z"""


@Verb
def add(w: Any, a: Any, z: Any) -> Any:
    """w += a z"""


@Verb
def append(w: Any, a: Any, z: Any) -> Any:
    """w += a z, remembered apart from any equal row before it"""


@Verb
def remove_support(w: Any, i: Any, z: Any) -> Any:
    """Remove support i and its coefficients in w; the supports after it move up by one and keep their order

    Where other vectors of the state have supports, too, remove their coefficients first. z is the example at hand.
    """


@Verb
def remove_coefficients(w: Any, i: Any, z: Any) -> Any:
    """Remove the coefficients of support i in w, just before remove_support removes it with those of another vector"""


@Verb
def drop_coefficients(w: Any, i: Any) -> Any:
    """Remove the coefficients of support i in w, which is in the kernel algebra; the bank still has the support"""


@Verb
def votes(w: Any, u: Any, x: Any, t: Any) -> Any:
    """What every w there has been says of x, as often as it lasted rounds; u keeps when it moved, t is now."""


@Verb
def dots(w: Any, x: Any, stride: Any, out: Any) -> Any:
    """The scores of all classes at once: out[c] = w_c . x"""


@Verb
def sqnorm(z: Any) -> Any:
    """z . z"""


@Verb
def sqsource(g: Any) -> Any:
    """z . z, where g is some multiple of the signed example z"""


@Verb
def norm(w: Any, p: Any) -> Any:
    """The p-norm of a vector or an example."""


@Verb
def scale(w: Any, a: Any) -> Any:
    """w *= a"""


@Verb
def nudge(v: Any, a: Any, z: Any, p: Any) -> Any:
    """v += a z; returns by how much the sum of |v_j|^p has grown"""


@Verb
def powers(v: Any, p: Any) -> Any:
    """The sum of |v_j|^p over all cells."""


@Verb
def linked(w: Any, x: Any, p: Any) -> Any:
    """v . x, where v_j = sign(w_j) |w_j|^(p-1) / |w|_p^(p-2): w passed through the link of the p-norm"""


@Verb
def sweep(v: Any, a: Any) -> Any:
    """v *= a, cell by cell"""


@Verb
def shrink(w: Any, a: Any, theta: Any) -> Any:
    """Every |w_j| <= theta moves toward zero by a, and no further."""


@Verb
def keep(w: Any, B: Any) -> Any:
    """All cells but the B largest become zero; of equal ones the lower feature stays."""


@Verb
def total(w: Any, sides: Any, cells: Any) -> Any:
    """The sum of exp(w_j) over so many cells; with sides 2 of exp(w_j) + exp(-w_j), with sides -1 of exp(-w_j)"""


@Verb
def share(w: Any, j: Any, sides: Any, cells: Any) -> Any:
    """exp(w_j) as a part of the total; with sides 2, exp(w_j) - exp(-w_j)"""


@Verb
def shared(w: Any, x: Any, sides: Any, cells: Any) -> Any:
    """The sum of share(w, j) x_j."""


@Verb
def swelled(w: Any, x: Any, sides: Any, lift: Any) -> Any:
    """The sum of exp(sides w_j + lift) x_j."""


@Verb
def swelled_total(w: Any, sides: Any, cells: Any, lift: Any) -> Any:
    """The sum of exp(sides w_j + lift) over so many cells."""


@Verb
def side(z: Any) -> Any:
    """The sign that its label gave to an example."""


@Verb
def breadth(z: Any) -> Any:
    """One more than the highest class number with a block in an example."""


@Verb
def mean_dot(w: Any, x: Any) -> Any:
    """The mean of w over the rounds, times x."""


@Verb
def group_norm(w: Any, j: Any, a: Any) -> Any:
    """The length of the group that j belongs to, once every cell of it has moved toward zero by a."""


@Verb
def group_size(w: Any, j: Any) -> Any:
    """How many features the group of j has."""


@Verb
def shorten(w: Any, a: Any) -> Any:
    """Every group of cells moves toward zero by a in length, and no further."""


@Verb
def clip_peaks(w: Any, a: Any) -> Any:
    """The largest |w_j| fall to one height, so that together they lose a."""


@Verb
def take_snapshot(w: Any) -> Any:
    """Remember w as it is now, instead of what was held before."""


@Verb
def snapshot_at(w: Any, j: Any) -> Any:
    """w_j as it was when last held"""


@Verb
def snapshot_dot(w: Any, x: Any) -> Any:
    """w . x for w as it was when last held"""


@Verb
def remember(r: Any, m: Any, z: Any) -> Any:
    """Offer a signed example, one a round, to a sample of m rows: each that was offered is as likely to be in it."""


@Verb
def remembered(r: Any) -> Any:
    """How many rows are in the sample now."""


@Verb
def count_correct(r: Any, w: Any, z: Any, version: Any, record: Any) -> Any:
    """How many rows of the sample w puts right, if more than record or all; a w that has moved has another version."""


@Verb
def miss(r: Any, w: Any, z: Any, k: Any) -> Any:
    """1 if w puts the row of record k wrong, otherwise 0"""


@Verb
def recall(z: Any, idx: Any, val: Any) -> Any:
    """A row without a sign, of the kind that z is made from."""


@Verb
def flush(w: Any, u: Any) -> Any:
    """w += u, and u = 0"""


@Verb
def clip(w: Any, low: Any, high: Any, z: Any) -> Any:
    """The cells of an example's features are brought between low and high."""


@Verb
def contract(w: Any, radius: Any, z: Any) -> Any:
    """w, laid out like an example, becomes the nearest vector whose sizes sum to at most radius."""


@Verb
def apportion(w: Any, radius: Any, z: Any, features: Any, classes: Any) -> Any:
    """w becomes the nearest vector without negative cells that sums to radius, over so many features and classes."""


@Verb
def put(w: Any, j: Any, a: Any) -> Any:
    """w_j = a"""


@Verb
def multiply(w: Any, base: Any, z: Any) -> Any:
    """w_j *= base ** z_j"""


@Verb
def prune(w: Any, base: Any, z: Any) -> Any:
    """w_j *= base ** z_j where z_j is positive; w_j = 0 where it is negative"""


@Verb
def at(w: Any, j: Any) -> Any:
    """w_j"""


@Verb
def extent(z: Any) -> Any:
    """One more than the largest feature number with a value other than zero."""


@Verb
def image(sigma: Any, z: Any) -> Any:
    """Sigma z"""


@Verb
def inner(z: Any, u: Any) -> Any:
    """z . u, where u is the image of z"""


@Verb
def sharpen(sigma: Any, kappa: Any, u: Any) -> Any:
    """Sigma^-1 += kappa z z', where u is the image of z"""


@Verb
def posterior_image(sigma: Any, kappa: Any, z: Any) -> Any:
    """(Sigma^-1 + kappa z z')^-1 z, leaving Sigma as it is"""


@Verb
def row(rows: Any, t: Any) -> Any:
    """The example of round t."""


@Verb
def partial_features(z: Any, w: Any, draw: Any, known: Any, new: Any) -> Any:
    """z where a draw lets it be read, times one number where w is not zero and times another where it is."""


@Verb
def scaled_by(z: Any, a: Any) -> Any:
    """a z; empty when a is zero"""


@Verb
def class_block(x: Any, c: Any, stride: Any) -> Any:
    """Psi(x, c): x in the block of class c."""


@Verb
def difference(x: Any, c: Any, r: Any, stride: Any) -> Any:
    """Psi(x, c) - Psi(x, r)"""


@Verb
def row_difference(x: Any, other: Any, places: Any, values: Any) -> Any:
    """x - other as one example, written into arrays with a place for every feature."""


@Verb
def blocks(z: Any) -> Any:
    """In how many class blocks an example has values."""


@Verb
def part(z: Any, b: Any) -> Any:
    """One block of an example, as the inner loops see it."""


@Verb
def block(z: Any, b: Any) -> Any:
    """Which class block b of an example belongs to."""


@Verb
def count(q: Any) -> Any:
    """How many values a part has."""


@Verb
def place(q: Any, k: Any) -> Any:
    """Where in a vector the k-th value of a part belongs."""


@Verb
def coordinate(q: Any, k: Any) -> Any:
    """Which feature the k-th value of a part belongs to."""


@Verb
def value(q: Any, k: Any) -> Any:
    """The k-th value of a part: factor(q) * raw(q, k)."""


@Verb
def factor(q: Any) -> Any:
    """What all values of a part have in common, taken out of the inner loops."""


@Verb
def raw(q: Any, k: Any) -> Any:
    """The k-th value of a part before its factor."""


@Verb
def cell(z: Any, j: Any, c: Any) -> Any:
    """Where a vector laid out like an example keeps the weight of feature j for class c."""


@Verb
def spread(z: Any, b: Any, u: Any, a: Any) -> Any:
    """a u as a part of the same layout as block b of z, where u has a value for every feature."""


@Verb
def kernel(bank: Any, xz: Any, xx: Any, zz: Any) -> Any:
    """k(x, z) from x . z, x . x and z . z"""
