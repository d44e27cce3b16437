"""Rows in random order as far as a buffer reaches: what comes late cannot go first, but nothing stays in its place."""

from collections.abc import Generator, Iterable
from typing import Any

import numpy as np

from noregret.data.batch import Batch
from noregret.data.blocks import Rows, SparseBlock
from noregret.data.query_groups import group_offsets
from noregret.features.names import extends

BUFFER = 1 << 16  # rows that wait


def shuffled(batches: Iterable[Batch], draw: np.random.Generator, lists: bool = False) -> Generator[Batch, None, None]:
    """Of the rows that wait and those that come, as many as came go on, drawn at random; at the end, all.

    Where rows come in lists, whole lists are drawn.
    """
    waiting: Batch | None = None
    for batch in batches:
        batch = numbered(batch, waiting) if lists else batch
        pool = batch if waiting is None else joined(waiting, batch)
        order, ends = drawn(pool, draw, lists)
        going = int(ends[np.searchsorted(ends, max(pool.rows - BUFFER, 0))])
        waiting = taken(pool, order[going:])
        if going:
            yield taken(pool, order[:going])
    if waiting is not None:
        order, ends = drawn(waiting, draw, lists)
        start = 0
        while start < waiting.rows:
            stop = int(ends[np.searchsorted(ends, min(start + BUFFER // 8, waiting.rows))])
            yield taken(waiting, order[start:stop])
            start = stop


def drawn(pool: Batch, draw: np.random.Generator, lists: bool) -> tuple[np.ndarray, Any]:
    """The rows of a batch in random order, and where in it they may be parted."""
    if not lists:
        return draw.permutation(pool.rows), np.arange(pool.rows + 1)
    starts = group_offsets(pool.query)
    lengths = np.diff(starts)
    lot = draw.permutation(lengths.size)
    ends = np.concatenate(([0], np.cumsum(lengths[lot])))
    return np.arange(pool.rows) + np.repeat(starts[:-1][lot] - ends[:-1], lengths[lot]), ends


def numbered(batch: Batch, waiting: Batch | None) -> Batch:
    """The batch with a number for every list that none of those waiting has: any two may become neighbours."""
    lengths = np.diff(group_offsets(batch.query))
    first = 0 if waiting is None or waiting.query is None or not waiting.rows else int(waiting.query.max()) + 1
    return batch._replace(query=np.repeat(np.arange(first, first + lengths.size), lengths))


def taken(batch: Batch, order: np.ndarray) -> Batch:
    """The rows of a batch in another order, or some of them."""
    asides = (batch.y, batch.lines, batch.weight, batch.query)
    y, lines, weight, query = (None if part is None else picked(part, order) for part in asides)
    return Batch(picked(batch.X, order), y, lines, batch.progress, weight, query=query)


def picked(part: Any, order: np.ndarray) -> Any:
    if isinstance(part, Rows):
        return Rows(block_of(part.block, order), part.names, part.indicator)
    if isinstance(part, (list, tuple)):
        return [part[number] for number in order.tolist()]
    return part.take(order) if hasattr(part, "take") and not isinstance(part, np.ndarray) else part[order]


def block_of(block: SparseBlock, order: np.ndarray) -> SparseBlock:
    sizes = np.diff(block.indptr)[order]
    indptr = np.concatenate(([0], np.cumsum(sizes)))
    at = np.arange(int(indptr[-1])) + np.repeat(block.indptr[:-1][order] - indptr[:-1], sizes)
    return block._replace(indptr=indptr, idx=block.idx[at], val=block.val[at])


def joined(first: Batch, second: Batch) -> Batch:
    """The rows of two batches."""
    X = together(first.X, second.X)
    y = None if first.y is None or second.y is None else together(first.y, second.y)
    lines = None if first.lines is None or second.lines is None else np.concatenate((first.lines, second.lines))
    weight = None
    if first.weight is not None or second.weight is not None:
        weight = np.concatenate([np.ones(one.rows) if one.weight is None else one.weight for one in (first, second)])
    query = None if first.query is None or second.query is None else np.concatenate((first.query, second.query))
    return Batch(X, y, lines, second.progress, weight, query=query)


def together(first: Any, second: Any) -> Any:
    if isinstance(first, Rows) and isinstance(second, Rows):
        return rows_together(first, second)
    if isinstance(first, np.ndarray) and isinstance(second, np.ndarray):
        whole = {first.dtype.kind, second.dtype.kind} in ({"i"}, {"f"}) or first.dtype == second.dtype
        return np.concatenate((first, second)) if whole or first.ndim > 1 else [*first.tolist(), *second.tolist()]
    if hasattr(first, "tocsr"):
        from scipy.sparse import vstack

        return vstack([first, second], format="csr")
    return [*plain(first), *plain(second)]


def plain(part: Any) -> Any:
    return part.tolist() if isinstance(part, np.ndarray) else part


def rows_together(first: Rows, second: Rows) -> Rows:
    """Rows of two batches; features that go by name are numbered for both."""
    names, flags, idx = second.names, second.indicator, (first.block.idx, second.block.idx)
    if first.names is not None and second.names is not None and not extends(second.names, first.names):
        known = {name: number for number, name in enumerate(first.names)}
        moved = np.array([known.setdefault(name, len(known)) for name in second.names], np.int32)
        names, idx = list(known), (idx[0], moved[idx[1]] if moved.size else idx[1])
        flags = np.zeros(len(known), bool)
        for rows, numbers in ((first, np.arange(len(first.names))), (second, moved)):
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
