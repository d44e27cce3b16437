"""Samples in model files: what was saved comes back and is drawn on; what cannot be is refused before it is used."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save

import noregret as nr
from noregret.learner.model_file import KEY, digest, pack
from tests.naive import streams
from tests.state.test_reservoir import everywhere, kept, recollect
from tests.support.model_files import header, tensors


def resumable(algebra: str = "sparse", native: bool = True, y: Any = None) -> nr.RuleLearner:
    X, signs = streams.sparse(60, 8, density=0.5, seed=10)
    return nr.make(recollect, m=10, algebra=algebra, native=native, columns="grow").learn(X, signs if y is None else y)


@pytest.mark.parametrize("classes", [2, 4])
@everywhere
def test_a_learner_from_a_file_draws_what_it_would_have_drawn(algebra: str, native: bool, classes: int) -> None:
    X, _ = streams.sparse(120, 11, density=0.5, seed=11)
    y = np.random.default_rng(11).integers(0, classes, size=120)
    unbroken = resumable(algebra, native, y[:60])
    resumed = unbroken.copy()
    for learner in (unbroken, resumed):
        learner.learn(X[60:], y[60:])  # three features more
    assert pack(unbroken) == pack(resumed)
    assert kept(unbroken) == kept(resumed)
    assert unbroken.model.arrays.n.right == resumed.model.arrays.n.right


def changed(arrays: dict[str, np.ndarray], part: str, value: Any) -> dict[str, np.ndarray]:
    return {**arrays, f"sample.seen.{part}": np.asarray(value)}


def sealed(told: Any, arrays: dict[str, np.ndarray]) -> bytes:
    text = json.dumps(told, sort_keys=True)
    return bytes(save(arrays, metadata={KEY: text, "sha256": digest(text, arrays)}))


def odd_samples(arrays: dict[str, np.ndarray], algebra: str) -> dict[str, dict[str, np.ndarray]]:
    start, idx, val, truth = (arrays[f"sample.seen.{part}"] for part in ("start", "idx", "val", "truth"))
    last, end = np.zeros(start.size, np.int64), start.size - 1
    last[end] = 1
    found = {
        "a feature too high": changed(arrays, "idx", np.where(idx == idx.max(), 8, idx).astype(np.int32)),
        "a feature below zero": changed(arrays, "idx", np.where(idx == idx.max(), -1, idx).astype(np.int32)),
        "features as long numbers": changed(arrays, "idx", idx.astype(np.int64)),
        "too few features": changed(arrays, "idx", idx[:-1]),
        "too few values": changed(arrays, "val", val[:-1]),
        "a value that is not finite": changed(arrays, "val", np.where(val == val[3], np.inf, val)),
        "whole values": changed(arrays, "val", val.astype(np.int64)),
        "rows beyond the values": changed(arrays, "start", start + last),
        "rows that begin before": changed(arrays, "start", start - np.eye(1, start.size, 0, dtype=np.int64)[0]),
        "rows that end before they begin": changed(arrays, "start", np.r_[start[:2], start[1] - 1, start[3:]]),
        "rows as numbers": changed(arrays, "start", start.astype(np.float64)),
        "no rows": changed(arrays, "start", start[:0]),
        "too many truths": changed(arrays, "truth", np.concatenate((truth, [1.0]))),
        "a truth that is none": changed(arrays, "truth", np.where(np.arange(truth.size) == 2, 0.5, truth)),
        "a truth of another task": changed(arrays, "truth", np.full(truth.size, 2.0)),
        "truths in two rows": changed(arrays, "truth", truth.reshape(2, -1)),
        "only some of it": {name: array for name, array in arrays.items() if not name.endswith("idx")},
    }  # fmt: skip
    if algebra == "dense":
        found["a dense row with a gap"] = changed(arrays, "idx", np.where(idx == 0, 1, idx).astype(np.int32))
    return found


@pytest.mark.parametrize("algebra", ["sparse", "dense"])
def test_a_sample_that_cannot_be_is_refused(algebra: str, tmp_path: Path) -> None:
    learner, file = resumable(algebra), tmp_path / "model.nr"
    told, arrays = header(learner), tensors(learner)
    file.write_bytes(sealed(told, arrays))
    assert pack(nr.load(file, recollect)) == pack(learner)
    for what, odd in odd_samples(arrays, algebra).items():
        file.write_bytes(sealed(told, odd))
        with pytest.raises(nr.Error, match=r"model.nr: corrupt model file: the rows it remembers"):
            print(what, nr.load(file, recollect))


@pytest.mark.parametrize(
    ("counter", "value"),
    [("random", 0.0), ("random", -5.0), ("random", 2.0**31), ("random", 1.5), ("random", 1e300), ("seen", -1.0),
     ("seen", 9.0), ("seen", 10.5), ("seen", 1e300)],
)  # fmt: skip
def test_chance_that_would_lead_out_of_the_sample_is_refused(counter: str, value: float, tmp_path: Path) -> None:
    learner, file = resumable(), tmp_path / "model.nr"
    told = header(learner)
    told["counters"][f"seen_{counter}"] = value
    file.write_bytes(sealed(told, tensors(learner)))
    with pytest.raises(nr.Error, match=r"model.nr: corrupt model file"):
        nr.load(file, recollect)


def test_what_follows_from_the_rows_is_not_believed(tmp_path: Path) -> None:
    learner, file = resumable(), tmp_path / "model.nr"
    X, y = streams.sparse(60, 8, density=0.5, seed=12)
    told = header(learner)
    for name, value in (("size", 1e6), ("records", 1e6), ("turn", -1.0), ("tried", 1e6), ("counted", -3.0)):
        told["counters"][f"seen_{name}"] = value
    file.write_bytes(sealed(told, tensors(learner)))
    assert pack(nr.load(file, recollect).learn(X, y)) == pack(learner.learn(X, y))


def test_a_file_without_a_sample_begins_one(tmp_path: Path) -> None:
    learner, file = resumable(), tmp_path / "model.nr"
    told = header(learner)
    told["counters"] = {name: value for name, value in told["counters"].items() if not name.startswith("seen")}
    del told["recent_scores"]
    file.write_bytes(sealed(told, {"state.w": tensors(learner)["state.w"]}))
    fresh = nr.load(file, recollect)
    X, y = streams.sparse(4, 8, density=0.9, seed=13)
    assert len(kept(fresh.learn(X, y))) == 4
