"""Rows, pipelines of transforms beside their obvious versions, and what comes out of a learner's transforms."""

from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.data.blocks import DenseBlock
from tests.naive import transforms as naive
from tests.support.encoding import encoded

SOME: list[Any] = ["f1", "f0", 2, 0, "none"]
PAIRED: list[tuple[Any, Any]] = [("f2", "f0"), (2, 0), ("f1", "f2"), ("f3", "f3"), (1, 3), ("f2", "f2")]
PIPELINES: dict[str, tuple[Any, list[naive.Step]]] = {
    "scale": (nr.scale(), [naive.scale]),
    "min_max": (nr.min_max(), [naive.min_max]),
    "unit_norm": (nr.unit_norm(), [naive.unit_norm(2.0)]),
    "unit_norm 1": (nr.unit_norm(1), [naive.unit_norm(1.0)]),
    "unit_norm 3": (nr.unit_norm(3.0), [naive.unit_norm(3.0)]),
    "clip": (nr.clip(0.5), [naive.clip(0.5)]),
    "log1p": (nr.log1p(), [naive.log1p]),
    "tf_idf": (nr.tf_idf(), [naive.tf_idf(False)]),
    "counts": (nr.squares() | nr.log1p(), [naive.squares, naive.log1p]),
    "zero": (nr.missing(), [naive.missing_zero]),
    "mean": (nr.missing("mean"), [naive.missing_mean]),
    "indicator": (nr.missing("indicator"), [naive.missing_indicator]),
    "squares": (nr.squares(), [naive.squares]),
    "pairs": (nr.pairs(), [naive.pairs]),
    "one_hot": (nr.one_hot(), [naive.one_hot]),
    "conjunctions": (nr.conjunctions(3), [naive.conjunctions(3, [])]),
    "negated": (
        nr.one_hot() | nr.conjunctions(4, negate=[2, "f0", "none"], only=["f0", "f1", "f4", 0, 1])
        | nr.log1p(only="f1"),
        [naive.in_order, naive.one_hot, naive.conjunctions(4, [2, "f0", "none"], ["f0", "f1", "f4", 0, 1]),
         naive.only(["f1"], naive.log1p)],
    ),
    "chosen pairs": (nr.pairs(between=PAIRED), [naive.between(PAIRED)]),
    "chosen scale": (nr.scale(only=SOME), [naive.only(SOME, naive.scale)]),
    "chosen length": (nr.unit_norm(only=SOME), [naive.only(SOME, naive.unit_norm(2.0))]),
    "chosen counts": (nr.tf_idf(only=SOME), [naive.only(SOME, naive.tf_idf(False))]),
    "chosen squares": (nr.squares(only=SOME), [naive.only(SOME, naive.squares)]),
    "chosen hot": (nr.one_hot(only=SOME), [naive.only(SOME, naive.one_hot)]),
    "chosen all": (
        nr.missing("indicator") | nr.one_hot(only="f0") | nr.clip(1.0, only=[0, "f3"]) | nr.squares(only=SOME)
        | nr.pairs(between=PAIRED) | nr.unit_norm(1, only=SOME) | nr.log1p(only="f1"),
        [naive.missing_indicator, naive.only(["f0"], naive.one_hot), naive.only([0, "f3"], naive.clip(1.0)),
         naive.only(SOME, naive.squares), naive.between(PAIRED), naive.only(SOME, naive.unit_norm(1.0)),
         naive.only(["f1"], naive.log1p)],
    ),
    "long": (
        nr.missing("mean") | nr.clip(2.0) | nr.tf_idf() | nr.squares() | nr.min_max() | nr.pairs() | nr.unit_norm(1),
        [naive.missing_mean, naive.clip(2.0), naive.tf_idf(False), naive.squares, naive.min_max, naive.pairs,
         naive.unit_norm(1.0)],
    ),
    "made twice": (nr.pairs() | nr.scale() | nr.squares(), [naive.pairs, naive.scale, naive.squares]),
}  # fmt: skip
KEEPING = ("scale", "min_max", "tf_idf", "mean", "indicator", "squares", "pairs", "one_hot", "long", "made twice",
           "conjunctions", "negated",
           "chosen pairs", "chosen scale", "chosen squares", "chosen hot", "chosen all")  # fmt: skip
GAPS = ("zero", "mean", "indicator", "long", "chosen all")
ROWS = 48


def stream(name: str, seed: int = 0, rows: int = ROWS) -> list[dict[str, float]]:
    """Sparse rows by name; features appear in the course of the stream, values repeat, and some are missing."""
    rng = np.random.default_rng(seed)
    found = []
    for t in range(rows):
        known = [f"f{j}" for j in range(3 + t // 7)]
        chosen = rng.permutation(known)[: rng.integers(0, 6)]
        values = np.round(rng.normal(1.0, 2.0, size=chosen.size), 1) * np.where(rng.random(chosen.size) < 0.1, 0.0, 1.0)
        if name in GAPS:
            values[rng.random(chosen.size) < 0.2] = np.nan
        found.append(dict(zip(chosen.tolist(), values.tolist(), strict=True)))
    return found


def table(name: str, seed: int = 0, rows: int = ROWS) -> np.ndarray:
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(0.5, 2.0, size=(rows, 4)), 1)
    X[rng.random(X.shape) < 0.2] = 0.0
    if name in GAPS:
        X[rng.random(X.shape) < 0.2] = np.nan
    return X


y = np.where(np.random.default_rng(7).random(ROWS) < 0.5, -1, 1).tolist()


def after(learner: nr.RuleLearner, X: Any, learn: bool = True) -> list[dict[Any, float]]:
    """What a learner's transforms make of rows, by name."""
    block = encoded(learner, X, learn, False)
    for one in learner.model.transforms:
        one.commit()
    names = learner.model.names.as_list()
    namer: Any = names.__getitem__ if learner.model.names.mode == "names" else int
    for one in learner.model.transforms:
        namer = one.namer(namer)
    if isinstance(block, DenseBlock):
        called = [namer(number) for number in range(block.width)]
        return [dict(zip(called, row, strict=True)) for row in block.val.tolist()]
    cuts = zip(block.indptr[:-1], block.indptr[1:], strict=True)
    return [{namer(int(j)): float(x) for j, x in zip(block.idx[a:b], block.val[a:b], strict=True)} for a, b in cuts]


def close(found: list[dict[Any, float]], expected: list[dict[Any, float]], dense: bool = False) -> None:
    for mine, its in zip(found, expected, strict=True):
        if dense:  # a table has a value everywhere, the obvious version only where there is something to say
            mine = {name: value for name, value in mine.items() if value != 0.0 or name in its}
        assert mine.keys() == its.keys()
        assert mine == pytest.approx(its, rel=1e-9, abs=1e-9)
