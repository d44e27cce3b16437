"""Topics drawn: their shares of the documents over time."""

from collections.abc import Sequence

import numpy as np

from noregret.errors import BadValue
from noregret.evaluation.topic_history import TopicHistory
from noregret.plots.curves import add_legend
from noregret.plots.figure import COLOURS, Figure, literal, make_figure


def topic_shares(history: TopicHistory, names: Sequence[tuple[int, str]]) -> Figure:
    """The shares of topics against documents, one above the other; `names` are topics and what they are called."""
    if not history.documents:
        raise BadValue("there are no shares of topics to draw: no document was learned")
    figure, (panel,) = make_figure(width=7.2, height=4.2)
    ends = np.cumsum(history.documents)
    shown = list(names)[: len(COLOURS)]
    parts = [history.curve(topic) for topic, _ in shown]
    panel.stackplot(ends, parts, colors=COLOURS[: len(parts)], labels=[literal(name) for _, name in shown], alpha=0.85)
    panel.set(
        xlabel="documents", ylabel="share", ylim=(0.0, 1.0), xlim=(int(ends[0]), max(int(ends[-1]), int(ends[0]) + 1))
    )
    add_legend(figure, panel, len(shown))
    return figure
