"""Streams and parameters at random, for every learner: hypothesis draws them, and makes smaller what fails."""

from typing import Any

import numpy as np
from hypothesis import strategies as st

import noregret as nr
from noregret.rules.parameters import Param
from tests.conformance.plays import CLASSES, Play, by_appearance, can_begin_at_random, possible, unusual
from tests.fuzz.case import Case, Stream
from tests.naive import streams as seeded
from tests.naive.rules import Array

LONGEST = 30  # rounds
SIZES = [1e-30, 1e-9, 1e-3, 1e3, 1e9, 1e30]
EDGES = [5e-324, 1e-310, 1e-160, 1e-100, 1e100, 1e150, 1e200, 1.7e308]
QUARTERS = st.integers(-16, 16).map(lambda n: n / 4.0)
REALS = st.floats(-4.0, 4.0, allow_subnormal=False)
VALUES: dict[str, st.SearchStrategy[float]] = {
    "signs": st.sampled_from([0.0, 1.0, -1.0]),
    "truths": st.sampled_from([0.0, 1.0]),
    "quarters": QUARTERS,
    "reals": REALS,
    "sparse": st.one_of(st.just(0.0), st.just(0.0), st.just(0.0), REALS),
    "scaled": st.builds(lambda x, size: x * size, REALS, st.sampled_from([1.0, *SIZES])),
    "edges": st.builds(lambda x, size: float(np.sign(x) * size), QUARTERS, st.sampled_from([1.0, *EDGES])),
}
ORDERS = ["as drawn", "cycled", "one row", "flipped", "alternating", "sorted", "missed"]


@st.composite
def few_rows(draw: st.DrawFn, edges: bool) -> Array:
    """Up to six rows of up to eight features, of one kind of value; a feature may be there twice."""
    names = [name for name in VALUES if edges or name != "edges"]
    value = VALUES[draw(st.sampled_from(names))]
    d = draw(st.sampled_from([1, 2, 3, 4, 8]))
    rows = draw(st.lists(st.lists(value, min_size=d, max_size=d), min_size=1, max_size=6))
    X = np.array(rows)
    if draw(st.booleans()):
        X = np.concatenate([X, X[:, :1]], axis=1)
    return X * draw(st.sampled_from([1.0, 1.0, 1.0, *SIZES])) if np.abs(X).max(initial=0.0) <= 4.0 else X


def many_rows(seed: int, dense: bool, d: int) -> Array:
    """Rows of gaussian numbers, without hope of making them smaller."""
    return (seeded.dense(LONGEST, d, seed) if dense else seeded.sparse(LONGEST, d, 0.2, seed))[0]


def missed(X: Array) -> list[int]:
    """The labels that a perceptron always misses."""
    w, signs = np.zeros(X.shape[1]), []
    with np.errstate(all="ignore"):
        for x in X:
            signs.append(-1 if w @ x >= 0.0 else 1)
            w = np.nan_to_num(w + signs[-1] * x, nan=0.0)
    return signs


@st.composite
def ordered(draw: st.DrawFn, edges: bool) -> tuple[Array, list[int]]:
    """Rows in some order, and a whole number for each from which labels are made."""
    if draw(st.integers(0, 4)) == 4:
        X = many_rows(draw(st.integers(0, 10**6)), draw(st.booleans()), draw(st.sampled_from([2, 6, 30])))
        return X, np.random.default_rng(len(X)).integers(0, CLASSES, size=len(X)).tolist()
    few = draw(few_rows(edges))
    codes = draw(st.lists(st.integers(0, CLASSES - 1), min_size=len(few), max_size=len(few)))
    order, n = draw(st.sampled_from(ORDERS)), draw(st.integers(1, LONGEST))
    again = [i % len(few) for i in range(n)]
    if order == "as drawn":
        return few, codes
    if order == "one row":
        return few[[0] * n], [codes[i] for i in again]
    if order == "sorted":
        again = sorted(again, key=lambda i: codes[i])
    if order == "missed":
        return few[again], [0 if sign < 0 else 1 for sign in missed(few[again])]
    shift = {"cycled": 0, "flipped": 1, "alternating": 1}.get(order, 0)
    if order == "alternating":
        again = [i // 2 % len(few) for i in range(n)]
    return few[again], [(codes[i] + shift * t) % CLASSES for t, i in enumerate(again)]


@st.composite
def streams(draw: st.DrawFn, task: str, weighs: bool, kinds: list[str], edges: bool, late: bool = False) -> Stream:
    """Rounds for a task; with `late`, classes with names, a third of which may come at any time."""
    X, codes = draw(ordered(edges))
    y: list[Any]
    if task == "regression":
        how = draw(st.sampled_from(["codes", "linear", "reals"]))
        with np.errstate(all="ignore"):
            linear = np.nan_to_num(X @ np.arange(1.0, X.shape[1] + 1.0), posinf=1.0, neginf=-1.0)
        y = {"codes": [float(code - 1) for code in codes], "linear": linear.tolist()}.get(how) or [
            0.37 * code - 0.5 for code in codes
        ]
    elif task == "multiclass" or late:
        k = draw(st.integers(1, CLASSES))
        gap = draw(st.sampled_from([0, 1, 5]))
        y = by_appearance(np.array([min(code % k, t // gap if gap else k) for t, code in enumerate(codes)])).tolist()
        y = [f"class {code}" for code in y] if late else y
    else:
        y = [1 if code % 2 else -1 for code in codes]
    weight = None
    if weighs and draw(st.booleans()):
        share = st.sampled_from([1.0, 0.0, 0.3, 2.5, 1e-3, 40.0])
        few = draw(st.lists(share, min_size=1, max_size=4))
        firsts = {y.index(label) for label in y} if task != "regression" else set()
        weight = [1.0 if t in firsts else few[t % len(few)] for t in range(len(y))]
    return Stream(X, y, weight, draw(st.sampled_from(kinds)))


def number(param: Param) -> st.SearchStrategy[float]:
    """The default, a number not far from it, and one near the limit from which it counts."""
    low, high = max(param.above, param.at_least), min(param.below, param.at_most)
    base = low if np.isfinite(low) else 0.0
    factors = st.sampled_from([1e-3, 0.1, 0.25, 0.5, 1.0, 1.5, 3.0, 10.0, 100.0])
    offset = abs(param.default - base) or 1.0
    near = factors.map(lambda factor: base + factor * offset)
    odd = st.just(param.default if np.isinf(low) else low + 0.1 * (param.default - low) + 0.05)
    inside = near.filter(lambda x: param.above < x < param.below and param.at_least <= x <= param.at_most)
    edge = [param.at_least] if np.isfinite(param.at_least) else []
    edge += [param.at_most] if np.isfinite(param.at_most) else []
    edge += [0.5 * (low + high)] if np.isfinite(low) and np.isfinite(high) else []
    return st.one_of(st.just(param.default), odd, inside, *map(st.just, edge))


@st.composite
def parameters(draw: st.DrawFn, play: Play) -> dict[str, float]:
    """A number for every parameter of a rule that its options allow."""
    numbers = {
        name: param.default
        if name == "random_start" and not can_begin_at_random(play.card, play.algebra, play.options)
        else draw(number(param))
        for name, param in play.card.numbers.items()
    }
    if "features" in numbers:
        numbers["features"] = float(np.ceil(numbers["features"]))
    return numbers if possible(play, numbers) else unusual(play.card, play.algebra, play.options)


@st.composite
def cases(draw: st.DrawFn, several: list[Play], edges: bool = True) -> Case:
    """A way to play a learner, of these, its numbers and a stream."""
    play = draw(st.sampled_from(several))
    card: nr.RuleCard = play.card
    late = play.task == "binary" and "multiclass" in card.tasks and draw(st.integers(0, 5)) == 5
    kinds = ["array"] if play.algebra == "dense" else ["array", "csr", "dicts"]
    stream = draw(streams(play.task, card.supports_weights, kinds, edges, late))
    extra: dict[str, Any] = {}
    if play.task == "regression":
        extra["scale_target"] = False
        if dict(play.options).get("loss", "eps_insensitive") == "eps_insensitive":
            extra["eps"] = draw(st.sampled_from([0.1, 0.0, 1.0]))
    if card.keeps_groups:
        told = st.lists(st.integers(0, 2), min_size=1, max_size=5)
        extra["groups"] = draw(st.sampled_from([1, 2, 3]) if card.name == "multitask" else st.integers(1, 3) | told)
    return Case(play, draw(parameters(play)), stream, draw(st.integers(0, len(stream))), extra, late)
