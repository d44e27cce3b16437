"""How learners are shown: in notebooks as a small table, and as a figure."""

import html
from typing import Any

from noregret.data.inputs import LabelsLike, RowsLike
from noregret.errors import import_extra
from noregret.learner.other_habits import OtherHabits
from noregret.learner.supports import describe_kernel

CLASSES = 8  # classes that are named


class Displayed(OtherHabits):
    """What every learner has for notebooks: `_repr_html_` and `plot`."""

    def _repr_html_(self) -> str:
        """A table for notebooks: what it is, its parameters, and what it has learned."""
        learner: Any = self
        classes = list(getattr(learner, "classes", None) or ())
        names = ", ".join(map(str, classes[:CLASSES])) + (", ..." if len(classes) > CLASSES else "")
        params = ", ".join(f"{name} = {value}" for name, value in (getattr(learner, "params", None) or {}).items())
        counts = f"{learner.rounds:,} rounds, {learner.mistakes:,} mistakes, {learner.updates:,} updates"
        model = getattr(learner, "model", None)
        used = None if getattr(learner, "config", None) is None or model is None else describe_kernel(model)
        rows = {"task": learner.task, "parameters": params, "kernel": "" if used is None else used.text}
        rows |= {"classes": names, "learned": counts}
        cells = "".join(f"<tr><th>{name}</th><td>{html.escape(text)}</td></tr>" for name, text in rows.items() if text)
        title = f"<tr><th>{html.escape(learner.card.name)}</th><td>{html.escape(learner.card.about)}</td></tr>"
        return f"<table>{title}{cells}</table>"

    def plot(self, X: RowsLike = None, y: LabelsLike = None) -> Any:
        """The largest weights as a matplotlib figure; of rows with two features, the regions it predicts instead."""
        plots = import_extra("noregret.plots", "plots", "plot()")
        return plots.weights(self) if X is None else plots.decision(self, X, y)
