"""Documents as counts of words, from texts or lists of words."""

import re
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, MappingView, Sequence, Set
from itertools import pairwise
from typing import Any, TypeVar

from noregret.data.blocks import SparseBlock
from noregret.errors import BadValue, shown

WORD = re.compile(r"\w\w+")
FEW = 50  # columns of a frame that are searched for texts
WANTED = "a document is a text, a list of words or a dict of counts"
Name = TypeVar("Name")


def list_documents(X: Any) -> Any:
    """A column of texts as a list, such as that of a frame or an Arrow array; other rows as they are."""
    if isinstance(X, (list, tuple)):
        return X
    if isinstance(X, (str, bytes, dict)):
        raise BadValue("documents come in a list; put this one into a list, or use learn_one, transform_one")
    if isinstance(X, (Iterator, MappingView, Set)):
        raise BadValue(f"documents come in a list or a column; make a list of this {type(X).__name__}: list(documents)")
    name = find_texts(X)
    if name is not None:
        raise BadValue(f"column {name!r} holds texts; give documents as this column alone, X[{name!r}], or leave it "
                       "out of a matrix of counts")  # fmt: skip
    arrow = None if hasattr(X, "shape") else getattr(X, "to_pylist", None)
    found = arrow or getattr(X, "tolist", None) or getattr(X, "to_list", None)
    if found is None or (not arrow and len(getattr(X, "shape", ())) != 1):
        return X
    return listed if is_document(listed := found()) else X


def find_texts(X: Any) -> Any:
    """The first column of a frame that holds texts; None where there is none, and of a frame with many columns."""
    if not all(hasattr(type(X), name) for name in ("columns", "head", "__len__")) or len(X.columns) > FEW:
        return None
    tops = {name: X[name].head(1) for name in X.columns if list(X.columns).count(name) == 1}
    return next((name for name, top in tops.items() if isinstance(next(iter(top), None), str)), None)


def is_document(X: Any) -> bool:
    """Whether rows are texts, or lists of words, which may be empty; rows that cannot be documents are refused."""
    if not isinstance(X, (list, tuple)):
        return False
    found = any(
        isinstance(row, str) or (isinstance(row, (list, tuple)) and (not row or isinstance(row[0], str))) for row in X
    )
    if not found:
        for number, row in enumerate(X):
            if isinstance(row, dict):
                continue
            first = row[0] if isinstance(row, (list, tuple)) else row
            if row is None or isinstance(first, (bytes, list, tuple, Iterator, Set)):
                raise BadValue(f"row {number}: {WANTED}, not {shown(row)}", row=number)
    return found


def count_words(row: Any, number: int) -> dict[Any, int]:
    """The counts of the words of a text, in lower case, or of a list of words, as they are."""
    if isinstance(row, str):
        return Counter(WORD.findall(row.lower()))
    if isinstance(row, dict):
        return row
    if isinstance(row, (list, tuple)) and all(isinstance(word, str) for word in row):
        return Counter(row)
    raise BadValue(f"row {number}: {WANTED}, not {shown(row)}", row=number)


def own_documents(documents: Sequence[Mapping[Any, Any]]) -> Sequence[Mapping[Any, Any]]:
    """The documents as dicts that no other thread changes while they are read."""
    return documents if threading.active_count() == 1 else [dict(one) for one in documents]


def sort_words(words: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """The words in the order of the alphabet; as they are where not all are texts."""
    try:
        return {word: words[word] for word in sorted(words)}
    except TypeError:
        return words


def name_words(block: SparseBlock, names: Sequence[Name]) -> list[dict[Name, float]]:
    """Rows whose features have names as dicts."""
    words, counts, ends = block.idx.tolist(), block.val.tolist(), block.indptr.tolist()
    return [{names[words[at]]: counts[at] for at in range(first, last)} for first, last in pairwise(ends)]
