"""Metrics that are saved and restored between two batches report what they would have in one piece."""

import json
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret import metrics as all_metrics
from noregret.metrics import (
    Auc,
    Confusion,
    InputOrder,
    LabelBaselines,
    LabelChanges,
    LearningCurve,
    Loss,
    Mistakes,
    Multilabel,
    Ranking,
    Reliability,
    Runtime,
    TargetBaselines,
    TargetErrors,
    Totals,
    Updates,
)
from noregret.metrics.saved_state import dump_metrics, restore_metrics

rng = np.random.default_rng(8)
ROWS = 90


def part(start: int, stop: int, **arrays: Any) -> nr.Transcript:
    cut = {name: values[start:stop] for name, values in arrays.items()}
    return nr.Transcript(**{"scores": None, "predictions": None, "truth": None, **cut})


def labels(names: list[Any]) -> dict[str, Any]:
    scores = np.round(rng.normal(size=ROWS), 1)
    p = np.abs(rng.normal(size=(ROWS, len(names)))) + 0.01
    truth = np.array(names, object)[rng.integers(0, len(names), ROWS)]
    return {"scores": scores, "truth": truth, "predictions": np.array(names, object)[rng.integers(0, len(names), ROWS)],
            "losses": np.abs(scores), "mistakes": scores > 0.0, "updated": scores < 0.5,
            "probabilities": p / p.sum(axis=1, keepdims=True)}  # fmt: skip


TARGETS = {"scores": rng.normal(size=ROWS), "truth": rng.normal(size=ROWS), "predictions": rng.normal(size=ROWS),
           "losses": rng.random(ROWS), "mistakes": np.zeros(ROWS, bool), "updated": np.ones(ROWS, bool)}  # fmt: skip
SETS = {**TARGETS, "scores": rng.normal(size=(ROWS, 4)), "relevant": rng.random((ROWS, 4)) < 0.4, "truth": None,
        "predictions": None}  # fmt: skip
CASES: dict[str, tuple[Any, dict[str, Any]]] = {
    "mistakes": (Mistakes, labels(["a", "b"])),
    "loss": (Loss, labels(["a", "b"])),
    "updates": (Updates, labels(["a", "b"])),
    "changes": (LabelChanges, labels([1.0, 2.0])),
    "curve": (lambda: LearningCurve(4), labels(["a", "b"])),
    "totals": (Totals, labels(["a", "b"])),
    "confusion": (Confusion, labels(["a", "b", "c"])),
    "confusion of numbers": (Confusion, labels([0, 1, 2.5, True])),
    "confusion of sets": (Confusion, labels([("a",), ("a", "b")])),
    "baselines": (LabelBaselines, labels(["a", "b", "c"])),
    "auc": (lambda: Auc("a"), labels(["a", "b"])),
    "reliability": (lambda: Reliability(["a", "b"]), labels(["a", "b"])),
    "target errors": (TargetErrors, TARGETS),
    "target baselines": (TargetBaselines, TARGETS),
    "multilabel": (Multilabel, {name: value for name, value in SETS.items() if value is not None}),
    "ranking": (Ranking, {**TARGETS, "truth": np.round(rng.random(ROWS) * 3), "lists": np.arange(ROWS) // 5}),
}


@pytest.mark.parametrize("name", CASES)
def test_saved_and_restored_equals_one_piece(name: str) -> None:
    make, arrays = CASES[name]
    whole, first, second = make(), make(), make()
    for start, stop in ((0, 45), (45, 70), (70, ROWS)):
        whole.see(None, part(start, stop, **arrays))
    first.see(None, part(0, 45, **arrays))
    states = json.loads(json.dumps(dump_metrics([first]), allow_nan=False))
    assert restore_metrics([second], states)
    assert second.report() == first.report()
    for start, stop in ((45, 70), (70, ROWS)):
        second.see(None, part(start, stop, **arrays))
    assert second.report() == whole.report()
    assert dump_metrics([second]) == dump_metrics([whole])


def test_every_metric_can_be_saved() -> None:
    kinds = [one for one in vars(all_metrics).values() if isinstance(one, type) and hasattr(one, "see")]
    assert {one.__name__ for one in kinds if not hasattr(one, "saved")} == {
        "Metric", "MergeableMetric", Runtime.__name__, InputOrder.__name__, "PairedMistakes",
    }  # fmt: skip


def test_time_is_not_saved_and_what_cannot_be_is_not() -> None:
    assert dump_metrics([Runtime(), Mistakes(3, 1)]) == [{"kind": "Mistakes", "rounds": 3, "mistakes": 1}]
    assert dump_metrics([InputOrder()]) is None
    changes = LabelChanges()
    changes.last = object()  # type: ignore[assignment]
    assert dump_metrics([changes]) is None


def test_a_sum_that_is_infinite_is_saved() -> None:
    [state] = dump_metrics([Loss(2, np.inf)]) or []
    again = Loss()
    assert restore_metrics([again], json.loads(json.dumps([state], allow_nan=False)))
    assert again.total == np.inf


def table(shape: list[int], at: list[int], values: list[Any]) -> dict[str, Any]:
    return {"table": {"shape": shape, "at": at, "values": values}}


DEEP: Any = "a"
for _ in range(5000):
    DEEP = {"labels": [DEEP]}


@pytest.mark.parametrize("harm", [
    {"kind": "Loss"}, {"code": ["a", "a"]}, {"code": [["a"]]}, {"code": None}, {"code": "ab", "table": 3},
    {"code": [DEEP, "b"]}, {"table": {}}, {"table": None}, table([2, 2], [], []), table([2, 3], [6], [1]),
    table([2, 3], [-1], [1]), table([2, 3], [0], [-1]), table([2, 3], [0], [1.5]), table([2, 3], [0], [1 << 70]),
    table([1 << 40, 1 << 40], [], []), table([2, 3], [0, 1], [1]),
])  # fmt: skip
def test_damaged_values_change_nothing(harm: dict[str, Any]) -> None:
    made, arrays = CASES["confusion"]
    first, fresh = made(), Confusion()
    first.see(None, part(0, 45, **{**arrays, "truth": np.where(arrays["truth"] == "c", "a", arrays["truth"]),
                                   "predictions": np.full(ROWS, "b", object)}))  # fmt: skip
    [state] = dump_metrics([first]) or []
    assert len(state["code"]) == 2
    assert not restore_metrics([fresh], [{**state, **harm}])
    assert fresh.table.shape == (0, 1)
    assert not restore_metrics([fresh], [state, state])
    assert not restore_metrics([fresh], None)
    assert restore_metrics([fresh], [state])


@pytest.mark.parametrize("harm", [{"next": 1}, {"rounds": -1}, {"points": [[1, 2, 3]]}, {"points": 4}, {"loss": "much"},
                                  {"rounds": True}, {"points": [[1, 2, "x", 3]]}])  # fmt: skip
def test_a_damaged_curve_is_not_restored(harm: dict[str, Any]) -> None:
    make, arrays = CASES["totals"]
    first = make()
    first.see(None, part(0, 45, **arrays))
    [state] = dump_metrics([first]) or []
    assert not restore_metrics([make()], [{**state, **harm}])


@pytest.mark.parametrize(
    ("metric", "values", "fit"),
    [
        (LearningCurve, {"next": 1, "rounds": 0}, True),
        (LearningCurve, {"next": 5, "rounds": 4}, True),
        (LearningCurve, {"next": 4, "rounds": 4}, False),
        (LearningCurve, {"next": 4, "rounds": 5}, False),
        (LearningCurve, {"next": 4, "rounds": -1}, False),
        (LabelBaselines, {"code": {"a": 0, "b": 1}, "counts": [3, 2], "majority": 0, "last": 1}, True),
        (LabelBaselines, {"code": {"a": 0, "b": 1}, "counts": [3], "majority": 1, "last": 0}, True),
        (LabelBaselines, {"code": {"a": 0, "b": 1}, "counts": [3, 2, 1], "majority": 0, "last": 1}, False),
        (LabelBaselines, {"code": {"a": 0, "b": 1}, "counts": [3, 2], "majority": 2, "last": 1}, False),
        (LabelBaselines, {"code": {"a": 0, "b": 1}, "counts": [3, 2], "majority": 0, "last": 2}, False),
        (Multilabel, {"counts": np.zeros((3, 2))}, True),
        (Multilabel, {"counts": np.zeros((3, 3))}, True),
        (Multilabel, {"counts": np.zeros((2, 3))}, False),
    ],
)
def test_values_that_cannot_be_do_not_fit(metric: Any, values: dict[str, Any], fit: bool) -> None:
    assert metric().fits(values) == fit
