"""An averaged-perceptron tagger with Viterbi search in plain Python, written for speed."""

from collections.abc import Sequence

Tags = dict[str, float]


class PlainTagger:
    """Weights by feature, then by tag. Averages are kept lazily, as is usual."""

    def __init__(self, tags: Sequence[str]) -> None:
        self.tags = list(tags)
        self.weights: dict[str, Tags] = {}
        self.totals: dict[tuple[str, str], float] = {}
        self.stamps: dict[tuple[str, str], int] = {}
        self.rounds = 0

    def tag(self, rows: Sequence[Sequence[str]]) -> list[str]:
        """The best tags of a sentence, given as the features of its tokens."""
        weights, tags = self.weights, self.tags
        none: Tags = {}
        after = [(tag, weights.get(f"after={tag}", none)) for tag in tags]
        start = weights.get("after=<start>", none)
        backs: list[dict[str, str]] = []
        best: Tags = {}
        for at, features in enumerate(rows):
            own = dict.fromkeys(tags, 0.0)
            for name in features:
                found = weights.get(name)
                if found:
                    for tag, value in found.items():
                        own[tag] += value
            if at == 0:
                best = {tag: own[tag] + start.get(tag, 0.0) for tag in tags}
                continue
            now: Tags = {}
            back: dict[str, str] = {}
            for tag in tags:
                score, came = max([(best[before] + row.get(tag, 0.0), before) for before, row in after])
                now[tag], back[tag] = own[tag] + score, came
            best = now
            backs.append(back)
        chosen = [max(tags, key=best.__getitem__)]
        for back in reversed(backs):
            chosen.append(back[chosen[-1]])
        return chosen[::-1]

    def learn(self, rows: Sequence[Sequence[str]], truth: Sequence[str]) -> None:
        """One round of the structured perceptron."""
        self.rounds += 1
        found = self.tag(rows)
        if found == list(truth):
            return
        for tags, sign in ((truth, 1.0), (found, -1.0)):
            before = "<start>"
            for features, tag in zip(rows, tags, strict=True):
                for name in (*features, f"after={before}"):
                    self.change(name, tag, sign)
                before = tag

    def change(self, name: str, tag: str, by: float) -> None:
        row = self.weights.setdefault(name, {})
        value, key = row.get(tag, 0.0), (name, tag)
        self.totals[key] = self.totals.get(key, 0.0) + (self.rounds - self.stamps.get(key, 0)) * value
        self.stamps[key] = self.rounds
        row[tag] = value + by
