"""The transforms of a learner, and the compiled loops that run them."""

import numpy as np
from numpy.typing import NDArray

from noregret.data.blocks import SparseBlock, sort_rows
from noregret.features import canonicalize
from noregret.features.feature_selectors import FeatureSelectors
from noregret.features.fitted import LEARN, FittedTransform, Loop, Runner, run_interpreted
from noregret.features.keys import HashedKeys
from noregret.features.transforms import scale
from noregret.learner.row_state import RowOptions

NOTHING = np.zeros(0, np.int32)


def start_transforms(config: RowOptions, selectors: FeatureSelectors) -> list[FittedTransform]:
    """The transforms of a learner; what scale=True asks for is the last."""
    steps = (*config.transforms, *(scale() if config.scale else ()))
    sort = sort_rows_compiled if config.native else sort_rows
    keys = None if config.bits is None else HashedKeys(1 << config.bits, sort)
    return [step.create_fitted(choose_runner(config.native), selectors, keys, config.seed) for step in steps]


def choose_runner(native: bool) -> Runner:
    """What runs the loops of transforms: compiled, or the same texts in plain Python."""
    return run_compiled if native else run_interpreted


def run_compiled(loop: Loop, learn: bool, arrays: tuple[np.ndarray, ...]) -> None:
    from noregret.jit.compiled import compile_function

    places = place_arrays(loop)
    table = np.zeros(LEARN + 1 + 2 * len(places), np.int64)
    table[LEARN] = learn
    compile_function(loop.entry, places)(table, *arrays)


def renumber_rows(numbers: np.ndarray, block: SparseBlock) -> SparseBlock:
    """Rows with other numbers for their features, at full speed."""
    from noregret.jit.compiled import compile_function

    return canonicalize.renumber_block(numbers, block, compile_function(canonicalize.entry, canonicalize.slots()))


def sort_rows_compiled(block: SparseBlock) -> SparseBlock:
    """The rows sorted, one value for each feature, at full speed."""
    from noregret.jit.compiled import compile_function

    copied = block._replace(indptr=block.indptr.copy(), idx=block.idx.copy(), val=block.val.copy())
    return canonicalize.renumber_block(
        NOTHING, copied, compile_function(canonicalize.entry, canonicalize.slots()), new_only=True
    )


def place_arrays(loop: Loop) -> dict[str, tuple[int, NDArray[np.generic]]]:
    """The slot of every array of a transform's loop, with an example of the array."""
    return {name: (LEARN + 1 + 2 * at, np.zeros(1, kind)) for at, (name, kind) in enumerate(loop.arrays.items())}
