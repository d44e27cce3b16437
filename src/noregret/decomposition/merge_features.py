"""The features of two learners that are merged: which number each has in the first."""

import numpy as np
from numpy.typing import NDArray

from noregret.decomposition.row_encoder import RowEncoder
from noregret.errors import BadValue
from noregret.features.hashing import HashedNames


def align_features(one: RowEncoder, other: RowEncoder) -> NDArray[np.int64]:
    """The numbers that the features of `other` have in `one`, which learns those that are new to it."""
    if one.transforms:  # as the other has, of the same options
        raise BadValue("learners with transforms cannot be merged: each transforms by the rows it saw")
    modes = {one.names.mode, other.names.mode} - {None}  # it is not known where no row had a feature
    if len(modes) > 1:
        raise BadValue("only learners that both know their features by name, or both by column, can be merged")
    one.names.mode = one.names.mode or other.names.mode
    if isinstance(one.names, HashedNames):
        assert isinstance(other.names, HashedNames)
        one.names.absorb(other.names)
    named = one.names.mode == "names"
    order = one.names.add_names(other.names.as_list()).numbers if named else np.arange(other.features)
    if not one.features:
        one.dense = other.dense
    one.features = int((order + 1).max(initial=one.features))
    return np.asarray(order, np.int64)
