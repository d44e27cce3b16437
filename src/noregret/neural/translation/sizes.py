"""The sizes of a Transformer, and where each of its matrices stands in one vector of all weights."""

import math
from dataclasses import asdict, dataclass
from typing import Any

from noregret.cached_property import cached_property
from noregret.errors import BadValue, shown
from noregret.neural.translation.tensors import Tensor, Weights, torch

MOST_WEIGHTS = 1 << 30
LARGEST = {"pieces": 1 << 22, "width": 8192, "heads": 256, "hidden": 65536, "encoder": 64, "decoder": 64}
LONGEST = 4096  # pieces of a sentence, at most


@dataclass(frozen=True)
class Sizes:
    """The sizes of an encoder and a decoder, which share one table of embeddings."""

    pieces: int  # of the vocabulary
    width: int = 128  # of every vector
    heads: int = 4
    hidden: int = 512  # units of a feed-forward layer
    encoder: int = 3  # layers
    decoder: int = 3

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if type(value) is not int or not 1 <= value <= LARGEST[name]:
                raise BadValue(
                    f"translator: {name} must be a whole number from 1 to {LARGEST[name]:,}, not {shown(value)}"
                )
        if self.width % (2 * self.heads):
            raise BadValue(
                f"translator: width must be a multiple of twice the heads ({2 * self.heads}), not {self.width}"
            )
        if self.count > MOST_WEIGHTS:
            raise BadValue(f"translator: {self.count:,} weights are too many; at most {MOST_WEIGHTS:,}")

    @cached_property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of every matrix, by name, in the order in which they are stored."""
        found: dict[str, tuple[int, ...]] = {"embeddings": (self.pieces, self.width)}
        for name, layers in (("encoder", self.encoder), ("decoder", self.decoder)):
            for layer in range(layers):
                attentions = ("self",) if name == "encoder" else ("self", "cross")
                found |= self.layer_shapes(f"{name}.{layer}", attentions)
            found |= {f"{name}.norm.gain": (self.width,), f"{name}.norm.shift": (self.width,)}
        return found

    def layer_shapes(self, name: str, attentions: tuple[str, ...]) -> dict[str, tuple[int, ...]]:
        """The shapes of one layer: its attentions, then its feed-forward network, each behind a normalisation."""
        d, found = self.width, dict[str, tuple[int, ...]]()
        for one in (*attentions, "forward"):
            found |= {f"{name}.{one}.norm.gain": (d,), f"{name}.{one}.norm.shift": (d,)}
            if one != "forward":
                found |= {f"{name}.{one}.{part}": (d, d) for part in ("query", "key", "value", "out")}
        part = f"{name}.forward"
        return found | {
            f"{part}.first": (self.hidden, d), f"{part}.first_bias": (self.hidden,),
            f"{part}.second": (d, self.hidden), f"{part}.second_bias": (d,),
        }  # fmt: skip

    @cached_property
    def count(self) -> int:
        """The number of weights."""
        return sum(math.prod(shape) for shape in self.shapes.values())

    def views(self, vector: Tensor) -> Weights:
        """The matrices of a vector of all weights, without copying them."""
        found, at = {}, 0
        for name, shape in self.shapes.items():
            size = math.prod(shape)
            found[name] = vector[at : at + size].view(shape)
            at += size
        return found

    def draw(self, seed: int) -> Tensor:
        """First weights: embeddings of about unit length, matrices that keep the size of what they map."""
        generator = torch().Generator().manual_seed(seed)
        vector = torch().zeros(self.count)
        for name, weights in self.views(vector).items():
            if name.endswith("gain"):
                weights.fill_(1.0)
            elif name == "embeddings":
                weights.normal_(0.0, self.width**-0.5, generator=generator)
            elif weights.dim() == 2:
                bound = math.sqrt(6.0 / sum(weights.shape))
                weights.uniform_(-bound, bound, generator=generator)
        return vector

    def as_header(self) -> dict[str, Any]:
        return asdict(self)
