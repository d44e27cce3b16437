"""Labels, queries and indices in libsvm text."""

from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.data import blocks as chunk
from noregret.errors import BadValue
from noregret.streams import Batch, ReadOptions
from noregret.streams.libsvm_text import NO_QUERY
from tests.streams.libsvm_rows import batches, read, refused


def only(text: bytes, **told: Any) -> Batch:
    (batch,), _ = batches(text, ReadOptions(**told))
    return batch


def test_labels_are_whole_numbers_where_all_of_them_are() -> None:
    assert only(b"1\n-1\n2e3").y.dtype == np.int64
    assert only(b"1\n0.5").y.dtype == np.float64
    assert only(b"1\n2", targets=True).y.dtype == np.float64
    assert only(b"1\n9007199254740992").y.dtype == np.float64


def test_rows_to_be_predicted_need_no_label() -> None:
    mixed = only(b"1:2 3:4\n5 1:1\nqid:3 1:1\n", labelled=False)
    np.testing.assert_array_equal(mixed.y, [np.nan, 5.0, np.nan])
    assert only(b"1:2 3:4\n2:1\n", labelled=False).y is None
    assert only(b"1 1:2\n2 2:1\n", labelled=False).y.tolist() == [1, 2]
    assert only(b"x 1:1\n", labelled=False).y == ["x"]
    assert only(b"x 1:1\n2:1\n5 1:1\n", labelled=False).y == ["x", None, 5]
    assert "the label is '+x'" in refused(b"+x 1:1\n", ReadOptions(labelled=False))


def test_a_word_is_no_real_target() -> None:
    assert "the label is 'x'" in refused(b"x 1:1\n", ReadOptions(targets=True))


def test_queries_are_told_with_their_rows() -> None:
    batch = only(b"1 qid:3 1:1\n2 1:1\n3 1:1 qid:-4\n")
    assert batch.query is not None
    assert batch.query.tolist() == [3, NO_QUERY, -4]
    assert batch.cut(0, 1).query.tolist() == [3]  # type: ignore[union-attr]
    assert only(b"1 1:1\n").query is None


def test_labels_in_words_are_learned() -> None:
    learner = nr.make("pa1")
    nr.play([only(b"spam 1:1\nham 2:1\nspam 1:1\n")], learner)
    assert learner.classes == ["spam", "ham"]
    with pytest.raises(BadValue, match="label"):
        nr.play([only(b"1,3 1:1\n")], nr.make("pa1"))


def test_zero_based_indices_are_the_columns() -> None:
    assert read(b"1 0:1 5:2 2147483646:3", ReadOptions(zero_based=True)).features == [
        [(0, 1.0), (5, 2.0), (2147483646, 3.0)]
    ]
    assert "the largest is 2147483646" in refused(b"1 2147483647:1", ReadOptions(zero_based=True))


def test_unsorted_rows_are_put_right_and_sorted_ones_not_looked_at_again() -> None:
    assert only(b"1 1:1 2:2\n1 1:1").X.block.ready
    batch = only(b"1 7:1 2:2 7:3\n1 1:1 2:2")
    assert not batch.X.block.ready
    block = chunk.verify(batch.X.block)
    assert isinstance(block, chunk.SparseBlock)
    assert block.indptr.tolist() == [0, 2, 4]
    assert block.idx.tolist() == [1, 6, 0, 1]
    assert block.val.tolist() == [2.0, 4.0, 1.0, 2.0]


def test_a_mark_before_the_text_is_no_part_of_it() -> None:
    assert read(b"\xef\xbb\xbf1 1:1\n2 1:1\n").labels == [1, 2]
    assert read(b"\xef\xbb\xbfx 1:1\n2 1:1\n", ReadOptions(on_bad="skip")).labels == ["x", 2]
