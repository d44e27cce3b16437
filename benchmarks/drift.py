"""Drift detectors and streams beside River: delay, false alarms and speed on the same values in the same run.

`python -m benchmarks.drift` prints the tables of docs/drift.md; `python -m benchmarks drift` measures the speed.
"""

from collections.abc import Callable
from functools import partial
from importlib import import_module
from itertools import islice
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

import noregret as nr
from benchmarks.measure import Act, Prepare, Row, best, in_turn, installed, missing, rate
from noregret.adapters.detector_loops import choose_runner
from noregret.metrics import DETECTORS
from noregret.metrics.detector import find_detector

TITLE = "Drift detectors and streams that change"
VALUES = 200_000
SEEDS, BEFORE, AFTER, STILL = 50, 5_000, 5_000, 20_000
PEERS = {"adwin": "drift.ADWIN", "ddm": "drift.binary.DDM", "page_hinkley": "drift.PageHinkley"}
STREAMS = {"sea": "SEA", "hyperplane": "Hyperplane"}
Floats = NDArray[np.float64]
Find = Callable[[Floats], list[int]]  # the rounds of alarms, counted from 0


def coins(seed: int, parts: list[tuple[int, float]]) -> Floats:
    """Mistakes with these probabilities, for so many rounds each."""
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.random(rounds) < probability for rounds, probability in parts]).astype(np.float64)


def find_ours(spec: str, values: Floats) -> list[int]:
    detector, start, alarms = find_detector(spec, DETECTORS, choose_runner()), 0, []
    while start < len(values):
        levels = detector.detect(values[start:])
        start += levels.size
        if levels[-1] == 2:
            alarms.append(start - 1)
    return alarms


def peer_class(name: str) -> Any:
    """A detector of River by its place."""
    module, _, kind = PEERS[name].rpartition(".")
    return getattr(import_module(f"river.{module}"), kind)


def find_peer(name: str, values: Floats) -> list[int]:
    detector = peer_class(name)()
    alarms = []
    for t, value in enumerate(values.tolist()):
        detector.update(value)
        if detector.drift_detected:
            alarms.append(t)
    return alarms


def delay_of(find: Find, after: float) -> tuple[float, int, int]:
    """The median delay of the first alarm after a change, how many changes were missed, and alarms before it."""
    delays, missed, early = [], 0, 0
    for seed in range(SEEDS):
        alarms = find(coins(seed, [(BEFORE, 0.2), (AFTER, after)]))
        early += sum(at < BEFORE for at in alarms)
        later = [at - BEFORE for at in alarms if at >= BEFORE]
        delays += later[:1]
        missed += not later
    return float(np.median(delays)) if delays else np.nan, missed, early


def false_alarms(find: Find, probability: float) -> int:
    """Alarms in a million rounds whose mistakes keep their probability."""
    return sum(len(find(coins(seed, [(STILL, probability)]))) for seed in range(SEEDS))


def contestants() -> dict[str, Find]:
    found: dict[str, Find] = {}
    for name in DETECTORS:
        found[f"noregret `{name}`"] = partial(find_ours, name)
        if name == "adwin":
            found["noregret `adwin:side=both`"] = partial(find_ours, "adwin:side=both")
            found["noregret `adwin:bound=hoeffding,clock=1`"] = partial(find_ours, "adwin:bound=hoeffding,clock=1")
        if installed("river"):
            found[f"River `{PEERS[name].rpartition('.')[2]}`"] = partial(find_peer, name)
    return found


def watch_ours(name: str, values: Floats) -> Prepare:
    return lambda: lambda: find_ours(name, values)


def watch_peer(name: str, values: Floats) -> Prepare:
    return watch_singly(lambda: peer_class(name)().update, values)


def watch_singly(make: Callable[[], Callable[[float], Any]], values: Floats) -> Prepare:
    """Watch values one by one; `make` returns what watches one."""
    listed = values.tolist()

    def prepare() -> Act:
        update = make()

        def act() -> None:
            for value in listed:
                update(value)

        return act

    return prepare


def draw_ours(name: str, rows: int) -> Prepare:
    return lambda: lambda: [batch.X for batch in nr.open_source(f"{name}:rows={rows}")]


def draw_peer(name: str, rows: int) -> Prepare:
    def prepare() -> Act:
        stream = getattr(import_module("river.datasets.synth"), STREAMS[name])(seed=0)
        return lambda: list(islice(iter(stream), rows))

    return prepare


def run() -> list[Row]:
    """How many times as fast as River's."""
    table, values, there = [], coins(0, [(VALUES, 0.2)]), installed("river") is not None
    works: list[tuple[str, str, int, Prepare, Prepare]] = [
        (f"{name}: {VALUES:,} values", f"River {PEERS[name].rpartition('.')[2]}", VALUES, watch_ours(name, values),
         watch_peer(name, values))
        for name in DETECTORS
    ]  # fmt: skip
    works += [
        (f"{name}: one value at a time", f"River {PEERS[name].rpartition('.')[2]}", VALUES,
         watch_singly(lambda name=name: nr.detector(name).update, values), watch_peer(name, values))  # type: ignore[misc]
        for name in DETECTORS
    ]  # fmt: skip
    works += [
        (f"the stream {name}: 50,000 rows", f"River {peer}", 50_000, draw_ours(name, 50_000), draw_peer(name, 50_000))
        for name, peer in STREAMS.items()
    ]
    for work, peer, rows, ours, other in works:
        ours()()
        times = in_turn({"ours": ours, **({peer: other} if there else {})}, repeats=3)
        told = rate(rows, best(times, "ours"))
        if not there:
            table.append(missing(work, told, peer, "x", 1.0, times))
            continue
        figure = best(times, peer) / best(times, "ours")
        table.append(Row(work, told, f"{peer}: {rate(rows, best(times, peer))}", figure, "x", 1.0, seconds=times))
    return table


def play_river_stream(variants: tuple[int, ...], rounds: int) -> list[str]:
    """Mistakes in percent on River's SEA, its variants one after another: ours and River's, plain and drift-aware."""
    synth, linear, drift = (import_module(f"river.{name}") for name in ("datasets.synth", "linear_model", "drift"))
    dicts, labels = [], []
    for place, variant in enumerate(variants):
        for x, y in islice(iter(synth.SEA(variant=variant, noise=0.1, seed=place)), rounds):
            dicts.append(x)
            labels.append(bool(y))
    X = np.array([[x[name] for name in sorted(x)] for x in dicts])
    cells = []
    options = {"scale": True, "bias": True}
    for learner in (nr.make("arow", **options), nr.drift_aware(nr.make("arow", **options), "ddm", "shadow")):
        began = perf_counter()
        wrong = nr.play((X, labels), learner)["mistakes"]
        cells.append(f"{100 * wrong / len(labels):.1f} ({perf_counter() - began:.2f} s)")
    scaler, detector = import_module("river.preprocessing").StandardScaler, drift.binary.DDM
    plain = scaler() | linear.LogisticRegression()
    for model in (plain, drift.DriftRetrainingClassifier(scaler() | linear.LogisticRegression(), detector())):
        began, wrong = perf_counter(), 0
        for x, y in zip(dicts, labels, strict=True):
            wrong += model.predict_one(x) != y
            model.learn_one(x, y)
        cells.append(f"{100 * wrong / len(labels):.1f} ({perf_counter() - began:.2f} s)")
    return cells


def main() -> None:
    """The tables of docs/drift.md."""
    rises = (0.25, 0.3, 0.4, 0.6)
    head = ["detector", *(f"0.2 to {rise:g}" for rise in rises), "false alarms in 1,000,000 rounds, rate 0.2"]
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for name, find in contestants().items():
        cells = []
        for rise in rises:
            delay, missed, early = delay_of(find, rise)
            cells.append(f"{delay:.0f}" + f", {missed} missed" * bool(missed) + f", {early} early" * bool(early))
        print(f"| {name} | {' | '.join(cells)} | {false_alarms(find, 0.2)} |", flush=True)
    if installed("river"):
        print("\n| River's SEA | noregret `arow` | `drift_aware`, `ddm`, shadow | River LogisticRegression | "
              "DriftRetrainingClassifier, DDM |\n|---|---|---|---|---|")  # fmt: skip
        for variants in ((0, 2, 0, 2), (0, 1, 2, 3)):
            print(f"| variants {variants}, 5,000 rounds each | {' | '.join(play_river_stream(variants, 5_000))} |")


if __name__ == "__main__":
    main()
