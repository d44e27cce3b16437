"""Online k-means as the papers write it: one row after the other, one centre after the other, plain lists."""

from collections.abc import Callable, Sequence

Row = Sequence[float]


def squared_distance(one: Row, other: Row) -> float:
    return sum((a - b) ** 2 for a, b in zip(one, other, strict=True))


class NaiveKMeans:
    """Centres and how many rows each has learned."""

    def __init__(self, centres: Sequence[Row], counts: Sequence[int]) -> None:
        self.centres = [list(centre) for centre in centres]
        self.counts = list(counts)

    def nearest(self, row: Row) -> int:
        distances = [squared_distance(row, centre) for centre in self.centres]
        return distances.index(min(distances))

    def loss(self, row: Row) -> float:
        return min(squared_distance(row, centre) for centre in self.centres)

    def learn(self, batch: Sequence[Row]) -> None:
        """Sculley's mini-batch: all rows are assigned first; a mini-batch of one row is MacQueen's step."""
        assigned = [self.nearest(row) for row in batch]
        for row, number in zip(batch, assigned, strict=True):
            self.counts[number] += 1
            rate = 1.0 / self.counts[number]
            self.centres[number] = [(1.0 - rate) * c + rate * x for c, x in zip(self.centres[number], row, strict=True)]

    def iterate(self, rows: Sequence[Row]) -> None:
        """An iteration of Lloyd's algorithm on all rows."""
        self.counts = [0] * len(self.counts)
        self.learn(rows)


def find_clusters(rows: Sequence[Row], draw: Callable[[], Sequence[Row]], starts: int, iterations: int) -> NaiveKMeans:
    """The closest of the clusters that some iterations find, each time from other centres."""
    found = []
    for _ in range(starts):
        centres = draw()
        found.append(NaiveKMeans(centres, [0] * len(centres)))
        for _ in range(iterations):
            found[-1].iterate(rows)
    return min(found, key=lambda one: sum(one.loss(row) for row in rows))
