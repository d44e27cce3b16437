"""The Transformer as functions of its weights: encode a sentence, decode all of a translation, or one more piece.

Layers normalise what they read and add what they find (pre-norm). The embeddings of inputs, of outputs and the last
linear map are one matrix.
"""

import math
from dataclasses import dataclass

from noregret.neural.translation.attention import (
    Drop,
    ask,
    earlier,
    feed_forward,
    keep,
    keys_and_values,
    normalise,
    positions,
)
from noregret.neural.translation.sizes import Sizes
from noregret.neural.translation.tensors import Tensor, Weights, functional, torch

PAD = 0  # the piece that fills up short sentences of a batch


def embed(w: Weights, pieces: Tensor, first: int = 0) -> Tensor:
    """The vectors of pieces, at places from `first` on."""
    table = w["embeddings"]
    width = table.shape[1]
    places = positions(first + pieces.shape[-1], width)[first:].to(table)
    return functional().embedding(pieces, table) * math.sqrt(width) + places


def encode(w: Weights, sizes: Sizes, source: Tensor, drop: Drop = keep) -> tuple[Tensor, Tensor]:
    """The vectors of source sentences (a row for each, filled up with PAD), and which places hold pieces."""
    allowed = (source != PAD)[:, None, None, :]
    x = drop(embed(w, source))
    for layer in range(sizes.encoder):
        name = f"encoder.{layer}"
        y = normalise(w, f"{name}.self", x)
        x = x + drop(ask(w, f"{name}.self", y, keys_and_values(w, f"{name}.self", y, sizes.heads), allowed))
        x = x + drop(feed_forward(w, f"{name}.forward", normalise(w, f"{name}.forward", x), drop))
    return normalise(w, "encoder", x), allowed


def decode(w: Weights, sizes: Sizes, target: Tensor, memory: Tensor, allowed: Tensor, drop: Drop = keep) -> Tensor:
    """The scores of every piece to follow each place of the targets, which see what is before them and the source."""
    x, mask = drop(embed(w, target)), earlier(target.shape[1], target.device)
    for layer in range(sizes.decoder):
        name = f"decoder.{layer}"
        y = normalise(w, f"{name}.self", x)
        x = x + drop(ask(w, f"{name}.self", y, keys_and_values(w, f"{name}.self", y, sizes.heads), mask))
        y = normalise(w, f"{name}.cross", x)
        x = x + drop(ask(w, f"{name}.cross", y, keys_and_values(w, f"{name}.cross", memory, sizes.heads), allowed))
        x = x + drop(feed_forward(w, f"{name}.forward", normalise(w, f"{name}.forward", x), drop))
    return normalise(w, "decoder", x) @ w["embeddings"].T


def log_probabilities(w: Weights, sizes: Sizes, source: Tensor, target: Tensor) -> Tensor:
    """log p of every piece at each place of a translation, given the source and the places before it."""
    memory, allowed = encode(w, sizes, source[None])
    return decode(w, sizes, target[None, :-1], memory, allowed)[0].log_softmax(-1)


@dataclass(frozen=True)
class Prefixes:
    """Translations begun, a row for each: what the layers of the decoder remember of their pieces and the source."""

    length: int
    own: list[tuple[Tensor, Tensor]]  # keys and values of the pieces so far, layer by layer
    cross: list[tuple[Tensor, Tensor]]  # keys and values of the source

    def take(self, rows: Tensor) -> "Prefixes":
        """The translations in these rows."""
        return Prefixes(self.length, [(key[rows], value[rows]) for key, value in self.own], self.cross)


def begin(w: Weights, sizes: Sizes, source: Tensor) -> Prefixes:
    """No piece yet, of the translation of one sentence."""
    memory, _ = encode(w, sizes, source[None])
    cross = [keys_and_values(w, f"decoder.{layer}.cross", memory, sizes.heads) for layer in range(sizes.decoder)]
    nothing = torch().zeros(1, sizes.heads, 0, sizes.width // sizes.heads).to(memory)
    return Prefixes(0, [(nothing, nothing)] * sizes.decoder, cross)


def extend(w: Weights, sizes: Sizes, prefixes: Prefixes, pieces: Tensor) -> tuple[Tensor, Prefixes]:
    """One more piece for each row: log p of every piece to follow it, and the longer translations."""
    x, own = embed(w, pieces[:, None], prefixes.length), []
    for layer in range(sizes.decoder):
        name = f"decoder.{layer}"
        y = normalise(w, f"{name}.self", x)
        new = keys_and_values(w, f"{name}.self", y, sizes.heads)
        seen = [torch().cat((old, one), -2) for old, one in zip(prefixes.own[layer], new, strict=True)]
        own.append((seen[0], seen[1]))
        x = x + ask(w, f"{name}.self", y, own[layer], None)
        x = x + ask(w, f"{name}.cross", normalise(w, f"{name}.cross", x), prefixes.cross[layer], None)
        x = x + feed_forward(w, f"{name}.forward", normalise(w, f"{name}.forward", x))
    scores = normalise(w, "decoder", x)[:, 0] @ w["embeddings"].T
    return scores.log_softmax(-1), Prefixes(prefixes.length + 1, own, prefixes.cross)
