"""Online backpropagation by matrices, as a textbook writes it; hedge backpropagation with a head on every level."""

from typing import Any

import numpy as np

Floats = Any  # arrays, or numbers that broadcast
SLOPES: dict[str, tuple[Any, Any]] = {
    "relu": (lambda z: np.maximum(z, 0.0), lambda z: (z > 0.0).astype(float)),
    "tanh": (np.tanh, lambda z: 1.0 - np.tanh(z) ** 2),
    "sigmoid": (lambda z: 1.0 / (1.0 + np.exp(-z)), lambda z: np.exp(-z) / (1.0 + np.exp(-z)) ** 2),
    "linear": (lambda z: z, np.ones_like),
}


class Optimizer:
    """Moves a matrix along its gradient; entries whose gradient is zero rest."""

    def __init__(self, name: str, eta: float, momentum: float = 0.9) -> None:
        self.name, self.eta, self.momentum, self.steps = name, eta, momentum, 0
        self.a: dict[int, Floats] = {}
        self.b: dict[int, Floats] = {}

    def move(self, key: int, w: Floats, g: Floats) -> None:
        a = self.a.setdefault(key, np.zeros_like(w))
        b = self.b.setdefault(key, np.zeros_like(w))
        on = g != 0.0
        if self.name == "sgd":
            change = self.eta * g
        elif self.name == "momentum":
            a[on] = self.momentum * a[on] + g[on]
            change = self.eta * a
        elif self.name == "nesterov":
            a[on] = self.momentum * a[on] + g[on]
            change = self.eta * (g + self.momentum * a)
        elif self.name == "adagrad":
            a += g * g
            change = np.divide(self.eta * g, np.sqrt(a) + 1e-8)
        elif self.name == "adadelta":
            a[on] = 0.95 * a[on] + 0.05 * g[on] ** 2
            move = np.sqrt(b + 1e-6) / np.sqrt(a + 1e-6) * g
            b[on] = 0.95 * b[on] + 0.05 * move[on] ** 2
            change = self.eta * move
        else:
            a[on] = self.momentum * a[on] + (1.0 - self.momentum) * g[on]
            b[on] = 0.999 * b[on] + 0.001 * g[on] ** 2
            mean, square = a / (1.0 - self.momentum**self.steps), b / (1.0 - 0.999**self.steps)
            change = self.eta * mean / (np.sqrt(square) + 1e-8)
        w[on] -= change[on]


class NaiveNetwork:
    """`hidden` and `heads` are the matrices by level, heads None where a level has none; row 0 is the bias."""

    def __init__(self, hidden: list[Floats], heads: list[Floats], **options: Any) -> None:
        self.hidden: list[Floats] = [w.copy() for w in hidden]
        self.heads: list[Floats] = [None if w is None else w.copy() for w in heads]
        self.task, self.activation = options["task"], options.get("activation", "relu")
        self.optimizer: Optimizer = options["optimizer"]
        self.batch, self.clip = options.get("batch", 1), options.get("clip", 0.0)
        self.beta, self.floor = options.get("beta", 1.0), options.get("floor", 0.0)
        self.scaling = options.get("scaling", "none")
        alpha = [0.0 if w is None else options.get("prior", 1.0) ** level for level, w in enumerate(heads)]
        self.alpha = np.array(alpha) / sum(alpha)
        self.pending: list[list[Floats]] = []

    def forward(self, x: Floats) -> tuple[list[Floats], list[Floats], list[Floats]]:
        f = SLOPES[self.activation][0]
        levels, sums, outputs = [x], [], []
        for level in range(len(self.hidden) + 1):
            h = np.concatenate(([1.0], levels[-1]))
            head = self.heads[level]
            outputs.append(None if head is None else h @ head)
            if level < len(self.hidden):
                sums.append(h @ self.hidden[level])
                levels.append(f(sums[-1]))
        return levels, sums, outputs

    def probabilities(self, f: Floats) -> Floats:
        if self.task == "binary":
            return np.array([1.0 / (1.0 + np.exp(f[0])), 1.0 / (1.0 + np.exp(-f[0]))])
        e = np.exp(f - f.max())
        return e / e.sum()

    def losses(self, outputs: list[Floats], y: Any) -> Floats:
        """The loss of every head; y is a sign, a class or a target."""
        found = np.zeros(len(outputs))
        for level, f in enumerate(outputs):
            if f is None:
                continue
            if self.task == "regression":
                found[level] = 0.5 * (f[0] - y) ** 2
            else:
                truth = int(y > 0) if self.task == "binary" else int(y)
                found[level] = -np.log(self.probabilities(f)[truth])
        return found

    def predict(self, x: Floats) -> Floats:
        """The target, or the probabilities of the classes."""
        outputs = self.forward(x)[2]
        if self.task == "regression":
            return outputs[-1]
        return sum(a * self.probabilities(f) for a, f in zip(self.alpha, outputs, strict=True) if f is not None)

    def gradients(self, x: Floats, y: Any, h: float = 1.0) -> list[Floats]:
        """Of the sum of all losses by their weights, for every hidden matrix and then for every head."""
        slope = SLOPES[self.activation][1]
        levels, sums, outputs = self.forward(x)
        of_heads: list[Floats] = []
        of_hidden: list[Floats] = []
        down = np.zeros_like(levels[-1])
        for level in range(len(self.hidden), -1, -1):
            inputs, back = np.concatenate(([1.0], levels[level])), np.zeros_like(levels[level])
            if level < len(self.hidden):
                delta = down * slope(sums[level])
                of_hidden.insert(0, np.outer(inputs, delta))
                back = back + self.hidden[level][1:] @ delta
            head, f = self.heads[level], outputs[level]
            if head is not None:
                if self.task == "regression":
                    delta = np.array([f[0] - y])
                elif self.task == "binary":
                    delta = np.array([-y / (1.0 + np.exp(y * f[0]))])
                else:
                    delta = self.probabilities(f)
                    delta[int(y)] -= 1.0
                delta = self.alpha[level] * h * delta
                of_heads.insert(0, np.outer(inputs, delta))
                back = back + head[1:] @ delta
            down = back
        return of_hidden + of_heads

    def learn(self, x: Floats, y: Any, h: float = 1.0) -> None:
        losses = self.losses(self.forward(x)[2], y)
        self.pending.append(self.gradients(x, y, h))
        if len(self.pending) == self.batch:
            mean = [sum(parts) / self.batch for parts in zip(*self.pending, strict=True)]
            size = np.sqrt(sum((g**2).sum() for g in mean))
            self.optimizer.steps += 1
            weights = [*self.hidden, *(w for w in self.heads if w is not None)]
            for key, (w, g) in enumerate(zip(weights, mean, strict=True)):
                self.optimizer.move(key, w, g * (self.clip / size if 0.0 < self.clip < size else 1.0))
            self.pending = []
        if np.count_nonzero(self.alpha) > 1:
            has_head = np.array([head is not None for head in self.heads])
            shrunk = self.alpha * self.beta ** self.scaled(losses, has_head)
            self.alpha = np.where(has_head, np.maximum(shrunk, self.floor), 0.0)
            self.alpha /= self.alpha.sum()

    def scaled(self, losses: Floats, has_head: Floats) -> Floats:
        """The losses that Hedge sees."""
        low, high = losses[has_head].min(), losses[has_head].max()
        if self.scaling == "min_max":
            return (losses - low) / (high - low)
        return np.minimum(losses, 1.0) if self.scaling == "clip" else losses
