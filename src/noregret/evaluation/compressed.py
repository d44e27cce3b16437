"""A picture that was compressed, and what was lost and kept by the number of components."""

from collections.abc import Callable
from dataclasses import dataclass

from noregret.evaluation.images import Picture

Tell = Callable[[str, float], None]
"""Takes what is being done, and how much of it is done, from 0 to 1."""


def tell_nobody(what: str, done: float) -> None:
    """Used where nobody watches."""


@dataclass(frozen=True)
class Compressed:
    """A picture made of a few components. `errors[r]` is the share of the picture's size that r + 1 of them lose.

    `best` has the same for the best possible components, where they are known, and `sizes` how many numbers are kept.
    """

    picture: Picture
    errors: list[float]
    best: list[float] | None
    sizes: list[int]

    @property
    def kept(self) -> int:
        """How many numbers the compressed picture takes."""
        return self.sizes[-1] if self.sizes else 0

    @property
    def share(self) -> float:
        """How many numbers are kept for each value of the picture."""
        return self.kept / self.picture.size
