"""Reading documents: frames that are searched for texts, and documents that another thread could change."""

import threading
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest

import noregret as nr
from noregret.decomposition.documents import find_texts, list_documents, own_documents


class Frame:
    """A frame as far as it is searched for texts: columns of one value."""

    def __init__(self, **columns: Any) -> None:
        self.values = columns

    @property
    def columns(self) -> list[str]:
        return list(self.values)

    def __len__(self) -> int:
        return 1

    def __getitem__(self, name: str) -> "Frame":
        return Frame(**{name: self.values[name]})

    def head(self, rows: int) -> list[Any]:
        return list(self.values.values())


@pytest.mark.parametrize(("numbers", "found"), [(0, "body"), (49, "body"), (50, None)])
def test_a_frame_of_many_columns_is_not_searched_for_texts(numbers: int, found: str | None) -> None:
    assert find_texts(Frame(**{f"n{number}": 1 for number in range(numbers)}, body="aa bb")) == found


def test_a_table_is_not_made_rows_to_find_out_whether_these_are_documents() -> None:
    """Of a column of texts only this column is read."""
    table = SimpleNamespace(shape=(1, 1), to_pylist=Mock(return_value=["aa bb"]))
    assert list_documents(table) is table
    assert not table.to_pylist.called


@pytest.mark.parametrize(("threads", "copied"), [(1, False), (2, True), (3, True)])
def test_documents_are_copied_only_where_another_thread_could_change_them(
    threads: int, copied: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents = [{"a": 1.0}, {"b": 2.0}]
    monkeypatch.setattr(threading, "active_count", lambda: threads)
    found = own_documents(documents)
    assert found == documents
    assert all(one is not other for one, other in zip(found, documents, strict=True)) == copied
    assert (found is documents) != copied


@pytest.mark.parametrize("name", ["lda", "hdp"])
def test_a_model_without_documents_has_no_topics_to_tell(name: str) -> None:
    learner: Any = nr.make(name, native=False)
    assert learner.describe_results() == []
