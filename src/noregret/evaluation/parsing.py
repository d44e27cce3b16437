"""How good a parser is: attachment of words to heads, a table of relations, and the relations confused most."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from noregret.evaluation.tables import table


class ParseCounts:
    """Counts words with the right head (unlabelled attachment) and also the right relation (labelled attachment)."""

    def __init__(self) -> None:
        self.sentences = self.right_sentences = 0
        self.words, self.right_heads, self.right_both = Counter[Any](), Counter[Any](), Counter[Any]()  # by relation
        self.pairs: Counter[tuple[Any, Any]] = Counter()  # of relations: the right one and the one predicted

    def add(self, truths: Sequence[Sequence[Any]], predictions: Sequence[Sequence[Any]]) -> None:
        """Count some sentences; a word is a head, or a pair of head and relation."""
        for truth, predicted in zip(truths, predictions, strict=True):
            wrong = 0
            for right, found in zip(map(as_pair, truth), map(as_pair, predicted), strict=True):
                self.words[right[1]] += 1
                self.right_heads[right[1]] += right[0] == found[0]
                self.right_both[right[1]] += right == found
                self.pairs[right[1], found[1]] += 1
                wrong += right[0] != found[0]
            self.sentences += 1
            self.right_sentences += not wrong

    @property
    def total(self) -> int:
        """The words counted."""
        return self.words.total()

    @property
    def labelled(self) -> bool:
        """Whether relations were compared."""
        return any(right is not None and found is not None for right, found in self.pairs)

    @property
    def unlabelled_attachment(self) -> float:
        return self.right_heads.total() / max(self.total, 1)

    @property
    def labelled_attachment(self) -> float:
        return self.right_both.total() / max(self.total, 1)

    def relations(self) -> list[dict[str, Any]]:
        """The attachment of the words of every relation, the most frequent first."""
        order = sorted(self.words.items(), key=lambda one: (-one[1], str(one[0])))
        return [
            {
                "relation": relation,
                "words": count,
                "unlabelled": self.right_heads[relation] / count,
                "labelled": self.right_both[relation] / count,
            }
            for relation, count in order
        ]

    def confused(self, most: int = 10) -> list[dict[str, Any]]:
        """The pairs of relations that are confused most, whatever the head."""
        wrong = [(pair, count) for pair, count in self.pairs.items() if pair[0] != pair[1]]
        wrong.sort(key=lambda one: (-one[1], str(one[0])))
        return [{"truth": pair[0], "predicted": pair[1], "words": count} for pair, count in wrong[:most]]

    def report(self) -> dict[str, Any]:
        """All of it, for a JSON report."""
        found = {
            "sentences": self.sentences,
            "right_sentences": self.right_sentences,
            "words": self.total,
            "unlabelled_attachment": self.unlabelled_attachment,
        }
        if not self.labelled:
            return found
        labelled = {"labelled_attachment": self.labelled_attachment}
        return {**found, **labelled, "relations": self.relations(), "confused": self.confused()}

    def describe(self, name: str) -> str:
        """The same for people."""
        if not self.total:
            return f"{name}: no heads to compare with"
        both = f", labelled {percent(self.labelled_attachment)}" if self.labelled else ""
        lines = [f"{name}: {self.total:,} words: unlabelled attachment {percent(self.unlabelled_attachment)}{both}; "
                 f"{self.right_sentences:,} of {self.sentences:,} trees right"]  # fmt: skip
        if not self.labelled:
            return lines[0]
        rows = [
            (
                str(one["relation"]),
                f"{one['words']:,}",
                *(f"{100 * one[key]:.2f} %" for key in ("unlabelled", "labelled")),
            )
            for one in self.relations()
        ]
        lines += ["", table(("relation", "words", "unlabelled", "labelled"), rows)]
        if wrong := self.confused():
            pairs = [(f"{one['truth']} as {one['predicted']}", f"{one['words']:,}") for one in wrong]
            lines += ["", table(("most confused", "words"), pairs)]
        return "\n".join(lines)


def percent(share: float) -> str:
    return f"{100 * share:.2f} %"


def as_pair(one: Any) -> tuple[Any, Any]:
    """A head with its relation, None where there is none."""
    return (one[0], one[1]) if isinstance(one, (tuple, list)) else (one, None)
