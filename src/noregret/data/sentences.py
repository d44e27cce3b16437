"""A sentence with its annotation as passive data, and the check that its heads form a tree."""

from collections.abc import Sequence
from dataclasses import dataclass

from noregret.errors import BadValue, shown


@dataclass(frozen=True, slots=True)
class Sentence:
    """The words of a sentence and what is known of each.

    `heads[i]` is the head of word i + 1, as in CoNLL-U: 0 is the root, n the n-th word. What a file does not annotate
    is None. `lines` are the lines of the file without their ends, if they were asked for.
    """

    words: tuple[str, ...]
    upos: tuple[str, ...] | None = None
    xpos: tuple[str, ...] | None = None
    heads: tuple[int, ...] | None = None
    relations: tuple[str, ...] | None = None
    id: str = ""
    file: str = ""
    line: int = 0
    number: int = 0
    lines: tuple[str, ...] | None = None

    def __len__(self) -> int:
        return len(self.words)

    @property
    def place(self) -> str:
        """Where the sentence was read, for messages: file, first line, number and name."""
        name = f"sentence {self.number}" + (f" ({shorten(self.id)})" if self.id else "")
        return f"{self.file}:{self.line}: {name}" if self.file else name


def shorten(text: str) -> str:
    """Return a name of a sentence for messages, on one line and not too long."""
    return text if len(text) <= 80 and text.isprintable() else shown(text)


def check_heads(heads: Sequence[int], place: str) -> None:
    """Raise an error if a head is not 0 or the number of a word."""
    for word, head in enumerate(heads, 1):
        if not 0 <= head <= len(heads):
            raise BadValue(
                f"{place}: the head of word {word} is {shown(head)}, outside the sentence of {len(heads)} words; "
                "give 0 for the root or the number of a word"
            )


def check_tree(heads: Sequence[int], place: str) -> None:
    """Raise an error unless the heads form a tree with one root: no head outside, one 0, no cycle."""
    if not len(heads):
        raise BadValue(f"{place}: the sentence has no words; leave it out")
    check_heads(heads, place)
    roots = [word for word, head in enumerate(heads, 1) if head == 0]
    if not roots:
        raise BadValue(f"{place}: no word has head 0, so the sentence has no root; a tree has exactly one")
    if len(roots) > 1:
        raise BadValue(f"{place}: words {roots[0]} and {roots[1]} both have head 0; a tree has exactly one root")
    cycle = find_cycle(heads)
    if cycle:
        path = " -> ".join(map(str, cycle[:8])) + (" ..." if len(cycle) > 8 else "")
        raise BadValue(f"{place}: the heads form a cycle, {path}; a tree has none")


def find_cycle(heads: Sequence[int]) -> list[int]:
    """Return the words of a cycle, the first again at its end; empty if there is none. No head may point outside."""
    seen = [0] * (len(heads) + 1)  # the word from which the walk came that saw it
    for start in range(1, len(heads) + 1):
        word = start
        while word and not seen[word]:
            seen[word] = start
            word = heads[word - 1]
        if word and seen[word] == start:
            cycle = [word]
            while heads[cycle[-1] - 1] != word:
                cycle.append(heads[cycle[-1] - 1])
            return [*cycle, word]
    return []


def is_projective(heads: Sequence[int]) -> bool:
    """Whether no two arcs of a tree cross, the arc from the root included."""
    for word, head in enumerate(heads, 1):
        low, high = min(word, head), max(word, head)
        for inside in range(low + 1, high):
            if not low <= heads[inside - 1] <= high:
                return False
    return True
