"""The columns of dense rows: as many as those that were learned, unless `columns="grow"` says that more may come.

Features of dicts and sparse rows have names or numbers of their own; new ones may always come.
"""

from typing import Any

from noregret.data.blocks import Block, DenseBlock
from noregret.errors import BadValue, shown
from noregret.learner.row_state import RowState

FIXED, GROW = "fixed", "grow"


def check_option(columns: Any) -> bool:
    """Whether dense rows may have other numbers of columns than those before."""
    if columns not in (None, FIXED, GROW):
        raise BadValue(f'columns must be "{FIXED}" or "{GROW}", not {shown(columns)}')
    return bool(columns == GROW)


def check_columns(model: RowState, block: Block, learn: bool) -> None:
    """Refuse dense rows with another number of columns than those that were learned.

    A learner of sparse rows takes dense ones of any width, as it takes sparse ones.
    """
    if model.config.grows or not isinstance(block, DenseBlock) or not block.val.size:
        return
    known = model.columns if model.makes_features else model.learned_features
    if known and known != block.width and model.algebra != "sparse":
        columns = "1 column" if block.width == 1 else f"{block.width} columns"
        raise BadValue(f"the rows have {columns}, and {model.card.name} has learned rows with {known}; give it the "
                       f'same columns, or make it with columns="{GROW}" if more may come')  # fmt: skip
    if learn and model.makes_features:
        model.columns = block.width
