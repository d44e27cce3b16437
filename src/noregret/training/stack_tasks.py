"""Multi-task learning as one task: each task has its own columns, and a feature of all tasks forms a group."""

from typing import TYPE_CHECKING, Any

import numpy as np

from noregret.errors import BadValue, shown

if TYPE_CHECKING:
    from scipy.sparse import csr_array


def stack_tasks(X: Any, task: Any, tasks: Any) -> "csr_array":
    """Rows in which feature j of task q is column j * tasks + q; learn them with groups=tasks.

    X is an array or a scipy sparse matrix; `task` holds for each row the number of its task, from 0 on.
    """
    from scipy.sparse import csr_array

    if isinstance(tasks, bool) or not isinstance(tasks, int) or tasks < 1:
        raise BadValue(f"tasks must be a whole number of at least 1, not {shown(tasks)}")
    try:
        rows = csr_array(X)
    except (TypeError, ValueError):
        raise BadValue(f"X must be an array or a sparse matrix of numbers, not {shown(X)}") from None
    numbers = np.asarray(task)
    if numbers.shape != (rows.shape[0],):
        raise BadValue(f"task must name the task of each of the {rows.shape[0]} rows; it has shape {numbers.shape}")
    if numbers.size and (numbers.dtype.kind not in "iu" or numbers.min() < 0 or numbers.max() >= tasks):
        raise BadValue(f"task must hold whole numbers from 0 to {tasks - 1}, one for each row")
    columns = rows.indices.astype(np.int64) * tasks + np.repeat(numbers, np.diff(rows.indptr))
    return csr_array((rows.data, columns, rows.indptr), shape=(rows.shape[0], rows.shape[1] * tasks))
