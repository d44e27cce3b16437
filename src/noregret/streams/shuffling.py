"""Shuffling of a stream through a buffer, and the selection and concatenation of rows that it needs."""

from collections.abc import Generator, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.data.batch import Batch
from noregret.data.blocks import Rows, SparseBlock
from noregret.data.query_groups import group_offsets
from noregret.features.names import extends

BUFFER = 1 << 16  # rows in the buffer


def shuffle(batches: Iterable[Batch], rng: np.random.Generator, lists: bool = False) -> Generator[Batch, None, None]:
    """Shuffle rows through a buffer: each batch is exchanged for as many rows drawn from the buffer and the batch.

    With `lists`, whole queries are drawn.
    """
    buffer: Batch | None = None
    for batch in batches:
        batch = renumber_groups(batch, buffer) if lists else batch
        pool = batch if buffer is None else concatenate_batches(buffer, batch)
        order, ends = draw_order(pool, rng, lists)
        count = int(ends[np.searchsorted(ends, max(pool.rows - BUFFER, 0))])
        buffer = take_rows(pool, order[count:])
        if count:
            yield take_rows(pool, order[:count])
    if buffer is not None:
        order, ends = draw_order(buffer, rng, lists)
        start = 0
        while start < buffer.rows:
            stop = int(ends[np.searchsorted(ends, min(start + BUFFER // 8, buffer.rows))])
            yield take_rows(buffer, order[start:stop])
            start = stop


def draw_order(pool: Batch, rng: np.random.Generator, lists: bool) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows of a batch in random order, and the positions where the order may be cut."""
    if not lists:
        return rng.permutation(pool.rows), np.arange(pool.rows + 1)
    starts = group_offsets(pool.query)
    lengths = np.diff(starts)
    groups = rng.permutation(lengths.size)
    ends = np.concatenate(([0], np.cumsum(lengths[groups])))
    return np.arange(pool.rows) + np.repeat(starts[:-1][groups] - ends[:-1], lengths[groups]), ends


def renumber_groups(batch: Batch, buffer: Batch | None) -> Batch:
    """Give every query a number that none in the buffer has, because any two may become neighbours."""
    lengths = np.diff(group_offsets(batch.query))
    first = 0 if buffer is None or buffer.query is None or not buffer.rows else int(buffer.query.max()) + 1
    return batch._replace(query=np.repeat(np.arange(first, first + lengths.size), lengths))


def take_rows(batch: Batch, order: NDArray[np.int64]) -> Batch:
    """Return some rows of a batch, in the given order."""
    parallel: tuple[Any, ...] = (batch.y, batch.lines, batch.weight, batch.query)
    y, lines, weight, query = (None if values is None else take(values, order) for values in parallel)
    kept = None if batch.kept is None else {name: take(values, order) for name, values in batch.kept.items()}
    return Batch(take(batch.X, order), y, lines, batch.progress, weight, query=query, kept=kept)


def take(values: Any, order: NDArray[np.int64]) -> Any:
    """Return some entries of rows, an array, a list or a frame, in the given order."""
    if isinstance(values, Rows):
        return Rows(take_block_rows(values.block, order), values.names, values.indicator)
    if isinstance(values, (list, tuple)):
        return [values[number] for number in order.tolist()]
    return values.take(order) if hasattr(values, "take") and not isinstance(values, np.ndarray) else values[order]


def take_block_rows(block: SparseBlock, order: NDArray[np.int64]) -> SparseBlock:
    """Return some rows of a block, in the given order."""
    sizes = np.diff(block.indptr)[order]
    indptr = np.concatenate(([0], np.cumsum(sizes)))
    at = np.arange(int(indptr[-1])) + np.repeat(block.indptr[:-1][order] - indptr[:-1], sizes)
    return block._replace(indptr=indptr, idx=block.idx[at], val=block.val[at])


def concatenate_batches(first: Batch, second: Batch) -> Batch:
    """Return the rows of two batches as one."""
    X = concatenate(first.X, second.X)
    y = None if first.y is None or second.y is None else concatenate(first.y, second.y)
    lines = None if first.lines is None or second.lines is None else np.concatenate((first.lines, second.lines))
    weight = None
    if first.weight is not None or second.weight is not None:
        weight = np.concatenate([np.ones(one.rows) if one.weight is None else one.weight for one in (first, second)])
    query = None if first.query is None or second.query is None else np.concatenate((first.query, second.query))
    kept = None
    if first.kept is not None and second.kept is not None:
        kept = {name: [*values, *second.kept[name]] for name, values in first.kept.items()}
    return Batch(X, y, lines, second.progress, weight, query=query, kept=kept)


def concatenate(first: Any, second: Any) -> Any:
    """Concatenate rows or labels of any kind; numbers of different kinds become a list."""
    if isinstance(first, Rows) and isinstance(second, Rows):
        return concatenate_rows(first, second)
    if isinstance(first, np.ndarray) and isinstance(second, np.ndarray):
        alike = {first.dtype.kind, second.dtype.kind} in ({"i"}, {"f"}) or first.dtype == second.dtype
        return np.concatenate((first, second)) if alike or first.ndim > 1 else [*first.tolist(), *second.tolist()]
    if hasattr(first, "tocsr"):
        from scipy.sparse import vstack

        return vstack([first, second], format="csr")
    return [*as_list(first), *as_list(second)]


def as_list(values: Any) -> Any:
    """Convert an array to a list of Python values; return anything else unchanged."""
    return values.tolist() if isinstance(values, np.ndarray) else values


def concatenate_rows(first: Rows, second: Rows) -> Rows:
    """Concatenate rows; features with names are numbered anew where the names differ."""
    names, flags, idx = second.names, second.indicator, (first.block.idx, second.block.idx)
    if first.names is not None and second.names is not None and not extends(second.names, first.names):
        known = {name: number for number, name in enumerate(first.names)}
        renumbered = np.array([known.setdefault(name, len(known)) for name in second.names], np.int32)
        names, idx = list(known), (idx[0], renumbered[idx[1]] if renumbered.size else idx[1])
        flags = np.zeros(len(known), bool)
        for rows, numbers in ((first, np.arange(len(first.names))), (second, renumbered)):
            if rows.indicator is not None:
                flags[numbers] |= rows.indicator
    a, b = first.block, second.block
    block = SparseBlock(
        np.concatenate((a.indptr, b.indptr[1:] + a.indptr[-1])),
        np.concatenate((idx[0][: a.indptr[-1]], idx[1][: b.indptr[-1]])),
        np.concatenate((a.val[: a.indptr[-1]], b.val[: b.indptr[-1]])),
        max(a.width, b.width) if names is None else len(names),
        ready=names is None and a.ready and b.ready,
    )
    return Rows(block, names, flags)
