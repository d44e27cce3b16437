"""Networks: compiled online backpropagation compared with PyTorch and with numpy, one sample at a time."""

import os
from importlib.util import find_spec
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

import noregret as nr
from benchmarks.measure import Act, Prepare, Row, best, in_turn, micros

TITLE = "Networks: online backpropagation, 64-100-100-10, compared with PyTorch a sample at a time"
NOTE = (
    "Of every sample: one forward pass, one backward pass and one step of the optimizer, on one core. PyTorch runs "
    "eagerly in float32, noregret in float64. noregret scales features by their earlier values unless the row says "
    "raw. A torch module is the same in both, and the figure is what is left of its speed when noregret plays it."
)
Floats = NDArray[np.float64]
ROUNDS, PEER_ROUNDS = 4000, 300
INPUTS, HIDDEN, CLASSES = 64, 100, 10
FASTER, AS_FAST = 30.0, 0.87
RATES = {"sgd": 0.01, "momentum": 0.001, "adagrad": 0.01, "adadelta": 1.0, "adam": 0.001}


def stream() -> tuple[Floats, NDArray[np.int64]]:
    rng = np.random.default_rng(0)
    return rng.normal(size=(ROUNDS, INPUTS)), rng.integers(0, CLASSES, ROUNDS)


def compiled(X: Any, y: Any, name: str = "mlp", **options: Any) -> Prepare:
    given = {"layers": [HIDDEN, HIDDEN], **options} if name == "mlp" else options
    shared = {"task": "multiclass", "classes": list(range(CLASSES))}
    nr.make(name, **given, **shared).learn(X[:10], y[:10])  # compiled before the clock starts

    def prepare() -> Act:
        learner = nr.make(name, **given, **shared).learn(X[:10], y[:10])
        return lambda: learner.learn(X, y)

    return prepare


def one_by_one(X: Floats, y: Any) -> Prepare:
    """The same learner, a row in each call."""

    def prepare() -> Act:
        learner = nr.make("mlp", layers=[HIDDEN, HIDDEN], optimizer="sgd", task="multiclass", classes=list(range(10)))
        learner.learn(X[:10], y[:10])
        labels = y.tolist()
        return lambda: [learner.learn_one(X[t], labels[t]) for t in range(PEER_ROUNDS)]

    return prepare


def in_torch(X: Floats, y: Any, optimizer: str) -> Prepare:
    """A loop over samples as a user of PyTorch writes it."""
    import torch

    torch.set_num_threads(1)
    rows, labels = torch.tensor(X[:PEER_ROUNDS], dtype=torch.float32), torch.tensor(y[:PEER_ROUNDS])
    optim: Any = torch.optim
    steps = {
        "sgd": lambda p: optim.SGD(p, lr=0.01), "momentum": lambda p: optim.SGD(p, lr=0.001, momentum=0.9),
        "adagrad": lambda p: optim.Adagrad(p, lr=0.01), "adadelta": lambda p: optim.Adadelta(p, lr=1.0),
        "adam": lambda p: optim.Adam(p, lr=0.001),
    }  # fmt: skip

    def prepare() -> Act:
        nn: Any = torch.nn
        sizes = (INPUTS, HIDDEN, HIDDEN, CLASSES)
        parts = [nn.Linear(sizes[0], sizes[1]), nn.ReLU(), nn.Linear(sizes[1], sizes[2]), nn.ReLU(),
                 nn.Linear(sizes[2], sizes[3])]  # fmt: skip
        net, loss = nn.Sequential(*parts), nn.CrossEntropyLoss()
        step = steps[optimizer](net.parameters())

        def act() -> None:
            for t in range(PEER_ROUNDS):
                step.zero_grad()
                loss(net(rows[t : t + 1]), labels[t : t + 1]).backward()
                step.step()

        return act

    return prepare


def as_learner(X: Floats, y: Any, optimizer: str) -> Prepare:
    """The same module and optimizer, played by noregret."""
    import torch

    from noregret.torch import Online

    def prepare() -> Act:
        parts = [torch.nn.Linear(INPUTS, HIDDEN), torch.nn.ReLU(), torch.nn.Linear(HIDDEN, HIDDEN), torch.nn.ReLU(),
                 torch.nn.Linear(HIDDEN, CLASSES)]  # fmt: skip
        made = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam}[optimizer]
        shared = {"task": "multiclass", "classes": list(range(CLASSES)), "eta": RATES[optimizer]}
        learner = Online(torch.nn.Sequential(*parts), torch.nn.CrossEntropyLoss(), made, **shared)
        return lambda: learner.learn(X[:PEER_ROUNDS], y[:PEER_ROUNDS])

    return prepare


def in_numpy(X: Floats, y: Any) -> Prepare:
    """Plain gradient descent by matrices, a sample at a time."""

    def prepare() -> Act:
        rng = np.random.default_rng(1)
        sizes = (INPUTS, HIDDEN, HIDDEN, CLASSES)
        W = [rng.uniform(-1, 1, (b, a)) / np.sqrt(a) for a, b in pairwise(sizes)]
        c = [np.zeros(size) for size in sizes[1:]]

        def act() -> None:
            for x, truth in zip(X[:PEER_ROUNDS], y[:PEER_ROUNDS], strict=True):
                h = [x]
                for level in range(2):
                    h.append(np.maximum(W[level] @ h[-1] + c[level], 0.0))
                f = W[2] @ h[-1] + c[2]
                g = np.exp(f - f.max())
                g /= g.sum()
                g[truth] -= 1.0
                for level in (2, 1, 0):
                    down = (W[level].T @ g) * (h[level] > 0.0) if level else g
                    W[level] -= 0.01 * np.outer(g, h[level])
                    c[level] -= 0.01 * g
                    g = down

        return act

    return prepare


def run() -> list[Row]:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    X, y = stream()
    rows = []
    has_torch = find_spec("torch") is not None
    for optimizer in RATES:
        ours: dict[str, Prepare] = {"raw": compiled(X, y, optimizer=optimizer, scale=False)}
        if optimizer == "sgd":
            ours["scaled"] = compiled(X, y, optimizer=optimizer)
        peers = {"torch": in_torch(X, y, optimizer)} if has_torch else {}
        times = in_turn({**ours, **peers}, repeats=7)
        peer = best(times, "torch") / PEER_ROUNDS if has_torch else None
        for name in ours:
            own = best(times, name) / ROUNDS
            told = "PyTorch is not installed" if peer is None else f"PyTorch {micros(peer)}"
            figure, least = None if peer is None else peer / own, FASTER if name == "raw" else None
            rows.append(Row(f"{optimizer}, {name} features", micros(own), told, figure, "x", least, seconds=times))
    for optimizer in ("sgd", "adam") if has_torch else ():
        loops = {"module": as_learner(X, y, optimizer), "torch": in_torch(X, y, optimizer)}
        times = in_turn(loops, repeats=9)
        own, peer = best(times, "module") / PEER_ROUNDS, best(times, "torch") / PEER_ROUNDS
        told = f"PyTorch {micros(peer)}"
        rows.append(Row(f"torch module, {optimizer}", micros(own), told, peer / own, "x", AS_FAST, seconds=times))
    times = in_turn({"ours": compiled(X, y, optimizer="sgd", scale=False), "numpy": in_numpy(X, y)}, repeats=7)
    own, peer = best(times, "ours") / ROUNDS, best(times, "numpy") / PEER_ROUNDS
    rows.append(Row("sgd, raw features", micros(own), f"numpy {micros(peer)}", peer / own, "x", seconds=times))
    times = in_turn({"one": one_by_one(X, y), "batch": compiled(X, y, optimizer="sgd")}, repeats=5)
    own = best(times, "one") / PEER_ROUNDS
    rows.append(Row("learn_one, sgd", micros(own), "", None, "x", seconds=times))
    times = in_turn({"hbp": compiled(X, y, "hbp", optimizer="sgd")}, repeats=3)
    own = best(times, "hbp") / ROUNDS
    rows.append(Row("hbp, 20 layers of 100 units, sgd", micros(own), "", None, "x", seconds=times))
    return rows
