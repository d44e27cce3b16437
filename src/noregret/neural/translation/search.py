"""Decoding: the most probable translations of a sentence, found greedily or by beam search, from a given beginning."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from noregret.neural.translation.sizes import Sizes
from noregret.neural.translation.tensors import Tensor, Weights, torch
from noregret.neural.translation.transformer import begin, decode, encode, extend
from noregret.neural.translation.vocabulary import BEGIN, END, PAD, UNKNOWN

NEVER = [PAD, UNKNOWN, BEGIN]  # pieces that no translation has
FREE = 4  # a translation may have so many pieces, and twice as many as its source


@dataclass(frozen=True)
class Found:
    """A translation as pieces, without marks, and log p of all of them and of the end."""

    pieces: tuple[int, ...]
    logarithm: float

    def score(self, alpha: float) -> float:
        """log p, divided by the length to the power alpha: 0 prefers short translations, 1 is the mean of a piece."""
        return self.logarithm / math.pow(len(self.pieces) + 1, alpha)


@dataclass(frozen=True)
class Beam:
    """How to search: hypotheses kept, the power of the length that log p is divided by, and the longest length."""

    width: int = 1
    alpha: float = 1.0
    longest: int = 0  # pieces of a translation; 0 stands for a few more than twice the source

    def limit(self, source: int) -> int:
        return self.longest or 2 * source + FREE


@dataclass(frozen=True)
class Start:
    """The beginning that all translations must have, and which pieces may follow it."""

    pieces: tuple[int, ...] = ()
    first: NDArray[np.bool_] | None = None


NO_START = Start()


def beam_search(w: Weights, sizes: Sizes, source: Sequence[int], beam: Beam, start: Start = NO_START) -> list[Found]:
    """The best translations that were found, the best first; with a width of 1 this is greedy decoding."""
    table, done = w["embeddings"], list[Found]()
    prefixes = begin(w, sizes, torch().tensor([*source, END], device=table.device))
    live, totals, last = [start.pieces], table.new_zeros(1), [BEGIN]
    for piece in start.pieces:
        scores, prefixes = extend(w, sizes, prefixes, torch().tensor(last, device=table.device))
        totals, last = totals + scores[0, piece], [piece]
    limit = max(beam.limit(len(source)), len(start.pieces))
    for length in range(len(start.pieces), limit + 1):
        scores, prefixes = extend(w, sizes, prefixes, torch().tensor(last, device=table.device))
        scores[:, forbidden(sizes, start, length, limit)] = -math.inf
        going: list[tuple[int, int, float]] = []
        for rank, (row, piece, total) in enumerate(best_steps(totals[:, None] + scores, 2 * beam.width)):
            if piece != END:
                going.append((row, piece, total))
            elif rank < beam.width:
                done.append(Found(live[row], total))
            if len(going) == beam.width:
                break
        if len(done) >= beam.width or not going:
            break
        live, last = [(*live[row], piece) for row, piece, _ in going], [piece for _, piece, _ in going]
        totals = table.new_tensor([total for _, _, total in going])
        prefixes = prefixes.take(torch().tensor([row for row, _, _ in going], device=table.device))
    return sorted(done, key=lambda one: (-one.score(beam.alpha), one.pieces))


def forbidden(sizes: Sizes, start: Start, length: int, limit: int) -> list[int]:
    """The pieces that may not come next: at the limit, all but the end."""
    if length == limit:
        return [piece for piece in range(sizes.pieces) if piece != END]
    if start.first is not None and length == len(start.pieces):
        return [*NEVER, *np.flatnonzero(~start.first).tolist()]
    return NEVER


def best_steps(totals: Tensor, count: int) -> list[tuple[int, int, float]]:
    """The best ways to go on, the best first: row of a translation, piece that follows it, log p of both."""
    values, places = totals.flatten().topk(min(count, totals.numel()))
    width = totals.shape[1]
    pairs = zip(places.tolist(), values.tolist(), strict=True)
    return [(place // width, place % width, value) for place, value in pairs if value > -math.inf]


def greedy_batch(w: Weights, sizes: Sizes, sources: Sequence[Sequence[int]], longest: int) -> list[list[int]]:
    """Greedy translations of many sentences at once, for measuring while a model is trained."""
    device = w["embeddings"].device
    rows = torch().nn.utils.rnn.pad_sequence(
        [torch().tensor([*source, END]) for source in sources], batch_first=True, padding_value=PAD
    ).to(device)  # fmt: skip
    memory, allowed = encode(w, sizes, rows)
    found = torch().full((len(sources), 1), BEGIN, device=device)
    ended = torch().zeros(len(sources), dtype=torch().bool, device=device)
    for _ in range(longest):
        scores = decode(w, sizes, found, memory, allowed)[:, -1]
        scores[:, NEVER] = -math.inf
        best = scores.argmax(-1).masked_fill(ended, END)
        found, ended = torch().cat((found, best[:, None]), 1), ended | (best == END)
        if bool(ended.all()):
            break
    return [row[1 : row.index(END, 1)] if END in row[1:] else row[1:] for row in found.tolist()]
