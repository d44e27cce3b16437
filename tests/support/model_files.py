"""The parts of a model file, to be looked at or changed."""

from typing import Any

from noregret.learner.model_file import FORMAT, Arrays


def header(learner: Any) -> dict[str, Any]:
    """The header that a learner is saved with."""
    return {"format": FORMAT, "kind": learner.kind, **learner.dump()[0]}


def tensors(learner: Any) -> Arrays:
    """The arrays that a learner is saved with."""
    return dict(learner.dump()[1])
