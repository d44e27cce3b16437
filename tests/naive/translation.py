"""A Transformer as its paper writes it, in numpy, one place after the other; and the updates, one weight at a time."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Weights = dict[str, Floats]
END = 3


def softmax(scores: Floats) -> Floats:
    found = np.exp(scores - scores.max())
    return np.asarray(found / found.sum())


def embed(w: Weights, pieces: list[int]) -> Floats:
    width = w["embeddings"].shape[1]
    found = np.zeros((len(pieces), width))
    for t, piece in enumerate(pieces):
        for i in range(width):
            angle = t / 10000.0 ** (2 * (i // 2) / width)
            found[t, i] = w["embeddings"][piece, i] * width**0.5 + (np.sin(angle) if i % 2 == 0 else np.cos(angle))
    return found


def normal(w: Weights, name: str, x: Floats) -> Floats:
    found = [(row - row.mean()) / np.sqrt(row.var() + 1e-5) for row in x]
    return np.array(found) * w[f"{name}.norm.gain"] + w[f"{name}.norm.shift"]


def attention(w: Weights, name: str, x: Floats, memory: Floats, heads: int, causal: bool) -> Floats:
    q, k, v = x @ w[f"{name}.query"].T, memory @ w[f"{name}.key"].T, memory @ w[f"{name}.value"].T
    size = q.shape[1] // heads
    found = np.zeros_like(q)
    for h in range(heads):
        own = slice(h * size, (h + 1) * size)
        for t in range(len(x)):
            seen = t + 1 if causal else len(memory)
            p = softmax(k[:seen, own] @ q[t, own] / np.sqrt(size))
            found[t, own] = p @ v[:seen, own]
    return np.asarray(found @ w[f"{name}.out"].T)


def forward(w: Weights, name: str, x: Floats) -> Floats:
    hidden = np.maximum(x @ w[f"{name}.first"].T + w[f"{name}.first_bias"], 0.0)
    return np.asarray(hidden @ w[f"{name}.second"].T + w[f"{name}.second_bias"])


def layers(w: Weights, part: str) -> list[str]:
    return sorted({".".join(name.split(".")[:2]) for name in w if name.startswith(part) and ".norm" not in name})


def log_probabilities(w: Weights, heads: int, source: list[int], target: list[int]) -> Floats:
    """log p of every piece at each place; the source ends with END and the target begins with BEGIN."""
    x = embed(w, source)
    for name in layers(w, "encoder"):
        y = normal(w, f"{name}.self", x)
        x = x + attention(w, f"{name}.self", y, y, heads, causal=False)
        x = x + forward(w, f"{name}.forward", normal(w, f"{name}.forward", x))
    memory = normal(w, "encoder", x)
    x = embed(w, target)
    for name in layers(w, "decoder"):
        y = normal(w, f"{name}.self", x)
        x = x + attention(w, f"{name}.self", y, y, heads, causal=True)
        x = x + attention(w, f"{name}.cross", normal(w, f"{name}.cross", x), memory, heads, causal=False)
        x = x + forward(w, f"{name}.forward", normal(w, f"{name}.forward", x))
    scores = normal(w, "decoder", x) @ w["embeddings"].T
    return np.array([np.log(softmax(row)) for row in scores])


class Updates:
    """Moves weights along gradients, one weight after the other."""

    def __init__(self, name: str, eta: float, count: int) -> None:
        self.name, self.eta, self.steps = name, eta, 0
        self.a, self.b = [0.0] * count, [0.0] * count

    def move(self, w: list[float], g: list[float], excess: float = 0.0) -> list[float]:
        self.steps += 1
        if self.name == "pa":
            square = sum(one * one for one in g)
            return [x - min(self.eta, excess / square) * one for x, one in zip(w, g, strict=True)]
        return [x + self.change(i, one) for i, (x, one) in enumerate(zip(w, g, strict=True))]

    def change(self, i: int, g: float) -> float:
        a, b, eta = self.a, self.b, self.eta
        if self.name == "adagrad":
            a[i] += g * g
            return float(-eta * g / (a[i] ** 0.5 + 1e-8))
        if self.name == "adadelta":
            a[i] = 0.95 * a[i] + 0.05 * g * g
            step: Any = -((b[i] + 1e-6) ** 0.5) / (a[i] + 1e-6) ** 0.5 * g
            b[i] = 0.95 * b[i] + 0.05 * step * step
            return float(eta * step)
        if self.name == "adam":
            a[i], b[i] = 0.9 * a[i] + 0.1 * g, 0.999 * b[i] + 0.001 * g * g
            means = a[i] / (1 - 0.9**self.steps), b[i] / (1 - 0.999**self.steps)
            return float(-eta * means[0] / (np.sqrt(means[1]) + 1e-8))
        return -eta * g
