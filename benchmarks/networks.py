"""Networks: compiled online backpropagation compared with PyTorch and with numpy, one sample at a time."""

import os
from importlib.util import find_spec
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

import noregret as nr
from benchmarks.measure import Act, Prepare, Row, Times, best, in_turn, micros

TITLE = "Networks: online backpropagation, 64-100-100-10, compared with PyTorch a sample at a time"
NOTE = (
    "Of every sample: one forward pass, one backward pass and one step of the optimizer, on one core. PyTorch runs "
    "eagerly in float32, noregret in float64. noregret scales features by their earlier values unless the row says "
    "raw. A torch module is the same in both, and the figure is what is left of its speed when noregret plays it."
)
Floats = NDArray[np.float64]
ROUNDS, PEER_ROUNDS = 4000, 300
INPUTS, HIDDEN, CLASSES = 64, 100, 10
WIDTH, NONZEROS = 50_000, 60
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


def one_by_one(rows: Any, y: Any, predicts: bool = False, name: str = "mlp", **options: Any) -> Prepare:
    """The same learner, a row in each call; with `predicts` each row is predicted first."""

    def prepare() -> Act:
        sizes = {"layers": [HIDDEN, HIDDEN]} if name == "mlp" else {}
        learner = nr.make(name, **sizes, **options, task="multiclass", classes=list(range(CLASSES)))
        learner.learn(rows[:10], y[:10])
        labels = y.tolist()

        def act() -> None:
            for t in range(PEER_ROUNDS):
                if predicts:
                    learner.predict_one(rows[t])
                learner.learn_one(rows[t], labels[t])

        return act

    return prepare


def sparse_rows() -> Any:
    """Rows with 60 of 50,000 features."""
    rng = np.random.default_rng(1)
    apart = rng.permutation(WIDTH)[:NONZEROS]
    idx = (apart + rng.integers(0, WIDTH, (ROUNDS, 1))) % WIDTH
    indptr = np.arange(ROUNDS + 1) * NONZEROS
    X = sparse.csr_array((rng.random(ROUNDS * NONZEROS), idx.ravel(), indptr), shape=(ROUNDS, WIDTH))
    X.sort_indices()
    return X


def sparse_in_torch(X: Any, y: Any) -> Prepare:
    """The first layer as a bag of embeddings, whose gradients are sparse."""
    import torch

    torch.set_num_threads(1)
    idx = torch.tensor(X.indices.reshape(-1, NONZEROS)[:PEER_ROUNDS], dtype=torch.int64)
    val = torch.tensor(X.data.reshape(-1, NONZEROS)[:PEER_ROUNDS], dtype=torch.float32)
    labels = torch.tensor(y[:PEER_ROUNDS])

    def prepare() -> Act:
        nn: Any = torch.nn
        bag = nn.EmbeddingBag(WIDTH, HIDDEN, mode="sum", sparse=True)
        rest = nn.Sequential(nn.ReLU(), nn.Linear(HIDDEN, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, CLASSES))
        loss, optim = nn.CrossEntropyLoss(), torch.optim
        step: Any = optim.SGD([*bag.parameters(), *rest.parameters()], lr=0.01)

        def act() -> None:
            for t in range(PEER_ROUNDS):
                step.zero_grad()
                hidden = bag(idx[t : t + 1], per_sample_weights=val[t : t + 1])
                loss(rest(hidden), labels[t : t + 1]).backward()
                step.step()

        return act

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
        for name in ours:
            own = best(times, name) / ROUNDS
            least = FASTER if name == "raw" else None
            rows.append(compare(f"{optimizer}, {name} features", own, times, has_torch, least))
    for optimizer in ("sgd", "adam") if has_torch else ():
        loops = {"module": as_learner(X, y, optimizer), "torch": in_torch(X, y, optimizer)}
        times = in_turn(loops, repeats=9)
        own, peer = best(times, "module") / PEER_ROUNDS, best(times, "torch") / PEER_ROUNDS
        told = f"PyTorch {micros(peer)}"
        rows.append(Row(f"torch module, {optimizer}", micros(own), told, peer / own, "x", AS_FAST, seconds=times))
    times = in_turn({"ours": compiled(X, y, optimizer="sgd", scale=False), "numpy": in_numpy(X, y)}, repeats=7)
    own, peer = best(times, "ours") / ROUNDS, best(times, "numpy") / PEER_ROUNDS
    rows.append(Row("sgd, raw features", micros(own), f"numpy {micros(peer)}", peer / own, "x", seconds=times))
    return [*rows, *single_rows(X, y, has_torch), *sparse_and_deep(X, y, has_torch)]


def compare(work: str, own: float, times: Times, has_torch: bool, least: float | None = None) -> Row:
    """A row beside the loop of PyTorch that was measured with it."""
    peer = best(times, "torch") / PEER_ROUNDS if has_torch else None
    told = "PyTorch is not installed" if peer is None else f"PyTorch {micros(peer)}"
    return Row(work, micros(own), told, None if peer is None else peer / own, "x", least, seconds=times)


def single_rows(X: Floats, y: Any, has_torch: bool) -> list[Row]:
    """A row in each call, as in a service; PyTorch learns, and predicts as a part of that."""
    dicts = [{f"f{j}": value for j, value in enumerate(row)} for row in X[:PEER_ROUNDS].tolist()]
    contestants = {
        "learn_one of an array": one_by_one(X, y, optimizer="sgd"),
        "learn_one of a dict": one_by_one(dicts, y, optimizer="sgd"),
        "predict_one and learn_one of a dict": one_by_one(dicts, y, True, optimizer="sgd"),
    }
    times = in_turn({**contestants, **({"torch": in_torch(X, y, "sgd")} if has_torch else {})}, repeats=7)
    return [compare(f"{work}, sgd", best(times, work) / PEER_ROUNDS, times, has_torch) for work in contestants]


def sparse_and_deep(X: Floats, y: Any, has_torch: bool) -> list[Row]:
    rows = sparse_rows()
    peers = {"torch": sparse_in_torch(rows, y)} if has_torch else {}
    times = in_turn({"ours": compiled(rows, y, optimizer="sgd", scale=False), **peers}, repeats=5)
    made = [compare(f"sgd, {NONZEROS} of {WIDTH:,} features", best(times, "ours") / ROUNDS, times, has_torch)]
    for optimizer in ("sgd", "adam"):
        times = in_turn({"hbp": compiled(X, y, "hbp", optimizer=optimizer)}, repeats=3)
        own = best(times, "hbp") / ROUNDS
        made.append(Row(f"hbp, 20 layers of 100 units, {optimizer}", micros(own), "", None, "x", seconds=times))
    return made
