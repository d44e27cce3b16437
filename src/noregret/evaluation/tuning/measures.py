"""What candidates are compared by, where it is not what the task names."""

from collections.abc import Mapping
from typing import Any

from noregret.errors import BadValue, shown
from noregret.evaluation.leaderboard import Entry
from noregret.rules.parameters import suggestion

LARGEST_IS_BEST = ("balanced_accuracy", "auc", "r2", "pair_accuracy", "ndcg", "ndcg_at_10", "micro_f1", "macro_f1")
SMALLEST_IS_BEST = (
    "mistakes", "rate", "loss", "mean_loss", "updates", "cost", "mae", "rmse", "log_loss", "brier", "calibration_error",
    "hamming_loss", "ranking_loss", "one_error",
)  # fmt: skip
MEASURES = (*SMALLEST_IS_BEST, *LARGEST_IS_BEST)
OF_LEARNING = ("loss", "mean_loss", "updates")  # of rows that are learned only, where others have labels


def check_metric(metric: object) -> str | None:
    """The name of a metric; None stands for what the task names."""
    if metric is not None and metric not in MEASURES:
        hint = suggestion(metric, MEASURES) if isinstance(metric, str) else ""
        raise BadValue(f"metric must be one of {', '.join(MEASURES)}, not {shown(metric)}{hint}")
    return metric if isinstance(metric, str) else None


def measured(entry: Entry) -> Mapping[str, Any]:
    """What was measured of a candidate: on validation rows, or on all rounds."""
    if entry.held_out is None:
        return entry.report
    if entry.task.prediction == "components":
        return entry.held_out
    return {name: value for name, value in entry.held_out.items() if name not in OF_LEARNING}


def require_metric(metric: str | None, entry: Entry) -> None:
    """Refuse a metric that is not measured here."""
    found = measured(entry)
    if metric is None or metric in found:
        return
    known = ", ".join(name for name in MEASURES if name in found)
    raise BadValue(
        f"metric={metric!r} is not measured for {entry.learner.card.name} by this method; use one of {known}"
        + ("" if entry.held_out is not None else ", or method='split', which measures probabilities, too")
    )


def sort_value(metric: str, entry: Entry) -> float:
    """What candidates are sorted by, the smallest first."""
    value = float(measured(entry).get(metric, float("nan")))
    return -value if metric in LARGEST_IS_BEST else value


def show_metric(metric: str, entry: Entry) -> str:
    """The metric of a candidate, as a cell of a table."""
    value = measured(entry).get(metric)
    return "" if value is None else f"{value:,.6g}"
