"""Documents as counts of words, from texts or lists of words."""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from noregret.data.blocks import SparseBlock
from noregret.errors import BadValue, shown

WORD = re.compile(r"\w\w+")


def is_document(X: Any) -> bool:
    """Whether rows are texts, or lists of words, which may be empty."""
    if not isinstance(X, (list, tuple)):
        return False
    return any(
        isinstance(row, str) or (isinstance(row, (list, tuple)) and (not row or isinstance(row[0], str))) for row in X
    )


def count_words(row: Any, number: int) -> dict[Any, int]:
    """The counts of the words of a text, in lower case, or of a list of words, as they are."""
    if isinstance(row, str):
        return Counter(WORD.findall(row.lower()))
    if isinstance(row, dict):
        return row
    if isinstance(row, (list, tuple)) and all(isinstance(word, str) for word in row):
        return Counter(row)
    raise BadValue(
        f"row {number}: a document is a text, a list of words or a dict of counts, not {shown(row)}", row=number
    )


def name_words(block: SparseBlock, names: Sequence[Any]) -> list[dict[Any, float]]:
    """Rows whose features have names as dicts."""
    words, counts, ends = block.idx.tolist(), block.val.tolist(), block.indptr.tolist()
    return [{names[words[at]]: counts[at] for at in range(first, last)} for first, last in pairwise(ends)]
