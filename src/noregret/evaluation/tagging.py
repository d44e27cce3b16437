"""How good a tagger is: accuracy, a table of tags, and the pairs of tags that are confused most."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from noregret.evaluation.tables import table


class TagCounts:
    """Counts what was predicted for which tag."""

    def __init__(self) -> None:
        self.pairs: Counter[tuple[Any, Any]] = Counter()
        self.sentences = self.right_sentences = 0

    def add(self, truths: Sequence[Sequence[Any]], predictions: Sequence[Sequence[Any]]) -> None:
        """Count some sentences."""
        for truth, predicted in zip(truths, predictions, strict=True):
            self.pairs.update(zip(truth, predicted, strict=True))
            self.sentences += 1
            self.right_sentences += list(truth) == list(predicted)

    @property
    def total(self) -> int:
        """The tokens counted."""
        return self.pairs.total()

    @property
    def right(self) -> int:
        return sum(count for (truth, predicted), count in self.pairs.items() if truth == predicted)

    def tags(self) -> list[dict[str, Any]]:
        """Precision, recall and F1 of every tag, the most frequent first."""
        truths, predictions = Counter[Any](), Counter[Any]()
        for (truth, predicted), count in self.pairs.items():
            truths[truth] += count
            predictions[predicted] += count
        found = []
        for tag, count in sorted(truths.items(), key=lambda one: (-one[1], str(one[0]))):
            right = self.pairs[tag, tag]
            precision, recall = right / max(predictions[tag], 1), right / count
            f1 = 2 * precision * recall / (precision + recall) if right else 0.0
            found.append({"tag": tag, "tokens": count, "precision": precision, "recall": recall, "f1": f1})
        return found

    def confused(self, most: int = 10) -> list[dict[str, Any]]:
        """The pairs of tags that are confused most."""
        wrong = [(pair, count) for pair, count in self.pairs.items() if pair[0] != pair[1]]
        wrong.sort(key=lambda one: (-one[1], str(one[0])))
        return [{"truth": pair[0], "predicted": pair[1], "tokens": count} for pair, count in wrong[:most]]

    def report(self) -> dict[str, Any]:
        """All of it, for a JSON report."""
        return {
            "sentences": self.sentences,
            "right_sentences": self.right_sentences,
            "tokens": self.total,
            "accuracy": self.right / max(self.total, 1),
            "tags": self.tags(),
            "confused": self.confused(),
        }

    def describe(self, name: str) -> str:
        """The same for people."""
        if not self.total:
            return f"{name}: no tags to compare with"
        lines = [f"{name}: {self.right:,} of {self.total:,} tokens right ({100 * self.right / self.total:.2f} %), "
                 f"{self.right_sentences:,} of {self.sentences:,} sentences without an error", ""]  # fmt: skip
        rows = [
            (str(one["tag"]), f"{one['tokens']:,}", *(f"{one[key]:.4f}" for key in ("precision", "recall", "f1")))
            for one in self.tags()
        ]
        lines += [table(("tag", "tokens", "precision", "recall", "F1"), rows)]
        if wrong := self.confused():
            pairs = [(f"{one['truth']} as {one['predicted']}", f"{one['tokens']:,}") for one in wrong]
            lines += ["", table(("most confused", "tokens"), pairs)]
        return "\n".join(lines)
