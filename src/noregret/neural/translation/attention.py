"""Attention and the other parts that Transformer layers are made of (Vaswani et al. 2017), on tensors of any type.

Vectors stand in the last dimension, places in the sentence in the one before it.
"""

import math
from collections.abc import Callable
from functools import lru_cache
from typing import TypeAlias

from noregret.neural.translation.tensors import Tensor, Weights, functional, torch

Drop: TypeAlias = Callable[[Tensor], Tensor]
EPSILON = 1e-5  # added to a variance
BASE = 10000.0  # of the wavelengths of positions


def keep(x: Tensor) -> Tensor:
    """Drop nothing."""
    return x


def attend(query: Tensor, key: Tensor, value: Tensor, allowed: Tensor | None) -> Tensor:
    """Scaled dot-product attention: softmax(Q K' / sqrt(d)) V, over the places that are allowed."""
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    if allowed is not None:
        scores = scores.masked_fill(~allowed, -math.inf)
    return scores.softmax(-1) @ value


def split_heads(x: Tensor, heads: int) -> Tensor:
    """(sentences, places, width) as (sentences, heads, places, width / heads)."""
    return x.unflatten(-1, (heads, -1)).transpose(-3, -2)


def join_heads(x: Tensor) -> Tensor:
    return x.transpose(-3, -2).flatten(-2)


def keys_and_values(w: Weights, name: str, x: Tensor, heads: int) -> tuple[Tensor, Tensor]:
    """What the places of x offer to attention."""
    return split_heads(x @ w[f"{name}.key"].T, heads), split_heads(x @ w[f"{name}.value"].T, heads)


def ask(w: Weights, name: str, x: Tensor, offered: tuple[Tensor, Tensor], allowed: Tensor | None) -> Tensor:
    """Multi-head attention of the places of x to keys and values."""
    heads = offered[0].shape[-3]
    return join_heads(attend(split_heads(x @ w[f"{name}.query"].T, heads), *offered, allowed)) @ w[f"{name}.out"].T


def feed_forward(w: Weights, name: str, x: Tensor, drop: Drop = keep) -> Tensor:
    """Two linear maps with a relu between them, at every place."""
    hidden = (x @ w[f"{name}.first"].T + w[f"{name}.first_bias"]).relu()
    return drop(hidden) @ w[f"{name}.second"].T + w[f"{name}.second_bias"]


def normalise(w: Weights, name: str, x: Tensor) -> Tensor:
    """Layer normalisation: mean 0 and variance 1 at every place, then a gain and a shift."""
    gain, shift = w[f"{name}.norm.gain"], w[f"{name}.norm.shift"]
    return functional().layer_norm(x, gain.shape, gain, shift, EPSILON)


@lru_cache(maxsize=64)
def positions(length: int, width: int) -> Tensor:
    """Sinusoidal positions: sin(t / 10000^(2i/d)) in even coordinates and the cosine in odd ones."""
    place = torch().arange(length, dtype=torch().float64)[:, None]
    rate = BASE ** (-torch().arange(0, width, 2, dtype=torch().float64) / width)
    return torch().stack(((place * rate).sin(), (place * rate).cos()), -1).flatten(-2)


def earlier(length: int, device: object = None) -> Tensor:
    """The mask of a decoder: place t may look at places up to t."""
    return torch().ones(length, length, dtype=torch().bool, device=device).tril()
