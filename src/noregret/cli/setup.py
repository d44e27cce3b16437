"""From options to a source and to learners that suit it."""

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from noregret.cli.cost_options import class_weight, cost
from noregret.cli.rules import parsed
from noregret.cli.screen import Screen
from noregret.errors import BadValue
from noregret.learner.factory import make
from noregret.learner.rule_learner import RuleLearner
from noregret.rules.card import Card
from noregret.streams import ReadOptions, Source, open_source
from noregret.tasks import TASKS

OPTIONS = (
    "format", "header", "label", "weight", "timestamp", "drop", "text", "categorical", "ngrams", "zero_based", "on_bad",
    "labels_by", "skip", "limit", "shuffle", "passes", "query",
)  # fmt: skip


def reading(told: argparse.Namespace, **more: Any) -> ReadOptions:
    asked = {name: getattr(told, name) for name in OPTIONS if getattr(told, name, None) not in (None, False, [])}
    if told.header is not None:
        asked["header"] = told.header
    return ReadOptions(**{**asked, **more})


def opened(told: argparse.Namespace, **more: Any) -> Source:
    """The source of a race or of learning."""
    if told.seed < 0:
        raise BadValue(f"--seed must not be negative, not {told.seed}")
    more = {**asked_of_labels(told.task), **gaps(told), **more}
    return open_source(told.data, reading(told, **more), seed=told.seed)


def asked_of_labels(task: str | None) -> dict[str, bool]:
    """What the labels of a task are, where they are not one class for every row."""
    return dict(TASKS[task].reading) if task in TASKS else {}


def gaps(told: argparse.Namespace) -> dict[str, Any]:
    """Whether empty cells are to be seen, as they are where missing values are dealt with."""
    seen = any(str(step).startswith("missing") for step in told.transform)
    return {"keep_missing": True, "optional": ("keep_missing",)} if seen else {}


def suited(told: argparse.Namespace, source: Source, cards: Sequence[Card] = ()) -> dict[str, Any]:
    """What every learner is told for the sake of this source; only what differs from the defaults."""
    task = told.task or source.learner_defaults.get("task")
    tabular = bool(source.learner_defaults.get("scale"))
    scale = (tabular and not told.transform) if told.scale is None else told.scale
    usual = TASKS[task].bias_by_default if task in TASKS else None
    bias = scale or bool(tabular and told.transform) if usual is None else usual
    bias = bias if told.bias is None else told.bias
    wishes = {
        "task": task,
        "seed": told.seed,
        "scale": scale,
        "bias": bias,
        "transforms": told.transform,
        "bits": told.bits,
        "classes": named_classes(told) or (classes_in(told) if classes_needed(told, cards) else None),
        **weighing(told),
    }
    return {name: value for name, value in wishes.items() if value}


def asked_early(told: argparse.Namespace, cards: Sequence[Card] = ()) -> dict[str, Any]:
    """What can be refused before the data are opened."""
    classes = named_classes(told) or ([0, 1] if classes_needed(told, cards) else None)
    wishes = {"task": told.task, "transforms": told.transform, "bits": told.bits, "classes": classes}
    wishes |= weighing(told)
    return {name: value for name, value in wishes.items() if value}


def classes_needed(told: argparse.Namespace, cards: Sequence[Card]) -> bool:
    """Whether some learner must know the classes beforehand, as not every label is told."""
    asked = any(text.replace(" ", "").endswith("labels=asked") for text in told.set)
    return asked or told.task == "bandit" or any(card.tasks == ("bandit",) for card in cards)


def named_classes(told: argparse.Namespace) -> list[Any] | None:
    return None if told.classes is None else [parsed(label) for label in told.classes.split(",") if label.strip()]


def classes_in(told: argparse.Namespace) -> list[Any]:
    """The labels of the data, found by reading them once: sorted, or in the order they come where they are mixed."""
    if "-" in told.data:
        raise BadValue("standard input is read only once: name its labels with --classes A,B,C")
    found: dict[Any, None] = {}
    for batch in opened(told, passes=1):
        found.update(dict.fromkeys(batch.y if isinstance(batch.y, list) else batch.y.tolist()))
    labels = list(found)
    return sorted(labels) if len({isinstance(label, str) for label in labels}) == 1 else labels


def weighing(told: argparse.Namespace) -> dict[str, Any]:
    """What classes weigh and mistakes cost."""
    return {"class_weight": class_weight(told.class_weight), "cost": cost(told.cost)}


def made(cards: Sequence[Card], settings: dict[str, dict[str, Any]], told: dict[str, Any]) -> list[RuleLearner]:
    return [make(card, **{**told, **settings[card.name]}) for card in cards]


def remarks(learner: RuleLearner, source: Source) -> list[str]:
    """What a user should know of how the rows were read and prepared."""
    said = list(source.notes)
    if learner.config.transforms:
        said.append(f"rows are transformed: {learner.config.transforms!r}")
    if learner.config.scale:
        said.append("numbers are scaled by their running mean and deviation (--no-scale leaves them as they are)")
    if learner.config.bias:
        said.append("a constant feature is added (--no-bias leaves it out)")
    return [*said, *learner.config.task.notes]


def check_columns(learner: RuleLearner, source: Source, screen: Screen) -> None:
    """A table should have the columns the model was learned from: refused if it has none, told if some are missing."""
    learned, there = (learner.source or {}).get("columns"), source.describe().get("columns")
    if not isinstance(learned, dict) or not isinstance(there, dict):
        return
    missing = [name for name in learned if name not in there]
    turned = [name for name, kind in learned.items() if name in there and there[name] != kind]
    if learned and len(missing) == len(learned):
        raise BadValue(f"{source.name} has none of the columns of the model: {listed(missing)}")
    if missing:
        screen.warn(f"{source.name} lacks columns of the model: {listed(missing)}; they count as absent")
    if turned:
        screen.warn(f"{source.name}: not numbers or not text, as the model learned them: {listed(turned)}")


def listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return ", ".join(map(repr, names[:5])) + more


def check_outputs(outputs: dict[str, str | None], needed: Sequence[str | None]) -> None:
    """Refuse, before any work is done, places that cannot be written, that hold what is needed, or that are one."""
    known = {
        os.path.realpath(file): "what is to be read" for file in needed if file is not None and Path(file).is_file()
    }
    for what, path in outputs.items():
        if path in (None, "-"):
            continue
        real = os.path.realpath(str(path))
        if real in known:
            raise BadValue(f"{what} {path}: this would overwrite {known[real]}; name another file")
        known[real] = what
        check_output(str(path), what)


def check_output(path: str, what: str) -> None:
    target = Path(path)
    folder = target.parent
    if target.is_dir():
        raise BadValue(f"{what} {path}: this is a folder; name a file in it")
    if not folder.is_dir():
        raise BadValue(f"{what} {path}: there is no folder {folder}; make it first")
    if not os.access(target if target.exists() else folder, os.W_OK):
        raise BadValue(f"{what} {path}: it cannot be written: permission denied")
