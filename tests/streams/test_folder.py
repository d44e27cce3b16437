"""A folder of documents: every file is a row."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.errors import BadValue
from noregret.streams.folder import FILES, holds_documents
from tests.support.command_line import noregret, refused

TEXTS = {"b.txt": "cats and dogs\ndogs", "a/c": "bonds, stocks", "a/empty": "", ".hidden": "secret"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in TEXTS.items():
        path = tmp_path / "news" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "news"


def test_every_file_is_a_document_in_the_order_of_names(folder: Path) -> None:
    (batch,) = nr.open_source(str(folder), format="folder", labelled=False)
    assert batch.kept == {"file": ["a/c", "a/empty", "b.txt"]}
    learner: Any = nr.make("lda", k=2, batch=1).learn(batch.X)
    assert sorted(learner.feature_names) == ["and", "bonds", "cats", "dogs", "stocks"]
    assert batch.X.block.indptr.tolist() == [0, 2, 2, 5]
    assert batch.X.block.val.tolist() == [1.0, 1.0, 1.0, 1.0, 2.0]


def test_reading_goes_on_after_the_file_where_it_stopped(tmp_path: Path) -> None:
    for number in range(FILES + 3):
        (tmp_path / f"{number:04}").write_text(f"word{number} again")
    source = nr.open_source(str(tmp_path), format="folder", labelled=False)
    first, second = source
    assert (first.rows, second.rows) == (FILES, 3)
    source.start = first.position
    (rest,) = source
    assert rest.kept == second.kept
    assert rest.lines is not None
    assert np.array_equal(rest.lines, [FILES + 1, FILES + 2, FILES + 3])


def test_what_is_no_text_is_named_with_its_file_or_skipped(folder: Path) -> None:
    (folder / "z.txt").write_bytes(b"caf\xe9")
    with pytest.raises(BadValue, match=r"z\.txt: byte 4 is not text in UTF-8"):
        list(nr.open_source(str(folder), format="folder", labelled=False))
    source = nr.open_source(str(folder), format="folder", labelled=False, on_bad="skip")
    assert sum(batch.rows for batch in source) == 3
    assert source.skipped == 1
    (batch,) = nr.open_source(str(folder), format="folder", labelled=False, encoding="latin-1")
    assert batch.rows == 4


def test_a_file_is_no_folder_and_a_folder_without_files_is_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(BadValue, match="is no folder"):
        nr.open_source(str(folder / "b.txt"), format="folder")
    (tmp_path / "none").mkdir()
    with pytest.raises(BadValue, match="holds no rows"):
        list(nr.open_source(str(tmp_path / "none"), format="folder"))


def test_folders_with_tables_are_data_sets_and_not_documents(folder: Path, tmp_path: Path) -> None:
    assert holds_documents(folder)
    (folder / "rows.csv").write_text("a,b\n1,2\n")
    assert not holds_documents(folder)
    assert not holds_documents(folder / "b.txt")
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "lines.txt").write_text("one\ntwo\n")
    assert not holds_documents(tmp_path / "one")


def test_topics_of_a_folder_are_learned_resumed_and_predicted_by_file(folder: Path, tmp_path: Path) -> None:
    common = ("--k", "2", "--least-documents", "1", "--most-share", "1", "--set", "batch=1", "--quiet")
    done = noregret("topics", "news", *common, "--save", "m.nr", cwd=tmp_path)
    assert "learned: 3 documents, 4 words known" in done.stdout
    done = noregret("predict", "m.nr", "news", cwd=tmp_path)
    assert done.stdout.splitlines()[0] == "file,topic 0,topic 1"
    assert [line.split(",")[0] for line in done.stdout.splitlines()[1:]] == ["a/c", "a/empty", "b.txt"]
    refused(noregret("topics", "news", "--resume", "m.nr", cwd=tmp_path), "no document is left")
    (folder / "c.txt").write_text("new words")
    assert "learned: 1 document," in noregret("topics", "news", "--resume", "m.nr", cwd=tmp_path).stdout
    (folder / "a.txt").write_text("earlier by name")
    done = noregret("topics", "news", "--resume", "m.nr", cwd=tmp_path)
    refused(done, "news: the first 4 files are not those that were learned")


def test_a_note_says_that_lines_of_several_files_are_documents(folder: Path, tmp_path: Path) -> None:
    (folder / "d.txt").write_text("dogs chase cats\n")
    words = ("topics", "news/*.txt", "--k", "2", "--least-documents", "1", "--most-share", "1")
    done = noregret(*words, cwd=tmp_path)
    assert "2 files, each line of which is a document" in done.stderr
    assert "learned: 3 documents" in done.stdout
