"""Checkpoints: a model is saved now and then while it learns, and resumed where its source stood.

A model file remembers the source it was learned from: how it was read, how its data begin, and how far it was read.
"""

import hashlib
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from noregret.data.batch import Batch
from noregret.errors import BadValue
from noregret.evaluation.capabilities import allows_missing
from noregret.learner.protocol import Learner
from noregret.metrics import Metric
from noregret.metrics.saved_state import dump_metrics, restore_metrics
from noregret.streams import Cursor, Source
from noregret.streams.read_options import DEFAULTS, ROW_OPTIONS

HEAD_BYTES = 1 << 16  # how much of a file its fingerprint is taken of
LARGEST = 1 << 53  # of the numbers of a position
FOUND = {"label": str, "zero_based": bool}  # what reading found out, by the type of the value
PAUSE = 20  # between two checkpoints passes at least this many times as long as one takes
ROLES = (
    "header", "label", "weight", "timestamp", "query", "drop", "text", "ngrams", "categorical", "zero_based",
    "labels_by", "unlabelled", "key", "missing", "encoding",
)  # fmt: skip
READ_OPTIONS = (
    "format", "header", "label", "weight", "timestamp", "drop", "text", "categorical", "ngrams", "zero_based", "on_bad",
    "labels_by", "skip", "limit", "shuffle", "passes", "query", "holdout", "holdout_seed", "unlabelled", "key",
    "missing", "encoding", "documents",
)  # fmt: skip

Options: TypeAlias = Mapping[str, Any]  # read options that were given, by name


class Checkpoints:
    """Saves a learner every few seconds while it learns, with the position of its source."""

    def __init__(self, learner: Learner, source: Source, path: str | None, *, every: float, fingerprint: str | None,
                 options: Options) -> None:  # fmt: skip
        if not every >= 0.0:
            raise BadValue(f"--every must be a number of seconds, not {every}")
        self.learner, self.source, self.path, self.every = learner, source, path, every
        self.fingerprint = fingerprint
        saved = learner.source or {}
        before = saved_reading(saved)
        self.options = {**before, **options}
        self.reads_on = reads_more_rows(options, before)  # from where a smaller limit ended
        goes_on = saved.get("ended") is False or reads_same_rows(options, before) or self.reads_on
        same_data = fingerprint is not None and saved.get("head") == fingerprint
        if same_data and before.get("holdout") and not options.get("holdout"):
            raise BadValue(f"{source.name}: the model kept rows of it for a test (--holdout {before['holdout']:g}); "
                           "give the option again, or learn other rows")  # fmt: skip
        self.resumes = same_data and goes_on
        self.cursor = self.find_position(saved)
        self.skip = saved_rows(saved) if self.resumes else 0
        self.rounds = learner.rounds  # rounds that the learner has learned
        self.rows = self.skip  # rows of the source that it has learned
        self.current: Batch | None = None
        self.done = False
        self.metrics: Sequence[Metric] = ()  # that have seen all rounds of the source so far; they are saved, too
        self.saved_metrics = saved.get("metrics") if self.resumes else None
        self.measured = learner.rounds  # rounds of the learner up to which metrics have seen what it did
        self.saved_at, self.cost = time.monotonic(), 0.0

    def find_position(self, saved: Mapping[str, Any]) -> Cursor:
        """Where to go on: after the rows that an interrupted model has learned of this source, else at its start."""
        if not self.resumes:
            return Cursor()
        place = saved.get("place")
        if isinstance(place, dict) and not self.reads_on:
            at, past = place.get("at"), place.get("past")
            if (at is None or is_position(at)) and type(past) is int and 0 <= past < LARGEST:
                return Cursor(at, past)
            raise BadValue("the position to resume from is damaged; learn from the start instead")
        return Cursor(None, saved_rows(saved))

    def restore_metrics(self, metrics: Sequence[Metric]) -> bool:
        """Let new metrics go on after those of the model, where these were saved after all of its rounds."""
        saved = self.saved_metrics
        if not isinstance(saved, dict) or saved.get("rounds") != self.learner.rounds:
            return False
        return restore_metrics(metrics, saved.get("states"))

    def dump_metrics(self) -> dict[str, Any]:
        """The metrics that are saved with the model; none where they have not seen all rounds."""
        complete = self.metrics and self.measured == self.learner.rounds
        states = dump_metrics(self.metrics) if complete else None
        return {} if states is None else {"metrics": {"rounds": self.learner.rounds, "states": states}}

    def batches(self) -> Iterator[Batch]:
        """The batches still to be learned; a checkpoint is saved between two of them when it is time."""
        for batch in self.cursor.resume(self.source):
            self.current = batch
            yield batch
            self.count()
            if self.path is not None and time.monotonic() - self.saved_at >= max(self.every, PAUSE * self.cost):
                self.save(ended=False)

    def advance(self) -> None:
        """Say that the current batch is done and measured, also where none of its rows was learned."""
        self.done, self.measured = True, self.learner.rounds

    def count(self) -> None:
        """Count the current batch if it was learned: a call learns a whole batch or nothing of it."""
        if self.current is not None and (self.done or self.learner.rounds != self.rounds):
            self.cursor.advance(self.current)
            self.rounds, self.rows = self.learner.rounds, self.rows + self.current.rows
        self.current, self.done = None, False

    def save(self, ended: bool) -> None:
        """Write what the learner must remember of the source, and the learner if there is a path."""
        self.count()
        self.learner.source = {
            **self.source.describe(),
            "head": self.fingerprint,
            "rows": self.rows,
            "ended": ended,
            "reading": self.options,
            "place": self.cursor.dump(),
            **self.dump_metrics(),
        }
        if self.path is not None:
            began = time.monotonic()
            self.learner.save(self.path)
            self.saved_at = time.monotonic()
            self.cost = self.saved_at - began


def fingerprint_source(source: Source, data: Sequence[str], seed: int) -> str | None:
    """What tells this source from others: how its files begin, or its name and seed; None for a pipe."""
    names = [one.name for one in getattr(source, "sources", [source])]
    heads = [fingerprint_file(name, f"{list(data)}, seed {seed}") for name in names]
    if None in heads:
        return None
    return heads[0] if len(heads) == 1 else hashlib.sha256("\n".join(map(str, heads)).encode()).hexdigest()


def fingerprint_file(name: str, otherwise: str) -> str | None:
    """A hash of how a file begins; otherwise the text given, and None for standard input."""
    path = Path(name)
    if path.is_file():
        with open(path, "rb") as file:
            return hashlib.sha256(file.read(HEAD_BYTES)).hexdigest()
    return None if name == "standard input" else otherwise


# ---- how the data were read -----------------------------------------------------------------------------------------


def saved_rows(saved: Mapping[str, Any]) -> int:
    """How many rows of its source a model has learned, by its file."""
    rows = saved.get("rows")
    return rows if type(rows) is int and 0 < rows < LARGEST else 0


def is_position(found: Any, depth: int = 3) -> bool:
    """Whether what a file says can be the position of a source: numbers by name, and positions in positions."""
    return isinstance(found, dict) and all(
        (value is None or (depth > 0 and is_position(value, depth - 1)))
        if name == "at"
        else type(value) in (int, float) and abs(value) < LARGEST
        for name, value in found.items()
    )


def reads_same_rows(given: Options, before: Options) -> bool:
    """Whether the same rows of a source are asked for as before; what is not given now must have been the default."""
    return all(
        given[name] == before.get(name) if name in given else before.get(name) in (None, getattr(DEFAULTS, name))
        for name in ROW_OPTIONS
    )


def reads_more_rows(given: Options, before: Options) -> bool:
    """Whether the rows asked for begin with those of before, and go on where a limit ended them."""
    then, now = before.get("limit"), given.get("limit")
    others = [name for name in ROW_OPTIONS if name != "limit"]
    plain = all(options.get(name) in (None, getattr(DEFAULTS, name)) for name in others for options in (given, before))
    return type(then) is int and plain and (now is None or (type(now) is int and now > then))


def saved_reading(saved: Mapping[str, Any]) -> dict[str, Any]:
    """The read options that were given for a model, from its file, which may have been written by others."""
    options = saved.get("reading")
    return {name: value for name, value in options.items() if name in READ_OPTIONS} if isinstance(options, dict) else {}


def saved_options(saved: Mapping[str, Any]) -> dict[str, Any]:
    """The read options a model was learned with: those given, and the label and first feature that were found."""
    found = {name: saved[name] for name, kind in FOUND.items() if isinstance(saved.get(name), kind) and saved[name]}
    reading = {**found, **saved_reading(saved)}
    left_out = saved.get("left_out")
    if isinstance(left_out, str) and isinstance(reading.get("drop", []), (list, tuple)):
        reading["drop"] = [*reading.get("drop", ()), left_out]
    return reading


def restore_options(learner: Learner, given: Options) -> dict[str, Any]:
    """The read options that a model remembers and that are not given now; they count only where they apply."""
    saved = saved_options(learner.source or {})
    options = {name: value for name, value in saved.items() if name in ROLES and name not in given}
    for option, kind in (("categorical", "text"), ("numbers", "numbers"), ("times", "times")):
        columns = columns_of_kind(kind, learner.source or {}, {**saved, **given})
        if columns and option not in given:
            options[option] = columns
    if allows_missing(learner):
        options["keep_missing"] = True
    if learner.source:  # what was left out at first is among what it remembers to drop
        options["label_left_out"] = False
    return {**options, "optional": tuple(options)}


def columns_of_kind(kind: str, saved: Mapping[str, Any], options: Options) -> tuple[str, ...]:
    """The columns that a model learned as categories, numbers or times: they are read so, whatever new rows hold."""
    columns = saved.get("columns")
    found = [name for name, one in columns.items() if one == kind] if isinstance(columns, dict) else []
    given = [options.get(role) for role in ("label", "weight", "timestamp", "query", "key", "text", "drop")]
    given += [] if kind == "text" else [options.get("categorical")]
    others = [name for one in given for name in (one if isinstance(one, (list, tuple)) else [one])]
    return tuple(name for name in found if name not in others)


def check_options(learner: Learner, given: Options, model: str) -> dict[str, Any]:
    """Refuse to read the data in another way than the model learned them.

    Returns the options that an interrupted model needs to go on with the same rows: skip, limit, shuffle and passes.
    """
    saved = learner.source or {}
    before, interrupted = saved_options(saved), saved.get("ended") is False
    needed = {}
    for name in (*ROLES, *(ROW_OPTIONS if interrupted else ())):
        now, then = given.get(name), before.get(name)
        if name in given and saved and now != then and (then is not None or name in ("zero_based", *ROW_OPTIONS)):
            raise BadValue(f"{model} was learned {describe_option(name, then)}, not {describe_option(name, now)}")
        if name in ROW_OPTIONS and then is not None:
            needed[name] = then
    return needed


def describe_option(name: str, value: Any) -> str:
    """A read option in words."""
    if name == "label":
        return f"with the label {value!r}"
    if name == "header":
        return f"with{'' if value else 'out'} a line of column names"
    if name == "zero_based":
        return f"from features that count from {0 if value else 1}"
    return f"without --{name}" if value in (None, False, []) else f"with --{name.replace('_', '-')} {value}"
