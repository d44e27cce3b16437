"""The shares of topics over time: means over blocks of documents, fewer and longer ones as time goes on."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
FIRST = 32  # documents of a block at first
MOST = 128  # blocks; when there are more, two become one


class TopicHistory:
    """Per block of documents: how many, their losses, words, and the sum of their shares."""

    def __init__(self, block: int = FIRST) -> None:
        self.block = block
        self.documents: list[int] = []
        self.losses: list[float] = []
        self.shares: list[Floats] = []

    def see(self, shares: Floats, losses: Floats) -> None:
        """Add documents in order."""
        start = 0
        while start < len(losses):
            if not self.documents or self.documents[-1] >= self.block:
                self.documents.append(0)
                self.losses.append(0.0)
                self.shares.append(np.zeros(shares.shape[1]))
            stop = min(len(losses), start + self.block - self.documents[-1])
            self.documents[-1] += stop - start
            self.losses[-1] += float(losses[start:stop].sum())
            self.shares[-1] = self.shares[-1] + shares[start:stop].sum(axis=0)
            start = stop
            if len(self.documents) > MOST:
                self.merge()

    def merge(self) -> None:
        """Make blocks twice as long."""
        self.block *= 2
        self.documents, self.losses, self.shares = (
            add_pairs(self.documents),
            add_pairs(self.losses),
            add_pairs(self.shares),
        )

    def curve(self, topic: int, points: int = MOST) -> list[float]:
        """The share of a topic, in at most so many equal parts of the time."""
        groups = np.array_split(np.arange(len(self.documents)), min(points, len(self.documents)) or 1)
        return [
            float(sum(self.shares[at][topic] for at in group) / sum(self.documents[at] for at in group))
            for group in groups
            if group.size
        ]

    def report(self) -> list[dict[str, Any]]:
        """Every block: after how many documents it ends, the mean loss of a document, and the mean shares."""
        ends = np.cumsum(self.documents).tolist()
        return [
            {"documents": end, "mean_loss": loss / count, "shares": (shares / count).tolist()}
            for end, count, loss, shares in zip(ends, self.documents, self.losses, self.shares, strict=True)
        ]


def add_pairs(values: list[Any]) -> list[Any]:
    """Sums of two neighbours each; the last value alone, where their number is odd."""
    return [sum(values[at + 1 : at + 2], values[at]) for at in range(0, len(values), 2)]
