"""A learner without labels in a model file, and the checks of what is read."""

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from noregret.decomposition.matrix_rows import MatrixRows
from noregret.decomposition.waiting_rows import WaitingRows
from noregret.errors import BadValue
from noregret.learner.header_fields import corrupt, read_count
from noregret.learner.model_file import Arrays, Header

if TYPE_CHECKING:
    from noregret.decomposition.base import UnsupervisedLearner

AnyLearner = TypeVar("AnyLearner", bound="UnsupervisedLearner[Any]")


def dump_learner(learner: "UnsupervisedLearner[Any]") -> tuple[Header, Arrays]:
    """Parameters, features, state and the rows of a mini-batch that is not full."""
    rows, arrays = learner.encoder.dump()
    arrays |= learner.pending.whole.dump()
    state: Header | None = None
    if learner.state is not None:
        state, own = learner.dump_state(learner.state)
        state["features"] = learner.state.features
        arrays |= {f"state.{name}": array for name, array in own.items()}
    header = {"params": learner.params, "options": learner.row_config.options, "rows": rows, "state": state}
    return {**header, "pending": learner.pending.rows, **learner.dump_counts()}, arrays


def restore_learner(kind: type[AnyLearner], header: Header, arrays: Arrays) -> AnyLearner:
    """The learner of a header and arrays, all checked."""
    params, options, state = header.get("params"), header.get("options"), header.get("state")
    if not isinstance(params, dict) or not isinstance(options, dict) or not isinstance(state, (dict, type(None))):
        raise corrupt("params, options and state must be objects")
    if set(params) - set(kind.card.params):
        raise corrupt(f"{kind.card.name} has no such parameters")
    try:
        new: AnyLearner = kind.card.build(**params, **options)  # type: ignore[attr-defined]
    except (BadValue, TypeError) as error:
        raise corrupt(str(error)) from None
    new.encoder.restore(header.get("rows"), arrays)
    new.restore_counts(header)
    new.pending = WaitingRows().add(restore_pending(new, header, arrays))
    if (state is None) != (new.learned_rows == 0):
        raise corrupt("its state does not fit the rows it has learned")
    if state is not None:
        new.state = restore_state(new, state, arrays)
    if new.pending.rows >= new.next_batch(new.state, new.pending.width) or new.pending.rows > new.rounds:
        raise corrupt("a mini-batch is waiting that is already full")
    return new


def restore_pending(learner: "UnsupervisedLearner[Any]", header: Header, arrays: Arrays) -> MatrixRows:
    """The rows of a mini-batch that is not full yet; their values are those of the method."""
    rows = MatrixRows.restore(read_count(header, "pending"), arrays, learner.encoder.features, learner.missing_values)
    try:
        learner.check_rows(rows, 0)
    except BadValue as error:
        raise corrupt(f"of its mini-batch, {error}") from None
    return rows


def restore_state(learner: "UnsupervisedLearner[Any]", header: Header, arrays: Arrays) -> Any:
    """The state, for the features that its learner knows; without rows that wait, for all of them."""
    known = learner.encoder.features
    features = read_count(header, "features", known, 0 if learner.pending.rows else known)
    own = {name.removeprefix("state."): part for name, part in arrays.items() if name.startswith("state.")}
    with np.errstate(all="ignore"):
        state = learner.restore_state(header, own, features)
    if not state.is_finite():
        raise corrupt("the numbers of its state are too large")
    return state
