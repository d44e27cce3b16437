"""Dependency parsers in plain Python over dicts: perceptron and PA-I, the best tree by trying all of them."""

import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence

Tokens = Sequence[tuple[str, str]]
Heads = Sequence[int]


def all_trees(length: int) -> Iterator[tuple[int, ...]]:
    """Every tree over so many words with one root."""
    for heads in itertools.product(range(length + 1), repeat=length):
        reached = {0}
        for _ in range(length):
            reached |= {word for word, head in enumerate(heads, 1) if head in reached}
        if heads.count(0) == 1 and len(reached) == length + 1:
            yield heads


def crosses(heads: Heads) -> bool:
    """Whether two arcs cross."""
    arcs = [(min(word, head), max(word, head)) for word, head in enumerate(heads, 1)]
    return any(a < c < b < d for a, b in arcs for c, d in arcs)


def span(head: int, modifier: int) -> str:
    """Direction and class of distance of an arc."""
    distance = abs(head - modifier)
    kind = distance if distance <= 5 else 6 if distance <= 10 else 11
    return f"{'right' if modifier > head else 'left'} {kind}"


def tag_at(sentence: Tokens, at: int) -> str:
    if at == 0:
        return "<root>"
    return sentence[at - 1][1] if 0 < at <= len(sentence) else "<outside>"


def arc_features(sentence: Tokens, head: int, modifier: int) -> set[str]:
    """The features of the templates TEMPLATES."""
    word = sentence[head - 1][0] if head else "<root>"
    h, m = tag_at(sentence, head), tag_at(sentence, modifier)
    low, high = min(head, modifier), max(head, modifier)
    found = {
        f"words {word} {sentence[modifier - 1][0]}",
        f"tags {h} {m} {span(head, modifier)}",
        f"before {tag_at(sentence, modifier - 1)} {m} {span(head, modifier)[0]}",
        f"around {h} {tag_at(sentence, head + 1)} {m}",
        f"outside {tag_at(sentence, head - 2)} {m}",
    }
    return found | {f"between {h} {tag_at(sentence, at)} {m}" for at in range(low + 1, high)}


TEMPLATES = [
    "h.word+m.word",
    "h.tag+m.tag+span",
    "m.tag[-1]+m.tag+side",
    "h.tag+h.tag[1]+m.tag",
    "h.tag[-2]+m.tag",
    "h.tag+between.tag+m.tag",
]


class NaiveParser:
    """One round at a time: the tree that was predicted is the rival."""

    def __init__(self, rule: str, projective: bool, C: float = 1.0) -> None:
        self.rule, self.projective, self.C = rule, projective, C
        self.w: defaultdict[str, float] = defaultdict(float)

    def features(self, sentence: Tokens, heads: Heads) -> Counter[str]:
        return Counter(name for m, head in enumerate(heads, 1) for name in arc_features(sentence, head, m))

    def score(self, sentence: Tokens, heads: Heads) -> float:
        return sum(self.w[name] * count for name, count in self.features(sentence, heads).items())

    def best_score(self, sentence: Tokens, bonus: Callable[[Heads], float] = lambda heads: 0.0) -> float:
        """The score of the best tree."""
        trees = (heads for heads in all_trees(len(sentence)) if not (self.projective and crosses(heads)))
        return max(self.score(sentence, heads) + bonus(heads) for heads in trees)

    def learn(self, sentence: Tokens, truth: Heads, rival: Heads) -> None:
        """Step along the difference of two trees."""
        z = self.features(sentence, truth)
        z.subtract(self.features(sentence, rival))
        size = sum(value * value for value in z.values())
        loss = sum(a != b for a, b in zip(truth, rival, strict=True))
        margin = sum(self.w[name] * value for name, value in z.items())
        if not size or not loss:
            return
        step = (margin <= 0.0) * 1.0 if self.rule == "perceptron" else min(self.C, max(0.0, loss - margin) / size)
        for name, value in z.items():
            self.w[name] += step * value
