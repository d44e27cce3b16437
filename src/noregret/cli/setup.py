"""From the arguments of a command to a source and to learners that suit it."""

import argparse
import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from noregret.adapters.delayed import delayed
from noregret.adapters.drift_aware import drift_aware
from noregret.cli.cost_options import parse_class_weight, parse_cost
from noregret.cli.screen import Screen
from noregret.errors import BadValue
from noregret.evaluation.capabilities import accepted_options, task_class
from noregret.evaluation.checkpoint import READ_OPTIONS
from noregret.evaluation.race import playable_tasks
from noregret.learner.factory import make
from noregret.learner.protocol import Learner
from noregret.learner.variants import Variant, parse_value
from noregret.streams import ReadOptions, Source, open_source
from noregret.streams.column_roles import NO_LABEL

# ---- the source -----------------------------------------------------------------------------------------------------


def given_read_options(args: argparse.Namespace) -> dict[str, Any]:
    """The options for reading the data that differ from the defaults."""
    given = {name: getattr(args, name, None) for name in READ_OPTIONS}
    if given["on_bad"] == "stop":
        del given["on_bad"]
    return {
        name: value
        for name, value in given.items()
        if value not in (None, []) and (value is not False or name == "header")
    }


def open_data(args: argparse.Namespace, task: str | None = None, **options: Any) -> Source:
    """Open the data of a command; further options are those of `ReadOptions`."""
    if args.seed < 0:
        raise BadValue(f"--seed must not be negative, not {args.seed}")
    reading = {**given_read_options(args), **task_class(task).reading, **options}
    if args.data == ["-"] and getattr(args, "predictions", None) == "-":
        reading["live"] = True
    if getattr(args, "keep", None):
        reading.setdefault("keep", tuple(args.keep))
    return open_source(args.data, ReadOptions(**reading), seed=args.seed)


def suggest_task(args: argparse.Namespace, variants: Sequence[Variant]) -> None:
    """Where no task is named: the one of learners that can play no other and need no labels, so that none are read."""
    tasks = {task for one in variants for task in playable_tasks(one)}
    if args.task is None and len(tasks) == 1 and not task_class(task := tasks.pop()).needs_labels:
        args.task = task


def missing_options(args: argparse.Namespace) -> dict[str, Any]:
    """Whether empty cells are missing values, as they are for the transform `missing`."""
    replaced = any(str(step).startswith("missing") for step in args.transform)
    return {"keep_missing": True, "optional": ("keep_missing",)} if replaced else {}


def check_columns(learner: Learner, source: Source, screen: Screen) -> None:
    """Refuse a table that has none of the columns the model was learned from; warn where some are missing."""
    learned, there = (learner.source or {}).get("columns"), source.describe().get("columns")
    if not isinstance(learned, dict) or not isinstance(there, dict):
        return
    missing = [name for name in learned if name not in there]
    changed = [name for name, kind in learned.items() if name in there and there[name] != kind]
    if learned and len(missing) == len(learned):
        raise BadValue(f"{source.name} has none of the columns of the model: {list_names(missing)}")
    live = getattr(getattr(source, "options", None), "live", False)
    if missing and not (live and source.kind == "jsonl"):  # a record need not have every field
        screen.warn(f"{source.name} lacks columns of the model: {list_names(missing)}; they count as absent")
    if changed:
        screen.warn(f"{source.name}: not numbers or not text, as the model learned them: {list_names(changed)}")


def list_names(names: Sequence[str]) -> str:
    """The first five names, and how many more there are."""
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return ", ".join(map(repr, names[:5])) + more


# ---- the learners ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LearnerOptions:
    """Options for all learners of a command: those given, and those suggested where a learner takes them."""

    given: dict[str, Any]
    suggested: dict[str, Any]

    def make(self, variants: Sequence[Variant]) -> list[Learner]:
        """A learner of each variant, whose own options precede these."""
        return [
            make(one.card, **{**accepted_options(one.card, self.suggested), **self.given, **one.options})
            for one in variants
        ]


def adapt_learners(args: argparse.Namespace, learners: Sequence[Learner]) -> list[Learner]:
    """The learners as a command needs them: each starts again after drift where --on-drift says so, and can wait."""
    if args.window is not None and (args.on_drift is not None or args.detect is not None):
        raise BadValue("--window changes learners by the clock; leave --on-drift and --detect out")
    if args.window is not None:
        args.on_drift, args.detect = "shadow", f"window:size={args.window}"
    if args.on_drift is not None:
        learners = [drift_aware(learner, args.detect or "adwin", args.on_drift) for learner in learners]
    return wait_for_labels(args, learners)


def outer_detector(args: argparse.Namespace) -> str | None:
    """The detector that watches a run; None where the learners look for drift themselves."""
    return args.detect if args.on_drift is None else None


def wait_for_labels(args: argparse.Namespace, learners: Sequence[Learner]) -> list[Learner]:
    """The learners, each able to wait for labels where rows have keys; refuses --key where it means nothing."""
    if args.key is not None and args.unlabelled is None:
        raise BadValue("--key is for labels that come later: say by --unlabelled how their absence is marked")
    if args.unlabelled is not None and args.holdout is not None:
        raise BadValue("--holdout needs rows with labels; leave --unlabelled or --holdout out")
    return [delayed(learner) for learner in learners] if args.key is not None else list(learners)


def check_label(args: argparse.Namespace, source: Source) -> None:
    """Refuse rows whose label is missing altogether, and a name that no column has."""
    if args.unlabelled is not None and source.label is None:
        raise BadValue(f"{source.name}: no column is known to hold the label; name it with --label")
    columns = source.describe().get("columns")
    if args.label not in (None, NO_LABEL) and source.label is None and isinstance(columns, dict):
        raise BadValue(f"{source.name}: there is no column {args.label!r}; the columns are {list_names(list(columns))}")


def early_options(args: argparse.Namespace, variants: Sequence[Variant] = ()) -> LearnerOptions:
    """The options that can be checked before the data are opened."""
    classes = named_classes(args) or ([0, 1] if needs_classes(args, variants) else None)
    options = {"task": args.task, "transforms": args.transform, "bits": args.bits, "classes": classes}
    return LearnerOptions(drop_defaults({**options, **class_options(args)}), {})


def learner_options(args: argparse.Namespace, source: Source, variants: Sequence[Variant] = ()) -> LearnerOptions:
    """The options of learners for this source."""
    task = args.task or source.learner_defaults.get("task")
    table = bool(source.learner_defaults.get("scale"))
    scale = (table and not args.transform and task_class(task).scales_by_default) if args.scale is None else args.scale
    bias: bool | str | None = task_class(task).bias_by_default
    if bias is None:
        bias = scale or bool(table and args.transform) if table or scale else source.learner_defaults.get("bias")
    given = {
        "task": task,
        "scale": args.scale,
        "bias": args.bias,
        "transforms": args.transform,
        "bits": args.bits,
        "classes": named_classes(args) or (read_classes(args) if needs_classes(args, variants) else None),
        **class_options(args),
    }
    suggested = {
        "seed": args.seed,
        "scale": scale if args.scale is None else None,
        "bias": bias if args.bias is None else None,
    }
    return LearnerOptions(drop_defaults(given), drop_defaults(suggested))


def drop_defaults(options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value}


def class_options(args: argparse.Namespace) -> dict[str, Any]:
    """The weights of classes and the costs of mistakes."""
    return {"class_weight": parse_class_weight(args.class_weight), "cost": parse_cost(args.cost)}


def needs_classes(args: argparse.Namespace, variants: Sequence[Variant]) -> bool:
    """Whether some learner must know the classes beforehand, as it does not see every label."""
    asks = any(one.options.get("labels") == "asked" for one in variants)
    tasks = [(one.options["task"],) if "task" in one.options else one.card.tasks for one in variants]
    by_card = any(some and all(task_class(task).needs_classes for task in some) for some in tasks)
    return asks or by_card or task_class(args.task).needs_classes is not None


def named_classes(args: argparse.Namespace) -> list[Any] | None:
    """The classes named with --classes."""
    return None if args.classes is None else [parse_value(label) for label in args.classes.split(",") if label.strip()]


def read_classes(args: argparse.Namespace) -> list[Any]:
    """The labels of the data, found by reading them once: sorted, or in the order they come where types are mixed."""
    if "-" in args.data:
        raise BadValue("standard input is read only once: name its labels with --classes A,B,C")
    seen: dict[Any, None] = {}
    for batch in open_data(args, args.task, **missing_options(args), passes=1):
        seen.update(dict.fromkeys(batch.y if isinstance(batch.y, list) else batch.y.tolist()))
    labels = list(seen)
    return sorted(labels) if len({isinstance(label, str) for label in labels}) == 1 else labels


# ---- the output -----------------------------------------------------------------------------------------------------


PICTURES = ("--plot", "--curve", "--picture")


def check_outputs(outputs: dict[str, str | None], inputs: Sequence[str | None]) -> None:
    """Refuse, before any work is done, files that cannot be written, that are read, or that are named twice."""
    known = {
        os.path.realpath(file): "what is to be read" for file in inputs if file is not None and Path(file).is_file()
    }
    for option, path in outputs.items():
        if path in (None, "-"):
            continue
        real = os.path.realpath(str(path))
        if real in known:
            raise BadValue(f"{option} {path}: this would overwrite {known[real]}; name another file")
        known[real] = option
        check_output(str(path), option)
        if option in PICTURES:
            from noregret.plots.figure import check_picture

            check_picture(str(path), option)


def check_output(path: str, option: str) -> None:
    target = Path(path)
    folder = target.parent
    if target.is_dir():
        raise BadValue(f"{option} {path}: this is a folder; name a file in it")
    if not folder.is_dir():
        raise BadValue(f"{option} {path}: there is no folder {folder}; make it first")
    if not os.access(target if target.exists() else folder, os.W_OK):
        raise BadValue(f"{option} {path}: it cannot be written: permission denied")
    if not target.exists() or target.is_file():
        try_writing(Path(os.path.realpath(path)), f"{option} {path}")


def try_writing(target: Path, title: str) -> None:
    """Make a file beside the one that will be written, as saving does, and remove it."""
    try:
        beside = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
        with open(beside, "xb"):
            pass
        beside.unlink()
    except (OSError, ValueError) as error:
        raise BadValue(f"{title}: it cannot be written: {getattr(error, 'strerror', None) or error}") from None
