"""The types of the arrays that values and examples are made of."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]
Indices: TypeAlias = NDArray[np.uint32]  # features; unsigned, so that compiled code need not test for negative ones
Links: TypeAlias = NDArray[np.int32]  # a feature, or -1
Flag: TypeAlias = NDArray[np.uint8]
