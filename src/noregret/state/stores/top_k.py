"""Top-k vectors: w = c v with few non-zeros, the smallest of which is at the top of a heap."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.algebra.scaled import LARGE, SMALL
from noregret.algebra.top_k import NUMBERS, TopK
from noregret.state.fields import Field
from noregret.state.space import Space
from noregret.state.stores.base import Parts, Store, Vector
from noregret.state.stores.plain import PlainStore, initial_cells

SIZE, ORDERED = 3, 4


class TopKStore(Store[TopK]):
    """The cells, a heap of those that are not zero, and the slot of each in it."""

    kind = "top_k"
    numbers = NUMBERS
    lists_nonzeros = True

    @classmethod
    def choose(cls, space: Space) -> Store[Any]:
        return PlainStore.choose(space) if space.algebra == "reference" else cls()

    def build(self, field: Field, space: Space, parts: Parts) -> TopK:
        cells = initial_cells(field, space)
        slot, heap = np.zeros(cells.size, np.int64), np.zeros(cells.size, np.int64)
        return TopK(cells, slot, heap, parts.numbers, space.stride if space.algebra == "dense" else 0)

    def vectors(self, value: TopK) -> list[Vector]:
        return [value.v]

    def derived(self, value: TopK) -> list[NDArray[Any]]:
        return [value.slot, value.heap]

    def nonzero_places(self, value: TopK) -> NDArray[np.int64]:
        return np.array(value.heap[: int(value.n[SIZE])])

    def settle(self, value: TopK) -> None:
        value.v[...] *= value.n[0]
        size = float(self.rebuild_heap(value))
        value.n[:] = 1.0, float(np.sum(value.v[value.v != 0.0] ** 2)), 0.0, size, size

    def refresh(self, value: TopK) -> None:
        self.rebuild_heap(value)

    def rebuild_heap(self, value: TopK) -> int:
        """Put the places of all non-zeros into the heap, in order; return how many there are."""
        nonzero = np.flatnonzero(value.v)
        rank = nonzero % value.stride if value.stride else nonzero
        order = nonzero[np.lexsort((-nonzero, -rank, np.abs(value.v[nonzero])))]
        value.slot[...] = 0
        value.heap[: order.size] = order
        value.slot[order] = np.arange(1, order.size + 1)
        return int(order.size)

    def check_numbers(self, value: TopK) -> str | None:
        scale, _, _, size, ordered = value.n.tolist()
        if size != np.count_nonzero(value.v) or not 0.0 <= ordered <= size or not ordered.is_integer():
            return f"a vector with {size} non-zeros, of which {ordered} are in its heap"
        return None if SMALL < abs(scale) < LARGE else f"a top-k vector with scale {scale}"
