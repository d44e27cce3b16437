"""Many tasks as one: the rows of each task get columns of their own, and one feature over all tasks is a group."""

from typing import TYPE_CHECKING, Any

import numpy as np

from noregret.errors import BadValue, shown

if TYPE_CHECKING:
    from scipy.sparse import csr_array


def stack_tasks(X: Any, task: Any, tasks: Any) -> "csr_array":
    """Rows in which feature j of task q stands in column j * tasks + q; learn them with groups=tasks.

    X is an array or a scipy sparse matrix, task the number (from 0) of the task that each row belongs to.
    """
    from scipy.sparse import csr_array

    if isinstance(tasks, bool) or not isinstance(tasks, int) or tasks < 1:
        raise BadValue(f"tasks must be a whole number of at least 1, not {shown(tasks)}")
    try:
        rows = csr_array(X)
    except (TypeError, ValueError):
        raise BadValue(f"X must be an array or a sparse matrix of numbers, not {shown(X)}") from None
    of = np.asarray(task)
    if of.shape != (rows.shape[0],):
        raise BadValue(f"task must name the task of each of the {rows.shape[0]} rows; it has shape {of.shape}")
    if of.size and (of.dtype.kind not in "iu" or of.min() < 0 or of.max() >= tasks):
        raise BadValue(f"task must hold whole numbers from 0 to {tasks - 1}, one for each row")
    columns = rows.indices.astype(np.int64) * tasks + np.repeat(of, np.diff(rows.indptr))
    return csr_array((rows.data, columns, rows.indptr), shape=(rows.shape[0], rows.shape[1] * tasks))
