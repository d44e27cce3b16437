"""The features of two learners that are merged: which number each has in the first."""

import numpy as np
from numpy.typing import NDArray

from noregret.decomposition.row_encoder import RowEncoder
from noregret.errors import BadValue
from noregret.features.hashing import HashedNames


def align_features(one: RowEncoder, other: RowEncoder) -> NDArray[np.int64]:
    """The numbers that the features of `other` have in `one`, which learns those that are new to it."""
    if one.transforms or other.transforms:
        raise BadValue("learners with transforms cannot be merged: each transforms by the rows it saw")
    if one.names.mode is not None and other.names.mode is not None and one.names.mode != other.names.mode:
        raise BadValue("only learners that both know their features by name, or both by column, can be merged")
    if isinstance(one.names, HashedNames):
        assert isinstance(other.names, HashedNames)
        one.names.absorb(other.names)
    named = one.names.mode == "names"
    order = one.names.numbers(other.names.as_list(), True, False)[0] if named else np.arange(other.features)
    one.features = max(one.features, int(order.max(initial=-1)) + 1)
    return np.asarray(order, np.int64)
