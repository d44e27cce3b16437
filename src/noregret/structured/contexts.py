"""Rows for the tags before a token: one for every context, after the tokens of each sentence."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.data.blocks import SparseBlock

START = "<start>"


def context_names(tags: Sequence[Any], order: int) -> list[str]:
    """The features of contexts, by number: the start and every tag; for two tags of context also every pair of these.

    A text says which tag it is, so that names of tags that look alike stay apart.
    """
    single = [START, *(f"{type(tag).__name__}:{tag}" for tag in tags)]
    names = [f"after={tag}" for tag in single]
    if order == 2:
        names += [f"after={a}|{b}" for a in single for b in single]
    return names


def number_contexts(known: Mapping[str, int], order: list[str], wanted: Sequence[str]) -> tuple[Any, list[str]]:
    """The numbers of the features of contexts, and all names: a longer list where some of them are new."""
    new = [name for name in wanted if name not in known]
    more = {name: len(order) + at for at, name in enumerate(new)}
    numbers = np.array([known[name] if name in known else more[name] for name in wanted], np.int32)
    return numbers, [*order, *new] if new else order


def context_rows(
    parts: Any, numbers: NDArray[np.int32], known: NDArray[np.int64], order: int
) -> tuple[SparseBlock, NDArray[np.int64]]:
    """Token rows with the rows of contexts after each sentence, and the rows of every sentence.

    `numbers` are those of `context_names` of all tags; `known` says how many of them each sentence has.
    """
    patterns = {count: pattern(numbers, count, order) for count in set(known.tolist())}
    contexts = (known + 1) ** order
    sizes = parts.lengths + contexts
    tokens = np.diff(parts.indptr)
    ends = np.cumsum(parts.lengths)
    held = parts.indptr[ends] - parts.indptr[ends - parts.lengths]  # values of the tokens of each sentence
    inserted = contexts * order
    shift = np.repeat(np.cumsum(inserted) - inserted, held)
    total = int(held.sum() + inserted.sum())
    idx, val = np.zeros(total, np.int32), np.ones(total)
    places = np.arange(len(parts.idx)) + shift
    idx[places], val[places] = parts.idx, parts.val
    rest = np.ones(total, bool)
    rest[places] = False
    idx[rest] = np.concatenate([patterns[count] for count in known.tolist()]) if len(known) else np.zeros(0, np.int32)
    lengths = np.full(int(sizes.sum()), order)
    at = np.arange(len(tokens)) + np.repeat(np.cumsum(contexts) - contexts, parts.lengths)
    lengths[at] = tokens
    indptr = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
    return SparseBlock(indptr, idx, val, 0), sizes


def pattern(numbers: NDArray[np.int32], count: int, order: int) -> NDArray[np.int32]:
    """The features of all contexts of the start and so many tags, row after row, sorted in each."""
    single = numbers[: count + 1]
    if order == 1:
        return single
    tags = int(np.sqrt(len(numbers)))  # the start and all tags: n + n^2 names
    pairs = numbers[tags:].reshape(tags, tags)[: count + 1, : count + 1]
    both = np.stack((np.broadcast_to(single, pairs.shape), pairs), axis=-1).reshape(-1, 2)
    return np.asarray(np.sort(both, axis=1).ravel())
