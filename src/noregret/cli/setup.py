"""From options to a source and to learners that suit it."""

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from noregret.card import Card
from noregret.errors import BadValue
from noregret.learner import Learner
from noregret.making import make
from noregret.streams import Reading, Source, open_source


def reading(told: argparse.Namespace, **more: Any) -> Reading:
    known = {"label": told.label, "zero_based": told.zero_based, "skip": told.on_bad == "skip"}
    return Reading(**{**known, **more})


def opened(told: argparse.Namespace) -> Source:
    """The source of a race or of learning."""
    if told.seed < 0:
        raise BadValue(f"--seed must not be negative, not {told.seed}")
    return open_source(told.data, reading(told, targets=told.game == "regression"), seed=told.seed)


def suited(told: argparse.Namespace, source: Source) -> dict[str, Any]:
    """What every learner is told for the sake of this source; only what differs from the defaults."""
    game = told.game or source.game
    scale = source.kind == "csv" if told.scale is None else told.scale
    bias = (scale or game == "regression") if told.bias is None else told.bias
    wishes = {"game": game, "seed": told.seed, "scale": scale, "bias": bias}
    return {name: value for name, value in wishes.items() if value}


def made(cards: Sequence[Card], settings: dict[str, dict[str, Any]], told: dict[str, Any]) -> list[Learner]:
    return [make(card, **{**told, **settings[card.name]}) for card in cards]


def remarks(learner: Learner, source: Source) -> list[str]:
    """What a user should know of how the rows were read and prepared."""
    said = list(source.notes)
    if learner.settings.scale:
        said.append("numbers are scaled by their running mean and deviation (--no-scale leaves them as they are)")
    if learner.settings.bias:
        said.append("a constant feature is added (--no-bias leaves it out)")
    if learner.game == "regression":
        said.append("the labels are real targets; the loss decides")
    return said


def writable(path: str | None, what: str, *needed: str) -> None:
    """Refuse, before any work is done, a place that cannot be written, or that holds what is still needed."""
    if path in (None, "-"):
        return
    target = Path(str(path))
    folder = target.parent
    if target.is_dir():
        raise BadValue(f"{what} {path}: this is a folder; name a file in it")
    if any(target.is_file() and Path(other).is_file() and target.samefile(other) for other in needed):
        raise BadValue(f"{what} {path}: this would overwrite what is to be read; name another file")
    if not folder.is_dir():
        raise BadValue(f"{what} {path}: there is no folder {folder}; make it first")
    if not os.access(target if target.exists() else folder, os.W_OK):
        raise BadValue(f"{what} {path}: it cannot be written: permission denied")
