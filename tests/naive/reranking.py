"""Rerankers as the papers have them, with nothing shared: lists are matrices over all features, history is kept."""

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tests.naive.text_models import KneserNey, Lexicon, Words, cache_value

Rows = Sequence[dict[str, float]]


def all_names(X: Sequence[Rows]) -> list[str]:
    return list(dict.fromkeys(name for rows in X for row in rows for name in row))


def as_matrix(rows: Rows, names: Sequence[str]) -> np.ndarray:
    return np.array([[row.get(name, 0.0) for name in names] for row in rows], float)


def as_losses(rows: Rows, truth: Any) -> np.ndarray:
    losses = np.array(truth if np.ndim(truth) else [j != truth for j in range(len(rows))], float)
    return np.asarray(losses - losses.min())


def first_weights(names: Sequence[str], start: dict[str, float]) -> np.ndarray:
    return np.array([start.get(name, 0.0) for name in names])


def ridge(
    X: Sequence[Rows], Y: Sequence[Any], start: dict[str, float], beta: float, mix: float
) -> Iterator[tuple[int, np.ndarray]]:
    """The prediction of every round and the weights after it; each list is solved as one stacked problem."""
    names = all_names(X)
    w = first_weights(names, start)
    for rows, truth in zip(X, Y, strict=True):
        H, losses = as_matrix(rows, names), as_losses(rows, truth)
        place = int(np.argmax(H @ w))
        if losses.any():
            R = H[int(np.argmin(losses))] - H
            stacked = np.vstack([R, math.sqrt(beta) * np.eye(len(names))])
            target = np.concatenate([losses, np.zeros(len(names))])
            w = (1 - mix) * w + mix * np.linalg.lstsq(stacked, target, rcond=None)[0]
        yield place, w


def ridge_of_all(
    X: Sequence[Rows], Y: Sequence[Any], start: dict[str, float], beta: float, forget: float
) -> Iterator[tuple[int, np.ndarray]]:
    """The same where all lists so far are one stacked problem, older ones with smaller weights."""
    names = all_names(X)
    first = first_weights(names, start)
    w, blocks, targets = first, list[np.ndarray](), list[np.ndarray]()
    for rows, truth in zip(X, Y, strict=True):
        H, losses = as_matrix(rows, names), as_losses(rows, truth)
        place = int(np.argmax(H @ w))
        if losses.any():
            blocks.append(H[int(np.argmin(losses))] - H)
            targets.append(losses)
            scale = [math.sqrt(forget ** (len(blocks) - 1 - k)) for k in range(len(blocks))]
            A = [s * R for s, R in zip(scale, blocks, strict=True)]
            b = [s * (one - R @ first) for s, one, R in zip(scale, targets, blocks, strict=True)]
            stacked = np.vstack([*A, math.sqrt(beta) * np.eye(len(names))])
            w = first + np.linalg.lstsq(stacked, np.concatenate([*b, np.zeros(len(names))]), rcond=None)[0]
        yield place, w


def list_distribution(rows: Rows, w: dict[str, float]) -> list[float]:
    scores = [sum(w.get(name, 0.0) * value for name, value in row.items()) for row in rows]
    total = sum(math.exp(score) for score in scores)
    return [math.exp(score) / total for score in scores]


def loglinear(
    X: Sequence[Rows], Y: Sequence[Any], start: dict[str, float], rates: Sequence[float], objective: str
) -> Iterator[tuple[int, dict[str, float]]]:
    """Gradient steps, feature by feature; `rates` are those of the rounds."""
    w = dict(start)
    for rows, truth, eta in zip(X, Y, rates, strict=True):
        losses, p = as_losses(rows, truth), list_distribution(rows, w)
        place = max(range(len(rows)), key=lambda j: p[j])
        best = min(range(len(rows)), key=lambda j: losses[j])
        expected = sum(p[j] * losses[j] for j in range(len(rows)))
        step: dict[str, float] = {}
        for j, row in enumerate(rows):
            part = (j == best) - p[j] if objective == "likelihood" else p[j] * (expected - losses[j])
            for name, value in row.items():
                step[name] = step.get(name, 0.0) + part * value
        if losses.any():
            w = {name: w.get(name, 0.0) + eta * step.get(name, 0.0) for name in {**w, **step}}
        yield place, dict(w)


def bayesian(
    X: Sequence[Rows], Y: Sequence[Any], samples: Sequence[tuple[float, dict[str, float]]], delta: float
) -> Iterator[tuple[int, list[float]]]:
    """Samples are (prior weight, weights); the prediction of every round and the posterior after it."""
    mass = [prior for prior, _ in samples]
    for rows, truth in zip(X, Y, strict=True):
        losses = as_losses(rows, truth)
        told = [list_distribution(rows, w) for _, w in samples]
        averaged = [sum(m * p[j] for m, p in zip(mass, told, strict=True)) for j in range(len(rows))]
        place = int(np.argmax(np.array(averaged) / sum(mass)))
        if losses.any():
            mass = [m * p[int(np.argmin(losses))] ** delta for m, p in zip(mass, told, strict=True)]
            total = sum(mass)
            mass = [m / total for m in mass]
        yield place, list(mass)


def grid(
    names: Sequence[str], start: dict[str, float], s2: float, points: int, width: float
) -> list[tuple[float, dict[str, float]]]:
    """All points of a grid with their prior densities, which sum to 1."""
    steps = [width * (2 * k / (points - 1) - 1) for k in range(points)]
    found = []
    for chosen in itertools.product(steps, repeat=len(names)):
        density = math.exp(-sum(step**2 for step in chosen) / 2)
        values = zip(names, chosen, strict=True)
        found.append((density, {name: start.get(name, 0.0) + math.sqrt(s2) * step for name, step in values}))
    total = sum(density for density, _ in found)
    return [(density / total, w) for density, w in found]


def perceptron(X: Sequence[Rows], Y: Sequence[Any]) -> Iterator[tuple[int, dict[str, float]]]:
    """w += h(best) - h(trained prediction); predictions are those of the mean of the weights so far."""
    w: dict[str, float] = {}
    history = [dict(w)]
    for rows, truth in zip(X, Y, strict=True):
        losses = as_losses(rows, truth)
        mean: dict[str, float] = {}
        for one in history:
            for name, value in one.items():
                mean[name] = mean.get(name, 0.0) + value / len(history)
        place = int(np.argmax([dot(mean, row) for row in rows]))
        rival = int(np.argmax([dot(w, row) for row in rows]))
        if losses[rival] > 0 and any(difference(rows[int(np.argmin(losses))], rows[rival]).values()):
            for name, value in difference(rows[int(np.argmin(losses))], rows[rival]).items():
                w[name] = w.get(name, 0.0) + value
            history.append(dict(w))
        yield place, dict(w)


def pa1(
    X: Sequence[Rows], Y: Sequence[Any], start: dict[str, float], C: float
) -> Iterator[tuple[int, dict[str, float]]]:
    """w + start . h must beat the candidate with the largest score plus loss by its loss, but no step exceeds C."""
    w: dict[str, float] = {}
    for rows, truth in zip(X, Y, strict=True):
        losses = as_losses(rows, truth)
        total = {name: w.get(name, 0.0) + start.get(name, 0.0) for name in {**w, **start}}
        scores = [dot(total, row) for row in rows]
        rival, best = int(np.argmax(np.add(scores, losses))), int(np.argmin(losses))
        z = difference(rows[best], rows[rival])
        hinge = losses[rival] - (scores[best] - scores[rival])
        if losses[rival] > 0 and hinge > 0 and any(z.values()):
            tau = min(C, hinge / sum(value**2 for value in z.values()))
            for name, value in z.items():
                w[name] = w.get(name, 0.0) + tau * value
        yield int(np.argmax(scores)), dict(w)


def dot(w: dict[str, float], row: dict[str, float]) -> float:
    return sum(w.get(name, 0.0) * value for name, value in row.items())


def difference(one: dict[str, float], other: dict[str, float]) -> dict[str, float]:
    return {name: one.get(name, 0.0) - other.get(name, 0.0) for name in {**one, **other}}


class Adaptive:
    """The adaptive reranker from all lists so far: every model is computed again from the validated outputs."""

    def __init__(self, start: dict[str, float]) -> None:
        self.start = start
        self.sources: list[Words] = []
        self.references: list[Words] = []
        self.spreads: list[float] = []
        self.known: tuple[int, tuple[Lexicon, Lexicon, KneserNey]] | None = None

    def models(self) -> tuple[Lexicon, Lexicon, KneserNey]:
        if self.known is not None and self.known[0] == len(self.sources):
            return self.known[1]
        forward, backward = Lexicon(0.1), Lexicon(0.1)
        for source, reference in zip(self.sources, self.references, strict=True):
            forward.learn(source, reference)
            backward.learn(reference, source)
        self.known = len(self.sources), (forward, backward, KneserNey(self.references, 3))
        return self.known[1]

    def rows(self, source: Words, candidates: Sequence[tuple[Words, float]]) -> list[dict[str, float]]:
        """The scores in units of their mean spread, and what the models say."""
        spreads = [*self.spreads, float(np.std([score for _, score in candidates]))]
        forward, backward, language = self.models()
        rows = []
        for words, score in candidates:
            row = {
                "score": score / (sum(spreads) / len(spreads)),
                "lexicon": forward.log_probability(source, words),
                "inverse": backward.log_probability(words, source),
                "language": language.log_probability(words),
            }
            for n in (1, 2, 3):
                values = [cache_value(self.references, words[at : at + n], 100.0) for at in range(len(words) - n + 1)]
                row[f"cache{n}"] = sum(value / (1 + value) for value in values) / max(len(values), 1)
            rows.append(row)
        return rows

    def sparse(self, source: Words, words: Words) -> dict[str, float]:
        """Words, pairs of words, and every word with the word of the source that explains it best."""
        forward = self.models()[0]
        row: dict[str, float] = {}
        for at, word in enumerate(words):
            linked = max(("", *source), key=lambda e: forward.t(word, e))
            names = [f"ngram {word}", f"pair {linked} {word}"]
            names += [f"ngram {word} {words[at + 1]}"] if at + 1 < len(words) else []
            for name in names:
                row[name] = row.get(name, 0.0) + 1.0
        return row

    def learn(self, source: Words, reference: Words, scores: Sequence[float]) -> None:
        self.sources.append(source)
        self.references.append(reference)
        self.spreads.append(float(np.std(scores)))
