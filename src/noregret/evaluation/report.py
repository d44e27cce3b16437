"""Reports of runs: for programs as JSON, for people as lines of text."""

import json
import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.data.batch import Batch
from noregret.evaluation.capabilities import (
    class_weight_of,
    classes_of,
    describe_collisions,
    describe_preparation,
    features_of,
    inner_learner,
    kernel_of,
    mixes_features,
    parameters_of,
    report_of_pool,
    restarts_of,
    task_of,
    task_warnings,
)
from noregret.evaluation.leaderboard import Entry
from noregret.evaluation.regret_report import RegretReport, report_regret
from noregret.learner.protocol import Learner
from noregret.metrics import Confusion
from noregret.streams import Source
from noregret.version import __version__

SCHEMA = 1  # the version of the form of JSON reports; it changes when a key is removed or means something else
MANY_CLASSES = 50  # with more, the confusion matrix is left out of reports, and the labels may be targets
TO_TRY = "try --bias, --scale, --shuffle SEED, --text COLUMN for columns of words, another --transform"
FEW_CLASSES, ROUNDS_EACH = 10, 5  # more numbers as labels than this, each in fewer rounds, may be targets, too
MANY_ROWS = 200  # with fewer, nothing is said about their order
SORTED = 0.5  # of the changes of labels that random order has
TEXT_FORMATS = ("csv", "libsvm", "vw")  # formats whose features are known only when all was read

# ---- for programs ---------------------------------------------------------------------------------------------------


def to_json(report: dict[str, Any]) -> str:
    """A report as JSON: keys in a fixed order, numbers exact."""
    return json.dumps(replace_infinite(report), indent=2, allow_nan=False) + "\n"


def replace_infinite(value: Any) -> Any:
    """JSON has no infinite numbers; they are written as text."""
    if isinstance(value, dict):
        return {key: replace_infinite(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [replace_infinite(one) for one in value]
    return repr(value) if isinstance(value, float) and not math.isfinite(value) else value


def report_head(command: Sequence[str], source: Source, **more: Any) -> dict[str, Any]:
    """How every report begins: the versions of its form and of the library, the command and the source."""
    return {
        "schema": SCHEMA,
        "noregret": __version__,
        "command": ["noregret", *command],
        "source": {**source.describe(), **more},
    }


def report_entry(entry: Entry) -> dict[str, Any]:
    """The result of one learner."""
    report: dict[str, Any] = {
        "name": entry.name,
        "rounds": entry.rounds,
        "mistakes": entry.mistakes,
        "rate": entry.rate,
        **({} if entry.confusion is None else entry.confusion.report()),
        "loss": entry.loss,
        "updates": entry.updates,
        "nonzeros": entry.nonzeros,
        "seconds": entry.seconds,
        **entry.measures,
        "parameters": parameters_of(entry.learner),
    }
    used = kernel_of(entry.learner)
    if used is not None:
        report["kernel"] = {**used._asdict(), "budget": used.budget or None, "policy": used.policy or None}
    if entry.full_information is not None:
        report["full_information"] = entry.full_information
    if entry.asked is not None:
        report["asked"] = entry.asked
    if entry.held_out is not None:
        report["held_out"] = dict(entry.held_out)
    if entry.regret is not None:
        told = report_regret(entry.regret) if isinstance(entry.regret, RegretReport) else {"why_not": entry.regret}
        report["regret"] = dict(told)
    pool = report_of_pool(entry.learner)
    if pool is not None:
        report["pool"] = pool.as_dict()
    if entry.drift is not None:
        report["drift"] = dict(entry.drift)
    if entry.confusion is not None:
        report["confusion"] = report_confusion(entry.confusion)
    report["curve"] = [point._asdict() for point in entry.curve]
    return report if entry.stopped is None else {**report, "stopped": entry.stopped}


def report_sequence(loss: float, parts: Sequence[tuple[int, str]]) -> dict[str, Any]:
    """A sequence of learners in hindsight: the rounds, counted from 1, from which on each is followed."""
    learners = [{"from": start + 1, "name": name} for start, name in parts]
    return {"switches": len(parts) - 1, "loss": loss, "learners": learners}


def report_confusion(confusion: Confusion) -> dict[str, Any]:
    """The confusion matrix with recall, precision and F1 of each class; null where they are not defined."""
    shares = {"recall": confusion.recall, "precision": confusion.precision, "f1": confusion.f1}
    counts = {"counts": confusion.counts.tolist()} if len(confusion.labels) <= MANY_CLASSES else {}
    return {
        "labels": [plain_label(label) for label in confusion.labels],
        "rounds": confusion.rounds.tolist(),
        **{name: [None if one != one else one for one in values.tolist()] for name, values in shares.items()},
        **counts,
    }


def plain_label(label: object) -> object:
    """A label as people write it: 1 and not 1.0."""
    return int(label) if isinstance(label, float) and label == int(label) else label


# ---- for people -----------------------------------------------------------------------------------------------------


def count_of(count: int, noun: str) -> str:
    """A number of things: 1 row, 2 rows."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def describe_source(source: Source, batch: Batch) -> str:
    """The name of a source, and how many rows and features it has."""
    rows = "" if source.rows is None else f"{source.rows:,} rows, "
    width = batch.X.block.width if hasattr(batch.X, "block") else getattr(batch.X, "shape", (0, 0))[1]
    so_far = "so far" if source.kind in TEXT_FORMATS else ""
    return f"{source.name}: {rows}{count_of(width, 'feature')} {so_far}".rstrip()


def describe_reading(learner: Learner, source: Source) -> list[str]:
    """What a user should know about how the rows were read and prepared."""
    return [*source.notes, *describe_preparation(learner), *describe_sizes(learner, source), *task_of(learner).notes]


def describe_sizes(learner: Learner, source: Source) -> list[str]:
    """A note where columns of a table count by how large their numbers are, which is seldom meant without labels."""
    rows = getattr(inner_learner(learner), "row_config", None)
    if rows is None or source.columns is None or "scale" not in getattr(learner.card, "options", ()):
        return []
    if rows.scale or rows.transforms:
        return []
    return ["numbers are as they are, so that columns of large numbers count most (--scale standardizes them)"]


def describe_ranks(learners: Sequence[Learner]) -> list[str]:
    """A note where learners have room for a component for every feature, so that components leave out nothing."""
    full = [one for one in map(inner_learner, learners) if "rank" in parameters_of(one) and one.rounds
            and parameters_of(one)["rank"] >= (features_of(one) or math.inf)]  # fmt: skip
    if not full:
        return []
    names, features = ", ".join(one.card.name for one in full), features_of(full[0])
    remedy = f"set a smaller rank, as in --set rank={features // 2}" if features and features > 1 else "add features"
    return [f"{names}: with as many components as features ({features}) nothing is left out, and losses are near 0; "
            f"{remedy}"]  # fmt: skip


def describe_skipped(source: Source) -> list[str]:
    """How many rows were skipped, where some were."""
    if not source.skipped:
        return []
    verb = "row could not be used and was" if source.skipped == 1 else "rows could not be used and were"
    return [f"{source.name}: {source.skipped:,} {verb} skipped"]


def describe_held_out(entry: Entry, source: Source) -> str:
    """The result on the rows that were held out."""
    assert entry.held_out is not None
    rows = count_of(sum(batch.rows for batch in source.held_out), "row")
    return f"held out: {rows} that were not learned, {entry.task.summarize(entry.held_out)}"


def describe_guessing(entry: Entry) -> str | None:
    """A note where always predicting the most frequent label would have made fewer mistakes; None where not."""
    if entry.confusion is None or entry.rounds < MANY_ROWS:
        return None
    errs = int(entry.confusion.rounds.sum() - entry.confusion.rounds.max())
    if entry.mistakes <= errs:
        return None
    guess = f"always predicting the most frequent label errs {count_of(errs, 'time')}, which is less"
    return f"{guess}; {TO_TRY}, or noregret race"


def describe_order(changes: int, rounds: NDArray[np.int64]) -> str | None:
    """A note where labels change much less often than in random order; `rounds` are those of each class."""
    total = int(rounds.sum())
    expected = total - float((rounds / max(total, 1)) @ rounds)
    if total < MANY_ROWS or changes >= SORTED * expected:
        return None
    return (
        f"rows seem sorted by label or time: the label changes {count_of(changes, 'time')}; in random order, "
        f"{expected:,.0f}. The next rows may differ: --holdout 0.2 measures it, --shuffle SEED mixes the rows"
    )


def find_notes(source: Source, learner: Learner) -> list[str]:
    """What a user may want to change after a run."""
    collisions = describe_collisions(learner)
    return [] if collisions is None else [f"{source.name}: {collisions}"]


def look_like_targets(labels: Sequence[Any], rounds: int) -> bool:
    """Whether labels are so many different numbers that they may be targets: more than usual, or one in few rounds."""
    many = len(labels) > MANY_CLASSES or (len(labels) > FEW_CLASSES and ROUNDS_EACH * len(labels) > rounds)
    return many and not any(isinstance(label, str) for label in labels)


def find_warnings(source: Source, learner: Learner, updates: int) -> list[str]:
    """What is odd about the data, known at the end of a run."""
    labels, weights = classes_of(learner), class_weight_of(learner)
    found = []
    absent = [label for label in weights if label not in labels] if isinstance(weights, dict) else []
    if absent:
        found.append(f"no row has the label {absent[0]!r}, which --class-weight names")
    found += task_warnings(learner, updates)
    restarts = restarts_of(learner)
    if restarts:
        found.append(f"{learner.card.name} started again {count_of(restarts, 'time')}, since no weights have a margin "
                     "here; use a learner for noisy labels, such as pa1 or arow")  # fmt: skip
    if len(labels) > 1 and mixes_features(learner):
        found.append(f"{learner.card.name} has positive weights only, so that no feature speaks against a class; "
                     "use eg_signed")  # fmt: skip
    several = [label for label in labels if isinstance(label, str) and re.search(r"\w[,;|] ?\w", label)]
    if len(several) > len(labels) / 3:
        found.append(
            f"labels such as {several[0]!r} look like several labels of a row; --task multilabel reads them so"
        )
    if len(labels) == 1:
        found.append(f"every label is {labels[0]!r}; with one class there is nothing to learn")
    elif look_like_targets(labels, learner.rounds):
        found.append(
            f"the labels are {len(labels):,} different numbers; if they are targets and not classes, "
            "use --task regression; --label names another column"
        )
    return [f"{source.name}: {text}" for text in found]
