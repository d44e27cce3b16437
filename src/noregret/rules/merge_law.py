"""The merge law: what merging two learners of one method preserves."""

from dataclasses import dataclass

from noregret.rules.names import MergeLaw, MergeMethod


@dataclass(frozen=True)
class Merge:
    """How two learners of a method are merged, and what that preserves.

    exact: the merged state is that of all rounds together; bounded: a bound still holds; heuristic: no bound is known.
    """

    law: MergeLaw
    how: str
    method: MergeMethod = "none"


NO_MERGE = Merge("none", "the state depends on the order of the rounds; it cannot be merged")
