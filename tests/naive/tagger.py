"""Sequence taggers in plain Python over dicts: the averaged perceptron and PA-I with Viterbi search (first order)."""

from collections.abc import Mapping, Sequence

Key = tuple[str, str]  # a feature and a tag
Row = Mapping[str, float]  # the features of a token
START = "<start>"


def search(score: dict[Key, float], rows: Sequence[Row], tags: Sequence[str], truth: Sequence[str]) -> list[str]:
    """The best tags; with a truth, each tag that differs from it adds 1."""
    best: list[dict[str, float]] = []
    back: list[dict[str, str]] = []
    for at, features in enumerate(rows):
        now, came = {}, {}
        for tag in tags:
            own = sum(score.get((name, tag), 0.0) * value for name, value in features.items())
            own += bool(truth) and truth[at] != tag
            if at == 0:
                now[tag], came[tag] = own + score.get((f"after={START}", tag), 0.0), START
                continue
            found = [(best[-1][before] + score.get((f"after={before}", tag), 0.0), before) for before in tags]
            highest = max(value for value, _ in found)
            came[tag] = next(before for value, before in found if value == highest)
            now[tag] = own + highest
        best.append(now)
        back.append(came)
    highest = max(best[-1].values())
    chosen = [next(tag for tag in tags if best[-1][tag] == highest)]
    for came in reversed(back[1:]):
        chosen.append(came[chosen[-1]])
    return chosen[::-1]


def count(rows: Sequence[Row], tags: Sequence[str], sign: float, into: dict[Key, float]) -> None:
    """Add the features of a tagged sentence."""
    before = START
    for features, tag in zip(rows, tags, strict=True):
        for name, value in {**features, f"after={before}": 1.0}.items():
            into[name, tag] = into.get((name, tag), 0.0) + sign * value
        before = tag


class NaiveTagger:
    """One round at a time: predict, then step along the difference of the right tags and their rival."""

    def __init__(self, rule: str = "perceptron", C: float = 1.0) -> None:
        self.rule, self.C = rule, C
        self.w: dict[Key, float] = {}
        self.total: dict[Key, float] = {}  # of w over all rounds, but for the last change of each weight
        self.since: dict[Key, int] = {}
        self.rounds = 0
        self.tags: list[str] = []

    def learn_one(self, rows: Sequence[Row], truth: Sequence[str]) -> float:
        """Learn a sentence; returns the number of tokens that the current weights would have tagged wrongly."""
        self.rounds += 1
        wrong = len(truth)
        if self.tags:
            wrong = sum(a != b for a, b in zip(search(self.w, rows, self.tags, ()), truth, strict=True))
        self.tags += [tag for tag in dict.fromkeys(truth) if tag not in self.tags]
        rival = search(self.w, rows, self.tags, truth if self.rule == "pa1" else ())
        z: dict[Key, float] = {}
        count(rows, truth, 1.0, z)
        count(rows, rival, -1.0, z)
        z = {key: value for key, value in z.items() if value}
        if z:
            step = 1.0
            if self.rule == "pa1":
                required = sum(a != b for a, b in zip(truth, rival, strict=True))
                missing = required - sum(self.w.get(key, 0.0) * value for key, value in z.items())
                step = min(self.C, max(0.0, missing) / sum(value * value for value in z.values()))
            for key, value in z.items():
                self.total[key] = self.total.get(key, 0.0) + (self.rounds - self.since.get(key, 0)) * self.w.get(
                    key, 0.0
                )
                self.since[key] = self.rounds
                self.w[key] = self.w.get(key, 0.0) + step * value
        return float(wrong)

    def average(self) -> dict[Key, float]:
        """The mean of the weights after each round."""
        return {
            key: (self.total.get(key, 0.0) + (self.rounds + 1 - self.since[key]) * self.w[key]) / self.rounds
            for key in self.w
        }
